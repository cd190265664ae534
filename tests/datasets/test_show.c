/* ggnn-data sample: what it prints is what ggnn_sample gives, and its trace is what the samplers did. */
#include <stdlib.h>

#include "datasets/dataset.h"
#include "ggnn_reference.h"
#include "tests/methods.h"
#include "tests/random_graph.h"
#include "tests/test.h"
#include "tests/tool.h"

static char target[600];

/* The numbers of the array `key` that comes first after `from` in what the tool printed. Returns how many. */
static int numbers(const char* from, const char* key, double* value, int max)
{
    char quoted[64];
    int n = 0;
    snprintf(quoted, sizeof quoted, "\"%s\": [", key);
    const char* at = from ? strstr(from, quoted) : NULL;
    if (!at) return -1;
    for (at += strlen(quoted); n < max && *at != ']'; at += strspn(at, ", \n")) {
        char* end;
        at += strspn(at, " \n");
        if (*at == ']') break;
        value[n++] = strtod(at, &end);
        if (end == at) return -1;
        at = end;
    }
    return n;
}

#define GGNN_X(method, number, name, traits) name,
static const char* const samplers[] = {GGNN_METHODS(GGNN_X)};
#undef GGNN_X
enum { SAMPLERS = GGNN_NUM_METHODS, MANY = 2000 };

static void sample(const char* sampler, const char* options)
{
    char line[2048];
    snprintf(line, sizeof line, "sample %s --sampler %s %s", target, sampler, options);
    CHECK_EQ(run("", line), 0);
}

static void check_ids(const char* from, const char* key, const ggnn_node* wanted, int64_t n)
{
    static double got[MANY];
    CHECK_EQ(numbers(from, key, got, MANY), n);
    for (int64_t i = 0; i < n && i < MANY; i++) CHECK_EQ((int64_t)got[i], (int64_t)wanted[i]);
}

TEST(sample_prints_the_batch_that_the_library_gives)
{
    static double got[MANY];
    dataset d;
    error why = {""};
    if (!CHECK(dataset_open(&d, target, &why))) return;
    for (int s = 0; s < SAMPLERS; s++) {
        ggnn_graph g = dataset_graph(&d);
        ggnn_sampling how = {(ggnn_method)s, 2, {3, 2}, 0, GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS, {4, 3, .5f}, 0, {0}, {0}};
        ggnn_rng rng = {7, 5, GGNN_PURPOSE_SAMPLE};
        const ggnn_node seeds[] = {33, 0, 33, 5};
        ggnn_batch b;
        CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 4, NULL), GGNN_OK);
        CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 4), GGNN_OK);
        sample(samplers[s], "--seeds 33,0,33,5 --fanout 3,2 --seed 7 --step 5 --json");
        const char* at = printed("out");
        check_ids(at, "seeds", seeds, 4);
        check_ids(at, "id", b.id, *b.hop[1].num_src.n);
        for (int h = 0; h < 2; h++) {
            at = strstr(at, "\"num_dst\"");
            CHECK_EQ(numbers(at, "indices", got, MANY), *b.hop[h].num_edges.n);
            for (int64_t e = 0; e < *b.hop[h].num_edges.n; e++) CHECK_EQ((int32_t)got[e], b.hop[h].indices[e]);
            check_ids(at, "neighbor", b.hop[h].neighbor, *b.hop[h].num_edges.n);
            at = strstr(at, "\"repeats\"");
        }
        free(b.workspace);
    }
    dataset_close(&d);
}

/* ---- all that is printed ---------------------------------------------------------------------------------------- */

static char weighted[600]; /* another graph: random, with weights */

static void make_weighted(void)
{
    random_graph* r = random_graph_new(60, 4, 50);
    const int64_t rows = 61;
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, folder_path(weighted, "weighted.ggnn")) &&
          ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, r->indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &r->num_edges, r->indices) &&
          ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &r->num_edges, r->weight) && ggnn_file_commit(&w));
    random_graph_free(r);
}

typedef struct { /* a command line, and what it means */
    const char*      options;
    int32_t          seeds;
    ggnn_node        seed[4];
    int32_t          hops, fanout[4], global;
    ggnn_walks       walk;
    uint64_t         key;
    uint32_t         step;
    ggnn_unique_kind kind;
} meant;

