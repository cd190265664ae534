/* The kinds of graph: what group each node is in, and which edge comes next. */
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "datasets/generate.h"

enum { NUM_FIELDS = 16 };

static int64_t node_pieces(const generate_shape* s) { return parallel_pieces(s->how->nodes, 1 << 13); }

/* ---- planted -------------------------------------------------------------------------------------------------- */

/* Equal communities. Edge i joins a uniform node and one of its community, with chance `homophily`, else one of
   another community. Positions are dealt to communities in turn, and nodes to positions by a keyed permutation. */
static void draw_planted(const generate_shape* s, int64_t i, int64_t* u, int64_t* v)
{
    ggnn_words first = ggnn_random(&s->rng, STREAM_EDGES, i, 0), second = ggnn_random(&s->rng, STREAM_EDGES, i, 1);
    int64_t nodes = s->how->nodes, classes = s->how->classes;
    int64_t from = ggnn_bounded(ggnn_draw(first, 0), nodes), community = from % classes;
    bool within = classes == 1 || (double)first.word[2] < s->how->homophily * 4294967296.0;
    if (!within) community = (community + 1 + ggnn_bounded(ggnn_draw(second, 1), classes - 1)) % classes;
    *u = s->order[from];
    *v = s->order[community + classes * ggnn_bounded(ggnn_draw(second, 0), (nodes - 1 - community) / classes + 1)];
}

/* ---- citation ------------------------------------------------------------------------------------------------- */

