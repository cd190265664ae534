#include "generate.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "common/resources.h"
#include "datasets/writer.h"

enum { PIECES = 64, MAX_JUDGED = 20000, WORTH_SAYING = 16 << 20 }; /* bytes */

/* ---- options -------------------------------------------------------------------------------------------------- */

static const struct {
    int64_t nodes, degree, features, classes; /* degree 0: the number of edges follows from that of nodes */
    double separation;
} standard[] = {
    {20000, 20, 32, 8, 1.5},   /* planted */
    {100000, 12, 64, 16, 1.5}, /* citation */
    {65536, 16, 64, 16, 4},    /* rmat */
    {10000, 0, 0, 0, 4},       /* grid */
    {1000, 0, 0, 0, 4},        /* star */
    {1000, 0, 0, 0, 4},        /* path */
    {34, 0, 34, 2, 1.5},       /* karate */
};

static bool complete_edges(generate_options* how, error* why)
{
    long long n = how->nodes, fixed = generate_fixed_edges(how->kind, n), most = n * (n - 1); /* n < 2^31 */
    if (fixed >= 0 && how->directed)
        return error_set(why, "--directed: this kind has every edge in both directions");
    if (fixed >= 0 && how->edges >= 0 && how->edges != fixed)
        return error_set(why, "--edges %lld: %lld nodes of this kind have %lld edges", (long long)how->edges, n,
                         fixed);
    if (fixed >= 0) how->edges = fixed;
    if (how->edges < 0)
        how->edges = standard[how->kind].degree * n < most / 2 ? standard[how->kind].degree * n : most / 4 * 2;
    if (how->edges % 2 && !how->directed)
        return error_set(why, "--edges %lld: must be even, as every edge has its reverse", (long long)how->edges);
    if (how->edges > most)
        return error_set(why, "--edges %lld: %lld nodes have at most %lld", (long long)how->edges, n, most);
    return true;
}

bool generate_complete(generate_options* how, error* why)
{
    if (how->kind == KIND_KARATE && how->train > 0)
        return error_set(why, "--train: karate's two leaders train");
    if (how->train_by == TRAIN_PROPORTIONAL && (how->kind == KIND_KARATE || how->kind == KIND_CITATION))
        return error_set(why, how->kind == KIND_KARATE ? "--train-by proportional: karate's two leaders train"
                                                       : "--train-by proportional: of citation the earliest papers train");
    if (how->kind == KIND_KARATE && (how->nodes >= 0 || how->features >= 0 || how->classes >= 0))
        return error_set(why,
                         "karate has 34 nodes, 34 features, 2 classes: --nodes, --features, --classes do not apply");
    if (how->nodes < 0) how->nodes = standard[how->kind].nodes;
    if (how->features < 0) how->features = standard[how->kind].features;
    if (how->classes < 0) how->classes = standard[how->kind].classes;
    if (how->separation < 0) how->separation = standard[how->kind].separation;
    if (how->nodes < 1 || how->nodes > INT32_MAX)
        return error_set(why, "--nodes %lld: must be between 1 and %ld", (long long)how->nodes, (long)INT32_MAX);
    if (how->classes > how->nodes || how->classes > DATASET_MAX_CLASSES)
        return error_set(why, "--classes %lld: more than the nodes (%lld) or than %d", (long long)how->classes,
                         (long long)how->nodes, DATASET_MAX_CLASSES);
    if ((how->kind == KIND_PLANTED || how->kind == KIND_CITATION) && how->classes < 1)
        return error_set(why, "--classes 0: this kind is made of classes");
    return complete_edges(how, why);
}

/* ---- labels --------------------------------------------------------------------------------------------------- */

typedef struct {
    const generate_shape* shape;
    const ggnn_lists* lists;
    int32_t* label;
    int32_t* count; /* (PIECES, num_groups) zeros between nodes */
} label_job;

/* The most frequent group among a node's neighbours, its own where it has none; of several, the first from its own
   on, cyclically, so that no group is preferred. So labels need the graph, in kinds that know no communities. */
