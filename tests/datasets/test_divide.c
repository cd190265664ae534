/* test_divide.c - datasets/divide.h, and what its METIS parts are balanced by: metis.h, hotness_weigh; and hotness_look's threads. */
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "datasets/divide.h"
#include "datasets/hotness.h"
#include "datasets/metis.h"
#include "tests/folder.h"
#include "tests/random_graph.h"
#include "tests/test.h"

#define NEW(type, n) ((type*)calloc((size_t)(n) + 1, sizeof(type)))

/* ---- nodes without an owner ------------------------------------------------------------------------------------- */

/* 0 <- 2, 3;  1 <- 3, 4;  2 <- 5;  4 <- 5, 6;  7 <- 8. Owners of 0 and 1 are known. 3 is 0's before 1 asks; 5 is 2's, as 2
   comes before 4. Nobody reaches 7, nor 8 from an owner: modulo. */
TEST(a_node_goes_to_the_part_that_reaches_it_first)
{
    static const int64_t indptr[] = {0, 2, 4, 5, 5, 7, 7, 7, 8, 8};
    static const ggnn_node indices[] = {2, 3, 3, 4, 5, 5, 6, 8};
    static const int32_t expected[] = {2, 1, 2, 2, 1, 2, 1, 1, 2};
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 9, 8);
    int32_t owner[] = {2, 1, -1, -1, -1, -1, -1, -1, -1};
    ggnn_node queue[9];
    divide_rest(owner, queue, &g, 3);
    for (int v = 0; v < 9; v++) CHECK_EQ(owner[v], expected[v]);
    int32_t none[9];
    memset(none, -1, sizeof none);
    divide_rest(none, queue, &g, 3);
    for (int v = 0; v < 9; v++) CHECK_EQ(none[v], v % 3);
}

/* Hops from the nodes that have an owner, over in-edges; -1: none reaches it. */
static void levels(int64_t* level, const ggnn_graph* g, const int32_t* owner)
{
    bool more = true;
    for (int64_t v = 0; v < g->num_nodes; v++) level[v] = owner[v] >= 0 ? 0 : -1;
    for (int64_t l = 0; more; l++) {
        more = false;
        for (int64_t v = 0; v < g->num_nodes; v++)
            for (int64_t i = 0; level[v] == l && i < ggnn_neighbors(g, (ggnn_node)v).degree; i++) {
                const ggnn_node u = ggnn_neighbors(g, (ggnn_node)v).id[i];
                if (level[u] < 0) {
                    level[u] = l + 1;
                    more = true;
                }
            }
    }
}

TEST(nodes_go_to_a_part_that_is_nearest_and_owners_stay)
{
    enum { N = 300, PARTS = 5 };
    test_seed(5);
    for (int round = 0; round < 40; round++) {
        random_graph* r = random_graph_new(N, round % 3, round % 7);
        int32_t known[N], owner[N];
        int64_t level[N];
        uint8_t fits[N] = {0};
        ggnn_node queue[N];
        for (int v = 0; v < N; v++) owner[v] = known[v] = test_below(10) ? -1 : (int32_t)test_below(PARTS);
        levels(level, &r->graph, known);
        divide_rest(owner, queue, &r->graph, PARTS);
        for (int64_t v = 0; v < N; v++)
            for (int64_t e = r->indptr[v]; e < r->indptr[v + 1]; e++) {
                const ggnn_node u = r->indices[e];
                if (level[v] >= 0 && level[u] == level[v] + 1 && owner[u] == owner[v]) fits[u] = 1;
            }
        for (int v = 0; v < N; v++) {
            if (known[v] >= 0) CHECK_EQ(owner[v], known[v]);
            else if (level[v] < 0) CHECK_EQ(owner[v], v % PARTS);
            else CHECK(fits[v]);
        }
        random_graph_free(r);
    }
}

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/* Of a list that is read in hop h, min(fanout[h], its length) edges are computed. How often each is read in hop h: what h + 1
   hops read beyond h hops. */
