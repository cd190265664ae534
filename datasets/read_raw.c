/* Arrays in files that have no header, as np.memmap and tofile write them, and papers that cite papers as IGB and MAG240M have
   them: named arrays in named files. */
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/options.h"
#include "common/printable.h"
#include "common/same_file.h"
#include "datasets/graph_arrays.h"
#include "datasets/readers.h"

/* ---- --raw ---------------------------------------------------------------------------------------------------- */

#define KEYS "indptr|indices|row_ptr|col_idx|edge_index|edges|weight|feat|edge_feat|label|split|train|val|test|external_id"
#define TYPES "bool|i8|u8|i16|u16|i32|u32|i64|u64|f16|f32|f64"
enum { WORD_MAX = 3000 };

static int count_keys(void)
{
    int count = 1;
    for (const char* at = KEYS; *at; at++) count += *at == '|';
    return count;
}

/* The text behind the last colon of a word, which is cut off; NULL: there is none. */
static char* cut_last(char* word)
{
    char* colon = strrchr(word, ':');
    if (!colon) return NULL;
    *colon = 0;
    return colon + 1;
}

static bool spec_fails(const char* word, const char* what, error* why)
{
    char shown[256];
    return error_set(why, "--raw %s: %s", printable(shown, sizeof shown, word), what);
}