static int32_t majority(const label_job* job, int64_t v, int32_t* count)
{
    const int32_t* group = job->shape->group;
    const ggnn_node* source = job->lists->indices + job->lists->indptr[v];
    int64_t degree = job->lists->indptr[v + 1] - job->lists->indptr[v];
    int32_t groups = (int32_t)job->shape->num_groups, own = group[v], best = own;
    for (int64_t i = 0; i < degree; i++) count[group[source[i]]]++;
    for (int64_t i = 0; i < degree; i++) {
        int32_t g = group[source[i]];
        bool nearer = (g - own + groups) % groups < (best - own + groups) % groups;
        if (count[g] > count[best] || (count[g] == count[best] && nearer)) best = g;
    }
    for (int64_t i = 0; i < degree; i++) count[group[source[i]]] = 0;
    return best;
}

static void label_piece(void* context, int64_t piece)
{
    label_job* job = context;
    const generate_shape* s = job->shape;
    int64_t nodes = s->how->nodes, end = parallel_begin(nodes, piece + 1, PIECES);
    for (int64_t v = parallel_begin(nodes, piece, PIECES); v < end; v++) {
        if (job->count)
            job->label[v] = majority(job, v, job->count + piece * s->num_groups);
        else
            job->label[v] = s->group[v] < s->how->classes ? s->group[v] : -1; /* citation: only field 0 is labelled */
    }
}

static bool write_labels(ggnn_file_writer* w, const generate_shape* s, const ggnn_lists* lists, int32_t** label,
                         error* why)
{
    label_job job = {s, lists, NULL, NULL};
    bool drawn = s->how->kind == KIND_PLANTED || s->how->kind == KIND_CITATION || s->how->kind == KIND_KARATE;
    *label = NULL;
    if (s->how->classes == 0) return true;
    *label = job.label = ggnn_file_reserve(w, "label", GGNN_FILE_I32, 1, &s->how->nodes);
    if (!job.label) return error_set(why, "%s", w->error);
    if (!drawn) {
        job.count =
            memory_new(memory_product(PIECES, (size_t)s->num_groups, sizeof job.count[0]), "counts of groups", why);
        if (!job.count) return false;
    }
    ggnn_parallel_for(PIECES, label_piece, &job);
    memory_free(job.count);
    return true;
}

/* ---- features ------------------------------------------------------------------------------------------------- */

typedef struct { /* rows of nodes or of edges: a mean of their group's and normal noise */
    const generate_shape* shape;
    float* rows;        /* (num_rows, width) */
    float* mean;        /* (num_groups, width) */
    int64_t num_rows, width;
    const ggnn_node* node; /* (num_rows) whose group a row is of; NULL: the row's number */
    int32_t stream;
    int64_t begin, end; /* rows of this round */
} feature_job;

static void feature_piece(void* context, int64_t piece)
{
    feature_job* job = context;
    const generate_shape* s = job->shape;
    int64_t width = job->width, count = job->end - job->begin;
    int64_t end = job->begin + parallel_begin(count, piece + 1, PIECES);
    for (int64_t i = job->begin + parallel_begin(count, piece, PIECES); i < end; i++) {
        int64_t v = job->node ? (int64_t)job->node[i] : i;
        generate_row(job->rows + i * width, width, job->mean + s->group[v] * width, &s->rng, job->stream, i);
    }
}

/* In rounds, between which the progress bar moves. */
static void draw_features(feature_job* job, const char* what)
{
    int64_t round = 1 << 14;
    progress bar;
    progress_begin(&bar, what, "rows", job->num_rows);
    for (job->begin = 0; job->begin < job->num_rows; job->begin = job->end) {
        job->end = job->begin + round < job->num_rows ? job->begin + round : job->num_rows;
        ggnn_parallel_for(PIECES, feature_piece, job);
        progress_update(&bar, job->end);
    }
    progress_end(&bar, job->num_rows, false);
}

/* Group means are normal too, `separation` long in the mean square. To be freed by the caller. */
static float* new_means(const generate_shape* s, int64_t width, int32_t stream, error* why)
{
    float scale = (float)(s->how->separation / sqrt((double)width));
    float* mean = memory_new(memory_product((size_t)s->num_groups, (size_t)width, sizeof(float)), "means", why);
    for (int64_t g = 0; mean && g < s->num_groups; g++) {
        generate_row(mean + g * width, width, NULL, &s->rng, stream, g);
        for (int64_t i = 0; i < width; i++) mean[g * width + i] *= scale;
    }
    return mean;
}

