#include "trainer/split/partial.h"

#include <string.h>

#include "common/memory.h"

enum { TARGETS, INDPTR, ROWS, INVERSES, PIECES, REQUESTS, ASKED, OWNERS };

typedef struct { /* of a pair, as the reader asks for it */
    int32_t edges, degree;
} request;

static void* grow(partial_hop* p, int which, int64_t count, size_t size, error* why)
{
    return device_grow(NULL, &p->room[which], memory_product((size_t)count, size, 1), "partial sums (--split-partial)", why);
}

void partial_close(partial_hop* p)
{
    for (int i = 0; i < 8; i++) device_free_growing(NULL, &p->room[i]);
    memset(p, 0, sizeof *p);
}

typedef struct { /* the reader's side while it is made: pieces of pairs and of edges by owner */
    comm_piece *pairs, *edges;
    request*    of;   /* (pairs) */
    int32_t*    entry; /* (edges) which of what it asks of the owner each edge's source is */
} asking;

/* owner (sources of the hop): who has each. */
static void list_owners(uint8_t* owner, const split_hop* hop, int32_t ranks)
{
    for (int32_t q = 0; q < ranks; q++)
        for (int64_t i = hop->from[q]; i < hop->from[q + 1]; i++) owner[hop->receive[i]] = (uint8_t)q;
}

/* How many pairs and edges there are with each owner. */
static void count_pairs(int64_t* pairs, int64_t* edges, const ggnn_block* b, const uint8_t* owner, int32_t ranks)
{
    int64_t last[GGNN_PARTS_MAX];
    for (int32_t q = 0; q < ranks; q++) last[q] = -1;
    for (int64_t i = 0; i < *b->num_dst.n; i++)
        for (int64_t e = b->indptr[i]; e < b->indptr[i + 1]; e++) {
            const int32_t q = owner[b->indices[e]];
            pairs[q] += last[q] != i;
            edges[q]++;
            last[q] = i;
        }
}

/* The same walk; edges of a target with one owner stay in their order. */
static void list_pairs(partial_hop* to, const asking* a, const split_hop* hop, const uint8_t* owner, int32_t ranks)
{
    const ggnn_block* b = hop->block;
    int64_t pair[GGNN_PARTS_MAX], edge[GGNN_PARTS_MAX], last[GGNN_PARTS_MAX];
    for (int32_t q = 0; q < ranks; q++) {
        pair[q] = a->pairs[q].first - 1;
        edge[q] = a->edges[q].first;
        last[q] = -1;
    }
    for (int64_t i = 0; i < *b->num_dst.n; i++)
        for (int64_t e = b->indptr[i]; e < b->indptr[i + 1]; e++) {
            const int32_t source = b->indices[e], q = owner[source];
            if (last[q] != i) {
                last[q] = i;
                to->target[++pair[q]] = (int32_t)i;
                a->of[pair[q]] = (request){0, (int32_t)(b->indptr[i + 1] - b->indptr[i])};
            }
            a->of[pair[q]].edges++;
            a->entry[edge[q]++] = (int32_t)(hop->place[source] - hop->from[q]);
        }
}

/* As the owner: requests and entries that came become a block of this rank's rows. */
static void list_owned(partial_hop* to, const split_hop* hop, const request* of, const int32_t* entry,
                       const comm_piece* edges, int32_t ranks)
{
    int64_t e = 0;
    to->indptr[0] = 0;
    for (int64_t k = 0; k < to->owned; k++) {
        to->indptr[k + 1] = to->indptr[k] + of[k].edges;
        to->inv[k] = 1.0f / (float)of[k].degree;
    }
    for (int32_t p = 0; p < ranks; p++)
        for (int64_t i = 0; i < edges[p].count; i++) to->row[e++] = hop->send[hop->to[p] + entry[edges[p].first + i]];
}

/* How many pairs and edges each reader asks for: pieces of pairs, and of edges. Returns the edges' sum; -1 on failure. */
static int64_t exchange_counts(partial_hop* to, const asking* a, comm* c, comm_piece* two, comm_piece* edges_in, error* why)
{
    int64_t mine[2 * GGNN_PARTS_MAX], its[2 * GGNN_PARTS_MAX], pairs[GGNN_PARTS_MAX], edges[GGNN_PARTS_MAX];
    for (int32_t r = 0; r < c->ranks; r++) {
        two[r] = (comm_piece){2 * r, 2};
        mine[2 * r] = a->pairs[r].count;
        mine[2 * r + 1] = a->edges[r].count;
    }
    if (!comm_exchange(c, NULL, its, two, mine, two, sizeof *its, why)) return -1;
    for (int32_t r = 0; r < c->ranks; r++) {
        pairs[r] = its[2 * r];
        edges[r] = its[2 * r + 1];
    }
    to->owned = comm_pieces(to->to, pairs, c->ranks);
    return comm_pieces(edges_in, edges, c->ranks);
}

static bool exchange_pairs(partial_hop* to, const split_hop* hop, asking* a, comm* c, comm_piece* piece, error* why)
{
    comm_piece* edges_in = piece + c->ranks;
    const int64_t sum = exchange_counts(to, a, c, piece, edges_in, why);
    if (sum < 0) return false;
    to->indptr = grow(to, INDPTR, to->owned + 1, sizeof *to->indptr, why);
    to->inv = grow(to, INVERSES, to->owned, sizeof *to->inv, why);
    to->row = grow(to, ROWS, sum, sizeof *to->row, why);
    request* of = grow(to, ASKED, to->owned + sum, sizeof *of, why);
    if (!to->indptr || !to->inv || !to->row || !of) return false;
    int32_t* entry = (int32_t*)(of + to->owned);
    if (!comm_exchange(c, NULL, of, to->to, a->of, a->pairs, sizeof *of, why)) return false;
    if (!comm_exchange(c, NULL, entry, edges_in, a->entry, a->edges, sizeof *entry, why)) return false;
    list_owned(to, hop, of, entry, edges_in, c->ranks);
    return true;
}

bool partial_make(partial_hop* to, const split_part* part, int32_t h, comm* c, error* why)
{
    const split_hop* hop = &part->hop[h];
    const ggnn_block* b = hop->block;
    const int32_t ranks = c->ranks;
    int64_t pairs[GGNN_PARTS_MAX] = {0}, edges[GGNN_PARTS_MAX] = {0};
    comm_piece* piece = grow(to, PIECES, 6 * ranks + 1, sizeof *piece, why);
    uint8_t* owner = grow(to, OWNERS, *b->num_src.n, 1, why);
    if (!piece || !owner) return false;
    asking a = {piece, piece + ranks, NULL, NULL};
    to->from = a.pairs;
    to->to = piece + 2 * ranks;
    to->bound = (int64_t*)(piece + 5 * ranks);
    list_owners(owner, hop, ranks);
    count_pairs(pairs, edges, b, owner, ranks);
    to->read = comm_pieces(a.pairs, pairs, ranks);
    const int64_t sum = comm_pieces(a.edges, edges, ranks);
    for (int32_t q = 0; q <= ranks; q++) to->bound[q] = q < ranks ? a.pairs[q].first : to->read;
    to->target = grow(to, TARGETS, to->read, sizeof *to->target, why);
    a.of = grow(to, REQUESTS, to->read + sum, sizeof *a.of, why);
    if (!to->target || !a.of) return false;
    a.entry = (int32_t*)(a.of + to->read);
    list_pairs(to, &a, hop, owner, ranks);
    return exchange_pairs(to, hop, &a, c, piece + 3 * ranks, why);
}
