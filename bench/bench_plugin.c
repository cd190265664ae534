/* bench_plugin.c - the kernels of a plug-in (plugin.h): small inputs beside ggnn_reference.h, then the bench's inputs, checked
   beside ggnn's kernels and timed in turns with them. One source for all backends: plugin_host has their memory. */
#include <math.h>
#include <string.h>

#include "bench/cpu.h"
#include "bench/harness.h"
#include "bench/plugin_host.h"
#include "ggnn_reference.h"

enum { ARRAYS = 6, OUTPUTS = 2 };

typedef struct { /* a job, its arrays and their names */
    plugin_kernel kernel;
    plugin_job    job;
    char          what[64];
    plugin_array  array[ARRAYS]; /* inputs */
    int           arrays;
    plugin_array  out[2][OUTPUTS]; /* of the plug-in, of ggnn */
    int           outs;
    ggnn_block    block; /* job.lists on the host, for the reference */
    int64_t       counts[3];
} trial;

enum { THEIRS, OURS };

/* ==== ggnn's kernels, as a plug-in ====================================================================== */

static ggnn_block block_of(const bench_lists* l, int64_t counts[3])
{
    ggnn_block b;
    memset(&b, 0, sizeof b);
    counts[0] = l->targets;
    counts[1] = l->sources;
    counts[2] = l->edges;
    b.num_dst = (ggnn_count){counts, l->targets};
    b.num_src = (ggnn_count){counts + 1, l->sources};
    b.num_edges = (ggnn_count){counts + 2, l->edges};
    b.indptr = (int64_t*)(uintptr_t)l->indptr; /* read, as this block is no output */
    b.indices = (int32_t*)(uintptr_t)l->indices;
    return b;
}

static int32_t our_spmm(const bench_spmm_job* j)
{
    int64_t counts[3];
    const ggnn_block b = block_of(&j->lists, counts);
    ggnn_spmm(j->out, j->width, NULL, j->mean ? GGNN_MEAN : GGNN_SUM, &b, NULL, j->weight, 1, j->inp, j->width, j->width);
    return 0;
}

static int32_t our_sddmm(const bench_sddmm_job* j)
{
    int64_t counts[3];
    const ggnn_block b = block_of(&j->lists, counts);
    ggnn_sddmm(j->out, GGNN_DOT, &b, j->src, j->width, j->dst, j->width, 1, j->width);
    return 0;
}

static int32_t our_gather(const bench_gather_job* j)
{
    const ggnn_store from = ggnn_store_plain(j->table, j->rows, j->width, GGNN_F32);
    return ggnn_gather(j->out, j->width, GGNN_F32, &from, j->id, j->n) == GGNN_OK ? 0 : 1;
}

enum { PIECE = 256, FANOUT = 32 }; /* seeds of a thread at a time; as many edges of a list are drawn side by side */

static void sample_piece(void* context, int64_t piece)
{
    const bench_sample_job* j = context;
    const ggnn_rng rng = {7, j->random, GGNN_PURPOSE_SAMPLE};
    const int64_t first = piece * PIECE, n = j->n - first < PIECE ? j->n - first : PIECE;
    int64_t offset[PIECE * FANOUT], bound[PIECE + 1], key[PIECE] = {0};
    int64_t work[2048]; /* of lists too long to be drawn side by side */
    ggnn_list list[PIECE] = {{NULL, NULL, 0, 0}};
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = key[i] = j->seed[first + i];
        list[i] = (ggnn_list){NULL, NULL, j->lists.indptr[v + 1] - j->lists.indptr[v], 0};
    }
    ggnn_sample_lists(offset, bound, list, key, n, GGNN_FISHER_YATES, j->fanout, &rng, 0, work);
    for (int64_t i = 0; i < n; i++) {
        const int32_t* from = j->lists.indices + j->lists.indptr[key[i]];
        bench_node* to = j->source + (first + i) * j->fanout;
        j->count[first + i] = bound[i + 1] - bound[i];
        for (int64_t k = bound[i]; k < bound[i + 1]; k++) *to++ = from[offset[k]];
    }
}

