/* comm_script.h - random calls of comm.h, each against a plain oracle: what test_comm's threads, test_mpi's processes and
   test_cuda_nccl's devices follow. */
#ifndef COMM_SCRIPT_H
#define COMM_SCRIPT_H
#include <pthread.h>

#include "tests/test.h"
#include "trainer/ranks/comm.h"

enum { RANKS_MAX = 8, STEPS = 60, MOST = 3000 };

/* All ranks make the same calls, and any rank can compute the data of all. */
typedef struct {
    uint64_t seed;
    device* (*open)(int32_t rank, error* why); /* arrays are those of that device; NULL: the host's */
    int32_t fail_rank; /* fails instead of making call fail_step; -1: none */
    int32_t fail_step;
    comm_carrier by;   /* COMM_NCCL: rows of devices go over it */
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

static inline uint64_t mix(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t z = seed ^ (a * 0x9E3779B97F4A7C15u) ^ (b * 0xC2B2AE3D27D4EB4Fu) ^ (c * 0x165667B19E3779F9u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A third of all counts is zero. */
static inline int64_t count_of(uint64_t seed, int32_t from, int32_t to, int64_t most)
{
    uint64_t z = mix(seed, 11, (uint64_t)from, (uint64_t)to);
    return z % 3 == 0 ? 0 : (int64_t)(z / 3 % (uint64_t)most);
}
static inline unsigned char byte_of(uint64_t seed, int32_t rank, int64_t i) { return (unsigned char)mix(seed, 12, (uint64_t)rank, (uint64_t)i); }
static inline float float_of(uint64_t seed, int32_t rank, int64_t i)
{
    uint64_t z = mix(seed, 13, (uint64_t)rank, (uint64_t)i);
    float v = (float)(z >> 40) * 1e-6f - 8;
    return z % 8 ? v : v * 1e6f; /* sums that depend on their order */
}
static inline double value_of(uint64_t seed, int32_t rank) { return (double)(int64_t)mix(seed, 14, (uint64_t)rank, 0) * 1e-7; }

static inline void note(outcome* o, const void* got, const void* expected, size_t bytes)
{
    const unsigned char *a = (const unsigned char*)got, *b = (const unsigned char*)expected;
    for (size_t i = 0; i < bytes; i++) {
        o->wrong += a[i] != b[i];
        o->digest = (o->digest ^ a[i]) * 0x100000001B3u;
    }
}

/* An array in memory of d, or where it is; then back. */
static inline void* lay(device* d, void* array, size_t bytes)
{
    error why = {""};
    void* there = d ? device_new(d, bytes, "an array", &why) : array;
    CHECK_STR(why.text, "");
    if (d) device_upload(d, there, array, bytes);
    return there;
}
static inline void take(device* d, void* array, void* there, size_t bytes)
{
    if (!d) return;
    device_download(d, array, there, bytes);
    device_free(d, there);
}

static inline comm_piece piece(int64_t first, int64_t count)
{
    comm_piece p = {first, count};
    return p;
}

static inline bool gather_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    static const size_t units[] = {1, 4, 12, 16};
    const size_t unit = units[seed % 4];
    int64_t bound[RANKS_MAX + 1] = {0};
    for (int32_t r = 0; r < c->ranks; r++) bound[r + 1] = bound[r] + count_of(seed, seed % 3 ? r : 0, 0, 200);
    size_t bytes = (size_t)bound[c->ranks] * unit;
    unsigned char *all = (unsigned char*)calloc(bytes + 1, 1), *expected = (unsigned char*)malloc(bytes + 1);
    for (int32_t r = 0; r < c->ranks; r++)
        for (size_t i = (size_t)bound[r] * unit; i < (size_t)bound[r + 1] * unit; i++) {
            expected[i] = byte_of(seed, r, (int64_t)i);
            if (r == c->rank) all[i] = expected[i];
        }
    void* there = lay(d, all, bytes);
    bool good = comm_all_gather(c, d, there, bound, unit, why);
    take(d, all, there, bytes);
    if (good) note(o, all, expected, bytes);
    if (good) o->bytes += (bound[c->rank + 1] - bound[c->rank]) * (int64_t)unit * (c->ranks - 1);
    free(all);
    free(expected);
    return good;
}

/* Where rank `from` has the piece for rank `to` in its array of MOST elements: pieces overlap. */
static inline comm_piece piece_of(uint64_t seed, int32_t from, int32_t to)
{
    int64_t count = count_of(seed, from, to, 150);
    return piece((int64_t)(mix(seed, 15, (uint64_t)from, (uint64_t)to) % (uint64_t)(MOST - count)), count);
}

/* Between arriving pieces there are gaps of an element, which must not change. */
static inline bool exchange_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    comm_piece to[RANKS_MAX], from[RANKS_MAX];
    const size_t unit = seed % 2 ? 4 : 24;
    unsigned char *out = (unsigned char*)malloc(MOST * unit), *expected = (unsigned char*)malloc(MOST * unit);
    unsigned char* mine = (unsigned char*)malloc(MOST * unit);
    memset(out, 77, MOST * unit);
    memset(expected, 77, MOST * unit);
    for (size_t i = 0; i < MOST * unit; i++) mine[i] = byte_of(seed, c->rank, (int64_t)i);
    int64_t at = 0;
    for (int32_t r = c->ranks; r-- > 0;) {
        comm_piece its = piece_of(seed, r, c->rank);
        to[r] = piece(at, its.count);
        from[r] = piece_of(seed, c->rank, r);
        for (size_t i = 0; i < (size_t)its.count * unit; i++)
            expected[(size_t)at * unit + i] = byte_of(seed, r, (int64_t)((size_t)its.first * unit + i));
        at += its.count + 1;
        if (r != c->rank) o->bytes += from[r].count * (int64_t)unit;
    }
    void *there = lay(d, out, MOST * unit), *sent = lay(d, mine, MOST * unit);
    bool good = comm_exchange(c, d, there, to, sent, from, unit, why);
    take(d, out, there, MOST * unit);
    take(d, mine, sent, MOST * unit);
    if (good) note(o, out, expected, MOST * unit);
    free(out);
    free(expected);
    free(mine);
    return good;
}

static inline bool reduce_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
{
    const int64_t n = seed % 5 == 0 ? (int64_t)(seed / 5 % 4) : count_of(seed, 0, 0, MOST);
    float *v = (float*)malloc(((size_t)n + 1) * sizeof *v), *expected = (float*)malloc(((size_t)n + 1) * sizeof *v);
    void* room = malloc(comm_reduce_bytes(c, n) + 1);
    double value = value_of(seed, c->rank), sum = value_of(seed, 0);
    for (int64_t i = 0; i < n; i++) {
        v[i] = float_of(seed, c->rank, i);
        expected[i] = float_of(seed, 0, i);
        for (int32_t r = 1; r < c->ranks; r++) expected[i] += float_of(seed, r, i);
    }
    for (int32_t r = 1; r < c->ranks; r++) sum += value_of(seed, r);
    void *there = lay(d, v, (size_t)n * sizeof *v), *value_there = lay(d, &value, sizeof value);
    void* room_there = lay(d, room, comm_reduce_bytes(c, n));
    bool good = comm_reduce(c, d, (float*)there, n, seed % 7 ? (double*)value_there : NULL, room_there, why);
    take(d, v, there, (size_t)n * sizeof *v);
    take(d, &value, value_there, sizeof value);
    take(d, room, room_there, comm_reduce_bytes(c, n));
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

static inline bool share_step(comm* c, uint64_t seed, outcome* o, error* why)
{
    comm_shared s;
    memset(&s, 0, sizeof s);
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
    good = good && comm_barrier(c, why);
    const int32_t next = (c->local + 1) % c->locals; /* each writes another one's part */
    if (good && s.bytes[next]) memset(s.part[next], c->local, s.bytes[next]);
    good = good && comm_barrier(c, why);
    for (size_t i = 0; good && i < s.bytes[c->local]; i++)
        o->wrong += ((unsigned char*)s.part[c->local])[i] != (c->local + c->locals - 1) % c->locals;
    comm_unshare(c, &s);
    return good;
}

static inline bool same_step(comm* c, uint64_t seed, outcome* o, error* why)
{
    char text[COMM_TEXT];
    const int64_t sent = c->cost.bytes;
    snprintf(text, sizeof text, "--seed %llu\n--data a.ggnn", (unsigned long long)seed);
    bool good = comm_same(c, text, why);
    o->bytes += c->cost.bytes - sent;
    return good;
}

static inline bool take_step(comm* c, device* d, uint64_t seed, outcome* o, error* why)
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

static inline device* open_one_thread(int32_t rank, error* why)
{
    (void)rank;
    return device_open_cpu(1, why);
}

/* What a rank does. */
static inline void follow(comm* c, const script* s, outcome* o)
{
    error why = {""};
    device* d = s->open ? s->open(c->rank, &why) : NULL;
    if (d) device_enter(d);
    if (s->by == COMM_NCCL) comm_carry(c, d, s->by, &why);
    o->bytes = c->cost.bytes;
    for (; !why.text[0] && o->steps < STEPS; o->steps++) {
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
    comm_leave(c);
    device_close(d);
}

typedef struct {
    comm* c;
    const script* s;
    outcome* o;
} member;

static inline void* follow_as_thread(void* context)
{
    member* m = (member*)context;
    follow(m->c, m->s, m->o);
    return NULL;
}

/* P threads follow s, each as a rank. */
static inline void follow_as_threads(int32_t P, const script* s, outcome o[RANKS_MAX], const volatile sig_atomic_t* stop)
{
    comm c[RANKS_MAX];
    member m[RANKS_MAX];
    pthread_t thread[RANKS_MAX];
    error why = {""};
    memset(o, 0, RANKS_MAX * sizeof *o);
    CHECK(comm_open_threads(c, P, stop, &why));
    for (int32_t r = 0; r < P; r++) {
        CHECK(c[r].rank == r && c[r].ranks == P && c[r].local == r && c[r].locals == P && c[r].machine == 0 && c[r].machines == 1);
        m[r].c = &c[r];
        m[r].s = s;
        m[r].o = &o[r];
        CHECK_EQ(pthread_create(&thread[r], NULL, follow_as_thread, &m[r]), 0);
    }
    for (int32_t r = 0; r < P; r++) pthread_join(thread[r], NULL);
    comm_close_threads(c, P);
}
#endif
