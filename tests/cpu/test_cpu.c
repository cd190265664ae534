/* trainer/cpu: what each operation counts into the profile - bytes, multiply-adds, of which stage, of which half of a step; and the
   optimisers over many steps. */
#include "common/ggnn_level.h"
#include "tests/fixture.h"
#include "tests/forms.h"
#include "trainer/cpu/gemm.h"
#include "trainer/net/layers.h"

/* ==== a net to count into ======================================================================================= */

enum { N = 60, COLUMNS = 21, OUTPUTS = 3 };
static fixture* small;
static uint16_t half[N * COLUMNS];
static ggnn_store halves;
static device* cpu;
static error why;

static net_config config_for(net_model kind)
{
    return (net_config){.device = cpu, .model = kind, .layers = 1, .hidden = 8, .outputs = OUTPUTS, .heads = 2, .out_heads = 2,
                        .full_batch = true, .dense = true, .seed = 3};
}

static net* net_of(const net_config* c, const ggnn_store* x)
{
    static net_data data;
    data = (net_data){&small->task.graph, x, small->task.labels, NULL};
    net* n = net_create(c, &data, NULL, NULL, &why);
    if (!CHECK(n != NULL)) printf("  %s\n", why.text);
    return n;
}

/* ==== one operation ============================================================================================= */

static net_profile before;
static double took[2][NET_NUM_STAGES]; /* seconds, in all */
static void begin(net* n, int backward)
{
    n->backward = backward;
    before = n->profile;
}

/* So much more than at begin, of that stage and half; of no other anything. */
static bool counted(const net* n, const char* what, net_stage stage, int64_t bytes, int64_t operations)
{
    bool good = true;
    for (int backward = 0; backward < 2; backward++) {
        for (int s = 0; s < NET_NUM_STAGES; s++) {
            const bool here = backward == n->backward && s == (int)stage;
            const double seconds = n->profile.seconds[backward][s] - before.seconds[backward][s];
            good = CHECK_EQ(n->profile.bytes[backward][s] - before.bytes[backward][s], here ? bytes : 0) && good;
            good = CHECK(here ? seconds >= 0 : seconds == 0) && good;
            took[backward][s] += seconds;
        }
        good = CHECK_EQ(n->profile.flops[backward] - before.flops[backward], backward == n->backward ? operations : 0) && good;
    }
    if (!good) printf("  %s, %s\n", what, n->backward ? "backward" : "forward");
    return good;
}

static void check_time(net_stage stage) { CHECK(took[0][stage] > 0 && took[1][stage] > 0); }

static float memory[16][N * 64];
static int memories;
static mat matrix(int64_t rows, int32_t cols, int64_t ld)
{
    float* v = memory[memories++ % 16];
    for (int i = 0; i < N * 64; i++) v[i] = test_uniform();
    return (mat){.v = v, .ld = ld, .cols = cols, .rows = {NULL, rows}};
}

static mat stored(const ggnn_store* from, int64_t rows)
{
    static ggnn_node id[N];
    for (int i = 0; i < N; i++) id[i] = (ggnn_node)(N - 1 - i);
    return (mat){.cols = from->width, .rows = {NULL, rows}, .store = from, .id = id};
}

/* The inputs and outputs of each, once, by their sizes: 4 bytes an element, whatever the padding of a row. */
TEST(rows_and_products_count_what_they_read_and_write_once)
{
    const net_config c = config_for(NET_MLP);
    net* n = net_of(&c, &small->task.features);
    const math_ops* op = n->ops;
    for (int backward = 0; backward < 2; backward++)
        for (int rows = 7; rows < N; rows += 26) {
            mat a = matrix(rows, 5, 16), b = matrix(5, 9, 9), x = matrix(rows, 9, 16);
            begin(n, backward);
            op->gemm(n, x, a, false, b, false, 0);
            counted(n, "x = a b", NET_GEMM, 4 * (rows * 5 + 5 * 9 + rows * 9), 2 * rows * 5 * 9);
            begin(n, backward);
            op->gemm(n, b, a, true, x, false, 1);
            counted(n, "b += a' x", NET_GEMM, 4 * (rows * 5 + 5 * 9 + rows * 9), 2 * rows * 5 * 9);
            begin(n, backward);
            op->gemm(n, a, x, false, b, true, 0);
            counted(n, "a = x b'", NET_GEMM, 4 * (rows * 5 + 5 * 9 + rows * 9), 2 * rows * 5 * 9);
            mat wide = matrix(rows, COLUMNS, 32), copy = matrix(rows, COLUMNS, 48);
            begin(n, backward);
            op->read_rows(n, copy, wide);
            counted(n, "a copy", NET_ELEMENTWISE, 2 * 4 * rows * COLUMNS, 0);
            begin(n, backward);
            op->read_rows(n, copy, stored(&small->task.features, rows));
            counted(n, "rows of floats", NET_GATHER, (4 + 4) * rows * COLUMNS, 0);
            begin(n, backward);
            op->read_rows(n, copy, stored(&halves, rows));
            counted(n, "rows of halves", NET_GATHER, (4 + 2) * rows * COLUMNS, 0);
            begin(n, backward);
            op->drop(n, copy, n->whole.batch.blocks.id, ggnn_dropout_threshold(.5f), 0);
            counted(n, "dropout", NET_ELEMENTWISE, 2 * 4 * rows * COLUMNS, 0);
            begin(n, backward);
            op->add(n, copy, mat_head(wide, (ggnn_count){NULL, rows - 2}));
            counted(n, "a sum", NET_ELEMENTWISE, 3 * 4 * (rows - 2) * COLUMNS, 0);
            mat heads = matrix(rows, 12, 16), mean = matrix(rows, 4, 16);
            begin(n, backward);
            op->mean_heads(n, mean, heads, 3);
            counted(n, "heads' mean", NET_ELEMENTWISE, 4 * rows * (12 + 4), 0);
            begin(n, backward);
            op->mean_heads_back(n, heads, mean, 3);
            counted(n, "heads' mean, back", NET_ELEMENTWISE, 4 * rows * (12 + 4), 0);
        }
    check_time(NET_GEMM);
    check_time(NET_GATHER);
    check_time(NET_ELEMENTWISE);
    net_free(n);
}