static int32_t our_sample(const bench_sample_job* j)
{
    if (j->fanout > FANOUT || ggnn_sample_workspace_bytes(GGNN_FISHER_YATES, j->fanout) > 2048 * sizeof(int64_t)) return BENCH_PLUGIN_NONE;
    ggnn_parallel_for((j->n + PIECE - 1) / PIECE, sample_piece, (void*)(uintptr_t)j);
    return 0;
}

static int32_t our_gat(const bench_gat_job* j)
{
    int64_t counts[3];
    ggnn_block b = block_of(&j->lists, counts);
    const ggnn_gat_layer y = {.block = &b, .z = j->z, .ld_z = j->width, .el = (float*)(uintptr_t)j->el,
                              .er = (float*)(uintptr_t)j->er, .out = j->out, .ld_out = j->width, .lse = j->scratch, .heads = j->heads,
                              .width = j->width, .how = {.slope = j->slope}};
    return ggnn_gat(&y) == GGNN_OK ? 0 : 1;
}

const bench_plugin plugin_ours = {BENCH_PLUGIN_VERSION, 0, "ggnn", 0, our_spmm, our_sddmm, our_gather, our_sample, our_gat};

/* ==== trials ============================================================================================ */

static const plugin_host* host_of(const bench* b) { return b->backend->plugins; }

/* One more array of the job; NULL: b->why. */
static plugin_array* add_array(bench* b, trial* t, const char* name, size_t count, size_t each)
{
    plugin_array* a = &t->array[t->arrays++];
    *a = (plugin_array){.name = name, .bytes = count * each};
    return host_of(b)->take(b, a) ? a : NULL;
}

/* Takes an input and fills it from `from`; what kernels see. NULL: b->why. */
static const void* add_copy(bench* b, trial* t, const char* name, const void* from, size_t count, size_t each)
{
    plugin_array* a = add_array(b, t, name, count, each);
    if (!a) return NULL;
    memcpy(a->host, from, a->bytes);
    return host_of(b)->freeze(b, a) ? a->seen : NULL;
}

static const float* add_floats(bench* b, trial* t, const char* name, int64_t count, uint64_t seed)
{
    plugin_array* a = add_array(b, t, name, (size_t)count, sizeof(float));
    if (!a) return NULL;
    bench_fill(a->host, count, seed);
    return host_of(b)->freeze(b, a) ? a->seen : NULL;
}

/* An output of either: of whom, and of what name. */
static bool add_output(bench* b, trial* t, const char* name, size_t count, size_t each)
{
    for (int whose = THEIRS; whose <= OURS; whose++) {
        t->out[whose][t->outs] = (plugin_array){.name = name, .output = true, .bytes = count * each};
        if (!host_of(b)->take(b, &t->out[whose][t->outs])) return false;
    }
    t->outs++;
    return true;
}

static bool add_lists(bench* b, trial* t, bench_lists* l, const ggnn_block* block)
{
    l->targets = *block->num_dst.n;
    l->sources = *block->num_src.n;
    l->edges = *block->num_edges.n;
    l->indptr = add_copy(b, t, "indptr", block->indptr, (size_t)l->targets + 1, sizeof *l->indptr);
    l->indices = l->indptr ? add_copy(b, t, "indices", block->indices, (size_t)l->edges, sizeof *l->indices) : NULL;
    return l->indices != NULL;
}

/* A call, with the outputs of either. */
static int32_t call(bench* b, trial* t, int whose)
{
    const plugin_array* out = t->out[whose];
    plugin_job job = t->job;
    job.where = (bench_where){b->threads, host_of(b)->stream()};
    switch (t->kernel) {
    case PLUGIN_SPMM: job.spmm.out = out[0].seen; break;
    case PLUGIN_SDDMM: job.sddmm.out = out[0].seen; break;
    case PLUGIN_GATHER: job.gather.out = out[0].seen; break;
    case PLUGIN_GAT: job.gat.out = out[0].seen, job.gat.scratch = out[1].seen; break;
    default: job.sample.count = out[0].seen, job.sample.source = out[1].seen; break;
    }
    return plugin_call(whose == OURS ? host_of(b)->ours : plugin_opened(), t->kernel, &job, t->what);
}

