#include "statistics.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* ---- degrees -------------------------------------------------------------------------------------------------- */

static int32_t bin_of(int64_t degree)
{
    int32_t bin = 0;
    for (; degree > 0; degree >>= 1) bin++;
    return bin;
}

static int by_value(const void* a, const void* b)
{
    int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

/* The value that a share of the sorted ones does not exceed: nearest rank. */
static int64_t quantile(const int64_t* sorted, int64_t n, int64_t percent)
{
    return sorted[(n * percent + 99) / 100 - 1];
}

/* Sorts degree (n). */
static void describe_degrees(degree_statistics* s, int64_t* degree, int64_t n)
{
    int64_t sum = 0;
    memset(s, 0, sizeof *s);
    if (n == 0) return;
    qsort(degree, (size_t)n, sizeof degree[0], by_value);
    for (int64_t v = 0; v < n; v++) {
        sum += degree[v];
        s->bin[bin_of(degree[v])]++;
    }
    s->least = degree[0];
    s->most = degree[n - 1];
    s->zero = s->bin[0];
    s->median = quantile(degree, n, 50);
    s->p90 = quantile(degree, n, 90);
    s->p99 = quantile(degree, n, 99);
    s->mean = (double)sum / (double)n;
    s->num_bins = bin_of(s->most) + 1;
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static int by_id(const void* a, const void* b)
{
    ggnn_node x = *(const ggnn_node*)a, y = *(const ggnn_node*)b;
    return (x > y) - (x < y);
}

/* list has room for the longest list. degree (n) gets the edges that are no self-loops, both directions. */
static void count_in_lists(graph_statistics* s, const dataset* d, ggnn_node* list, int64_t* degree)
{
    s->sorted = true;
    for (int64_t v = 0; v < d->num_nodes; v++) {
        const ggnn_node* source = d->csc.indices + d->csc.indptr[v];
        int64_t length = d->csc.indptr[v + 1] - d->csc.indptr[v];
        bool sorted = true;
        for (int64_t i = 0; i < length; i++) {
            if (source[i] == v) s->self_loops++;
            if (source[i] != v) degree[v]++, degree[source[i]]++;
            if (i && source[i] < source[i - 1]) sorted = false;
        }
        memcpy(list, source, (size_t)length * sizeof list[0]);
        if (!sorted) qsort(list, (size_t)length, sizeof list[0], by_id);
        for (int64_t i = 1; i < length; i++)
            if (list[i] == list[i - 1]) s->duplicates++;
        s->sorted = s->sorted && sorted;
    }
    for (int64_t v = 0; v < d->num_nodes; v++) s->isolated += degree[v] == 0;
}

/* Edges u -> v that have no v -> u of their own. Targets come in ascending order, so the reverses that list u must
   hold are asked for in ascending order too: a cursor a list finds them all in O(E). lists: sorted. */
static int64_t count_one_way(const ggnn_lists* lists, int64_t* cursor)
{
    int64_t matched = 0;
    memcpy(cursor, lists->indptr, (size_t)lists->num_nodes * sizeof cursor[0]);
    for (int64_t v = 0; v < lists->num_nodes; v++)
        for (int64_t e = lists->indptr[v]; e < lists->indptr[v + 1]; e++) {
            ggnn_node u = lists->indices[e];
            int64_t at = cursor[u], end = lists->indptr[u + 1];
            while (at < end && lists->indices[at] < v) at++;
            if (at < end && lists->indices[at] == v) matched++, at++;
            cursor[u] = at;
        }
    return lists->num_edges - matched;
}

static bool compute_one_way(graph_statistics* s, const dataset* d, int64_t* cursor, error* why)
{
    ggnn_lists lists = {d->num_nodes, d->num_edges, NULL, NULL, NULL, NULL};
    ggnn_node* copy = NULL;
    void* workspace = NULL;
    lists.indptr = (int64_t*)(uintptr_t)d->csc.indptr; /* only read */
    lists.indices = (ggnn_node*)(uintptr_t)d->csc.indices;
    if (!s->sorted) {
        copy = memory_new((size_t)d->num_edges * sizeof copy[0], "sorted lists", why);
        workspace = memory_new(ggnn_graph_sort_workspace_bytes(&lists), "sorting lists", why);
        if (copy && workspace) {
            memcpy(copy, lists.indices, (size_t)d->num_edges * sizeof copy[0]);
            lists.indices = copy;
            ggnn_graph_sort(&lists, workspace);
        }
    }
    if (s->sorted || (copy && workspace)) s->one_way = count_one_way(&lists, cursor);
    memory_free(copy);
    memory_free(workspace);
    return !why->text[0];
}

/* ---- components: union by size, path halving ------------------------------------------------------------------ */

static int64_t find_root(int64_t* parent, int64_t v)
{
    while (parent[v] >= 0) { /* a root holds minus its component's size */
        if (parent[parent[v]] >= 0) parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

static void count_components(graph_statistics* s, const dataset* d, int64_t* parent)
{
    for (int64_t v = 0; v < d->num_nodes; v++) parent[v] = -1;
    s->components = d->num_nodes;
    s->largest_component = d->num_nodes > 0;
    for (int64_t v = 0; v < d->num_nodes; v++)
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) {
            int64_t a = find_root(parent, v), b = find_root(parent, d->csc.indices[e]);
            if (a == b) continue;
            if (parent[a] > parent[b]) {
                int64_t swap = a;
                a = b;
                b = swap;
            }
            parent[a] += parent[b];
            parent[b] = a;
            s->components--;
            if (-parent[a] > s->largest_component) s->largest_component = -parent[a];
        }
}

/* ---- homophily ------------------------------------------------------------------------------------------------ */

/* class_ends (num_classes) gets the ends of labelled edges in each class. */
static void compute_homophily(graph_statistics* s, const dataset* d, int64_t* class_ends)
{
    int64_t same_edges = 0, nodes = 0;
    double node_sum = 0, chance = 0;
    for (int64_t v = 0; v < d->num_nodes; v++) {
        int64_t same = 0, known = 0;
        if (d->label[v] < 0) continue;
        s->labelled++;
        s->class_size[d->label[v]]++;
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) {
            ggnn_node u = d->csc.indices[e];
            if (u == v || d->label[u] < 0) continue;
            known++;
            same += d->label[u] == d->label[v];
            class_ends[d->label[u]]++;
            class_ends[d->label[v]]++;
        }
        s->labelled_edges += known;
        same_edges += same;
        nodes += known > 0;
        if (known) node_sum += (double)same / (double)known;
    }
    if (s->labelled_edges == 0) return;
    for (int32_t c = 0; c < d->num_classes; c++) {
        double share = (double)class_ends[c] / (2 * (double)s->labelled_edges);
        chance += share * share;
    }
    s->edge_homophily = (double)same_edges / (double)s->labelled_edges;
    s->node_homophily = node_sum / (double)nodes;
    s->adjusted_homophily = chance < 1 ? (s->edge_homophily - chance) / (1 - chance) : 0;
}

/* ---- all ------------------------------------------------------------------------------------------------------ */

static void count_degrees(graph_statistics* s, const dataset* d, int64_t* degree)
{
    ggnn_lists lists = {d->num_nodes, d->num_edges, NULL, NULL, NULL, NULL};
    lists.indptr = (int64_t*)(uintptr_t)d->csc.indptr; /* only read */
    lists.indices = (ggnn_node*)(uintptr_t)d->csc.indices;
    for (int64_t v = 0; v < d->num_nodes; v++) degree[v] = d->csc.indptr[v + 1] - d->csc.indptr[v];
    describe_degrees(&s->in, degree, d->num_nodes);
    ggnn_graph_out_degrees(degree, &lists);
    describe_degrees(&s->out, degree, d->num_nodes);
}

bool statistics_compute(graph_statistics* s, dataset* d, error* why)
{
    size_t nodes = (size_t)d->num_nodes * sizeof(int64_t);
    int64_t *degree, *other, *class_ends;
    ggnn_node* list = NULL;
    memset(s, 0, sizeof *s);
    if (!dataset_check_graph(d, why) || !dataset_count(d, why)) return false;
    s->num_nodes = d->num_nodes;
    s->num_edges = d->num_edges;
    degree = memory_new(nodes, "degrees", why);
    other = memory_new(nodes, "components", why);
    class_ends = memory_new((size_t)d->num_classes * sizeof(int64_t), "classes", why);
    s->class_size = memory_new((size_t)d->num_classes * sizeof(int64_t), "classes", why);
    if (degree && other && class_ends && s->class_size) {
        count_degrees(s, d, degree);
        list = memory_new((size_t)s->in.most * sizeof list[0], "the longest list", why);
    }
    if (list) {
        memset(degree, 0, nodes);
        count_in_lists(s, d, list, degree);
        count_components(s, d, other);
        if (d->label) compute_homophily(s, d, class_ends);
        compute_one_way(s, d, degree, why);
    }
    memory_free(degree);
    memory_free(other);
    memory_free(class_ends);
    memory_free(list);
    if (!why->text[0]) return true;
    statistics_free(s);
    return false;
}

void statistics_free(graph_statistics* s)
{
    memory_free(s->class_size);
    s->class_size = NULL;
}
