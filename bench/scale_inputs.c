#include "bench/scale_inputs.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/input.h"
#include "bench_scale_inputs.h" /* made by make: own_line, the lines of bench/scale_inputs.csv */

enum { LINE = 2048, FIELDS = 6, POINT = 1 + 2 * SCALE_HOPS };

/* ==== what there may be =========================================================================================== */

typedef struct {
    const char *kind, *name;
    size_t at;      /* in the object */
    int32_t values; /* numbers; 0: a word */
    bool needed;    /* numbers that an object must have */
} field;

#define NUMBER(kind, type, member) {kind, #member, offsetof(type, member), 1, true}
#define WORD(member) {"check", #member, offsetof(scale_check, member), 0, false}
static const field fields[] = {
    NUMBER("graph", scale_graph, nodes),          NUMBER("graph", scale_graph, edges),
    NUMBER("graph", scale_graph, features),       NUMBER("graph", scale_graph, bytes),
    NUMBER("graph", scale_graph, classes),        NUMBER("graph", scale_graph, train),
    NUMBER("graph", scale_graph, batch),          NUMBER("graph", scale_graph, hidden),
    NUMBER("graph", scale_graph, tables),         NUMBER("machine", scale_machine, tables),
    NUMBER("machine", scale_machine, devices),    NUMBER("machine", scale_machine, memory),
    NUMBER("machine", scale_machine, room),       NUMBER("machine", scale_machine, host_memory),
    NUMBER("machine", scale_machine, stream),     NUMBER("machine", scale_machine, random),
    NUMBER("machine", scale_machine, dense),      NUMBER("machine", scale_machine, step),
    NUMBER("machine", scale_machine, peer_each),  NUMBER("machine", scale_machine, peer),
    NUMBER("machine", scale_machine, reach),
    NUMBER("machine", scale_machine, host),       NUMBER("machine", scale_machine, uplinks),
    NUMBER("machine", scale_machine, host_all),   NUMBER("machine", scale_machine, net),
    NUMBER("machine", scale_machine, peer_latency), NUMBER("machine", scale_machine, net_latency),
    NUMBER("split", scale_split, remote),         NUMBER("split", scale_split, skew),
    NUMBER("check", scale_check, published),      {"check", "inputs", offsetof(scale_check, inputs), SCALE_VALUES, false},
    WORD(how), WORD(graph), WORD(machine), WORD(gnn), {"graph", "point", 0, POINT, false},
    {"graph", "hit", 0, 2, false}};
enum { NUM_FIELDS = sizeof fields / sizeof *fields };

typedef struct { /* of objects of a kind */
    const char* kind;
    size_t first, size, count; /* in scale_inputs: the array, and how many it has */
    int32_t most;
    size_t name; /* in an object; none: no name */
} kind;
static const size_t none = (size_t)-1;
#define KIND(type, many, most) {#many, offsetof(scale_inputs, many), sizeof(type), offsetof(scale_inputs, many##s), most, 0}
static const kind kinds[] = {
    KIND(scale_graph, graph, SCALE_GRAPHS), KIND(scale_machine, machine, SCALE_MACHINES), KIND(scale_check, check, SCALE_CHECKS),
    {"split", offsetof(scale_inputs, split), sizeof(scale_split), offsetof(scale_inputs, splits), 1, (size_t)-1}};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

typedef struct { /* where a line stands, for errors */
    const char* file;
    int32_t line;
    char part[FIELDS][LINE]; /* all but the source */
} place;

static bool fail(const place* at, const char* what, const char* text, error* why)
{
    return error_set(why, "%s: line %d: %s: %s", at->file, (int)at->line, text, what);
}

/* ==== objects ===================================================================================================== */

static int32_t* count_of(scale_inputs* in, const kind* k) { return (int32_t*)(void*)((char*)in + k->count); }
static char* object_at(scale_inputs* in, const kind* k, int32_t i) { return (char*)in + k->first + (size_t)i * k->size; }