static const meant lines[] = {
    {"--seeds 33,0,33,5 --fanout 3,2 --seed 7 --step 5", 4, {33, 0, 33, 5}, 2, {3, 2}, 0, {4, 3, .5f}, 7, 5, GGNN_UNIQUE_DIRECT},
    {"--seeds 0 --fanout=-1 --table hash", 1, {0}, 1, {-1}, 0, {4, 3, .5f}, 1, 0, GGNN_UNIQUE_HASH},
    {"--seeds 17,24 --fanout 1 --table hash", 2, {17, 24}, 1, {1}, 0, {4, 3, .5f}, 1, 0, GGNN_UNIQUE_HASH}, /* both have the last slot's hash */
    {"--seeds 5,2 --fanout 2,0,3,2 --last-hop-global --table auto", 2, {5, 2}, 4, {2, 0, 3, 2}, 1, {4, 3, .5f}, 1, 0, GGNN_UNIQUE_DIRECT},
    {"--seeds 2,33 --fanout 4,5 --walks 7 --length 2 --restart .25 --table hash --seed 4294967298 --last-hop-global", 2, {2, 33}, 2,
     {4, 5}, 1, {7, 2, .25f}, (UINT64_C(1) << 32) + 2, 0, GGNN_UNIQUE_HASH},
    {"--seeds 1,3,33 --fanout 20,1 --walks 1 --length 5 --restart 1 --table direct", 3, {1, 3, 33}, 2, {20, 1}, 0, {1, 5, 1}, 1,
     0, GGNN_UNIQUE_DIRECT},
    {"--seeds 33 --fanout 1,9,1 --walks 2 --restart 0 --table hash --step 1073741823", 1, {33}, 3, {1, 9, 1}, 0, {2, 3, 0}, 1,
     (1 << 30) - 1, GGNN_UNIQUE_HASH},
    {"--seeds 17,24 --fanout 1 --table hash", 2, {17, 24}, 1, {1}, 0, {4, 3, .5f}, 1, 0, GGNN_UNIQUE_HASH}}; /* one lies behind the last slot: in the first */
enum { LINES = sizeof lines / sizeof *lines };

static bool as_json, is_first;
static int depth; /* in JSON */

static void expect_key(const char* name)
{
    expect("%s\n%*s", is_first ? "" : ",", 2 * depth, "");
    if (name) expect("\"%s\": ", name);
    is_first = false;
}
static void expect_open(const char* name, const char* bracket)
{
    expect_key(name);
    expect("%s", bracket);
    depth++;
    is_first = true;
}
static void expect_close(const char* bracket)
{
    depth--;
    expect("\n%*s%s", 2 * depth, "", bracket);
    is_first = false;
}
static void expect_int(const char* name, int64_t value)
{
    expect_key(name);
    expect("%lld", (long long)value);
}
static void expect_value(int64_t i, const char* json, const char* text)
{
    if (as_json) expect("%s%s", i ? ", " : "", json);
    else expect(" %s", text);
}
static void expect_array(const char* name)
{
    if (as_json) expect_key(name);
    expect(as_json ? "[" : "    %-8s", name);
}
static void expect_array_end(void) { expect(as_json ? "]" : "\n"); }

static void expect_ints(const char* name, const int64_t* value, int64_t n)
{
    expect_array(name);
    for (int64_t i = 0; i < n; i++) {
        char json[32], text[32];
        snprintf(json, sizeof json, "%lld", (long long)value[i]);
        snprintf(text, sizeof text, "%4lld", (long long)value[i]);
        expect_value(i, json, text);
    }
    expect_array_end();
}
static void expect_nodes(const char* name, const ggnn_node* value, int64_t n)
{
    int64_t wide[MANY];
    for (int64_t i = 0; i < n; i++) wide[i] = value[i];
    expect_ints(name, wide, n);
}
static void expect_locals(const char* name, const int32_t* value, int64_t n)
{
    int64_t wide[MANY];
    for (int64_t i = 0; i < n; i++) wide[i] = value[i];
    expect_ints(name, wide, n);
}
/* Numbers as the shortest text that reads back equal. */
static void expect_reals(const char* name, const double* value, int64_t n, bool narrow)
{
    expect_array(name);
    for (int64_t i = 0; i < n; i++) {
        char json[40], text[40];
        for (int digits = 1; digits < 18; digits++) {
            snprintf(json, sizeof json, "%.*g", digits, value[i]);
            if (narrow ? strtof(json, NULL) == (float)value[i] : strtod(json, NULL) == value[i]) break;
        }
        snprintf(text, sizeof text, "%4.2f", value[i]);
        expect_value(i, isfinite(value[i]) ? json : "null", text);
    }
    expect_array_end();
}