TEST(edges_are_counted_at_the_nodes_that_compute_them)
{
    enum { N = 200, HOPS = 3 };
    static const int32_t fanout[HOPS] = {4, 3, 2};
    test_seed(6);
    random_graph* r = random_graph_new(N, 4, 30);
    ggnn_node train[N / 4];
    int64_t edges[N] = {0}, expected[N] = {0}, before[N] = {0};
    error why = {""};
    for (int i = 0; i < N / 4; i++) train[i] = (ggnn_node)(4 * i);
    const ggnn_epochs of = hotness_epochs(HOTNESS_PRESC, train, N / 4, 16, 9);
    for (int32_t h = 0; h < HOPS; h++) {
        const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, h + 1);
        int64_t lists[N] = {0};
        CHECK(hotness_count(NULL, lists, &r->graph, &how, &of, 2, "a graph", &why));
        for (int64_t v = 0; v < N; v++) {
            const int64_t degree = r->indptr[v + 1] - r->indptr[v];
            expected[v] += (lists[v] - before[v]) * (degree < fanout[h] ? degree : fanout[h]);
            before[v] = lists[v];
        }
    }
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, HOPS);
    for (int call = 1; call < 3; call++) { /* counts of two calls add up */
        CHECK(hotness_weigh(edges, &r->graph, &how, train, N / 4, 16, 9, 2, "a graph", &why));
        for (int v = 0; v < N; v++) CHECK_EQ(edges[v], call * expected[v]);
    }
    CHECK(edges[0] > 0);
    for (int64_t e = 0; e < r->indptr[1]; e++) r->indices[e] = N; /* node 0 trains */
    CHECK(!hotness_weigh(edges, &r->graph, &how, train, N / 4, 16, 9, 1, "a graph", &why));
    CHECK(strstr(why.text, "a graph: node 0"));
    random_graph_free(r);
}

static void use_threads(int count)
{
    (void)count;
#ifdef _OPENMP
    omp_set_num_threads(count);
#endif
}

/* 100 batches of 4 to 16 seeds, whose reads fall on the same nodes. The first of two that fail is named. */
TEST(any_number_of_threads_counts_the_same)
{
    enum { N = 200, EPOCHS = 25, TRAIN = 52 };
    static const int32_t fanout[] = {4, 3, 2};
    static const int threads[] = {1, 2, 3, 5};
    static int64_t rows[N], lists[N], edges[N], memory[1 << 17];
    test_seed(7);
    random_graph* r = random_graph_new(N, 4, 30);
    ggnn_node train[TRAIN], seeds[16];
    error why = {""};
    ggnn_batch b;
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 3);
    for (int i = 0; i < TRAIN; i++) train[i] = (ggnn_node)(3 * i);
    const ggnn_epochs of = hotness_epochs(HOTNESS_PRESC, train, TRAIN, 16, 9);
    CHECK(ggnn_batch_plan(&b, &r->graph, &how, 16, NULL) == GGNN_OK && b.bytes <= sizeof memory);
    CHECK(ggnn_batch_init(&b, memory) == GGNN_OK);
    CHECK(ggnn_count_epochs(rows, lists, &b, &r->graph, &of, 0, EPOCHS * 4, seeds) == GGNN_OK);
    use_threads(1);
    CHECK(hotness_weigh(edges, &r->graph, &how, train, TRAIN, 16, 9, EPOCHS, "a graph", &why));
    ggnn_node broken[2] = {0, 0};
    for (int k = 0; k < 32; k++) { /* seeds of batches 1 and 2 that have a list */
        const ggnn_node v = train[ggnn_shuffle(9, GGNN_PRESAMPLE_EPOCH, 16 + k, TRAIN)];
        if (r->indptr[v] < r->indptr[v + 1]) broken[k / 16] = v;
    }
    for (int i = 0; i < 4; i++) {
        int64_t own[3][N] = {{0}};
        use_threads(threads[i]);
        CHECK(hotness_count(own[0], own[1], &r->graph, &how, &of, EPOCHS, "a graph", &why));
        CHECK(hotness_weigh(own[2], &r->graph, &how, train, TRAIN, 16, 9, EPOCHS, "a graph", &why));
        for (int v = 0; v < N; v++) CHECK(own[0][v] == rows[v] && own[1][v] == lists[v] && own[2][v] == edges[v]);
    }
    for (int k = 0; k < 2; k++)
        for (int64_t e = r->indptr[broken[k]]; e < r->indptr[broken[k] + 1]; e++) r->indices[e] = N;
    const ggnn_sampling near = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    for (int i = 0; i < 400; i++) {
        char line[100];
        use_threads(threads[i % 4]);
        why.text[0] = 0; /* the first text would stay */
        CHECK(!hotness_count(rows, NULL, &r->graph, &near, &of, EPOCHS, "a graph", &why));
        snprintf(line, sizeof line, "a graph: node %lld: ", (long long)broken[0]);
        if (!CHECK(strncmp(why.text, line, strlen(line)) == 0)) printf("  %d threads: %s\n", threads[i % 4], why.text);
    }
    use_threads(1);
    random_graph_free(r);
}

