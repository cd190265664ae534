/* ggnn-data convert --ids names: text in place of ids becomes numbers and names, which stay with their nodes in all that is made. */
#include <fcntl.h>

#include "datasets/commands.h"
#include "datasets/names.h"
#include "tests/convert_tool.h"

static model m;
static const convert_options bare = {.ids = IDS_NAMES, .header = HEADER_NO}, headed = {.ids = IDS_NAMES, .header = HEADER_YES};

/* Node v of the model is called so; some names begin alike, some are digits, some are no ASCII. */
static const char* name_of(int64_t v)
{
    static char name[4][300];
    static int which;
    char* out = name[which++ % 4];
    if (v == 7) memset(out, 'x', 256), out[256] = 0;
    else if (v == 8) memset(out, 'x', 255), out[255] = 0;
    else snprintf(out, 300, v % 4 == 0 ? "n%lld" : v % 4 == 1 ? "%lld" : v % 4 == 2 ? "\xC3\xA4-%lld" : "-.%lld'", (long long)v);
    return out;
}

static void save_named(const char* file, const char* head, const char* separator, bool weights, bool gzip)
{
    bytes b = {0};
    char line[800];
    put_string(&b, head);
    for (int64_t e = 0; e < m.num_edges; e++) {
        snprintf(line, sizeof line, "%s%s%s", name_of(m.src[e]), separator, name_of(m.dst[e]));
        put_string(&b, line);
        if (weights) snprintf(line, sizeof line, "%s%.9g", separator, (double)m.weight[e]), put_string(&b, line);
        put_string(&b, e % 3 ? "\n" : " \r\n");
    }
    save(b, file, gzip);
}

/* The plain twin: numbers by first occurrence, source before target; model nodes that do not occur have none. */
static int64_t number_nodes(int64_t number[MODEL_NODES], int64_t node[MODEL_NODES])
{
    int64_t count = 0;
    for (int v = 0; v < MODEL_NODES; v++) number[v] = -1;
    for (int64_t e = 0; e < m.num_edges; e++)
        for (int k = 0; k < 2; k++) {
            const int64_t v = k ? m.dst[e] : m.src[e];
            if (number[v] < 0) number[v] = count, node[count++] = v;
        }
    return count;
}

/* The edges by numbers, in their order, as a file; its graph is what names must give. */
static void save_numbered(const char* file, const int64_t number[MODEL_NODES], bool weights)
{
    model by = m;
    for (int64_t e = 0; e < m.num_edges; e++) by.src[e] = number[m.src[e]], by.dst[e] = number[m.dst[e]];
    model_list(&by, file, "", ",", 0, weights, false);
}

static bool names_are(const dataset* d, const int64_t* node)
{
    error why = {""};
    bool good = d->name && d->name_at && dataset_check_names(d, &why);
    for (int64_t v = 0; v < d->num_nodes && good; v++) {
        const char* name = name_of(node[v]);
        good = (size_t)(d->name_at[v + 1] - d->name_at[v]) == strlen(name) && memcmp(d->name + d->name_at[v], name, strlen(name)) == 0;
    }
    return good;
}

static bool same_graph(const dataset* a, const dataset* b)
{
    return a->num_nodes == b->num_nodes && a->num_edges == b->num_edges && !a->csc.weight == !b->csc.weight &&
           memcmp(a->csc.indptr, b->csc.indptr, (size_t)(a->num_nodes + 1) * 8) == 0 &&
           memcmp(a->csc.indices, b->csc.indices, (size_t)a->num_edges * sizeof(ggnn_node)) == 0 &&
           (!a->csc.weight || memcmp(a->csc.weight, b->csc.weight, (size_t)a->num_edges * 4) == 0);
}

/* ---- what names give ------------------------------------------------------------------------------------------- */