static void expect_hops(const ggnn_batch* b)
{
    if (as_json) expect_open("hops", "[");
    for (int32_t h = 0; h < b->num_hops; h++) {
        const ggnn_block* hop = &b->hop[h];
        const int64_t targets = *hop->num_dst.n, sources = *hop->num_src.n, edges = *hop->num_edges.n;
        if (as_json) {
            double weight[MANY];
            for (int64_t e = 0; e < edges; e++) weight[e] = (double)hop->weight[e];
            expect_open(NULL, "{");
            expect_int("num_dst", targets);
            expect_int("num_src", sources);
            expect_int("num_edges", edges);
            expect_ints("indptr", hop->indptr, targets + 1);
            if (hop->indices) expect_locals("indices", hop->indices, edges);
            expect_nodes("neighbor", hop->neighbor, edges);
            expect_ints("position", hop->position, edges);
            expect_reals("weight", weight, edges, true);
            if (hop->repeats) expect_locals("repeats", hop->repeats, sources);
            expect_close("}");
            continue;
        }
        expect("\nhop %d: %lld targets, %lld sources, %lld edges\n  local      node  sampled: node(local)@position%s\n", h,
               (long long)targets,
               (long long)sources, (long long)edges, method_has((int)b->how.method, GGNN_METHOD_WALKS) ? " or *visits" : "");
        for (int64_t v = 0; v < targets; v++) {
            expect("  %5lld %9lld ", (long long)v, (long long)b->id[v]);
            for (int64_t e = hop->indptr[v]; e < hop->indptr[v + 1]; e++) {
                expect(" %lld", (long long)hop->neighbor[e]);
                if (hop->indices) expect("(%d)", hop->indices[e]);
                if (method_has((int)b->how.method, GGNN_METHOD_WALKS)) expect("*%d", (int)hop->weight[e]);
                else expect("@%lld", (long long)hop->position[e]);
            }
            expect("\n");
        }
    }
    if (as_json) expect_close("]");
}

/* ---- its trace */

static void expect_round(void* unused, int32_t round, const ggnn_ref_path* work, int32_t m)
{
    char name[16];
    (void)unused;
    if (round == 0) {
        expect_ints("s", work->s, m);
        expect_locals("p", work->p, m);
        expect_locals("q", work->q, m);
    }
    snprintf(name, sizeof name, "chain%d", round);
    expect_locals(name, work->chain, m);
}

/* The draws, each bounded as its method says, until there are m of n edges. */
static int64_t draws_of(int64_t* draw, const ggnn_rng* rng, ggnn_method method, int32_t h, ggnn_node v, int64_t m, int64_t n)
{
    int64_t count = 0, distinct = 0;
    const int64_t wanted = method == GGNN_RESERVOIR ? n - m : m;
    while (method == GGNN_REJECTION ? distinct < m : count < wanted) {
        int64_t bound = n, i = 0;
        if (method == GGNN_FISHER_YATES || method == GGNN_PATH_DOUBLING) bound = n - count;
        if (method == GGNN_RESERVOIR) bound = m + count + 1;
        draw[count] = ggnn_draw_below(rng, h, v, count, bound);
        while (draw[i] != draw[count]) i++;
        distinct += i == count++;
    }
    return count;
}

static void expect_target(const ggnn_graph* g, const ggnn_batch* b, const ggnn_rng* rng, int32_t h, int64_t local)
{
    static ggnn_ref_path work;
    const ggnn_block* hop = &b->hop[h];
    const ggnn_node v = b->id[local];
    const ggnn_list list = ggnn_neighbors(g, v);
    const ggnn_method method = b->how.method;
    const int64_t m = b->how.fanout[h], n = list.degree, taken = hop->indptr[local + 1] - hop->indptr[local];
    const bool drawn = m > 0 && (n > m || method_has((int)method, GGNN_METHOD_REPEATS));
    const bool walks = method_has((int)method, GGNN_METHOD_WALKS), whole = !walks && m != 0 && !drawn;
    int64_t draw[MANY] = {0}, offset[MANY];
    double key[MANY];
    if (as_json) {
        expect_open(NULL, "{");
        expect_int("hop", h);
        expect_int("node", v);
        expect_int("degree", n);
        expect_key("whole");
        expect(whole ? "true" : "false");
    } else {
        expect("  hop %d, node %lld, degree %lld%s\n", h, (long long)v, (long long)n, whole ? ": taken whole" : "");
    }
    if (walks) {
        ggnn_node visited[MANY], bad;
        ggnn_random_walk(visited, g, &b->how.walk, rng, h, v, &bad);
        expect_nodes("visited", visited, b->how.walk.walks * b->how.walk.length);
    } else if (drawn && n > 0) {
        for (int64_t i = 0; i < n; i++)
            key[i] = (double)ggnn_neg_log2(ggnn_draw(ggnn_random(rng, h, v, (uint32_t)(i / 2)),
                                                     i)) / 1099511627776.0 / (list.weight ? (double)list.weight[i] : 1);
        if (method == GGNN_WEIGHTED) expect_reals("key", key, n, false);
        else expect_ints("draw", draw, draws_of(draw, rng, method, h, v, m, n));
        if (method == GGNN_PATH_DOUBLING) ggnn_ref_path_doubling(offset, &work, draw, n, (int32_t)m, expect_round, NULL);
        for (int64_t i = 0; i < taken; i++) offset[i] = hop->position[hop->indptr[local] + i] - g->whole.indptr[v];
        expect_ints("offset", offset, taken);
    }
    if (as_json) expect_close("}");
}