/* mean: to be freed by the caller; NULL where there are none. karate's features are the identity. */
static bool write_features(ggnn_file_writer* w, const generate_shape* s, float** feat, float** mean, error* why)
{
    const int64_t dim[2] = {s->how->nodes, s->how->features};
    feature_job job = {.shape = s, .num_rows = dim[0], .width = dim[1], .stream = STREAM_FEATURES};
    *feat = *mean = NULL;
    if (dim[1] == 0) return true;
    *feat = job.rows = ggnn_file_reserve(w, "feat", GGNN_FILE_F32, 2, dim);
    if (!job.rows) return error_set(why, "%s", w->error);
    if (s->how->kind == KIND_KARATE) {
        for (int64_t v = 0; v < dim[0]; v++) job.rows[v * dim[1] + v] = 1;
        return true;
    }
    *mean = job.mean = new_means(s, dim[1], STREAM_MEANS, why);
    if (!job.mean) return false;
    draw_features(&job, "drawing features");
    return true;
}

/* The row of edge u -> v is of u's group, as a row of u's features is, by means of their own: it tells v more of u. */
static bool write_edge_features(ggnn_file_writer* w, const generate_shape* s, const ggnn_lists* lists, error* why)
{
    const int64_t dim[2] = {lists->num_edges, s->how->edge_features};
    feature_job job = {.shape = s, .num_rows = dim[0], .width = dim[1], .node = lists->indices, .stream = STREAM_EDGE_FEATURES};
    if (dim[1] == 0) return true;
    job.rows = ggnn_file_reserve(w, "edge_feat", GGNN_FILE_F32, 2, dim);
    if (!job.rows) return error_set(why, "%s", w->error);
    job.mean = new_means(s, dim[1], STREAM_EDGE_MEANS, why);
    if (!job.mean) return false;
    draw_features(&job, "drawing edges' features");
    memory_free(job.mean);
    return true;
}

/* ---- split ---------------------------------------------------------------------------------------------------- */

/* How many of so many labelled nodes train; whole is the kind's own number. One at least. */
static int64_t train_count(const generate_options* how, int64_t labelled, int64_t whole)
{
    int64_t count = how->train > 0 ? (int64_t)(how->train * (double)labelled + .5) : whole;
    return how->train > 0 && count < 1 ? labelled > 0 : count;
}

/* Of planted, rmat, grid, star, path. The others test. */
static int64_t val_count(const generate_options* how, int64_t train)
{
    return how->train > 0 ? (how->nodes - train) / 2 : how->nodes / 4;
}

static uint64_t split_key(const generate_shape* s) { return ggnn_draw(ggnn_random(&s->rng, STREAM_KEYS, 1, 0), 0); }

/* Half for training, or the share asked for, half of the others each to validate and to test, by a keyed
   permutation. */
typedef struct {
    uint8_t* split;
    const generate_shape* shape;
} split_job;

static void split_piece(void* context, int64_t piece)
{
    const split_job* job = context;
    const generate_shape* s = job->shape;
    uint64_t key = split_key(s);
    int64_t nodes = s->how->nodes, end = parallel_begin(nodes, piece + 1, PIECES);
    int64_t train = train_count(s->how, nodes, nodes / 2), val = val_count(s->how, train);
    for (int64_t i = parallel_begin(nodes, piece, PIECES); i < end; i++) {
        int64_t v = ggnn_shuffle(key, 0, i, nodes);
        job->split[v] = i < train ? SPLIT_TRAIN : i < train + val ? SPLIT_VAL : SPLIT_TEST;
    }
}

/* Bytes of split_by_in_degree. */
static int64_t draw_bytes(const generate_options* how)
{
    const int64_t nodes = how->nodes, most = train_count(how, nodes, nodes / 2);
    if (how->train_by != TRAIN_PROPORTIONAL) return 0;
    return nodes * (int64_t)sizeof(float) + (most + 1) * (int64_t)sizeof(int64_t) + (int64_t)ggnn_sample_workspace_bytes(GGNN_WEIGHTED, most + 1);
}