/* An input as the host has it. */
static const void* input(const trial* t, const char* name)
{
    for (int i = 0; i < t->arrays; i++)
        if (strcmp(t->array[i].name, name) == 0) return t->array[i].host;
    return NULL;
}

static bool fail(bench* b, const trial* t, const char* text)
{
    return error_set(&b->why, "%s: %s: %s", plugin_opened()->name, t->what, text);
}

/* ==== checks ============================================================================================ */

static bool is_within(float got, float want, double bound)
{
    return memcmp(&got, &want, sizeof got) == 0 || (bound > 0 && fabs((double)got - (double)want) <= bound);
}

/* The plug-in's floats beside what they should be. */
static bool check_floats(bench* b, const trial* t, const float* want)
{
    const plugin_array* out = &t->out[THEIRS][0];
    const float* got = out->host;
    const int64_t n = (int64_t)(out->bytes / sizeof *got);
    const double tolerance = plugin_opened()->tolerance;
    double largest = 0;
    char text[200];
    b->state->num_checks++;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)want[i]));
    for (int64_t i = 0; i < n; i++) {
        if (is_within(got[i], want[i], tolerance * largest)) continue;
        snprintf(text, sizeof text, "out[%lld] is %.9g%s, should be %.9g, %s", (long long)i, (double)got[i],
                 isnan(got[i]) ? " (a NaN, or not written)" : "", (double)want[i],
                 tolerance > 0 ? "within the tolerance" : "to the bit");
        return fail(b, t, text);
    }
    return true;
}

/* Of a sample: as many edges of each seed's list as there should be, none more often than the list has it. */
static bool check_sample(bench* b, const trial* t, int whose)
{
    const bench_sample_job* j = &t->job.sample;
    const bench_node *seed = input(t, "seed"), *source = t->out[whose][1].host;
    const int64_t* count = t->out[whose][0].host;
    char text[160];
    b->state->num_checks++;
    for (int64_t i = 0; i < j->n; i++) {
        const int64_t begin = t->block.indptr[seed[i]], degree = t->block.indptr[seed[i] + 1] - begin;
        const int64_t wanted = degree < j->fanout ? degree : j->fanout;
        const bench_node* row = source + i * j->fanout;
        snprintf(text, sizeof text, "count[%lld] is %lld, should be %lld", (long long)i, (long long)count[i], (long long)wanted);
        if (count[i] != wanted) return fail(b, t, text);
        for (int64_t k = 0; k < wanted; k++) {
            int64_t taken = 0, there = 0;
            for (int64_t e = 0; e < wanted; e++) taken += row[e] == row[k];
            for (int64_t e = 0; e < degree && there < taken; e++) there += t->block.indices[begin + e] == row[k];
            snprintf(text, sizeof text, "source %lld of seed %lld is there %lld times, in the seed's list %lld times",
                     (long long)row[k], (long long)seed[i], (long long)taken, (long long)there);
            if (there < taken) return fail(b, t, text);
        }
    }
    return true;
}

/* What the plug-in's calls write from now on is theirs. */
static bool spoil_outputs(bench* b, trial* t)
{
    bool good = true;
    for (int i = 0; good && i < t->outs; i++) good = host_of(b)->spoil(b, &t->out[THEIRS][i]);
    return good;
}

/* What the plug-in's kernel wrote, and what it did to memory. */
static bool fetch_theirs(bench* b, trial* t)
{
    const plugin_host* h = host_of(b);
    for (int i = 0; i < t->outs; i++)
        if (!h->fetch(b, &t->out[THEIRS][i])) return false;
    plugin_settled();
    for (int i = 0; i < t->arrays + t->outs; i++) {
        const char* harm = h->harm(b, i < t->arrays ? &t->array[i] : &t->out[THEIRS][i - t->arrays]);
        if (harm) return fail(b, t, harm);
        if (b->why.text[0]) return false;
    }
    return true;
}

