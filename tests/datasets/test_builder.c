/* How the data tools build graphs: the same file from memory and from the disk, on any number of threads; what it will
   take is said first, and refused where it is not there; nothing stays behind. */
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/resources.h"
#include "datasets/convert.h"
#include "datasets/dataset.h"
#include "datasets/edge_sort.h"
#include "datasets/generate.h"
#include "tests/archive.h"
#include "tests/test.h"
#include "tests/tool.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MEBI = 1 << 20 };

static void use_threads(int count)
{
#ifdef _OPENMP
    omp_set_num_threads(count);
#else
    (void)count;
#endif
}

/* ---- sorting -------------------------------------------------------------------------------------------------- */

typedef struct {
    sorted_edge e;
    int64_t number;
} numbered;

static int compare(const void* a, const void* b)
{
    const numbered *x = a, *y = b;
    int64_t key[4][2] = {{x->e.dst, y->e.dst},
                         {x->e.src, y->e.src},
                         {x->e.reverse, y->e.reverse},
                         {x->number, y->number}};
    for (int i = 0; i < 4; i++)
        if (key[i][0] != key[i][1]) return key[i][0] < key[i][1] ? -1 : 1;
    return 0;
}

typedef struct {
    const edge_sorter* s;
    const numbered* expected;
    int64_t *begin, wrong; /* (pieces + 1) where each begins, when they are known; counted before */
    bool counting;
} order_check;

static void check_piece(void* context, int64_t piece, edge_stream* in)
{
    order_check* check = context;
    const uint64_t* record;
    int64_t at = check->counting ? 0 : check->begin[piece];
    for (int64_t count; (count = edge_stream_next(in, &record)) > 0;)
        for (int64_t i = 0; i < count; i++, at++) {
            sorted_edge e = edge_sorter_edge(check->s, record + i * check->s->words);
            if (check->counting) continue;
            const sorted_edge* x = &check->expected[at].e;
            if (e.dst == x->dst && e.src == x->src && e.reverse == x->reverse &&
                (!check->s->how.weighted || e.weight == x->weight) && (!check->s->how.numbered || e.number == x->number))
                continue;
#ifdef _OPENMP
#pragma omp atomic
#endif
            check->wrong++;
        }
    if (check->counting) check->begin[piece + 1] = at;
}

/* Edges of a kind: 0 spread, 1 all to one node, 2 few nodes and so many duplicates, 3 large ids from the middle on. */
static sorted_edge random_edge(int kind, int64_t number, int64_t count, bool both)
{
    int64_t nodes = kind == 2 ? 40 : 50000;
    sorted_edge e = {test_below(nodes), test_below(nodes), both && test_below(2), (float)number, number};
    if (kind == 1) e.dst = 7;
    if (kind == 3 && number > count / 2) e.dst += (int64_t)1 << 40;
    if (kind == 3 && number > count / 3) e.src += (int64_t)1 << 33;
    return e;
}

enum { BARE, WEIGHTED, NUMBERED, CARRIED };

static void check_sorting(int kind, int carried, bool both, int64_t memory, int threads)
{
    enum { COUNT = 150000 };
    static numbered expected[COUNT];
    edge_sorter s;
    error why = {""};
    char path[600];
    order_check check = {&s, expected, NULL, 0, true};
    use_threads(threads);
    if (!CHECK(edge_sorter_open(&s,
                                &(edge_sorter_options){.path = folder_path(path, "sort"),
                                                       .memory = memory,
                                                       .weighted = carried == WEIGHTED,
                                                       .numbered = carried == NUMBERED,
                                                       .both = both},
                                &why)))
        return;
    for (int64_t i = 0; i < COUNT; i++) {
        sorted_edge e = random_edge(kind, i, COUNT, both);
        int64_t place = edge_sorter_begin(&s, 1, e.src > e.dst ? e.src : e.dst, &why);
        if (!CHECK(place >= 0)) break;
        expected[i] = (numbered){e, i};
        edge_sorter_put(&s, place, &e);
        edge_sorter_end(&s, 1);
        if (i == COUNT / 5) CHECK(edge_sorter_finish(&s, &why)); /* and more after it */
    }
    if (!CHECK(edge_sorter_finish(&s, &why))) printf("    %s\n", why.text);
    qsort(expected, COUNT, sizeof expected[0], compare);
    check.begin = calloc((size_t)s.num_pieces + 1, sizeof(int64_t));
    edge_sorter_scan(&s, "counting", check_piece, &check);
    for (int64_t i = 0; i < s.num_pieces; i++) check.begin[i + 1] += check.begin[i];
    CHECK_EQ(check.begin[s.num_pieces], COUNT);
    check.counting = false;
    edge_sorter_scan(&s, "checking", check_piece, &check);
    edge_sorter_walk(&s, "checking", check_piece, &check);
    CHECK_EQ(check.wrong, 0);
    CHECK_EQ(s.fd >= 0, memory == MEBI || kind == 3);
    if (s.fd >= 0) CHECK(s.written > 0 && s.written <= COUNT * (kind == 3 ? 17 : carried ? 9 : 5));
    if (memory == MEBI) CHECK(s.num_runs > 2);
    free(check.begin);
    edge_sorter_close(&s);
    edge_sorter_close(&s);
}

TEST(edges_come_sorted_whatever_memory_and_threads)
{
    test_seed(1);
    for (int kind = 0; kind < 4; kind++)
        for (int carried = 0; carried < CARRIED; carried++)
            for (int threads = 1; threads <= 3; threads += 2) {
                check_sorting(kind, carried, kind % 2 == carried % 2, MEBI, threads);
                check_sorting(kind, carried, kind % 2 == carried % 2, 16 * MEBI, threads);
            }
}

/* Each edge begins a list of its own, and its source is far from 0. */
static void check_scratch(bool with_numbers)
{
    enum { NODES = 1 << 20, COUNT = 400000 };
    edge_sorter s;
    error why = {""};
    char path[600];
    edge_sorter_options how = {.path = folder_path(path, "sort"), .memory = MEBI, .num_nodes = NODES, .both = true, .numbered = with_numbers};
    test_seed(5);
    if (!CHECK(edge_sorter_open(&s, &how, &why))) return;
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t place = edge_sorter_begin(&s, 1, NODES - 1, &why);
        edge_sorter_put(&s, place, &(sorted_edge){test_below(NODES), NODES / 2 + test_below(NODES / 2), false, 1, i});
        edge_sorter_end(&s, 1);
    }
    CHECK(edge_sorter_finish(&s, &why));
    CHECK(s.written > 0 && s.written <= edge_sorter_scratch_bytes(&how, COUNT));
    edge_sorter_close(&s);
}

