/* ggnn-data sample: what it prints is what ggnn_sample gives, and its trace is what the samplers did. */
#include <stdlib.h>

#include "datasets/dataset.h"
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

static const char* const samplers[] = {"fisher-yates", "path-doubling", "rejection", "reservoir",
                                       "weighted",     "replacement",   "walk"};
enum { SAMPLERS = 7, MANY = 2000 };

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
        const char* at = output("out");
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

/* Node 0's list is the first in the graph's edge order, so that positions are offsets. */
TEST(a_trace_holds_the_draws_and_the_offsets_that_were_sampled)
{
    static double draw[MANY], offset[MANY], position[MANY];
    for (int s = 0; s < SAMPLERS - 1; s++) {
        sample(samplers[s], "--seeds 0 --fanout 4 --seed 3 --trace --json");
        const char* trace = strstr(output("out"), "\"trace\"");
        int n = numbers(trace, s == GGNN_WEIGHTED ? "key" : "draw", draw, MANY), distinct = 0;
        CHECK_EQ(numbers(output("out"), "position", position, MANY), 4);
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
    CHECK_EQ(numbers(strstr(output("out"), "\"trace\""), "visited", draw, MANY), 12);
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
        const char* trace = strstr(output("out"), "\"trace\"");
        CHECK_EQ(numbers(trace, "draw", draw, 4 * MANY), fanout == GGNN_FANOUT_MAX ? fanout : 2999 - fanout);
        CHECK_EQ(numbers(trace, "offset", offset, MANY), fanout);
        CHECK_EQ(numbers(output("out"), "position", position, MANY), fanout);
        for (int i = 0; i < fanout; i++) CHECK_EQ((int)offset[i], (int)position[i]);
    }
}

TEST(a_trace_shows_path_doublings_rounds)
{
    static double s[MANY], p[MANY], q[MANY], chain[MANY];
    sample("path-doubling", "--seeds 0 --fanout 9 --trace --json");
    const char* trace = strstr(output("out"), "\"trace\"");
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
    CHECK(says("out", "node 11, degree 1: taken whole"));
    CHECK(says("out", "hash table"));
    sample("fisher-yates", "--seeds 11,0 --fanout 3 --trace --table direct");
    CHECK(says("out", "direct map"));
    sample("fisher-yates", "--seeds 11 --fanout 3");
    CHECK(says("out", "node(local)@position"));
    CHECK(!strstr(output("out"), "draws"));
}

/* Of append-unique's input: the seeds, then the neighbours of every hop. */
TEST(a_traces_table_says_where_in_the_input_each_node_came_first)
{
    static double input[MANY], first[MANY];
    const char* at;
    sample("fisher-yates", "--seeds 16,0,16 --fanout 2,2,3 --seed 3 --trace --table direct --json");
    at = output("out");
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
            wanted = strdup(output("out"));
            CHECK(strlen(wanted) > 100);
            snprintf(line, sizeof line, "%s --backend %s", options[i], backend);
            sample(samplers[s], line);
            if (!CHECK(strcmp(output("out"), wanted) == 0)) printf("  %s %s\n", samplers[s], options[i]);
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
    if (run("", line) != 0 && strstr(output("err"), "no GPU")) SKIP("no GPU");
    prints_what_the_cpu_prints("cuda");
}

TEST(a_backend_that_is_not_built_is_an_error_that_says_how)
{
    char line[1024];
    if (built("-cuda")) SKIP("this machine has it");
    snprintf(line, sizeof line, "sample %s --seeds 0 --fanout 2 --backend cuda", target);
    CHECK_EQ(run("", line), 1);
    CHECK(says("err", "ggnn-data-cuda: not there; make gpu builds it"));
}

int main(int argc, char** argv)
{
    char line[1024];
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(1);
    tool_find(argv[0]);
    folder_make();
    folder_path(target, "karate.ggnn");
    snprintf(line, sizeof line, "generate karate %s", target);
    if (run("", line) != 0) printf("%s", output("err"));
    RUN(sample_prints_the_batch_that_the_library_gives);
    RUN(a_trace_holds_the_draws_and_the_offsets_that_were_sampled);
    RUN(a_trace_of_the_largest_fanout_shows_the_draws_that_made_the_sample);
    RUN(a_trace_shows_path_doublings_rounds);
    RUN(a_trace_says_what_was_taken_whole_and_shows_the_table);
    RUN(a_traces_table_says_where_in_the_input_each_node_came_first);
    RUN(the_emulated_device_prints_what_the_cpu_prints);
    RUN(the_gpu_prints_what_the_cpu_prints);
    RUN(a_backend_that_is_not_built_is_an_error_that_says_how);
    folder_remove();
    return test_finish();
}
