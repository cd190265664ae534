/* test_comm.c - what ranks do together: every call against a plain oracle, failures and stops at random calls, costs. */

#include "common/memory.h"
#include "tests/comm_script.h"

/* ==== ranks that are threads ==================================================================================== */

static const volatile sig_atomic_t never = 0;

TEST(every_call_gives_what_a_plain_program_gives)
{
    outcome o[RANKS_MAX], again[RANKS_MAX];
    for (int32_t P = 1; P <= RANKS_MAX; P++)
        for (int times = 0; times < 4; times++) {
            script s = {test_random(), times % 2 ? open_one_thread : NULL, -1, 0, COMM_OWN};
            follow_as_threads(P, &s, o, &never);
            follow_as_threads(P, &s, again, &never);
            for (int32_t r = 0; r < P; r++) {
                CHECK_STR(o[r].why.text, "");
                CHECK_EQ(o[r].steps, STEPS);
                CHECK_EQ(o[r].wrong, 0);
                CHECK_EQ(o[r].sent, o[r].bytes);
                CHECK(o[r].digest == again[r].digest);
                CHECK_EQ(o[r].calls, o[0].calls);
            }
        }
}

static void is_alone_as_well(const script* s)
{
    outcome o = {0}, one[RANKS_MAX];
    comm c;
    comm_open_alone(&c, &never);
    follow(&c, s, &o);
    follow_as_threads(1, s, one, &never);
    CHECK_STR(o.why.text, one[0].why.text);
    CHECK_EQ(o.steps, one[0].steps);
    CHECK_EQ(o.sent, 0);
    CHECK_EQ(o.wrong, 0);
    CHECK(o.digest == one[0].digest);
}

TEST(a_rank_alone_gets_the_same)
{
    for (int times = 0; times < 8; times++) is_alone_as_well(&(script){test_random(), times % 2 ? open_one_thread : NULL, -1, 0, COMM_OWN});
    is_alone_as_well(&(script){test_random(), NULL, 0, 9, COMM_OWN});
}

TEST(a_rank_that_fails_ends_all_with_its_message)
{
    outcome o[RANKS_MAX];
    for (int32_t P = 2; P <= RANKS_MAX; P++)
        for (int times = 0; times < 6; times++) {
            char expected[100];
            script s = {test_random(), times % 2 ? open_one_thread : NULL, (int32_t)test_below(P), (int32_t)test_below(STEPS), COMM_OWN};
            snprintf(expected, sizeof expected, "rank %d: cannot go on", (int)s.fail_rank);
            follow_as_threads(P, &s, o, &never);
            for (int32_t r = 0; r < P; r++) {
                CHECK_STR(o[r].why.text, r == s.fail_rank ? "cannot go on" : expected);
                CHECK_EQ(o[r].steps, s.fail_step);
                CHECK_EQ(o[r].calls, o[0].calls);
                CHECK_EQ(o[r].wrong, 0);
            }
        }
}

/* ==== a program of one purpose, by P threads ==================================================================== */

typedef struct {
    comm* c;
    error why;
    int64_t result;
} rank;

static void each(int32_t P, comm* c, rank* k, void* (*body)(void*))
{
    pthread_t thread[RANKS_MAX];
    for (int32_t r = 0; r < P; r++) {
        k[r] = (rank){.c = &c[r]};
        CHECK_EQ(pthread_create(&thread[r], NULL, body, &k[r]), 0);
    }
    for (int32_t r = 0; r < P; r++) pthread_join(thread[r], NULL);
}

static void* fail_at_once(void* context)
{
    rank* k = context;
    if (k->c->rank == 2 || k->c->rank == 1) {
        error_set(&k->why, "reason %d", (int)k->c->rank);
        comm_fail(k->c, &k->why);
    }
    for (int i = 0; i < 3; i++) {
        error why = {""};
        k->result += comm_barrier(k->c, &why);
        k->why = why;
    }
    comm_fail(k->c, &k->why);
    return NULL;
}

TEST(of_several_failures_all_name_the_least_rank)
{
    comm c[4];
    rank k[4];
    error why = {""};
    CHECK(comm_open_threads(c, 4, &never, &why));
    each(4, c, k, fail_at_once);
    for (int r = 0; r < 4; r++) CHECK_STR(k[r].why.text, "rank 1: reason 1");
    for (int r = 0; r < 4; r++) CHECK_EQ(k[r].result, 0);
    comm_close_threads(c, 4);
}