TEST(hits_are_per_cent_of_all_reads_and_none_of_none)
{
    static const int64_t count[] = {5, 0, 3, 2}, none[4] = {0};
    static const ggnn_node rank[] = {1, 0, 3, 2}, ids[] = {2, 0};
    static const double hits[] = {0, 0, 50, 70, 100};
    for (int cached = 0; cached <= 4; cached++)
        CHECK(hotness_hits(count, rank, cached, 4) == hits[cached] && hotness_hits(none, rank, cached, 4) == 0);
    CHECK(hotness_hits(none, rank, 0, 0) == 0);
    for (int by = 0; by < HOTNESS_NUM_POLICIES; by++) {
        const bool optimal = by == HOTNESS_OPTIMAL;
        const ggnn_epochs of = hotness_epochs((hotness_policy)by, ids, 2, by + 1, 9);
        CHECK(of.ids == ids && of.num_ids == 2 && of.batch_size == (by == 0 ? 1 : 2) && of.rng.seed == 9 && of.rng.step == 0);
        CHECK(of.rng.purpose == (optimal ? GGNN_PURPOSE_SAMPLE : GGNN_PURPOSE_PRESAMPLE) &&
              of.first_epoch == (optimal ? 0 : GGNN_PRESAMPLE_EPOCH));
        CHECK_EQ(hotness_is_counted((hotness_policy)by), by == HOTNESS_PRESC || optimal || by == HOTNESS_DUAL);
    }
}

enum { SIDE = 40, GRID = SIDE * SIDE };
static ggnn_graph grid(void) /* both directions */
{
    static int64_t indptr[GRID + 1];
    static ggnn_node indices[4 * GRID];
    int64_t e = 0;
    for (int v = 0; v < GRID; v++) {
        const int row = v / SIDE, column = v % SIDE;
        if (row > 0) indices[e++] = (ggnn_node)(v - SIDE);
        if (column > 0) indices[e++] = (ggnn_node)(v - 1);
        if (column < SIDE - 1) indices[e++] = (ggnn_node)(v + 1);
        if (row < SIDE - 1) indices[e++] = (ggnn_node)(v + SIDE);
        indptr[v + 1] = e;
    }
    return ggnn_graph_plain(indptr, indices, NULL, GRID, e);
}

/* A grid's lists have both directions, so that they are their own symmetrised ones. */
TEST(mincut_goes_through_the_nodes_as_often_and_fills_parts_as_far_as_is_asked_for)
{
    enum { PARTS = 4, PASSES = 2, SLACK = 40 };
    static int32_t owner[GRID], expected[GRID], swapped[GRID];
    static ggnn_node order[GRID];
    const ggnn_graph g = grid();
    const divide_how how = {.by = DIVIDE_MINCUT, .parts = PARTS, .passes = PASSES, .slack = SLACK, .path = "a grid"};
    int64_t cut = 7;
    error why = {""};
    CHECK(divide_nodes(owner, &cut, &g, &how, &why));
    CHECK_EQ(cut, 0); /* pagraph's alone */
    CHECK(ggnn_partition_mincut(expected, &g, PARTS, PASSES, SLACK, order, NULL) == GGNN_OK);
    CHECK(ggnn_partition_mincut(swapped, &g, PARTS, SLACK, PASSES, order, NULL) == GGNN_OK);
    CHECK(memcmp(owner, expected, sizeof owner) == 0 && memcmp(owner, swapped, sizeof owner) != 0);
}

/* The heaviest of four parts over the mean, when METIS balances `by`. */
static double heaviest(int32_t* owner, const ggnn_graph* g, const int64_t* by, const int64_t* weight)
{
    const divide_how how = {.by = DIVIDE_METIS, .parts = 4, .weight = by, .path = "a grid"};
    double sum[4] = {0}, all = 0, most = 0;
    int64_t closures_cut;
    error why = {""};
    if (!divide_nodes(owner, &closures_cut, g, &how, &why)) {
        CHECK(strstr(why.text, "built without METIS") != NULL);
        return NAN;
    }
    for (int v = 0; v < GRID; v++) sum[owner[v]] += (double)weight[v];
    for (int p = 0; p < 4; p++) {
        all += sum[p];
        most = sum[p] > most ? sum[p] : most;
    }
    return 4 * most / all;
}

