#include "trainer/split/split_loader.h"

#include <string.h>

#include "common/memory.h"
#include "common/progress.h"
#include "trainer/device/mat.h"
#include "trainer/device/ops.h"
#include "trainer/split/partial.h"

static const char what[] = "mini-batches (--parallel split)";

typedef device_growing room; /* of the device or of the host */

enum { INDPTR, INDICES, IDS, POSITIONS, WEIGHTS, REPEATS, COUNTS, SEND, RECEIVE, PLACE, LIST, FIRST, ROW,
       SUM_COUNTS, SUM_INDPTR, SUM_INDICES, SUM_INVERSES, SUM_TARGETS, ARRAYS };

struct split_loader {
    device*    device;
    split_plan plan;
    comm*      line;
    split_part part;
    partial_hop partial[GGNN_HOPS_MAX];
    ggnn_batch shape;    /* bounds */
    mini_batch batch;
    shuffle    shuffle;
    split_cost cost;
    loader*    hop[GGNN_HOPS_MAX];           /* one a hop, of a device that samples its lists; else NULL */
    const mini_batch* taken[GGNN_HOPS_MAX];  /* hop h of the batch; NULL: the host has sampled it */
    room       list;                         /* the list that is sampled, on the device */

    loader_pass pass;
    loader_turns turns;   /* single: the whole batches that are this rank's to sample */
    loader_source source; /* single: gives the batches of `turns` in order */
    int64_t next;         /* batch that is made */

    ggnn_node* seeds;
    int64_t    known, *known_there;   /* labelled seeds, here and on the device */
    int64_t*   asked;                 /* (2 ranks) ids that each rank asks this one for, and is asked for */
    comm_piece* piece;                /* (2 ranks a hop, those of the shuffle) */
    int64_t size[GGNN_HOPS_MAX][3], sums[GGNN_HOPS_MAX][3]; /* of blocks: targets, sources, edges; and of partial sums' */
    comm_piece *out, *in, *one;       /* (ranks each) of ids; rank r's is [r, r + 1) */
    int64_t*   bound;                 /* (ranks + 1 a hop) */
    int64_t*   first;                 /* (ranks + 1 a hop) bounds of peers' rows */
    int64_t*   listed;                /* (hops a rank) rows that each rank has */
    split_part* all;                  /* (ranks) single: of the batches that this rank samples */
    room ids, packed;                 /* of the host: ids asked for; a whole batch of a device's memory */
    room slices, slice;               /* of the host: those of all ranks; this rank's */
    room theirs, row[GGNN_HOPS_MAX];  /* of the host: rows of peers' lists; of all lists */
    room rows, there[GGNN_HOPS_MAX][ARRAYS]; /* of the device */
};

/* ==== memory ======================================================================================================= */

static bool grow(device* d, room* r, size_t bytes, error* why) { return device_grow(d, r, bytes, what, why) != NULL; }

/* Memory of the host that the device packs a batch into. */
static bool grow_packed(split_loader* l, size_t bytes, error* why)
{
    room* r = &l->packed;
    if (r->memory && bytes <= r->bytes) return true;
    device_free_host(l->device, r->memory);
    r->bytes = bytes + bytes / 4 + 64;
    r->memory = device_new_host(l->device, r->bytes, what, why);
    return r->memory != NULL;
}

/* An array where the device reads it; NULL on failure. */
static void* there(split_loader* l, room* r, const void* host, int64_t count, size_t size, error* why)
{
    void* same = device_map(l->device, host);
    if (same) return same;
    if (!grow(l->device, r, (size_t)count * size, why)) return NULL;
    if (count) device_upload(l->device, r->memory, host, (size_t)count * size);
    return r->memory;
}

/* Lists of hop h are passes of a loader, each one batch. */
static bool open_hop(split_loader* l, int32_t h, error* why)
{
    loader_plan plan = {.graph = *l->plan.there, .edges_read = l->plan.edges_read, .how = l->plan.how,
                        .batch = l->part.hop[h].block->num_dst.max};
    plan.how.num_hops = 1;
    plan.how.first_hop += h;
    plan.how.fanout[0] = l->plan.how.fanout[h];
    l->hop[h] = loader_create(l->device, &plan, NULL, why);
    return l->hop[h] != NULL;
}