/* In place: what is read is written; a norm's rows are saved, and read again. */
TEST(an_epilogue_counts_its_rows_and_those_of_its_norm)
{
    net_config c = config_for(NET_MLP);
    c.layers = 2;
    for (int norm = 0; norm < 2; norm++) {
        c.norm = norm;
        net* n = net_of(&c, &small->task.features);
        epilogue* e = &n->layer[0].finish;
        e->id = n->whole.batch.blocks.id;
        mat h = matrix(N, 8, 16), dh = matrix(N, 8, 16), a = matrix(N, 5, 16), w = matrix(5, 8, 16);
        for (int backward = 0; backward < 2; backward++)
            for (int rows = 5; rows <= N; rows += 55) {
                begin(n, backward);
                n->ops->finish(n, mat_head(h, (ggnn_count){NULL, rows}), mat_head(h, (ggnn_count){NULL, rows}), e);
                counted(n, "epilogue", NET_ELEMENTWISE, (norm ? 3 : 2) * 4 * rows * 8, 0);
                begin(n, backward);
                n->ops->multiply_finish(n, mat_head(h, (ggnn_count){NULL, rows}), mat_head(a, (ggnn_count){NULL, rows}), w, e);
                counted(n, "product and epilogue", NET_GEMM, 4 * (rows * 5 + 5 * 8 + (norm ? 2 : 1) * rows * 8), 2 * rows * 5 * 8);
                begin(n, backward);
                n->ops->finish_back(n, mat_head(dh, (ggnn_count){NULL, rows}), mat_head(h, (ggnn_count){NULL, rows}), e);
                counted(n, "epilogue, back", NET_ELEMENTWISE, (norm ? 4 : 3) * 4 * rows * 8, 0);
            }
        net_free(n);
    }
}

/* A row of each is read, in its own type, and written; then all are read, and the means written. */
TEST(rows_of_edges_count_once_each)
{
    enum { WIDTH_OF_EDGES = 3 };
    const net_config c = config_for(NET_SAGE);
    net* n = net_of(&c, &small->task.features);
    const int64_t E = small->graph->num_edges;
    ggnn_block b = n->whole.batch.blocks.hop[0];
    uint16_t* rows = calloc((size_t)E * WIDTH_OF_EDGES, sizeof *rows);
    float* gathered = calloc((size_t)E * WIDTH_OF_EDGES, sizeof *gathered);
    b.position = calloc((size_t)E, sizeof *b.position);
    const ggnn_store halves_of_edges = ggnn_store_plain(rows, E, WIDTH_OF_EDGES, GGNN_F16);
    const mat edge = {.v = gathered, .ld = WIDTH_OF_EDGES, .cols = WIDTH_OF_EDGES, .rows = b.num_edges};
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        n->ops->read_edges(n, edge, &halves_of_edges, &b);
        counted(n, "rows of edges", NET_GATHER, (4 + 2) * E * WIDTH_OF_EDGES, 0);
        begin(n, backward);
        n->ops->mean_edges(n, matrix(N, WIDTH_OF_EDGES, 16), &b, edge);
        counted(n, "means of edges", NET_AGGREGATE, 4 * (E + N) * WIDTH_OF_EDGES, 0);
        begin(n, backward);
        n->ops->clear(n, matrix(17, 5, 16));
        counted(n, "zeros", NET_ELEMENTWISE, 4 * 17 * 5, 0);
    }
    free(b.position);
    free(gathered);
    free(rows);
    net_free(n);
}

/* Each edge reads a row and an index, each target's row is written. */
TEST(sums_over_neighbours_count_a_row_and_an_index_for_each_edge)
{
    const net_config c = config_for(NET_GCN);
    net* n = net_of(&c, &small->task.features);
    const math_ops* op = n->ops;
    const ggnn_block* b = &n->whole.batch.blocks.hop[0];
    const int64_t E = small->graph->num_edges;
    static float factor[3][N];
    static int32_t arg[N * 16], indices[8 * N];
    ggnn_block global = *b;
    global.neighbor = small->graph->indices;
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        op->transpose(n, &n->transpose, b);
        counted(n, "a transpose", NET_AGGREGATE, 16 * E, 0);
        begin(n, backward);
        op->index_by_id(n, indices, &global, 5);
        counted(n, "indices by id", NET_AGGREGATE, E * (int64_t)(4 + sizeof(ggnn_node)), 0);
        for (int64_t e = 0; e < E; e++) CHECK_EQ(indices[e], 5 + (int32_t)small->graph->indices[e]);
        for (int self = 0; self < 2; self++) {
            begin(n, backward);
            op->scale_mean(n, factor[0], b, self);
            counted(n, "factors of a mean", NET_AGGREGATE, (8 + 4) * N, 0); /* an offset is read, a factor written */
        }
        begin(n, backward);
        op->scale_weights(n, factor[0], b, small->graph->weight);
        counted(n, "factors of weights", NET_AGGREGATE, 4 * E + (8 + 4) * N, 0);
        begin(n, backward);
        op->scale_gcn(n, factor[0], factor[1], factor[2], b);
        counted(n, "GCN's factors", NET_AGGREGATE, 8 * N + 20 * N, 0);
        begin(n, backward);
        op->scale_gcn(n, NULL, factor[1], factor[2], b);
        counted(n, "GCN's factors of targets", NET_AGGREGATE, 20 * N, 0);
        mat x = matrix(N, 13, 16), out = matrix(N, 13, 16), wide = matrix(N, COLUMNS, 32);
        for (int how = GGNN_SUM; how <= GGNN_MAX; how++) {
            begin(n, backward);
            op->aggregate(n, out, how == GGNN_MAX ? arg : NULL, (ggnn_reduce)how, b, NULL, NULL, x);
            counted(n, "rows of a matrix", NET_AGGREGATE, E * (13 * 4 + 4) + 4 * N * 13, 0);
        }
        begin(n, backward);
        op->aggregate_arg_back(n, x, &n->transpose, b, out, arg);
        counted(n, "a maximum, back", NET_AGGREGATE, E * (13 * 4 + 4) + 4 * N * 13, 0);
        global.indices = NULL;
        begin(n, backward);
        op->aggregate(n, wide, NULL, GGNN_MEAN, &global, NULL, NULL, stored(&small->task.features, N));
        counted(n, "rows of floats", NET_GATHER, E * (COLUMNS * 4 + 4) + 4 * N * COLUMNS, 0);
        begin(n, backward);
        op->aggregate(n, wide, NULL, GGNN_MEAN, &global, NULL, NULL, stored(&halves, N));
        counted(n, "rows of halves", NET_GATHER, E * (COLUMNS * 2 + 4) + 4 * N * COLUMNS, 0);
        global.indices = b->indices;
    }
    check_time(NET_AGGREGATE);
    net_free(n);
}