TEST(metis_balances_what_nodes_weigh)
{
    const ggnn_graph g = grid();
    int64_t *weight = NEW(int64_t, GRID), *large = NEW(int64_t, GRID), *none = NEW(int64_t, GRID), *one = NEW(int64_t, GRID);
    int32_t *owner = NEW(int32_t, GRID), *again = NEW(int32_t, GRID);
    for (int v = 0; v < GRID; v++) {
        one[v] = 1;
        weight[v] = v % SIDE < SIDE / 4 ? 9 : 1;
        large[v] = weight[v] << 40;
    }
    const double plain = heaviest(owner, &g, NULL, weight);
    if (!isnan(plain)) {
        CHECK(plain > 1.5);
        CHECK(heaviest(again, &g, NULL, one) < 1.05);
        CHECK(heaviest(again, &g, none, weight) == plain && memcmp(owner, again, GRID * sizeof *owner) == 0);
        CHECK(heaviest(owner, &g, weight, weight) < 1.05);
        CHECK(heaviest(owner, &g, weight, one) > 1.5); /* nodes are not balanced then */
        CHECK(heaviest(again, &g, large, weight) < 1.05); /* more than METIS's indices hold */
    }
    free(weight);
    free(large);
    free(none);
    free(one);
    free(owner);
    free(again);
    if (isnan(plain)) SKIP("METIS is not there");
}

/* By METIS of 32 bits 4,800 << 19 is halved twice. Of one part, and of no node, there is nothing to divide. */
TEST(metis_sees_weights_halved_until_their_sum_fits)
{
    static int64_t indptr[GRID + 1], weight[GRID], fits[GRID];
    static int32_t owner[GRID], expected[GRID];
    const ggnn_graph g = grid();
    const ggnn_lists lists = {.num_nodes = GRID, .num_edges = g.num_edges, .indptr = (int64_t*)(uintptr_t)g.whole.indptr,
                              .indices = (ggnn_node*)(uintptr_t)g.whole.indices};
    const ggnn_lists empty = {.indptr = indptr};
    error why = {""};
    memset(owner, 7, sizeof owner);
    if (!metis_divide(owner, &lists, NULL, 1, "a grid", &why)) {
        CHECK(strstr(why.text, "built without METIS") != NULL);
        SKIP("METIS is not there");
    }
    for (int v = 0; v < GRID; v++) CHECK_EQ(owner[v], 0);
    CHECK(metis_divide(owner, &empty, NULL, 4, "nothing", &why));
    for (int shift = 17; shift <= 20; shift++) {
        for (int v = 0; v < GRID; v++) {
            const int64_t w = v % SIDE < SIDE / 4 ? 9 : 1;
            weight[v] = w << shift;
            fits[v] = w << 17;
        }
        CHECK(metis_divide(owner, &lists, weight, 4, "a grid", &why) && metis_divide(expected, &lists, fits, 4, "a grid", &why));
        CHECK(memcmp(owner, expected, sizeof owner) == 0);
    }
}

/* Nothing of it is read, and no other method takes over: test_plan_tool has what the program says without METIS. */
TEST(metis_refuses_more_edges_than_its_indices_count)
{
    const ggnn_lists lists = {.num_nodes = 5, .num_edges = INT64_C(1) << 31};
    int32_t owner[5] = {7, 7, 7, 7, 7};
    error why = {""};
    if (metis_divide(owner, &lists, NULL, 1, "huge.ggnn", &why)) SKIP("this METIS has indices of 64 bits");
    if (strstr(why.text, "built without METIS")) SKIP("METIS is not there");
    CHECK_STR(why.text, "huge.ggnn: METIS has indices of 32 bits: 2147483648 edges in both directions are too many");
    const ggnn_lists bare = {.num_nodes = INT32_MAX};
    why.text[0] = 0;
    CHECK(!metis_divide(owner, &bare, NULL, 1, "bare.ggnn", &why));
    CHECK_STR(why.text, "bare.ggnn: METIS has indices of 32 bits: 2147483647 nodes are too many");
    CHECK_EQ(owner[0], 7);
}

/* No descriptor is free for a pipe; parts that METIS refuses. Then all is as before. */
TEST(metis_that_does_not_begin_or_fails_is_an_error)
{
    static int32_t owner[GRID];
    const ggnn_graph g = grid();
    const ggnn_lists lists = {.num_nodes = GRID, .num_edges = g.num_edges, .indptr = (int64_t*)(uintptr_t)g.whole.indptr,
                              .indices = (ggnn_node*)(uintptr_t)g.whole.indices};
    struct rlimit before;
    error why = {""};
    if (!metis_divide(owner, &lists, NULL, 1, "a grid", &why)) SKIP("METIS is not there");
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
    CHECK(!metis_divide(owner, &lists, NULL, 2, "a grid", &why));
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_STR(why.text, "a grid: a process for METIS: Too many open files");
    why.text[0] = 0;
    const int open_before = open_descriptors();
    CHECK(!metis_divide(owner, &lists, NULL, 0, "a grid", &why));
    CHECK_STR(why.text, "a grid: METIS fails with status -2"); /* METIS_ERROR_INPUT */
    why.text[0] = 0;
    CHECK(metis_divide(owner, &lists, NULL, 2, "a grid", &why));
    CHECK_EQ(open_descriptors(), open_before);
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1); /* and no process is left */
}