/* Parts of the batches that this rank samples. */
static bool open_slices(split_loader* l, error* why)
{
    const split_plan* p = &l->plan;
    const int32_t ranks = p->over->ranks;
    l->all = memory_new((size_t)ranks * sizeof *l->all, what, why);
    for (int32_t r = 0; l->all && r < ranks; r++)
        if (!split_part_open(&l->all[r], &p->graph, &p->how, &p->at, r, p->batch, p->path, why)) return false;
    return l->all != NULL;
}

static bool open_loader(split_loader* l, error* why)
{
    const split_plan* p = &l->plan;
    const size_t ranks = (size_t)p->over->ranks, hops = (size_t)p->how.num_hops;
    if (!split_part_open(&l->part, &p->graph, &p->how, &p->at, p->over->rank, p->batch, p->path, why)) return false;
    if (ggnn_batch_bound(&l->shape, &p->graph, &p->how, p->batch) != GGNN_OK)
        return error_set(why, "%s: --fanout, --batch: %s", p->path, l->shape.fault.what);
    for (int32_t h = 0; l->device->tight && h < p->how.num_hops; h++)
        l->shape.hop[h].num_dst.max = l->shape.hop[h].num_src.max = l->shape.hop[h].num_edges.max = 1;
    l->seeds = memory_new((size_t)p->batch * sizeof *l->seeds, what, why);
    l->asked = l->seeds ? memory_new(2 * ranks * sizeof *l->asked, what, why) : NULL;
    l->piece = l->asked ? memory_new((2 * hops + 3) * ranks * sizeof *l->piece, what, why) : NULL;
    l->bound = l->piece ? memory_new(hops * (3 * ranks + 2) * sizeof *l->bound, what, why) : NULL;
    l->known_there = l->bound ? device_new(l->device, sizeof *l->known_there, what, why) : NULL;
    if (!l->known_there) return false;
    l->first = l->bound + hops * (ranks + 1);
    l->listed = l->first + hops * (ranks + 1);
    l->out = l->piece + 2 * hops * ranks;
    l->in = l->out + ranks;
    l->one = l->in + ranks;
    for (int32_t r = 0; r < p->over->ranks; r++) l->one[r] = (comm_piece){r, 1};
    if (p->whole && !open_slices(l, why)) return false;
    for (int32_t h = 0; p->there && !p->whole && !p->partial && h < p->how.num_hops; h++)
        if (!open_hop(l, h, why)) return false;
    return true;
}

split_loader* split_loader_create(device* d, const split_plan* plan, error* why)
{
    split_loader* l = memory_new(sizeof *l, what, why);
    if (!l) return NULL;
    l->device = d;
    l->plan = *plan;
    l->line = plan->line ? plan->line : plan->over;
    l->source = (loader_source){loader_next_whole, &l->turns};
    l->batch.shuffle = &l->shuffle;
    if (open_loader(l, why)) return l;
    split_loader_free(l);
    return NULL;
}

static void give_hops(split_loader* l)
{
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        if (l->taken[h]) batch_give(l->hop[h], l->taken[h]);
        l->taken[h] = NULL;
    }
}

void split_loader_free(split_loader* l)
{
    if (!l) return;
    give_hops(l);
    for (int h = 0; h < GGNN_HOPS_MAX; h++) loader_free(l->hop[h]);
    device_free(l->device, l->list.memory);
    shuffle_close(&l->shuffle);
    split_part_close(&l->part);
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        for (int a = 0; a < ARRAYS; a++) device_free(l->device, l->there[h][a].memory);
        memory_free(l->row[h].memory);
        partial_close(&l->partial[h]);
    }
    device_free(l->device, l->rows.memory);
    device_free(l->device, l->known_there);
    memory_free(l->theirs.memory);
    for (int32_t r = 0; l->all && r < l->plan.over->ranks; r++) split_part_close(&l->all[r]);
    memory_free(l->all);
    memory_free(l->slices.memory);
    memory_free(l->slice.memory);
    memory_free(l->ids.memory);
    device_free_host(l->device, l->packed.memory);
    memory_free(l->bound);
    memory_free(l->piece);
    memory_free(l->asked);
    memory_free(l->seeds);
    memory_free(l);
}

const ggnn_batch* split_loader_shape(const split_loader* l) { return &l->shape; }

split_cost split_loader_cost(const split_loader* l)
{
    split_cost cost = l->cost;
    cost.moved = l->shuffle.cost;
    return cost;
}

split_cost split_loader_take_cost(split_loader* l)
{
    const split_cost cost = split_loader_cost(l);
    memset(&l->cost, 0, sizeof l->cost);
    return cost;
}

