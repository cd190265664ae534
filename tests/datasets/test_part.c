/* test_part.c - ggnn-data partition --extract: parts of a graph in files of their own, and what is no such file. */
#include "datasets/part.h"
#include "ggnn_plan.h"
#include "tests/random_graph.h"
#include "tests/test.h"
#include "tests/tool.h"

enum { N = 90, WIDTH = 3, EDGE_WIDTH = 2, SPLITS = 2 };

static char graph[600];

/* forms: 0 floats, weights, edge features; 1 halves, no weights; 2 no features at all, real labels. */
static random_graph* make_graph(int form)
{
    static const int64_t rows = N + 1, nodes = N, splits[2] = {SPLITS, N}, wide[2] = {N, WIDTH};
    uint8_t split[SPLITS * N];
    float value[N * WIDTH], target[N];
    uint16_t half[N * WIDTH];
    int32_t label[N];
    ggnn_file_writer w;
    test_state = 5 + (uint64_t)form;
    random_graph* r = random_graph_new(N, 1, 6);
    const int64_t of_edges[2] = {r->num_edges, EDGE_WIDTH};
    float* edge = malloc((size_t)(r->num_edges * EDGE_WIDTH + 1) * sizeof *edge);
    for (int i = 0; i < SPLITS * N; i++) split[i] = (uint8_t)(i < N ? test_below(4) : i % 7 ? SPLIT_TEST : SPLIT_TRAIN);
    for (int i = 0; i < N * WIDTH; i++) value[i] = (float)i / 8;
    for (int i = 0; i < N * WIDTH; i++) half[i] = (uint16_t)(3 * i);
    for (int v = 0; v < N; v++) label[v] = v % 5 - 1;
    for (int v = 0; v < N; v++) target[v] = (float)(v % 2);
    for (int64_t e = 0; e < r->num_edges * EDGE_WIDTH; e++) edge[e] = (float)e;
    CHECK(ggnn_file_create(&w, graph) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, r->indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &r->num_edges, r->indices) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split));
    if (form == 0) CHECK(ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, wide, value) &&
                         ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &r->num_edges, r->weight) &&
                         ggnn_file_append(&w, "edge_feat", GGNN_FILE_F32, 2, of_edges, edge));
    if (form == 1) CHECK(ggnn_file_append(&w, "feat", GGNN_FILE_F16, 2, wide, half));
    if (form < 2) CHECK(ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, label));
    else CHECK(ggnn_file_append(&w, "label", GGNN_FILE_F32, 1, &nodes, target));
    CHECK(ggnn_file_commit(&w));
    free(edge);
    return r;
}

/* ==== what a part has ============================================================================================ */

typedef struct {
    int32_t parts, hops, split;
    int64_t limit;
    int32_t owner[N];                     /* larger parts first */
    bool held[GGNN_PARTS_MAX][N], read[GGNN_PARTS_MAX][N]; /* rows, lists */
} by_hand;

/* Hop by hop over the arrays: a node is held once an edge from it reaches a held one that has hops left. */
static void close_by_hand(by_hand* h, const dataset* d)
{
    memset(h->held, 0, sizeof h->held);
    memset(h->read, 0, sizeof h->read);
    for (int32_t p = 0; p < h->parts; p++) {
        for (int v = 0; v < N; v++) h->held[p][v] = h->owner[v] == p;
        for (int hop = 0; hop < h->hops; hop++) {
            memcpy(h->read[p], h->held[p], N);
            for (int v = 0; v < N; v++)
                for (int64_t e = d->csc.indptr[v]; h->read[p][v] && e < d->csc.indptr[v + 1]; e++) h->held[p][d->csc.indices[e]] = true;
        }
    }
}

