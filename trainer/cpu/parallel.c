#include "trainer/cpu/parallel.h"

#include "ggnn.h"

typedef struct {
    int64_t n, piece;
    void (*body)(void* context, int64_t begin, int64_t end);
    void* context;
} pieces_job;

static void run_piece(void* context, int64_t i)
{
    const pieces_job* job = context;
    int64_t begin = i * job->piece, left = job->n - begin;
    job->body(job->context, begin, begin + (left < job->piece ? left : job->piece));
}

void parallel_for(int64_t n, int64_t piece, void (*body)(void* context, int64_t begin, int64_t end), void* context)
{
    pieces_job job = {n, piece, body, context};
    ggnn_parallel_for((n + piece - 1) / piece, run_piece, &job);
}
