/* Rows spread over parts, host tier and cache: every layout gives what one array gives, and says where it read. */
#include "tests/far_rows.h"
#include "tests/forms.h"
#include "tests/owners.h"

enum { MAX_PARTS = 8, SLOTS = MAX_PARTS + 2 };

/* One table of rows, cut up by a layout. */
typedef struct {
    ggnn_store  store;
    int64_t     n;
    char*       table; /* (n, pitch) row v: what row v of the store must be */
    char*       slot[SLOTS];
    const void* base[SLOTS];
    ggnn_node * rank, *cache_row;
    int64_t     bound[MAX_PARTS + 1], traffic[SLOTS];
} world;

static void* fresh(int64_t bytes)
{
    void* p = malloc((size_t)(bytes > 0 ? bytes : 1));
    if (!p) abort();
    return p;
}

static void shuffle(ggnn_node* id, int64_t n)
{
    for (int64_t i = 0; i < n; i++) id[i] = (ggnn_node)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t   j = test_below(i + 1);
        ggnn_node swap = id[i];
        id[i] = id[j];
        id[j] = swap;
    }
}

/* Where row v must be, worked out apart from ggnn_locate. */
static int expected_slot(const world* w, int64_t v)
{
    const ggnn_layout* at = &w->store.at;
    int64_t            r = at->rank ? at->rank[v] : v, c = at->cache_row ? at->cache_row[v] : v;
    if (c >= 0 && c < at->cached) return at->parts + 1;
    if (r >= at->stored) return at->parts;
    if (!at->bound) return (int)(r % at->parts);
    for (int p = 0; p < at->parts; p++)
        if (at->bound[p] <= r && r < at->bound[p + 1]) return p;
    abort();
}

/* Parts are dealt out by rank, one by one. Cache and host tier get the rows that must be read there, no others. */
static void put_rows(world* w)
{
    const ggnn_layout* at = &w->store.at;
    int64_t            pitch = w->store.pitch, next[SLOTS];
    ggnn_node* by_rank = (ggnn_node*)fresh(w->n * (int64_t)sizeof *by_rank);
    memset(next, 0, sizeof next);
    for (int64_t v = 0; v < w->n; v++) by_rank[w->rank ? w->rank[v] : v] = (ggnn_node)v;
    for (int s = 0; s < w->store.at.parts + 2; s++) {
        w->slot[s] = (char*)fresh(w->n * pitch);
        memset(w->slot[s], 0x5a, (size_t)(w->n * pitch));
        w->base[s] = w->slot[s];
    }
    for (int64_t r = 0; r < at->stored; r++) {
        int s = at->bound ? 0 : (int)(r % at->parts);
        while (at->bound && r >= at->bound[s + 1]) s++;
        memcpy(w->slot[s] + next[s]++ * pitch, w->table + by_rank[r] * pitch, (size_t)pitch);
    }
    for (int64_t v = 0; v < w->n; v++) {
        int     s = expected_slot(w, v);
        int64_t row = s == at->parts ? v : w->cache_row ? w->cache_row[v] : v;
        if (s >= at->parts) memcpy(w->slot[s] + row * pitch, w->table + v * pitch, (size_t)pitch);
    }
    free(by_rank);
}

static void make_world(world* w, int64_t n, int32_t width, ggnn_type type, int parts, int ranked, int ranges)
{
    memset(w, 0, sizeof *w);
    w->n = n;
    w->store.width = width;
    w->store.type = type;
    w->store.pitch = width * ggnn_type_bytes(type) + (test_below(2) ? 0 : 2 * ggnn_type_bytes(type));
    w->store.base = w->base;
    w->store.traffic = w->traffic;
    w->table = (char*)fresh(n * w->store.pitch);
    for (int64_t i = 0; i < n * w->store.pitch / ggnn_type_bytes(type); i++) {
        if (type == GGNN_F32) ((float*)(void*)w->table)[i] = test_uniform();
        else ((uint16_t*)(void*)w->table)[i] = ggnn_float_to_half(test_uniform());
    }
    w->store.at.parts = parts;
    w->store.at.stored = test_below(3) ? test_below(n + 1) : n;
    w->store.at.cached = test_below(3) ? test_below(n + 1) : 0;
    if (ranked) {
        w->rank = (ggnn_node*)fresh(n * (int64_t)sizeof *w->rank);
        shuffle(w->rank, n);
        w->store.at.rank = w->rank;
        w->cache_row = (ggnn_node*)fresh(n * (int64_t)sizeof *w->cache_row);
        shuffle(w->cache_row, n);
        for (int64_t v = 0; v < n; v++) /* any value past the cache says that a row is not there */
            if (w->cache_row[v] >= w->store.at.cached && test_below(2)) w->cache_row[v] = -1;
        w->store.at.cache_row = w->cache_row;
    }
    if (ranges) {
        for (int p = 1; p < parts; p++) w->bound[p] = test_below(w->store.at.stored + 1); /* empty parts among them */
        w->bound[parts] = w->store.at.stored;
        for (int p = 1; p < parts; p++)
            for (int q = p; q > 1 && w->bound[q] < w->bound[q - 1]; q--) {
                int64_t swap = w->bound[q];
                w->bound[q] = w->bound[q - 1];
                w->bound[q - 1] = swap;
            }
        w->store.at.bound = w->bound;
    }
    put_rows(w);
}

static void free_world(world* w)
{
    for (int s = 0; s < SLOTS; s++) free(w->slot[s]);
    free(w->table);
    free(w->rank);
    free(w->cache_row);
}