/* Scores read rows; back they read rows twice and write them. */
TEST(attention_and_loss_count_their_rows)
{
    net_config c = config_for(NET_GAT);
    net* n = net_of(&c, &small->task.features);
    const int64_t E = small->graph->num_edges;
    int64_t aggregated[2] = {0};
    const int w = 2 * OUTPUTS; /* two heads */
    mat z = matrix(N, 6, 16), a = matrix(2, 3, 3), dz = matrix(N, 6, 16), da = matrix(2, 3, 3), e = matrix(N, 2, 2);
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        n->ops->scores(n, e.v, mat_head(z, (ggnn_count){NULL, 11}), a);
        counted(n, "scores", NET_AGGREGATE, 4 * 11 * 6, 0);
        begin(n, backward);
        n->ops->scores_back(n, mat_head(dz, (ggnn_count){NULL, 11}), da, e.v, mat_head(z, (ggnn_count){NULL, 11}), a);
        counted(n, "scores, back", NET_AGGREGATE, 3 * 4 * 11 * 6, 0);
        mat logits = matrix(17, OUTPUTS, 16), dlogits = matrix(17, OUTPUTS, 16);
        begin(n, backward);
        n->ops->loss(n, dlogits, logits, net_whole(n));
        counted(n, "loss", NET_LOSS, 17 * (2 * 4 * OUTPUTS + 16), 0); /* logits and gradient; node, label, loss */
    }
    check_time(NET_LOSS);
    before = n->profile; /* a step: scores of all rows twice (back, the sources' reach dz as it is made), a gathered row and an index an edge, .. */
    net_compute(n, net_whole(n), 0);
    aggregated[0] = 2 * 4 * N * w + E * (4 * w + 4) + 4 * N * w;
    aggregated[1] = (1 + 3) * 4 * N * w + 2 * (E * (4 * w + 4) + 4 * N * w) + 16 * E;
    for (int backward = 0; backward < 2; backward++)
        if (!CHECK_EQ(n->profile.bytes[backward][NET_AGGREGATE] - before.bytes[backward][NET_AGGREGATE], aggregated[backward])) printf("  half %d\n", backward);
    CHECK(n->profile.train > 0); /* all of the step */
    before = n->profile;
    net_update(n, .01f);
    CHECK(n->profile.train - before.train >= n->profile.seconds[1][NET_OPTIMIZER] - before.seconds[1][NET_OPTIMIZER] - 1e-9);
    counted(n, "update", NET_OPTIMIZER, 7 * 4 * net_state_of(n).count, 0); /* value, m, v read and written, the gradient read */
    CHECK(n->backward == 1 && took[1][NET_OPTIMIZER] > 0);
    net_free(n);
}

/* Forward and, with their gradients, backward. */
TEST(terms_of_edges_count_a_number_for_each_edge_and_head)
{
    enum { HEADS = 2, W = 6 };
    net_config c = config_for(NET_GAT);
    net* n = net_of(&c, &small->task.features);
    const ggnn_block* b = &net_whole(n)->blocks.hop[0];
    const int64_t E = small->graph->num_edges, attended = E * (4 * W + 4) + 4 * N * W;
    float* edges = calloc((size_t)(3 * E + N) * HEADS, sizeof *edges);
    const mat z = matrix(N, W, W), out = matrix(N, W, W), dout = matrix(N, W, W), dz = matrix(N, W, W);
    ggnn_gat_layer y = {.block = b, .z = z.v, .ld_z = W, .el = matrix(N, 2, 2).v, .er = matrix(N, 2, 2).v, .out = out.v, .ld_out = W,
                        .lse = matrix(N, 2, 2).v, .heads = HEADS, .width = W, .del = matrix(N, 2, 2).v, .der = matrix(N, 2, 2).v,
                        .delta = matrix(N, 2, 2).v, .dlogit = edges, .own_term = matrix(N, 2, 2).v, .dterm = edges + (E + N) * HEADS};
    n->ops->transpose(n, &n->transpose, b);
    for (int with = 0; with < 2; with++) {
        y.term = with ? edges + (2 * E + N) * HEADS : NULL;
        begin(n, 0);
        n->ops->attend(n, &y);
        counted(n, "attention", NET_AGGREGATE, attended + with * 4 * E * HEADS, 0);
        begin(n, 1);
        n->ops->attend_back(n, dz, &n->transpose, &y, dout);
        counted(n, "attention, back", NET_AGGREGATE, 2 * (attended + with * 4 * E * HEADS), 0);
    }
    free(edges);
    net_free(n);
}

/* Of a whole graph: an entry's value is read and written, and its place read. */
TEST(features_without_their_zeros_count_their_entries)
{
    static float thin[N * COLUMNS];
    int64_t entries = 0;
    for (int i = 0; i < N * COLUMNS; i += 17, entries++) thin[i] = 1 + (float)i;
    const ggnn_store store = ggnn_store_plain(thin, N, COLUMNS, GGNN_F32);
    net_config c = config_for(NET_MLP);
    c.dense = false;
    c.input_dropout = .5f;
    net* n = net_of(&c, &store);
    CHECK(n->whole.sparse != NULL);
    mat w = matrix(COLUMNS, OUTPUTS, OUTPUTS), out = matrix(N, OUTPUTS, 16);
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        mat x = n->ops->sparse(n, ggnn_dropout_threshold(.5f));
        counted(n, "entries' dropout", NET_ELEMENTWISE, 12 * entries, 0);
        begin(n, backward);
        n->ops->gemm(n, out, x, false, w, false, 0);
        counted(n, "x w", NET_GEMM, 4 * (entries * (OUTPUTS + 2) + N * OUTPUTS), 2 * entries * OUTPUTS);
        begin(n, backward);
        n->ops->gemm(n, w, x, true, out, false, 0);
        counted(n, "x' dz", NET_GEMM, 4 * (entries * (OUTPUTS + 2) + COLUMNS * OUTPUTS), 2 * entries * OUTPUTS);
    }
    net_free(n);
}

