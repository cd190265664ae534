// PyG's meaning of a hop: what the hop before found is sampled. Types of nodes, times, a subgraph per seed.
//   cc -I. examples/frontier.c -lm && ./a.out
//   prints  seed 0 at 20: papers 0 1 2, authors 0 2 1; seed 1 at 10: papers 3 1, authors 2
#define GGNN_IMPLEMENTATION
#define GGNN_FRONTIER_IMPLEMENTATION
#include "ggnn_frontier.h"
#include <stdio.h>
#include <stdlib.h>
enum { PAPER, AUTHOR, TYPES, PAPERS = 4, AUTHORS = 3, ROOM = 32, HOPS = 2 };
// Papers that a paper cites, and its authors: each list rises by time.
static const int64_t   cites_ptr[PAPERS + 1] = {0, 2, 3, 3, 5}, writes_ptr[PAPERS + 1] = {0, 1, 2, 3, 4};
static const ggnn_node cites[] = {1, 2, 2, 1, 0}, writes[] = {0, 2, 1, 2};
static const int64_t   paper_time[PAPERS] = {20, 5, 15, 12}; // authors have no time
int main(void)
{
    const int64_t        num_nodes[TYPES] = {PAPERS, AUTHORS};
    const int64_t* const node_time[TYPES] = {paper_time, NULL};
    const ggnn_relation  relation[] = {
        {PAPER, PAPER, ggnn_graph_plain(cites_ptr, cites, NULL, PAPERS, 5), NULL},
        {AUTHOR, PAPER, ggnn_graph_plain(writes_ptr, writes, NULL, PAPERS, 4), NULL}};
    const ggnn_node seeds[] = {0, 3};
    const int64_t   seed_time[] = {20, 10};                  // the second one sees paper 1 alone, of time 5
    const int32_t   fanout[HOPS][TYPES] = {{2, 1}, {2, -1}}; // by relation
    const ggnn_rng  rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    static ggnn_node     id[TYPES][ROOM + 1], key[TYPES][ROOM + 1], src[TYPES][ROOM], dst[TYPES][ROOM];
    static int32_t       subgraph[TYPES][ROOM + 1];
    static int64_t       position[TYPES][ROOM], time[2];
    static ggnn_found    found[TYPES]; // zeros
    static ggnn_taken    taken[TYPES];
    static ggnn_frontier f;
    f.num_types = f.num_relations = TYPES, f.num_nodes = num_nodes, f.relation = relation;
    f.node_time = node_time, f.seed_time = time, f.found = found, f.taken = taken;
    f.method = GGNN_FISHER_YATES, f.disjoint = 1;
    f.workspace = malloc(ggnn_sample_workspace_bytes(f.method, 2));
    for (int t = 0; t < TYPES; t++) {
        found[t].id = id[t], found[t].key = key[t], found[t].subgraph = subgraph[t];
        taken[t].src = src[t], taken[t].dst = dst[t], taken[t].position = position[t];
        found[t].max = taken[t].max = ROOM;
        if (ggnn_frontier_table(&f, t, malloc(ggnn_frontier_table_bytes(&f, t))) != GGNN_OK) return 1;
    }
    ggnn_status status = ggnn_frontier_begin(&f);
    if (status == GGNN_OK) status = ggnn_frontier_seeds(&f, PAPER, seeds, seed_time, 2);
    for (int h = 0; h < HOPS && status == GGNN_OK; h++) status = ggnn_frontier_hop(&f, &rng, fanout[h]);
    if (status != GGNN_OK) return puts(f.fault.what), 1;
    for (int s = 0; s < 2; s++) {
        printf("%sseed %d at %d: papers", s ? "; " : "", s, (int)seed_time[s]);
        for (int t = 0; t < TYPES; t++) {
            if (t == AUTHOR) printf(", authors");
            for (int64_t i = 0; i < found[t].count; i++)
                if (subgraph[t][i] == s) printf(" %d", (int)id[t][i]);
        }
    }
    puts("");
    for (int t = 0; t < TYPES; t++) free(found[t].table);
    free(f.workspace);
    return 0;
}
