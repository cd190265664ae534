/* test_exchange.c - rows by all-to-all between threads: those of ggnn_gather, and as many messages and bytes as are counted
   from the ids without ggnn_locate. */
#include <pthread.h>

#include "tests/owners.h"
#include "trainer/ranks/exchange.h"

enum { RANKS_MAX = 8, CALLS = 4, IDS_MAX = 900, RANKED_MAX = 1000 };
static const volatile sig_atomic_t never = 0;

typedef struct { /* of a run; all ranks know what all will ask for */
    ggnn_owner owners;
    ggnn_store all;
    int64_t rows;
    int64_t count[RANKS_MAX][CALLS]; /* ids, of which none is common */
    ggnn_node id[RANKS_MAX][CALLS][IDS_MAX];
    int32_t map[RANKED_MAX];   /* owners of nodes, which are told */
    int64_t cached[RANKS_MAX]; /* each rank's cache is another one */
    ggnn_node cache_rank[RANKS_MAX][RANKED_MAX];
    comm comm[RANKS_MAX];
    int32_t ranks;
    int32_t wrong[RANKS_MAX]; /* rows */
    exchange_cost cost[RANKS_MAX];
    error why[RANKS_MAX];
} scene;

/* Who owns v, worked out apart from the header. */
static int32_t owner_of(const scene* s, int64_t v)
{
    if (s->owners == GGNN_OWNER_MAP) return s->map[v];
    if (s->owners == GGNN_OWNER_MODULO) return (int32_t)(v % s->ranks);
    if (s->owners == GGNN_OWNER_HASH) return owned_by_hash(v, s->ranks);
    const int64_t each = s->rows / s->ranks, longer = s->rows % s->ranks, split = longer * (each + 1);
    return (int32_t)(v < split ? v / (each + 1) : longer + (v - split) / each);
}

static bool has_cached(const scene* s, int32_t rank, ggnn_node v) { return s->cached[rank] && s->cache_rank[rank][v] < s->cached[rank]; }

/* From none to all rows, in an order of each rank's own; of rank 0 in that of ids. */
static void draw_caches(scene* s)
{
    for (int32_t r = 0; r < s->ranks; r++) {
        s->cached[r] = r == 1 ? s->rows : test_below(s->rows + 1);
        for (int64_t v = 0; v < s->rows; v++) s->cache_rank[r][v] = (ggnn_node)(r == 0 ? v : (v * 7919 + r) % s->rows);
    }
}

/* The rows that `got` should have are those of ggnn_gather from one array. */
static int32_t wrong_rows(const scene* s, const float* got, int64_t ld, const ggnn_node* id, int64_t n)
{
    const int32_t width = s->all.width;
    float* expected = owned_new(n * width * (int64_t)sizeof *expected);
    int32_t wrong = 0;
    ggnn_gather(expected, width, GGNN_F32, &s->all, id, n);
    for (int64_t i = 0; i < n; i++) wrong += memcmp(got + i * ld, expected + i * width, (size_t)width * sizeof *got) != 0;
    free(expected);
    return wrong;
}

/* Rows into a matrix whose padding stays, and, on the last call, as a store. */
static bool read_rows(scene* s, int32_t rank, exchange* x, int call, error* why)
{
    const int64_t n = s->count[rank][call], ld = s->all.width + 3;
    const ggnn_node* id = s->id[rank][call];
    float* out = owned_new((n + 1) * ld * (int64_t)sizeof *out);
    for (int64_t i = 0; i < (n + 1) * ld; i++) out[i] = -77;
    bool good = exchange_rows(x, out, ld, id, n, why);
    if (good) s->wrong[rank] += wrong_rows(s, out, ld, id, n);
    for (int64_t i = 0; i <= n; i++)
        for (int64_t j = i < n ? s->all.width : 0; j < ld; j++) s->wrong[rank] += out[i * ld + j] != -77;
    for (int times = 0; good && call == CALLS - 1 && times < 2; times++) { /* a store of half of them first, which grows */
        const ggnn_store* some = exchange_some(x, id, times ? n : n / 2, why);
        good = some != NULL;
        if (good) ggnn_gather(out, ld, GGNN_F32, some, id, times ? n : n / 2);
        if (good) s->wrong[rank] += wrong_rows(s, out, ld, id, times ? n : n / 2);
    }
    free(out);
    return good;
}

typedef struct {
    scene* s;
    int32_t rank;
} member;

