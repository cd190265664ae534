/* parallel.h - loops over rows, divided among threads. */
#ifndef TRAINER_CPU_PARALLEL_H
#define TRAINER_CPU_PARALLEL_H
#include <stdint.h>

/* Runs body(context, begin, end) over consecutive pieces of [0, n), `piece` long each, in any order, and waits. Where
   pieces end never depends on the number of threads. Serial where there is one piece or no OpenMP. */
void parallel_for(int64_t n, int64_t piece, void (*body)(void* context, int64_t begin, int64_t end), void* context);
#endif
