/* test_bench_cache.c - hit rates that ggnn-bench cache counts, beside an oracle that looks at every read. */
#include "datasets/dataset.h"
#include "ggnn_plan.h"
#include "tests/bench_tool.h"

static char* counted(void) { return bench_json("cache"); }
static double figure(const char* text, const char* what, const char* row, const char* column)
{
    return bench_figure(text, "counted", what, row, column);
}

/* ---- by hand ---------------------------------------------------------------------------------------------------- */

/* Nodes 0 and 1 train; 0 <- 1, 2; 1 <- 2; 2 <- 3; 4 .. 9 <- 0. Every list is shorter than the fanouts, so that every
   epoch reads the same: one hop 0, 1, 2 once each, two hops 3 as well. A cache of 10 % has one row of ten. */
TEST(hit_rates_of_a_graph_that_can_be_counted_by_hand)
{
    enum { N = 10, E = 10 };
    static const int64_t indptr[N + 1] = {0, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10}, nodes = N, offsets = N + 1, edges = E;
    static const ggnn_node indices[E] = {1, 2, 2, 3, 0, 0, 0, 0, 0, 0};
    static const int64_t rows[2] = {N, 8}, splits[2] = {1, N};
    static const uint8_t split[N] = {1, 1, 0, 0, 2, 3, 0, 0, 0, 0};
    static const struct {
        const char* policy;
        double one_hop[3], two_hops[3]; /* of 10, 20, 50 %, in reads taken */
    } expected[] = {
        {"none", {0, 0, 0}, {0, 0, 0}},
        {"degree", {1, 2, 3}, {1, 2, 4}},   /* 0 (6 times), 2 (2), 1, 3 (1), 4 */
        {"aligraph", {1, 2, 3}, {1, 2, 4}}, /* 1 (1 / 1), 2 (1 / 2), 0 (2 / 6), 3 (0 / 1), 4 */
        {"presc", {1, 2, 3}, {1, 2, 4}},    /* 0 (two in-edges), 1, 2, then 3 or others */
        {"optimal", {1, 2, 3}, {1, 2, 4}},
    };
    float features[N * 8] = {0};
    int32_t label[N] = {0, 1};
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, data) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &offsets, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, indices) &&
          ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, rows, features) &&
          ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, label) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) && ggnn_file_commit(&w));
    char* text = counted();
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        static const char* const column[] = {"10 %", "20 %", "50 %"};
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(figure(text, "uniform 2", expected[i].policy, column[k]), 100 * expected[i].one_hop[k] / 3, 1e-9);
            CHECK_NEAR(figure(text, "uniform 4,3", expected[i].policy, column[k]), 100 * expected[i].two_hops[k] / 4, 1e-9);
            CHECK_NEAR(figure(text, "weighted 4,3", expected[i].policy, column[k]), 100 * expected[i].two_hops[k] / 4, 1e-9);
        }
        CHECK_NEAR(figure(text, "uniform 5,4,3", expected[i].policy, "5 %"), 0, 0);
    }
    CHECK_NEAR(figure(text, "rows of two epochs", "uniform 4,3", "both"), 100, 0);
    free(text);
}

/* ---- every read looked at ---------------------------------------------------------------------------------------- */

enum { SEED = 1, EPOCHS = 3, READS = 1 << 21 };
typedef struct {
    int64_t *rows, *lists, *degree, *in; /* (N) */
    ggnn_node* read;                     /* every row of every batch of training, one after the other */
    int64_t reads, ends[EPOCHS];         /* where an epoch ends */
} seen;

/* Epochs as training takes them, or as PreSC does before it. */
static void sample_epochs(seen* s, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_node* train, int64_t num_train,
                          int64_t batch, bool before)
{
    ggnn_node seeds[128];
    ggnn_batch b;
    uint32_t step = 0;
    CHECK(ggnn_batch_plan(&b, g, how, batch, NULL) == GGNN_OK);
    void* memory = malloc(b.bytes);
    ggnn_batch_init(&b, memory);
    for (uint32_t epoch = 0; epoch < (before ? 1 : EPOCHS); epoch++)
        for (int64_t first = 0; first < num_train; first += batch, step++) {
            const ggnn_rng rng = {SEED, step, before ? GGNN_PURPOSE_PRESAMPLE : GGNN_PURPOSE_SAMPLE};
            const int64_t n = num_train - first < batch ? num_train - first : batch;
            for (int64_t i = 0; i < n; i++)
                seeds[i] = train[ggnn_shuffle(SEED, before ? GGNN_PRESAMPLE_EPOCH + epoch : epoch, first + i, num_train)];
            CHECK(ggnn_sample(&b, g, &rng, seeds, n) == GGNN_OK);
            for (int64_t i = 0; i < *b.hop[b.num_hops - 1].num_src.n; i++) {
                s->rows[b.id[i]]++;
                if (!before && CHECK(s->reads < READS)) s->read[s->reads++] = b.id[i];
            }
            for (int32_t h = 0; h < b.num_hops; h++)
                for (int64_t i = 0; i < *b.hop[h].num_dst.n; i++) s->lists[b.hop[h].id[i]]++;
            if (!before) s->ends[epoch] = s->reads;
        }
    free(memory);
}