TEST(scratch_takes_no_more_than_is_said_before)
{
    check_scratch(false);
    check_scratch(true);
}

static void add_up(void* context, int64_t piece, edge_stream* in)
{
    const uint64_t* record;
    int64_t* sum = context;
    for (int64_t count; (count = edge_stream_next(in, &record)) > 0;) sum[piece] += count;
}

/* As many as 4.2 million edges in one run would be 257 pieces. */
TEST(millions_of_edges_are_cut_into_256_pieces)
{
    enum { COUNT = 4400000, PIECES = 256 };
    edge_sorter s;
    error why = {""};
    char path[600];
    int64_t sum[PIECES + 2] = {0}, all = 0;
    use_threads(1);
    if (!CHECK(edge_sorter_open(&s, &(edge_sorter_options){.path = folder_path(path, "sort"), .memory = 64 * MEBI}, &why))) return;
    for (int64_t i = 0, some = 1 << 14; i < COUNT; i += some) {
        if (some > COUNT - i) some = COUNT - i;
        const int64_t place = edge_sorter_begin(&s, some, COUNT, &why);
        for (int64_t k = 0; k < some; k++) edge_sorter_put(&s, place + k, &(sorted_edge){(i + k) * 7 % COUNT, k, false, 1, 0});
        edge_sorter_end(&s, some);
    }
    CHECK(edge_sorter_finish(&s, &why));
    if (CHECK_EQ(s.num_pieces, PIECES)) edge_sorter_scan(&s, "adding up", add_up, sum);
    for (int i = 0; i < PIECES; i++) all += sum[i];
    CHECK_EQ(all, COUNT);
    edge_sorter_close(&s);
}

/* Each time that scans are prepared what came since is a run, which takes memory of each thread. */
TEST(runs_that_memory_cannot_merge_are_an_error)
{
#ifndef _OPENMP
    SKIP("one thread alone would take thousands of runs");
#else
    edge_sorter s;
    error why = {""};
    char path[600], words[100];
    int64_t runs = 0;
    use_threads(16);
    if (!CHECK(edge_sorter_open(&s, &(edge_sorter_options){.path = folder_path(path, "sort"), .memory = MEBI, .expected = 3000}, &why))) return;
    for (bool good = true; good && runs < 3000;) {
        edge_sorter_put(&s, edge_sorter_begin(&s, 1, 7, &why), &(sorted_edge){7 - runs % 8, 5, false, 1, 0});
        edge_sorter_end(&s, 1);
        good = edge_sorter_finish(&s, &why);
        CHECK_EQ(s.num_runs, ++runs);
    }
    snprintf(words, sizeof words, "/sort: %lld sorted runs take ", (long long)runs);
    CHECK(runs > 100 && runs < 3000 && strstr(why.text, words) && strstr(why.text, " bytes to be merged: more than --memory allows"));
    const char* bytes_of = strstr(why.text, "take ");
    CHECK(bytes_of && atoll(bytes_of + 5) > MEBI && atoll(bytes_of + 5) < MEBI + MEBI / 100);
    edge_sorter_close(&s);
#endif
}

/* ---- convert -------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t nodes, edges;
    ggnn_node *src, *dst;
    float* weight;
} edge_array;

static void* room(int64_t count, size_t size) { return calloc((size_t)count + 1, size); }

static ggnn_lists lists_of(int64_t nodes, int64_t edges)
{
    ggnn_lists l = {nodes, edges, room(nodes + 1, 8), room(edges, sizeof(ggnn_node)), room(edges, 4), NULL};
    return l;
}

static void lists_free(ggnn_lists* l)
{
    free(l->indptr);
    free(l->indices);
    free(l->weight);
}

/* The plain twin: ggnn.h's own lists, transposed until they are sorted. */
static ggnn_lists plain_lists(const edge_array* a, const convert_options* how)
{
    ggnn_fault fault;
    bool both = how->direction == DIRECTION_BOTH;
    ggnn_lists out = lists_of(a->nodes, a->edges), in = lists_of(a->nodes, a->edges);
    ggnn_lists all = lists_of(a->nodes, 2 * a->edges + a->nodes);
    CHECK(ggnn_graph_from_coo(&out, a->dst, a->src, a->weight, &fault) == GGNN_OK);
    CHECK(ggnn_graph_transpose(&in, &out, &fault) == GGNN_OK);
    if (both) CHECK(ggnn_graph_transpose(&out, &in, &fault) == GGNN_OK);
    ggnn_graph_simplify(&all, &in, both ? &out : NULL,
                        (how->keep_duplicates ? 0 : GGNN_DROP_DUPLICATES) |
                            (how->loops == LOOPS_DROP ? GGNN_DROP_SELF_LOOPS : 0) |
                            (how->loops == LOOPS_ADD ? GGNN_ADD_SELF_LOOPS : 0));
    lists_free(&out);
    lists_free(&in);
    return all;
}

/* A list of edges in text, with hubs, duplicates and self-loops; id v is written as v * gap + gap / 2. */
static edge_array write_edges(const char* path, int64_t nodes, int64_t edges, int64_t gap)
{
    edge_array a = {nodes, edges, room(edges, sizeof(ggnn_node)), room(edges, sizeof(ggnn_node)), room(edges, 4)};
    FILE* out = fopen(path, "wb");
    for (int64_t e = 0; e < edges; e++) {
        a.src[e] = (ggnn_node)(e < nodes ? e : test_below(test_below(3) ? nodes : 20));
        a.dst[e] = (ggnn_node)(test_below(10) ? test_below(test_below(3) ? nodes : 5) : a.src[e]);
        a.weight[e] = (float)test_below(1000);
        fprintf(out, "%lld %lld %d\n", (long long)(a.src[e] * gap + gap / 2), (long long)(a.dst[e] * gap + gap / 2),
                (int)a.weight[e]);
    }
    fclose(out);
    return a;
}

static void edges_free(edge_array* a)
{
    free(a->src);
    free(a->dst);
    free(a->weight);
}

static bool same(const void* a, const void* b, int64_t count, size_t size)
{
    return memcmp(a, b, (size_t)count * size) == 0;
}