/* What the reference gathers from the table that was cut up; 0x7b where there is padding. */
static void* gathered(const world* w, ggnn_type as, int64_t ld, const ggnn_node* id, int64_t n)
{
    ggnn_store table = ggnn_store_plain(w->table, w->n, w->store.width, w->store.type);
    void*      want = fresh(n * ld * ggnn_type_bytes(as));
    table.pitch = w->store.pitch;
    memset(want, 0x7b, (size_t)(n * ld * ggnn_type_bytes(as)));
    ggnn_ref_gather(want, ld, as, &table, id, n);
    return want;
}

/* The same by marks, which one device makes of its tables; the other one has none. */
static void check_marked(world* w, void* out, int64_t ld, ggnn_type as, const ggnn_node* id, int64_t n)
{
    int64_t *mark = (int64_t*)fresh(n * 8), *want = (int64_t*)fresh(n * 8);
    ggnn_store bare = w->store;
    bare.at = (ggnn_layout){NULL, 0, NULL, NULL, 0, w->store.at.parts};
    memset(w->traffic, 0, sizeof w->traffic);
    memset(out, 0x7b, (size_t)(n * ld * ggnn_type_bytes(as)));
    CHECK_EQ(ggnn_mark(mark, &w->store.at, id, n), GGNN_OK);
    ggnn_ref_mark(want, &w->store.at, id, n);
    CHECK(memcmp(mark, want, (size_t)(n * 8)) == 0);
    CHECK_EQ(ggnn_gather_marked(out, ld, as, &bare, mark, n), GGNN_OK);
    void* by_the_reference = memcpy(fresh(n * ld * ggnn_type_bytes(as)), out, (size_t)(n * ld * ggnn_type_bytes(as)));
    ggnn_ref_gather_marked(by_the_reference, ld, as, &bare, want, n);
    CHECK(memcmp(by_the_reference, out, (size_t)(n * ld * ggnn_type_bytes(as))) == 0);
    free(by_the_reference);
    free(mark);
    free(want);
}

/* Gathers ids, the same numbers as positions of edges, and by marks, in both types, with ld > width, in every form, and compares rows,
   padding and counts. */
static void check_gather(world* w, const ggnn_node* id, int64_t n)
{
    int64_t ld = w->store.width + 3, expected[SLOTS], *position = (int64_t*)fresh(n * 8);
    memset(expected, 0, sizeof expected);
    for (int64_t i = 0; i < n; i++) expected[expected_slot(w, id[i])]++;
    for (int64_t i = 0; i < n; i++) position[i] = id[i];
    for (int as = GGNN_F32; as <= GGNN_F16; as++) {
        const size_t bytes = (size_t)(n * ld * ggnn_type_bytes((ggnn_type)as));
        void *       want = gathered(w, (ggnn_type)as, ld, id, n), *out = fresh((int64_t)bytes);
        FOR_EACH_FORM {
            memset(w->traffic, 0, sizeof w->traffic);
            memset(out, 0x7b, bytes);
            ggnn_gather(out, ld, (ggnn_type)as, &w->store, id, n);
            CHECK(memcmp(out, want, bytes) == 0);
            CHECK(memcmp(expected, w->traffic, sizeof expected) == 0);
            memset(w->traffic, 0, sizeof w->traffic);
            memset(out, 0x7b, bytes);
            CHECK_EQ(ggnn_gather_edges(out, ld, (ggnn_type)as, &w->store, position, n), GGNN_OK);
            CHECK(memcmp(out, want, bytes) == 0);
            CHECK(memcmp(expected, w->traffic, sizeof expected) == 0);
            check_marked(w, out, ld, (ggnn_type)as, id, n);
            CHECK(memcmp(out, want, bytes) == 0);
            CHECK(memcmp(expected, w->traffic, sizeof expected) == 0);
        }
        free(want);
        free(out);
    }
    free(position);
}

TEST(gather_reads_any_layout_and_counts_where)
{
    static const int32_t widths[] = {1, 3, 5, 8, 16, 33, 100, 128};
    for (int round = 0; round < 96; round++) {
        world     w;
        ggnn_node id[700];
        int64_t   n = 1 + test_below(300), count = test_below(700);
        make_world(&w, n, widths[round % 8], round / 8 % 2 ? GGNN_F16 : GGNN_F32, 1 + round % MAX_PARTS, round / 2 % 2, round / 3 % 2);
        for (int64_t i = 0; i < count; i++) id[i] = (ggnn_node)test_below(n);
        check_gather(&w, id, count);
        free_world(&w);
    }
}

TEST(marks_hold_the_farthest_places)
{
    static const ggnn_place places[] = {{0, 0}, {1, 0}, {0, 1}, {(1 << 23) - 1, ((int64_t)1 << 40) - 1}, {17, ((int64_t)1 << 40) - 1}};
    for (int i = 0; i < 5; i++) {
        const ggnn_place back = ggnn_marked(ggnn_mark_of(places[i]));
        CHECK_EQ(back.slot, places[i].slot);
        CHECK_EQ(back.row, places[i].row);
        CHECK(ggnn_mark_of(places[i]) >= 0);
    }
    const float rows[] = {1, 2, 3, 4, 5, 6};
    float out[4];
    int64_t mark[2];
    const ggnn_node id[] = {2, 0};
    const ggnn_store whole = ggnn_store_plain(rows, 3, 2, GGNN_F32);
    CHECK_EQ(ggnn_mark(mark, &whole.at, id, 2), GGNN_OK);
    CHECK_EQ(ggnn_gather_marked(out, 2, GGNN_F32, &whole, mark, 2), GGNN_OK);
    CHECK(out[0] == 5 && out[1] == 6 && out[2] == 1 && out[3] == 2);
}