TEST(names_are_numbered_as_they_come_from_any_list)
{
    static const struct {
        const char *file, *head, *separator;
        bool weights, gzip, head_counts;
    } of[] = {{"a.csv", "", ",", false, false, false}, {"b.csv", "src,dst\n", ",", false, false, true},   {"c.csv", "x y z, 7,\n", ",", true, true, true},
              {"d.tsv", "", "\t", true, false, false}, {"e.txt", "# one\n\n#two\n", " ", false, true, false}, {"f.txt", "\xEF\xBB\xBF", "   ", true, false, false},
              {"g.csv", "", " , ", true, false, false}, {"h.tsv", "a\n", " \t ", false, false, true},       {"i.snap", "# Nodes: 3\n", "\t", false, false, false}};
    test_seed(41);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int64_t number[MODEL_NODES], node[MODEL_NODES];
        char in[600], out[600], file[40];
        dataset numbered, d;
        error why = {""};
        convert_options how = of[k].head_counts ? headed : bare;
        how.direction = k & 1 ? DIRECTION_BOTH : DIRECTION_AS_IS;
        how.loops = k & 2 ? LOOPS_DROP : LOOPS_KEEP;
        model_make(&m, 60 + 20 * (int64_t)k);
        const int64_t count = number_nodes(number, node);
        save_numbered("numbered.csv", number, of[k].weights);
        save_named(of[k].file, of[k].head, of[k].separator, of[k].weights, of[k].gzip);
        const convert_options plain = {.direction = how.direction, .loops = how.loops};
        if (!CHECK(convert(folder_path(in, "numbered.csv"), folder_path(out, "numbered.ggnn"), &plain, &why) && dataset_open(&numbered, out, &why))) return;
        snprintf(file, sizeof file, "%s%s", of[k].file, of[k].gzip && access(folder_path(in, of[k].file), F_OK) != 0 ? ".gz" : "");
        if (converted(&d, file, &how)) {
            if (!CHECK(d.num_nodes == count && same_graph(&d, &numbered) && names_are(&d, node) && !d.external_id)) printf("    %s\n", file);
            dataset_close(&d);
        }
        dataset_close(&numbered);
    }
}

/* A tab is one among blanks, too. */
TEST(blanks_around_a_tab_are_part_of_it)
{
    char path[600];
    dataset d;
    write_file(folder_path(path, "tab.txt"), "a\tb\nb \t c\n", 10);
    if (!converted(&d, "tab.txt", &bare)) return;
    CHECK(d.num_nodes == 3 && d.num_edges == 2);
    dataset_close(&d);
}

/* Rows of edges and their columns stand behind names as behind numbers. */
TEST(columns_behind_names_are_weights_and_features)
{
    static const char text[] = "b a 2 7 8\na c 3 9 10\n";
    char path[600];
    dataset d;
    write_file(folder_path(path, "cols.txt"), text, sizeof text - 1);
    convert_options how = bare;
    how.columns = COLUMNS_WEIGHT_FEATURES;
    if (!converted(&d, "cols.txt", &how)) return;
    CHECK(d.num_nodes == 3 && d.num_edges == 2 && d.csc.indices[0] == 0 && d.csc.indices[1] == 1 && d.csc.weight[0] == 2 && d.edge_feat.width == 2 &&
          ((const float*)d.edge_feat.rows)[3] == 10 && memcmp(d.name, "bac", 3) == 0);
    dataset_close(&d);
}

TEST(names_are_counted_in_the_report)
{
    char path[600], text[4096];
    dataset d;
    convert_options how = bare;
    write_file(folder_path(path, "r.txt"), "b a\na c\n", 8);
    how.report = tmpfile();
    if (!converted(&d, "r.txt", &how)) return;
    rewind(how.report);
    text[fread(text, 1, sizeof text - 1, how.report)] = 0;
    fclose(how.report);
    CHECK(strstr(text, "names      3, numbered as they come, kept as external_name\n"));
    dataset_close(&d);
}

/* ---- line 1, and what is no name ------------------------------------------------------------------------------- */