static void check_convert(const char* in, const edge_array* a, int64_t gap, const convert_options* how)
{
    ggnn_lists expected = plain_lists(a, how);
    char out[600], first[600];
    dataset d;
    error why = {""};
    for (int k = 0; k < 4; k++) {
        convert_options with = *how;
        with.memory = k < 2 ? 0 : MEBI;
        use_threads(1 + k % 2);
        folder_path(out, k ? "b.ggnn" : "a.ggnn");
        if (!CHECK(convert(in, out, &with, &why) && dataset_open(&d, out, &why))) {
            printf("    %s\n", why.text);
            continue;
        }
        CHECK_EQ(d.num_nodes, a->nodes);
        CHECK_EQ(d.num_edges, expected.num_edges);
        CHECK(same(d.csc.indptr, expected.indptr, a->nodes + 1, 8));
        CHECK(same(d.csc.indices, expected.indices, expected.num_edges, sizeof(ggnn_node)));
        CHECK(same(d.csc.weight, expected.weight, expected.num_edges, 4));
        for (int64_t v = 0; v < d.num_nodes && d.external_id; v++) CHECK_EQ(d.external_id[v], v * gap + gap / 2);
        CHECK_EQ(d.external_id != NULL, gap > 1);
        dataset_close(&d);
        char line[1300];
        snprintf(line, sizeof line, "cmp -s %s %s", folder_path(first, "a.ggnn"), out);
        CHECK(system(line) == 0);
    }
    CHECK_EQ(temporaries(), 0);
    lists_free(&expected);
}

/* Many edges lead to the largest id: pieces of the scan end in front of it and begin at it, and the last one contains it. */
TEST(edges_to_the_largest_id_are_kept_in_memory_and_on_the_disk)
{
    enum { EDGES = 200000 };
    char path[600], out[2][600], line[1300];
    for (int round = 0; round < 2; round++) { /* one such edge, and all but a few */
        FILE* text = fopen(folder_path(path, "edges.txt"), "wb");
        for (long long e = 0; e < EDGES; e++)
            fprintf(text, "%lld %lld\n", e, round ? (e % 100 ? (long long)INT64_MAX : e) : e ? e - 1 : (long long)INT64_MAX);
        fclose(text);
        for (int k = 0; k < 2; k++) {
            convert_options how = {.direction = DIRECTION_AS_IS, .memory = k ? MEBI : 0};
            dataset d;
            error why = {""};
            folder_path(out[k], k ? "b.ggnn" : "a.ggnn");
            if (!CHECK(convert(path, out[k], &how, &why) && dataset_open(&d, out[k], &why))) return;
            const int64_t v = d.num_nodes - 1;
            CHECK_EQ(d.num_edges, EDGES);
            CHECK_EQ(d.num_nodes, EDGES + 1);
            CHECK_EQ(d.external_id[v], INT64_MAX);
            CHECK_EQ(d.csc.indptr[v + 1] - d.csc.indptr[v], round ? EDGES / 100 * 99 : 1);
            dataset_close(&d);
        }
        snprintf(line, sizeof line, "cmp -s %s %s", out[0], out[1]);
        CHECK(system(line) == 0);
    }
}

TEST(convert_gives_the_same_file_from_memory_and_from_the_disk)
{
    static const int64_t gaps[] = {1, 9, 1 << 20, (int64_t)1 << 40}; /* dense; by bits; by sorting; wide */
    char path[600];
    test_seed(2);
    for (int k = 0; k < 4; k++) {
        edge_array a = write_edges(folder_path(path, "edges.txt"), 20000, 80000, gaps[k]);
        for (int round = 0; round < 6; round++) {
            convert_options how = {.direction = round & 1 ? DIRECTION_BOTH : DIRECTION_AS_IS,
                                   .loops = (convert_loops)(LOOPS_KEEP + round % 3),
                                   .keep_duplicates = round & 2,
                                   .num_nodes = gaps[k] == 1 ? a.nodes : 0};
            check_convert(path, &a, gaps[k], &how);
        }
        edges_free(&a);
    }
}