static const kind* kind_named(const char* name)
{
    for (int32_t i = 0; i < NUM_KINDS; i++)
        if (strcmp(kinds[i].kind, name) == 0) return &kinds[i];
    return NULL;
}

static void put_number(char* object, const field* f, int32_t i, double value)
{
    memcpy(object + f->at + (size_t)i * sizeof value, &value, sizeof value);
}

/* Numbers that no line has given yet are no numbers. */
static void begin_object(char* object, const char* which)
{
    for (int32_t i = 0; i < NUM_FIELDS; i++)
        if (strcmp(fields[i].kind, which) == 0 && fields[i].needed) put_number(object, &fields[i], 0, NAN);
}

/* The object that a line is about: the last of its kind, or a new one. */
static char* object_of(scale_inputs* in, const kind* k, const place* at, error* why)
{
    int32_t* count = count_of(in, k);
    const char* name = at->part[1];
    if (k->name == none && *count) return object_at(in, k, 0);
    for (int32_t i = 0; k->name != none && i < *count; i++)
        if (strcmp(object_at(in, k, i) + k->name, name) == 0) return object_at(in, k, i);
    if (*count == k->most) fail(at, "too many of this kind", at->part[0], why);
    else if (!name[0] || strlen(name) >= SCALE_NAME) fail(at, "a name has 1 to 31 letters", name, why);
    else {
        char* object = object_at(in, k, (*count)++);
        begin_object(object, k->kind);
        if (k->name != none) memcpy(object + k->name, name, strlen(name) + 1);
        return object;
    }
    return NULL;
}

/* ==== a line ====================================================================================================== */

static bool split_line(place* at, const char* line, error* why)
{
    for (int32_t i = 0; i < FIELDS; i++) {
        const char* end = strchr(line, ',');
        if (!end) return fail(at, "a line is kind,name,field,value,unit,label,source", line, why);
        snprintf(at->part[i], LINE, "%.*s", (int)(end - line), line);
        line = end + 1;
    }
    if (!line[strspn(line, " \r\n")]) return fail(at, "has no source", at->part[2], why);
    for (const char* label = "stated\0counted\0measured\0modelled\0"; *label; label += strlen(label) + 1)
        if (strcmp(label, at->part[5]) == 0) return true;
    return fail(at, "is not one of stated, counted, measured, modelled", at->part[5], why);
}

/* All numbers of a value; how many, or -1. */
static int32_t numbers_of(const char* text, double* value, int32_t most)
{
    int32_t n = 0;
    for (char* end; *text; text = end) {
        if (n == most) return -1;
        value[n++] = strtod(text, &end);
        if (end == text || !isfinite(value[n - 1])) return -1;
        end += strspn(end, " ");
    }
    return n;
}

/* Points stand in order: of seeds, of the share cached. */
static bool add_point(scale_graph* g, const place* at, const double* x, bool hit, error* why)
{
    int32_t* count = hit ? &g->hit_points : &g->points;
    const double last = *count == 0 ? 0 : hit ? g->hit[*count - 1].cached : g->point[*count - 1].seeds;
    if (*count == SCALE_POINTS) return fail(at, "too many points", at->part[3], why);
    if (x[0] <= last || (hit && (x[0] >= 1 || x[1] > 1)))
        return fail(at, "points ascend, and shares are below 1", at->part[3], why);
    if (hit) g->hit[*count] = (scale_hits){x[0], x[1]};
    else {
        scale_point* p = &g->point[*count];
        p->seeds = x[0];
        memcpy(p->edges, x + 1, sizeof p->edges);
        memcpy(p->nodes, x + 1 + SCALE_HOPS, sizeof p->nodes);
    }
    ++*count;
    return true;
}