/* Whatever line 1 is, the user says what it is: nothing is taken for an edge or a header by its look. */
TEST(line_1_is_what_the_user_says)
{
    static const struct {
        const char* text;
        convert_ids ids;
        convert_header header;
        int64_t nodes, edges;
    } of[] = {{"src,dst\na,b\n", IDS_NAMES, HEADER_YES, 2, 1},   {"src,dst\na,b\n", IDS_NAMES, HEADER_NO, 4, 2},
              {"u,v\nv,w\n", IDS_NAMES, HEADER_NO, 3, 2},         {"whom,likes\na,b\n", IDS_NAMES, HEADER_YES, 2, 1},
              {"1,2\n2,3\n", IDS_NAMES, HEADER_NO, 3, 2},         {"1,2\n2,3\n", IDS_NAMES, HEADER_YES, 2, 1},
              {"1,2\n2,3\n", IDS_NUMBERS, HEADER_YES, 2, 1},      {"whom,likes\n2,3\n", IDS_NUMBERS, HEADER_YES, 2, 1},
              {"src,dst\n2,3\n", IDS_NUMBERS, HEADER_AUTO, 2, 1}, {"src,dst\n2,3\n", IDS_NUMBERS, HEADER_YES, 2, 1},
              {"4,5\n2,3\n", IDS_NUMBERS, HEADER_AUTO, 4, 2},     {"4,5\n2,3\n", IDS_NUMBERS, HEADER_NO, 4, 2}};
    static const struct {
        const char* text;
        convert_options how;
        const char* words;
    } bad[] = {{"a,b\n", {.ids = IDS_NAMES}, "one.csv: --ids names: line 1 may name columns or be an edge, which is not to be guessed: --header yes or no"},
               {"src,dst\n1,2\n", {.header = HEADER_NO}, "line 1, byte 1: no number: \"src\""},
               {"src,dst\n", {.ids = IDS_NAMES, .header = HEADER_YES}, "one.csv: holds no edge"},
               {"a,b\n", {.ids = IDS_NAMES, .header = HEADER_NO, .num_nodes = 3}, "--nodes, --features, --labels and --split FILE go by the numbers of nodes"},
               {"a,b\n", {.ids = IDS_NAMES, .header = HEADER_NO, .features = "x.npy"}, "--nodes, --features, --labels and --split FILE"},
               {"a,b\n", {.ids = IDS_NAMES, .header = HEADER_NO, .labels = "x.npy"}, "--nodes, --features, --labels and --split FILE"},
               {"a,b\n", {.ids = IDS_NAMES, .header = HEADER_NO, .split_file = "x.npy"}, "--nodes, --features, --labels and --split FILE"},
               {"%\n1 2\n", {.ids = IDS_NAMES, .header = HEADER_NO, .format = FORMAT_KONECT}, "--ids names and --header are for lists of edges (edges, snap), this is konect"},
               {"%\n1 2\n", {.header = HEADER_NO, .format = FORMAT_MTX}, "--ids names and --header are for lists of edges (edges, snap), this is mtx"}};
    char path[600];
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        dataset d;
        write_file(folder_path(path, "one.csv"), of[k].text, strlen(of[k].text));
        if (!converted(&d, "one.csv", &(convert_options){.ids = of[k].ids, .header = of[k].header})) continue;
        if (!CHECK(d.num_nodes == of[k].nodes && d.num_edges == of[k].edges && !d.name == (of[k].ids == IDS_NUMBERS))) printf("    %s\n", of[k].text);
        dataset_close(&d);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_file(folder_path(path, "one.csv"), bad[k].text, strlen(bad[k].text));
        const char* message = refused("one.csv", &bad[k].how);
        if (!CHECK(strstr(message, bad[k].words))) printf("    %s: %s\n", bad[k].text, message);
    }
}

TEST(what_is_no_name_is_refused_by_line_and_byte)
{
    static const char none[] = "a name is not empty, begins with no # or %, and has no quotes and control characters";
    static const struct {
        const char *text, *where, *words;
    } bad[] = {{"a,b\nNew York,b\n", "line 2, byte 1: ", "commas separate names here, and a name has no blank in it: \"New York\""},
               {"a\tb\nNew York\tb\n", "line 2, byte 1: ", "tabs separate names here, and a name has no blank or comma in it"},
               {"a\tb\nYork,New\tb\n", "line 2, byte 1: ", "tabs separate names here, and a name has no blank or comma in it"},
               {"a b\na\tb\n", "line 2, byte 1: ", "blanks separate names here, and a name has no tab or comma in it"},
               {"New York\tb\n", "line 1, byte 5: ", "blanks separate names here, and a name has no tab or comma in it"},
               {"a,b,1\na,b c,1\n", "line 2, byte 3: ", "commas separate names here"},
               {"a\n", "line 1", "source and target are expected"},
               {"a,b\nc\n", "line 2, byte 1: ", "the line ends, a name is expected"},
               {"a,b\n,c\n", "line 2, byte 1: ", none},
               {"a,b\nc,,1\n", "line 2, byte 3: ", none},
               {"a,b\n\"c\",d\n", "line 2, byte 1: ", none},
               {"a,b\nc,d\"e\n", "line 2, byte 3: ", none},
               {"a,b\n#c,d\n", "line 2, byte 1: ", none},
               {"a,b\n%c,d\n", "line 2, byte 1: ", none},
               {"a,b\nc,#d\n", "line 2, byte 3: ", none},
               {"a,b\nc\1d,e\n", "line 2, byte 1: ", none},
               {"a,b\nc\177,e\n", "line 2, byte 1: ", none},
               {"a,b,1\na,b,c\n", "line 2, byte 5: ", "no number"},
               {"a,b\na,b,1\n", "line 2, byte 5: ", "more columns than in the first line"}};
    char path[600], text[700], long_name[400];
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        write_file(folder_path(path, "bad.csv"), bad[k].text, strlen(bad[k].text));
        const char* message = refused("bad.csv", &bare);
        if (!CHECK(strstr(message, bad[k].where) && strstr(message, bad[k].words))) printf("    %s: %s\n", bad[k].text, message);
    }
    memset(long_name, 'a', 257);
    long_name[257] = 0;
    snprintf(text, sizeof text, "b,c\nb,%s\n", long_name);
    write_file(folder_path(path, "bad.csv"), text, strlen(text));
    CHECK(strstr(refused("bad.csv", &bare), "line 2, byte 3: too long"));
}

