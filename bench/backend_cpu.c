/* backend_cpu.c - the CPU backend: its clock, its caches, its entries. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/harness.h"
#include "bench/plugin_host.h"
#include "common/memory.h"
#include "trainer/device/device.h"

static double seconds(bench* b, const bench_case* c, int64_t repeats)
{
    double start = progress_seconds();
    (void)b;
    for (int64_t i = 0; i < repeats; i++) c->run(c->context);
    return progress_seconds() - start;
}

/* Writes more than any cache holds, by all threads, as each has caches of its own. */
enum { FLUSHED = 128 << 20, PIECE = 1 << 20 };
static void flush_piece(void* context, int64_t i)
{
    bench* b = context;
    memset(b->state->flushed + i * PIECE, b->state->flushes & 127, PIECE);
}
static void evict(bench* b)
{
    struct bench_state* s = b->state;
    if (!s->flushed) s->flushed = memory_new(FLUSHED, "memory to fill caches with", &b->why);
    s->flushes++;
    if (s->flushed) ggnn_parallel_for(FLUSHED / PIECE, flush_piece, b);
}

static const char* describe(bench* b)
{
    (void)b;
    return "";
}

static device* device_of(bench* b)
{
    return device_open_cpu(b->threads, &b->why);
}

static bool peers(bench* b) { return bench_peer(b, 0); }

static const bench_entry entries[] = {
    {"roof", "what this machine gives", bench_roofs, false, false},
    {"random", "Philox words, as dropout takes them", bench_random_words, false, false},
    {"sample", "neighbours of one hop, not numbered", bench_sample, true, false},
    {"unique", "append-unique by first occurrence, on the hops of a mini-batch", bench_unique, true, false},
    {"block", "whole mini-batches: sampled and numbered; a block's transpose", bench_batches, true, false},
    {"gather", "rows of a store by id", bench_gather, true, false},
    {"peer", "rows over parts: through pointers, by exchange, from the host's memory; random reads of 4 to 4096 bytes\n"
     "               (S: bytes that a device reads. Bandwidth, " BENCH_BANDWIDTHS ")", peers, false, false},
    {"spmm", "sums of neighbours' rows; the input hop straight from the store", bench_spmm, true, false},
    {"sddmm", "a dot an edge", bench_sddmm, true, false},
    {"softmax", "over each target's edges", bench_softmax, true, false},
    {"gat", "graph attention in one pass, and its backward", bench_gat, true, false},
    {"backward", "of the mean over a mini-batch's last hop", bench_backward, true, false},
    {"gemm", "the trainer's matrix products", bench_gemm, true, false},
    {"step", "of training, 3 layers: sample, forward, loss, backward, update", bench_step, false, false},
    {"epoch", "of training: its batches, 64 at most", bench_epoch, false, false},
    {"threads", "the same work by 1, 2, 4 .. threads", bench_threads, false, false},
    {"growth", "cost against work, from 10^3 to 10^8 edges", bench_growth, false, false},
    {"cache", "what caches of the hottest rows take of all that training reads", bench_cache, false, true},
    {"store", "where devices read rows and lists, as XGNN's store grows piece by piece", bench_store, false, true},
    {"split", "edges, rows and bytes of split parallelism beside data parallel", bench_split, false, true},
    {"scale", "an epoch on 1 to 256 devices, by parallelism, store and links: modelled", bench_scale, false, true},
    {NULL, NULL, NULL, false, false}};

const bench_backend bench_cpu = {"cpu", entries, cpu_roofs, seconds, evict, describe, device_of, &plugin_cpu};
