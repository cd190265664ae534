#include "bench/with.h"

#include <string.h>

#include "bench/harness.h"
#include "common/printable.h"
#include "datasets/arrays.h"
#include "datasets/node_array.h"
#include "datasets/plan_file.h"

typedef enum { NOTHING = 0, OWNERS = 1, PARTITION = 2, RANKING = 4 } with_kind;
static const struct {
    const char* entry;
    unsigned kinds;
} takes[] = {{"split", OWNERS | PARTITION}, {"cache", RANKING}, {"store", RANKING}};

static unsigned taken_by(const char* entry)
{
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        if (strcmp(takes[i].entry, entry) == 0) return takes[i].kinds;
    return NOTHING;
}

bool with_takes(const bench_options* o, const bench_entry* e, error* why)
{
    if (!o->with || taken_by(e->name)) return true;
    return error_set(why, "--with: %s takes no partition and no ranking; split, cache and store do", e->name);
}

/* NOTHING: why. */
static with_kind kind_of_plan(const char* path, error* why)
{
    ggnn_file f;
    with_kind kind = NOTHING;
    if (!ggnn_file_open(&f, path)) error_set(why, "%s", f.error);
    else if (ggnn_file_find(&f, "parts") && ggnn_file_find(&f, "owner")) kind = PARTITION;
    else if (ggnn_file_find(&f, "rank_rows")) kind = RANKING;
    else error_set(why, "%s: neither a partition nor a ranking, which ggnn-data partition and rank write", path);
    ggnn_file_close(&f);
    return kind;
}

static with_kind kind_of_array(const char* path, error* why)
{
    array a;
    if (!array_open_file(&a, path, why)) return NOTHING;
    const bool whole = a.h.kind == 'i' || a.h.kind == 'u';
    array_close(&a);
    if (!whole) error_set(why, "%s: owners are integers; of scores ggnn-data rank --by file makes a ranking", path);
    return whole ? OWNERS : NOTHING;
}

static with_kind kind_of(const char* path, error* why)
{
    enum { GGNN = 0x89, NPY = 0x93, GZIP = 0x1f };
    unsigned char first;
    if (!source_peek(path, 0, &first, 1, "its first byte", why)) return NOTHING;
    if (first == GGNN) return kind_of_plan(path, why);
    if (first == NPY || first == GZIP) return kind_of_array(path, why);
    error_set(why, "%s: neither a file of ggnn-data partition or rank nor a .npy array", path);
    return NOTHING;
}

bool with_fits(bench* b, const bench_entry* const* chosen, int count)
{
    if (!b->o.with) return true;
    const with_kind kind = kind_of(b->o.with, &b->why);
    if (!kind) return false;
    for (int i = 0; i < count; i++)
        if (taken_by(chosen[i]->name) & kind) return true;
    return error_set(&b->why, "--with %s: it is %s", b->o.with,
                     kind == RANKING ? "a ranking, which cache and store take" : "a partition, which split takes");
}

const char* with_name(char name[WITH_NAME], const bench_options* o)
{
    const int used = snprintf(name, WITH_NAME, "own: ");
    printable(name + used, (size_t)(WITH_NAME - used), bench_base_name(o->with));
    return name;
}

static bool read_partition(bench* b, const dataset* d, with_kind kind, int32_t* owner, int32_t* parts)
{
    partition p;
    *parts = 0;
    if (kind == OWNERS) return node_owners(owner, parts, b->o.with, d->num_nodes, &b->why);
    if (!partition_open(&p, b->o.with, d, &b->why)) return false;
    memcpy(owner, p.owner, (size_t)d->num_nodes * sizeof *owner);
    *parts = p.parts;
    partition_close(&p);
    return true;
}

bool with_partition(bench* b, int32_t** owner, int32_t* parts)
{
    const dataset* d = bench_dataset_of(b);
    *owner = NULL;
    if (!d || !b->o.with) return d != NULL;
    const with_kind kind = kind_of(b->o.with, &b->why);
    if (!(kind & (OWNERS | PARTITION))) return kind != NOTHING;
    *owner = bench_new(b, (size_t)d->num_nodes * sizeof **owner, "owners");
    return *owner && read_partition(b, d, kind, *owner, parts);
}

/* A copy for as long as the entry runs. */
static bool copy_rank(bench* b, ggnn_node** to, const ggnn_node* rank, int64_t nodes)
{
    *to = bench_new(b, (size_t)nodes * sizeof **to, "ranks");
    if (*to) memcpy(*to, rank, (size_t)nodes * sizeof **to);
    return *to != NULL;
}

bool with_ranking(bench* b, ggnn_node** rows, ggnn_node** lists)
{
    const dataset* d = bench_dataset_of(b);
    ranking r;
    *rows = NULL;
    if (lists) *lists = NULL;
    if (!d || !b->o.with) return d != NULL;
    const with_kind kind = kind_of(b->o.with, &b->why);
    if (kind != RANKING) return kind != NOTHING;
    if (!ranking_open(&r, b->o.with, d, &b->why)) return false;
    const bool good = copy_rank(b, rows, r.rows, d->num_nodes) && (!lists || copy_rank(b, lists, r.lists, d->num_nodes));
    ranking_close(&r);
    return good;
}
