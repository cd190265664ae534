#include "datasets/metis.h"

#ifndef HAVE_METIS
bool metis_divide(int32_t* owner, const ggnn_lists* lists, int32_t parts, const char* path, error* why)
{
    (void)owner;
    (void)lists;
    (void)parts;
    return error_set(why, "%s: --method metis: this program was built without METIS (metis.h, -lmetis); mincut is built in",
                     path);
}
#else
#include <metis.h>

#include "common/memory.h"

/* METIS reads its own integers. */
static bool copy_lists(idx_t* row, idx_t* column, const ggnn_lists* lists)
{
    for (int64_t v = 0; v <= lists->num_nodes; v++) row[v] = (idx_t)lists->indptr[v];
    for (int64_t e = 0; e < lists->num_edges; e++) column[e] = (idx_t)lists->indices[e];
    return true;
}

bool metis_divide(int32_t* owner, const ggnn_lists* lists, int32_t parts, const char* path, error* why)
{
    const int64_t n = lists->num_nodes, most = sizeof(idx_t) == 4 ? INT32_MAX : INT64_MAX;
    idx_t options[METIS_NOPTIONS], num_nodes = (idx_t)n, constraints = 1, num_parts = (idx_t)parts, cut;
    int status = METIS_OK;
    if (lists->num_edges > most || n >= most)
        return error_set(why, "%s: METIS has indices of %d bits: %lld edges in both directions are too many", path,
                         (int)(8 * sizeof(idx_t)), (long long)lists->num_edges);
    for (int64_t v = 0; v < n; v++) owner[v] = 0;
    if (parts == 1 || n == 0) return true; /* METIS would fail */
    idx_t* row = memory_new((size_t)(n + 1) * sizeof *row, "METIS's rows", why);
    idx_t* column = row ? memory_new((size_t)lists->num_edges * sizeof *column, "METIS's edges", why) : NULL;
    idx_t* part = column ? memory_new((size_t)n * sizeof *part, "METIS's parts", why) : NULL;
    if (part && copy_lists(row, column, lists)) {
        METIS_SetDefaultOptions(options);
        options[METIS_OPTION_SEED] = 1;
        status = METIS_PartGraphKway(&num_nodes, &constraints, row, column, NULL, NULL, NULL, &num_parts, NULL, NULL, options,
                                     &cut, part);
        for (int64_t v = 0; v < n; v++) owner[v] = (int32_t)part[v];
        if (status != METIS_OK) error_set(why, "%s: METIS fails with status %d", path, status);
    }
    bool good = part && status == METIS_OK;
    memory_free(row);
    memory_free(column);
    memory_free(part);
    return good;
}
#endif
