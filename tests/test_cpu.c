/* trainer/cpu: what each operation counts into the profile - bytes, multiply-adds, of which stage, of which half of a step; and the
   optimisers over many steps. */
#include "tests/random_graph.h"
#include "tests/test.h"
#include "trainer/ops.h"

/* ==== a net to count into ======================================================================================= */

enum { N = 60, WIDTH = 21, CLASSES = 3 };
static random_graph* graph;
static float features[N * WIDTH];
static uint16_t half[N * WIDTH];
static ggnn_store floats, halves;
static int32_t label[N];
static device* cpu;
static error why;

static net_config config_of(net_model kind)
{
    return (net_config){.device = cpu, .model = kind, .layers = 1, .hidden = 8, .outputs = CLASSES, .heads = 2, .out_heads = 2,
                        .full_batch = true, .dense = true, .seed = 3};
}

static net* net_of(const net_config* c, const ggnn_store* x)
{
    static net_data data;
    data = (net_data){&graph->graph, x, {label, NULL}};
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
    const net_config c = config_of(NET_MLP);
    net* n = net_of(&c, &floats);
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
            mat wide = matrix(rows, WIDTH, 32), copy = matrix(rows, WIDTH, 48);
            begin(n, backward);
            op->read_rows(n, copy, wide);
            counted(n, "a copy", NET_ELEMENTWISE, 2 * 4 * rows * WIDTH, 0);
            begin(n, backward);
            op->read_rows(n, copy, stored(&floats, rows));
            counted(n, "rows of floats", NET_GATHER, (4 + 4) * rows * WIDTH, 0);
            begin(n, backward);
            op->read_rows(n, copy, stored(&halves, rows));
            counted(n, "rows of halves", NET_GATHER, (4 + 2) * rows * WIDTH, 0);
            begin(n, backward);
            op->drop(n, copy, n->whole.blocks.id, ggnn_dropout_threshold(.5f), 0);
            counted(n, "dropout", NET_ELEMENTWISE, 2 * 4 * rows * WIDTH, 0);
            begin(n, backward);
            op->add(n, copy, mat_head(wide, (ggnn_count){NULL, rows - 2}));
            counted(n, "a sum", NET_ELEMENTWISE, 3 * 4 * (rows - 2) * WIDTH, 0);
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
    net_config c = config_of(NET_MLP);
    c.layers = 2;
    for (int norm = 0; norm < 2; norm++) {
        c.norm = norm;
        net* n = net_of(&c, &floats);
        epilogue* e = &n->layer[0].finish;
        e->id = n->whole.blocks.id;
        mat h = matrix(N, 8, 16), dh = matrix(N, 8, 16);
        for (int backward = 0; backward < 2; backward++)
            for (int rows = 5; rows <= N; rows += 55) {
                begin(n, backward);
                n->ops->finish(n, mat_head(h, (ggnn_count){NULL, rows}), e);
                counted(n, "epilogue", NET_ELEMENTWISE, (norm ? 3 : 2) * 4 * rows * 8, 0);
                begin(n, backward);
                n->ops->finish_back(n, mat_head(dh, (ggnn_count){NULL, rows}), mat_head(h, (ggnn_count){NULL, rows}), e);
                counted(n, "epilogue, back", NET_ELEMENTWISE, (norm ? 4 : 3) * 4 * rows * 8, 0);
            }
        net_free(n);
    }
}