/* Slots are taken in the order of local ids: the first that is free from an id's home on. */
static void expect_table(const ggnn_batch* b, ggnn_unique_kind kind, int64_t numbered)
{
    const ggnn_unique* seen = ggnn_unique_init(malloc(ggnn_unique_bytes(kind, b->num_nodes, b->max_ids)), kind, b->num_nodes, b->max_ids);
    bool* taken = calloc((size_t)seen->mask + 1, sizeof *taken);
    if (as_json) expect_open("table", "[");
    else expect("\n%s\n  local      node first at%s\n", kind == GGNN_UNIQUE_HASH ? "hash table" : "direct map",
                kind == GGNN_UNIQUE_HASH ? "    home    slot" : "");
    for (int64_t i = 0; i < numbered; i++) {
        const uint64_t home = ggnn_hash(b->id[i], seen->mask);
        uint64_t slot = home;
        int64_t first = 0, before = *b->num_seeds.n;
        while (first < before && b->seed_local[first] != i) first++;
        for (int32_t h = 0; first == before && h < b->num_hops; h++) {
            const ggnn_block* hop = &b->hop[h];
            for (int64_t e = 0; e < *hop->num_edges.n && hop->neighbor[e] != b->id[i]; e++) first++;
            before += *hop->num_edges.n;
        }
        for (; kind == GGNN_UNIQUE_HASH && taken[slot]; slot = (slot + 1) & seen->mask) {}
        if (kind == GGNN_UNIQUE_HASH) taken[slot] = true;
        if (as_json) {
            expect_open(NULL, "{");
            expect_int("local", i);
            expect_int("node", b->id[i]);
            expect_int("first", first);
            if (kind == GGNN_UNIQUE_HASH) expect_int("home", (int64_t)home);
            if (kind == GGNN_UNIQUE_HASH) expect_int("slot", (int64_t)slot);
            expect_close("}");
        } else {
            expect("  %5lld %9lld %8lld", (long long)i, (long long)b->id[i], (long long)first);
            if (kind == GGNN_UNIQUE_HASH) expect(" %7llu %7llu", (unsigned long long)home, (unsigned long long)slot);
            expect("\n");
        }
    }
    if (as_json) expect_close("]");
    free(taken);
    free((void*)(uintptr_t)seen);
}

static void expect_trace(const ggnn_graph* g, const ggnn_batch* b, const ggnn_rng* rng, ggnn_unique_kind kind)
{
    const ggnn_block* last = &b->hop[b->num_hops - 1];
    if (as_json) expect_open("trace", "[");
    else expect("\ndraws, and what the sampler made of them\n");
    for (int32_t h = 0; h < b->num_hops; h++)
        for (int64_t v = 0; v < *b->hop[h].num_dst.n; v++) expect_target(g, b, rng, h, v);
    if (as_json) expect_close("]");
    expect_table(b, kind, b->how.last_hop_global ? *last->num_dst.n : *last->num_src.n);
}

static void expect_sample(const ggnn_graph* g, const meant* line, int sampler, bool traced)
{
    const ggnn_rng rng = {line->key, line->step, GGNN_PURPOSE_SAMPLE};
    ggnn_sampling how = {(ggnn_method)sampler, line->hops, {0}, line->global, GGNN_KEEP_ALL & ~GGNN_KEEP_TRANSPOSES, line->walk,
                         0, {0}, {0}};
    ggnn_batch b;
    memcpy(how.fanout, line->fanout, sizeof line->fanout);
    CHECK_EQ(ggnn_batch_new(&b, g, &how, line->seeds), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, g, &rng, line->seed, line->seeds), GGNN_OK);
    expect(as_json ? "{" : NULL);
    is_first = true;
    depth = 1;
    expect_nodes("seeds", line->seed, line->seeds);
    expect_locals(as_json ? "seed_local" : "local", b.seed_local, line->seeds);
    if (as_json) expect_nodes("id", b.id, *b.hop[b.num_hops - 1].num_src.n);
    expect_hops(&b);
    if (traced) expect_trace(g, &b, &rng, line->kind);
    if (as_json) {
        expect_close("}");
        expect("\n");
    }
    ggnn_batch_free(&b);
}