/* ==== a batch's lists ============================================================================================== */

bool split_loader_meet(split_loader* l, device* d, error* why)
{
    return l->shuffle.device || shuffle_open(&l->shuffle, d, l->plan.over, l->plan.pointers, why);
}

void split_loader_begin(split_loader* l, const loader_pass* pass) { l->pass = *pass; }

void split_loader_begin_whole(split_loader* l, const loader_pass* pass, const ggnn_node* device_ids, int64_t first)
{
    const int32_t ranks = l->plan.over->ranks;
    loader_pass sampled = *pass;
    sampled.ids = device_ids;
    sampled.source = &l->source;
    l->turns = (loader_turns){first + (l->plan.over->rank - first % ranks + ranks) % ranks, ranks, loader_batches(l->plan.whole, pass), false};
    loader_begin(l->plan.whole, &sampled, 0);
}

/* The seeds of the next batch, which all ranks list, and its random numbers. */
static loader_slice list_seeds(split_loader* l)
{
    const loader_slice s = loader_slice_of(&l->pass, l->plan.batch, l->next, 0, 1);
    l->known = 0;
    for (int64_t i = 0; i < s.seeds; i++) {
        l->seeds[i] = loader_slice_seed(&l->pass, &s, i);
        l->known += label_known(&l->plan.labels, l->seeds[i]);
    }
    return s;
}

/* The sources of hop h to their owners, from which each makes its next list. */
static bool exchange_ids(split_loader* l, int32_t h, error* why)
{
    comm* c = l->line;
    const int32_t ranks = c->ranks;
    comm_piece *out = l->out, *in = l->in;
    const ggnn_node* ids[GGNN_PARTS_MAX];
    int64_t *asked = l->asked, *wanted = asked + ranks;
    comm_pieces_between(out, l->part.hop[h].from, ranks);
    for (int32_t r = 0; r < ranks; r++) wanted[r] = out[r].count;
    if (!comm_exchange(c, NULL, asked, l->one, wanted, l->one, sizeof *asked, why)) return false;
    const int64_t sum = comm_pieces(in, asked, ranks);
    if (!grow(NULL, &l->ids, (size_t)sum * sizeof(ggnn_node), why)) return false;
    if (!comm_exchange(c, NULL, l->ids.memory, in, l->part.ask, out, sizeof(ggnn_node), why)) return false;
    for (int32_t r = 0; r < ranks; r++) ids[r] = (const ggnn_node*)l->ids.memory + in[r].first;
    if (!split_merge(&l->part, h, ids, asked, why)) return false;
    return !l->plan.partial || partial_make(&l->partial[h], &l->part, h, c, why);
}

/* This rank's part of hop h was sampled. */
static void count_sampled(split_loader* l, int32_t h)
{
    const ggnn_block* b = l->part.hop[h].block;
    l->cost.targets += *b->num_dst.n;
    l->cost.batches.edges += *b->num_edges.n;
    l->cost.batches.bytes += loader_hop_bytes(*b->num_dst.n, *b->num_edges.n);
    if (!l->plan.edges_read || l->plan.there || l->plan.whole) return;
    for (int64_t i = 0; i < *b->num_dst.n; i++)
        l->plan.edges_read[ggnn_locate(&l->plan.graph.at, b->id[i]).slot] += b->indptr[i + 1] - b->indptr[i];
}

/* List h, which is not empty, on the device. The host gets the sources. */
static bool sample_there(split_loader* l, int32_t h, const ggnn_rng* rng, error* why)
{
    loader_pass pass = {.num_ids = l->part.count[h], .rng = *rng};
    pass.ids = there(l, &l->list, l->part.list[h], pass.num_ids, sizeof *pass.ids, why);
    if (!pass.ids) return false;
    loader_begin(l->hop[h], &pass, 0);
    const mini_batch* b = l->taken[h] = batch_take(l->hop[h], why);
    if (!b) return false;
    const ggnn_block* hop = &b->blocks.hop[0];
    const int64_t src = device_size(l->device, hop->num_src), edges = device_size(l->device, hop->num_edges);
    if (!grow(NULL, &l->ids, (size_t)src * sizeof(ggnn_node), why)) return false;
    device_download(l->device, l->ids.memory, hop->id, (size_t)src * sizeof(ggnn_node));
    return split_sampled(&l->part, h, l->ids.memory, src, edges, why);
}