TEST(gather_fills_large_outputs) /* past the cache: stores may go round it */
{
    static const int32_t widths[] = {100, 128, 61};
    for (int round = 0; round < 3; round++) {
        int64_t    n = 300, count = (40 << 20) / (widths[round] * 4);
        world      w;
        ggnn_node* id = (ggnn_node*)fresh(count * (int64_t)sizeof *id);
        float*     out = (float*)fresh((count + 1) * widths[round] * 4);
        int        equal = 1;
        make_world(&w, n, widths[round], GGNN_F32, 3, 1, 0);
        for (int64_t i = 0; i < count; i++) id[i] = (ggnn_node)test_below(n);
        ggnn_gather(out + round, widths[round], GGNN_F32, &w.store, id, count);
        for (int64_t i = 0; i < count; i++)
            equal &= memcmp(out + round + i * widths[round], w.table + id[i] * w.store.pitch, (size_t)widths[round] * 4) == 0;
        CHECK(equal);
        free_world(&w);
        free(id);
        free(out);
    }
}

/* Columns of n rows, ld apart, the first one `off` columns behind a line's begin: what lies between the rows is the caller's. */
static void check_large_gather(int64_t n, int32_t columns, int64_t ld, int64_t off)
{
    world      w;
    ggnn_node* id = (ggnn_node*)fresh(n * (int64_t)sizeof *id);
    char*      memory = (char*)fresh((n * ld + off) * 4 + 64);
    float*     out = (float*)(void*)(memory + (64 - (uintptr_t)memory % 64) % 64) + off;
    int        equal = 1;
    make_world(&w, 300, columns, GGNN_F32, 3, 1, 0);
    for (int64_t i = 0; i < n; i++) id[i] = (ggnn_node)test_below(300);
    for (int64_t i = 0; i < n * ld; i++) out[i] = 1234;
    CHECK_EQ(ggnn_gather(out, ld, GGNN_F32, &w.store, id, n), GGNN_OK);
    for (int64_t i = 0; i < n; i++) {
        equal &= memcmp(out + i * ld, w.table + id[i] * w.store.pitch, (size_t)columns * 4) == 0;
        for (int64_t j = columns; j < ld; j++) equal &= out[i * ld + j] == 1234;
    }
    CHECK(equal);
    free_world(&w);
    free(id);
    free(memory);
}

/* The second row lies 4 bytes off a line: stores that need an aligned row must not go round the cache. */
TEST(gather_fills_large_outputs_whose_rows_are_not_aligned) { check_large_gather(70000, 32, 33, 0); }

/* All rows lie 4 bytes off a line. */
TEST(gather_fills_large_outputs_that_are_not_aligned) { check_large_gather(70000, 32, 32, 1); }

/* Rows of 12 bytes, 16 apart. */
TEST(gather_leaves_the_padding_of_large_outputs) { check_large_gather(700000, 3, 4, 0); }

/* By every instruction set: rows of whole lines, of pieces of 16 bytes that begin in the middle of lines, of both types. */
TEST(large_outputs_are_filled_by_every_instruction_set)
{
    static const int32_t widths[] = {4, 12, 16, 36, 100};
    for (int i = 0; i < 5; i++) {
        const int32_t width = widths[i];
        const int64_t n = (8 << 20) / (width * 4) + 3;
        world         w;
        ggnn_node*    id = (ggnn_node*)fresh(n * (int64_t)sizeof *id);
        char *        memory = (char*)fresh(n * width * 4 + 128), *out = memory + (64 - (uintptr_t)memory % 64) % 64 + 16 * (i % 4);
        make_world(&w, 300, width * (i == 3 ? 2 : 1), i == 3 ? GGNN_F16 : GGNN_F32, 3, 1, 0);
        for (int64_t j = 0; j < n; j++) id[j] = (ggnn_node)test_below(300);
        for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++) {
            int equal = 1;
            memset(memory, 0x11, (size_t)(n * width * 4 + 128));
            CHECK_EQ(ggnn_gather(out, w.store.width, w.store.type, &w.store, id, n), GGNN_OK);
            for (int64_t j = 0; j < n; j++) equal &= memcmp(out + j * width * 4, w.table + id[j] * w.store.pitch, (size_t)width * 4) == 0;
            equal &= (out == memory || out[-1] == 0x11) && out[n * width * 4] == 0x11;
            if (!CHECK(equal)) printf("  width %d, level %d\n", (int)width, ggnn_level);
        }
        ggnn_level = 3;
        free_world(&w);
        free(id);
        free(memory);
    }
}

