/* backend_cpu.c - the CPU backend: its clock, its caches, its entries. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/harness.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "trainer/device.h"

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
    if (s->flushed) parallel_each(FLUSHED / PIECE, flush_piece, b);
}

static const char* describe(bench* b)
{
    (void)b;
    return "";
}

static device* device_of(bench* b)
{
    (void)b;
    return device_cpu();
}

static const bench_entry entries[] = {{"roof", "what this machine gives", bench_roofs, false},
                                      {NULL, NULL, NULL, false}};

const bench_backend bench_cpu = {"cpu", entries, cpu_roofs, seconds, evict, describe, device_of};