static const seen *by_before, *by_read; /* what qsort's comparison looks at */
static int policy;                      /* 0 degree, 1 aligraph, 2 presc, 3 optimal */
static int hotter(const void* x, const void* y)
{
    const ggnn_node a = *(const ggnn_node*)x, b = *(const ggnn_node*)y;
    const seen* s = policy == 3 ? by_read : by_before;
    double p = (double)s->rows[a], q = (double)s->rows[b];
    if (policy == 0) {
        p = (double)s->degree[a];
        q = (double)s->degree[b];
    }
    if (policy == 1) {
        p = s->degree[a] ? (double)s->in[a] / (double)s->degree[a] : -1;
        q = s->degree[b] ? (double)s->in[b] / (double)s->degree[b] : -1;
    }
    if (p != q) return p > q ? -1 : 1;
    if (policy >= 2 && s->in[a] != s->in[b]) return s->in[a] > s->in[b] ? -1 : 1;
    return a < b ? -1 : 1;
}

static double taken(const seen* s, const bool* cached)
{
    int64_t hits = 0;
    for (int64_t i = 0; i < s->reads; i++) hits += cached[s->read[i]];
    return 100. * (double)hits / (double)s->reads;
}

/* Of a tenth of the rows of 8 floats so many bytes: 1, 2, 4, 8 times as wide, fewer rows lie in them, and what is read of others is moved. */
static void compare_widths(const char* text, const char* what, const seen* read, const bool* cached, const char* name_of, int times)
{
    char name[80], column[16];
    int64_t missed = 0;
    for (int64_t i = 0; i < read->reads; i++) missed += !cached[read->read[i]];
    snprintf(name, sizeof name, "%s, by width", what);
    snprintf(column, sizeof column, "F %d", 8 * times);
    CHECK_NEAR(figure(text, name, name_of, column), (double)missed / EPOCHS * 32 * times / 1e6, 1e-9);
}

static void compare_setting(const char* text, const char* what, const seen* before, const seen* read, const dataset* d, ggnn_method how, bool widths)
{
    static const char *const name[] = {"degree", "aligraph", "presc", "optimal"}, *const column[] = {"1 %", "10 %", "50 %"};
    static const double share[] = {.01, .1, .5};
    const int64_t n = d->num_nodes, row = 8 * 4;
    ggnn_node *order = malloc((size_t)n * sizeof *order), *work = malloc(4 * (size_t)n * sizeof *work);
    bool* cached = malloc((size_t)n);
    by_before = before;
    by_read = read;
    for (int k = 0; k < 3; k++) {
        for (policy = 0; policy < 4; policy++) {
            for (int64_t v = 0; v < n; v++) order[v] = (ggnn_node)v;
            qsort(order, (size_t)n, sizeof *order, hotter);
            memset(cached, 0, (size_t)n);
            for (int64_t i = 0; i < (int64_t)(share[k] * (double)n + 1e-9); i++) cached[order[i]] = true;
            CHECK_NEAR(figure(text, what, name[policy], column[k]), taken(read, cached), 1e-9);
            for (int times = 1; times <= 8 && k == 1 && widths; times *= 2) {
                memset(cached, 0, (size_t)n);
                if (policy == 0) compare_widths(text, what, read, cached, "none", times);
                for (int64_t i = 0; i < (int64_t)(.1 * (double)n + 1e-9) / times; i++) cached[order[i]] = true;
                compare_widths(text, what, read, cached, name[policy], times);
            }
        }
        if (how == GGNN_WALK) continue; /* no dual */
        const ggnn_sizes sizes = {row, d->csc.indptr, sizeof(ggnn_node), 16};
        const ggnn_dual dual = {before->rows, before->lists, 0, 0, &sizes, (int64_t)(share[k] * (double)n + 1e-9) * row};
        const ggnn_dual_fill fill = ggnn_fill_dual(work, work + n, &dual, n, work + 2 * n);
        for (int64_t v = 0; v < n; v++) cached[v] = work[v] < fill.rows;
        CHECK_NEAR(figure(text, what, "dual", column[k]), taken(read, cached), 1e-9);
    }
    free(order);
    free(work);
    free(cached);
}

/* Jaccard's measure of the first two epochs' rows, per cent. */
static double common(const seen* s, int64_t n)
{
    uint8_t* in = calloc((size_t)n, 1);
    int both = 0, any = 0;
    for (int64_t i = 0; i < s->ends[1]; i++) in[s->read[i]] |= i < s->ends[0] ? 1 : 2;
    for (int64_t v = 0; v < n; v++) {
        both += in[v] == 3;
        any += in[v] > 0;
    }
    free(in);
    return 100. * both / any;
}

static seen seen_new(const dataset* d)
{
    const size_t n = (size_t)d->num_nodes;
    seen s = {calloc(n, 8), calloc(n, 8), calloc(n, 8), calloc(n, 8), malloc(READS * sizeof(ggnn_node)), 0, {0}};
    for (int64_t e = 0; e < d->num_edges; e++) s.degree[d->csc.indices[e]]++;
    for (int64_t v = 0; v < d->num_nodes; v++) s.in[v] = d->csc.indptr[v + 1] - d->csc.indptr[v];
    return s;
}
static void seen_free(seen* s)
{
    free(s->rows);
    free(s->lists);
    free(s->degree);
    free(s->in);
    free(s->read);
}