/* ---- tables ---------------------------------------------------------------------------------------------------- */

/* Many names, each twice and in another order: every number is the same again, and memory stays within what was given. */
TEST(a_table_finds_each_name_again)
{
    enum { MANY = 400000 }; /* some of them have one hash, as far as a slot knows */
    names n;
    error why = {""};
    int64_t total = 0;
    char name[40];
    const int64_t memory = names_memory(MANY, 10 * MANY);
    if (!CHECK(names_open(&n, memory, &why))) return;
    for (int64_t i = 0; i < MANY; i++) {
        const int length = snprintf(name, sizeof name, "%llx", (long long)(i * 7919));
        total += length;
        if (!CHECK_EQ(names_number(&n, name, length, &why), i)) break;
    }
    for (int64_t k = 0; k < MANY; k++) {
        const int64_t i = k * 12345 % MANY;
        const int length = snprintf(name, sizeof name, "%llx", (long long)(i * 7919));
        if (!CHECK_EQ(names_number(&n, name, length, &why), i)) break;
    }
    CHECK(n.count == MANY && n.at[MANY] == total && total <= 10 * MANY && n.taken <= memory && !n.full && !why.text[0]);
    names_close(&n);
    if (!CHECK(names_open(&n, 1 << 17, &why))) return;
    int64_t last = 0;
    for (int64_t i = 0; i < 30000 && last >= 0; i++) last = names_number(&n, name, snprintf(name, sizeof name, "%lld", (long long)i), &why);
    CHECK(last == -1 && n.full && !why.text[0] && n.taken <= 1 << 17 && names_number(&n, "0", 1, &why) == 0);
    names_close(&n);
    names_close(&n);
}

/* Zero bytes are bytes, and prefixes are other names. */
TEST(names_are_equal_where_all_bytes_are)
{
    names n;
    error why = {""};
    if (!CHECK(names_open(&n, 1 << 20, &why))) return;
    CHECK_EQ(names_number(&n, "a\0b", 3, &why), 0);
    CHECK_EQ(names_number(&n, "a\0c", 3, &why), 1);
    CHECK_EQ(names_number(&n, "a", 1, &why), 2);
    CHECK_EQ(names_number(&n, "ab", 2, &why), 3);
    CHECK_EQ(names_number(&n, "a\0b", 3, &why), 0);
    CHECK_EQ(names_number(&n, "A", 1, &why), 4);
    names_close(&n);
}

TEST(names_that_memory_does_not_hold_say_how_much_would)
{
    enum { LINES = 40000 };
    bytes b = {0};
    char line[60], needs[40] = "";
    dataset d;
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof line, "%08x-%08x p%d\n", (unsigned)i * 2654435761u, (unsigned)i, i);
        put_string(&b, line);
    }
    save(b, "many.txt", false);
    convert_options how = bare;
    how.memory = 1 << 20;
    const char* message = refused("many.txt", &how);
    CHECK(strstr(message, "names and one more take more than 524 kB, half of --memory 1.05 MB"));
    const char* say = strstr(message, "fit --memory ");
    if (!CHECK(say)) return;
    snprintf(needs, sizeof needs, "%s", say + 13);
    how.memory = (int64_t)(atof(needs) * 1e6) + 50000; /* it has three digits */
    if (!converted(&d, "many.txt", &how)) return;
    CHECK(d.num_nodes == 2 * LINES && d.num_edges == LINES);
    dataset_close(&d);
}

/* ---- what is made of it ---------------------------------------------------------------------------------------- */

static int quiet(int command(int, char**), const char* options)
{
    char words[3000], *argument[20];
    int count = 0, kept[2], nowhere = open("/dev/null", O_WRONLY);
    snprintf(words, sizeof words, "%s", options);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " ")) argument[count++] = word;
    argument[count] = NULL;
    fflush(stdout);
    for (int k = 0; k < 2; k++) kept[k] = dup(k + 1), dup2(nowhere, k + 1);
    const int code = command(count, argument);
    fflush(stdout);
    for (int k = 0; k < 2; k++) dup2(kept[k], k + 1), close(kept[k]);
    close(nowhere);
    return code;
}

static int on_folder(int command(int, char**), const char* format)
{
    char options[3000] = "";
    for (const char* at = format; *at; at++)
        snprintf(options + strlen(options), 600, *at == 'F' && at[1] == '/' ? "%s" : "%.1s", *at == 'F' && at[1] == '/' ? folder : at);
    return quiet(command, options);
}