/* A product with an entry that is no number is none, as one with all zeros. */
TEST(an_entry_that_is_no_number_is_no_zero)
{
    static float thin[N * COLUMNS];
    for (int dense = 0; dense < 2; dense++)
        for (int bad = 0; bad < 2; bad++) {
            for (int i = 0; i < N * COLUMNS; i++) thin[i] = i % 17 ? 0 : 1;
            if (bad) thin[5] = NAN; /* of node 0, which is labelled */
            const ggnn_store store = ggnn_store_plain(thin, N, COLUMNS, GGNN_F32);
            net_config c = config_for(NET_MLP);
            c.dense = dense;
            net* n = net_of(&c, &store);
            CHECK((n->whole.sparse != NULL) == !dense);
            net_compute(n, net_whole(n), 0);
            CHECK((isnan(n->sums->loss) != 0) == bad);
            net_free(n);
        }
}

/* ==== values at their ends ====================================================================================== */

static bool same(float a, float b) { return isnan(b) ? isnan(a) : a == b; }

TEST(activations_and_their_gradients_are_those_of_the_ends_of_floats)
{
    enum { ENDS = 11 };
    static const float end[ENDS] = {NAN, INFINITY, -INFINITY, 0, -0.f, 1e-30f, -1e-30f, 2, -.5f, -1, -200};
    net_config c = config_for(NET_MLP);
    c.layers = 2;
    c.hidden = ENDS;
    net* n = net_of(&c, &small->task.features);
    for (int act = ACTIVATION_NONE; act <= ACTIVATION_ELU; act++) {
        epilogue e = n->layer[0].finish;
        mat h = matrix(1, ENDS, 16), dh = matrix(1, ENDS, 16);
        e.act = (activation)act;
        e.id = n->whole.batch.blocks.id;
        memcpy(h.v, end, sizeof end);
        n->ops->finish(n, h, h, &e);
        for (int j = 0; j < ENDS; j++) {
            const float x = end[j], below = act == ACTIVATION_RELU ? 0 : act == ACTIVATION_ELU ? expm1f(x) : x;
            if (!CHECK(same(h.v[j], x < 0 ? below : x) || fabsf(h.v[j] - (x < 0 ? below : x)) < 1e-6f)) printf("  %d of %g: %g\n", act, (double)x, (double)h.v[j]);
            dh.v[j] = 3;
        }
        n->ops->finish_back(n, dh, h, &e);
        for (int j = 1; j < ENDS; j++) { /* ReLU has none at 0, ELU that of both sides */
            const float x = end[j], slope = act == ACTIVATION_RELU ? (float)(x > 0) : act == ACTIVATION_ELU && x < 0 ? expf(x) : 1;
            if (!CHECK(fabsf(dh.v[j] - 3 * slope) < 1e-5f)) printf("  %d at %g: %g\n", act, (double)x, (double)dh.v[j]);
        }
    }
    net_free(n);
}

/* The field of an element of layer l in the net's step. */
static uint32_t field_of(const net* n, int32_t l, ggnn_node id, int32_t column)
{
    const ggnn_rng rng = {n->config.seed, n->step, GGNN_PURPOSE_DROPOUT};
    return ggnn_dropout_field(ggnn_random(&rng, l, id, (uint32_t)column / 8), column % 8);
}

/* Is each element of x dropped where its field is below the threshold, else scaled? was: before; elements of 0 may be left out. */
static void check_dropped(const net* n, const char* what, mat x, const float* was, int32_t l, uint32_t threshold)
{
    const ggnn_node* id = n->whole.batch.blocks.id;
    const float scale = ggnn_dropout_scale(threshold);
    int64_t wrong = 0;
    for (int64_t i = 0; i < N; i++)
        for (int32_t j = 0; j < x.cols; j++)
            wrong += x.v[i * x.ld + j] != (field_of(n, l, id[i], j) < threshold ? 0 : was[i * x.ld + j] * scale);
    if (!CHECK_EQ(wrong, 0)) printf("  %s, threshold %u\n", what, (unsigned)threshold);
}

/* The threshold is an element's own field, then one more: the element is kept, then dropped. */
TEST(an_element_whose_field_is_the_threshold_is_kept)
{
    static float thin[N * COLUMNS], was[N * 64];
    for (int i = 0; i < N * COLUMNS; i += 17) thin[i] = 1 + (float)i;
    const ggnn_store store = ggnn_store_plain(thin, N, COLUMNS, GGNN_F32);
    net_config c = config_for(NET_MLP);
    c.layers = 2;
    c.hidden = COLUMNS;
    c.dense = false;
    net* n = net_of(&c, &store);
    n->step = 5;
    CHECK(n->whole.sparse != NULL);
    for (int pick = 0; pick < N * COLUMNS; pick += 119)
        for (uint32_t more = 0; more < 2; more++)
            for (int32_t l = 0; l < 2; l++) {
                const uint32_t threshold = field_of(n, l, n->whole.batch.blocks.id[pick / COLUMNS], pick % COLUMNS) + more;
                mat x = matrix(N, COLUMNS, 32), d = matrix(N, COLUMNS, 32);
                if (!threshold) continue;
                memcpy(was, x.v, sizeof was);
                n->ops->drop(n, x, n->whole.batch.blocks.id, threshold, l);
                check_dropped(n, "a matrix", x, was, l, threshold);
                epilogue e = n->layer[0].finish;
                e.act = ACTIVATION_NONE;
                e.id = n->whole.batch.blocks.id;
                e.threshold = threshold;
                e.layer = l;
                memcpy(x.v, was, sizeof was);
                n->ops->finish(n, x, x, &e);
                check_dropped(n, "an epilogue", x, was, l, threshold);
                memcpy(was, d.v, sizeof was);
                n->ops->finish_back(n, d, x, &e);
                check_dropped(n, "an epilogue, back", d, was, l, threshold);
                if (l) continue; /* entries are the first layer's */
                const mat entries = n->ops->sparse(n, threshold);
                for (int k = 0; 17 * k < N * COLUMNS; k++) {
                    const bool dropped = field_of(n, 0, n->whole.batch.blocks.id[17 * k / COLUMNS], 17 * k % COLUMNS) < threshold;
                    if (!CHECK(entries.v[k] == (dropped ? 0 : thin[17 * k] * ggnn_dropout_scale(threshold)))) printf("  entry %d\n", k);
                }
            }
    net_free(n);
}