/* How many papers of a topic are older than u: the members are in ascending order. */
static int64_t count_before(const generate_shape* s, int64_t topic, int64_t u)
{
    int64_t low = s->first[topic], high = s->first[topic + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (s->member[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    return low - s->first[topic];
}

/* Node ids are times. Paper u cites an earlier paper: of its own topic with chance 3/4, of a random topic of its
   field 3/20, of any 1/10; the k-th of m candidates with density k^(-1/2), so that citations have a heavy tail
   (exponent 3, as by preferential attachment). A topic is a class within one of 16 fields. */
static void draw_citation(const generate_shape* s, int64_t i, int64_t* u, int64_t* v)
{
    ggnn_words first = ggnn_random(&s->rng, STREAM_EDGES, i, 0), second = ggnn_random(&s->rng, STREAM_EDGES, i, 1);
    double r = (double)(ggnn_draw(second, 0) >> 11) * (1.0 / 9007199254740992.0), share = r * r;
    int64_t citing = 1 + ggnn_bounded(ggnn_draw(first, 0), s->how->nodes - 1);
    int64_t topic = s->group[citing], older;
    uint32_t where = first.word[2];
    if (where >= 3221225472u) /* .75 */
        topic = topic / s->how->classes * s->how->classes + ggnn_bounded(ggnn_draw(second, 1), s->how->classes);
    older = where < 3865470566u ? count_before(s, topic, citing) : 0; /* .9 */
    *u = citing;
    *v = older ? s->member[s->first[topic] + (int64_t)((double)older * share)] : (int64_t)((double)citing * share);
}

/* ---- rmat ----------------------------------------------------------------------------------------------------- */

/* Chakrabarti et al. 2004: which quadrant, level by level, by one word a level. There are 2^levels positions; those
   past the last node fall on u = v = 0 and are so dropped. Ids are shuffled, as degrees follow positions. */
static const uint32_t rmat_a = 2448131359u, rmat_ab = 3264175145u, rmat_abc = 4080218931u; /* .57, .76, .95 of 2^32 */

/* Of candidates first .. first + count - 1, count <= AHEAD. */
enum { AHEAD = 64 };
static void find_positions(const generate_shape* s, int64_t first, int64_t count, int64_t* row, int64_t* column)
{
    ggnn_words words[AHEAD];
    memset(row, 0, (size_t)count * sizeof *row);
    memset(column, 0, (size_t)count * sizeof *column);
    for (int32_t level = 0; level < s->levels; level += 4) {
        int32_t end = s->levels - level < 4 ? s->levels - level : 4;
        ggnn_random_nodes(words, &s->rng, STREAM_EDGES, first, count, (uint32_t)level / 4);
        for (int64_t i = 0; i < count; i++) {
            int32_t r = 0, c = 0;
            for (int32_t k = 0; k < end; k++) {
                uint32_t word = words[i].word[k];
                int32_t second = word >= rmat_ab;
                r = 2 * r + second;
                c = 2 * c + (word >= rmat_a) - second + (word >= rmat_abc);
            }
            row[i] = row[i] << end | r;
            column[i] = column[i] << end | c;
        }
    }
}

static void take_position(const generate_shape* s, int64_t row, int64_t column, int64_t* u, int64_t* v)
{
    bool inside = row < s->how->nodes && column < s->how->nodes;
    *u = inside ? s->order[row] : 0;
    *v = inside ? s->order[column] : 0;
}

static void draw_rmat(const generate_shape* s, int64_t i, int64_t* u, int64_t* v)
{
    int64_t row, column;
    find_positions(s, i, 1, &row, &column);
    take_position(s, row, column, u, v);
}

/* Some at a time, so that the nodes at their positions are fetched side by side. */
static void draw_rmat_many(const generate_shape* s, int64_t first, int64_t count, int64_t* u, int64_t* v)
{
    int64_t row[AHEAD], column[AHEAD];
    for (int64_t begin = 0, some; begin < count; begin += some) {
        some = count - begin < AHEAD ? count - begin : AHEAD;
        find_positions(s, first + begin, some, row, column);
#ifdef __GNUC__
        for (int64_t i = 0; i < some; i++) {
            __builtin_prefetch(s->order + (row[i] < s->how->nodes ? row[i] : 0));
            __builtin_prefetch(s->order + (column[i] < s->how->nodes ? column[i] : 0));
        }
#endif
        for (int64_t i = 0; i < some; i++) take_position(s, row[i], column[i], &u[begin + i], &v[begin + i]);
    }
}

/* ---- the others: no chance ------------------------------------------------------------------------------------ */

static int64_t grid_width(int64_t nodes)
{
    int64_t width = 1;
    while (width * width < nodes) width++;
    return width;
}

/* First the edges along rows, then those between rows. The last row may be shorter. */
static void draw_grid(const generate_shape* s, int64_t i, int64_t* u, int64_t* v)
{
    int64_t width = s->width, along = s->how->nodes - (s->how->nodes + width - 1) / width;
    *u = i < along ? i / (width - 1) * width + i % (width - 1) : i - along;
    *v = i < along ? *u + 1 : *u + width;
}

int64_t generate_fixed_edges(generate_kind kind, int64_t nodes)
{
    int64_t width = grid_width(nodes);
    switch (kind) {
    case KIND_GRID:
        return 2 * (nodes - (nodes + width - 1) / width + nodes - width);
    case KIND_STAR:
    case KIND_PATH:
        return 2 * (nodes - 1);
    case KIND_KARATE:
        return 2 * 78;
    default:
        return -1;
    }
}

void generate_draw(const generate_shape* s, int64_t i, int64_t* u, int64_t* v)
{
    switch (s->how->kind) {
    case KIND_PLANTED:
        draw_planted(s, i, u, v);
        return;
    case KIND_CITATION:
        draw_citation(s, i, u, v);
        return;
    case KIND_RMAT:
        draw_rmat(s, i, u, v);
        return;
    case KIND_GRID:
        draw_grid(s, i, u, v);
        return;
    case KIND_STAR:
    case KIND_PATH:
        *u = s->how->kind == KIND_PATH ? i : 0;
        *v = i + 1;
        return;
    case KIND_KARATE:
        break;
    }
    *u = generate_karate[i % 78][0];
    *v = generate_karate[i % 78][1];
}

void generate_draw_many(const generate_shape* s, int64_t first, int64_t count, int64_t* u, int64_t* v)
{
    if (s->how->kind == KIND_RMAT) {
        draw_rmat_many(s, first, count, u, v);
        return;
    }
    for (int64_t i = 0; i < count; i++) generate_draw(s, first + i, &u[i], &v[i]);
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

/* The node at each position, which a keyed permutation tells. */
static void order_piece(void* context, int64_t piece)
{
    generate_shape* s = context;
    uint64_t key = ggnn_draw(ggnn_random(&s->rng, STREAM_KEYS, 0, 0), 0);
    int64_t end = parallel_begin(s->how->nodes, piece + 1, node_pieces(s));
    for (int64_t p = parallel_begin(s->how->nodes, piece, node_pieces(s)); p < end; p++)
        s->order[p] = (ggnn_node)ggnn_shuffle(key, 0, p, s->how->nodes);
}

static void deal_piece(void* context, int64_t piece)
{
    generate_shape* s = context;
    bool communities = s->how->kind == KIND_PLANTED, karate = s->how->kind == KIND_KARATE;
    int64_t end = parallel_begin(s->how->nodes, piece + 1, node_pieces(s));
    for (int64_t v = parallel_begin(s->how->nodes, piece, node_pieces(s)); v < end; v++) {
        if (communities)
            s->group[s->order[v]] = (int32_t)(v % s->num_groups);
        else if (karate)
            s->group[v] = generate_karate_faction(v);
        else
            s->group[v] = (int32_t)ggnn_draw_below(&s->rng, STREAM_GROUPS, v, 0, s->num_groups);
    }
}

/* Counting sort of the papers by topic: ids, which are times, ascend within each. */
static void sort_by_group(generate_shape* s)
{
    for (int64_t v = 0; v < s->how->nodes; v++) s->first[s->group[v] + 1]++;
    for (int64_t t = 0; t < s->num_groups; t++) s->first[t + 1] += s->first[t];
    for (int64_t v = 0; v < s->how->nodes; v++) s->member[s->first[s->group[v]]++] = (ggnn_node)v;
    for (int64_t t = s->num_groups; t > 0; t--) s->first[t] = s->first[t - 1];
    s->first[0] = 0;
}

static bool is_ordered(generate_kind kind) { return kind == KIND_PLANTED || kind == KIND_RMAT; }

int64_t generate_shape_bytes(const generate_options* how)
{
    bool member = is_ordered(how->kind) || how->kind == KIND_CITATION;
    return how->nodes * ((int64_t)sizeof(int32_t) + (member ? (int64_t)sizeof(ggnn_node) : 0));
}

bool generate_shape_open(generate_shape* s, const generate_options* how, error* why)
{
    bool ordered = is_ordered(how->kind), sorted = how->kind == KIND_CITATION;
    size_t nodes = (size_t)how->nodes;
    memset(s, 0, sizeof *s);
    s->how = how;
    s->rng.seed = how->seed;
    s->rng.purpose = GGNN_PURPOSE_GENERATE;
    s->num_groups = how->classes > 1 ? how->classes : 1;
    if (sorted) s->num_groups *= NUM_FIELDS;
    s->width = grid_width(how->nodes);
    while (how->nodes > (int64_t)1 << s->levels) s->levels++;
    s->group = memory_new(nodes * sizeof s->group[0], "groups", why);
    if (ordered) s->order = memory_new(nodes * sizeof s->order[0], "order", why);
    if (sorted) s->member = memory_new(nodes * sizeof s->member[0], "papers by topic", why);
    if (sorted) s->first = memory_new((size_t)(s->num_groups + 1) * sizeof s->first[0], "topics", why);
    if (!s->group || (ordered && !s->order) || (sorted && (!s->member || !s->first))) {
        generate_shape_close(s);
        return false;
    }
    if (ordered) ggnn_parallel_for(node_pieces(s), order_piece, s);
    ggnn_parallel_for(node_pieces(s), deal_piece, s);
    if (sorted) sort_by_group(s);
    return true;
}

void generate_shape_close(generate_shape* s)
{
    memory_free(s->group);
    memory_free(s->order);
    memory_free(s->member);
    memory_free(s->first);
    memset(s, 0, sizeof *s);
}

/* Zachary 1977, "An information flow model for conflict and fission in small groups": 34 members, 78 ties. Counted
   from 0. Factions are the clubs that the members joined after the split, 0 Mr. Hi's, 1 the officers' (member 8
   joined Mr. Hi although he was with the officers in the conflict): 17 each. */
const uint8_t generate_karate[78][2] = {
    {0, 1},   {0, 2},   {0, 3},   {0, 4},   {0, 5},   {0, 6},   {0, 7},   {0, 8},   {0, 10},  {0, 11},
    {0, 12},  {0, 13},  {0, 17},  {0, 19},  {0, 21},  {0, 31},  {1, 2},   {1, 3},   {1, 7},   {1, 13},
    {1, 17},  {1, 19},  {1, 21},  {1, 30},  {2, 3},   {2, 7},   {2, 8},   {2, 9},   {2, 13},  {2, 27},
    {2, 28},  {2, 32},  {3, 7},   {3, 12},  {3, 13},  {4, 6},   {4, 10},  {5, 6},   {5, 10},  {5, 16},
    {6, 16},  {8, 30},  {8, 32},  {8, 33},  {9, 33},  {13, 33}, {14, 32}, {14, 33}, {15, 32}, {15, 33},
    {18, 32}, {18, 33}, {19, 33}, {20, 32}, {20, 33}, {22, 32}, {22, 33}, {23, 25}, {23, 27}, {23, 29},
    {23, 32}, {23, 33}, {24, 25}, {24, 27}, {24, 31}, {25, 31}, {26, 29}, {26, 33}, {27, 33}, {28, 31},
    {28, 33}, {29, 32}, {29, 33}, {30, 32}, {30, 33}, {31, 32}, {31, 33}, {32, 33}};

int32_t generate_karate_faction(int64_t node)
{
    static const char faction[] = "0000000001000011001010111111111111";
    return faction[node] - '0';
}