/* Do both have the same edges between the same names, each as often? Lists of b are looked up by name. */
static bool same_named_edges(const dataset* a, const dataset* b)
{
    names n;
    error why = {""};
    bool good = a->num_edges == b->num_edges && names_open(&n, 1 << 24, &why);
    for (int64_t v = 0; v < b->num_nodes && good; v++)
        good = names_number(&n, b->name + b->name_at[v], b->name_at[v + 1] - b->name_at[v], &why) == v;
    for (int64_t v = 0; v < a->num_nodes && good; v++)
        for (int64_t e = a->csc.indptr[v]; e < a->csc.indptr[v + 1] && good; e++) {
            const int64_t u = (int64_t)a->csc.indices[e];
            const int64_t to = names_number(&n, a->name + a->name_at[v], a->name_at[v + 1] - a->name_at[v], &why);
            const int64_t from = names_number(&n, a->name + a->name_at[u], a->name_at[u + 1] - a->name_at[u], &why);
            bool there = false;
            for (int64_t i = to < b->num_nodes ? b->csc.indptr[to] : 0; to < b->num_nodes && i < b->csc.indptr[to + 1]; i++)
                there = there || (b->csc.indices[i] == from && b->csc.weight[i] == a->csc.weight[e]);
            good = there;
        }
    names_close(&n);
    return good;
}

TEST(names_come_back_from_every_export)
{
    int64_t number[MODEL_NODES], node[MODEL_NODES];
    char path[3][600];
    dataset d, again;
    error why = {""};
    test_seed(42);
    model_make(&m, 200);
    number_nodes(number, node);
    save_named("all.csv", "", ",", true, false);
    convert_options how = bare;
    how.loops = LOOPS_KEEP;
    if (!CHECK(convert(folder_path(path[0], "all.csv"), folder_path(path[1], "all.ggnn"), &how, &why))) return;
    if (!CHECK(dataset_open(&d, path[1], &why))) return;
    CHECK_EQ(on_folder(export_main, "export F/all.ggnn F/arrays"), 0);
    CHECK(convert(folder_path(path[0], "arrays"), folder_path(path[2], "again.ggnn"), &(convert_options){.loops = LOOPS_KEEP}, &why));
    CHECK(same_files(path[1], path[2]));
    CHECK_EQ(on_folder(export_main, "export F/all.ggnn F/text --format csv --names"), 0);
    if (CHECK(convert(folder_path(path[0], "text/edges.csv"), path[2], &headed, &why) && dataset_open(&again, path[2], &why))) {
        CHECK(again.num_nodes == d.num_nodes && same_named_edges(&d, &again) && same_named_edges(&again, &d));
        dataset_close(&again);
    }
    CHECK_EQ(on_folder(export_main, "export F/all.ggnn F/numbers --format csv"), 0);
    FILE* in = fopen(folder_path(path[0], "numbers/nodes.csv"), "rb");
    char line[400], expected[400];
    CHECK(in && fgets(line, sizeof line, in) && !strcmp(line, "node,name\n"));
    for (int64_t v = 0; in && v < d.num_nodes; v++) {
        snprintf(expected, sizeof expected, "%lld,%s\n", (long long)v, name_of(node[v]));
        if (!CHECK(fgets(line, sizeof line, in) && !strcmp(line, expected))) break;
    }
    if (in) fclose(in);
    CHECK_EQ(on_folder(export_main, "export F/all.ggnn F/none --format npy --names"), 2);
    save_numbered("numbered.csv", number, false);
    CHECK(convert(folder_path(path[0], "numbered.csv"), folder_path(path[2], "numbered.ggnn"), &(convert_options){.loops = LOOPS_KEEP}, &why));
    CHECK_EQ(on_folder(export_main, "export F/numbered.ggnn F/none --format csv --names"), 1);
    dataset_close(&d);
}

TEST(reordered_nodes_keep_their_names)
{
    int64_t number[MODEL_NODES], node[MODEL_NODES];
    char path[2][600];
    dataset d, by;
    error why = {""};
    test_seed(43);
    model_make(&m, 150);
    number_nodes(number, node);
    save_named("order.csv", "", ",", true, false);
    convert_options how = bare;
    how.split = true;
    how.share[0] = 1;
    if (!CHECK(convert(folder_path(path[0], "order.csv"), folder_path(path[1], "order.ggnn"), &how, &why))) return;
    CHECK_EQ(on_folder(rank_main, "rank F/order.ggnn --by degree"), 0);
    CHECK_EQ(on_folder(reorder_main, "reorder F/order.ggnn F/by.ggnn"), 0);
    CHECK_EQ(on_folder(verify_main, "verify F/by.ggnn"), 0);
    if (!CHECK(dataset_open(&d, path[1], &why) && dataset_open(&by, folder_path(path[0], "by.ggnn"), &why))) return;
    CHECK(!by.external_id && !names_are(&by, node) && same_named_edges(&d, &by) && same_named_edges(&by, &d));
    dataset_close(&d);
    dataset_close(&by);
}