static bool set_field(char* object, const field* f, const place* at, error* why)
{
    double x[POINT];
    if (f->values == 0) {
        if (strlen(at->part[3]) >= SCALE_NAME) return fail(at, "a word has at most 31 letters", at->part[3], why);
        memcpy(object + f->at, at->part[3], strlen(at->part[3]) + 1);
        return true;
    }
    const int32_t n = numbers_of(at->part[3], x, f->values);
    const bool some = strcmp(f->name, "inputs") == 0; /* how many is the predictor's business */
    if (n < 1 || (n != f->values && !some)) return fail(at, "is not as many numbers as the field has", at->part[3], why);
    for (int32_t i = 0; i < n; i++)
        if (x[i] < 0) return fail(at, "is negative", at->part[3], why);
    if (f->values == POINT || f->values == 2) return add_point((scale_graph*)(void*)object, at, x, f->values == 2, why);
    for (int32_t i = 0; i < n; i++) put_number(object, f, i, x[i]);
    return true;
}

static bool read_line(scale_inputs* in, place* at, const char* line, error* why)
{
    at->line++;
    if (line[0] == '#' || !line[strspn(line, " \r\n")]) return true;
    if (!split_line(at, line, why)) return false;
    const kind* k = kind_named(at->part[0]);
    if (!k) return fail(at, "is not one of graph, machine, split, check", at->part[0], why);
    for (int32_t i = 0; i < NUM_FIELDS; i++)
        if (strcmp(fields[i].kind, k->kind) == 0 && strcmp(fields[i].name, at->part[2]) == 0) {
            char* object = object_of(in, k, at, why);
            return object && set_field(object, &fields[i], at, why);
        }
    return fail(at, "a field that the kind does not have", at->part[2], why);
}

/* ==== the whole =================================================================================================== */

static bool is_whole(scale_inputs* in, const char* file, error* why)
{
    for (int32_t k = 0; k < NUM_KINDS; k++)
        for (int32_t i = 0; i < *count_of(in, &kinds[k]); i++) {
            const char* object = object_at(in, &kinds[k], i);
            for (int32_t f = 0; f < NUM_FIELDS; f++) {
                double x;
                memcpy(&x, object + fields[f].at, sizeof x);
                if (strcmp(fields[f].kind, kinds[k].kind) == 0 && fields[f].needed && isnan(x))
                    return error_set(why, "%s: %s %s has no %s", file, kinds[k].kind, kinds[k].name == none ? "" : object,
                                     fields[f].name);
            }
        }
    for (int32_t i = 0; i < in->graphs; i++)
        if (in->graph[i].points == 0) return error_set(why, "%s: graph %s has no point", file, in->graph[i].name);
    return (in->graphs && in->machines && in->splits) || error_set(why, "%s: needs a graph, a machine and a split", file);
}

static bool read_file(scale_inputs* in, place* at, const char* path, error* why)
{
    char line[LINE];
    int64_t bytes;
    FILE* file = input_stream(path, &bytes, why);
    bool good = true;
    if (!file) return false;
    while (good && fgets(line, sizeof line, file)) {
        if (strlen(line) == sizeof line - 1) at->line++, good = fail(at, "a line is too long", path, why);
        else good = read_line(in, at, line, why);
    }
    if (good && ferror(file)) good = error_set(why, "%s: cannot be read", path);
    fclose(file);
    return good;
}

bool scale_inputs_read(scale_inputs* in, const char* path, error* why)
{
    place at = {.file = path ? path : "bench/scale_inputs.csv"};
    memset(in, 0, sizeof *in);
    for (size_t i = 0; !path && i < sizeof own_line / sizeof *own_line; i++)
        if (!read_line(in, &at, own_line[i], why)) return false;
    if (path && !read_file(in, &at, path, why)) return false;
    return is_whole(in, at.file, why);
}

const scale_graph* scale_graph_named(const scale_inputs* in, const char* name)
{
    for (int32_t i = 0; i < in->graphs; i++)
        if (strcmp(in->graph[i].name, name) == 0) return &in->graph[i];
    return NULL;
}

const scale_machine* scale_machine_named(const scale_inputs* in, const char* name)
{
    for (int32_t i = 0; i < in->machines; i++)
        if (strcmp(in->machine[i].name, name) == 0) return &in->machine[i];
    return NULL;
}