static volatile sig_atomic_t told_to_stop;

static void* go_on_until_stopped(void* context)
{
    rank* k = context;
    while (!k->c->stopped && comm_barrier(k->c, &k->why)) {
        k->result++;
        if (k->c->rank == 0 && k->result == 300) __atomic_store_n(&told_to_stop, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

TEST(all_stop_at_one_call)
{
    comm c[5];
    rank k[5];
    error why = {""};
    for (int times = 0; times < 10; times++) {
        told_to_stop = 0;
        CHECK(comm_open_threads(c, 5, &told_to_stop, &why));
        each(5, c, k, go_on_until_stopped);
        for (int r = 0; r < 5; r++) CHECK_EQ(k[r].result, k[0].result);
        CHECK(k[0].result >= 300 && k[0].result <= 301);
        comm_close_threads(c, 5);
    }
}

static void* compare_texts(void* context)
{
    rank* k = context;
    const char* last = k->c->rank == 3 ? "--data has CRC 1f" : "--data has CRC 2a";
    char text[100];
    snprintf(text, sizeof text, "--layers 2\n%s\n--model gat", last);
    k->result = comm_same(k->c, "--layers 2", &k->why) + comm_same(k->c, text, &k->why);
    comm_fail(k->c, &k->why);
    return NULL;
}

TEST(what_differs_between_ranks_is_named_on_all)
{
    comm c[5];
    rank k[5];
    error why = {""};
    CHECK(comm_open_threads(c, 5, &never, &why));
    each(5, c, k, compare_texts);
    for (int r = 0; r < 5; r++) CHECK_STR(k[r].why.text, "rank 3: --data has CRC 1f; rank 0: --data has CRC 2a");
    for (int r = 0; r < 5; r++) CHECK_EQ(k[r].result, 1);
    comm_close_threads(c, 5);
}

static char said[3][2 * COMM_TEXT]; /* by each of three */

static void* say(void* context)
{
    rank* k = context;
    k->result = comm_same(k->c, said[k->c->rank], &k->why);
    if (!k->result) comm_fail(k->c, &k->why);
    return NULL;
}

/* What three ranks say, and what all of them hear of it. */
static void compare_said(const char* zero, const char* one, const char* two, const char* heard)
{
    comm c[3];
    rank k[3];
    error why = {""};
    snprintf(said[0], sizeof said[0], "%s", zero);
    snprintf(said[1], sizeof said[1], "%s", one);
    snprintf(said[2], sizeof said[2], "%s", two);
    CHECK(comm_open_threads(c, 3, &never, &why));
    each(3, c, k, say);
    for (int r = 0; r < 3; r++) {
        CHECK_EQ(k[r].result, !heard[0]);
        CHECK_STR(k[r].why.text, heard);
        CHECK_STR(c[r].failed.text, heard);
    }
    comm_close_threads(c, 3);
}

/* Line by line; what follows a tab is told, and told apart from nothing. The least rank that differs is named. */
TEST(the_first_line_that_differs_is_told_with_what_follows_its_tab)
{
    char most[COMM_TEXT + 10], other[COMM_TEXT + 10];
    compare_said("", "", "", "");
    compare_said("a\nb", "a\nb", "a\nb", "");
    compare_said("a\t(one)", "a\t(two)", "a", "");
    compare_said("\tone\nb", "\ttwo\nb", "\nb", "");
    compare_said("a\t(one)\nb\t(x)\nc", "a\nb\t(yy)\nc", "a\t(three)\nb\t(x)\nc\t", "");
    compare_said("a", "b", "c", "rank 1: b; rank 0: a");
    compare_said("a", "a", "c", "rank 2: c; rank 0: a");
    compare_said("a\t(one)", "b\t(two)", "a\t(three)", "rank 1: b (two); rank 0: a (one)");
    compare_said("a\t(one)\nb\t(x)\nc", "a\t(two)\nb\t(y)\nd", "a", "rank 1: d; rank 0: c");
    compare_said("a\t(one)\nb\t(x)\nc", "a\t(two)\nbb\t(y)\nc", "a", "rank 1: bb (y); rank 0: b (x)");
    compare_said("a\nb", "a\nb", "a\n", "rank 2: ; rank 0: b");
    compare_said("ab", "a", "ab", "rank 1: a; rank 0: ab");
    memset(most, 'x', COMM_TEXT + 9);
    most[COMM_TEXT + 9] = 0;
    most[COMM_TEXT - 3] = '\n';
    memcpy(other, most, sizeof most);
    other[COMM_TEXT - 1] = 'y'; /* the first byte that is not compared any more */
    compare_said(most, other, most, "");
    other[COMM_TEXT - 2] = 'y';
    compare_said(most, most, other, "rank 2: y; rank 0: x");
}

static void* call_otherwise(void* context)
{
    rank* k = context;
    char to[4] = {0}, from[4] = {0};
    const comm_piece none[3] = {{0, 0}, {0, 0}, {0, 0}};
    k->result = k->c->rank == 1 ? comm_exchange(k->c, NULL, to, none, from, none, 1, &k->why) : comm_barrier(k->c, &k->why);
    if (!k->result) comm_fail(k->c, &k->why);
    return NULL;
}

TEST(calls_that_differ_are_an_error)
{
    comm c[3];
    rank k[3];
    error why = {""};
    CHECK(comm_open_threads(c, 3, &never, &why));
    each(3, c, k, call_otherwise);
    CHECK_STR(k[0].why.text, "rank 0 and rank 1 make different calls");
    CHECK_STR(k[1].why.text, "rank 1 and rank 0 make different calls");
    CHECK_STR(k[2].why.text, "rank 2 and rank 1 make different calls");
    for (int r = 0; r < 3; r++) CHECK_EQ(k[r].result, 0);
    comm_close_threads(c, 3);
}

static void* wait_for_the_slow(void* context)
{
    rank* k = context;
    const struct timespec nap = {0, 60 * 1000 * 1000};
    if (k->c->rank == 1) nanosleep(&nap, NULL);
    comm_barrier(k->c, &k->why);
    return NULL;
}

static bool wait_is_told(void)
{
    comm c[3];
    rank k[3];
    error why = {""};
    CHECK(comm_open_threads(c, 3, &never, &why));
    each(3, c, k, wait_for_the_slow);
    bool told = c[1].cost.waited < c[0].cost.waited;
    for (int r = 0; r < 3; r += 2) told = told && c[r].cost.waited > .04 && c[r].cost.seconds >= c[r].cost.waited;
    comm_close_threads(c, 3);
    return told;
}

/* Threads may begin late where other programs have the cores: not so each time. */
TEST(time_spent_waiting_is_told)
{
    int tries = 1;
    while (!wait_is_told() && tries < 50) tries++;
    CHECK(tries < 50);
}

static void* send_too_little(void* context)
{
    rank* k = context;
    char to[8] = {0}, from[8] = {0};
    comm_piece take[2] = {{0, 4}, {4, 4}}, give[2] = {{0, 4}, {4, 4}};
    if (k->c->rank == 1) give[0].count = 3;
    k->result = comm_exchange(k->c, NULL, to, take, from, give, 1, &k->why);
    comm_fail(k->c, &k->why);
    return NULL;
}

TEST(pieces_that_do_not_agree_are_an_error)
{
    comm c[2];
    rank k[2];
    error why = {""};
    CHECK(comm_open_threads(c, 2, &never, &why));
    each(2, c, k, send_too_little);
    CHECK_STR(k[0].why.text, "rank 1 sends 3 bytes where 4 are taken");
    comm_close_threads(c, 2);
}

/* ==== memory ==================================================================================================== */

static void* share_and_compare(void* context)
{
    rank* k = context;
    comm_shared s = {0};
    k->result = comm_share(k->c, &s, 1000, "parts", &k->why) && comm_same(k->c, "--layers 2", &k->why);
    if (!k->result) comm_fail(k->c, &k->why);
    comm_unshare(k->c, &s);
    return NULL;
}

/* Allocation i fails, on whichever rank makes it: all ranks fail then. */
TEST(all_fail_with_the_rank_whose_allocation_fails)
{
    bool done = false;
    for (long i = 1; i < 100 && !done; i++) {
        char number[24];
        comm c[3];
        rank k[3];
        error why = {""};
        snprintf(number, sizeof number, "%ld", memory_calls() + i);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        bool good = comm_open_threads(c, 3, &never, &why);
        if (good) each(3, c, k, share_and_compare);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        if (!good) CHECK(strstr(why.text, "out of memory") != NULL);
        for (int r = 0; good && r < 3; r++) {
            CHECK_EQ(k[r].result, k[0].result);
            if (!k[r].result) CHECK(strstr(k[r].why.text, "out of memory") != NULL);
        }
        done = good && k[0].result;
        if (done) CHECK(i > 15);
        comm_close_threads(c, 3);
    }
    CHECK(done);
}

TEST(too_many_ranks_are_an_error)
{
    static comm c[COMM_RANKS_MAX + 1];
    error why = {""};
    CHECK(!comm_open_threads(c, COMM_RANKS_MAX + 1, &never, &why));
    CHECK_STR(why.text, "1025 ranks: at most 1024 work together");
    comm_close_threads(c, COMM_RANKS_MAX + 1);
    CHECK(comm_open_threads(c, COMM_RANKS_MAX, &never, &why));
    CHECK_EQ(c[COMM_RANKS_MAX - 1].ranks, 1024);
    comm_close_threads(c, COMM_RANKS_MAX);
}

/* Rank 1 comes late to each of three calls; then the others wait for it, and it for none. What a call takes is no less than its wait. */
static void* come_late(void* context)
{
    rank* k = context;
    double value = 1;
    void* room = malloc(comm_reduce_bytes(k->c, 6) + 1);
    float v[6] = {0};
    for (int i = 0; i < 3; i++) {
        if (k->c->rank == 1) usleep(30000);
        k->result = comm_barrier(k->c, &k->why);
    }
    k->result = k->result && comm_reduce(k->c, NULL, v, 6, &value, room, &k->why);
    free(room);
    return NULL;
}

/* Whether all three waits of both other ranks are counted. A busy machine may let a rank start late, which then waits less. */
static bool waits_are_whole(void)
{
    comm c[3];
    rank k[3];
    error why = {""};
    CHECK(comm_open_threads(c, 3, &never, &why));
    for (int32_t r = 0; r < 3; r++) c[r].cost = (comm_cost){.bytes = 1000, .seconds = 50, .waited = 20};
    const double start = test_seconds();
    each(3, c, k, come_late);
    const double all = test_seconds() - start;
    for (int32_t r = 0; r < 3; r++) {
        const comm_cost is = c[r].cost;
        CHECK(k[r].result && is.bytes > 1000);
        CHECK(is.waited >= 20 && is.seconds - 50 >= is.waited - 20 - 1e-9 && is.seconds - 50 <= all + 1e-9);
    }
    const bool whole = c[0].cost.waited - 20 >= .085 && c[2].cost.waited - 20 >= .085;
    comm_close_threads(c, 3);
    return whole;
}

TEST(waits_of_all_calls_are_added_up)
{
    int tries = 1;
    while (!waits_are_whole() && tries < 20) tries++;
    CHECK(tries < 20);
}

/* What mpirun of Open MPI, that of MPICH, and srun say; one process of one is alone. */
typedef struct { /* a rank with two lines, a thread on each */
    comm *c, second;
    const script *first_script, *second_script;
    outcome first, other;
    error why;
} two_lines;

static void* follow_second(void* context)
{
    two_lines* t = context;
    follow(&t->second, t->second_script, &t->other);
    return NULL;
}

static void* follow_both(void* context)
{
    two_lines* t = context;
    pthread_t thread;
    if (!CHECK(comm_branch(&t->second, t->c, &t->why))) return NULL;
    CHECK(t->second.rank == t->c->rank && t->second.ranks == t->c->ranks && t->second.own != t->c->own);
    CHECK_EQ(pthread_create(&thread, NULL, follow_second, t), 0);
    follow(t->c, t->first_script, &t->first);
    pthread_join(thread, NULL);
    comm_close_branch(&t->second);
    return NULL;
}

/* What one line does, or that it fails, is nothing to the other. */
TEST(two_lines_of_the_same_ranks_are_apart)
{
    for (int32_t P = 1; P <= RANKS_MAX; P++)
        for (int times = 0; times < 6; times++) {
            const int fails = times % 3; /* the first line, the second one, none */
            const script a = {test_random(), NULL, fails == 0 ? P - 1 : -1, 7, COMM_OWN}, b = {test_random(), NULL, fails == 1 ? 0 : -1, 3, COMM_OWN};
            outcome alone[2][RANKS_MAX];
            static two_lines t[RANKS_MAX];
            comm c[RANKS_MAX];
            pthread_t thread[RANKS_MAX];
            error why = {""};
            follow_as_threads(P, &a, alone[0], &never);
            follow_as_threads(P, &b, alone[1], &never);
            CHECK(comm_open_threads(c, P, &never, &why));
            for (int32_t r = 0; r < P; r++) {
                memset(&t[r], 0, sizeof t[r]);
                t[r].c = &c[r];
                t[r].first_script = &a;
                t[r].second_script = &b;
                CHECK_EQ(pthread_create(&thread[r], NULL, follow_both, &t[r]), 0);
            }
            for (int32_t r = 0; r < P; r++) pthread_join(thread[r], NULL);
            comm_close_threads(c, P);
            for (int32_t r = 0; r < P; r++) {
                CHECK(t[r].first.digest == alone[0][r].digest && t[r].other.digest == alone[1][r].digest);
                CHECK(t[r].first.steps == alone[0][r].steps && t[r].other.steps == alone[1][r].steps);
                CHECK_STR(t[r].first.why.text, alone[0][r].why.text);
                CHECK_STR(t[r].other.why.text, alone[1][r].why.text);
                CHECK_EQ(t[r].other.sent, alone[1][r].sent);
            }
        }
}

static void* fail_or_branch(void* context)
{
    two_lines* t = context;
    const error mine = {"no memory"};
    if (t->c->rank == 1) comm_fail(t->c, &mine);
    else CHECK(!comm_branch(&t->second, t->c, &t->why));
    comm_leave(t->c);
    return NULL;
}

TEST(a_rank_that_fails_before_a_second_line_is_opened_ends_all)
{
    static two_lines t[RANKS_MAX];
    comm c[RANKS_MAX];
    pthread_t thread[RANKS_MAX];
    error why = {""};
    CHECK(comm_open_threads(c, RANKS_MAX, &never, &why));
    for (int32_t r = 0; r < RANKS_MAX; r++) {
        memset(&t[r], 0, sizeof t[r]);
        t[r].c = &c[r];
        CHECK_EQ(pthread_create(&thread[r], NULL, fail_or_branch, &t[r]), 0);
    }
    for (int32_t r = 0; r < RANKS_MAX; r++) pthread_join(thread[r], NULL);
    for (int32_t r = 0; r < RANKS_MAX; r++) CHECK(r == 1 || strstr(t[r].why.text, "rank 1: no memory"));
    comm_close_threads(c, RANKS_MAX);
}

TEST(a_process_that_is_started_with_others_is_under_mpi)
{
    static const char* const name[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    const char* library = comm_mpi_name(); /* and its version, without who has packed it */
    CHECK(!library || (library[0] && !strpbrk(library, ",\n")));
    for (int i = 0; i < 3; i++) unsetenv(name[i]);
    CHECK(!comm_under_mpi());
    for (int i = 0; i < 3; i++) {
        setenv(name[i], "1", 1);
        CHECK(!comm_under_mpi());
        setenv(name[i], "2", 1);
        CHECK(comm_under_mpi());
        unsetenv(name[i]);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(5);
    RUN(every_call_gives_what_a_plain_program_gives);
    RUN(a_rank_alone_gets_the_same);
    RUN(a_rank_that_fails_ends_all_with_its_message);
    RUN(of_several_failures_all_name_the_least_rank);
    RUN(all_stop_at_one_call);
    RUN(what_differs_between_ranks_is_named_on_all);
    RUN(the_first_line_that_differs_is_told_with_what_follows_its_tab);
    RUN(calls_that_differ_are_an_error);
    RUN(time_spent_waiting_is_told);
    RUN(pieces_that_do_not_agree_are_an_error);
    RUN(all_fail_with_the_rank_whose_allocation_fails);
    RUN(too_many_ranks_are_an_error);
    RUN(waits_of_all_calls_are_added_up);
    RUN(two_lines_of_the_same_ranks_are_apart);
    RUN(a_rank_that_fails_before_a_second_line_is_opened_ends_all);
    RUN(a_process_that_is_started_with_others_is_under_mpi);
    return test_finish();
}