static void divide_by_hand(by_hand* h, const dataset* d)
{
    static uint64_t work[8 * N];
    const ggnn_graph g = dataset_graph(d);
    ggnn_node ids[N];
    int32_t owner[N], next = 0;
    int64_t size[GGNN_PARTS_MAX] = {0}, most = 0, cut;
    const ggnn_pagraph how = {ids, dataset_split_ids(d, h->split, SPLIT_TRAIN, ids), h->parts, h->hops, h->limit};
    CHECK(ggnn_partition_pagraph_workspace_bytes(N) <= sizeof work);
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, NULL), GGNN_OK);
    for (int64_t i = 0; i < how.num_ids; i++) size[owner[ids[i]]]++;
    for (int32_t p = 0; p < h->parts; p++) most = size[p] > most ? size[p] : most;
    for (int v = 0; v < N; v++) h->owner[v] = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t p = 0; p < h->parts; p++) {
            if ((size[p] == most) == pass) continue;
            for (int v = 0; v < N; v++)
                if (owner[v] == p) h->owner[v] = next;
            next++;
        }
    close_by_hand(h, d);
}

static bool same_bytes(const void* a, const void* b, int64_t bytes) { return bytes == 0 || memcmp(a, b, (size_t)bytes) == 0; }

/* Lists: whole where they are read, else none; ids as in the whole graph. */
static bool has_its_lists(const dataset* part, const dataset* d, const bool* read)
{
    bool good = CHECK_EQ(part->num_nodes, N);
    for (int v = 0; good && v < N; v++) {
        const int64_t begin = d->csc.indptr[v], degree = read[v] ? d->csc.indptr[v + 1] - begin : 0, at = part->csc.indptr[v];
        const int64_t row = d->edge_feat.width * ggnn_type_bytes(d->edge_feat.type);
        good = CHECK_EQ(part->csc.indptr[v + 1] - at, degree) &&
               CHECK(same_bytes(part->csc.indices + at, d->csc.indices + begin, degree * (int64_t)sizeof(ggnn_node))) &&
               CHECK(!d->csc.weight || same_bytes(part->csc.weight + at, d->csc.weight + begin, 4 * degree)) &&
               CHECK(!d->edge_feat.rows || same_bytes((const char*)part->edge_feat.rows + at * row,
                                                      (const char*)d->edge_feat.rows + begin * row, degree * row));
    }
    return good && CHECK_EQ(part->csc.indptr[N], part->num_edges) && CHECK_EQ(part->csc.weight != NULL, d->csc.weight != NULL) &&
           CHECK_EQ(part->edge_feat.rows != NULL, d->edge_feat.rows != NULL);
}

static bool has_its_rows(const dataset* part, const dataset* d, const bool* held)
{
    const dataset_part* p = &part->part;
    const int64_t row = d->feat.width * ggnn_type_bytes(d->feat.type);
    int64_t next = 0;
    bool good = CHECK_EQ(part->feat.rows != NULL, d->feat.rows != NULL) && CHECK_EQ(part->feat.type, d->feat.type);
    for (int v = 0; good && v < N; v++) {
        if (!held[v]) continue;
        good = CHECK(next < p->num_rows) && CHECK_EQ(p->id[next], v) &&
               CHECK_EQ(p->degree[next], d->csc.indptr[v + 1] - d->csc.indptr[v]) &&
               CHECK(same_bytes((const char*)part->feat.rows + next * row, (const char*)d->feat.rows + v * row, d->feat.rows ? row : 0));
        next++;
    }
    return good && CHECK_EQ(next, p->num_rows);
}

static bool names_its_graph(const dataset* part, const dataset* d, const by_hand* h, int32_t number)
{
    const dataset_part* p = &part->part;
    const ggnn_file_section *feat = ggnn_file_find(&d->file, "feat"), *weight = ggnn_file_find(&d->file, "weight");
    const ggnn_file_section *label = ggnn_file_find(&d->file, "label"), *split = ggnn_file_find(&d->file, "split");
    const ggnn_file_section* edges = ggnn_file_find(&d->file, "edge_feat");
    int64_t any = 0;
    bool good = CHECK_EQ(p->number, number) && CHECK_EQ(p->parts, h->parts) && CHECK_EQ(p->hops, h->hops) &&
                CHECK_EQ(p->graph_crc, ggnn_file_graph_crc(&d->file)) && CHECK_EQ(dataset_graph_crc(part), ggnn_file_graph_crc(&d->file)) &&
                CHECK_EQ(dataset_section_crc(part, "feat"), feat ? (int64_t)feat->crc : -1) &&
                CHECK_EQ(dataset_section_crc(part, "weight"), weight ? (int64_t)weight->crc : -1) &&
                CHECK_EQ(dataset_section_crc(part, "edge_feat"), edges ? (int64_t)edges->crc : -1) &&
                CHECK_EQ(dataset_section_crc(part, "label"), (int64_t)label->crc) &&
                CHECK_EQ(dataset_section_crc(part, "split"), (int64_t)split->crc) && CHECK(same_bytes(p->owner, h->owner, sizeof h->owner));
    for (int32_t q = 0; q < h->parts; q++) {
        int64_t held = 0;
        for (int v = 0; v < N; v++) held += h->held[q][v];
        good = good && CHECK_EQ(p->held[q], held);
    }
    for (int v = 0; v < N; v++) {
        bool in = false;
        for (int32_t q = 0; q < h->parts; q++) in = in || h->held[q][v];
        any += in;
    }
    return good && CHECK_EQ(p->held[h->parts], any);
}