static int by_number(const void* a, const void* b)
{
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

typedef struct { /* of edges as they are read */
    int64_t loops, loop_nodes, duplicates;
} edge_tally;

static edge_tally tally_of(const edge_array* a)
{
    edge_tally t = {0, 0, 0};
    uint64_t* pair = room(a->edges, 8);
    for (int64_t e = 0; e < a->edges; e++) pair[e] = (uint64_t)a->dst[e] << 32 | (uint64_t)a->src[e];
    qsort(pair, (size_t)a->edges, 8, by_number);
    for (int64_t e = 0; e < a->edges; e++) {
        const bool loop = pair[e] >> 32 == (uint32_t)pair[e], again = e && pair[e] == pair[e - 1];
        t.loops += loop;
        t.loop_nodes += loop && !again;
        t.duplicates += again;
    }
    free(pair);
    return t;
}

/* Nodes without an edge to another one, and those with a single in-edge. */
static void degrees_of(const ggnn_lists* l, int64_t* isolated, int64_t* single)
{
    char* touched = room(l->num_nodes, 1);
    *isolated = *single = 0;
    for (int64_t v = 0; v < l->num_nodes; v++) {
        for (int64_t e = l->indptr[v]; e < l->indptr[v + 1]; e++)
            if (l->indices[e] != v) touched[v] = touched[l->indices[e]] = 1;
        *single += l->indptr[v + 1] - l->indptr[v] == 1;
    }
    for (int64_t v = 0; v < l->num_nodes; v++) *isolated += !touched[v];
    free(touched);
}

TEST(a_second_count_is_of_all_edges_those_of_the_first_included_once)
{
    static const int64_t src[] = {0, 0, 2, 1}, dst[] = {1, 1, 2, 2}, indptr[] = {0, 0, 1, 3};
    static const ggnn_node indices[] = {0, 1, 2};
    const edge_lists_options how = {.in = "edges", .num_nodes = 3, .memory = MEBI};
    ggnn_file_writer out;
    edge_lists l;
    error why = {""};
    char path[600];
    if (!CHECK(ggnn_file_create(&out, folder_path(path, "counted.ggnn")) && edge_lists_open(&l, &how, &out, &why))) return;
    CHECK(edge_lists_add(&l, src, dst, NULL, 3, &why) && edge_lists_count(&l, &why));
    CHECK(l.found.duplicates == 1 && l.found.loops == 1 && l.found.loop_nodes == 1 && l.lists.num_edges == 2);
    CHECK(edge_lists_add(&l, src + 3, dst + 3, NULL, 1, &why) && edge_lists_count(&l, &why));
    CHECK(l.found.duplicates == 1 && l.found.loops == 1 && l.found.loop_nodes == 1 && l.lists.num_edges == 3);
    CHECK(edge_lists_write(&l, &why) && same(l.lists.indptr, indptr, 4, 8) && same(l.lists.indices, indices, 3, sizeof *indices));
    edge_lists_close(&l);
    ggnn_file_abort(&out);
}

static bool is_reported(const char* report, const char* format, ...)
{
    char words[300];
    va_list values;
    va_start(values, format);
    vsnprintf(words, sizeof words, format, values);
    va_end(values);
    if (strstr(report, words)) return true;
    printf("    \"%s\" is not in: %s\n", words, report);
    return false;
}

/* More edges than one piece of a scan has; the last hundred nodes have none. */
TEST(a_report_counts_the_edges_of_all_pieces)
{
    char in[600], out[600], text[4096];
    test_seed(4);
    edge_array a = write_edges(folder_path(in, "edges.txt"), 20000, 80000, 1);
    const edge_tally found = tally_of(&a);
    a.nodes += 100;
    CHECK(found.loops > found.loop_nodes && found.duplicates > 100);
    for (int round = 0; round < 12; round++) {
        convert_options how = {.direction = round & 1 ? DIRECTION_BOTH : DIRECTION_AS_IS,
                               .loops = (convert_loops)(LOOPS_KEEP + round % 3), .keep_duplicates = round >= 6,
                               .num_nodes = a.nodes, .report = tmpfile()};
        ggnn_lists l = plain_lists(&a, &how);
        error why = {""};
        int64_t isolated, single, dropped = how.keep_duplicates ? 0 : found.duplicates;
        int64_t loops = how.loops == LOOPS_KEEP  ? found.loops
                        : how.loops == LOOPS_ADD ? a.nodes - found.loop_nodes
                        : how.keep_duplicates    ? found.loops
                                                 : found.loop_nodes;
        int64_t kept = a.edges - dropped + (how.loops == LOOPS_ADD ? loops : how.loops == LOOPS_DROP ? -loops : 0);
        use_threads(1 + round % 2);
        CHECK(convert(in, folder_path(out, "report.ggnn"), &how, &why));
        rewind(how.report);
        text[fread(text, 1, sizeof text - 1, how.report)] = 0;
        fclose(how.report);
        degrees_of(&l, &isolated, &single);
        CHECK(is_reported(text, "found      80000 edges on 20100 nodes, %lld duplicates, %lld self-loops, weights\n",
                          (long long)found.duplicates, (long long)found.loops));
        CHECK(is_reported(text, "changed    %lld reverse edges added", (long long)(l.num_edges - kept)));
        CHECK(is_reported(text, " %lld duplicates dropped, %lld self-loops %s\n", (long long)dropped, (long long)loops,
                          how.loops == LOOPS_ADD ? "added" : how.loops == LOOPS_DROP ? "dropped" : "kept"));
        CHECK(is_reported(text, "graph      20100 nodes, %lld directed edges, %lld isolated nodes\n", (long long)l.num_edges,
                          (long long)isolated));
        CHECK(is_reported(text, ", 1: %lld, 2-3: ", (long long)single));
        lists_free(&l);
    }
    edges_free(&a);
}

static void write_npy(const char* name, bytes npy)
{
    char path[600];
    write_file(folder_path(path, name), npy.data, npy.size);
    drop(&npy);
}

TEST(features_by_columns_are_gathered_in_parts_that_fit_memory)
{
    enum { ROWS = 3000, WIDTH = 100 }; /* 1.2 MB: three parts of half a MiB */
    static float by_columns[WIDTH * ROWS];
    static const int64_t edge[2] = {0, 1};
    char in[600], out[600];
    dataset d;
    error why = {""};
    for (int64_t v = 0; v < ROWS; v++)
        for (int64_t j = 0; j < WIDTH; j++) by_columns[j * ROWS + v] = (float)(v * WIDTH + j);
    mkdir(folder_path(in, "columns"), 0777);
    write_npy("columns/edges.npy", npy_of("<i8", "1, 2", false, edge, sizeof edge));
    write_npy("columns/feat.npy", npy_of("<f4", "3000, 100", true, by_columns, sizeof by_columns));
    for (int k = 0; k < 2; k++) {
        convert_options how = {.memory = k ? MEBI : 0};
        if (!CHECK(convert(in, folder_path(out, "columns.ggnn"), &how, &why) && dataset_open(&d, out, &why))) {
            printf("    %s\n", why.text);
            continue;
        }
        const float* row = d.feat.rows;
        CHECK(d.num_nodes == ROWS && d.feat.width == WIDTH);
        for (int64_t i = 0; i < ROWS * WIDTH; i++) CHECK(row[i] == (float)i);
        dataset_close(&d);
    }
}

/* Half a MiB holds a row of 131,072 floats; of wider ones one at a time is gathered, too. */
TEST(features_by_columns_may_be_wider_than_memory)
{
    enum { MOST = 131072 };
    static float by_columns[2 * (MOST + 1)];
    static const int64_t edge[2] = {0, 1};
    char in[600], out[600], shape[40];
    for (int width = MOST; width <= MOST + 1; width++) {
        dataset d;
        error why = {""};
        for (int j = 0; j < 2 * width; j++) by_columns[j] = (float)(j / 2 + j % 2 * width);
        mkdir(folder_path(in, "wide"), 0777);
        snprintf(shape, sizeof shape, "2, %d", width);
        write_npy("wide/edges.npy", npy_of("<i8", "1, 2", false, edge, sizeof edge));
        write_npy("wide/feat.npy", npy_of("<f4", shape, true, by_columns, 2 * (size_t)width * sizeof(float)));
        alarm(20); /* where no row fits, none is ever read */
        const bool ok = CHECK(convert(in, folder_path(out, "wide.ggnn"), &(convert_options){.memory = MEBI}, &why) && dataset_open(&d, out, &why));
        alarm(0);
        if (!ok) continue;
        int64_t wrong = d.feat.width != width;
        for (int64_t i = 0; i < 2 * width && !wrong; i++) wrong += ((const float*)d.feat.rows)[i] != (float)i;
        CHECK_EQ(wrong, 0);
        dataset_close(&d);
    }
}

/* ---- generate ------------------------------------------------------------------------------------------------- */

/* The plain twin: candidates one after the other, each looked up among all pairs so far. */
static ggnn_lists plain_graph(const generate_options* how)
{
    generate_shape s;
    error why = {""};
    ggnn_fault fault;
    int64_t taken = 0, slots = 4 * how->edges;
    uint64_t* table = room(slots, 8);
    edge_array a = {how->nodes, how->edges, room(how->edges, sizeof(ggnn_node)), NULL, NULL};
    a.dst = room(how->edges, sizeof(ggnn_node));
    ggnn_lists out = lists_of(a.nodes, a.edges), in = lists_of(a.nodes, a.edges);
    CHECK(generate_shape_open(&s, how, &why));
    for (int64_t i = 0; taken < how->edges; i++) {
        int64_t u, v;
        generate_draw(&s, i, &u, &v);
        const bool as_is = how->directed || u < v;
        uint64_t pair = (uint64_t)(as_is ? u : v) << 32 | (uint64_t)(as_is ? v : u);
        int64_t at = (int64_t)(pair * 0x9E3779B97F4A7C15u % (uint64_t)slots);
        if (u == v) continue;
        while (table[at] && table[at] != pair) at = (at + 1) % slots;
        if (table[at]) continue;
        table[at] = pair;
        a.src[taken] = (ggnn_node)u; /* transposed below: u receives from v */
        a.dst[taken++] = (ggnn_node)v;
        if (how->directed) continue;
        a.src[taken] = (ggnn_node)v;
        a.dst[taken++] = (ggnn_node)u;
    }
    CHECK(ggnn_graph_from_coo(&out, a.src, a.dst, NULL, &fault) == GGNN_OK);
    CHECK(ggnn_graph_transpose(&in, &out, &fault) == GGNN_OK);
    generate_shape_close(&s);
    lists_free(&out);
    edges_free(&a);
    free(table);
    return in;
}

TEST(many_candidates_are_those_drawn_one_by_one)
{
    static const generate_kind kinds[] = {KIND_RMAT, KIND_PLANTED};
    for (int k = 0; k < 2; k++) {
        generate_options how = {kinds[k], 5, 1000 + 40000 * k, 2000, 0, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY};
        generate_shape s;
        error why = {""};
        if (!CHECK(generate_complete(&how, &why) && generate_shape_open(&s, &how, &why))) continue;
        for (int64_t count = 0; count < 200; count += 13) {
            int64_t u[200], v[200], first = ((int64_t)1 << 31) - 50;
            generate_draw_many(&s, first, count, u, v);
            for (int64_t i = 0; i < count; i++) {
                int64_t x, y;
                generate_draw(&s, first + i, &x, &y);
                CHECK(u[i] == x && v[i] == y);
            }
        }
        generate_shape_close(&s);
    }
}

TEST(generate_takes_the_first_distinct_candidates_from_memory_and_from_the_disk)
{
    static const struct {
        generate_kind kind;
        int64_t nodes, edges;
        bool directed;
    } graph[] = {{KIND_PLANTED, 20000, 400000, false}, {KIND_PLANTED, 300, 80000, false}, {KIND_CITATION, 20000, 400000, false},
                 {KIND_RMAT, 20000, 400000, false},    {KIND_RMAT, 1024, 100000, false},  {KIND_STAR, 50000, 99998, false},
                 {KIND_PLANTED, 300, 80001, true},     {KIND_RMAT, 20000, 400000, true}};
    for (int g = 0; g < 8; g++) {
        generate_options how = {graph[g].kind, 3, graph[g].nodes, graph[g].edges, 0, -1, .5, -1, 0, NULL, graph[g].directed, 0, 0, TRAIN_EVENLY};
        generate_report report;
        error why = {""};
        char out[600], first[600], line[1300];
        CHECK(generate_complete(&how, &why));
        ggnn_lists expected = plain_graph(&how);
        for (int k = 0; k < 4; k++) {
            dataset d;
            how.memory = k < 2 ? 0 : MEBI;
            use_threads(1 + k % 2);
            if (!CHECK(generate(folder_path(out, k ? "b.ggnn" : "a.ggnn"), &how, &report, &why) &&
                       dataset_open(&d, out, &why))) {
                printf("    %s\n", why.text);
                continue;
            }
            CHECK_EQ(d.num_edges, how.edges);
            CHECK(same(d.csc.indptr, expected.indptr, how.nodes + 1, 8));
            CHECK(same(d.csc.indices, expected.indices, how.edges, sizeof(ggnn_node)));
            dataset_close(&d);
            snprintf(line, sizeof line, "cmp -s %s %s", folder_path(first, "a.ggnn"), out);
            CHECK(system(line) == 0);
        }
        lists_free(&expected);
    }
    CHECK_EQ(temporaries(), 0);
}

/* ---- what it takes -------------------------------------------------------------------------------------------- */

static void write_text(const char* name, const char* text)
{
    char path[600];
    write_file(folder_path(path, name), text, strlen(text));
}

static void refuses(const char* arguments, const char* words)
{
    char line[3000], path[600];
    snprintf(line, sizeof line, arguments, folder, folder);
    CHECK_EQ(run("", line), 1);
    if (!prints("err", words)) CHECK(false);
    CHECK(access(folder_path(path, "none"), F_OK) != 0);
    CHECK_EQ(temporaries(), 0);
}

TEST(nodes_that_a_header_claims_are_refused_beyond_memory)
{
    char path[600], line[2000];
    write_text("claims.mtx", "%%MatrixMarket matrix coordinate pattern general\n2147483647 2147483647 1\n1 1\n");
    write_text("far.csv", "0,2147483646\n");
    mkdir(folder_path(path, "claims"), 0777);
    mkdir(folder_path(path, "claims/raw"), 0777);
    write_text("claims/raw/num-node-list.csv", "2147483647\n");
    write_text("claims/raw/num-edge-list.csv", "1\n");
    write_text("claims/raw/edge.csv", "0,1\n");
    refuses("convert %s/claims.mtx %s/none --memory 1G", "claims.mtx: 2147483647 nodes need 17.4 GB of memory");
    refuses("convert %s/claims %s/none --memory 1G", "claims: 2147483647 nodes need 17.4 GB of memory");
    write_text("most.mtx", "%%MatrixMarket matrix coordinate pattern general\n129054 129054 0\n"); /* 8 1/8 bytes a node and 16 */
    refuses("convert %s/most.mtx %s/none --memory 1M", "most.mtx: 129054 nodes need 1.05 MB of memory, whatever their edges are: more than --memory 1.05 MB");
    write_text("most.mtx", "%%MatrixMarket matrix coordinate pattern general\n129053 129053 0\n");
    snprintf(line, sizeof line, "convert %s/most.mtx %s/most.ggnn --memory 1M", folder, folder);
    CHECK_EQ(run("", line), 0);
    refuses("convert %s/far.csv %s/none --nodes 2147483647 --memory 1G", "more than --memory 1.07 GB");
    refuses("generate path %2$s/none --nodes 2147483647 --memory 1G", "2147483647 nodes need");
    refuses("generate rmat %2$s/none --nodes 2147483647 --memory 1G", "2147483647 nodes need");
}

/* Zeros of 32 MiB take 32 KB of an archive: labels of as many nodes. */
TEST(nodes_that_an_array_claims_are_refused_beyond_memory)
{
#ifndef HAVE_ZLIB
    SKIP("no zlib");
#else
    enum { NODES = 32 << 20 };
    static const int64_t edge[2] = {0, 1};
    char* zeros = calloc(NODES, 1);
    char path[600];
    zip_maker z = {.deflated = true};
    zip_add_npy(&z, "label.npy", npy_of("|i1", "33554432,", false, zeros, NODES));
    zip_add_npy(&z, "edges.npy", npy_of("<i8", "1, 2", false, edge, sizeof edge));
    bytes archive = zip_end(&z);
    CHECK(archive.size < 100000);
    write_file(folder_path(path, "labels.npz"), archive.data, archive.size);
    drop(&archive);
    free(zeros);
    refuses("convert %s/labels.npz %s/none --memory 128M", "labels.npz: 33554432 nodes need 273 MB of memory");
#endif
}

TEST(one_edge_with_a_large_id_takes_two_nodes)
{
    char line[2000];
    write_text("far.csv", "0,2147483646\n");
    snprintf(line, sizeof line, "convert %s/far.csv %s/far.ggnn --memory 1M", folder, folder);
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "graph      2 nodes, 1 directed edge"));
}