static void* run_rank(void* context)
{
    member* m = context;
    scene*  s = m->s;
    comm*   c = &s->comm[m->rank];
    error*  why = &s->why[m->rank];
    device* d = device_open_cpu(1, why);
    const exchange_plan plan = {.over = c, .from = s->all, .num_rows = s->rows, .owners = s->owners, .cached = s->cached[m->rank],
                                .owner = s->owners == GGNN_OWNER_MAP ? s->map : NULL,
                                .cache_rank = m->rank && s->cached[m->rank] ? s->cache_rank[m->rank] : NULL};
    exchange* x = exchange_create(d, &plan, why);
    const int64_t sent = c->cost.bytes;
    bool good = x != NULL;
    for (int k = 0; good && k < CALLS; k++) good = read_rows(s, m->rank, x, k, why);
    if (!good) comm_fail(c, why);
    if (x) s->cost[m->rank] = exchange_cost_of(x);
    CHECK_EQ(c->cost.bytes - sent, s->cost[m->rank].bytes);
    exchange_free(x);
    device_close(d);
    return NULL;
}

static void run(scene* s)
{
    member m[RANKS_MAX];
    pthread_t thread[RANKS_MAX];
    CHECK(comm_open_threads(s->comm, s->ranks, &never, &s->why[0]));
    for (int32_t r = 0; r < s->ranks; r++) {
        m[r] = (member){s, r};
        CHECK_EQ(pthread_create(&thread[r], NULL, run_rank, &m[r]), 0);
    }
    for (int32_t r = 0; r < s->ranks; r++) pthread_join(thread[r], NULL);
    comm_close_threads(s->comm, s->ranks);
}

/* Ids that differ within a call, as exchange_some wants; a third of all calls asks for none. */
static void draw_ids(scene* s)
{
    for (int32_t r = 0; r < s->ranks; r++)
        for (int k = 0; k < CALLS; k++) {
            const int64_t most = s->rows < IDS_MAX ? s->rows : IDS_MAX, first = test_below(s->rows);
            const int64_t n = test_below(3) ? test_below(most + 1) : 0;
            s->count[r][k] = n;
            for (int64_t i = 0; i < n; i++) s->id[r][k][i] = (ggnn_node)((first + i * 7919) % s->rows);
        }
}

/* Of the first n ids of a call those that `owner` has and the rank's cache has not. */
static int64_t asks(const scene* s, int32_t rank, int call, int64_t n, int32_t owner)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const ggnn_node v = s->id[rank][call][i];
        sum += !has_cached(s, rank, v) && owner_of(s, v) == owner;
    }
    return sum;
}

/* A count to each other rank, ids to owners, rows to those who ask; the last call reads twice. */
static exchange_cost predict(const scene* s, int32_t rank)
{
    exchange_cost cost = {0};
    const int64_t row = s->all.width * ggnn_type_bytes(s->all.type);
    for (int k = 0; k < CALLS; k++)
        for (int times = 0; times < (k == CALLS - 1 ? 3 : 1); times++) {
            const int part = times == 1 ? 2 : 1;
            cost.cache += s->count[rank][k] / part;
            for (int32_t r = 0; r < s->ranks; r++) {
                const int64_t wanted = asks(s, rank, k, s->count[rank][k] / part, r);
                const int64_t asked = asks(s, r, k, s->count[r][k] / part, rank);
                *(r == rank ? &cost.own : &cost.peer) += wanted;
                cost.cache -= wanted;
                if (r == rank) continue;
                cost.messages += 1 + (wanted > 0) + (asked > 0);
                cost.bytes += 8 + wanted * (int64_t)sizeof(ggnn_node) + asked * row;
            }
        }
    return cost;
}

/* 1,000 rows, and 5 rows over up to eight ranks: some own none. */
TEST(rows_are_those_of_a_gather_for_all_owners_and_types)
{
    enum { WIDTH = 9, ROWS = 1000 };
    scene* s = calloc(1, sizeof *s);
    float* rows = owned_new(ROWS * WIDTH * (int64_t)sizeof *rows);
    uint16_t* half = owned_new(ROWS * WIDTH * (int64_t)sizeof *half);
    for (int i = 0; i < ROWS * WIDTH; i++) {
        rows[i] = test_uniform() - .5f;
        half[i] = ggnn_float_to_half(rows[i]);
    }
    for (int owners = GGNN_OWNER_RANGE; owners <= GGNN_OWNER_MAP; owners++)
        for (int32_t P = 1; P <= RANKS_MAX; P++)
            for (int kind = 0; kind < 8; kind++) {
                memset(s, 0, sizeof *s);
                s->owners = (ggnn_owner)owners;
                s->ranks = P;
                s->rows = kind / 2 % 2 ? 5 : ROWS;
                s->all = kind % 2 ? ggnn_store_plain(half, s->rows, WIDTH, GGNN_F16) : ggnn_store_plain(rows, s->rows, WIDTH, GGNN_F32);
                draw_ids(s);
                for (int64_t v = 0; v < s->rows; v++) s->map[v] = (int32_t)(v * v / 3 % P);
                if (kind / 4) draw_caches(s);
                run(s);
                for (int32_t r = 0; r < P; r++) {
                    const exchange_cost cost = predict(s, r);
                    CHECK_STR(s->why[r].text, "");
                    CHECK_EQ(s->wrong[r], 0);
                    CHECK_EQ(s->cost[r].cache, cost.cache);
                    CHECK_EQ(s->cost[r].own, cost.own);
                    CHECK_EQ(s->cost[r].peer, cost.peer);
                    CHECK_EQ(s->cost[r].messages, cost.messages);
                    CHECK_EQ(s->cost[r].bytes, cost.bytes);
                }
            }
    free(half);
    free(rows);
    free(s);
}