static const by_hand lines[] = {{.parts = 4, .hops = 2, .limit = 100000}, {.parts = 3, .hops = 1, .split = 1, .limit = 4},
                                {.parts = 5, .hops = 3, .limit = 0}, {.parts = 2, .hops = 0, .limit = 100000}, {.parts = 1, .hops = 2, .limit = 9}};
enum { LINES = sizeof lines / sizeof *lines };

static bool extract(const char* before, const by_hand* h, const char* more)
{
    char line[2000];
    snprintf(line, sizeof line, "partition %s --method pagraph --extract --parts %d --hops %d --split %d --closure-limit %lld %s", graph,
             (int)h->parts, (int)h->hops, (int)h->split, (long long)h->limit, more);
    return CHECK_EQ(run(before, line), 0);
}

TEST(a_part_has_what_its_training_nodes_reach_and_nothing_else)
{
    for (int i = 0; i < 3 * LINES; i++) {
        static by_hand h;
        char path[700], line[800];
        dataset d, part;
        error why = {""};
        random_graph* r = make_graph(i % 3);
        h = lines[i / 3];
        if (!CHECK(dataset_open(&d, graph, &why)) || !extract("", &h, "")) return;
        divide_by_hand(&h, &d);
        for (int32_t p = 0; p < h.parts; p++) {
            snprintf(path, sizeof path, "%s.part.%d", graph, (int)p);
            if (!CHECK(dataset_open_any(&part, path, &why))) return;
            const bool good = has_its_lists(&part, &d, h.read[p]) && has_its_rows(&part, &d, h.held[p]) && names_its_graph(&part, &d, &h, p);
            if (!good) printf("  form %d, line %d, part %d\n", i % 3, i / 3, (int)p);
            dataset_close(&part);
            snprintf(line, sizeof line, "verify %s", path);
            if (!CHECK_EQ(run("", line), 0)) printf("  %s\n", printed("err"));
        }
        dataset_close(&d);
        random_graph_free(r);
    }
}

/* The words of the text, whose figures are the oracle's. */
TEST(what_was_extracted_is_told_with_its_bytes)
{
    static by_hand h;
    char words[1000], path[700];
    struct stat s;
    dataset d;
    error why = {""};
    random_graph_free(make_graph(0));
    h = lines[0];
    if (!extract("OMP_NUM_THREADS=3", &h, "") || !CHECK(dataset_open(&d, graph, &why))) return;
    divide_by_hand(&h, &d);
    for (int32_t p = 0; p < h.parts; p++) {
        int rows = 0, lists = 0, trained = 0;
        for (int v = 0; v < N; v++) rows += h.held[p][v];
        for (int v = 0; v < N; v++) lists += h.read[p][v];
        for (int v = 0; v < N; v++) trained += h.owner[v] == p;
        snprintf(words, sizeof words, "\n%6d %10d %10d %10d\n", (int)p, trained, trained, rows);
        CHECK(prints("out", words));
        snprintf(path, sizeof path, "%s.part.%d", graph, (int)p);
        CHECK(stat(path, &s) == 0);
        snprintf(words, sizeof words, "%s: %d rows, %d lists of %d, %lld bytes\n", path, rows, lists, N, (long long)s.st_size);
        CHECK(prints("out", words));
    }
    CHECK(prints("err", "pagraph (1 thread): ") && prints("err", "closures (3 threads): ") && prints("err", "parts: "));
    dataset_close(&d);
    extract("", &h, "--json");
    CHECK(prints("out", "\"lists\": [") && prints("out", "\"bytes\": ["));
    snprintf(path, sizeof path, "info %s.part.1", graph);
    CHECK_EQ(run("", path), 0);
    CHECK(prints("out", "1 of 4, of the graph ") && prints("out", " nodes, 2 hops around its training nodes\n"));
    snprintf(path, sizeof path, "info %s.part.1 --json", graph);
    CHECK_EQ(run("", path), 0);
    CHECK(prints("out", "\"part\": {\n    \"number\": 1,\n    \"parts\": 4,\n    \"hops\": 2,\n"));
}