/* Each sampler, by each line, of a graph without weights or of one with them; as text, as JSON; with its trace. */
TEST(sample_prints_the_batch_and_its_trace_and_nothing_else)
{
    dataset d[2];
    error why = {""};
    if (!CHECK(dataset_open(&d[0], target, &why) && dataset_open(&d[1], weighted, &why))) return;
    for (int s = 0; s < SAMPLERS; s++)
        for (int i = 0; i < LINES; i++)
            for (int form = (s + i) % 2; form < 4; form += 2) { /* text and JSON, or their traces */
                const int with = (s + i / 2 + (method_has(s, GGNN_METHOD_WEIGHS) && form > 1)) % 2;
                const ggnn_graph g = dataset_graph(&d[with]);
                char command[2048];
                as_json = form / 2;
                snprintf(command, sizeof command, "sample %s --sampler %s %s %s %s", with ? weighted : target, samplers[s],
                         lines[i].options,
                         form % 2 ? "--trace" : "", as_json ? "--json" : "");
                CHECK_EQ(run("", command), 0);
                expect(NULL);
                expect_sample(&g, &lines[i], s, form % 2);
                if (!CHECK(prints_what_is_expected())) printf("  %s\n", command);
            }
    dataset_close(&d[0]);
    dataset_close(&d[1]);
}

TEST(sample_refuses_what_cannot_be_meant)
{
    static const struct {
        const char* options;
        int code;
        const char* words;
    } of[] = {{"--fanout 2", 2, "ggnn-data: sample: --seeds and --fanout are needed, the latter for 1 to 8 hops\n"},
              {"--seeds 2", 2, "ggnn-data: sample: --seeds and --fanout are needed, the latter for 1 to 8 hops\n"},
              {"--seeds 2 --fanout 1,1,1,1,1,1,1,1,1", 2,
               "ggnn-data: sample: --seeds and --fanout are needed, the latter for 1 to 8 hops\n"},
              {"--seeds 2,34 --fanout 1", 1, "ggnn-data: --seeds: node 34 is not in [0, 34)\n"},
              {"--seeds 2 --fanout 1 --table tree", 2, "--table tree: not one of auto|direct|hash"},
              {"--seeds 2 --fanout 1 --sampler walks", 2,
               "--sampler walks: not one of fisher-yates|path-doubling|rejection|reservoir|weighted|replacement|walk"},
              {"--seeds 2 --fanout 1 --sampler walks", 2, "; is walk meant?"}};
    char line[2048];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        snprintf(line, sizeof line, "sample %s %s", target, of[i].options);
        CHECK_EQ(run("", line), of[i].code);
        CHECK(prints("err", of[i].words) && !printed("out")[0]);
    }
    snprintf(line, sizeof line, "sample %s --seeds 33,0 --fanout 1,1,1,1,1,1,1,1", target);
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "\nhop 7: ") && !printed("err")[0]);
    for (int with = 0; with < 2; with++)
        for (int s = 0; s < SAMPLERS; s++) { /* weights that are asked for and not there */
            snprintf(line, sizeof line, "sample %s --seeds 0 --fanout 1 --sampler %s", with ? weighted : target, samplers[s]);
            CHECK_EQ(run("", line), 0);
            snprintf(line, sizeof line, "ggnn-data: warning: --sampler %s: %s has no edge weights (section 'weight'): all neighbours are as likely\n",
                     samplers[s], target);
            CHECK_STR(printed("err"), !with && method_has(s, GGNN_METHOD_WEIGHS) ? line : "");
        }
}