/* METIS at work for seconds: random pairs of nodes are edges, each node has 12. on_alarm is called after a fifth of a second,
   and again. */
static bool divide_for_seconds(void (*on_alarm)(int signal_number), error* why)
{
    enum { N = 1 << 17, ROUNDS = 12 };
    int64_t* indptr = NEW(int64_t, N + 1);
    ggnn_node *indices = NEW(ggnn_node, N * ROUNDS), *order = NEW(ggnn_node, N);
    int32_t* owner = NEW(int32_t, N);
    const struct itimerval soon = {{0, 200000}, {0, 200000}};
    for (int64_t v = 0; v < N; v++) {
        indptr[v + 1] = (v + 1) * ROUNDS;
        order[v] = (ggnn_node)v;
    }
    for (int64_t i = 0; i < ROUNDS; i++) {
        for (int64_t k = N - 1; k > 0; k--) {
            const int64_t other = test_below(k + 1);
            const ggnn_node moved = order[k];
            order[k] = order[other];
            order[other] = moved;
        }
        for (int64_t k = 0; k < N; k++) indices[order[k] * ROUNDS + i] = order[k ^ 1];
    }
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    const ggnn_lists lists = {.num_nodes = N, .num_edges = N * ROUNDS, .indptr = indptr, .indices = indices};
    return metis_divide(owner, &lists, NULL, 8, "g", why);
}

static void interrupt(int signal_number)
{
    (void)signal_number;
    kill(getpid(), SIGTERM);
}

static void divide_and_be_told_to_end(void)
{
    error why = {""};
    if (!divide_for_seconds(interrupt, &why)) printf("  %s\n", why.text);
    fflush(stdout);
    _exit(strstr(why.text, "without METIS") ? 77 : 0);
}

/* METIS takes SIGTERM for an error of its own, which it is not; and what it has begun ends with the program. */
TEST(sigterm_ends_a_program_in_which_metis_works)
{
    int status, alive[2];
    CHECK_EQ(pipe(alive), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) divide_and_be_told_to_end();
    close(alive[1]); /* whoever is left of the child has the other one */
    CHECK(waitpid(child, &status, 0) == child);
    struct pollfd end = {alive[0], POLLIN, 0};
    CHECK_EQ(poll(&end, 1, 1000), 1);
    close(alive[0]);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) SKIP("METIS is not there");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static pid_t divider;

/* METIS's process has the handler, too, and ends by it. */
static void end_metis(int signal_number)
{
    if (getpid() != divider) raise(SIGKILL);
    if (signal_number == SIGALRM) kill(0, SIGUSR1);
}

/* As where the system has no memory left and kills it. */
TEST(a_process_of_metis_that_is_killed_is_an_error)
{
    char text[sizeof(error)] = "";
    int end[2];
    CHECK_EQ(pipe(end), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        error why = {""};
        setpgid(0, 0);
        divider = getpid();
        signal(SIGUSR1, end_metis);
        divide_for_seconds(end_metis, &why);
        _exit(write(end[1], why.text, sizeof why.text) < 0);
    }
    close(end[1]);
    CHECK_EQ(poll(&(struct pollfd){end[0], POLLIN, 0}, 1, 10000), 1); /* it does not wait for what does not come */
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(read(end[0], text, sizeof text - 1) >= 0);
    close(end[0]);
    if (strstr(text, "without METIS")) SKIP("METIS is not there");
    CHECK_STR(text, "g: METIS was ended by signal 9");
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(a_node_goes_to_the_part_that_reaches_it_first);
    RUN(nodes_go_to_a_part_that_is_nearest_and_owners_stay);
    RUN(edges_are_counted_at_the_nodes_that_compute_them);
    RUN(any_number_of_threads_counts_the_same);
    RUN(hits_are_per_cent_of_all_reads_and_none_of_none);
    RUN(mincut_goes_through_the_nodes_as_often_and_fills_parts_as_far_as_is_asked_for);
    RUN(metis_balances_what_nodes_weigh);
    RUN(metis_sees_weights_halved_until_their_sum_fits);
    RUN(metis_refuses_more_edges_than_its_indices_count);
    RUN(metis_that_does_not_begin_or_fails_is_an_error);
    RUN(sigterm_ends_a_program_in_which_metis_works);
    RUN(a_process_of_metis_that_is_killed_is_an_error);
    return test_finish();
}
