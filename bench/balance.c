/* balance.c - a private copy of ggnn.h, whose pieces are counted in place of run. */
#include "balance.h"

#include <stdlib.h>
#include <string.h>

static int64_t threads_counted;
static double  busiest_work, all_work; /* work, of the busiest thread and of all, of each loop over pieces, added up */
static void    count_pieces(int64_t n, void (*body)(void*, int64_t), void* job);
#define GGNN_STATIC
#define GGNN_NO_SIMD
#define GGNN_THREADS threads_counted
#define GGNN_PARALLEL_FOR(n, body, context) count_pieces(n, body, context)
#define GGNN_IMPLEMENTATION
#include "ggnn.h"

/* Edges and lists of piece i: those of hubs are counted where they are cut, as lists of their own. Of what is cut by edges, edges. */
static double work_of(const ggnni_job* job, int64_t i)
{
    const ggnni_spmm* s = job->body == ggnni_spmm_piece || job->body == ggnni_messages_piece ? job->context : NULL;
    const ggnni_gat* gat = job->body == ggnni_gat_piece || job->body == ggnni_gat_back_piece ? job->context : NULL;
    const ggnni_edges* softmax = job->body == ggnni_softmax_piece ? job->context : NULL;
    const ggnn_block* b = s ? s->b : job->lists;
    const ggnni_range piece = ggnni_job_piece(job, i);
    const int64_t hub = s ? s->hub : gat ? gat->hub : softmax ? softmax->hub : INT64_MAX;
    if (job->body == ggnni_gat_hub_piece) return ((ggnni_gat_hub*)job->context)->of[i].out ? GGNNI_SEGMENT : 0; /* scores alone */
    if (job->body == ggnni_gat_back_hub_piece) return GGNNI_SEGMENT;
    if (!b) return (double)(piece.end - piece.begin);
    double work = 0;
    for (int64_t v = piece.begin; v < piece.end; v++) {
        const int64_t edges = b->indptr[v + 1] - b->indptr[v];
        work += edges < hub ? (double)(edges + 1) : 1;
    }
    return work;
}

/* The next piece of that thread, as ggnn_parallel_for has it: of its own part, or of the next part that is not done. */
static int64_t next_piece(int64_t n, int64_t thread, int64_t* left)
{
    const int64_t parts = ggnni_min(threads_counted, GGNNI_PARTS), own = thread * parts / threads_counted;
    int64_t p = own;
    while (left[p % parts] == 0) p++;
    return ggnni_cut(n, p % parts, parts).end - left[p % parts]--;
}

static void count_pieces(int64_t n, void (*body)(void*, int64_t), void* job)
{
    double taken[BALANCE_THREADS_MAX] = {0}, most = 0;
    int64_t left[GGNNI_PARTS] = {0};
    const int64_t parts = ggnni_min(threads_counted, GGNNI_PARTS);
    (void)body;
    for (int64_t p = 0; p < parts; p++) left[p] = ggnni_cut(n, p, parts).end - ggnni_cut(n, p, parts).begin;
    for (int64_t i = 0; i < n; i++) {
        int64_t idle = 0;
        for (int64_t t = 1; t < threads_counted; t++)
            if (taken[t] < taken[idle]) idle = t;
        const double work = work_of(job, next_piece(n, idle, left));
        taken[idle] += work;
        all_work += work;
        if (taken[idle] > most) most = taken[idle];
    }
    busiest_work += most;
}

/* Runs the operation, whose numbers are not read, and of which hubs' rows are written. */
static ggnn_status run(balance_of op, const ggnn_block* b, float* out, float* numbers, int32_t width)
{
    const ggnn_reduce how = op == BALANCE_MAX ? GGNN_MAX : GGNN_SUM;
    ggnn_gat_layer layer;
    memset(&layer, 0, sizeof layer);
    layer.block = b, layer.heads = 1, layer.width = width, layer.z = numbers, layer.ld_z = width;
    layer.out = out, layer.ld_out = width, layer.el = layer.er = layer.lse = layer.del = numbers;
    ggnni_gat back = ggnni_gat_of(&layer);
    back.t = b, back.dz = out, back.ld_dz = width, back.dout = numbers, back.ld_dout = width;
    switch (op) {
    case BALANCE_DOT: return ggnn_sddmm(out, GGNN_DOT, b, numbers, width, numbers, width, 1, width);
    case BALANCE_MESSAGES:
        return ggnn_spmm_edges(out, width, NULL, how, GGNN_EDGE_COPY, b, NULL, NULL, 1, NULL, 0, numbers, width, width);
    case BALANCE_GAT: return ggnn_gat(&layer);
    case BALANCE_GAT_BACK:
        ggnni_gat_run(&back, ggnni_gat_back_piece, b);
        return GGNN_OK;
    case BALANCE_SOFTMAX: return ggnn_edge_softmax(out, b, numbers, 1);
    case BALANCE_SOFTMAX_BACK: return ggnn_edge_softmax_back(out, b, numbers, numbers, 1);
    default: return ggnn_spmm(out, width, NULL, how, b, NULL, NULL, 1, numbers, width, width);
    }
}

double balance_counted(balance_of op, const int64_t* indptr, const int32_t* indices, int64_t targets, int64_t sources, int32_t width,
                       int32_t threads)
{
    const int64_t most = targets > sources ? targets : sources;
    float* out = calloc((size_t)(targets * width) + 1, sizeof *out);
    float* inp = calloc((size_t)(most * width) + 1, sizeof *inp);
    if (out && inp) {
        int64_t edges = indptr[targets];
        ggnn_block b;
        memset(&b, 0, sizeof b);
        b.num_dst = (ggnn_count){&targets, targets};
        b.num_src = (ggnn_count){&sources, sources};
        b.num_edges = (ggnn_count){&edges, edges};
        b.indptr = (int64_t*)(uintptr_t)indptr;
        b.indices = (int32_t*)(uintptr_t)indices;
        threads_counted = threads;
        busiest_work = all_work = 0;
        if (run(op, &b, out, inp, width) != GGNN_OK) all_work = 0;
    }
    free(out);
    free(inp);
    return out && inp && all_work > 0 ? busiest_work * threads / all_work : 0;
}