/* Each edge reads a row and an index, each target's row is written. */
TEST(sums_over_neighbours_count_a_row_and_an_index_for_each_edge)
{
    const net_config c = config_of(NET_GCN);
    net* n = net_of(&c, &floats);
    const math_ops* op = n->ops;
    const ggnn_block* b = &n->whole.blocks.hop[0];
    const int64_t E = graph->num_edges;
    static float factor[3][N];
    static int32_t arg[N * 16], indices[8 * N];
    ggnn_block global = *b;
    global.neighbor = (ggnn_node*)graph->indices;
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        op->transpose(n, &n->transpose, b);
        counted(n, "a transpose", NET_AGGREGATE, 16 * E, 0);
        begin(n, backward);
        op->index_by_id(n, indices, &global, 5);
        counted(n, "indices by id", NET_AGGREGATE, E * (int64_t)(4 + sizeof(ggnn_node)), 0);
        for (int64_t e = 0; e < E; e++) CHECK_EQ(indices[e], 5 + (int32_t)graph->indices[e]);
        for (int self = 0; self < 2; self++) {
            begin(n, backward);
            op->scale_mean(n, factor[0], b, self);
            counted(n, "factors of a mean", NET_AGGREGATE, (8 + 4) * N, 0); /* an offset is read, a factor written */
        }
        begin(n, backward);
        op->scale_weights(n, factor[0], b, graph->weight);
        counted(n, "factors of weights", NET_AGGREGATE, 4 * E + (8 + 4) * N, 0);
        begin(n, backward);
        op->scale_gcn(n, factor[0], factor[1], factor[2], b);
        counted(n, "GCN's factors", NET_AGGREGATE, 8 * N + 20 * N, 0);
        begin(n, backward);
        op->scale_gcn(n, NULL, factor[1], factor[2], b);
        counted(n, "GCN's factors of targets", NET_AGGREGATE, 20 * N, 0);
        mat x = matrix(N, 13, 16), out = matrix(N, 13, 16), wide = matrix(N, WIDTH, 32);
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
        op->aggregate(n, wide, NULL, GGNN_MEAN, &global, NULL, NULL, stored(&floats, N));
        counted(n, "rows of floats", NET_GATHER, E * (WIDTH * 4 + 4) + 4 * N * WIDTH, 0);
        begin(n, backward);
        op->aggregate(n, wide, NULL, GGNN_MEAN, &global, NULL, NULL, stored(&halves, N));
        counted(n, "rows of halves", NET_GATHER, E * (WIDTH * 2 + 4) + 4 * N * WIDTH, 0);
        global.indices = b->indices;
    }
    check_time(NET_AGGREGATE);
    net_free(n);
}

/* Scores read rows; back they read rows twice and write them. */
TEST(attention_and_loss_count_their_rows)
{
    net_config c = config_of(NET_GAT);
    net* n = net_of(&c, &floats);
    const int64_t E = graph->num_edges;
    int64_t aggregated[2] = {0};
    const int w = 2 * CLASSES; /* two heads */
    mat z = matrix(N, 6, 16), a = matrix(2, 3, 3), dz = matrix(N, 6, 16), da = matrix(2, 3, 3), e = matrix(N, 2, 2);
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        n->ops->scores(n, e.v, mat_head(z, (ggnn_count){NULL, 11}), a);
        counted(n, "scores", NET_AGGREGATE, 4 * 11 * 6, 0);
        begin(n, backward);
        n->ops->scores_back(n, mat_head(dz, (ggnn_count){NULL, 11}), da, e.v, mat_head(z, (ggnn_count){NULL, 11}), a);
        counted(n, "scores, back", NET_AGGREGATE, 3 * 4 * 11 * 6, 0);
        mat logits = matrix(17, CLASSES, 16), dlogits = matrix(17, CLASSES, 16);
        begin(n, backward);
        n->ops->loss(n, dlogits, logits, net_whole(n));
        counted(n, "loss", NET_LOSS, 17 * (2 * 4 * CLASSES + 16), 0); /* logits and gradient; node, label, loss */
    }
    check_time(NET_LOSS);
    before = n->profile; /* a step: scores of all rows twice, a gathered row and an index an edge, .. */
    net_compute(n, net_whole(n), 0);
    aggregated[0] = 2 * 4 * N * w + E * (4 * w + 4) + 4 * N * w;
    aggregated[1] = 2 * 3 * 4 * N * w + 2 * (E * (4 * w + 4) + 4 * N * w) + 16 * E;
    for (int backward = 0; backward < 2; backward++)
        if (!CHECK_EQ(n->profile.bytes[backward][NET_AGGREGATE] - before.bytes[backward][NET_AGGREGATE], aggregated[backward])) printf("  half %d\n", backward);
    before = n->profile;
    net_update(n, .01f);
    counted(n, "update", NET_OPTIMIZER, 7 * 4 * net_state_of(n).count, 0); /* value, m, v read and written, the gradient read */
    CHECK(n->backward == 1 && took[1][NET_OPTIMIZER] > 0);
    net_free(n);
}