TEST(parts_have_the_same_bytes_on_any_number_of_threads)
{
    char line[4000];
    random_graph_free(make_graph(0));
    extract("OMP_NUM_THREADS=1", &lines[0], "");
    snprintf(line, sizeof line, "for p in 0 1 2 3; do mv %s.part.$p %s.one.$p; done", graph, graph);
    CHECK_EQ(system(line), 0);
    extract("OMP_NUM_THREADS=5", &lines[0], "");
    snprintf(line, sizeof line, "for p in 0 1 2 3; do cmp %s.part.$p %s.one.$p || exit 1; done", graph, graph);
    CHECK_EQ(system(line), 0);
}

/* ==== what needs the whole graph ================================================================================= */

TEST(commands_that_need_the_whole_graph_refuse_a_part)
{
    static const char* const command[] = {"stats %s", "sample %s --seeds 1 --fanout 2", "export %s /dev/null --format mtx", "rank %s", "reorder %s x",
                                          "preprocess %s", "partition %s"};
    char line[2000], part[700];
    random_graph_free(make_graph(0));
    extract("", &lines[0], "");
    snprintf(part, sizeof part, "%s.part.2", graph);
    for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
        snprintf(line, sizeof line, command[i], part);
        if (!CHECK_EQ(run("", line), 1) || !CHECK(prints("err", "it has part 2 of 4 of a graph alone, and this needs the whole graph")))
            printf("  %s\n", line);
    }
}

TEST(only_pagraphs_parts_are_extracted)
{
    static const char* const method[] = {"mincut", "hash", "mod", "range", "metis"};
    char line[2000], words[200];
    random_graph_free(make_graph(0));
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        snprintf(line, sizeof line, "partition %s --extract --method %s", graph, method[i]);
        snprintf(words, sizeof words, "--extract: --method %s divides all nodes; pagraph's parts have training nodes", method[i]);
        CHECK_EQ(run("", line), 2);
        CHECK(prints("err", words));
    }
}

TEST(a_part_is_not_written_over_the_graph)
{
    char line[2000], words[2000];
    random_graph_free(make_graph(0));
    snprintf(line, sizeof line, "%s.2", graph);
    CHECK_EQ(rename(graph, line), 0);
    snprintf(line, sizeof line, "partition %s.2 --method pagraph --extract --out %s", graph, graph);
    snprintf(words, sizeof words, "--out %s: part 2 would be %s.2, the graph itself", graph, graph);
    CHECK_EQ(run("", line), 2);
    CHECK(prints("err", words));
}

TEST(a_damaged_section_is_not_extracted)
{
    char line[2000], path[700];
    random_graph_free(make_graph(1));
    extract("", &lines[0], "");
    for (int p = 0; p < 4; p++) {
        snprintf(path, sizeof path, "%s.part.%d", graph, p);
        remove(path);
    }
    ggnn_file f;
    CHECK(ggnn_file_open(&f, graph));
    const int64_t at = ggnn_file_find(&f, "feat")->offset;
    ggnn_file_close(&f);
    FILE* out = fopen(graph, "r+b");
    CHECK(out && fseek(out, (long)at + 7, SEEK_SET) == 0 && fputc(99, out) == 99 && fclose(out) == 0);
    snprintf(line, sizeof line, "partition %s --method pagraph --extract", graph);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "section 'feat'"));
    CHECK(access(path, F_OK) != 0);
}

