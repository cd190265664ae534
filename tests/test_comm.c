/* test_comm.c - what ranks do together: every call against a plain oracle, failures and stops at random calls, costs. */
#include <pthread.h>

#include "common/memory.h"
#include "tests/test.h"
#include "trainer/comm.h"

enum { RANKS_MAX = 8, STEPS = 60, MOST = 3000 };

/* ==== a script: random calls, the same on all ranks, whose data any rank can compute ============================ */

typedef struct {
    uint64_t seed;
    bool device;       /* arrays are those of a device */
    int32_t fail_rank; /* fails instead of making call fail_step; -1: none */
    int32_t fail_step;
} script;

typedef struct {      /* of a rank */
    uint64_t digest;  /* of all that it got */
    int64_t bytes;    /* that it should have sent */
    int64_t wrong;    /* elements that are not the oracle's */
    int32_t steps;    /* that it made */
    int64_t calls;
    int64_t sent;
    error why;
} outcome;

static uint64_t mix(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t z = seed ^ (a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu) ^ (c * 0x165667B19E3779F9u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A third of all counts is zero. */
static int64_t count_of(uint64_t seed, int32_t from, int32_t to, int64_t most)
{
    uint64_t z = mix(seed, 11, (uint64_t)from, (uint64_t)to);
    return z % 3 == 0 ? 0 : (int64_t)(z / 3 % (uint64_t)most);
}
static unsigned char byte_of(uint64_t seed, int32_t rank, int64_t i) { return (unsigned char)mix(seed, 12, (uint64_t)rank, (uint64_t)i); }
static float float_of(uint64_t seed, int32_t rank, int64_t i)
{
    uint64_t z = mix(seed, 13, (uint64_t)rank, (uint64_t)i);
    float v = (float)(z >> 40) * 1e-6f - 8;
    return z % 8 ? v : v * 1e6f; /* sums that depend on their order */
}
static double value_of(uint64_t seed, int32_t rank) { return (double)(int64_t)mix(seed, 14, (uint64_t)rank, 0) * 1e-7; }

static void note(outcome* o, const void* got, const void* expected, size_t bytes)
{
    const unsigned char *a = got, *b = expected;
    for (size_t i = 0; i < bytes; i++) {
        o->wrong += a[i] != b[i];
        o->digest = (o->digest ^ a[i]) * 0x100000001B3u;
    }
}

static bool gather_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    static const size_t units[] = {1, 4, 12, 16};
    const size_t unit = units[seed % 4];
    int64_t bound[RANKS_MAX + 1] = {0};
    for (int32_t r = 0; r < c->ranks; r++) bound[r + 1] = bound[r] + count_of(seed, r, 0, 200);
    size_t bytes = (size_t)bound[c->ranks] * unit;
    unsigned char *all = calloc(bytes + 1, 1), *expected = malloc(bytes + 1);
    for (int32_t r = 0; r < c->ranks; r++)
        for (size_t i = (size_t)bound[r] * unit; i < (size_t)bound[r + 1] * unit; i++) {
            expected[i] = byte_of(seed, r, (int64_t)i);
            if (r == c->rank) all[i] = expected[i];
        }
    bool good = comm_all_gather(c, d, all, bound, unit, why);
    if (good) note(o, all, expected, bytes);
    if (good) o->bytes += (bound[c->rank + 1] - bound[c->rank]) * (int64_t)unit * (c->ranks - 1);
    free(all);
    free(expected);
    return good;
}

/* Where rank `from` has the piece for rank `to` in its array of MOST elements: pieces overlap. */
static comm_piece piece_of(uint64_t seed, int32_t from, int32_t to)
{
    int64_t count = count_of(seed, from, to, 150);
    return (comm_piece){(int64_t)(mix(seed, 15, (uint64_t)from, (uint64_t)to) % (uint64_t)(MOST - count)), count};
}

/* Between arriving pieces there are gaps of an element, which must not change. */
static bool exchange_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    comm_piece to[RANKS_MAX], from[RANKS_MAX];
    const size_t unit = seed % 2 ? 4 : 24;
    unsigned char *out = malloc(MOST * unit), *expected = malloc(MOST * unit), *mine = malloc(MOST * unit);
    memset(out, 77, MOST * unit);
    memset(expected, 77, MOST * unit);
    for (size_t i = 0; i < MOST * unit; i++) mine[i] = byte_of(seed, c->rank, (int64_t)i);
    int64_t at = 0;
    for (int32_t r = c->ranks; r-- > 0;) {
        comm_piece its = piece_of(seed, r, c->rank);
        to[r] = (comm_piece){at, its.count};
        from[r] = piece_of(seed, c->rank, r);
        for (size_t i = 0; i < (size_t)its.count * unit; i++)
            expected[(size_t)at * unit + i] = byte_of(seed, r, (int64_t)((size_t)its.first * unit + i));
        at += its.count + 1;
        if (r != c->rank) o->bytes += from[r].count * (int64_t)unit;
    }
    bool good = comm_exchange(c, d, out, to, mine, from, unit, why);
    if (good) note(o, out, expected, MOST * unit);
    free(out);
    free(expected);
    free(mine);
    return good;
}