/* As many train, drawn as the weighted sampler draws from one list of all nodes; the others by the same permutation. */
static bool split_by_in_degree(uint8_t* split, const generate_shape* s, const ggnn_lists* lists, error* why)
{
    const int64_t nodes = s->how->nodes, most = train_count(s->how, nodes, nodes / 2);
    float* degree = memory_new(memory_product((size_t)nodes, sizeof *degree, 1), "degrees", why);
    int64_t* train = memory_new(memory_product((size_t)most + 1, sizeof *train, 1), "nodes that train", why);
    void* work = memory_new(ggnn_sample_workspace_bytes(GGNN_WEIGHTED, most + 1), "draws of nodes that train", why);
    const bool good = degree && train && work;
    if (good) {
        const ggnn_list all = {.weight = degree, .degree = nodes};
        for (int64_t v = 0; v < nodes; v++) degree[v] = (float)(lists->indptr[v + 1] - lists->indptr[v]);
        const int64_t count = ggnn_sample_list(train, &all, GGNN_WEIGHTED, most, &s->rng, STREAM_TRAIN, 0, work);
        for (int64_t i = 0; i < count; i++) split[train[i]] = SPLIT_TRAIN;
        int64_t val = val_count(s->how, count);
        for (int64_t i = 0; i < nodes; i++) {
            const int64_t v = ggnn_shuffle(split_key(s), 0, i, nodes);
            if (split[v] == SPLIT_NONE) split[v] = val-- > 0 ? SPLIT_VAL : SPLIT_TEST;
        }
    }
    memory_free(work);
    memory_free(train);
    memory_free(degree);
    return good;
}

/* As ogbn-papers100M: the labelled nodes in time order, 78% to train, 8% to validate, the latest to test. Of what
   another share leaves, as much goes to each as there. */
static void split_by_time(uint8_t* split, const int32_t* label, const generate_options* how)
{
    int64_t nodes = how->nodes, labelled = 0, seen = 0, train, val;
    for (int64_t v = 0; v < nodes; v++) labelled += label[v] >= 0;
    train = train_count(how, labelled, (labelled * 78 + 99) / 100);
    val = how->train > 0 ? train + (labelled - train) * 8 / 22 : (labelled * 86 + 99) / 100;
    for (int64_t v = 0; v < nodes; v++) {
        if (label[v] < 0) continue;
        split[v] = seen < train ? SPLIT_TRAIN : seen < val ? SPLIT_VAL : SPLIT_TEST;
        seen++;
    }
}

/* As Kipf and Welling's example: the two leaders are known. Every fourth of the others validates. */
static void split_karate(uint8_t* split, int64_t nodes)
{
    for (int64_t v = 1; v < nodes - 1; v++) split[v] = v % 4 ? SPLIT_TEST : SPLIT_VAL;
    split[0] = split[nodes - 1] = SPLIT_TRAIN;
}

static bool write_split(ggnn_file_writer* w, const generate_shape* s, const ggnn_lists* lists, const int32_t* label,
                        int64_t count[4], uint8_t** split, error* why)
{
    const int64_t dim[2] = {1, s->how->nodes};
    *split = NULL;
    if (!label) return true;
    *split = ggnn_file_reserve(w, "split", GGNN_FILE_U8, 2, dim);
    if (!*split) return error_set(why, "%s", w->error);
    if (s->how->kind == KIND_CITATION)
        split_by_time(*split, label, s->how);
    else if (s->how->kind == KIND_KARATE)
        split_karate(*split, s->how->nodes);
    else if (s->how->train_by == TRAIN_PROPORTIONAL && !split_by_in_degree(*split, s, lists, why))
        return false;
    else if (s->how->train_by == TRAIN_EVENLY)
        ggnn_parallel_for(PIECES, split_piece, &(split_job){*split, s});
    for (int64_t v = 0; v < s->how->nodes; v++) count[(*split)[v]]++;
    return true;
}

/* ---- what features alone can do ------------------------------------------------------------------------------- */

typedef struct {
    const generate_shape* shape;
    const float *feat, *mean;
    const int32_t* label;
    const uint8_t* split;
    int64_t stride;
    int64_t judged[PIECES], right[PIECES];
} judge_job;

static void judge_piece(void* context, int64_t piece)
{
    judge_job* job = context;
    int64_t nodes = job->shape->how->nodes, width = job->shape->how->features, classes = job->shape->how->classes;
    int64_t end = parallel_begin(nodes, piece + 1, PIECES), seen = 0;
    for (int64_t v = parallel_begin(nodes, piece, PIECES); v < end; v++) {
        if (job->split[v] != SPLIT_TEST || seen++ % job->stride) continue;
        job->judged[piece]++;
        job->right[piece] += generate_nearest(job->feat + v * width, job->mean, classes, width) == job->label[v];
    }
}

/* The nearest of the labelled groups' means, over all test nodes or, of many, evenly some. Where a label is a
   majority of groups, the node's own group is still the best guess of it, by symmetry between the groups. The section
   features_only, f64 (1), keeps the result with the data, so that a trainer can print it beside its own. */