TEST(what_it_takes_is_said_before_the_work)
{
    char line[2000], file[24], words[200];
    write_text("small.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000 1000 1\n1 2\n");
    snprintf(line, sizeof line, "convert %s/small.mtx %s/small.ggnn --memory 64M", folder, folder);
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "(--memory 67.1 MB), none of scratch on the disk, 8.0"));
    snprintf(line, sizeof line,
             "generate rmat %s/r.ggnn --nodes 100000 --edges 2000000 --features 0 --classes 0 --memory 4M", folder);
    CHECK_EQ(run("", line), 0);
    snprintf(words, sizeof words,
             "takes about 4.19 MB of memory (--memory 4.19 MB), 8.00 MB of scratch on the disk, %s of file",
             resources_bytes(file, 800000 + 2000000 * (int64_t)sizeof(ggnn_node)));
    CHECK(prints("err", words));
    CHECK(prints("out", "2000000 directed edges"));
    char memory[24];
    const int64_t nodes = 300000, edges = nodes - 1;
    snprintf(line, sizeof line, "generate path %s/p.ggnn --nodes 300000 --features 4 --classes 2 --memory 1G", folder);
    CHECK_EQ(run("", line), 0); /* 8 bytes an edge, lists, a bit a node, groups; of the file features, labels and a split, too */
    snprintf(words, sizeof words, "/p.ggnn: takes about %s of memory (--memory 1.07 GB), none of scratch on the disk, %s of file\n",
             resources_bytes(memory, 16 * edges + nodes * 8 + nodes / 8 + 16 + nodes * 4),
             resources_bytes(file, nodes * 8 + 2 * edges * (int64_t)sizeof(ggnn_node) + nodes * (4 * 4 + 4 + 1)));
    CHECK(prints("err", words));
    strcat(line, " --train-by proportional"); /* a degree of each node; of each that trains its number and a draw */
    CHECK_EQ(run("", line), 0);
    const int64_t draws = 4 * nodes + 8 * (nodes / 2 + 1) + (int64_t)ggnn_sample_workspace_bytes(GGNN_WEIGHTED, nodes / 2 + 1);
    snprintf(words, sizeof words, "/p.ggnn: takes about %s of memory (--memory 1.07 GB)",
             resources_bytes(memory, 16 * edges + nodes * 8 + nodes / 8 + 16 + nodes * 4 + draws));
    CHECK(prints("err", words));
}