/* want: what the reference, or ggnn's kernel, has written. */
static bool compare_theirs(bench* b, const trial* t, const float* want)
{
    return t->kernel == PLUGIN_SAMPLE ? check_sample(b, t, THEIRS) : check_floats(b, t, want);
}

/* Runs the plug-in's kernel and looks at its answer. left_out: the job is not for it. */
static bool check_answer(bench* b, trial* t, const float* want, bool* left_out)
{
    char text[64];
    if (!spoil_outputs(b, t)) return false;
    const int32_t status = call(b, t, THEIRS);
    *left_out = status == BENCH_PLUGIN_NONE;
    snprintf(text, sizeof text, "returns error %d", (int)status);
    if (status && !*left_out) return fail(b, t, text);
    return fetch_theirs(b, t) && (*left_out || compare_theirs(b, t, want));
}

/* ==== what each kernel is given ========================================================================= */

typedef struct { /* of a trial's job; what a kernel has not is 0 */
    int32_t width, heads, fanout;
    bool    mean, weighted;
    int64_t n; /* ids, seeds */
} shape;

static bool open_spmm(bench* b, trial* t, const ggnn_block* block, const shape* s)
{
    bench_spmm_job* j = &t->job.spmm;
    snprintf(t->what, sizeof t->what, "%s, F %d", s->weighted ? "weighted sum" : s->mean ? "mean" : "sum", (int)s->width);
    if (!add_lists(b, t, &j->lists, block)) return false;
    j->width = s->width;
    j->mean = s->mean;
    j->inp = add_floats(b, t, "inp", j->lists.sources * s->width, 1);
    if (s->weighted && j->inp) j->weight = add_floats(b, t, "weight", j->lists.edges, 2);
    return !b->why.text[0] && add_output(b, t, "out", (size_t)(j->lists.targets * s->width), sizeof *j->out);
}

static bool open_sddmm(bench* b, trial* t, const ggnn_block* block, const shape* s)
{
    bench_sddmm_job* j = &t->job.sddmm;
    snprintf(t->what, sizeof t->what, "dot, F %d", (int)s->width);
    if (!add_lists(b, t, &j->lists, block)) return false;
    j->width = s->width;
    j->src = add_floats(b, t, "src", j->lists.sources * s->width, 1);
    if (j->src) j->dst = add_floats(b, t, "dst", j->lists.targets * s->width, 2);
    return !b->why.text[0] && add_output(b, t, "out", (size_t)j->lists.edges, sizeof *j->out);
}

/* An input of n ids at random, each below a bound. NULL: b->why. */
static const bench_node* add_ids(bench* b, trial* t, const char* name, int64_t n, int64_t below)
{
    uint64_t state = 17;
    plugin_array* a = add_array(b, t, name, (size_t)n, sizeof(bench_node));
    bench_node* id = a ? a->host : NULL;
    for (int64_t i = 0; a && i < n; i++) id[i] = (bench_node)(bench_random(&state) % (uint64_t)below);
    return a && host_of(b)->freeze(b, a) ? a->seen : NULL;
}

static bool open_gather(bench* b, trial* t, const ggnn_block* block, const shape* s)
{
    bench_gather_job* j = &t->job.gather;
    snprintf(t->what, sizeof t->what, "%lld rows, F %d", (long long)s->n, (int)s->width);
    j->n = s->n;
    j->width = s->width;
    j->rows = *block->num_src.n;
    j->id = add_ids(b, t, "id", s->n, j->rows);
    if (j->id) j->table = add_floats(b, t, "table", j->rows * s->width, 1);
    return !b->why.text[0] && add_output(b, t, "out", (size_t)(s->n * s->width), sizeof *j->out);
}

static bool open_sample(bench* b, trial* t, const ggnn_block* block, const shape* s)
{
    bench_sample_job* j = &t->job.sample;
    snprintf(t->what, sizeof t->what, "%lld seeds, fanout %d", (long long)s->n, (int)s->fanout);
    if (!add_lists(b, t, &j->lists, block)) return false;
    j->n = s->n;
    j->fanout = s->fanout;
    j->seed = add_ids(b, t, "seed", s->n, j->lists.targets);
    return !b->why.text[0] && add_output(b, t, "count", (size_t)s->n, sizeof *j->count) &&
           add_output(b, t, "source", (size_t)(s->n * s->fanout), sizeof *j->source);
}