static bool sample_list(split_loader* l, int32_t h, const ggnn_rng* rng, error* why)
{
    if (l->hop[h] && l->part.count[h]) return sample_there(l, h, rng, why);
    return split_sample(&l->part, h, &l->plan.graph, rng, why);
}

static bool sample_cooperatively(split_loader* l, error* why)
{
    const loader_slice s = list_seeds(l);
    give_hops(l);
    if (!split_begin(&l->part, l->seeds, s.seeds, why)) return false;
    for (int32_t h = 0; h < l->plan.how.num_hops; h++)
        if (!sample_list(l, h, &s.rng, why) || !exchange_ids(l, h, why)) return false;
    return true;
}

/* The whole batch as the host reads it: where the device made it, or a packed copy. */
static const mini_batch* sample_whole(split_loader* l, ggnn_batch* whole, error* why)
{
    const mini_batch* b = batch_take(l->plan.whole, why);
    if (!b) return NULL;
    *whole = b->blocks;
    if (l->device->host_memory) return b;
    packed_batch to = {.bytes = batch_packed_bytes(l->plan.whole, b)};
    if (!grow_packed(l, to.bytes, why)) return NULL;
    to.memory = l->packed.memory;
    batch_pack(l->plan.whole, b, &to);
    if (ggnn_batch_unpack(whole, to.memory, to.bytes) == GGNN_OK) return b;
    error_set(why, "%s: a packed batch of %zu bytes is not one", l->plan.path, to.bytes);
    return NULL;
}

/* The slices of all ranks into l->slices; in[r]: that of rank r. */
static bool split_whole(split_loader* l, comm_piece* piece, error* why)
{
    const int32_t ranks = l->plan.over->ranks;
    ggnn_batch whole;
    int64_t bytes[GGNN_PARTS_MAX];
    const mini_batch* b = sample_whole(l, &whole, why);
    const bool good = b && split_single(l->all, &whole, why);
    if (b) batch_give(l->plan.whole, b);
    for (int32_t r = 0; good && r < ranks; r++) bytes[r] = (int64_t)split_slice_bytes(&l->all[r]);
    if (!good || !grow(NULL, &l->slices, (size_t)comm_pieces(piece, bytes, ranks), why)) return false;
    for (int32_t r = 0; r < ranks; r++) split_slice_pack((char*)l->slices.memory + piece[r].first, &l->all[r]);
    return true;
}

/* This rank's slice, of the rank whose turn it is. */
static bool take_from_whole(split_loader* l, error* why)
{
    comm* c = l->line;
    const int32_t turn = (int32_t)(l->next % c->ranks);
    comm_piece *to = l->in, *from = l->out;
    int64_t *told = l->asked, *bytes = told + c->ranks;
    list_seeds(l);
    memset(from, 0, (size_t)c->ranks * sizeof *from);
    memset(to, 0, (size_t)c->ranks * sizeof *to);
    if (c->rank == turn && !split_whole(l, from, why)) return false;
    for (int32_t r = 0; r < c->ranks; r++) bytes[r] = from[r].count;
    if (!comm_exchange(c, NULL, told, l->one, bytes, l->one, sizeof *bytes, why)) return false;
    to[turn].count = told[turn];
    if (!grow(NULL, &l->slice, (size_t)told[turn], why)) return false;
    if (!comm_exchange(c, NULL, l->slice.memory, to, l->slices.memory, from, 1, why)) return false;
    if (!split_slice_take(&l->part, l->slice.memory, (size_t)told[turn], why)) return false;
    for (int32_t h = 0; l->plan.partial && h < l->plan.how.num_hops; h++)
        if (!partial_make(&l->partial[h], &l->part, h, c, why)) return false;
    return true;
}

/* ==== where the device has it ====================================================================================== */

