// Data where it lies: rows inside your own structs, lists in your own arrays, a batch in your own memory.
//   cc -I. examples/arrays.c -lm && ./a.out
//   prints  person 40: the mean height of 3 friends is 1.66667, their mean weight 66.6667
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct { // your program's own, in an array; ggnn.h reads height and weight in place
    int64_t key;
    float   height, weight;
    char    name[16];
} person;
enum { N = 5, E = 6 };
static const person people[N] = {
    {10, 1.5f, 50, "Ada"}, {20, 2, 90, "Bo"}, {30, 1.5f, 60, "Cy"}, {40, 1.75f, 70, "Di"}, {50, 2, 80, "Ed"}};
static const int64_t   begin[N + 1] = {0, 1, 2, 2, 5, 6}; // list v is friend_of[begin[v] .. begin[v + 1])
static const ggnn_node friend_of[E] = {1, 0, 0, 1, 2, 3};

int main(void)
{
    const ggnn_node seeds[] = {3};
    const int32_t   fanout[] = {-1}; // all friends
    ggnn_graph      g = ggnn_graph_plain(begin, friend_of, NULL, N, E);
    ggnn_store      rows = ggnn_store_plain(&people[0].height, N, 2, GGNN_F32); // 2 floats per row,
    rows.pitch = sizeof people[0];                                              // the next so many bytes on
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_rng      rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_batch    batch;
    float         mean[2];
    // In place of ggnn_batch_new: plan says how many bytes, init takes them from wherever you like.
    if (ggnn_batch_plan(&batch, &g, &how, 1, NULL) != GGNN_OK) return 1;
    void* arena = malloc(batch.bytes); // yours: an arena, a pool, shared memory
    if (ggnn_batch_init(&batch, arena) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &g, &rng, seeds, 1) != GGNN_OK) return 1;
    if (ggnn_aggregate(mean, 2, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows) != GGNN_OK) return 1;
    printf("person %d: the mean height of %d friends is %g, their mean weight %g\n",
           (int)people[seeds[0]].key, (int)*batch.hop[0].num_edges.n, (double)mean[0], (double)mean[1]);
    free(arena);
    return 0;
}