/* Four devices: parts and host tier are the same for all, each has a cache of other rows. */
TEST(devices_with_caches_of_their_own_read_the_same_rows)
{
    enum { DEVICES = 4, N = 203, WIDTH = 9 };
    world     w;
    ggnn_node id[N], row[N];
    float     out[N * WIDTH];
    make_world(&w, N, WIDTH, GGNN_F32, DEVICES, 1, 0);
    for (int64_t v = 0; v < N; v++) id[v] = (ggnn_node)v;
    for (int s = 0; s < SLOTS; s++) free(w.slot[s]);
    w.store.at.cached = 0;
    w.store.at.stored = N / 2;
    put_rows(&w);
    for (int d = 0; d < DEVICES; d++) {
        int64_t     cached = 10 + 7 * d, pitch = w.store.pitch, held[SLOTS];
        const void* base[SLOTS];
        char*       cache = (char*)fresh(cached * pitch);
        ggnn_store  own = w.store;
        memset(w.traffic, 0, sizeof w.traffic);
        memset(held, 0, sizeof held);
        shuffle(row, N);
        for (int64_t v = 0; v < N; v++) {
            if (row[v] < cached) memcpy(cache + row[v] * pitch, w.table + v * pitch, (size_t)pitch);
            held[row[v] < cached ? DEVICES + 1 : w.rank[v] < N / 2 ? w.rank[v] % DEVICES : DEVICES]++;
        }
        memcpy(base, w.base, sizeof base);
        base[DEVICES + 1] = cache;
        own.base = base;
        own.at.cache_row = row;
        own.at.cached = cached;
        ggnn_gather(out, WIDTH, GGNN_F32, &own, id, N);
        for (int64_t v = 0; v < N; v++) CHECK(memcmp(out + v * WIDTH, w.table + v * pitch, WIDTH * sizeof(float)) == 0);
        CHECK(memcmp(held, w.traffic, sizeof held) == 0);
        free(cache);
    }
    free_world(&w);
}

TEST(bucketed_exchange_equals_gather)
{
    for (int round = 0; round < 40; round++) {
        world     w;
        int32_t   width = 1 + (int32_t)test_below(40), gather[500], scatter[500];
        int64_t   n = 1 + test_below(200), count = test_below(500), bound[SLOTS + 1];
        ggnn_node id[500];
        make_world(&w, n, width, GGNN_F32, 1 + round % MAX_PARTS, round & 1, round >> 1 & 1);
        for (int64_t i = 0; i < count; i++) id[i] = (ggnn_node)test_below(n);
        float* answers = (float*)fresh(count * width * 4);
        float* out = (float*)fresh(count * (width + 1) * 4);
        float* want = (float*)fresh(count * (width + 1) * 4);
        memset(out, 0, (size_t)(count * (width + 1) * 4));
        memset(want, 0, (size_t)(count * (width + 1) * 4));
        ggnn_split(gather, scatter, bound, &w.store.at, id, count);
        for (int s = 0; s < w.store.at.parts + 2; s++)
            for (int64_t i = bound[s]; i < bound[s + 1]; i++) {
                ggnn_place place = ggnn_locate(&w.store.at, id[gather[i]]);
                CHECK_EQ(place.slot, s);
                memcpy(answers + i * width, w.slot[s] + place.row * w.store.pitch, (size_t)width * 4);
            }
        ggnn_permute(out, width + 1, answers, width, GGNN_F32, width, scatter, count);
        ggnn_gather(want, width + 1, GGNN_F32, &w.store, id, count);
        CHECK(memcmp(out, want, (size_t)(count * (width + 1) * 4)) == 0);
        free(answers);
        free(out);
        free(want);
        free_world(&w);
    }
}

TEST(split_is_stable_and_complete)
{
    for (int round = 0; round < 30; round++) {
        world     w;
        int32_t   gather[400], scatter[400];
        int64_t   count = test_below(400), bound[SLOTS + 1];
        ggnn_node id[400];
        make_world(&w, 50, 1, GGNN_F32, 1 + round % MAX_PARTS, 1, round & 1);
        for (int64_t i = 0; i < count; i++) id[i] = (ggnn_node)test_below(50);
        ggnn_split(gather, scatter, bound, &w.store.at, id, count);
        CHECK_EQ(bound[0], 0);
        CHECK_EQ(bound[w.store.at.parts + 2], count);
        for (int64_t i = 0; i < count; i++) CHECK_EQ(gather[scatter[i]], i);
        for (int s = 0; s < w.store.at.parts + 2; s++)
            for (int64_t i = bound[s]; i < bound[s + 1]; i++) {
                CHECK_EQ(expected_slot(&w, id[gather[i]]), s);
                CHECK(i == bound[s] || gather[i] > gather[i - 1]);
            }
        free_world(&w);
    }
}

