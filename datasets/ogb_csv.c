#include "datasets/ogb_csv.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/printable.h"
#include "datasets/graph_arrays.h"

bool ogb_csv_open(text* t, const char* in, const char* name, bool needed, error* why)
{
    char path[SOURCE_PATH], file[320];
    error ignored = {""};
    memset(t, 0, sizeof *t);
    snprintf(file, sizeof file, "%s.csv.gz", name);
    if (!path_in(path, in, file, why)) return false;
    if (!find_file(path, in, file, &ignored)) file[strlen(file) - 3] = 0;
    if (!find_file(path, in, file, &ignored))
        return !needed || error_set(why, "%s: neither %s.csv.gz nor %s.csv is there", in, name, name);
    source* s = source_open(path, why);
    if (!s) return false;
    if (text_open(t, s, "", why)) return true;
    source_close(s);
    t->in = NULL;
    return false;
}

void ogb_csv_close(text* t)
{
    source* s = t->in;
    text_close(t);
    source_close(s);
    t->in = NULL;
}

bool ogb_csv_end_line(text* t, error* why)
{
    if (!text_more(t, why)) return !why->text[0];
    double ignored;
    return text_real(t, &ignored, why) && text_fail(t, "more columns than expected", why);
}

/* ---- the split ------------------------------------------------------------------------------------------------ */

static bool read_node(builder* b, text* t, int part, error* why)
{
    int64_t node;
    char what[64];
    if (!text_int(t, &node, why)) return false;
    snprintf(what, sizeof what, "a node outside [0, %lld)", (long long)b->num_nodes);
    if (node < 0 || node >= b->num_nodes) return text_fail(t, what, why);
    return ogb_csv_end_line(t, why) && builder_mark(b, 0, node, part, why);
}

static bool read_part(builder* b, text* t, int part, error* why)
{
    int more;
    b->place = source_name(t->in);
    while ((more = text_next_line(t, why)) == 1)
        if (!read_node(b, t, part, why)) return false;
    return more == 0;
}

/* The one folder in split/; of several the first by name. "" where there is none. */
static void find_split(const char* in, char name[256])
{
    char path[SOURCE_PATH];
    error ignored = {""};
    struct stat about;
    DIR* list = path_in(path, in, "split", &ignored) ? opendir(path) : NULL;
    name[0] = 0;
    for (struct dirent* entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.' && (!name[0] || strcmp(entry->d_name, name) < 0) &&
            fstatat(dirfd(list), entry->d_name, &about, 0) == 0 && S_ISDIR(about.st_mode))
            snprintf(name, 256, "%s", entry->d_name);
    if (list) closedir(list);
}

/* Is torch's file there instead of train.csv? */
bool ogb_check_split(const builder* b, const char* in, error* why)
{
    char path[SOURCE_PATH], name[300], split[256];
    error ignored = {""};
    text train;
    find_split(in, split);
    if (!split[0] || !builder_wants_splits(b)) return true;
    snprintf(name, sizeof name, "split/%s/train", split);
    if (!ogb_csv_open(&train, in, name, false, why)) return false;
    const bool there = train.in != NULL;
    ogb_csv_close(&train);
    snprintf(name, sizeof name, "split/%s/split_dict.pt", split);
    if (there || !find_file(path, in, name, &ignored)) return true;
    return refuse_pickle(path, ". Put train.csv, valid.csv and test.csv beside it, a node id a line (docs/DATA.md says how), or make "
                               "another split by --split", why);
}

bool ogb_read_split(builder* b, const void* in, error* why)
{
    static const char* const file[4] = {"", "train", "valid", "test"};
    char split[256], shown[256], name[300];
    find_split(in, split);
    if (!split[0]) return true;
    if (b->how->report) fprintf(b->how->report, "splits     from split/%s\n", printable(shown, sizeof shown, split));
    if (!builder_begin_splits(b, 1, why)) return false;
    for (int part = 1; part <= 3; part++) {
        text t;
        snprintf(name, sizeof name, "split/%s/%s", split, file[part]);
        bool ok = ogb_csv_open(&t, in, name, true, why) && read_part(b, &t, part, why);
        ogb_csv_close(&t);
        if (!ok) return false;
    }
    return true;
}