/* ==== files that are no parts ==================================================================================== */

typedef struct {
    const char* section; /* whose entry is changed; NULL: none */
    int64_t entry, value;
    int64_t length;      /* >= 0: the section is cut to it */
    const char* words;
} hostile;

/* The part with one change, and good checksums. */
static bool change(const char* from, const char* to, const hostile* h)
{
    ggnn_file f;
    ggnn_file_writer w;
    bool good = CHECK(ggnn_file_open(&f, from)) && CHECK(ggnn_file_create(&w, to));
    for (int32_t i = 0; good && i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        const bool it = strcmp(s->name, h->section) == 0;
        int64_t dim[GGNN_FILE_MAX_DIMS];
        if (it && h->length == -2) continue;
        memcpy(dim, s->dim, sizeof dim);
        if (it && h->length >= 0) dim[0] = h->length;
        good = CHECK(ggnn_file_append(&w, s->name, (ggnn_file_type)s->type, (int32_t)s->num_dims, dim, ggnn_file_data(&f, s)));
        if (!it || h->length != -1) continue;
        if (s->type == GGNN_FILE_I32) ((int32_t*)w.data[i])[h->entry] = (int32_t)h->value;
        else ((int64_t*)w.data[i])[h->entry] = h->value;
    }
    good = good && CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
    return good;
}

TEST(what_is_no_part_is_refused_by_section_and_node)
{
    static const hostile no_part[] = {
        {"part_of", 3, 4, -1, "section 'part_of': part 4 of 4 with 2 hops"},
        {"part_of", 3, -1, -1, "section 'part_of': part -1 of 4"},
        {"part_of", 4, 65, -1, "section 'part_of': part 1 of 65"},
        {"part_of", 4, 0, -1, "section 'part_of': part 1 of 0"},
        {"part_of", 5, 9, -1, "with 9 hops: parts are 1 to 64, hops 0 to 8"},
        {"part_of", 0, 0, 6, "section 'part_of' has 6 entries, not 7"},
        {"part_id", 0, -1, -1, "section 'part_id': entry 0 is node -1: ids within 0 and 89 ascend"},
        {"part_id", 1, N, -1, "section 'part_id': entry 1 is node 90"},
        {"part_id", 2, 0, -1, "section 'part_id': entry 2 is node 0"},
        {"part_id", 0, 0, 3, "section 'part_degree' has "},
        {"part_id", 0, 0, -2, "a part: "},
        {"part_degree", 0, -1, -1, "in-edges"},
        {"part_degree", 0, INT64_MAX, -1, "in-edges"},
        {"part_held", 0, 0, 4, "section 'part_held' has 4 entries, not 5"},
        {"owner", 17, 4, -1, "section 'owner': node 17 is part 4's, of 4"},
        {"owner", 17, -2, -1, "section 'owner': node 17 is part -2's, of 4"},
        {"owner", 0, 0, N - 1, "section 'owner' has 89 entries, not 90"},
        {"feat", 0, 0, 2, "not f32 or f16 (rows of the part, F)"},
        {"part_of", 3, 2, -1, "which part 2 of 4 does not have"}};
    char part[700], wrong[700], line[2000];
    random_graph_free(make_graph(0));
    extract("", &lines[0], "");
    snprintf(part, sizeof part, "%s.part.1", graph);
    snprintf(wrong, sizeof wrong, "%s.wrong", graph);
    snprintf(line, sizeof line, "verify %s", wrong);
    for (size_t i = 0; i < sizeof no_part / sizeof *no_part; i++) {
        if (!change(part, wrong, &no_part[i])) return;
        if (!CHECK_EQ(run("", line), 1) || !CHECK(prints("err", no_part[i].words))) printf("  %s, change %d\n", no_part[i].section, (int)i);
    }
}

