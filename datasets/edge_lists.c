#include "datasets/edge_lists.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/resources.h"
#include "datasets/dataset.h"
#include "datasets/writer.h"

static const int64_t EDGES_MAX = (int64_t)1 << 48;

/* ---- what it will take ---------------------------------------------------------------------------------------- */

/* In memory at one time, whatever the edges are: where each list begins, a bit for the report, what the caller has. */
static int64_t node_bytes(const edge_lists_options* how)
{
    return how->held_bytes + (how->num_nodes > 0 ? how->num_nodes * 8 + how->num_nodes / 8 + 16 : 0);
}

static bool check_nodes(const edge_lists_options* how, error* why)
{
    char needs[24], has[24];
    int64_t most = INT64_MAX / 16;
    if (how->num_nodes < most && node_bytes(how) <= how->memory) return true;
    return error_set(why, "%s: %lld nodes need %s of memory, whatever their edges are: more than --memory %s",
                     how->in, (long long)how->num_nodes,
                     resources_bytes(needs, how->num_nodes < most ? node_bytes(how) : INT64_MAX),
                     resources_bytes(has, how->memory));
}

/* Memory for edges: what lists leave, but a quarter at least; half where ids are compacted, as these take the rest. */
static edge_sorter_options sorter_options(const edge_lists_options* how, const char* path)
{
    int64_t left = how->num_nodes < 0 ? how->memory / 2 : how->memory - node_bytes(how);
    edge_sorter_options options = {.path = path,
                                   .memory = left > how->memory / 4 ? left : how->memory / 4,
                                   .expected = how->most << how->both,
                                   .num_nodes = how->num_nodes > 0 ? how->num_nodes : 0,
                                   .weighted = how->weighted && !how->width,
                                   .both = how->both,
                                   .numbered = how->width > 0};
    return options;
}

/* A guess may be twice too many, and so are edges of which the reverses are there already: only half is held against
   the disk then. */
static bool may_be_half(const edge_lists_options* how)
{
    return how->most < 1 || how->most / 2 > how->expected || (how->both && !how->distinct);
}

static int64_t row_bytes(const edge_lists_options* how) { return how->width * (how->half ? 2 : 4); }

/* count items of so many bytes; what is more than any disk has is INT64_MAX / 8. */
static int64_t bytes_of(int64_t count, int64_t item)
{
    return item < 1 || count < INT64_MAX / 8 / item ? count * item : INT64_MAX / 8;
}

/* Rows and weights of the edges as they are read, and the numbers of all that are written. */
static int64_t row_scratch(const edge_lists_options* how)
{
    int64_t item = row_bytes(how) + (how->weighted ? (int64_t)sizeof(float) : 0) + ((int64_t)sizeof(int64_t) << how->both);
    return how->width ? bytes_of(how->expected, item) : 0;
}

static bool check_disk(edge_lists* l, const edge_sorter_options* sorter, error* why)
{
    const edge_lists_options* how = &l->how;
    int64_t edges = how->expected << how->both, edge = (int64_t)sizeof(ggnn_node) + (how->weighted ? 4 : 0);
    int64_t sorted = edge_sorter_scratch_bytes(sorter, edges), has = resources_disk(l->out->path);
    int64_t scratch = sorted + row_scratch(how);
    int64_t file = how->more_bytes + bytes_of(edges, edge + row_bytes(how)) + (how->num_nodes > 0 ? how->num_nodes * 8 : 0);
    int64_t memory = sorted ? how->memory : edges * (how->weighted || how->width ? 16 : 8) + node_bytes(how);
    char text[5][24];
    if (memory > how->memory) memory = how->memory;
    l->takes = memory + scratch + file;
    resources_bytes(text[0], memory);
    resources_bytes(text[1], how->memory);
    resources_bytes(text[2], scratch);
    resources_bytes(text[3], file);
    resources_bytes(text[4], has);
    snprintf(l->plan, sizeof l->plan, "about %s of memory (--memory %s), %s of scratch on the disk, %s of file",
             text[0], text[1], scratch ? text[2] : "none", text[3]);
    if (has < 0 || (scratch + file) / (may_be_half(how) ? 2 : 1) <= has) return true;
    return error_set(why, "%s: needs about %s of scratch and %s of file; its disk has %s", l->out->path, text[2],
                     text[3], text[4]);
}