/* folder/from, and an external id of each node: 1,000 and its number. */
static bool add_external_ids(const char* from, const char* to)
{
    char in[600], out[600];
    ggnn_file f;
    ggnn_file_writer w;
    int64_t id[MODEL_NODES];
    for (int v = 0; v < MODEL_NODES; v++) id[v] = 1000 + v;
    if (!ggnn_file_open(&f, folder_path(in, from))) return false;
    bool good = ggnn_file_create(&w, folder_path(out, to));
    for (int64_t i = 0; i < f.num_sections && good; i++) good = ggnn_file_copy(&w, &f, &f.section[i]);
    const int64_t nodes = ggnn_file_find(&f, "indptr")->dim[0] - 1;
    good = good && ggnn_file_append(&w, "external_id", GGNN_FILE_I64, 1, &nodes, id) && ggnn_file_commit(&w);
    ggnn_file_close(&f);
    return good;
}

TEST(reordered_nodes_keep_names_and_external_ids)
{
    char path[2][600];
    dataset d, by;
    error why = {""};
    test_seed(46);
    model_make(&m, 150);
    save_named("two.csv", "", ",", true, false);
    if (!CHECK(convert(folder_path(path[0], "two.csv"), folder_path(path[1], "one.ggnn"), &bare, &why) && add_external_ids("one.ggnn", "two.ggnn"))) return;
    CHECK_EQ(on_folder(rank_main, "rank F/two.ggnn --by degree"), 0);
    CHECK_EQ(on_folder(reorder_main, "reorder F/two.ggnn F/both.ggnn"), 0);
    CHECK_EQ(on_folder(verify_main, "verify F/both.ggnn"), 0);
    if (!CHECK(dataset_open(&d, folder_path(path[0], "two.ggnn"), &why) && dataset_open(&by, folder_path(path[1], "both.ggnn"), &why))) return;
    CHECK(by.external_id && by.name && same_named_edges(&d, &by) && same_named_edges(&by, &d));
    for (int64_t v = 0; by.external_id && by.name && v < by.num_nodes; v++) { /* both are those of one node */
        const int64_t was = by.external_id[v] - 1000, length = d.name_at[was + 1] - d.name_at[was];
        CHECK(by.name_at[v + 1] - by.name_at[v] == length && memcmp(by.name + by.name_at[v], d.name + d.name_at[was], (size_t)length) == 0);
    }
    dataset_close(&d);
    dataset_close(&by);
}

/* A file of three nodes and two edges, whose names are these. */
static void write_names(const char* bytes_of, int64_t bytes_count, const int64_t* at, int64_t at_count)
{
    static const int64_t indptr[] = {0, 1, 2, 2}, four = 4, two = 2;
    static const ggnn_node indices[] = {1, 0};
    char path[600];
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, folder_path(path, "w.ggnn")) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &four, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &two, indices) &&
          (!bytes_of || ggnn_file_append(&w, "external_name", GGNN_FILE_U8, 1, &bytes_count, bytes_of)) &&
          (!at || ggnn_file_append(&w, "external_at", GGNN_FILE_I64, 1, &at_count, at)) && ggnn_file_commit(&w));
}