static bool open_gat(bench* b, trial* t, const ggnn_block* block, const shape* s)
{
    bench_gat_job* j = &t->job.gat;
    snprintf(t->what, sizeof t->what, "%d heads of %d", (int)s->heads, (int)(s->width / s->heads));
    if (!add_lists(b, t, &j->lists, block)) return false;
    j->heads = s->heads;
    j->width = s->width;
    j->slope = .2f;
    j->z = add_floats(b, t, "z", j->lists.sources * s->width, 1);
    if (j->z) j->el = add_floats(b, t, "el", j->lists.sources * s->heads, 2);
    if (j->el) j->er = add_floats(b, t, "er", j->lists.targets * s->heads, 3);
    return !b->why.text[0] && add_output(b, t, "out", (size_t)(j->lists.targets * s->width), sizeof *j->out) &&
           add_output(b, t, "scratch", (size_t)(j->lists.targets * s->heads), sizeof *j->scratch);
}

static bool open_trial(bench* b, trial* t, plugin_kernel k, const ggnn_block* block, const shape* s)
{
    static bool (*const open[])(bench*, trial*, const ggnn_block*, const shape*) = {open_spmm, open_sddmm, open_gather,
                                                                                    open_sample, open_gat};
    memset(t, 0, sizeof *t);
    t->kernel = k;
    t->block = *block;
    return open[k](b, t, block, s);
}

/* By ggnn_reference.h, on the host. */
static void refer(const trial* t, float* want, float* scratch)
{
    const bench_spmm_job* s = &t->job.spmm;
    const bench_sddmm_job* d = &t->job.sddmm;
    const bench_gather_job* g = &t->job.gather;
    const bench_gat_job* a = &t->job.gat;
    const ggnn_store table = ggnn_store_plain(input(t, "table"), g->rows, g->width, GGNN_F32);
    if (t->kernel == PLUGIN_SPMM)
        ggnn_ref_spmm(want, s->width, NULL, s->mean ? GGNN_MEAN : GGNN_SUM, &t->block, NULL, input(t, "weight"), 1, input(t, "inp"),
                      s->width, s->width);
    else if (t->kernel == PLUGIN_SDDMM)
        ggnn_ref_sddmm(want, GGNN_DOT, &t->block, input(t, "src"), d->width, input(t, "dst"), d->width, 1, d->width);
    else if (t->kernel == PLUGIN_GATHER)
        ggnn_ref_gather(want, g->width, GGNN_F32, &table, input(t, "id"), g->n);
    else if (t->kernel == PLUGIN_GAT) {
        ggnn_block block = t->block;
        const ggnn_gat_layer y = {.block = &block, .z = input(t, "z"), .ld_z = a->width, .el = (float*)(uintptr_t)input(t, "el"),
                                  .er = (float*)(uintptr_t)input(t, "er"), .out = want, .ld_out = a->width, .lse = scratch,
                                  .heads = a->heads, .width = a->width, .how = {.slope = a->slope}};
        ggnn_ref_gat(&y);
    }
}

/* ==== small trials ====================================================================================== */

enum { SMALL = 63, SMALL_SOURCES = 90 };

/* Lists of no edge, of few, and of more than the 256 of a segment. */
static bool small_lists(bench* b, ggnn_block* block, int64_t counts[3])
{
    static const int64_t degree[] = {0, 1, 2, 3, 7, 0, 31, 256, 257, 5, 700, 16};
    uint64_t state = 5;
    int64_t* indptr = bench_new(b, (SMALL + 1) * sizeof *indptr, "offsets");
    if (!indptr) return false;
    for (int64_t v = 0; v < SMALL; v++) indptr[v + 1] = indptr[v] + degree[(size_t)v % (sizeof degree / sizeof *degree)];
    int32_t* indices = bench_new(b, (size_t)indptr[SMALL] * sizeof *indices, "edges");
    for (int64_t e = 0; indices && e < indptr[SMALL]; e++) indices[e] = (int32_t)(bench_random(&state) % SMALL_SOURCES);
    const bench_lists lists = {SMALL, SMALL_SOURCES, indptr[SMALL], indptr, indices};
    *block = block_of(&lists, counts);
    return indices != NULL;
}