static int rows_named(const char* text, const char* row)
{
    int count = 0;
    for (const char* f = json_begin(json_member(json_first(text), "figures")); f; f = json_next(f)) count += json_is_text(json_member(f, "row"), row);
    return count;
}

static void compare_with_oracle(const char* text, const dataset* d, const char* what, const ggnn_sampling* how, int64_t batch, bool widths)
{
    const ggnn_graph g = dataset_graph(d);
    ggnn_node* train = malloc((size_t)d->num_nodes * sizeof *train);
    const int64_t num_train = dataset_split_ids(d, 0, SPLIT_TRAIN, train);
    seen before = seen_new(d), read = seen_new(d);
    CHECK(num_train > 3 * batch && num_train % batch != 0);
    sample_epochs(&before, &g, how, train, num_train, batch, true);
    sample_epochs(&read, &g, how, train, num_train, batch, false);
    compare_setting(text, what, &before, &read, d, how->method, widths);
    CHECK_NEAR(figure(text, "rows of two epochs", what, "both"), common(&read, d->num_nodes), 1e-9);
    seen_free(&before);
    seen_free(&read);
    free(train);
}

TEST(hit_rates_are_those_of_every_read_of_every_batch)
{
    static const struct {
        const char *arguments, *what;
        ggnn_method method;
        int32_t hops, fanout[3];
        int64_t batch;
        bool widths; /* of the first fanouts of a sampling */
    } setting[] = {{"cache", "uniform 5,4,3", GGNN_FISHER_YATES, 3, {5, 4, 3}, 128, true},
                   {"cache", "uniform 2", GGNN_FISHER_YATES, 1, {2}, 128, false},
                   {"cache", "walk 4,3", GGNN_WALK, 2, {4, 3}, 128, true},
                   {"cache --fanout 7,3 --batch 101", "walk 7,3", GGNN_WALK, 2, {7, 3}, 101, true},
                   {"cache --fanout 7,3 --batch 101", "uniform 7,3", GGNN_FISHER_YATES, 2, {7, 3}, 101, true}};
    dataset d;
    error why = {""};
    if (!generate_graph("rmat --nodes 2048 --edges 30000 --directed --train .2")) return;
    CHECK(dataset_open(&d, data, &why));
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++) {
        const bool own = strstr(setting[i].arguments, "--fanout") != NULL;
        const ggnn_sampling how = ggnn_sampling_plain(setting[i].method, setting[i].fanout, setting[i].hops);
        char* text = bench_json(setting[i].arguments);
        compare_with_oracle(text, &d, setting[i].what, &how, setting[i].batch, setting[i].widths);
        CHECK_EQ(strstr(text, "\"weighted 7,3\"") != NULL, own); /* what is asked for, alone */
        CHECK_EQ(strstr(text, "\"uniform 2\"") != NULL, !own);
        CHECK_EQ(rows_named(text, "dual"), (own ? 2 : 6) * 5); /* a walk's lists are not those of targets: none of walks */
        free(text);
    }
    dataset_close(&d);
}

/* ---- what the papers claim, on small graphs ------------------------------------------------------------------------ */

TEST(presampling_finds_a_localised_training_sets_rows_where_degrees_do_not)
{
    if (!generate_graph("citation --nodes 40000 --edges 320000")) return;
    char* text = counted();
    const char* const what[] = {"uniform 5,4,3", "weighted 5,4,3"};
    for (int i = 0; i < 2; i++) {
        const double presc = figure(text, what[i], "presc", "10 %"), degree = figure(text, what[i], "degree", "10 %");
        const double optimal = figure(text, what[i], "optimal", "10 %"), random = figure(text, what[i], "random", "10 %");
        CHECK(presc >= optimal - 2.5 && presc <= optimal);
        CHECK(presc >= 2.5 * degree);
        CHECK(degree > random && random > 8 && random < 12);
    }
    free(text);
}

TEST(on_a_skewed_graph_degrees_do_as_well_unless_weights_choose)
{
    if (!generate_graph("rmat --nodes 32768 --edges 1000000 --directed --train .02")) return;
    char* text = counted();
    CHECK(fabs(figure(text, "uniform 5,4,3", "presc", "10 %") - figure(text, "uniform 5,4,3", "degree", "10 %")) < 2);
    CHECK(figure(text, "weighted 5,4,3", "presc", "10 %") > figure(text, "weighted 5,4,3", "degree", "10 %") + 5);
    free(text);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find();
    RUN(hit_rates_of_a_graph_that_can_be_counted_by_hand);
    RUN(hit_rates_are_those_of_every_read_of_every_batch);
    RUN_SLOW(presampling_finds_a_localised_training_sets_rows_where_degrees_do_not);
    RUN_SLOW(on_a_skewed_graph_degrees_do_as_well_unless_weights_choose);
    folder_remove();
    return test_finish();
}