/* ==== more rows than one piece of work ========================================================================== */

enum { LONG = 1000, WIDE = 40, PITCH = 48 }; /* pieces are of 16,384 elements */
static float long_memory[4][LONG * PITCH];
static ggnn_node long_id[LONG];

static mat long_matrix(int which)
{
    for (int i = 0; i < LONG * PITCH; i++) long_memory[which][i] = test_uniform();
    return (mat){.v = long_memory[which], .ld = PITCH, .cols = WIDE, .rows = {NULL, LONG}};
}

enum { SHORT = 50 }; /* rows that are in one piece */
static mat short_part(mat a, int64_t i) { return mat_part(a, i, (ggnn_count){NULL, SHORT}); }

/* The saved rows of a norm begin with row i; the sums of columns have room for all segments. */
static epilogue epilogue_of(net* n, int64_t i, int variant, float* normed, float* inv_deviation)
{
    epilogue e = n->layer[0].finish;
    e.act = (activation)(variant % 3);
    e.threshold = variant / 3 % 2 ? ggnn_dropout_threshold(.4f) : 0;
    e.layer = 1;
    e.id = long_id + i;
    e.normed = (mat){.v = normed + i * PITCH, .ld = PITCH, .cols = WIDE, .rows = {NULL, LONG - i}};
    e.inv_deviation = inv_deviation + i;
    return e;
}

/* The definition of a norm's sums: 16 of every 16th element, then folded. w NULL: of v alone. */
static float folded(const float* v, const float* w, int cols)
{
    float part[16] = {0};
    for (int j = 0; j < cols; j++) part[j % 16] += w ? v[j] * w[j] : v[j];
    for (int width = 8; width > 0; width /= 2)
        for (int i = 0; i < width; i++) part[i] += part[i + width];
    return part[0];
}

/* Bit by bit, for every rest of 16 columns. */
TEST(a_norm_of_any_width_is_that_of_sixteen_folded_sums)
{
    static float normed[LONG * PITCH], inv_deviation[LONG], sums[3 * PITCH];
    net_config c = config_for(NET_MLP);
    c.layers = 2;
    c.hidden = WIDE;
    c.norm = true;
    net* n = net_of(&c, &small->task.features);
    n->column_sums = (mat){.v = sums, .ld = PITCH, .cols = WIDE, .rows = {NULL, 3}};
    for (int64_t i = 0; i < n->state.count; i++) n->state.value[i] = test_uniform();
    for (int cols = 1; cols <= WIDE; cols++) {
        epilogue e = epilogue_of(n, 0, ACTIVATION_NONE, normed, inv_deviation);
        mat h = matrix(1, cols, PITCH), dh = matrix(1, cols, PITCH);
        float x[WIDE], y[WIDE], g[WIDE];
        e.act = ACTIVATION_NONE;
        for (int j = 0; j < cols; j++) x[j] = h.v[j] + e.bias.v.v[j];
        const float mean = folded(x, NULL, cols) / (float)cols;
        for (int j = 0; j < cols; j++) x[j] -= mean;
        const float inverse = 1.0f / sqrtf(folded(x, x, cols) / (float)cols + 1e-5f);
        for (int j = 0; j < cols; j++) x[j] *= inverse;
        for (int j = 0; j < cols; j++) y[j] = x[j] * e.gamma.v.v[j] + e.beta.v.v[j];
        for (int j = 0; j < cols; j++) g[j] = dh.v[j] * e.gamma.v.v[j];
        const float middle = folded(g, NULL, cols) / (float)cols, slope = folded(g, x, cols) / (float)cols;
        for (int j = 0; j < cols; j++) g[j] = (g[j] - middle - x[j] * slope) * inverse;
        n->ops->finish(n, h, h, &e);
        n->ops->finish_back(n, dh, h, &e);
        const size_t bytes = (size_t)cols * sizeof *x;
        if (!CHECK(!memcmp(h.v, y, bytes) && !memcmp(normed, x, bytes) && !memcmp(dh.v, g, bytes) && !memcmp(inv_deviation, &inverse, sizeof inverse)))
            printf("  %d columns\n", cols);
    }
    net_free(n);
}

/* ==== levels of instructions ==================================================================================== */

enum { LEVEL_ROWS = 23, WIDEST = 513, LEVEL_PITCH = 531, X_PADDING = 14, DH_PADDING = 9 };
typedef float level_rows[LEVEL_ROWS * LEVEL_PITCH];

/* Random numbers, and now and then -0. ends: in every fourth row also what is at the ends of floats. */
static void fill_rows(level_rows v, int64_t ld, bool ends)
{
    static const float end[] = {NAN, INFINITY, -INFINITY, 1e-40f, -1e-40f, 3e38f, -3e38f, 0};
    for (int i = 0; i < LEVEL_ROWS * LEVEL_PITCH; i++) {
        const uint64_t pick = test_random() % 64;
        v[i] = pick == 63 ? -0.f : ends && pick < 8 && i / ld % 4 == 3 ? end[pick] : 3 * test_uniform();
    }
}

static mat level_matrix(float* v, int32_t cols, int64_t padding)
{
    return (mat){.v = v, .ld = cols + padding, .cols = cols, .rows = {NULL, LEVEL_ROWS}};
}

/* All that an epilogue and dropout write at a level: from the same x and dh, into memory that holds 7s. */
typedef struct {
    level_rows h, dh, normed, dropped;
    float inv_deviation[LEVEL_ROWS], sums[3 * LEVEL_PITCH], d[3][LEVEL_PITCH];
} level_result;

static void finish_at_level(net* n, int level, epilogue e, float* x, const level_rows dh, level_result* r)
{
    const int32_t cols = e.bias.v.cols;
    const mat h = level_matrix(r->h, cols, 5), back = level_matrix(r->dh, cols, DH_PADDING);
    for (size_t i = 0; i < sizeof *r / sizeof(float); i++) ((float*)r)[i] = 7;
    memcpy(r->dh, dh, sizeof r->dh);
    memcpy(r->dropped, dh, sizeof r->dropped);
    e.bias.d.v = r->d[0];
    e.gamma.d.v = r->d[1];
    e.beta.d.v = r->d[2];
    e.normed = level_matrix(r->normed, cols, 1);
    e.inv_deviation = r->inv_deviation;
    n->column_sums = (mat){.v = r->sums, .ld = LEVEL_PITCH, .cols = cols, .rows = {NULL, 3}};
    ggnn_level = level;
    n->ops->finish(n, h, level_matrix(x, cols, X_PADDING), &e);
    n->ops->finish_back(n, back, h, &e);
    if (e.threshold) n->ops->drop(n, level_matrix(r->dropped, cols, 18), e.id, e.threshold, e.layer);
}