static bool try_small(bench* b, plugin_kernel k, const ggnn_block* block, const shape* s)
{
    trial t;
    bool left_out;
    const int32_t mark = bench_mark(b);
    if (!open_trial(b, &t, k, block, s)) return false;
    float* want = bench_new(b, t.out[OURS][0].bytes, "the reference's answer");
    float* scratch = bench_new(b, t.out[OURS][t.outs - 1].bytes, "the reference's scratch");
    if (!want || !scratch) return false;
    refer(&t, want, scratch);
    snprintf(t.what + strlen(t.what), sizeof t.what - strlen(t.what), ", small");
    const bool good = check_answer(b, &t, want, &left_out);
    if (good) bench_release(b, mark);
    return good;
}

/* Of 12 neighbours 5 are drawn, 20,000 times. Each should come as often, and each pair. */
enum { DRAWS = 20000, LIST = 12, TAKEN = 5 };

/* The chance that such counts come of even draws is below 1e-9 where the sum is above the bound: of chi-square with LIST - 1
   degrees of freedom, for draws without replacement. Pairs are each within six deviations. */
static bool check_counts(bench* b, const trial* t, const int64_t single[LIST], const int64_t pair[LIST][LIST])
{
    const double p = (double)TAKEN / LIST, both = p * (TAKEN - 1) / (LIST - 1), bound = 67.7;
    double sum = 0;
    char text[128];
    for (int i = 0; i < LIST; i++) {
        const double off = (double)single[i] - DRAWS * p;
        sum += off * off / (DRAWS * p * (1 - p)) * (LIST - 1) / LIST;
        for (int k = 0; k < i; k++)
            if (fabs((double)pair[i][k] - DRAWS * both) > 6 * sqrt(DRAWS * both * (1 - both))) {
                snprintf(text, sizeof text, "neighbours %d and %d are drawn together %lld times, of even draws %.0f", k, i,
                         (long long)pair[i][k], DRAWS * both);
                return fail(b, t, text);
            }
    }
    snprintf(text, sizeof text, "neighbours are not drawn evenly: chi-square %.1f, at most %.1f", sum, bound);
    return sum <= bound || fail(b, t, text);
}

static bool count_draws(bench* b, trial* t)
{
    int64_t single[LIST] = {0}, pair[LIST][LIST] = {{0}};
    const bench_node* source = t->out[THEIRS][1].host;
    for (int64_t i = 0; i < DRAWS; i++)
        for (int k = 0; k < TAKEN; k++) {
            const bench_node u = source[i * TAKEN + k] % LIST;
            single[u]++;
            for (int e = 0; e < TAKEN; e++) pair[u][source[i * TAKEN + e] % LIST]++;
        }
    return check_counts(b, t, single, (const int64_t(*)[LIST])pair);
}

/* Target i's neighbours are 12 i to 12 i + 11, so that modulo 12 they say which was drawn. */
static bool try_evenness(bench* b)
{
    trial t;
    ggnn_block block;
    int64_t counts[3];
    const int32_t mark = bench_mark(b);
    int64_t* indptr = bench_new(b, (DRAWS + 1) * sizeof *indptr, "offsets");
    int32_t* indices = bench_new(b, DRAWS * LIST * sizeof *indices, "edges");
    if (!indptr || !indices) return false;
    for (int64_t v = 0; v <= DRAWS; v++) indptr[v] = v * LIST;
    for (int32_t e = 0; e < DRAWS * LIST; e++) indices[e] = e;
    const bench_lists lists = {DRAWS, DRAWS * LIST, DRAWS * LIST, indptr, indices};
    block = block_of(&lists, counts);
    const shape s = {.n = DRAWS, .fanout = TAKEN};
    bool left_out = false, good = open_trial(b, &t, PLUGIN_SAMPLE, &block, &s);
    bench_node* first = good ? bench_new(b, t.out[THEIRS][1].bytes, "a sample") : NULL;
    for (uint32_t random = 0; good && first && random < 2 && !left_out; random++) {
        t.job.sample.random = random;
        good = check_answer(b, &t, NULL, &left_out) && (left_out || count_draws(b, &t));
        if (random == 0) memcpy(first, t.out[THEIRS][1].host, t.out[THEIRS][1].bytes);
        else if (good && memcmp(first, t.out[THEIRS][1].host, t.out[THEIRS][1].bytes) == 0)
            good = fail(b, &t, "another `random` gives the same sample");
    }
    if (good && first) bench_release(b, mark);
    return good && first;
}