/* Lists of more than 4,096 draws, keys or steps have a row without them. */
TEST(a_trace_leaves_out_what_is_too_long_to_look_at)
{
    static const struct {
        const char *options, *key;
        int many;
    } of[] = {{"--sampler replacement --fanout 4096", "draw", 4096}, {"--sampler replacement --fanout 4097", "draw", -1},
              {"--sampler reservoir --fanout 903", "draw", 4096},    {"--sampler reservoir --fanout 902", "draw", -1},
              {"--sampler weighted --fanout 9", "key", -1},          {"--sampler walk --walks 64 --length 64 --fanout 1", "visited", 4096},
              {"--sampler walk --walks 17 --length 241 --fanout 1", "visited", -1},
              {"--sampler reservoir --fanout 4096", "offset", 4096}, {"--sampler reservoir --fanout 4097", "offset", -1},
              {"--sampler reservoir --fanout 4998", "draw", 1}};
    static double value[5000];
    char star[600], line[1400];
    snprintf(line, sizeof line, "generate star %s --nodes 5000", folder_path(star, "large.ggnn"));
    CHECK_EQ(run("", line), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        snprintf(line, sizeof line, "sample %s --seeds 0 %s --trace --json 2>%s/err | sed -n '/\"trace\"/,/\"table\"/p'", star,
                 of[i].options, folder);
        CHECK_EQ(run("", line), 0);
        CHECK_EQ(numbers(printed("out"), of[i].key, value, 5000), of[i].many);
        CHECK(prints("out", "\"degree\": 4999"));
        if (of[i].many < 0 || strstr(of[i].options, "4998")) CHECK_EQ(numbers(printed("out"), "offset", value, 5000), -1);
    }
    snprintf(line, sizeof line, "generate star %s --nodes 1026", star); /* the last of 1,025 is drawn late */
    CHECK_EQ(run("", line), 0);
    for (int fanout = 512; fanout <= 1024; fanout += 512) {
        snprintf(line, sizeof line, "sample %s --seeds 0 --sampler rejection --fanout %d --trace --json | sed -n '/\"trace\"/,/\"table\"/p'", star, fanout);
        CHECK_EQ(run("", line), 0);
        CHECK_EQ(numbers(printed("out"), "draw", value, 5000) > fanout, fanout == 512);
        CHECK_EQ(numbers(printed("out"), "offset", value, 5000), fanout == 512 ? 512 : -1);
    }
}

/* Node 0's list is the first in the graph's edge order, so that positions are offsets. */
TEST(a_trace_holds_the_draws_and_the_offsets_that_were_sampled)
{
    static double draw[MANY], offset[MANY], position[MANY];
    FOR_METHODS_OF_LISTS(s) {
        sample(samplers[s], "--seeds 0 --fanout 4 --seed 3 --trace --json");
        const char* trace = strstr(printed("out"), "\"trace\"");
        int n = numbers(trace, s == GGNN_WEIGHTED ? "key" : "draw", draw, MANY), distinct = 0;
        CHECK_EQ(numbers(printed("out"), "position", position, MANY), 4);
        CHECK_EQ(numbers(trace, "offset", offset, MANY), 4);
        for (int i = 0; i < 4; i++) CHECK_EQ((int)offset[i], (int)position[i]);
        CHECK_EQ(n, s == GGNN_WEIGHTED ? 16 : s == GGNN_RESERVOIR ? 12 : s == GGNN_REJECTION ? n : 4);
        if (s == GGNN_REPLACEMENT)
            for (int i = 0; i < 4; i++) CHECK_EQ((int)draw[i], (int)offset[i]);
        for (int i = 0; s == GGNN_REJECTION && i < n; i++) { /* the distinct draws in order, and none after the last */
            int before = 0;
            while (before < i && (int)draw[before] != (int)draw[i]) before++;
            if (before == i) CHECK_EQ((int)draw[i], (int)offset[distinct++]);
        }
        if (s == GGNN_REJECTION) CHECK_EQ(distinct, 4);
        for (int i = 0; s == GGNN_WEIGHTED && i < 16; i++) /* no key below the greatest taken is left out */
            if (draw[i] < draw[(int)offset[3]]) {
                int at = 0;
                while (at < 3 && (int)offset[at] != i) at++;
                CHECK(at < 3);
            }
    }
    sample("walk", "--seeds 0 --fanout 2 --trace --json");
    CHECK_EQ(numbers(strstr(printed("out"), "\"trace\""), "visited", draw, MANY), 12);
}