static bool reduce_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    const int64_t n = seed % 5 == 0 ? (int64_t)(seed / 5 % 4) : count_of(seed, 0, 0, MOST);
    float *v = malloc(((size_t)n + 1) * sizeof *v), *expected = malloc(((size_t)n + 1) * sizeof *v);
    void* room = malloc(comm_reduce_bytes(c, n) + 1);
    double value = value_of(seed, c->rank), sum = value_of(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        v[i] = float_of(seed, c->rank, i);
        expected[i] = float_of(seed, 0, i);
        for (int32_t r = 1; r < c->ranks; r++) expected[i] += float_of(seed, r, i);
    }
    for (int32_t r = 1; r < c->ranks; r++) sum += value_of(seed, r);
    bool good = comm_reduce(c, d, v, n, seed % 7 ? &value : NULL, room, why);
    if (good) note(o, v, expected, (size_t)n * sizeof *v);
    if (good && seed % 7) note(o, &value, &sum, sizeof sum);
    if (c->ranks > 1) {
        int64_t mine = n / c->ranks + (c->rank < n % c->ranks);
        o->bytes += (n - mine) * 4 + mine * 4 * (c->ranks - 1);
    }
    free(v);
    free(expected);
    free(room);
    return good;
}

static bool share_step(comm* c, uint64_t seed, outcome* o, error* why)
{
    comm_shared s = {0};
    const int64_t sent = c->cost.bytes;
    bool good = comm_share(c, &s, (size_t)count_of(seed, c->rank, 0, 9000), "parts", why);
    o->bytes += c->cost.bytes - sent; /* the engine's own matter */
    if (good) o->wrong += s.bytes[c->local] != (size_t)count_of(seed, c->rank, 0, 9000);
    for (size_t i = 0; good && i < s.bytes[c->local]; i++) {
        unsigned char* at = (unsigned char*)s.part[c->local] + i;
        o->wrong += *at != 0;
        *at = byte_of(seed, c->rank, (int64_t)i);
    }
    good = good && comm_barrier(c, why);
    for (int32_t k = 0; good && k < c->locals; k++) {
        const int32_t r = c->rank - c->local + k;
        const size_t bytes = (size_t)count_of(seed, r, 0, 9000);
        o->wrong += s.bytes[k] != bytes;
        for (size_t i = 0; i < bytes; i++) o->wrong += ((unsigned char*)s.part[k])[i] != byte_of(seed, r, (int64_t)i);
    }
    comm_unshare(c, &s);
    return good;
}

static bool same_step(comm* c, uint64_t seed, outcome* o, error* why)
{
    char text[COMM_TEXT];
    const int64_t sent = c->cost.bytes;
    snprintf(text, sizeof text, "--seed %llu\n--data a.ggnn", (unsigned long long)seed);
    bool good = comm_same(c, text, why);
    o->bytes += c->cost.bytes - sent;
    return good;
}

static bool take_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    switch (seed % 8) {
    case 0: return comm_barrier(c, why);
    case 1: return share_step(c, seed / 8, o, why);
    case 2: return same_step(c, seed / 8, o, why);
    case 3: case 4: return gather_step(c, d, seed / 8, o, why);
    case 5: return exchange_step(c, d, seed / 8, o, why);
    default: return reduce_step(c, d, seed / 8, o, why);
    }
}