/* Every activation, with dropout and without: as the level of plain C. A number that is none spreads to its columns' sums, so
   that half of all is without. */
static void compare_levels(int32_t cols, bool norm)
{
    static level_result plain, other;
    static level_rows x, dh;
    net_config c = config_for(NET_MLP);
    c.layers = 2;
    c.hidden = cols;
    c.norm = norm;
    net* n = net_of(&c, &small->task.features);
    for (int64_t i = 0; i < n->state.count; i++) n->state.value[i] = test_uniform();
    for (int variant = 0; variant < 12; variant++) {
        epilogue e = n->layer[0].finish;
        e.act = (activation)(variant % 3);
        e.threshold = variant / 3 % 2 ? ggnn_dropout_threshold(.4f) : 0;
        e.layer = 1;
        e.id = n->whole.batch.blocks.id;
        fill_rows(x, cols + X_PADDING, variant / 6);
        fill_rows(dh, cols + DH_PADDING, variant / 6);
        for (int level = 0; level < GEMM_LEVELS; level++) {
            if (!gemm_use((gemm_level)level)) continue;
            finish_at_level(n, level, e, x, dh, level ? &other : &plain);
            if (level && !CHECK(same_floats((float*)&plain, (float*)&other, (int64_t)(sizeof plain / sizeof(float)))))
                printf("  %s: %d columns, norm %d, variant %d\n", gemm_level_name((gemm_level)level), (int)cols, norm, variant);
        }
    }
    net_free(n);
}

TEST(epilogues_and_dropout_have_the_same_bits_on_every_level)
{
    static const int32_t widths[] = {1, 7, 16, 17, 100, 256, WIDEST};
    const gemm_level usual = gemm_used();
    test_seed(77);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (int norm = 0; norm < 2; norm++) compare_levels(widths[i], norm);
    CHECK(gemm_use(usual));
    ggnn_level = 3;
}

/* As few rows alone; what lies beside them stays. */
TEST(rows_of_a_long_matrix_come_out_as_those_of_a_short_one)
{
    static float alone[LONG * PITCH], joined[LONG * PITCH], normed[LONG * PITCH], inv_deviation[LONG], sums[3 * LONG * PITCH];
    for (int i = 0; i < LONG; i++) long_id[i] = (ggnn_node)(i * 7 % N);
    for (int norm = 0; norm < 2; norm++) {
        net_config c = config_for(NET_MLP);
        c.layers = 2;
        c.hidden = WIDE;
        c.norm = norm;
        net* n = net_of(&c, &small->task.features);
        n->column_sums = (mat){.v = sums, .ld = PITCH, .cols = WIDE, .rows = {NULL, 3 * LONG}};
        for (int64_t i = 0; i < n->state.count; i++) n->state.value[i] = test_uniform();
        for (int variant = 0; variant < 6; variant++) {
            mat h = long_matrix(0), dh = long_matrix(1), one = h, made = h;
            epilogue e = epilogue_of(n, 0, variant, normed, inv_deviation);
            memcpy(alone, h.v, sizeof alone);
            memcpy(joined, h.v, sizeof joined);
            one.v = alone;
            made.v = joined;
            n->ops->finish(n, h, h, &e);
            for (int64_t i = 0; i < LONG; i += SHORT) {
                e = epilogue_of(n, i, variant, normed, inv_deviation);
                n->ops->finish(n, short_part(one, i), short_part(one, i), &e);
            }
            if (!CHECK(memcmp(alone, h.v, sizeof alone) == 0)) printf("  epilogue %d, norm %d\n", variant, norm);
            const mat a = mat_head(dh, (ggnn_count){NULL, LONG}), w = mat_head(h, (ggnn_count){NULL, WIDE}); /* any */
            e = epilogue_of(n, 0, variant, normed, inv_deviation);
            n->ops->gemm(n, one, a, false, w, false, 0);
            n->ops->finish(n, one, one, &e);
            n->ops->multiply_finish(n, made, a, w, &e);
            if (!CHECK(memcmp(alone, made.v, sizeof alone) == 0)) printf("  product and epilogue %d, norm %d\n", variant, norm);
            memcpy(alone, dh.v, sizeof alone);
            e = epilogue_of(n, 0, variant, normed, inv_deviation);
            n->ops->finish_back(n, dh, h, &e);
            for (int64_t i = 0; i < LONG; i += SHORT) {
                e = epilogue_of(n, i, variant, normed, inv_deviation);
                n->ops->finish_back(n, short_part(one, i), short_part(h, i), &e);
            }
            if (!CHECK(memcmp(alone, dh.v, sizeof alone) == 0)) printf("  epilogue %d, back, norm %d\n", variant, norm);
        }
        net_free(n);
    }
}

TEST(sums_and_copies_of_long_matrices_are_those_of_their_elements)
{
    enum { HEADS = 3, HEAD = WIDE / HEADS };
    const net_config c = config_for(NET_MLP);
    net* n = net_of(&c, &small->task.features);
    const math_ops* op = n->ops;
    for (int rows = 408; rows < LONG; rows += rows < 413 ? 1 : 293) { /* around one piece; two, three */
        mat a = long_matrix(0), b = long_matrix(1), out = long_matrix(2), mean = long_matrix(3);
        const ggnn_count count = {NULL, rows};
        memcpy(out.v, a.v, sizeof long_memory[0]);
        op->add(n, mat_head(out, count), mat_head(b, count));
        int64_t wrong = 0;
        for (int i = 0; i < LONG * PITCH; i++) {
            const bool in = i / PITCH < rows && i % PITCH < WIDE;
            wrong += out.v[i] != (in ? a.v[i] + b.v[i] : a.v[i]);
        }
        op->read_rows(n, mat_head(out, count), mat_head(b, count));
        for (int i = 0; i < LONG * PITCH; i++) wrong += out.v[i] != (i / PITCH < rows && i % PITCH < WIDE ? b.v[i] : a.v[i]);
        mat wide = mat_columns(a, 0, HEADS * HEAD), narrow = mat_columns(mean, 0, HEAD);
        op->mean_heads(n, mat_head(narrow, count), mat_head(wide, count), HEADS);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < HEAD; j++) {
                const float* x = a.v + i * PITCH + j;
                wrong += fabsf(mean.v[i * PITCH + j] - (x[0] + x[HEAD] + x[2 * HEAD]) / 3) > 1e-6f;
            }
        op->mean_heads_back(n, mat_head(wide, count), mat_head(narrow, count), HEADS);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < HEADS * HEAD; j++) wrong += fabsf(a.v[i * PITCH + j] - mean.v[i * PITCH + j % HEAD] / 3) > 1e-7f;
        if (!CHECK_EQ(wrong, 0)) printf("  %d rows\n", rows);
    }
    net_free(n);
}