static bool try_small_ones(bench* b, plugin_kernel k)
{
    static const int32_t width[] = {1, 4, 17, 32, 100};
    ggnn_block block;
    int64_t counts[3];
    if (!small_lists(b, &block, counts)) return false;
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
        shape s = {.width = width[i], .heads = 1, .n = SMALL - (int64_t)i, .fanout = width[i] < 32 ? width[i] : 32};
        if (!try_small(b, k, &block, &s)) return false;
        s.mean = true;
        if (k == PLUGIN_SPMM && !try_small(b, k, &block, &s)) return false;
        s.mean = false;
        s.weighted = true;
        if (k == PLUGIN_SPMM && !try_small(b, k, &block, &s)) return false;
        s.heads = 3;
        s.width *= 3;
        if (k == PLUGIN_GAT && !try_small(b, k, &block, &s)) return false;
    }
    return k != PLUGIN_SAMPLE || try_evenness(b);
}

/* ==== trials that are timed ============================================================================= */

typedef struct {
    bench* b;
    trial* t;
    int whose;
} timed;

static void run_timed(void* context)
{
    timed* r = context;
    const int32_t status = call(r->b, r->t, r->whose);
    char text[64];
    snprintf(text, sizeof text, "returns error %d", (int)status);
    if (status) fail(r->b, r->t, text);
}

/* What the roofs are asked for: bytes by the minimal model. */
static bool demand(bench* b, bench_case* c, const trial* t, const shape* s)
{
    const double targets = (double)*t->block.num_dst.n, n = (double)s->n;
    const double out[] = {4 * targets * s->width, 4 * targets * s->width, 0, 0, 4 * targets * (s->width + s->heads)};
    c->unit = t->kernel == PLUGIN_GATHER ? "rows" : t->kernel == PLUGIN_SAMPLE ? "seeds" : "edges";
    c->work = n;
    c->bytes = n * (8. * s->width + sizeof(bench_node)); /* of a gather */
    if (t->kernel == PLUGIN_SAMPLE) c->bytes = n * (16 + 8 + sizeof(bench_node) * (1. + s->fanout) + 4. * s->fanout);
    const flops_of sum = s->weighted ? FLOPS_WEIGHTED : s->mean ? FLOPS_MEAN : FLOPS_SUM;
    const flops_of math = t->kernel == PLUGIN_GAT ? FLOPS_GAT : t->kernel == PLUGIN_SDDMM ? FLOPS_DOT : sum;
    if (t->kernel != PLUGIN_GATHER && t->kernel != PLUGIN_SAMPLE &&
        !cpu_demand_rows(b, c, &t->block, math, s->width, s->heads, out[t->kernel],
                         t->kernel == PLUGIN_SDDMM || s->weighted ? 4 : 0))
        return false;
    memset(c->demand, 0, sizeof c->demand);
    c->demand[0] = (bench_demand){"copy", 0, c->bytes};
    return true;
}

static bool check_beside_ours(bench* b, trial* t, bool* left_out)
{
    if (call(b, t, OURS) != 0) return fail(b, t, "is nothing that ggnn's kernel does");
    for (int i = 0; i < t->outs; i++)
        if (!host_of(b)->fetch(b, &t->out[OURS][i])) return false;
    if (t->kernel == PLUGIN_SAMPLE && !check_sample(b, t, OURS)) return false;
    return check_answer(b, t, t->out[OURS][0].host, left_out);
}

