#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/options.h"
#include "datasets/source.h"

enum { MAX_BYTES = 1 << 20, MAX_FIELDS = 256 };

typedef struct { /* a line cut into words */
    const char* path;
    int64_t number; /* from 1 */
    char* rest;     /* of the text: the next line */
    int32_t count;
    char* field[MAX_FIELDS];
} line;

/* nvidia-smi underlines its header on a terminal, and where its output is kept. */
static void drop_escapes(char* text)
{
    char* to = text;
    for (const char* from = text; *from; from++) {
        if (*from == '\033' && from[1] == '[') {
            while (*from && *from != 'm') from++;
            if (!*from) break;
        } else {
            *to++ = *from;
        }
    }
    *to = 0;
}

/* The next line with a word that is no comment: false at the end. Words beyond MAX_FIELDS are dropped. */
static bool next_line(line* l)
{
    static const char blank[] = " \t\r,";
    while (*l->rest) {
        char* at = l->rest;
        size_t length = strcspn(at, "\n");
        l->rest += length + (at[length] == '\n');
        at[length] = 0;
        l->number++;
        l->count = 0;
        for (at += strspn(at, blank); *at && l->count < MAX_FIELDS; at += strspn(at, blank)) {
            l->field[l->count++] = at;
            at += strcspn(at, blank);
            if (*at) *at++ = 0;
        }
        if (l->count && l->field[0][0] != '#') return true;
    }
    return false;
}

static bool line_fails(const line* l, const char* what, const char* word, error* why)
{
    return error_set(why, "%s: line %lld: %s: \"%s\"", l->path, (long long)l->number, what, word);
}

static bool is_device(const char* word)
{
    return strncmp(word, "GPU", 3) == 0 && word[3] >= '0' && word[3] <= '9' && strspn(word + 3, "0123456789") == strlen(word + 3);
}

/* What a cell of nvidia-smi's table is worth; -1: it is none. */
static double link_of(const char* word)
{
    static const struct {
        const char* name;
        double bandwidth;
    } kinds[] = {{"X", 700}, {"PIX", 12}, {"PXB", 12}, {"PHB", 0}, {"NODE", 0}, {"SYS", 0}, {"SOC", 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(word, kinds[i].name) == 0) return kinds[i].bandwidth;
    if (strncmp(word, "NV", 2) != 0 || strspn(word + 2, "0123456789") != strlen(word + 2)) return -1;
    return strlen(word) < 3 || strlen(word) > 5 ? -1 : 25 * atof(word + 2);
}

/* l is at the header: GPU0 GPU1 ... NIC0 ... CPU Affinity. A row has a cell for each of its columns. */
static bool read_smi(ggnn_topology* t, line* l, error* why)
{
    int32_t column[GGNN_DEVICES_MAX], P = 0, row = 0;
    for (int32_t i = 0; i < l->count; i++) {
        if (!is_device(l->field[i])) continue;
        if (P == GGNN_DEVICES_MAX) return line_fails(l, "more than 16 devices", l->field[i], why);
        column[P++] = i + 1;
    }
    t->devices = P;
    while (row < P && next_line(l)) {
        if (!is_device(l->field[0])) continue;
        for (int32_t j = 0; j < P; j++) {
            double link = column[j] < l->count ? link_of(l->field[column[j]]) : -1;
            if (link < 0)
                return line_fails(l, "not a link that nvidia-smi names", column[j] < l->count ? l->field[column[j]] : "", why);
            t->bandwidth[row][j] = link;
        }
        row++;
    }
    return row == P || error_set(why, "%s: line %lld: %d rows for %d devices", l->path, (long long)l->number, row, P);
}

/* l is at the first row. */
static bool read_matrix(ggnn_topology* t, line* l, error* why)
{
    int32_t row = 0;
    t->devices = l->count;
    if (l->count > GGNN_DEVICES_MAX) return line_fails(l, "more than 16 devices", l->field[GGNN_DEVICES_MAX], why);
    do {
        if (row == t->devices) return line_fails(l, "a row more than there are columns", l->field[0], why);
        if (l->count != t->devices)
            return error_set(why, "%s: line %lld: %d numbers, the first row has %d", l->path, (long long)l->number, l->count, t->devices);
        for (int32_t j = 0; j < l->count; j++) {
            char* end;
            t->bandwidth[row][j] = strtod(l->field[j], &end);
            if (*end || end == l->field[j]) return line_fails(l, "not a number", l->field[j], why);
        }
        row++;
    } while (next_line(l));
    return row == t->devices ||
           error_set(why, "%s: line %lld: %d rows for %d columns", l->path, (long long)l->number, row, t->devices);
}

static bool read_text(ggnn_topology* t, const char* path, char* text, error* why)
{
    line l = {path, 0, text, 0, {NULL}};
    ggnn_fault fault;
    drop_escapes(text);
    if (!next_line(&l)) return error_set(why, "%s: it holds no topology: no line with a word", path);
    if (!(is_device(l.field[0]) ? read_smi(t, &l, why) : read_matrix(t, &l, why))) return false;
    if (ggnn_topology_validate(t, &fault) == GGNN_OK) return true;
    return error_set(why, "%s: row %lld, column %lld (from 0): %s", path, (long long)fault.node, (long long)fault.edge, fault.what);
}

static bool read_file(ggnn_topology* t, const char* path, error* why)
{
    source* in = source_open(path, why);
    char* text = in ? memory_new(MAX_BYTES + 1, "a topology", why) : NULL;
    int64_t bytes = text ? source_read(in, text, MAX_BYTES + 1, why) : -1;
    bool good = bytes >= 0;
    if (good && bytes > MAX_BYTES) good = error_set(why, "%s: more than %d bytes are no topology", path, MAX_BYTES);
    if (good && memchr(text, 0, (size_t)bytes)) good = error_set(why, "%s: it is no text: it holds zeros", path);
    if (good) {
        text[bytes] = 0;
        good = read_text(t, path, text, why);
    }
    memory_free(text);
    source_close(in);
    return good;
}

bool topology_read(ggnn_topology* t, const char* from, int32_t devices, error* why)
{
    memset(t, 0, sizeof *t);
    if (options_choice(TOPOLOGY_NAMES, from) >= 0)
        return ggnn_topology_named(t, from, devices) == GGNN_OK ||
               error_set(why, "%s: it has no %d devices", from, devices);
    if (!read_file(t, from, why)) return false;
    if (devices == 0 || devices == t->devices) return true;
    return error_set(why, "%s: a topology of %d devices, not of %d: is it another machine's?", from, t->devices, devices);
}

bool topology_keep(ggnn_topology* t, const int64_t* list, int32_t count, error* why)
{
    const ggnn_topology all = *t;
    for (int32_t i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= all.devices)
            return error_set(why, "device %lld: the topology has devices 0 to %d", (long long)list[i], all.devices - 1);
        for (int32_t j = 0; j < i; j++)
            if (list[i] == list[j]) return error_set(why, "device %lld is listed twice", (long long)list[i]);
    }
    t->devices = count;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < count; j++) t->bandwidth[i][j] = all.bandwidth[list[i]][list[j]];
    return true;
}