/* rest: FILE, FILE:TYPE or FILE:TYPE:WIDTH. A colon in FILE stays, where no type or width follows it. */
static bool parse_type(array_file* f, char* rest, const char* word, error* why)
{
    static const int size[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    char* last = cut_last(rest);
    int type = last ? options_choice(TYPES, last) : -1;
    if (last && type < 0 && last[0] >= '0' && last[0] <= '9') {
        const char* width = last;
        last = cut_last(rest);
        type = last ? options_choice(TYPES, last) : -1;
        if (type < 0) return spec_fails(word, "KEY=FILE:TYPE:WIDTH is expected; types are " TYPES, why);
        if (!options_int("--raw WIDTH", width, 1, 1 << 24, &f->width, why)) return false;
    }
    if (last && type < 0) return spec_fails(word, "the type is none of " TYPES, why);
    if (type < 0) return true;
    f->kind = last[0];
    f->size = size[type];
    const bool index = strcmp(f->name, "edge_index") == 0, edges = strcmp(f->name, "edges") == 0;
    if ((index && f->width) || (edges && f->width && f->width != 2)) return spec_fails(word, "edge_index is (2, E) and edges (E, 2), without a width", why);
    if (index) f->rows = 2;
    if (edges) f->width = 2;
    return true;
}

static bool parse_word(array_file* f, const char* word, const char* folder, error* why)
{
    char rest[WORD_MAX];
    const char* equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%.*s", (int)length, word);
    if (length == 0 || length >= sizeof f->name || options_choice(KEYS, f->name) < 0)
        return spec_fails(word, "KEY=FILE:TYPE[:WIDTH] is expected; keys are " KEYS, why);
    snprintf(rest, sizeof rest, "%s", equals + 1);
    if (!parse_type(f, rest, word, why)) return false;
    if (!rest[0]) return spec_fails(word, "a file is missing", why);
    if (rest[0] != '/') return path_in(f->path, folder, rest, why);
    snprintf(f->path, sizeof f->path, "%s", rest);
    return true;
}

/* Words by spaces, into (count_keys()) files, as no key is there twice. Returns how many files there are; -1 on failure. */
static int parse_raw(array_file* file, const char* spec, const char* folder, error* why)
{
    int count = 0;
    for (const char* at = spec + strspn(spec, " "); *at; at += strspn(at, " ")) {
        char word[WORD_MAX];
        array_file next;
        const size_t length = strcspn(at, " ");
        if (length >= sizeof word) return error_set(why, "--raw: a word of %zu letters", length), -1;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        at += length;
        if (!parse_word(&next, word, folder, why)) return -1;
        for (int i = 0; i < count; i++)
            if (strcmp(file[i].name, next.name) == 0) return spec_fails(word, "the key is there twice", why), -1;
        file[count++] = next;
    }
    return count;
}

static bool has_edges(const array_set* set)
{
    return arrays_have(set, "edges") || arrays_have(set, "edge_index") || (arrays_have(set, "indptr") && arrays_have(set, "indices")) ||
           (arrays_have(set, "row_ptr") && arrays_have(set, "col_idx"));
}

bool read_raw(builder* b, const char* in, error* why)
{
    static const char needs[] = "edges, edge_index, indptr and indices, or row_ptr and col_idx are needed";
    array_file* file = memory_new((size_t)count_keys() * sizeof *file, "names of arrays", why);
    const int count = file ? parse_raw(file, b->how->raw, in, why) : -1;
    const array_set set = arrays_of("--raw", file, count);
    bool ok = count >= 0 && (has_edges(&set) || error_set(why, "--raw: %s", needs));
    for (int i = 0; i < count && ok; i++) ok = !same_file(file[i].path, b->path) || error_set(why, "%s: OUT is read, too", b->path);
    ok = ok && read_array_set(b, &set, false, NULL, why);
    memory_free(file);
    return ok;
}

/* ---- papers that cite papers ---------------------------------------------------------------------------------- */

static bool put_file(array_file* f, const char* name, const char* folder, const char* path, error* why)
{
    memset(f, 0, sizeof *f);
    char inner[80];
    snprintf(f->name, sizeof f->name, "%s", name);
    snprintf(inner, sizeof inner, "processed/%s", path);
    return path_in(f->path, folder, inner, why);
}

/* IGB's large and full have np.memmap's files under the name .npy: 32-bit floats without a header. */
static bool take_bare(const builder* b, array_file* f, int64_t width, error* why)
{
    char magic[6] = "", shown[256];
    const int64_t bytes = source_file_bytes(f->path, why);
    if (bytes < 0) return false;
    if (bytes >= 6 && !source_peek(f->path, 0, magic, 6, "its first bytes", why)) return false;
    if (memcmp(magic, "\x93NUMPY", 6) == 0 || memcmp(magic, "\x1f\x8b", 2) == 0) return true;
    f->kind = 'f';
    f->size = sizeof(float);
    f->width = width;
    if (b->how->report) fprintf(b->how->report, "no header  %s: taken for 32-bit floats, as IGB's large and full have them\n", printable(shown, sizeof shown, f->path));
    return true;
}

int64_t igb_labelled(int64_t nodes) { return nodes == 269346174 ? 227130858 : nodes; }

/* As IGB's loader has it: the first 60 % of the nodes with a label, the next 20 %, the rest. */
static bool split_by_id(builder* b, const void* set, error* why)
{
    (void)set;
    const int64_t nodes = igb_labelled(b->num_nodes);
    const int64_t train = (int64_t)((double)nodes * .6), val = train + (int64_t)((double)nodes * .2);
    if (!builder_begin_splits(b, 1, why)) return false;
    for (int64_t v = 0; v < nodes; v++)
        if (!builder_mark(b, 0, v, v < train ? 1 : v < val ? 2 : 3, why)) return false;
    return true;
}

enum { CITES, FEAT, LABEL, YEAR, NUM_PAPER_FILES };
typedef struct { /* a file of processed/, and what its array is called */
    const char *name, *path;
} paper_file;

/* Features and labels that are not wanted need not be there. width: of features that may lack a header, as labels then may; 0: none may. */
static bool read_papers(builder* b, const char* in, const paper_file* of, int count, int64_t width, node_reader* splits, error* why)
{
    array_file* file = memory_new((size_t)count * sizeof *file, "names of arrays", why);
    int used = 0;
    bool ok = file != NULL;
    for (int k = 0; k < count && ok; k++) {
        if ((k == FEAT && !builder_wants_features(b)) || (k == LABEL && !builder_wants_labels(b))) continue;
        ok = put_file(&file[used], of[k].name, in, of[k].path, why) &&
             (!width || k == CITES || take_bare(b, &file[used], k == FEAT ? width : 0, why));
        used++;
    }
    const array_set set = arrays_of(in, file, used);
    ok = ok && read_array_set(b, &set, false, splits, why);
    memory_free(file);
    return ok;
}

bool read_igb(builder* b, const char* in, error* why)
{
    static const paper_file of[] = {{"edges", "paper__cites__paper/edge_index.npy"}, {"feat", "paper/node_feat.npy"}, {"label", "paper/node_label_19.npy"}};
    return read_papers(b, in, of, YEAR, 1024, split_by_id, why);
}

static bool mark_year(builder* b, array* a, error* why)
{
    if (a->h.num_dims != 1 || a->h.count != b->num_nodes) return array_wrong_shape(a, "(papers)", why);
    if (!builder_begin_splits(b, 1, why)) return false;
    for (int64_t v = 0; v < b->num_nodes; v++) {
        int64_t year;
        if (!array_ints(a, &year, 1, why)) return false;
        const bool labelled = !b->label || b->label[v] >= 0;
        if (labelled && !builder_mark(b, 0, v, year <= 2018 ? 1 : year == 2019 ? 2 : 3, why)) return false;
    }
    return array_end(a, why);
}

static bool split_by_year(builder* b, const void* set, error* why) { return read_named(b, set, "year", true, mark_year, why); }

bool read_mag240m(builder* b, const char* in, error* why)
{
    static const paper_file of[] = {{"edge_index", "paper___cites___paper/edge_index.npy"},
                                    {"feat", "paper/node_feat.npy"},
                                    {"label", "paper/node_label.npy"},
                                    {"year", "paper/node_year.npy"}};
    return read_papers(b, in, of, NUM_PAPER_FILES, 0, split_by_year, why);
}