/* Another node in place of one that lists read: its row is not there. A list of another length; lists that are not there. */
TEST(a_row_or_a_list_that_is_read_must_be_there)
{
    char part[700], wrong[700], line[2000], words[200];
    dataset d;
    error why = {""};
    random_graph_free(make_graph(1));
    extract("", &lines[0], "");
    snprintf(part, sizeof part, "%s.part.1", graph);
    snprintf(wrong, sizeof wrong, "%s.wrong", graph);
    snprintf(line, sizeof line, "verify %s", wrong);
    if (!CHECK(dataset_open_any(&d, part, &why))) return;
    const int64_t v = d.csc.indices[0];
    int64_t at = 0, outside = -1, reader = 0;
    while (d.csc.indptr[d.part.id[reader]] == d.csc.indptr[d.part.id[reader] + 1]) reader++;
    while (d.part.id[at] != v) at++;
    for (int64_t u = d.part.id[at] - 1; u > (at ? d.part.id[at - 1] : -1); u--) outside = u;
    for (int64_t u = d.part.id[at] + 1; outside < 0 && u < (at + 1 < d.part.num_rows ? d.part.id[at + 1] : N); u++) outside = u;
    CHECK(outside >= 0);
    const hostile gone = {"part_id", at, outside, -1, NULL};
    dataset_close(&d);
    if (!change(part, wrong, &gone)) return;
    CHECK_EQ(run("", line), 1);
    snprintf(words, sizeof words, "node %d is a neighbour of node ", (int)v);
    CHECK(prints("err", words) && prints("err", "the part has no row of it"));

    const hostile longer = {"part_degree", reader, 77, -1, NULL};
    if (!change(part, wrong, &longer)) return;
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "which is neither none nor those of the whole graph"));

    ggnn_file f;
    ggnn_file_writer w;
    const int64_t none = 0, rows = N + 1;
    int64_t indptr[N + 1] = {0};
    CHECK(ggnn_file_open(&f, part) && ggnn_file_create(&w, wrong));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        if (strcmp(s->name, "indptr") == 0) CHECK(ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr));
        else if (strcmp(s->name, "indices") == 0) CHECK(ggnn_file_append(&w, "indices", DATASET_NODE, 1, &none, NULL));
        else CHECK(ggnn_file_copy(&w, &f, s));
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "its training nodes read the list of node ") && prints("err", ", which part 1 of 4 does not have"));
}

TEST(a_part_that_is_cut_off_is_refused)
{
    char part[700], line[2000];
    struct stat s;
    random_graph_free(make_graph(0));
    extract("", &lines[0], "");
    snprintf(part, sizeof part, "%s.part.1", graph);
    CHECK(stat(part, &s) == 0);
    for (off_t bytes = 0; bytes < s.st_size; bytes += 4096) {
        CHECK(truncate(part, bytes) == 0);
        snprintf(line, sizeof line, "verify %s", part);
        CHECK_EQ(run("", line), 1);
        extract("", &lines[0], "");
    }
}

TEST(every_allocation_of_extract_may_fail)
{
    int n = 1, code = 1;
    random_graph_free(make_graph(0));
    for (; n < 80 && code != 0; n++) {
        char before[100], line[2000];
        snprintf(before, sizeof before, "OMP_NUM_THREADS=2 GGNN_TEST_FAIL_ALLOCATION=%d", n);
        snprintf(line, sizeof line, "partition %s --method pagraph --extract --parts 3", graph);
        code = run(before, line);
        CHECK(code == 0 || (code == 1 && prints("err", "memory")));
    }
    CHECK(n > 8 && n < 80);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find();
    folder_make();
    folder_path(graph, "graph.ggnn");
    RUN(a_part_has_what_its_training_nodes_reach_and_nothing_else);
    RUN(what_was_extracted_is_told_with_its_bytes);
    RUN(parts_have_the_same_bytes_on_any_number_of_threads);
    RUN(commands_that_need_the_whole_graph_refuse_a_part);
    RUN(only_pagraphs_parts_are_extracted);
    RUN(a_part_is_not_written_over_the_graph);
    RUN(a_damaged_section_is_not_extracted);
    RUN(what_is_no_part_is_refused_by_section_and_node);
    RUN(a_row_or_a_list_that_is_read_must_be_there);
    RUN(a_part_that_is_cut_off_is_refused);
    RUN(every_allocation_of_extract_may_fail);
    folder_remove();
    return test_finish();
}