/* Blocks of 512 bytes that the programs run so far have made the disk write. */
static int64_t blocks_written(void)
{
    struct rusage used;
    return getrusage(RUSAGE_CHILDREN, &used) == 0 ? (int64_t)used.ru_oublock : 0;
}

/* Scratch, file and all, of 2 million edges in little memory, in a folder that is no memory. */
TEST(a_build_on_the_disk_writes_little_more_than_twice_its_file)
{
    static const char* const command[] = {"generate rmat %s/w.ggnn --nodes 50000 --edges 2000000 --features 0 --classes 0 --memory 2M",
                                          "convert %s/w.mtx %s/w.ggnn --memory 4M"};
    char disk[] = "/var/tmp/ggnn-test-XXXXXX", line[2000], path[600];
    if (!mkdtemp(disk)) SKIP("no folder can be made in /var/tmp");
    bool counted = true;
    for (int c = 0; c < 2 && counted; c++) {
        struct stat s;
        snprintf(line, sizeof line, command[c], disk, disk);
        const int64_t before = blocks_written();
        CHECK_EQ(run("", line), 0);
        CHECK(prints(c ? "out" : "err", " MB of scratch on the disk, "));
        const int64_t written = 512 * (blocks_written() - before);
        snprintf(path, sizeof path, "%s/w.ggnn", disk);
        CHECK(stat(path, &s) == 0 && s.st_size > 8000000);
        counted = written > 0;
        if (counted && !CHECK(written > s.st_size && (double)written < 2.25 * (double)s.st_size))
            printf("    %lld bytes of %lld\n", (long long)written, (long long)s.st_size);
        snprintf(line, sizeof line, "export %s/w.ggnn %s/w.mtx --format mtx", disk, disk);
        CHECK_EQ(run("", line), 0);
    }
    snprintf(line, sizeof line, "rm -r %s", disk);
    CHECK_EQ(system(line), 0);
    if (!counted) SKIP("what is written in /var/tmp is not counted");
}