TEST(names_of_a_file_that_cannot_be_are_found)
{
    static const struct {
        const char* bytes_of;
        int64_t at[4];
        const char* words; /* NULL: good */
    } of[] = {{"abc", {0, 1, 2, 3}, NULL},
              {"aab", {0, 1, 2, 3}, "section 'external_name': nodes 0 and 1 have one name"},
              {"abb", {0, 1, 2, 3}, "section 'external_name': nodes 1 and 2 have one name"},
              {"aaa", {0, 1, 2, 3}, "nodes 0 and 1 have one name"},
              {"abc", {1, 1, 2, 3}, "section 'external_at' goes from 1 to 3, there are 3 bytes of names"},
              {"abc", {0, 1, 2, 2}, "section 'external_at' goes from 0 to 2, there are 3 bytes of names"},
              {"abc", {0, 0, 2, 3}, "what node 0 is called, [0, 0), is no name"},
              {"abc", {0, 2, 1, 3}, "what node 1 is called, [2, 1), is no name"},
              {"abc", {0, 4, 5, 3}, "what node 0 is called, [0, 4), is no name"},
              {"abc", {0, -1, 2, 3}, "what node 0 is called, [0, -1), is no name"},
              {"a c", {0, 1, 2, 3}, "what node 1 is called, [1, 2), is no name"},
              {"a,c", {0, 1, 2, 3}, "what node 1 is called, [1, 2), is no name"},
              {"a\"c", {0, 1, 2, 3}, "what node 1 is called, [1, 2), is no name"},
              {"ab\n", {0, 1, 2, 3}, "what node 2 is called, [2, 3), is no name"},
              {"ab\177", {0, 1, 2, 3}, "what node 2 is called, [2, 3), is no name"},
              {"#bc", {0, 1, 2, 3}, "what node 0 is called, [0, 1), is no name"},
              {"a%c", {0, 1, 2, 3}, "what node 1 is called, [1, 2), is no name"}};
    dataset d;
    char path[600];
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        error why = {""};
        write_names(of[k].bytes_of, 3, of[k].at, 4);
        if (!CHECK(dataset_open(&d, folder_path(path, "w.ggnn"), &why))) continue;
        const bool one = of[k].words && strstr(of[k].words, "one name");
        CHECK_EQ(dataset_check_names(&d, &why), !of[k].words || one);
        CHECK_EQ(dataset_check_sections(&d, false, &why), !of[k].words || one);
        CHECK(!of[k].words || one || strstr(why.text, of[k].words));
        CHECK(dataset_check_sections(&d, true, &(error){""}));
        dataset_close(&d);
        CHECK_EQ(on_folder(verify_main, "verify F/w.ggnn"), of[k].words ? 1 : 0);
        const int code = on_folder(export_main, "export F/w.ggnn F/wx --format csv --names");
        CHECK_EQ(code, of[k].words && !one ? 1 : 0);
        if (code == 0) remove_tree(folder_path(path, "wx"));
    }
    error why = {""};
    const int64_t at[] = {0, 1, 2, 3};
    write_names("abc", 3, NULL, 0);
    CHECK(!dataset_open(&d, folder_path(path, "w.ggnn"), &why) && strstr(why.text, "of the sections 'external_name' and 'external_at' it has one alone"));
    why.text[0] = 0;
    write_names(NULL, 0, at, 4);
    CHECK(!dataset_open(&d, path, &why) && strstr(why.text, "it has one alone"));
    why.text[0] = 0;
    write_names("abc", 3, at, 3);
    CHECK(!dataset_open(&d, path, &why) && strstr(why.text, "section 'external_at'") && strstr(why.text, "not i64 (N + 1)"));
}

TEST(names_in_arrays_are_checked)
{
    static const int64_t edges[] = {0, 1, 1, 2}, at[] = {0, 1, 2, 3}, bad_at[] = {0, 2, 1, 3};
    static const float x[] = {1, 2, 3};
    static const struct {
        const char *bytes_of, *type;
        int64_t count, ends;
        bool bad, alone;
        const char* words;
    } of[] = {{"abc", "|u1", 3, 4, false, false, NULL},
              {"abc", "|u1", 2, 4, false, false, "goes from 0 to 3, there are 2 bytes of names"},
              {"abc", "|u1", 3, 3, false, false, "external_at.npy: shape (3); (nodes + 1) is expected"},
              {"abc", "|i1", 3, 4, false, false, "external_name.npy: shape (3); (bytes) of type u1 is expected"},
              {"abcdef", "<u2", 3, 4, false, false, "external_name.npy: shape (3); (bytes) of type u1 is expected"},
              {"abc", "|u1", 3, 4, true, false, "what node 1 is called, [2, 1), is no name"},
              {"abc", "|u1", 3, 4, false, true, "no array external_at.npy"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        dataset d;
        put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
        put_matrix(&to, "feat", "<f4", 3, 1, x, 4, false);
        put_vector(&to, "external_name", of[k].type, of[k].count, of[k].bytes_of, (size_t)(of[k].type[2] - '0'));
        if (!of[k].alone) put_vector(&to, "external_at", "<i8", of[k].ends, of[k].bad ? bad_at : at, 8);
        save(zip_end(&z), "named.npz", false);
        if (of[k].words) {
            const char* message = refused("named.npz", &(convert_options){.format = FORMAT_AUTO});
            if (!CHECK(strstr(message, of[k].words))) printf("    %s\n", message);
        } else if (converted(&d, "named.npz", &(convert_options){.format = FORMAT_AUTO})) {
            CHECK(d.name && memcmp(d.name, "abc", 3) == 0 && memcmp(d.name_at, at, sizeof at) == 0);
            dataset_close(&d);
        }
    }
}

TEST(the_command_takes_names)
{
    char path[600], out[2][600];
    error why = {""};
    write_file(folder_path(path, "k.csv"), "u,v\na,b\n", 8);
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(on_folder(convert_main, k ? "convert F/k.csv F/k0.ggnn --ids names --header no" : "convert F/k.csv F/k0.ggnn --ids names --header yes"), 0);
        CHECK(convert(path, folder_path(out[1], "k1.ggnn"), k ? &bare : &headed, &why));
        CHECK(same_files(folder_path(out[0], "k0.ggnn"), out[1]));
    }
    CHECK_EQ(on_folder(convert_main, "convert F/k.csv F/k2.ggnn --ids names"), 1);
    CHECK_EQ(on_folder(convert_main, "convert F/k.csv F/k2.ggnn --ids numbers --header no"), 1);
    CHECK_EQ(on_folder(convert_main, "convert F/k.csv F/k2.ggnn --ids words"), 2);
}