/* The answer of the last turn. Ours is that of before. */
static bool check_after_turns(void* context)
{
    const timed* r = context;
    return fetch_theirs(r->b, r->t) && compare_theirs(r->b, r->t, r->t->out[OURS][0].host);
}

static bool measure_trial(bench* b, plugin_kernel k, const ggnn_block* block, const shape* s)
{
    trial t;
    char text[128];
    bool left_out;
    const int32_t mark = bench_mark(b);
    if (!open_trial(b, &t, k, block, s) || !check_beside_ours(b, &t, &left_out)) return false;
    if (!left_out) {
        timed run[2] = {{b, &t, THEIRS}, {b, &t, OURS}};
        bench_case c = {.run = run_timed, .context = &run[OURS]}, theirs;
        if (!demand(b, &c, &t, s) || !spoil_outputs(b, &t)) return false;
        theirs = c;
        snprintf(c.what, sizeof c.what, "%s", t.what);
        snprintf(theirs.what, sizeof theirs.what, "%.50s: %.24s", t.what, plugin_opened()->name);
        theirs.context = &run[THEIRS];
        if (!bench_turns(b, &theirs, &c, "ggnn's", check_after_turns)) return false;
    } else {
        snprintf(text, sizeof text, "%.63s: %.32s leaves it out", t.what, plugin_opened()->name);
        bench_say(b, text);
    }
    bench_release(b, mark);
    return true;
}

static bool run_kernel(bench* b, plugin_kernel k)
{
    ggnn_block block;
    int64_t counts[3];
    const int32_t heads = b->o.heads ? (int32_t)b->o.heads : 4;
    if (!try_small_ones(b, k) || !cpu_block_of_run(b, &block, counts)) return false;
    shape s = {.width = b->o.features ? (int32_t)b->o.features : 32, .heads = heads, .mean = true, .fanout = 10};
    const int64_t most = b->o.quick ? 1 << 12 : 1 << 19, rows = k == PLUGIN_SAMPLE ? *block.num_dst.n : *block.num_src.n;
    s.n = b->o.own ? b->o.rows : most < rows ? most : rows;
    if (b->o.own && b->o.degree <= FANOUT) s.fanout = (int32_t)b->o.degree;
    if (k == PLUGIN_GAT && !b->o.features) s.width = 32 * heads;
    if (k == PLUGIN_GAT && s.width % heads)
        return error_set(&b->why, "--heads %d: must divide --features %d", (int)heads, (int)s.width);
    if (k == PLUGIN_GAT && *block.num_src.n < *block.num_dst.n)
        return error_set(&b->why, "--sources: a target attends to itself, so at least --rows");
    if (!measure_trial(b, k, &block, &s)) return false;
    if (k == PLUGIN_SAMPLE || k == PLUGIN_GAT || b->o.features || b->o.quick) return true;
    s.width = 128;
    if (!measure_trial(b, k, &block, &s)) return false;
    s.mean = false;
    s.weighted = true;
    return k != PLUGIN_SPMM || measure_trial(b, k, &block, &s);
}

static bool plugin_spmm(bench* b) { return run_kernel(b, PLUGIN_SPMM); }
static bool plugin_sddmm(bench* b) { return run_kernel(b, PLUGIN_SDDMM); }
static bool plugin_gather(bench* b) { return run_kernel(b, PLUGIN_GATHER); }
static bool plugin_sample(bench* b) { return run_kernel(b, PLUGIN_SAMPLE); }
static bool plugin_gat(bench* b) { return run_kernel(b, PLUGIN_GAT); }

const bench_entry plugin_entries[PLUGIN_KERNELS] = {
    {"spmm", "sums of neighbours' rows, in turns with ggnn's", plugin_spmm, true, false},
    {"sddmm", "a dot per edge, in turns with ggnn's", plugin_sddmm, true, false},
    {"gather", "rows by id, in turns with ggnn's", plugin_gather, true, false},
    {"sample", "neighbours without replacement, in turns with ggnn's", plugin_sample, true, false},
    {"gat", "graph attention, in turns with ggnn's", plugin_gat, true, false}};