static bool place_block(split_loader* l, int32_t h, error* why)
{
    const ggnn_block* from = l->part.hop[h].block;
    const int64_t dst = *from->num_dst.n, src = *from->num_src.n, edges = *from->num_edges.n;
    ggnn_block* to = &l->batch.blocks.hop[h];
    room* r = l->there[h];
    if (l->taken[h]) {
        *to = l->taken[h]->blocks.hop[0];
        to->num_dst.max = dst;
        to->num_src.max = src;
        to->num_edges.max = edges;
        return true;
    }
    *to = *from;
    int64_t* size = l->size[h];
    size[0] = dst;
    size[1] = src;
    size[2] = edges;
    int64_t* n = there(l, &r[COUNTS], size, 3, sizeof *size, why);
    to->indptr = there(l, &r[INDPTR], from->indptr, dst + 1, sizeof *to->indptr, why);
    to->indices = there(l, &r[INDICES], from->indices, edges, sizeof *to->indices, why);
    to->id = there(l, &r[IDS], from->id, src, sizeof *to->id, why);
    if (from->position) to->position = there(l, &r[POSITIONS], from->position, edges, sizeof *to->position, why);
    if (from->weight) to->weight = there(l, &r[WEIGHTS], from->weight, edges, sizeof *to->weight, why);
    if (from->repeats) to->repeats = there(l, &r[REPEATS], from->repeats, src, sizeof *to->repeats, why);
    to->neighbor = NULL; /* no one wants it */
    if (why->text[0]) return false;
    to->num_dst = (ggnn_count){n, dst};
    to->num_src = (ggnn_count){n + 1, src};
    to->num_edges = (ggnn_count){n + 2, edges};
    return true;
}

static bool place_shuffle(split_loader* l, int32_t h, error* why)
{
    const split_hop* hop = &l->part.hop[h];
    const int32_t ranks = l->plan.over->ranks;
    const int64_t rows = l->part.count[h + 1], src = *hop->block->num_src.n;
    shuffle_hop* to = &l->shuffle.hop[h];
    room* r = l->there[h];
    to->rows = rows;
    to->to = l->piece + 2 * h * ranks;
    to->from = to->to + ranks;
    to->bound = l->bound + h * (ranks + 1);
    comm_pieces_between(to->to, hop->to, ranks);
    comm_pieces_between(to->from, hop->from, ranks);
    memcpy(to->bound, hop->to, (size_t)(ranks + 1) * sizeof *to->bound);
    to->send = there(l, &r[SEND], hop->send, hop->to[ranks], sizeof *to->send, why);
    to->receive = there(l, &r[RECEIVE], hop->receive, src, sizeof *to->receive, why);
    to->place = there(l, &r[PLACE], hop->place, src, sizeof *to->place, why);
    to->id = there(l, &r[LIST], l->part.list[h + 1], rows, sizeof *to->id, why);
    return !why->text[0];
}

/* Where the owners' lists have the sources of hop h: each tells the others which of its rows they take. */
static bool number_rows(split_loader* l, int32_t h, error* why)
{
    comm* c = l->line;
    const split_hop* hop = &l->part.hop[h];
    shuffle_hop* to = &l->shuffle.hop[h];
    const int64_t src = hop->from[c->ranks];
    int64_t* first = l->first + h * (c->ranks + 1);
    for (int32_t r = 0; r < c->ranks; r++) first[r + 1] = first[r] + l->listed[r * l->plan.how.num_hops + h];
    if (!grow(NULL, &l->theirs, (size_t)src * sizeof(int32_t), why)) return false;
    if (!grow(NULL, &l->row[h], (size_t)src * sizeof(ggnn_node), why)) return false;
    const int32_t* theirs = l->theirs.memory;
    ggnn_node* row = l->row[h].memory;
    if (!comm_exchange(c, NULL, l->theirs.memory, to->from, hop->send, to->to, sizeof *theirs, why)) return false;
    for (int32_t r = 0; r < c->ranks; r++)
        for (int64_t i = hop->from[r]; i < hop->from[r + 1]; i++) row[hop->receive[i]] = (ggnn_node)(first[r] + theirs[i]);
    to->all = first[c->ranks];
    to->first = there(l, &l->there[h][FIRST], first, c->ranks + 1, sizeof *first, why);
    to->row = there(l, &l->there[h][ROW], row, src, sizeof *row, why);
    return !why->text[0];
}

static bool place_peers(split_loader* l, error* why)
{
    const int32_t hops = l->plan.how.num_hops;
    for (int32_t h = 0; h < hops; h++) l->listed[l->plan.over->rank * hops + h] = l->part.count[h + 1];
    if (!comm_gather_each(l->line, l->listed, (size_t)hops * sizeof *l->listed, why)) return false;
    for (int32_t h = 0; h < hops; h++)
        if (!number_rows(l, h, why)) return false;
    return true;
}