/* What a rank does. */
static void follow(comm* c, const script* s, outcome* o)
{
    error why = {""};
    device* d = s->device ? device_open_cpu(1, &why) : NULL;
    if (d) device_enter(d);
    for (; o->steps < STEPS; o->steps++) {
        if (c->rank == s->fail_rank && o->steps == s->fail_step) {
            error_set(&why, "cannot go on");
            comm_fail(c, &why);
            break;
        }
        if (!take_step(c, d, mix(s->seed, 1, (uint64_t)o->steps, 0), o, &why)) break;
    }
    if (why.text[0]) comm_fail(c, &why); /* as a program does, wherever it met an error */
    o->why = why;
    o->calls = c->cost.calls;
    o->sent = c->cost.bytes;
    device_close(d);
}

/* ==== ranks that are threads ==================================================================================== */

static const volatile sig_atomic_t never = 0;

typedef struct {
    comm* c;
    const script* s;
    outcome* o;
} member;

static void* follow_as_thread(void* context)
{
    member* m = context;
    follow(m->c, m->s, m->o);
    return NULL;
}

static void run_threads(int32_t P, const script* s, outcome o[RANKS_MAX])
{
    comm c[RANKS_MAX];
    member m[RANKS_MAX];
    pthread_t thread[RANKS_MAX];
    error why = {""};
    memset(o, 0, RANKS_MAX * sizeof *o);
    CHECK(comm_open_threads(c, P, &never, &why));
    for (int32_t r = 0; r < P; r++) {
        CHECK(c[r].rank == r && c[r].ranks == P && c[r].local == r && c[r].locals == P && c[r].machine == 0 && c[r].machines == 1);
        m[r] = (member){&c[r], s, &o[r]};
        CHECK_EQ(pthread_create(&thread[r], NULL, follow_as_thread, &m[r]), 0);
    }
    for (int32_t r = 0; r < P; r++) pthread_join(thread[r], NULL);
    comm_close_threads(c, P);
}

TEST(every_call_gives_what_a_plain_program_gives)
{
    outcome o[RANKS_MAX], again[RANKS_MAX];
    for (int32_t P = 1; P <= RANKS_MAX; P++)
        for (int times = 0; times < 4; times++) {
            script s = {test_random(), times % 2 == 1, -1, 0};
            run_threads(P, &s, o);
            run_threads(P, &s, again);
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
    run_threads(1, s, one);
    CHECK_STR(o.why.text, one[0].why.text);
    CHECK_EQ(o.steps, one[0].steps);
    CHECK_EQ(o.sent, 0);
    CHECK_EQ(o.wrong, 0);
    CHECK(o.digest == one[0].digest);
}

TEST(a_rank_alone_gets_the_same)
{
    for (int times = 0; times < 8; times++) is_alone_as_well(&(script){test_random(), times % 2 == 1, -1, 0});
    is_alone_as_well(&(script){test_random(), false, 0, 9});
}

TEST(a_rank_that_fails_ends_all_with_its_message)
{
    outcome o[RANKS_MAX];
    for (int32_t P = 2; P <= RANKS_MAX; P++)
        for (int times = 0; times < 6; times++) {
            char expected[100];
            script s = {test_random(), times % 2 == 1, (int32_t)test_below(P), (int32_t)test_below(STEPS)};
            snprintf(expected, sizeof expected, "rank %d: cannot go on", (int)s.fail_rank);
            run_threads(P, &s, o);
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

static void* wait_for_the_slow(void* context)
{
    rank* k = context;
    const struct timespec nap = {0, 60 * 1000 * 1000};
    if (k->c->rank == 1) nanosleep(&nap, NULL);
    comm_barrier(k->c, &k->why);
    return NULL;
}

TEST(time_spent_waiting_is_told)
{
    comm c[3];
    rank k[3];
    error why = {""};
    CHECK(comm_open_threads(c, 3, &never, &why));
    each(3, c, k, wait_for_the_slow);
    for (int r = 0; r < 3; r += 2) CHECK(c[r].cost.waited > .04 && c[r].cost.seconds >= c[r].cost.waited);
    CHECK(c[1].cost.waited < c[0].cost.waited);
    comm_close_threads(c, 3);
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
    RUN(time_spent_waiting_is_told);
    RUN(pieces_that_do_not_agree_are_an_error);
    RUN(all_fail_with_the_rank_whose_allocation_fails);
    RUN(too_many_ranks_are_an_error);
    return test_finish();
}
