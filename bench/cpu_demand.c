#include <string.h>

#include "bench/cpu.h"
#include "bench/harness.h"

/* Sources that at least one edge has. */
static int64_t used_sources(bench* b, const ggnn_block* block)
{
    int64_t count = 0, edges = *block->num_edges.n, sources = *block->num_src.n;
    char* used = bench_new(b, (size_t)sources, "marks of used rows");
    if (!used) return -1;
    for (int64_t e = 0; e < edges; e++) used[block->indices[e]] = 1;
    for (int64_t u = 0; u < sources; u++) count += used[u];
    return count;
}

bench_demand cpu_touch(double table, int64_t row, double bytes)
{
    bench_machine m;
    bench_machine_of(&m);
    return (bench_demand){table <= .5 * (double)m.cache[2] ? "rows-near" : "rows-cached", row, bytes};
}

void cpu_demand(bench_case* c, bench_demand d)
{
    int i = 0;
    while (c->demand[i].roof) i++;
    c->demand[i] = d;
}

void cpu_stream(bench_case* c)
{
    if (c->cold || c->bytes > (double)cpu_last_cache()) cpu_demand(c, (bench_demand){"copy", 0, c->bytes});
}

bool cpu_demand_rows(bench* b, bench_case* c, const ggnn_block* block, flops_of what, int32_t width, int32_t heads,
                     double out, double edge_bytes)
{
    int64_t used = used_sources(b, block), row = width * (int64_t)sizeof(float);
    double edges = (double)*block->num_edges.n, rows = (double)*block->num_dst.n,
           table = (double)(used * row);
    if (used < 0) return false;
    c->work = edges;
    c->unit = "edges";
    c->bytes = table + out + 8 * (rows + 1) + edges * (4 + edge_bytes);
    c->flops = flops(what, edges, what == FLOPS_GAT_BACK ? (double)*block->num_src.n : rows, width, heads);
    memset(c->demand, 0, sizeof c->demand);
    cpu_stream(c);
    cpu_demand(c, cpu_touch(table, row, edges * (double)row));
    if (table > (double)cpu_last_cache()) cpu_demand(c, (bench_demand){"rows", row, table});
    return true;
}

bool cpu_whole_graph(bench* b, ggnn_block* block, int64_t counts[3])
{
    const bench_graph* g = bench_graph_of(b);
    int32_t* copy = NULL;
    if (!g) return false;
    if (sizeof(ggnn_node) > 4 &&
        !(copy = bench_new(b, (size_t)g->graph.num_edges * sizeof *copy, "local ids")))
        return false;
    ggnn_status status = ggnn_block_whole(block, &g->graph, counts, copy);
    return status == GGNN_OK || error_set(&b->why, "%s: %s", g->path, ggnn_status_string(status));
}

bool cpu_block_of_run(bench* b, ggnn_block* block, int64_t counts[3])
{
    if (!b->o.own) return cpu_whole_graph(b, block, counts);
    return bench_block(b, block, b->o.rows, b->o.degree, b->o.sources ? b->o.sources : b->o.rows);
}
