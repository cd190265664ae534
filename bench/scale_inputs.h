/* scale_inputs.h - the table of inputs of ggnn-bench scale: bench/scale_inputs.csv, which the program holds, or a file like it.
   A line: kind,name,field,value,unit,label,source. kind: graph, machine, split, check; value: a word, or numbers with blanks
   between them; label: stated, counted, measured, modelled. Lines that begin with # are comments. */
#ifndef BENCH_SCALE_INPUTS_H
#define BENCH_SCALE_INPUTS_H
#include "bench/scale_model.h"
#include "common/error.h"

enum { SCALE_GRAPHS = 12, SCALE_MACHINES = 12, SCALE_CHECKS = 48, SCALE_VALUES = 6 };

typedef struct { /* a published figure, and from what it is predicted */
    char name[SCALE_NAME], how[SCALE_NAME];
    char graph[SCALE_NAME], machine[SCALE_NAME]; /* "": none */
    char gnn[SCALE_NAME];                        /* "": sage */
    double inputs[SCALE_VALUES], published;
} scale_check;

typedef struct {
    int32_t graphs, machines, splits, checks;
    scale_graph graph[SCALE_GRAPHS];
    scale_machine machine[SCALE_MACHINES];
    scale_split split;
    scale_check check[SCALE_CHECKS];
} scale_inputs;

/* path NULL: the program's own table. Errors name file, line and field. */
bool scale_inputs_read(scale_inputs* in, const char* path, error* why);

/* NULL: none of that name. */
const scale_graph* scale_graph_named(const scale_inputs* in, const char* name);
const scale_machine* scale_machine_named(const scale_inputs* in, const char* name);
#endif