bool edge_lists_open(edge_lists* l, const edge_lists_options* how, ggnn_file_writer* out, error* why)
{
    memset(l, 0, sizeof *l);
    l->how = *how;
    l->how.memory = resources_memory_or(how->memory);
    l->out = out;
    l->sorter.fd = -1;
    if (how->expected > EDGES_MAX)
        return error_set(why, "%s: %lld edges are more than a disk holds", how->in, (long long)how->expected);
    if (how->most > EDGES_MAX) l->how.most = 0;
    if (!check_nodes(&l->how, why)) return false;
    edge_sorter_options sorter = sorter_options(&l->how, out->path);
    return check_disk(l, &sorter, why) && edge_sorter_open(&l->sorter, &sorter, why) &&
           (!how->width || (edge_rows_open(&l->rows, out->path, row_bytes(how), why) &&
                            (!how->weighted || edge_rows_open(&l->weights, out->path, sizeof(float), why))));
}

void edge_lists_close(edge_lists* l)
{
    edge_sorter_close(&l->sorter);
    compact_close(&l->map);
    edge_rows_close(&l->rows);
    edge_rows_close(&l->weights);
    if (l->number.data) ggnn_file_scratch_close(&l->number);
}

/* ---- edges as they are read ----------------------------------------------------------------------------------- */

static int64_t largest_of(const int64_t* src, const int64_t* dst, int64_t count)
{
    int64_t largest = -1;
    for (int64_t i = 0; i < count; i++) {
        if (src[i] > largest) largest = src[i];
        if (dst[i] > largest) largest = dst[i];
    }
    return largest;
}

bool edge_lists_add(edge_lists* l, const int64_t* src, const int64_t* dst, const float* weight, int64_t count,
                    error* why)
{
    bool both = l->how.both;
    int64_t place = edge_sorter_begin(&l->sorter, count << both, largest_of(src, dst, count), why), added = 0;
    if (place < 0) return false;
    for (int64_t i = 0; i < count; i++) {
        float w = l->how.weighted ? weight[i] : 1;
        edge_sorter_put(&l->sorter, place + added++, &(sorted_edge){dst[i], src[i], false, w, l->num_read + i});
        if (both && src[i] != dst[i])
            edge_sorter_put(&l->sorter, place + added++, &(sorted_edge){src[i], dst[i], true, w, l->num_read + i});
    }
    edge_sorter_end(&l->sorter, added);
    l->num_read += count;
    return !l->weights.item || edge_rows_add(&l->weights, weight, count, why);
}

bool edge_lists_add_rows(edge_lists* l, const void* rows, int64_t count, error* why)
{
    return edge_rows_add(&l->rows, rows, count, why);
}

/* ---- lists, an edge at a time --------------------------------------------------------------------------------- */

typedef struct {
    const edge_lists* l;
    edge_counts found;
    ggnn_node* indices; /* NULL: they are counted */
    float* weight;      /* NULL: none, or they lie with the rows */
    int64_t* number;    /* NULL: edges have no rows */
    int64_t node;       /* whose list is open */
    int64_t dst;        /* what it is called in the edges; -1: there was none yet */
    int64_t at;         /* of the list's next entry: in the list where they are counted, else in indices */
    int64_t last;       /* source of the last entry; -1: none */
    int64_t before;     /* source of the edge before that is no reverse; -1: none */
    bool wants_loop;    /* no self-loop yet, and one is to be there */
} list_cursor;

static int64_t number_of(const edge_lists* l, int64_t id) { return l->map.table ? compact_rank(&l->map, id) : id; }

static void put_entry(list_cursor* c, int64_t node, float weight)
{
    if (c->indices) c->indices[c->at] = (ggnn_node)node;
    if (c->weight) c->weight[c->at] = weight;
    c->at++;
}

static void close_list(list_cursor* c)
{
    if (c->wants_loop) put_entry(c, c->node, 1);
    if (!c->indices) {
        c->l->lists.indptr[c->node + 1] = c->at;
        c->at = 0;
    }
    c->node++;
    c->last = c->before = -1;
    c->wants_loop = c->l->how.add_loops;
}

static void count_edge(list_cursor* c, const sorted_edge* e)
{
    bool again = e->src == c->before, loop = e->src == e->dst;
    c->found.duplicates += again;
    c->found.loops += loop;
    c->found.loop_nodes += loop && !again;
    c->before = e->src;
}

/* Edges come by source, and reverses after the edges themselves: of equal ones the first stays. */
static void take_edge(list_cursor* c, const sorted_edge* e)
{
    if (!e->reverse) count_edge(c, e);
    if (e->src == e->dst && c->l->how.drop_loops) return;
    if (e->src == c->last && !c->l->how.keep_duplicates) return;
    if (c->wants_loop && e->src >= e->dst) {
        if (e->src > e->dst) put_entry(c, c->node, 1);
        c->wants_loop = false;
    }
    if (c->number) c->number[c->at] = e->number;
    put_entry(c, number_of(c->l, e->src), e->weight);
    c->last = e->src;
}

typedef struct {
    edge_lists* l;
    edge_counts* found; /* (pieces) while edges are counted; else NULL */
} list_job;