TEST(a_disk_without_room_is_an_error_before_the_work)
{
    write_text("many.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000 1000 90000000000000\n1 1\n");
    write_text("more.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000 1000 9000000000000000000\n1 1\n");
    refuses("convert %s/many.mtx %s/none --memory 64M", "of file; its disk has");
    refuses("convert %s/more.mtx %s/none --memory 64M", "9000000000000000000 edges are more than a disk holds");
    write_text("edge.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000 1000 281474976710656\n1 1\n"); /* 2^48 */
    write_text("over.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000 1000 281474976710657\n1 1\n");
    refuses("convert %s/edge.mtx %s/none --memory 64M", "of file; its disk has");
    refuses("convert %s/over.mtx %s/none --memory 64M", "over.mtx: 281474976710657 edges are more than a disk holds");
    refuses("generate rmat %2$s/none --nodes 50000000 --edges 90000000000000 --memory 4G", "of file; its disk has");
    refuses("generate rmat %2$s/none --nodes 50000000 --edges 2000000000000 --edge-features 2097152 --memory 4G", " PB of file; its disk has"); /* beyond 2^63 */
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

TEST(scratch_that_cannot_be_written_is_an_error_that_leaves_nothing)
{
    char line[2000], path[600];
    snprintf(line, sizeof line, "generate rmat %s/none --nodes 20000 --edges 2000000 --features 0 --memory 1M", folder);
    CHECK_EQ(run("ulimit -f 4000;", line), 1); /* 4,000 blocks of 512 or 1,024 bytes stand for a full disk */
    CHECK(prints("err", "cannot write scratch beside it"));
    CHECK(access(folder_path(path, "none"), F_OK) != 0);
    CHECK_EQ(temporaries(), 0);
}

/* With so little memory that edges are on the disk; compacted by sorting, so that there are two sorters. */
TEST(every_allocation_of_a_build_on_the_disk_may_fail)
{
    char in[600], out[600];
    long n = 1;
    test_seed(3);
    use_threads(2);
    edge_array a = write_edges(folder_path(in, "edges.txt"), 20000, 100000, (int64_t)1 << 33);
    const int open_before = open_descriptors();
    for (;; n++) {
        char number[24];
        error why = {""};
        snprintf(number, sizeof number, "%ld", memory_calls() + n);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        bool ok = convert(in, folder_path(out, "none"), &(convert_options){.memory = MEBI}, &why);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        if (ok) break;
        if (CHECK(strstr(why.text, "out of memory")) && CHECK(access(out, F_OK) != 0)) continue;
        printf("    allocation %ld: %s\n", n, why.text);
        break; /* it would fail for ever */
    }
    CHECK(n > 25);
    CHECK_EQ(temporaries(), 0);
    CHECK_EQ(open_descriptors(), open_before);
    edges_free(&a);
    remove(out);
}

/* The tool in its own process, as a shell starts it: killed after some milliseconds. Returns its status. */
static int interrupted(int signal_number, int milliseconds)
{
    char out[600];
    folder_path(out, "none");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(126);
        signal(signal_number, SIG_DFL); /* a shell's background job ignores some, and its children with it */
        execl(tool, tool, "generate", "rmat", out, "--nodes", "100000", "--edges", "50000000", "--features", "0",
              "--memory", "8M", (char*)NULL);
        _exit(127);
    }
    usleep((useconds_t)milliseconds * 1000);
    kill(child, signal_number);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

TEST(an_interrupted_build_leaves_nothing)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    char path[600];
    for (int i = 0; i < 9; i++) {
        int status = interrupted(signals[i % 3], 20 << i / 3 * 2);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[i % 3]);
        CHECK_EQ(temporaries(), 0);
        CHECK(access(folder_path(path, "none"), F_OK) != 0);
    }
}

/* ---- what the machine has ------------------------------------------------------------------------------------- */

static void write_group(const char* name, const char* text)
{
    char path[600];
    folder_path(path, name);
    for (char* slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
        *slash = 0;
        mkdir(path, 0777);
    }
    write_text(name, text);
}