TEST(long_arrays_are_summed_and_updated_once)
{
    static const int count[] = {1, 16383, 16384, 16385, 40001};
    static float piece[3 * 40001], sum[40002];
    for (int i = 0; i < 3 * 40001; i++) piece[i] = test_uniform();
    for (int k = 0; k < 5; k++)
        for (int pieces = 1; pieces <= 3; pieces++) {
            const int n = count[k];
            int64_t wrong = 0;
            sum[n] = 77;
            cpu->ops->rows->sum_pieces(cpu, sum, piece, pieces, n);
            for (int i = 0; i < n; i++) {
                float is = piece[i];
                for (int p = 1; p < pieces; p++) is += piece[p * n + i];
                wrong += sum[i] != is;
            }
            if (!CHECK(wrong == 0 && sum[n] == 77)) printf("  %d of %d\n", pieces, n);
        }
    net_config c = config_for(NET_MLP);
    c.layers = 2;
    c.hidden = 1600; /* 21 columns in, 3 out: 40,003 parameters */
    net* n = net_of(&c, &small->task.features);
    const net_state s = net_state_of(n);
    CHECK(s.count > 2 * 16384 && s.count < 40100);
    static float was[40100];
    memcpy(was, s.value, (size_t)s.count * sizeof *was);
    for (int64_t i = 0; i < s.count; i++) s.grad[i] = test_uniform() + 2;
    net_update(n, .5f);
    int64_t wrong = 0; /* the first step of each is the rate */
    for (int64_t i = 0; i < s.count; i++)
        wrong += fabsf(was[i] - s.value[i] - .5f) > 1e-4f || fabsf(s.m[i] - .1f * s.grad[i]) > 1e-6f || fabsf(s.v[i] - .001f * s.grad[i] * s.grad[i]) > 1e-6f;
    CHECK_EQ(wrong, 0);
    net_free(n);
}

/* ==== room ====================================================================================================== */

/* A shape that is larger in one number of one hop alone gets its room, and none loses what there is. */
TEST(a_net_grows_to_any_number_of_a_shape_that_it_has_no_room_for)
{
    enum { LAYERS = 3 };
    net_config c = config_for(NET_GCN);
    const ggnn_sampling how = {.method = GGNN_FISHER_YATES, .num_hops = LAYERS, .fanout = {2, 2, 2}};
    ggnn_batch shape;
    int64_t room[LAYERS][3];
    c.full_batch = false;
    c.layers = LAYERS;
    CHECK(ggnn_batch_plan(&shape, &small->task.graph, &how, 4, NULL) == GGNN_OK);
    net* n = net_create(&c, &small->data, &shape, NULL, &why);
    CHECK(n != NULL);
    for (int h = 0; h < LAYERS; h++) {
        room[h][0] = shape.hop[h].num_dst.max;
        room[h][1] = shape.hop[h].num_src.max;
        room[h][2] = shape.hop[h].num_edges.max;
    }
    for (int k = 0; k < 4 * 3 * LAYERS; k++) {
        const int h = k / 3 % LAYERS;
        ggnn_batch one = shape; /* in another number as it was at first */
        room[h][k % 3] += 1 + k / (3 * LAYERS);
        one.hop[h].num_dst.max = k % 3 == 0 ? room[h][0] : shape.hop[h].num_dst.max;
        one.hop[h].num_src.max = k % 3 == 1 ? room[h][1] : shape.hop[h].num_src.max;
        one.hop[h].num_edges.max = k % 3 == 2 ? room[h][2] : shape.hop[h].num_edges.max;
        CHECK(net_fit(n, &one, &why) && net_fit(n, &shape, &why));
        for (int l = 0; l < LAYERS; l++) {
            const extent has = n->layer[l].train;
            const int64_t* needs = room[LAYERS - 1 - l];
            if (!CHECK(has.dst == needs[0] && has.src == needs[1] && has.edges == needs[2])) printf("  layer %d after number %d of hop %d\n", l, k % 3, h);
        }
    }
    net_free(n);
}

/* Of as many rows as a segment of a column sum has, one fewer, one more: a step leaves what the next one finds. */
TEST(the_same_step_made_again_has_the_same_gradients)
{
    static const int rows[] = {256, 257, 513};
    static const net_model kinds[] = {NET_GCN, NET_SAGE, NET_GAT, NET_MLP};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture* f = fixture_of(random_graph_new(rows[i], 3, 20), 3, OUTPUTS);
        for (int k = 0; k < 4; k++) {
            net_config c = config_for(kinds[k]);
            c.layers = 2;
            c.norm = true;
            net* n = net_create(&c, &f->data, NULL, NULL, &why);
            if (!CHECK(n != NULL)) continue;
            const net_state s = net_state_of(n);
            float* first = malloc((size_t)s.count * sizeof *first);
            net_compute(n, net_whole(n), 0);
            memcpy(first, s.grad, (size_t)s.count * sizeof *first);
            net_compute(n, net_whole(n), 0);
            if (!CHECK(memcmp(first, s.grad, (size_t)s.count * sizeof *first) == 0)) printf("  model %d, %d rows\n", k, rows[i]);
            free(first);
            net_free(n);
        }
        fixture_free(f);
    }
}