/* The first node of a piece: pieces begin with targets that have edges. */
static int64_t first_node(const edge_lists* l, int64_t piece)
{
    if (piece == 0) return 0;
    return piece == l->sorter.num_pieces ? l->lists.num_nodes : number_of(l, l->sorter.bound[piece]);
}

static void list_piece(void* context, int64_t piece, edge_stream* in)
{
    const list_job* job = context;
    edge_lists* l = job->l;
    const uint64_t* record;
    int64_t end = first_node(l, piece + 1);
    list_cursor c = {.l = l, .node = first_node(l, piece), .dst = -1, .last = -1, .before = -1};
    c.wants_loop = l->how.add_loops;
    if (!job->found) {
        c.indices = l->lists.indices;
        c.weight = l->weights.item ? NULL : l->lists.weight;
        c.number = l->number.data;
        c.at = l->lists.indptr[c.node];
    }
    for (int64_t count; (count = edge_stream_next(in, &record)) > 0;)
        for (int64_t i = 0; i < count; i++) {
            sorted_edge e = edge_sorter_edge(&l->sorter, record + i * l->sorter.words);
            if (e.dst != c.dst) {
                int64_t node = number_of(l, e.dst);
                while (c.node < node) close_list(&c);
                c.dst = e.dst;
            }
            take_edge(&c, &e);
        }
    while (c.node < end) close_list(&c);
    if (job->found) job->found[piece] = c.found;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static void* reserve(edge_lists* l, const char* name, ggnn_file_type type, int32_t num_dims, const int64_t* dim, error* why)
{
    void* array = ggnn_file_reserve(l->out, name, type, num_dims, dim);
    if (!array) error_set(why, "%s", l->out->error);
    return array;
}

static bool number_nodes(edge_lists* l, error* why)
{
    l->lists.num_nodes = l->how.num_nodes;
    if (l->how.num_nodes < 0) {
        if (!compact_make(&l->map, &l->sorter, false, l->how.memory / 2, why)) return false;
        l->lists.num_nodes = l->map.num_ids;
        l->renamed = l->map.largest >= l->map.num_ids;
        if (!l->renamed) compact_close(&l->map);
    }
    return true;
}

bool edge_lists_count(edge_lists* l, error* why)
{
    if (!edge_sorter_finish(&l->sorter, why)) return false;
    if (!l->lists.indptr) {
        if (!number_nodes(l, why)) return false;
        const int64_t count = l->lists.num_nodes + 1;
        l->lists.indptr = reserve(l, "indptr", GGNN_FILE_I64, 1, &count, why);
        if (!l->lists.indptr) return false;
    }
    list_job job = {l, memory_new((size_t)l->sorter.num_pieces * sizeof(edge_counts), "counts of pieces", why)};
    if (!job.found) return false;
    edge_sorter_scan(&l->sorter, "counting edges", list_piece, &job);
    memset(&l->found, 0, sizeof l->found);
    for (int64_t i = 0; i < l->sorter.num_pieces; i++) {
        l->found.loops += job.found[i].loops;
        l->found.loop_nodes += job.found[i].loop_nodes;
        l->found.duplicates += job.found[i].duplicates;
    }
    memory_free(job.found);
    for (int64_t v = 0; v < l->lists.num_nodes; v++) l->lists.indptr[v + 1] += l->lists.indptr[v];
    l->lists.num_edges = l->lists.indptr[l->lists.num_nodes];
    return true;
}

/* What lies in the order of reading goes to its edges' positions. The sorter's memory is theirs by then. */
static bool place_rows(edge_lists* l, void* rows, error* why)
{
    const int64_t *number = l->number.data, count = l->lists.num_edges;
    edge_sorter_close(&l->sorter);
    return (!l->weights.item || edge_rows_place(&l->weights, l->lists.weight, number, count, l->how.memory, why)) &&
           edge_rows_place(&l->rows, rows, number, count, l->how.memory, why);
}

bool edge_lists_write(edge_lists* l, error* why)
{
    const int64_t dim[2] = {l->lists.num_edges, l->how.width};
    void* rows = NULL;
    l->lists.indices = reserve(l, "indices", DATASET_NODE, 1, dim, why);
    if (!l->lists.indices) return false;
    if (l->how.weighted && !(l->lists.weight = reserve(l, "weight", GGNN_FILE_F32, 1, dim, why))) return false;
    if (dim[1] && !(rows = reserve(l, "edge_feat", l->how.half ? GGNN_FILE_F16 : GGNN_FILE_F32, 2, dim, why))) return false;
    if (rows && !writer_scratch(&l->number, l->out->path, dim[0] * (int64_t)sizeof(int64_t)))
        return error_set(why, "%s", l->number.error);
    edge_sorter_scan(&l->sorter, "writing lists", list_piece, &(list_job){l, NULL});
    return !rows || place_rows(l, rows, why);
}