static bool place_sums(split_loader* l, int32_t h, error* why)
{
    partial_hop* p = &l->partial[h];
    shuffle_sums* to = &l->shuffle.hop[h].sums;
    room* r = l->there[h];
    const int64_t edges = p->indptr[p->owned], rows = l->part.count[h + 1];
    int64_t *size = l->sums[h], *n;
    size[0] = p->owned;
    size[1] = rows;
    size[2] = edges;
    n = there(l, &r[SUM_COUNTS], size, 3, sizeof *size, why);
    to->block = (ggnn_block){.num_dst = {n, p->owned}, .num_src = {n + 1, rows}, .num_edges = {n + 2, edges}};
    to->block.indptr = there(l, &r[SUM_INDPTR], p->indptr, p->owned + 1, sizeof *p->indptr, why);
    to->block.indices = there(l, &r[SUM_INDICES], p->row, edges, sizeof *p->row, why);
    to->inv = there(l, &r[SUM_INVERSES], p->inv, p->owned, sizeof *p->inv, why);
    to->target = there(l, &r[SUM_TARGETS], p->target, p->read, sizeof *p->target, why);
    to->to = p->to;
    to->from = p->from;
    to->bound = p->bound;
    to->targets = *l->part.hop[h].block->num_dst.n;
    return !why->text[0];
}

static void fit(int64_t* bound, int64_t need)
{
    if (need > *bound) *bound = need + need / 4;
}

/* On a device that is tight bounds follow what batches need. */
static void fit_shape(split_loader* l, int32_t h)
{
    const ggnn_block* b = l->part.hop[h].block;
    ggnn_block* most = &l->shape.hop[h];
    const partial_hop* p = &l->partial[h];
    const int64_t sums = p->owned;
    if (!l->device->tight) return;
    fit(&most->num_dst.max, *b->num_dst.n);
    fit(&most->num_dst.max, sums);
    fit(&most->num_src.max, *b->num_src.n);
    fit(&most->num_src.max, l->part.count[h + 1]);
    fit(&most->num_src.max, sums);
    fit(&most->num_edges.max, *b->num_edges.n);
    fit(&most->num_edges.max, p->indptr ? p->indptr[sums] : 0);
}

static bool extract(split_loader* l, error* why)
{
    const ggnn_store* from = &l->plan.features;
    const shuffle_hop* last = &l->shuffle.hop[l->plan.how.num_hops - 1];
    mini_batch* b = &l->batch;
    b->ld_rows = mat_padded(from->width);
    if (!grow(l->device, &l->rows, memory_product((size_t)last->rows, (size_t)b->ld_rows, sizeof *b->rows), why)) return false;
    b->rows = l->rows.memory;
    l->cost.rows += last->rows;
    if (l->plan.exchange) return exchange_rows(l->plan.exchange, b->rows, b->ld_rows, last->id, last->rows, why);
    l->device->ops->rows->gather(l->device, b->rows, b->ld_rows, GGNN_F32, from, last->id, last->rows);
    return true;
}

static bool place_batch(split_loader* l, error* why)
{
    mini_batch* b = &l->batch;
    b->blocks.num_hops = l->plan.how.num_hops;
    for (int32_t h = 0; h < b->blocks.num_hops; h++) {
        if (!place_block(l, h, why) || !place_shuffle(l, h, why) || (l->plan.partial && !place_sums(l, h, why))) return false;
        fit_shape(l, h);
        count_sampled(l, h);
    }
    if (l->shuffle.peers && !place_peers(l, why)) return false;
    b->blocks.id = b->blocks.hop[0].id;
    b->blocks.num_seeds = b->blocks.hop[0].num_dst;
    device_upload(l->device, l->known_there, &l->known, sizeof l->known);
    b->known = (ggnn_count){l->known_there, l->plan.batch};
    return true;
}

const mini_batch* split_loader_batch(const split_loader* l) { return &l->batch; }

const mini_batch* split_loader_take(split_loader* l, int64_t number, error* why)
{
    const double start = progress_seconds(), waited = l->line->cost.waited;
    l->next = number;
    if (!(l->plan.whole ? take_from_whole(l, why) : sample_cooperatively(l, why)) || !place_batch(l, why)) return NULL;
    const double sampled = progress_seconds(), idle = l->line->cost.waited - waited;
    if (!extract(l, why)) return NULL;
    device_settle(l->device);
    if (l->device->failed.text[0]) {
        error_set(why, "%s", l->device->failed.text);
        return NULL;
    }
    const double end = progress_seconds();
    l->cost.batches.sample += sampled - start - idle;
    l->cost.batches.extract += end - sampled;
    l->cost.batches.seconds += end - start - idle;
    return &l->batch;
}
