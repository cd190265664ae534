/* test_shuffle.c - rows between ranks that are threads, of pieces made by hand: what arrives where, and what each rank
   counts. No rank sends as many rows as it gets. */
#include <pthread.h>

#include "tests/test.h"
#include "trainer/ranks/shuffle.h"

enum { RANKS = 3, COLS = 5, ROWS_MAX = 8, SOURCES_MAX = 16 };
static const volatile sig_atomic_t never = 0;

static int64_t rows_of(int32_t rank) { return 4 + rank; }
/* Rows of rank q that rank p reads: 0 1 3, 2 1 1, 1 1 2. */
static int64_t wanted(int32_t p, int32_t q)
{
    static const int64_t count[RANKS][RANKS] = {{0, 1, 3}, {2, 1, 1}, {1, 1, 2}};
    return count[p][q];
}
static int32_t row_number(int32_t p, int32_t q, int64_t k) { return (int32_t)((k + p) % rows_of(q)); }
static float value_of(int32_t rank, int64_t row, int64_t column) { return (float)(100 * rank + 10 * row + column); }

typedef struct { /* a rank's lists of a hop */
    int32_t send[SOURCES_MAX], number[SOURCES_MAX];
    ggnn_node row[SOURCES_MAX];
    comm_piece to[RANKS], from[RANKS];
    int64_t bound[RANKS + 1], first[RANKS + 1];
} lists;

static shuffle_hop hop_of(lists* l, int32_t me)
{
    int64_t sent = 0, sources = 0;
    for (int32_t r = 0; r < RANKS; r++) {
        l->first[r + 1] = l->first[r] + rows_of(r);
        l->to[r] = (comm_piece){sent, wanted(r, me)};
        l->from[r] = (comm_piece){sources, wanted(me, r)};
        for (int64_t k = 0; k < wanted(r, me); k++) l->send[sent++] = row_number(r, me, k);
        for (int64_t k = 0; k < wanted(me, r); k++) l->row[sources++] = (ggnn_node)(l->first[r] + row_number(me, r, k));
        l->bound[r + 1] = sent;
    }
    for (int32_t i = 0; i < SOURCES_MAX; i++) l->number[i] = i;
    return (shuffle_hop){.rows = rows_of(me), .send = l->send, .receive = l->number, .place = l->number, .to = l->to,
                         .from = l->from, .bound = l->bound, .first = l->first, .row = l->row, .all = l->first[RANKS]};
}

typedef struct {
    comm* c;
    bool  pointers;
    shuffle_cost pulled, pushed; /* by each */
    int64_t sent[2];             /* bytes of comm.h meanwhile */
    int32_t wrong;
    error why;
} member;

static mat matrix(float* v, int64_t rows)
{
    return (mat){.v = v, .ld = COLS, .cols = COLS, .rows = {NULL, rows}};
}

static void check_pulled(member* m, const float* out)
{
    const int32_t me = m->c->rank;
    for (int32_t q = 0, i = 0; q < RANKS; q++)
        for (int64_t k = 0; k < wanted(me, q); k++, i++)
            for (int j = 0; j < COLS; j++) m->wrong += out[i * COLS + j] != value_of(q, row_number(me, q, k), j);
}

/* Each source's gradient is 1, and its reader's number more. */
static void check_pushed(member* m, const float* sum)
{
    float expected[ROWS_MAX] = {0};
    const int32_t me = m->c->rank;
    for (int32_t p = 0; p < RANKS; p++)
        for (int64_t k = 0; k < wanted(p, me); k++) expected[row_number(p, me, k)] += (float)(1 + p);
    for (int64_t i = 0; i < rows_of(me) * COLS; i++) m->wrong += sum[i] != expected[i / COLS];
}

static void* move_rows(void* context)
{
    member* m = context;
    comm* c = m->c;
    const int32_t me = c->rank;
    lists l = {0};
    shuffle s = {0};
    float rows[ROWS_MAX * COLS], out[SOURCES_MAX * COLS], sum[ROWS_MAX * COLS];
    device* d = device_open_cpu(1, &m->why);
    for (int64_t i = 0; i < rows_of(me) * COLS; i++) rows[i] = value_of(me, i / COLS, i % COLS);
    CHECK(shuffle_open(&s, d, c, m->pointers, &m->why));
    CHECK_EQ(s.peers, m->pointers);
    s.hop[0] = hop_of(&l, me);
    const int64_t begun = c->cost.bytes;
    shuffle_pull(&s, 0, matrix(out, SOURCES_MAX), matrix(rows, rows_of(me)));
    check_pulled(m, out);
    m->pulled = s.cost;
    m->sent[0] = c->cost.bytes - begun;
    for (int i = 0; i < SOURCES_MAX * COLS; i++) out[i] = (float)(1 + me);
    shuffle_push(&s, 0, matrix(sum, rows_of(me)), matrix(out, SOURCES_MAX));
    check_pushed(m, sum);
    m->pushed = (shuffle_cost){s.cost.own - m->pulled.own, s.cost.peer - m->pulled.peer, s.cost.bytes - m->pulled.bytes};
    m->sent[1] = c->cost.bytes - begun - m->sent[0];
    m->why = s.failed;
    comm_barrier(c, &m->why);
    shuffle_close(&s);
    device_close(d);
    return NULL;
}

static void move_among_threads(member m[RANKS], bool pointers)
{
    comm c[RANKS];
    pthread_t thread[RANKS];
    error why = {""};
    CHECK(comm_open_threads(c, RANKS, &never, &why));
    for (int32_t r = 0; r < RANKS; r++) {
        m[r] = (member){.c = &c[r], .pointers = pointers};
        CHECK_EQ(pthread_create(&thread[r], NULL, move_rows, &m[r]), 0);
    }
    for (int32_t r = 0; r < RANKS; r++) pthread_join(thread[r], NULL);
    comm_close_threads(c, RANKS);
}

/* Where rows are read in place, those that the others read; of messages, those that it hands to comm.h. */
TEST(a_rank_counts_the_bytes_that_it_sends_not_those_that_it_gets)
{
    const int64_t row = COLS * sizeof(float);
    for (int pointers = 0; pointers < 2; pointers++) {
        member m[RANKS];
        move_among_threads(m, pointers);
        for (int32_t me = 0; me < RANKS; me++) {
            int64_t read = 0, given = 0;
            for (int32_t r = 0; r < RANKS; r++) {
                if (r != me) read += wanted(me, r);
                if (r != me) given += wanted(r, me);
            }
            CHECK(read != given);
            CHECK_STR(m[me].why.text, "");
            CHECK_EQ(m[me].wrong, 0);
            CHECK_EQ(m[me].pulled.own, wanted(me, me));
            CHECK_EQ(m[me].pulled.peer, read);
            CHECK_EQ(m[me].pulled.bytes, given * row);
            CHECK_EQ(m[me].pushed.own, wanted(me, me));
            CHECK_EQ(m[me].pushed.peer, given);
            CHECK_EQ(m[me].pushed.bytes, read * row);
            if (!pointers) CHECK_EQ(m[me].sent[0], given * row);
            CHECK_EQ(m[me].sent[1], read * row);
        }
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(a_rank_counts_the_bytes_that_it_sends_not_those_that_it_gets);
    return test_finish();
}