TEST(info_says_that_nodes_have_names)
{
    static const int64_t at[] = {0, 1, 2, 3};
    write_names("abc", 3, at, 4);
    char command[900], text[8192];
    int kept = dup(1);
    FILE* to = tmpfile();
    for (int json = 0; json < 2; json++) {
        snprintf(command, sizeof command, "%s/w.ggnn", folder);
        fflush(stdout);
        rewind(to);
        dup2(fileno(to), 1);
        const int code = info_main(json ? 3 : 2, (char*[]){"info", command, "--json", NULL});
        fflush(stdout);
        dup2(kept, 1);
        rewind(to);
        text[fread(text, 1, sizeof text - 1, to)] = 0;
        CHECK(code == 0 && strstr(text, json ? "\"external_names\": true" : "names            kept, section external_name\n"));
    }
    close(kept);
    fclose(to);
}

/* ---- memory, damage -------------------------------------------------------------------------------------------- */

TEST(each_allocation_for_names_may_fail)
{
    test_seed(44);
    model_make(&m, 30);
    save_named("alloc.csv", "", ",", true, false);
    allocations_may_fail("alloc.csv", &bare);
    bytes b = {0};
    for (int i = 0; i < 1500; i++) put_string(&b, name_of(4 * (i + 9))), put_string(&b, " z\n");
    save(b, "alloc.txt", false); /* so many that all three blocks grow */
    allocations_may_fail("alloc.txt", &bare);
    CHECK_EQ(on_folder(convert_main, "convert F/alloc.csv F/alloc2.ggnn --ids names --header no"), 0);
    CHECK_EQ(on_folder(export_main, "export F/alloc2.ggnn F/alloc-npy"), 0);
    allocations_may_fail("alloc-npy", &(convert_options){.format = FORMAT_AUTO});
}

/* Text has no checksum: whatever comes is a graph with good names, or a message. */
TEST(damaged_names_give_a_graph_or_a_message)
{
    char in[600], out[600];
    test_seed(45);
    model_make(&m, 40);
    save_named("damaged.csv", "", ",", true, false);
    bytes file = {0};
    put_file_bytes(&file, folder_path(in, "damaged.csv"));
    for (int i = 0; i < DAMAGED; i++) {
        error why = {""};
        dataset d;
        write_damaged(in, &file, i, 1 + i % 3);
        if (!convert(in, folder_path(out, "damaged.ggnn"), &bare, &why)) CHECK(strstr(why.text, "damaged.csv"));
        else if (CHECK(dataset_open(&d, out, &why))) {
            CHECK(d.name && dataset_check_names(&d, &why) && dataset_check_graph(&d, &why));
            dataset_close(&d);
        }
    }
    drop(&file);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(names_are_numbered_as_they_come_from_any_list);
    RUN(blanks_around_a_tab_are_part_of_it);
    RUN(columns_behind_names_are_weights_and_features);
    RUN(names_are_counted_in_the_report);
    RUN(line_1_is_what_the_user_says);
    RUN(what_is_no_name_is_refused_by_line_and_byte);
    RUN(a_table_finds_each_name_again);
    RUN(names_are_equal_where_all_bytes_are);
    RUN(names_that_memory_does_not_hold_say_how_much_would);
    RUN(names_come_back_from_every_export);
    RUN(reordered_nodes_keep_their_names);
    RUN(reordered_nodes_keep_names_and_external_ids);
    RUN(names_of_a_file_that_cannot_be_are_found);
    RUN(names_in_arrays_are_checked);
    RUN(the_command_takes_names);
    RUN(info_says_that_nodes_have_names);
    RUN(each_allocation_for_names_may_fail);
    RUN(damaged_names_give_a_graph_or_a_message);
    folder_remove();
    return test_finish();
}