/* Of a whole graph: an entry's value is read and written, and its place read. */
TEST(features_without_their_zeros_count_their_entries)
{
    static float thin[N * WIDTH];
    int64_t entries = 0;
    for (int i = 0; i < N * WIDTH; i += 17, entries++) thin[i] = 1 + (float)i;
    const ggnn_store store = ggnn_store_plain(thin, N, WIDTH, GGNN_F32);
    net_config c = config_of(NET_MLP);
    c.dense = false;
    c.input_dropout = .5f;
    net* n = net_of(&c, &store);
    CHECK(n->sparse != NULL);
    mat w = matrix(WIDTH, CLASSES, CLASSES), out = matrix(N, CLASSES, 16);
    for (int backward = 0; backward < 2; backward++) {
        begin(n, backward);
        mat x = n->ops->sparse(n, ggnn_dropout_threshold(.5f));
        counted(n, "entries' dropout", NET_ELEMENTWISE, 12 * entries, 0);
        begin(n, backward);
        n->ops->gemm(n, out, x, false, w, false, 0);
        counted(n, "x w", NET_GEMM, 4 * (entries * (CLASSES + 2) + N * CLASSES), 2 * entries * CLASSES);
        begin(n, backward);
        n->ops->gemm(n, w, x, true, out, false, 0);
        counted(n, "x' dz", NET_GEMM, 4 * (entries * (CLASSES + 2) + WIDTH * CLASSES), 2 * entries * CLASSES);
    }
    net_free(n);
}

/* ==== updates =================================================================================================== */

/* Kingma & Ba's Adam, Loshchilov & Hutter's AdamW, over many steps of ever other rates and gradients. */
TEST(updates_are_adams_and_adamws_at_the_rate_of_each_step)
{
    for (int decoupled = 0; decoupled < 2; decoupled++)
        for (int decay = 0; decay < 2; decay++) {
            net_config c = config_of(NET_MLP);
            c.optimizer = decoupled ? NET_ADAMW : NET_ADAM;
            c.weight_decay = decay ? .125f : 0;
            net* n = net_of(&c, &floats);
            const net_state s = net_state_of(n);
            static double w[WIDTH * CLASSES + CLASSES], m[WIDTH * CLASSES + CLASSES], v[WIDTH * CLASSES + CLASSES];
            for (int i = 0; i < s.count; i++) w[i] = (double)s.value[i], m[i] = v[i] = 0;
            CHECK_EQ(s.count, WIDTH * CLASSES + CLASSES);
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

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(31);
    cpu = device_open_cpu(2, &why);
    graph = random_graph_new(N, 3, 20);
    for (int i = 0; i < N * WIDTH; i++) half[i] = ggnn_float_to_half(features[i] = test_uniform());
    for (int v = 0; v < N; v++) label[v] = v % 7 == 3 ? -1 : v % CLASSES;
    floats = ggnn_store_plain(features, N, WIDTH, GGNN_F32);
    halves = ggnn_store_plain(half, N, WIDTH, GGNN_F16);
    RUN(rows_and_products_count_what_they_read_and_write_once);
    RUN(an_epilogue_counts_its_rows_and_those_of_its_norm);
    RUN(sums_over_neighbours_count_a_row_and_an_index_for_each_edge);
    RUN(attention_and_loss_count_their_rows);
    RUN(features_without_their_zeros_count_their_entries);
    RUN(updates_are_adams_and_adamws_at_the_rate_of_each_step);
    random_graph_free(graph);
    device_close(cpu);
    return test_finish();
}