TEST(split_gives_the_indices_of_gsplit)
{
    /* owners 1, 2, 3, 4, 1, 2, 3, 4 of the paper's example are parts 0 to 3 here: ids modulo 4 */
    static const ggnn_node id[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const int32_t   want_gather[8] = {0, 4, 1, 5, 2, 6, 3, 7}, want_scatter[8] = {0, 2, 4, 6, 1, 3, 5, 7};
    static const int64_t   want_bound[7] = {0, 2, 4, 6, 8, 8, 8};
    ggnn_layout            at = {NULL, 0, NULL, NULL, 8, 4};
    int32_t                gather[8], scatter[8];
    int64_t                bound[7];
    ggnn_split(gather, scatter, bound, &at, id, 8);
    CHECK(memcmp(gather, want_gather, sizeof gather) == 0);
    CHECK(memcmp(scatter, want_scatter, sizeof scatter) == 0);
    CHECK(memcmp(bound, want_bound, sizeof bound) == 0);
}

TEST(permute_moves_rows_of_both_types)
{
    for (int32_t width = 1; width <= 20; width += 3) {
        int32_t  index[9];
        uint16_t inp[9 * 24], out[9 * 22];
        for (int i = 0; i < 9; i++) index[i] = (int32_t)test_below(9);
        for (int i = 0; i < 9 * 24; i++) inp[i] = (uint16_t)test_random();
        memset(out, 0x11, sizeof out);
        ggnn_permute(out, width + 2, inp, width + 4, GGNN_F16, width, index, 9);
        for (int i = 0; i < 9; i++) {
            CHECK(memcmp(out + i * (width + 2), inp + index[i] * (width + 4), (size_t)width * 2) == 0);
            CHECK(out[i * (width + 2) + width] == 0x1111 && out[i * (width + 2) + width + 1] == 0x1111);
        }
    }
}

/* Many rows of either type, in every form: several pieces; nothing between the rows is written. */
TEST(permute_moves_many_rows_in_any_number_of_pieces)
{
    enum { N = 3000, WIDTH = 37, LD_OUT = 40, LD_INP = 39 };
    int32_t* index = (int32_t*)fresh(N * 4);
    float *  inp = (float*)fresh(N * LD_INP * 4), *out = (float*)fresh(N * LD_OUT * 4), *want = (float*)fresh(N * LD_OUT * 4);
    for (int i = 0; i < N; i++) index[i] = (int32_t)test_below(N);
    for (int i = 0; i < N * LD_INP; i++) inp[i] = test_uniform();
    for (int type = GGNN_F32; type <= GGNN_F16; type++) {
        const int64_t size = ggnn_type_bytes((ggnn_type)type);
        memset(want, 0x11, N * LD_OUT * 4);
        for (int64_t i = 0; i < N; i++) memcpy((char*)want + i * LD_OUT * size, (char*)inp + index[i] * LD_INP * size, (size_t)(WIDTH * size));
        FOR_EACH_FORM {
            memset(out, 0x11, N * LD_OUT * 4);
            CHECK_EQ(ggnn_permute(out, LD_OUT, inp, LD_INP, (ggnn_type)type, WIDTH, index, N), GGNN_OK);
            CHECK(memcmp(out, want, N * LD_OUT * 4) == 0);
        }
    }
    free(index);
    free(inp);
    free(out);
    free(want);
}

TEST(rows_may_lie_gigabytes_apart)
{
    enum { N = 6, WIDTH = 20 };
    const ggnn_node id[N] = {5, 0, 3, 3, 1, 4};
    const int32_t   index[N] = {5, 0, 3, 3, 1, 4};
    float           x[N * WIDTH], want[N * WIDTH];
    for (int i = 0; i < N * WIDTH; i++) x[i] = test_uniform();
    for (int i = 0; i < N; i++) memcpy(want + i * WIDTH, x + id[i] * WIDTH, WIDTH * sizeof(float));
    float *     inp = far_rows(x, WIDTH, N, WIDTH), *out = far_rows(x, WIDTH, N, WIDTH);
    const void* base[] = {inp, NULL, NULL};
    ggnn_store  plain = ggnn_store_plain(inp, N, WIDTH, GGNN_F32), part = plain;
    plain.pitch = part.pitch = far_ld * 4;
    part.base = base;
    FOR_EACH_FORM {
        if (!inp || !out) continue;
        for (int way = 0; way < 3; way++) {
            for (int64_t i = 0; i < N; i++) form_poison(out + i * far_ld, WIDTH);
            CHECK_EQ(way < 2 ? ggnn_gather(out, far_ld, GGNN_F32, way ? &part : &plain, id, N) : ggnn_permute(out, far_ld, inp, far_ld, GGNN_F32, WIDTH, index, N), GGNN_OK);
            CHECK(far_same(out, want, WIDTH, N, WIDTH));
        }
        for (int64_t v = 0; v < N; v++) CHECK(ggnn_row(&plain, v) == inp + v * far_ld && ggnn_row(&part, v) == inp + v * far_ld);
    }
    if (!inp || !out) test_skip = "no address space for rows 2 GiB apart";
    far_free(inp, N);
    far_free(out, N);
}

TEST(plain_store_reads_one_array)
{
    float       rows[6] = {1, 2, 3, 4, 5, 6}, out[4];
    ggnn_store  s = ggnn_store_plain(rows, 3, 2, GGNN_F32);
    ggnn_node   id[2] = {2, 0};
    ggnn_gather(out, 2, GGNN_F32, &s, id, 2);
    CHECK(out[0] == 5 && out[1] == 6 && out[2] == 1 && out[3] == 2);
    CHECK(s.width == 2 && s.type == GGNN_F32 && s.pitch == 8 && s.rows == rows && !s.base && !s.traffic && s.at.stored == 3 && s.at.parts == 1);
    CHECK_EQ(ggnn_store_plain(rows, 3, 7, GGNN_F16).pitch, 14);
    int64_t traffic[3] = {0};
    s.traffic = traffic; /* counted by slot: its one part */
    ggnn_gather(out, 2, GGNN_F32, &s, id, 2);
    ggnn_gather(out, 2, GGNN_F32, &s, id, 2);
    CHECK(traffic[0] == 4 && traffic[1] == 0 && traffic[2] == 0);
    ggnn_gather(out, 2, GGNN_F32, &s, id, 0); /* nothing to do, nothing written */
    CHECK(out[0] == 5);
}

/* Every half there is, through the conversion of rows and the one of numbers, and back. */
TEST(halves_convert_exactly)
{
    uint16_t* half = (uint16_t*)fresh(65536 * 2);
    uint16_t* back = (uint16_t*)fresh(65536 * 2);
    float*    wide = (float*)fresh(65536 * 4);
    for (int i = 0; i < 65536; i++) half[i] = (uint16_t)i;
    ggnn_node   zero = 0;
    ggnn_store  s = ggnn_store_plain(half, 1, 65536, GGNN_F16), t = ggnn_store_plain(wide, 1, 65536, GGNN_F32);
    ggnn_gather(wide, 65536, GGNN_F32, &s, &zero, 1);
    ggnn_gather(back, 65536, GGNN_F16, &t, &zero, 1);
    for (int i = 0; i < 65536; i++) {
        float  one = ggnn_half_to_float((uint16_t)i);
        int    exponent = i >> 10 & 31, fraction = i & 1023;
        double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        CHECK(memcmp(&one, &wide[i], 4) == 0);
        if (exponent < 31) CHECK(one == (i >> 15 ? -(float)value : (float)value));
        else CHECK(fraction ? one != one : one == (i >> 15 ? -INFINITY : INFINITY));
        if (exponent < 31 || !fraction) CHECK_EQ(back[i], i);
    }
    free(half);
    free(back);
    free(wide);
}

/* ---- owners: the same rows and lists, whoever has them ------------------------------------------------- */

/* A sampled batch and its rows: those of one array, read where the sampled ids' owners are. */
static void check_owned_batch(owned* o, const ggnn_node* seeds, int64_t num_seeds, uint64_t seed)
{
    const int32_t fanout[2] = {4, 3};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2);
    ggnn_rng      rng = {seed, 0, GGNN_PURPOSE_SAMPLE};
    int64_t       lists[OWNED_PARTS + 2] = {0}, rows[OWNED_PARTS + 2] = {0}, want_lists[OWNED_PARTS + 2] = {0}, want_rows[OWNED_PARTS + 2] = {0};
    ggnn_graph    cut = o->g->graph;
    ggnn_store    store = {o->width, GGNN_F32, o->width * 4, NULL, o->base, o->at, rows};
    ggnn_batch    whole, split;
    cut.part = o->part;
    cut.at = o->at;
    CHECK_EQ(ggnn_graph_validate(&cut, NULL), GGNN_OK);
    cut.traffic = lists;
    how.keep = GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS;
    CHECK_EQ(ggnn_batch_plan(&whole, &o->g->graph, &how, num_seeds, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_plan(&split, &cut, &how, num_seeds, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&whole, fresh((int64_t)whole.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&split, fresh((int64_t)split.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&whole, &o->g->graph, &rng, seeds, num_seeds), GGNN_OK);
    CHECK_EQ(ggnn_sample(&split, &cut, &rng, seeds, num_seeds), GGNN_OK);
    for (int h = 0; h < 2; h++) {
        const ggnn_block *a = &whole.hop[h], *b = &split.hop[h];
        const size_t      edges = (size_t)*a->num_edges.n;
        CHECK_EQ(*a->num_src.n, *b->num_src.n);
        CHECK(memcmp(a->indptr, b->indptr, (size_t)(*a->num_dst.n + 1) * sizeof *a->indptr) == 0);
        CHECK(memcmp(a->indices, b->indices, edges * sizeof *a->indices) == 0);
        CHECK(memcmp(a->position, b->position, edges * sizeof *a->position) == 0);
        CHECK(memcmp(a->weight, b->weight, edges * sizeof *a->weight) == 0);
        owned_count(o, want_lists, whole.id, *a->num_dst.n);
    }
    CHECK(memcmp(lists, want_lists, sizeof lists) == 0);

    const int64_t n = *whole.hop[1].num_src.n;
    float*        out = (float*)fresh(n * o->width * 4);
    ggnn_gather(out, o->width, GGNN_F32, &store, split.id, n);
    for (int64_t i = 0; i < n; i++) CHECK(memcmp(out + i * o->width, o->table + whole.id[i] * o->width, (size_t)o->width * 4) == 0);
    owned_count(o, want_rows, whole.id, n);
    CHECK(memcmp(rows, want_rows, sizeof rows) == 0);
    free(out);
    free(whole.workspace);
    free(split.workspace);
}

TEST(parts_of_every_owner_hold_the_rows_and_lists_of_one_array)
{
    enum { N = 230, WIDTH = 5 };
    random_graph* g = random_graph_new(N, 4, 60);
    float         table[N * WIDTH];
    ggnn_node     seeds[40];
    for (int i = 0; i < N * WIDTH; i++) table[i] = test_uniform();
    for (int kind = 0; kind < OWNED_KINDS; kind++)
        for (int32_t parts = 1; parts <= OWNED_PARTS; parts++) {
            owned*  o = owned_by((owned_kind)kind, parts, g, table, WIDTH);
            int64_t rows = 0, edges = 0, want[OWNED_PARTS + 1] = {0};
            static const ggnn_owner rule[] = {GGNN_OWNER_RANGE, GGNN_OWNER_MAP, GGNN_OWNER_MODULO, GGNN_OWNER_HASH, GGNN_OWNER_MAP, GGNN_OWNER_MAP};
            for (int v = 0; v < N; v++) {
                want[o->owner[v]]++;
                CHECK_EQ(ggnn_owner_of(v, rule[kind], rule[kind] == GGNN_OWNER_MAP ? o->owner : NULL, N, parts), o->owner[v]);
            }
            for (int32_t p = 0; p < parts; p++) {
                CHECK_EQ(o->rows[p], want[p]);
                rows += o->rows[p];
                edges += o->part[p].num_edges;
            }
            if (kind != BY_MAP_AND_HOST) CHECK(rows == N && edges == g->num_edges);
            CHECK_EQ(o->at.stored, rows);
            for (int i = 0; i < 40; i++) seeds[i] = (ggnn_node)test_below(N);
            check_owned_batch(o, seeds, 40, (uint64_t)(kind * 8 + parts));
            owned_free(o);
        }
    random_graph_free(g);
}

TEST(there_may_be_more_parts_than_rows_and_no_rows)
{
    ggnn_layout at;
    ggnn_node   rank[3];
    int64_t     bound[9];
    for (int how = GGNN_OWNER_RANGE; how <= GGNN_OWNER_HASH; how++)
        for (int64_t n = 0; n <= 3; n++) {
            int64_t sum = 0;
            CHECK_EQ(ggnn_layout_owners(&at, rank, bound, (ggnn_owner)how, NULL, n, 8, NULL), GGNN_OK);
            for (int32_t p = 0; p < 8; p++) sum += ggnn_layout_nodes(NULL, &at, n, p);
            CHECK_EQ(sum, n);
            if (at.bound) CHECK_EQ(bound[8], n);
        }
}

TEST(a_cache_s_nodes_are_listed_in_its_order_and_stay_in_their_parts)
{
    const ggnn_node cache_row[6] = {5, 1, -1, 0, 9, 2};
    ggnn_layout     at = {cache_row, 3, NULL, NULL, 6, 2};
    ggnn_node       id[3];
    CHECK_EQ(ggnn_layout_nodes(id, &at, 6, 3), 3);
    CHECK(id[0] == 3 && id[1] == 1 && id[2] == 5);
    CHECK_EQ(ggnn_layout_nodes(id, &at, 6, 1), 3);
    CHECK(id[0] == 1 && id[1] == 3 && id[2] == 5);
}

/* A layout is written whole, whatever was there; what is not of its rule stays as it is; and a fault says that there is none. */
TEST(a_layout_of_owners_is_written_whole)
{
    const int32_t owner[7] = {1, 3, 0, 1, 1, 3, 0}; /* of three parts; 3: the host tier */
    for (int how = GGNN_OWNER_RANGE; how <= GGNN_OWNER_MAP; how++)
        for (int64_t n = 0; n <= 7; n++) {
            const int   ranked = how == GGNN_OWNER_HASH || how == GGNN_OWNER_MAP;
            ggnn_layout at;
            ggnn_node   rank[8];
            int64_t     bound[5], rows[4] = {0}, next;
            ggnn_fault  fault;
            memset(&at, 0x5a, sizeof at), memset(rank, 0x5a, sizeof rank), memset(bound, 0x5a, sizeof bound), memset(&fault, 0x5a, sizeof fault);
            const ggnn_node  kept = rank[7];
            CHECK_EQ(ggnn_layout_owners(&at, rank, bound, (ggnn_owner)how, how == GGNN_OWNER_MAP ? owner : NULL, n, 3, &fault), GGNN_OK);
            CHECK(fault.what == NULL && fault.node == -1 && fault.edge == -1 && fault.hop == -1);
            CHECK(at.cache_row == NULL && at.cached == 0 && at.parts == 3);
            CHECK(at.rank == (ranked ? rank : NULL) && at.bound == (how == GGNN_OWNER_MODULO ? NULL : bound));
            for (int64_t v = 0; v < n; v++) rows[ggnn_owner_of(v, (ggnn_owner)how, owner, n, 3)]++;
            CHECK_EQ(at.stored, n - rows[3]);
            CHECK(bound[4] == (int64_t)0x5a5a5a5a5a5a5a5a && rank[7] == kept);
            if (how == GGNN_OWNER_MODULO) CHECK_EQ(bound[0], 0x5a5a5a5a5a5a5a5a);
            else
                for (int64_t p = 0, end = 0; p <= 3; end += rows[p++]) CHECK_EQ(bound[p], end);
            if (!ranked) CHECK_EQ(rank[0], kept);
            for (int p = 0; p <= 3 && ranked; p++) { /* each part's nodes in order of ids, those of the host tier last */
                next = p ? bound[p] : 0;
                for (int64_t v = 0; v < n; v++)
                    if (ggnn_owner_of(v, (ggnn_owner)how, owner, n, 3) == p) CHECK_EQ(rank[v], next++);
            }
        }
    ggnn_layout at;
    int64_t     bound[3];
    const int64_t more = (int64_t)INT32_MAX + 1;
    CHECK_EQ(ggnn_layout_owners(&at, NULL, bound, GGNN_OWNER_RANGE, NULL, INT32_MAX, 2, NULL), GGNN_OK);
    CHECK_EQ(bound[1], 1 << 30);
    CHECK_EQ(ggnn_layout_owners(&at, NULL, bound, GGNN_OWNER_RANGE, NULL, more, 2, NULL), GGNN_OK); /* of edges */
    CHECK(bound[1] == more / 2 && bound[2] == more && at.stored == more && !at.rank);
    CHECK_EQ(ggnn_layout_owners(&at, NULL, NULL, GGNN_OWNER_MODULO, NULL, more, 2, NULL), GGNN_OK);
#ifndef GGNN_NODE64
    ggnn_node none;
    CHECK_EQ(ggnn_layout_owners(&at, &none, bound, GGNN_OWNER_HASH, NULL, more, 2, NULL), GGNN_ERROR_ARGUMENT);
#endif
}

/* Rows of 2^32 edges and more: by ranges, by modulo, the first ones cached. A rank cannot name so many where ids have 32 bits. */
TEST(edge_rows_may_be_more_than_ids)
{
    enum { PARTS = 65536, WIDTH = 3, HELD = 9 };
    const int64_t  most = ((int64_t)1 << 32) + 5, cut = most - HELD, bound[3] = {0, cut, most};
    const int64_t  near_end[5] = {most - 1, cut, most - 3, cut + 1, most - 1}, spread[3] = {most - 2, 3, most - 2 - PARTS};
    float          rows[HELD * WIDTH], out[5 * WIDTH], *part = (float*)fresh((most / PARTS + 1) * WIDTH * 4);
    const void**   base = (const void**)fresh((PARTS + 2) * (int64_t)sizeof *base);
    const void*    few[4] = {NULL, rows, NULL, rows};
    ggnn_store     s = {WIDTH, GGNN_F32, WIDTH * 4, NULL, few, {NULL, 0, NULL, bound, most, 2}, NULL};
    ggnn_node      number[1] = {0};
    for (int i = 0; i < HELD * WIDTH; i++) rows[i] = test_uniform();
    CHECK_EQ(ggnn_gather_edges(out, WIDTH, GGNN_F32, &s, near_end, 5), GGNN_OK);
    for (int i = 0; i < 5; i++) CHECK(memcmp(out + i * WIDTH, rows + (near_end[i] - cut) * WIDTH, WIDTH * 4) == 0);
    s.at.cached = HELD;
    CHECK_EQ(ggnn_gather_edges(out, WIDTH, GGNN_F32, &s, spread, 2), GGNN_OK);
    CHECK(memcmp(out, rows + (HELD - 2) * WIDTH, WIDTH * 4) == 0 && memcmp(out + WIDTH, rows + 3 * WIDTH, WIDTH * 4) == 0);
    s.base = base, s.at.bound = NULL, s.at.parts = PARTS, s.at.cached = 0;
    for (int p = 0; p < PARTS + 2; p++) base[p] = part; /* all in one: rows of one part are asked for */
    for (int64_t i = 0; i < (most / PARTS + 1) * WIDTH; i++) part[i] = test_uniform();
    CHECK_EQ(ggnn_gather_edges(out, WIDTH, GGNN_F32, &s, spread, 3), GGNN_OK);
    for (int i = 0; i < 3; i++) CHECK(memcmp(out + i * WIDTH, part + spread[i] / PARTS * WIDTH, WIDTH * 4) == 0);
    const ggnn_status more = sizeof(ggnn_node) == 8 ? GGNN_OK : GGNN_ERROR_ARGUMENT;
    s.at.rank = number, s.at.stored = (int64_t)INT32_MAX + 1;
    CHECK_EQ(ggnn_gather_edges(out, WIDTH, GGNN_F32, &s, spread, 0), more);
    s.at.stored = INT32_MAX;
    CHECK_EQ(ggnn_gather_edges(out, WIDTH, GGNN_F32, &s, spread, 0), GGNN_OK);
    s.at.cache_row = number, s.at.cached = (int64_t)INT32_MAX + 1;
    CHECK_EQ(ggnn_gather_edges(out, WIDTH, GGNN_F32, &s, spread, 0), more);
    free(base);
    free(part);
}

TEST(owners_and_lists_that_cannot_be_are_refused)
{
    const int32_t   owner[4] = {0, 2, 3, 1}, below[2] = {0, -1};
    const int64_t   indptr[4] = {0, 2, 1, 3};
    const ggnn_node indices[3] = {0, 1, 2}, id[2] = {0, 1};
    ggnn_graph      broken = ggnn_graph_plain(indptr, indices, NULL, 3, 3);
    ggnn_layout     at;
    ggnn_node       rank[4];
    int64_t         bound[4], lists[3];
    ggnn_fault      fault;
    CHECK_EQ(ggnn_layout_owners(&at, rank, bound, GGNN_OWNER_MAP, owner, 4, 2, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 2);
    CHECK_EQ(ggnn_layout_owners(&at, rank, bound, GGNN_OWNER_MAP, below, 2, 2, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 1);
    CHECK_EQ(ggnn_layout_owners(&at, rank, bound, GGNN_OWNER_MAP, owner, 4, 0, &fault), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_layout_owners(&at, rank, bound, GGNN_OWNER_MODULO, NULL, -1, 2, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_graph_lists(lists, NULL, NULL, NULL, &broken, id, 2, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 1);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(7);
    RUN(gather_reads_any_layout_and_counts_where);
    RUN(marks_hold_the_farthest_places);
    RUN(gather_fills_large_outputs);
    RUN(gather_fills_large_outputs_whose_rows_are_not_aligned);
    RUN(gather_fills_large_outputs_that_are_not_aligned);
    RUN(gather_leaves_the_padding_of_large_outputs);
    RUN(large_outputs_are_filled_by_every_instruction_set);
    RUN(devices_with_caches_of_their_own_read_the_same_rows);
    RUN(bucketed_exchange_equals_gather);
    RUN(split_is_stable_and_complete);
    RUN(split_gives_the_indices_of_gsplit);
    RUN(permute_moves_rows_of_both_types);
    RUN(permute_moves_many_rows_in_any_number_of_pieces);
    RUN(rows_may_lie_gigabytes_apart);
    RUN(plain_store_reads_one_array);
    RUN(halves_convert_exactly);
    RUN(parts_of_every_owner_hold_the_rows_and_lists_of_one_array);
    RUN(there_may_be_more_parts_than_rows_and_no_rows);
    RUN(a_cache_s_nodes_are_listed_in_its_order_and_stay_in_their_parts);
    RUN(a_layout_of_owners_is_written_whole);
    RUN(edge_rows_may_be_more_than_ids);
    RUN(owners_and_lists_that_cannot_be_are_refused);
    return test_finish();
}