/* Rows further apart than they are wide, where the whole store is seen as a matrix and where its rows are read. */
TEST(rows_of_a_store_may_lie_further_apart_than_they_are_wide)
{
    static const net_model kinds[] = {NET_GCN, NET_SAGE, NET_GAT, NET_MLP};
    static float apart[N * (COLUMNS + 6)];
    for (int i = 0; i < N * (COLUMNS + 6); i++) apart[i] = i % (COLUMNS + 6) < COLUMNS ? small->features[i / (COLUMNS + 6) * COLUMNS + i % (COLUMNS + 6)] : NAN;
    ggnn_store store = ggnn_store_plain(apart, N, COLUMNS, GGNN_F32);
    store.pitch = (COLUMNS + 6) * (int64_t)sizeof(float);
    for (int k = 0; k < 4; k++)
        for (int dropout = 0; dropout < 2; dropout++) {
            net_config c = config_for(kinds[k]);
            c.input_dropout = dropout ? .3f : 0;
            net *near_ones = net_of(&c, &small->task.features), *n;
            net_compute(near_ones, net_whole(near_ones), 0);
            n = net_of(&c, &store);
            net_compute(n, net_whole(n), 0);
            const net_state s = net_state_of(n), t = net_state_of(near_ones);
            CHECK_EQ(s.count, t.count);
            if (!CHECK(memcmp(s.grad, t.grad, (size_t)s.count * sizeof *s.grad) == 0)) printf("  model %d, dropout %d\n", k, dropout);
            net_free(near_ones);
            net_free(n);
        }
}

/* ==== updates =================================================================================================== */

/* Kingma & Ba's Adam, Loshchilov & Hutter's AdamW, over many steps of ever other rates and gradients. */
TEST(updates_are_adams_and_adamws_at_the_rate_of_each_step)
{
    for (int decoupled = 0; decoupled < 2; decoupled++)
        for (int decay = 0; decay < 2; decay++) {
            net_config c = config_for(NET_MLP);
            c.optimizer = decoupled ? NET_ADAMW : NET_ADAM;
            c.weight_decay = decay ? .125f : 0;
            net* n = net_of(&c, &small->task.features);
            const net_state s = net_state_of(n);
            static double w[COLUMNS * OUTPUTS + OUTPUTS], m[COLUMNS * OUTPUTS + OUTPUTS], v[COLUMNS * OUTPUTS + OUTPUTS];
            for (int i = 0; i < s.count; i++) w[i] = (double)s.value[i], m[i] = v[i] = 0;
            CHECK_EQ(s.count, COLUMNS * OUTPUTS + OUTPUTS);
            for (int t = 1; t <= 1500; t++) {
                const double rate = (double)(.001f * (float)(1 + t % 7));
                for (int i = 0; i < s.count; i++) {
                    s.grad[i] = test_uniform() + (i % 3 ? .5f : 0);
                    const double g = (double)s.grad[i] + (decoupled ? 0 : (double)c.weight_decay * w[i]);
                    m[i] = .9 * m[i] + .1 * g;
                    v[i] = .999 * v[i] + .001 * g * g;
                    if (decoupled) w[i] -= rate * (double)c.weight_decay * w[i];
                    w[i] -= rate * m[i] / (1 - pow(.9, t)) / (sqrt(v[i] / (1 - pow(.999, t))) + 1e-8);
                }
                net_update(n, (float)rate);
            }
            int before_errors = test_errors;
            for (int i = 0; i < s.count; i++) {
                CHECK_NEAR((double)s.value[i], w[i], 2e-4);
                CHECK_NEAR((double)s.m[i], m[i], 1e-5);
                CHECK_NEAR((double)s.v[i], v[i], 1e-5);
            }
            CHECK_EQ(*s.updates, 1500);
            if (test_errors > before_errors) printf("  %s, decay %g\n", decoupled ? "AdamW" : "Adam", (double)c.weight_decay);
            net_free(n);
        }
}

/* Steps of 4 labelled rows, of none, and three whose loss is no number. */
TEST(losses_are_added_up_and_the_first_that_is_not_finite_is_kept)
{
    static const net_sums step[] = {{.loss = 6, .known = 4}, {.loss = 0, .known = 0}, {.loss = INFINITY, .known = 2}, {.loss = NAN, .known = 3}, {.loss = -INFINITY, .known = 1}};
    net_losses all = {.bad = -1};
    for (uint32_t i = 0; i < 5; i++) {
        losses_add(&all, 7 + i, &step[i]);
        CHECK_EQ(all.known, step[i].known);
        CHECK_EQ(all.bad, i < 2 ? -1 : 9);
        CHECK(i < 2 ? all.bad_loss == 0 && all.sum == 6 && all.last == (i ? 0 : 1.5) : isinf(all.bad_loss) && all.bad_loss > 0);
    }
    CHECK_EQ(all.rows, 10);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(31);
    cpu = device_open_cpu(2, &why);
    small = fixture_of(random_graph_new(N, 3, 20), COLUMNS, OUTPUTS);
    for (int i = 0; i < N * COLUMNS; i++) half[i] = ggnn_float_to_half(small->features[i]);
    halves = ggnn_store_plain(half, N, COLUMNS, GGNN_F16);
    RUN(rows_and_products_count_what_they_read_and_write_once);
    RUN(an_epilogue_counts_its_rows_and_those_of_its_norm);
    RUN(sums_over_neighbours_count_a_row_and_an_index_for_each_edge);
    RUN(rows_of_edges_count_once_each);
    RUN(attention_and_loss_count_their_rows);
    RUN(terms_of_edges_count_a_number_for_each_edge_and_head);
    RUN(features_without_their_zeros_count_their_entries);
    RUN(an_entry_that_is_no_number_is_no_zero);
    RUN(activations_and_their_gradients_are_those_of_the_ends_of_floats);
    RUN(an_element_whose_field_is_the_threshold_is_kept);
    RUN(a_norm_of_any_width_is_that_of_sixteen_folded_sums);
    RUN(epilogues_and_dropout_have_the_same_bits_on_every_level);
    RUN(rows_of_a_long_matrix_come_out_as_those_of_a_short_one);
    RUN(sums_and_copies_of_long_matrices_are_those_of_their_elements);
    RUN(long_arrays_are_summed_and_updated_once);
    RUN(rows_of_a_store_may_lie_further_apart_than_they_are_wide);
    RUN(a_net_grows_to_any_number_of_a_shape_that_it_has_no_room_for);
    RUN(the_same_step_made_again_has_the_same_gradients);
    RUN(updates_are_adams_and_adamws_at_the_rate_of_each_step);
    fixture_free(small);
    device_close(cpu);
    RUN(losses_are_added_up_and_the_first_that_is_not_finite_is_kept);
    return test_finish();
}