/* A part is filled by pieces of 16,384 rows. */
TEST(rows_of_parts_that_are_filled_by_pieces_are_those_of_a_gather)
{
    enum { WIDTH = 2, ROWS = 40000 };
    scene* s = calloc(1, sizeof *s);
    float* rows = owned_new(ROWS * WIDTH * (int64_t)sizeof *rows);
    for (int i = 0; i < ROWS * WIDTH; i++) rows[i] = (float)i;
    for (int owners = GGNN_OWNER_RANGE; owners <= GGNN_OWNER_HASH; owners++)
        for (int32_t P = 1; P <= 2; P++) {
            memset(s, 0, sizeof *s);
            s->owners = (ggnn_owner)owners;
            s->ranks = P;
            s->rows = ROWS;
            s->all = ggnn_store_plain(rows, ROWS, WIDTH, GGNN_F32);
            draw_ids(s);
            for (int32_t r = 0; r < P; r++) s->count[r][1] = IDS_MAX; /* of all pieces */
            for (int32_t r = 0; r < P; r++)
                for (int i = 0; i < IDS_MAX; i++) s->id[r][1][i] = (ggnn_node)((i * 7919 + r) % ROWS);
            run(s);
            for (int32_t r = 0; r < P; r++) {
                CHECK_STR(s->why[r].text, "");
                CHECK_EQ(s->wrong[r], 0);
            }
        }
    free(rows);
    free(s);
}

/* Machines of two ranks each: a part a rank of one's own machine, or of all. */
TEST(parts_are_those_of_a_machine_or_of_all)
{
    enum { WIDTH = 2, ROWS = 50, LOCALS = 2, RANKS = 6 };
    static float rows[ROWS * WIDTH];
    for (int i = 0; i < ROWS * WIDTH; i++) rows[i] = (float)i;
    for (int32_t r = 0; r < RANKS; r++)
        for (int all = 0; all < 2; all++) {
            error why = {""};
            comm c;
            comm_open_alone(&c, &never);
            c.rank = r;
            c.ranks = RANKS;
            c.local = r % LOCALS;
            c.locals = LOCALS;
            c.machine = r / LOCALS;
            c.machines = RANKS / LOCALS;
            device* d = device_open_cpu(1, &why);
            const exchange_plan plan = {.over = &c, .from = ggnn_store_plain(rows, ROWS, WIDTH, GGNN_F32), .num_rows = ROWS,
                                        .owners = GGNN_OWNER_MODULO, .machines = all};
            exchange* x = exchange_create(d, &plan, &why); /* waits for no rank */
            CHECK_STR(why.text, "");
            if (!CHECK(x != NULL)) continue;
            const ggnn_store* has = exchange_stored(x);
            const int32_t parts = all ? RANKS : LOCALS, own = all ? r : r % LOCALS;
            CHECK_EQ(has->at.parts, parts);
            for (int32_t p = 0; p < parts + 2; p++) CHECK((has->base[p] != NULL) == (p == own));
            for (int64_t v = own; v < ROWS && has->base[own]; v += parts)
                CHECK(!memcmp((const float*)has->base[own] + v / parts * WIDTH, rows + v * WIDTH, WIDTH * sizeof *rows));
            exchange_free(x);
            device_close(d);
        }
}

/* As many parts as a device splits ids over, and one more. Nobody is waited for, so one rank of three serves. */
TEST(a_device_has_no_more_parts_than_it_splits_ids_over)
{
    static const float rows[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    for (int32_t most = 2; most <= 3; most++) {
        error why = {""};
        comm c;
        device* d = device_open_cpu(1, &why);
        comm_open_alone(&c, &never);
        c.ranks = c.locals = 3;
        d->most_parts = most;
        const exchange_plan plan = {.over = &c, .from = ggnn_store_plain(rows, 3, 2, GGNN_F32), .num_rows = 3, .owners = GGNN_OWNER_RANGE};
        exchange* x = exchange_create(d, &plan, &why);
        CHECK((x != NULL) == (most == 3));
        CHECK_STR(why.text, most == 3 ? "" : "--gather exchange: GPUs split ids over at most 2 devices, here are 3");
        exchange_free(x);
        device_close(d);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(51);
    RUN(rows_are_those_of_a_gather_for_all_owners_and_types);
    RUN(rows_of_parts_that_are_filled_by_pieces_are_those_of_a_gather);
    RUN(parts_are_those_of_a_machine_or_of_all);
    RUN(a_device_has_no_more_parts_than_it_splits_ids_over);
    return test_finish();
}