static bool judge_features(ggnn_file_writer* w, judge_job* job, generate_report* report, error* why)
{
    const int64_t one = 1;
    int64_t right = 0;
    report->features_only = NAN;
    if (!job->mean || !job->split || report->count[SPLIT_TEST] == 0) return true;
    job->stride = (report->count[SPLIT_TEST] + MAX_JUDGED - 1) / MAX_JUDGED;
    ggnn_parallel_for(PIECES, judge_piece, job);
    for (int piece = 0; piece < PIECES; piece++) {
        report->judged += job->judged[piece];
        right += job->right[piece];
    }
    report->features_only = (double)right / (double)report->judged;
    return ggnn_file_append(w, "features_only", GGNN_FILE_F64, 1, &one, &report->features_only) ||
           error_set(why, "%s", w->error);
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static bool write_all(edge_lists* l, const generate_shape* s, int64_t bytes, generate_report* report, error* why)
{
    ggnn_file_writer* w = l->out;
    int32_t* label = NULL;
    float *feat = NULL, *mean = NULL;
    uint8_t* split = NULL;
    judge_job job;
    bool good = generate_edges(l, s, bytes, why);
    if (good) edge_lists_close(l); /* its memory is needed no more; the lists stay */
    good = good && write_features(w, s, &feat, &mean, why) && write_edge_features(w, s, &l->lists, why) &&
           write_labels(w, s, &l->lists, &label, why) && write_split(w, s, &l->lists, label, report->count, &split, why);
    if (good) {
        memset(&job, 0, sizeof job);
        job.shape = s;
        job.feat = feat;
        job.mean = mean;
        job.label = label;
        job.split = split;
        good = judge_features(w, &job, report, why);
    }
    memory_free(mean);
    return good;
}

/* For candidates beyond the first: a quarter of the edges, as long as that is no more than an eighth of the memory.
   Nothing where all edges are known. */
static int64_t candidate_bytes(const generate_options* how, int64_t memory)
{
    int64_t most = how->edges / 8 * 17 + (2 << 20);
    if (generate_fixed_edges(how->kind, how->nodes) >= 0) return 0;
    return most < memory / 8 ? most : memory / 8;
}

/* Of the file, beside the lists. */
static int64_t row_bytes(const generate_options* how)
{
    size_t of_edges = memory_product((size_t)how->edges, (size_t)how->edge_features, sizeof(float));
    int64_t most = INT64_MAX / 2, of_nodes = how->nodes * (how->features * (int64_t)sizeof(float) + (how->classes ? 5 : 0));
    return of_edges < (size_t)most ? of_nodes + (int64_t)of_edges : most;
}

static bool generate_into(ggnn_file_writer* w, const generate_options* how, generate_report* report, error* why)
{
    int64_t memory = resources_memory_or(how->memory), bytes = candidate_bytes(how, memory);
    edge_lists_options options = {
        .in = w->path,
        .num_nodes = how->nodes,
        .expected = how->directed ? how->edges : how->edges / 2,
        .most = how->directed ? 2 * how->edges : how->edges, /* as each of the first may be replaced by one more */
        .more_bytes = row_bytes(how),
        .memory = memory,
        .held_bytes = bytes + generate_shape_bytes(how) + draw_bytes(how),
        .distinct = true,
        .both = !how->directed,
        .drop_loops = true,
    };
    edge_lists l;
    generate_shape s;
    if (!edge_lists_open(&l, &options, w, why)) return false;
    if (how->report && l.takes >= WORTH_SAYING) fprintf(how->report, "%s: takes %s\n", w->path, l.plan);
    bool good = generate_shape_open(&s, how, why);
    if (good) {
        good = write_all(&l, &s, bytes, report, why);
        generate_shape_close(&s);
    }
    edge_lists_close(&l);
    return good;
}

bool generate(const char* out, const generate_options* how, generate_report* report, error* why)
{
    ggnn_file_writer w;
    bool good;
    memset(report, 0, sizeof *report);
    report->num_nodes = how->nodes;
    report->num_edges = how->edges;
    report->num_features = how->features;
    report->num_edge_features = how->edge_features;
    report->num_classes = how->classes;
    good = writer_begin(&w, out) || error_set(why, "%s", w.error);
    good = good && generate_into(&w, how, report, why);
    if (good) good = ggnn_file_commit(&w) || error_set(why, "%s", w.error);
    writer_end(&w);
    return good;
}