TEST(memory_is_what_the_system_and_its_control_groups_leave)
{
    char root[600];
    const int open_before = open_descriptors();
    folder_path(root, "root");
    write_group("root/proc/meminfo", "MemTotal:  100 kB\nMemAvailable:  8000 kB\n");
    CHECK_EQ(resources_memory(root), 8000 * 1024);
    write_group("root/proc/self/cgroup", "0::/a/b\n");
    write_group("root/sys/fs/cgroup/a/b/memory.max", "max\n");
    write_group("root/sys/fs/cgroup/a/memory.max", "6000000\n");
    write_group("root/sys/fs/cgroup/a/memory.current", "5000000\n");
    write_group("root/sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 2000000\n");
    CHECK_EQ(resources_memory(root), 3000000);
    write_group("root/proc/self/cgroup", "5:cpu:/\n4:memory:/c\n0::/\n");
    write_group("root/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "700000\n");
    write_group("root/sys/fs/cgroup/memory/c/memory.usage_in_bytes", "100000\n");
    write_group("root/sys/fs/cgroup/memory/c/memory.stat", "total_inactive_file 50000\n");
    CHECK_EQ(resources_memory(root), 650000);
    CHECK(resources_memory("") > MEBI && resources_memory_or(5) == 5);
    const double share = (double)resources_memory_or(0) / (double)resources_memory("");
    CHECK(share > .65 && share < .85); /* others take and give back meanwhile */
    CHECK(resources_disk(root) > 0 && resources_disk("/nonexistent/x") == -1);
    CHECK(resources_disk("/new") > 0 && resources_disk("new") > 0);
    CHECK_EQ(open_descriptors(), open_before);
    for (int tries = 0; tries < 50; tries++) { /* until nobody writes meanwhile */
        struct statvfs before, after;
        char path[600];
        CHECK_EQ(statvfs(folder, &before), 0);
        const int64_t free_bytes = resources_disk(folder_path(path, "new"));
        CHECK_EQ(statvfs(folder, &after), 0);
        if (before.f_bavail != after.f_bavail) continue;
        CHECK_EQ(free_bytes, (int64_t)before.f_bavail * (int64_t)before.f_frsize);
        break;
    }
}

/* A group's limit, use and cache, and those of the group above; -1: not there. Of both what is less. */
TEST(memory_is_what_the_fullest_of_the_groups_leaves)
{
    static const struct {
        int64_t limit[2], used[2], cache[2], left;
    } of[] = {{{-1, -1}, {-1, -1}, {-1, -1}, 8192000}, {{5000000, -1}, {1000000, -1}, {-1, -1}, 4000000},
              {{-1, 5000000}, {-1, 1000000}, {-1, -1}, 4000000},
              {{5000000, 3000000}, {1000000, 1000000}, {-1, -1}, 2000000}, {{3000000, 5000000}, {1000000, 1000000}, {-1, -1}, 2000000},
              {{3000000, 5000000}, {1000000, 1000000}, {500000, -1}, 2500000}, {{5000000, 3000000}, {1000000, 1000000}, {0, 1}, 2000001},
              {{1000, -1}, {5000, -1}, {-1, -1}, 0}, {{1000, -1}, {5000, -1}, {4000, -1}, 0}, {{1000, -1}, {5000, -1}, {4001, -1}, 1},
              {{1000, -1}, {-1, -1}, {-1, -1}, 8192000}, {{0, -1}, {0, -1}, {-1, -1}, 0}, {{9000000, 9000000}, {0, 1}, {-1, -1}, 8192000}};
    static const char* const files[2][3] = {{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
                                            {"memory.max", "memory.current", "inactive_file"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int version = 1; version <= 2; version++) {
            static const char* const group[] = {"/x y/z", "/x y"};
            char root[600], name[40], file[300], text[100];
            snprintf(name, sizeof name, "groups%d.%d", (int)i, version);
            folder_path(root, name);
            snprintf(file, sizeof file, "%s/proc/meminfo", name);
            write_group(file, "MemTotal: 1 kB\nMemAvailable:    8000 kB\n");
            snprintf(file, sizeof file, "%s/proc/self/cgroup", name);
            write_group(file, version == 1 ? "7:cpu,memory:/x y/z\n3:cpu:/other\n" : "2:cpu:/other\n0::/x y/z\n");
            for (int k = 0; k < 2; k++) {
                const int64_t value[3] = {of[i].limit[k], of[i].used[k], of[i].cache[k]};
                char folder_name[200];
                snprintf(folder_name, sizeof folder_name, "%s/sys/fs/cgroup%s%s", name, version == 1 ? "/memory" : "", group[k]);
                for (int v = 0; v < 3; v++) {
                    snprintf(file, sizeof file, "%s/%s", folder_name, v == 2 ? "memory.stat" : files[version - 1][v]);
                    if (v < 2) snprintf(text, sizeof text, "%lld\n", (long long)value[v]);
                    else snprintf(text, sizeof text, "anon 77\n%s %lld\n", files[version - 1][v], (long long)value[v]);
                    if (value[v] >= 0) write_group(file, text);
                }
            }
            CHECK_EQ(resources_memory(root), of[i].left);
        }
}

/* Of 2^50 bytes, limits leave what they allow less what is in use. */
TEST(memory_is_what_the_limits_of_a_process_leave)
{
    static const struct {
        unsigned which;
        int64_t used;
    } limits[] = {{RLIMIT_AS, 3000}, {RLIMIT_DATA, 200}};
    const rlim_t most = (rlim_t)1 << 46; /* sanitizers reserve a third of it */
    char root[600];
    folder_path(root, "limited");
    write_group("limited/proc/meminfo", "MemAvailable:  1099511627776 kB\n");
    write_group("limited/proc/self/status", "Name: x\nVmSize:\t 3000 kB\nVmData:\t  200 kB\n");
    for (int i = 0; i < 2; i++) {
        struct rlimit before, now;
        CHECK_EQ(getrlimit(limits[i].which, &before), 0);
        now = (struct rlimit){most < before.rlim_max ? most : before.rlim_max, before.rlim_max};
        CHECK_EQ(setrlimit(limits[i].which, &now), 0);
        CHECK_EQ(resources_memory(root), (int64_t)now.rlim_cur - limits[i].used * 1024);
        CHECK_EQ(setrlimit(limits[i].which, &before), 0);
    }
}

/* Groups end at the mount, which is a group, too: all that a container may see. */
TEST(memory_is_what_the_group_at_the_mount_leaves)
{
    static const char* const groups[] = {"0::/\n", "0::/a\n", "0::/a/b\n", "3:memory:/\n", "3:memory:/a\n", "3:memory:/a/b\n"};
    char root[600];
    folder_path(root, "mount");
    write_group("mount/proc/meminfo", "MemAvailable: 8000 kB\n");
    write_group("mount/sys/fs/cgroup/memory.max", "5000\n");
    write_group("mount/sys/fs/cgroup/memory.current", "1000\n");
    write_group("mount/sys/fs/cgroup/memory/memory.limit_in_bytes", "6000\n");
    write_group("mount/sys/fs/cgroup/memory/memory.usage_in_bytes", "1500\n");
    for (int i = 0; i < 6; i++) {
        write_group("mount/proc/self/cgroup", groups[i]);
        CHECK_EQ(resources_memory(root), i < 3 ? 4000 : 4500);
    }
}

/* A limit that is passed leaves nothing; a system that does not say is taken to have half of its memory to spare. */
TEST(memory_is_never_less_than_nothing)
{
    const int64_t half = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / 2;
    const rlim_t most = (rlim_t)1 << 46;
    static const unsigned which[] = {RLIMIT_AS, RLIMIT_DATA};
    char root[600];
    struct rlimit before;
    folder_path(root, "bare");
    write_group("bare/proc/meminfo", "MemTotal: 5 kB\n");
    if (getrlimit(RLIMIT_AS, &before) == 0 && before.rlim_cur == RLIM_INFINITY) CHECK_EQ(resources_memory(root), half);
    write_group("bare/proc/meminfo", "MemTotal: 5 kB\nMemAvailable: 0 kB\n");
    CHECK_EQ(resources_memory(root), 0);
    write_group("bare/proc/meminfo", "MemAvailable: 1 kB\n");
    write_group("bare/proc/self/status", "VmSize: 1099511627776 kB\nVmData: 1099511627776 kB\n");
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(getrlimit(which[i], &before), 0);
        const struct rlimit now = {most < before.rlim_max ? most : before.rlim_max, before.rlim_max};
        CHECK_EQ(setrlimit(which[i], &now), 0);
        CHECK_EQ(resources_memory(root), 0);
        CHECK_EQ(setrlimit(which[i], &before), 0);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find();
    folder_make();
    RUN_SLOW(edges_come_sorted_whatever_memory_and_threads);
    RUN(scratch_takes_no_more_than_is_said_before);
    RUN_SLOW(millions_of_edges_are_cut_into_256_pieces);
    RUN(runs_that_memory_cannot_merge_are_an_error);
    RUN(a_second_count_is_of_all_edges_those_of_the_first_included_once);
    RUN(a_report_counts_the_edges_of_all_pieces);
    RUN(edges_to_the_largest_id_are_kept_in_memory_and_on_the_disk);
    RUN_SLOW(convert_gives_the_same_file_from_memory_and_from_the_disk);
    RUN(features_by_columns_are_gathered_in_parts_that_fit_memory);
    RUN(features_by_columns_may_be_wider_than_memory);
    RUN(many_candidates_are_those_drawn_one_by_one);
    RUN_SLOW(generate_takes_the_first_distinct_candidates_from_memory_and_from_the_disk);
    RUN(nodes_that_a_header_claims_are_refused_beyond_memory);
    RUN(nodes_that_an_array_claims_are_refused_beyond_memory);
    RUN(one_edge_with_a_large_id_takes_two_nodes);
    RUN(what_it_takes_is_said_before_the_work);
    RUN_SLOW(a_build_on_the_disk_writes_little_more_than_twice_its_file);
    RUN(a_disk_without_room_is_an_error_before_the_work);
    RUN(scratch_that_cannot_be_written_is_an_error_that_leaves_nothing);
    RUN(every_allocation_of_a_build_on_the_disk_may_fail);
    RUN(an_interrupted_build_leaves_nothing);
    RUN(memory_is_what_the_system_and_its_control_groups_leave);
    RUN(memory_is_what_the_fullest_of_the_groups_leaves);
    RUN(memory_is_what_the_limits_of_a_process_leave);
    RUN(memory_is_what_the_group_at_the_mount_leaves);
    RUN(memory_is_never_less_than_nothing);
    folder_remove();
    return test_finish();
}