/* Up to GGNN_FANOUT_MAX draws are the method's own, above it the reservoir's: one for each edge beyond the fanout. */
TEST(a_trace_of_the_largest_fanout_shows_the_draws_that_made_the_sample)
{
    static double draw[4 * MANY], offset[MANY], position[MANY];
    char star[600], line[1024];
    snprintf(line, sizeof line, "generate star %s --nodes 3000", folder_path(star, "star.ggnn"));
    CHECK_EQ(run("", line), 0);
    for (int fanout = GGNN_FANOUT_MAX; fanout <= GGNN_FANOUT_MAX + 1; fanout++) {
        snprintf(line, sizeof line, "sample %s --sampler fisher-yates --seeds 0 --fanout %d --trace --json", star, fanout);
        CHECK_EQ(run("", line), 0);
        const char* trace = strstr(printed("out"), "\"trace\"");
        CHECK_EQ(numbers(trace, "draw", draw, 4 * MANY), fanout == GGNN_FANOUT_MAX ? fanout : 2999 - fanout);
        CHECK_EQ(numbers(trace, "offset", offset, MANY), fanout);
        CHECK_EQ(numbers(printed("out"), "position", position, MANY), fanout);
        for (int i = 0; i < fanout; i++) CHECK_EQ((int)offset[i], (int)position[i]);
        snprintf(line, sizeof line, "sample %s --sampler path-doubling --seeds 0 --fanout %d --trace --json | grep -E '\"(position|draw|s|chain0|offset)\": '",
                 star, fanout);
        CHECK_EQ(run("", line), 0);
        trace = printed("out");
        CHECK_EQ(numbers(trace, "draw", draw, 4 * MANY), fanout == GGNN_FANOUT_MAX ? fanout : 2999 - fanout);
        CHECK_EQ(numbers(trace, "s", draw, 4 * MANY), fanout == GGNN_FANOUT_MAX ? fanout : -1);
        CHECK_EQ(numbers(trace, "chain0", draw, 4 * MANY), fanout == GGNN_FANOUT_MAX ? fanout : -1);
        CHECK_EQ(numbers(trace, "offset", offset, MANY), fanout);
        CHECK_EQ(numbers(printed("out"), "position", position, MANY), fanout);
        for (int i = 0; i < fanout; i++) CHECK_EQ((int)offset[i], (int)position[i]);
    }
}

TEST(a_trace_shows_path_doublings_rounds)
{
    static double s[MANY], p[MANY], q[MANY], chain[MANY];
    sample("path-doubling", "--seeds 0 --fanout 9 --trace --json");
    const char* trace = strstr(printed("out"), "\"trace\"");
    CHECK_EQ(numbers(trace, "s", s, MANY), 9);
    CHECK_EQ(numbers(trace, "p", p, MANY), 9);
    CHECK_EQ(numbers(trace, "q", q, MANY), 9);
    for (int i = 0; i < 9; i++) CHECK_EQ((int)q[(int)p[i]], i);
    for (int i = 1; i < 9; i++) CHECK(s[i - 1] <= s[i]);
    CHECK_EQ(numbers(trace, "chain4", chain, MANY), 9); /* ceil(log2 9) rounds */
    CHECK_EQ(numbers(trace, "chain5", chain, MANY), -1);
}

TEST(a_trace_says_what_was_taken_whole_and_shows_the_table)
{
    sample("fisher-yates", "--seeds 11,0 --fanout 3 --trace --table hash");
    CHECK(prints("out", "node 11, degree 1: taken whole"));
    CHECK(prints("out", "hash table"));
    sample("fisher-yates", "--seeds 11,0 --fanout 3 --trace --table direct");
    CHECK(prints("out", "direct map"));
    sample("fisher-yates", "--seeds 11 --fanout 3");
    CHECK(prints("out", "node(local)@position"));
    CHECK(!strstr(printed("out"), "draws"));
}

/* Of append-unique's input: the seeds, then the neighbours of every hop. */
TEST(a_traces_table_says_where_in_the_input_each_node_came_first)
{
    static double input[MANY], first[MANY];
    const char* at;
    sample("fisher-yates", "--seeds 16,0,16 --fanout 2,2,3 --seed 3 --trace --table direct --json");
    at = printed("out");
    int n = numbers(at, "seeds", input, MANY), count = 0, last_hop = 0;
    for (int h = 0; h < 3; h++) {
        at = strstr(at, "\"num_dst\"") + 1;
        last_hop = n;
        n += numbers(at, "neighbor", input + n, MANY - n);
    }
    for (at = strstr(at, "\"table\": ["); (at = strstr(at, "\"node\": ")); count++) {
        const double node = strtod(at + 8, NULL);
        at = strstr(at, "\"first\": ");
        first[count] = strtod(at + 9, NULL);
        int wanted = 0;
        while (wanted < n && input[wanted] != node) wanted++;
        CHECK_EQ((int)first[count], wanted);
    }
    CHECK(count > 8 && first[0] == 0 && first[1] == 1 && first[count - 1] >= last_hop);
}

/* The CUDA header's mini-batch is the C header's: every word that is printed of it. */
static void prints_what_the_cpu_prints(const char* backend)
{
    static const char* const options[] = {
        "--seeds 33,0,5,0 --fanout 3,2 --json",
        "--seeds 0,33 --fanout -1,0,2 --table hash --trace --json --step 9",
        "--seeds 11 --fanout 5,4,3 --last-hop-global --table direct --json --seed 8",
    };
    char line[400], *wanted;
    for (int s = 0; s < SAMPLERS; s++)
        for (int i = 0; i < 3; i++) {
            sample(samplers[s], options[i]);
            wanted = strdup(printed("out"));
            CHECK(strlen(wanted) > 100);
            snprintf(line, sizeof line, "%s --backend %s", options[i], backend);
            sample(samplers[s], line);
            if (!CHECK(strcmp(printed("out"), wanted) == 0)) printf("  %s %s\n", samplers[s], options[i]);
            free(wanted);
        }
}

static int built(const char* suffix)
{
    char sibling[640];
    snprintf(sibling, sizeof sibling, "%s%s", tool, suffix);
    return access(sibling, X_OK) == 0;
}

TEST(the_emulated_device_prints_what_the_cpu_prints)
{
    if (!built("-emulated")) SKIP("make emulated builds it");
    prints_what_the_cpu_prints("cuda-emulated");
}

TEST(the_gpu_prints_what_the_cpu_prints)
{
    char line[1024];
    if (!built("-cuda")) SKIP("make gpu builds it");
    snprintf(line, sizeof line, "sample %s --seeds 0 --fanout 2 --backend cuda", target);
    if (run("", line) != 0 && strstr(printed("err"), "no GPU")) SKIP("no GPU");
    prints_what_the_cpu_prints("cuda");
}

TEST(a_backend_that_is_not_built_is_an_error_that_says_how)
{
    char line[1024];
    if (built("-cuda")) SKIP("this machine has it");
    snprintf(line, sizeof line, "sample %s --seeds 0 --fanout 2 --backend cuda", target);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "ggnn-data-cuda: not there; make gpu builds it"));
}

/* Programs are looked for beside this one, and get its words. */
TEST(the_program_of_another_backend_is_started_with_the_same_words)
{
    static const char* const backend[] = {"cuda", "cuda-emulated"};
    static const char* const suffix[] = {"cuda", "emulated"};
    static const char* const made_by[] = {"gpu", "emulated"};
    char line[2048], path[600], words[800], copy[600];
    snprintf(line, sizeof line, "cp %s %s/ggnn-data", tool, folder);
    CHECK_EQ(system(line), 0);
    folder_path(copy, "ggnn-data");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/ggnn-data-%s", folder, suffix[i]);
        for (int there = 0; there < 4; there++) { /* a text is no program, whatever its rights */
            if (there) write_file(path, there == 3 ? "no program at all!!\n" : "#!/bin/sh\necho \"$@\"\n", 20);
            if (there >= 2) chmod(path, 0700);
            snprintf(line, sizeof line, "%s sample none --seeds 0,1 --fanout 2 --backend %s >%s/out 2>%s/err", copy, backend[i],
                     folder, folder);
            const int status = system(line);
            CHECK_EQ(WEXITSTATUS(status), there == 2 ? 0 : 1);
            snprintf(words, sizeof words, there ? "ggnn-data: %s: cannot run it\n"
                     : "ggnn-data: %s: not there; make %s builds it\n", path, made_by[i]);
            CHECK_STR(printed("err"), there == 2 ? "" : words);
            snprintf(words, sizeof words, "sample none --seeds 0,1 --fanout 2 --backend %s\n", backend[i]);
            CHECK_STR(printed("out"), there == 2 ? words : "");
        }
        remove(path);
    }
}

int main(int argc, char** argv)
{
    char line[1024];
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(1);
    tool_find();
    folder_make();
    folder_path(target, "karate.ggnn");
    snprintf(line, sizeof line, "generate karate %s", target);
    if (run("", line) != 0) printf("%s", printed("err"));
    RUN(sample_prints_the_batch_that_the_library_gives);
    make_weighted();
    RUN(sample_prints_the_batch_and_its_trace_and_nothing_else);
    RUN(sample_refuses_what_cannot_be_meant);
    RUN(a_trace_leaves_out_what_is_too_long_to_look_at);
    RUN(a_trace_holds_the_draws_and_the_offsets_that_were_sampled);
    RUN(a_trace_of_the_largest_fanout_shows_the_draws_that_made_the_sample);
    RUN(a_trace_shows_path_doublings_rounds);
    RUN(a_trace_says_what_was_taken_whole_and_shows_the_table);
    RUN(a_traces_table_says_where_in_the_input_each_node_came_first);
    RUN(the_emulated_device_prints_what_the_cpu_prints);
    RUN(the_gpu_prints_what_the_cpu_prints);
    RUN(a_backend_that_is_not_built_is_an_error_that_says_how);
    RUN(the_program_of_another_backend_is_started_with_the_same_words);
    folder_remove();
    return test_finish();
}
