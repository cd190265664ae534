/* roof.c - what the machine gives: copy, read, random lines and rows, multiply-adds, latencies. GNU C:
   vectors and atomic builtins, as in trainer/cpu/gemm.c. */
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/cpu.h"
#include "bench/harness.h"
#include "common/parallel.h"
#include "trainer/cpu/gemm.h"

#define LOOP_LANES 4
#define LOOP_NAME(x) x##_vector
#define LOOP_MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#include "bench/roof_loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define LOOP_LANES 8
#define LOOP_NAME(x) x##_avx2
#define LOOP_MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "bench/roof_loops.h"
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx2,fma")
#endif
#define LOOP_LANES 16
#define LOOP_NAME(x) x##_avx512
#define LOOP_MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "bench/roof_loops.h"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* The widest registers that the processor has; gemm.h has found that out. */
typedef struct {
    uint32_t (*read_bytes)(const char* from, int64_t count);
    float (*multiply_add)(int64_t steps);
    int64_t lanes;
} loops;

static loops widest(void)
{
#if defined(__x86_64__)
    gemm_level level = gemm_used();
    if (level == GEMM_AVX512) return (loops){read_bytes_avx512, multiply_add_avx512, 16};
    if (level == GEMM_AVX2) return (loops){read_bytes_avx2, multiply_add_avx2, 8};
#endif
    return (loops){read_bytes_vector, multiply_add_vector, 4};
}

enum { PIECE = 1 << 20, PIECES = 64, CHASES = 1 << 16, SLICES = 16, BOUNCES = 2000, STEPS = 1 << 16 };

typedef struct {
    loops use;
    char *from, *to;
    int64_t bytes; /* of from, and of to */
    int32_t* row;  /* (rows * SLICES), a slice a run: caches hold less than all of them */
    int64_t rows, size, slice;
    uint32_t sink[PIECES];
} roof;

static volatile uint32_t sink; /* so that no loop is left out */

/* ---- streams ------------------------------------------------------------------------------------------ */

static void copy_piece(void* context, int64_t i)
{
    const roof* r = context;
    const char* from = r->from + i * PIECE;
    char* to = r->to + i * PIECE;
#if defined(__x86_64__)
    for (int64_t k = 0; k < PIECE; k += 64)
        for (int64_t j = k; j < k + 64; j += 16)
            _mm_stream_ps((float*)(void*)(to + j), _mm_load_ps((const float*)(const void*)(from + j)));
    _mm_sfence();
#else
    memcpy(to, from, PIECE);
#endif
}
static void memcpy_piece(void* context, int64_t i)
{
    const roof* r = context;
    memcpy(r->to + i * PIECE, r->from + i * PIECE, PIECE);
}
static void read_piece(void* context, int64_t i)
{
    roof* r = context;
    uint32_t sum = r->use.read_bytes(r->from + i * PIECE, PIECE);
    if (sum == 1) r->sink[0] = sum; /* all but never: a store that the compiler cannot leave out */
}

static void run_copy(void* context) { ggnn_parallel_for(((roof*)context)->bytes / PIECE, copy_piece, context); }
static void run_memcpy(void* context)
{
    ggnn_parallel_for(((roof*)context)->bytes / PIECE, memcpy_piece, context);
}
static void run_read(void* context) { ggnn_parallel_for(((roof*)context)->bytes / PIECE, read_piece, context); }

static roof* new_roof(bench* b, bench_case* c, int64_t bytes, bool to)
{
    roof* r = bench_new(b, sizeof *r, "a roof");
    if (!r) return NULL;
    r->use = widest();
    r->bytes = bytes;
    r->from = bench_new(b, (size_t)bytes, "a roof's memory");
    if (to) r->to = bench_new(b, (size_t)bytes, "a roof's memory");
    if (!r->from || (to && !r->to)) return NULL;
    bench_fill((float*)(void*)r->from, bytes / 4, 1); /* untouched pages would all be one and the same */
    c->context = r;
    c->work = (double)bytes;
    return r;
}

int64_t cpu_last_cache(void)
{
    bench_machine m;
    bench_machine_of(&m);
    return m.cache[3] ? m.cache[3] : m.cache[2];
}
static int64_t near_cache(void)
{
    bench_machine m;
    bench_machine_of(&m);
    return m.cache[2];
}

/* Several times what the last cache holds. */
static int64_t stream_bytes(const bench* b)
{
    int64_t least = (b->o.quick ? 2 : 8) * cpu_last_cache();
    return least < 32 << 20 ? 32 << 20 : (least + PIECE - 1) / PIECE * PIECE;
}

static bool open_copy(bench* b, bench_case* c, int64_t size)
{
    (void)size;
    c->run = run_copy;
    if (!new_roof(b, c, stream_bytes(b), true)) return false;
    c->work *= 2;
    return true;
}
static bool open_memcpy(bench* b, bench_case* c, int64_t size)
{
    bool good = open_copy(b, c, size);
    c->run = run_memcpy;
    return good;
}
static bool open_read(bench* b, bench_case* c, int64_t size)
{
    (void)size;
    c->run = run_read;
    return new_roof(b, c, stream_bytes(b), false) != NULL;
}

/* ---- random lines and rows ---------------------------------------------------------------------------- */

/* Rows of r->size bytes, each line of them asked for 8 KiB before it is used: what gained most in
   experiments. */
static void rows_piece(void* context, int64_t piece)
{
    roof* r = context;
    const int32_t* at = r->row + r->slice * r->rows;
    int64_t begin = parallel_begin(r->rows, piece, PIECES), end = parallel_begin(r->rows, piece + 1, PIECES);
    int64_t ahead = r->size <= 64 ? 32 : 8192 / r->size + 1;
    uint32_t sum = 0;
    for (int64_t i = begin; i < end; i++) {
        const char* next = r->from + at[i + ahead < end ? i + ahead : end - 1] * r->size;
        for (int64_t j = 0; j < r->size; j += 64) __builtin_prefetch(next + j, 0, 2); /* as ggnn.h does */
        const char* row = r->from + at[i] * r->size;
        uint32_t word;
        if (r->size > 64) word = r->use.read_bytes(row, r->size);
        else memcpy(&word, row, sizeof word); /* that the line comes is what counts */
        sum ^= word;
    }
    r->sink[piece] = sum;
}
static void run_rows(void* context)
{
    roof* r = context;
    r->slice = (r->slice + 1) % SLICES;
    ggnn_parallel_for(PIECES, rows_piece, r);
}

static bool open_table(bench* b, bench_case* c, int64_t size, int64_t bytes)
{
    roof* r = new_roof(b, c, bytes, false);
    uint64_t state = 3;
    if (!r) return false;
    r->size = size;
    r->rows = stream_bytes(b) / (size < 64 ? 64 : size) / SLICES;
    r->row = bench_new(b, (size_t)(r->rows * SLICES) * sizeof *r->row, "random rows");
    if (!r->row) return false;
    for (int64_t i = 0; i < r->rows * SLICES; i++)
        r->row[i] = (int32_t)(bench_random(&state) % (uint64_t)(bytes / size));
    c->run = run_rows;
    c->work = (double)(r->rows * size);
    return true;
}

static bool open_rows(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, 2 * stream_bytes(b));
}
static bool open_cached(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, cpu_last_cache() / 4);
}
static bool open_near(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, near_cache() / 2);
}
static bool open_lines(bench* b, bench_case* c, int64_t size)
{
    (void)size;
    if (!open_rows(b, c, 64)) return false;
    c->work /= 64;
    return true;
}

/* ---- latencies, arithmetic ---------------------------------------------------------------------------- */

static void run_chase(void* context)
{
    const roof* r = context;
    int32_t at = 0;
    for (int i = 0; i < CHASES; i++) memcpy(&at, r->from + (int64_t)at * 64, sizeof at);
    sink = (uint32_t)at;
}

/* One cycle through all lines, in random order: Sattolo 1986. */
static bool open_latency(bench* b, bench_case* c, int64_t size)
{
    roof* r = new_roof(b, c, stream_bytes(b), false);
    int32_t lines = (int32_t)(stream_bytes(b) / 64),
            *next = bench_new(b, (size_t)lines * sizeof *next, "a cycle");
    uint64_t state = 5;
    (void)size;
    if (!r || !next) return false;
    for (int32_t i = 0; i < lines; i++) next[i] = i;
    for (int32_t i = lines - 1; i > 0; i--) {
        int32_t j = (int32_t)(bench_random(&state) % (uint64_t)i), t = next[i];
        next[i] = next[j];
        next[j] = t;
    }
    for (int32_t i = 0; i < lines; i++) memcpy(r->from + (int64_t)i * 64, &next[i], sizeof *next);
    c->run = run_chase;
    c->work = CHASES;
    return true;
}

/* Two threads write to one line in turn. */
static void run_bounce(void* context)
{
    int64_t* ball = context;
    *ball = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(2)
    for (int64_t i = omp_get_thread_num(); omp_get_num_threads() == 2 && i < 2 * BOUNCES; i += 2) {
        while (__atomic_load_n(ball, __ATOMIC_ACQUIRE) != i) continue;
        __atomic_store_n(ball, i + 1, __ATOMIC_RELEASE);
    }
#endif
}

static bool open_bounce(bench* b, bench_case* c, int64_t size)
{
    (void)size;
    c->context = bench_new(b, 128, "a line");
    c->run = run_bounce;
    c->work = 2 * BOUNCES;
    return c->context != NULL;
}

static void madd_piece(void* context, int64_t piece)
{
    roof* r = context;
    float sum = r->use.multiply_add(STEPS / PIECES * 16);
    memcpy(&r->sink[piece], &sum, sizeof sum);
}
static void run_madd(void* context) { ggnn_parallel_for(PIECES, madd_piece, context); }

static bool open_madd(bench* b, bench_case* c, int64_t size)
{
    roof* r = new_roof(b, c, 4, false);
    (void)size;
    if (!r) return false;
    c->run = run_madd;
    c->work = 2. * 12. * (double)r->use.lanes * STEPS * 16;
    return true;
}

const bench_roof_kind cpu_roofs[] = {
    {"copy", "B", "read and written, past the caches", open_copy},
    {"memcpy", "B", "read and written", open_memcpy},
    {"read", "B", "in order, from memory", open_read},
    {"lines", "lines", "random lines of 64 bytes from memory, prefetched", open_lines},
    {"rows", "B", "random rows of so many bytes from memory, prefetched", open_rows},
    {"rows-cached", "B", "the same from a table in the last cache", open_cached},
    {"madd", "FLOP", "multiply-adds in registers, two operations each", open_madd},
    {"rows-near", "B", "the same from a table in a core's own cache", open_near},
    {"latency", "s", "of a line from memory", open_latency},
    {"core-to-core", "s", "for a line to cross from core to core", open_bounce},
    {NULL, NULL, NULL, NULL}};

bool bench_roofs(bench* b)
{
    static const int64_t size[] = {128, 400, 512, 1024};
    static const char* const plain[] = {"copy", "memcpy", "read", "lines", "madd"};
    for (int32_t threads = 1;; threads = b->threads) {
        for (int i = 0; i < 5 && !b->why.text[0]; i++) bench_roof(b, plain[i], 0, threads);
        for (int i = 0; i < 4 && !b->why.text[0]; i++) bench_roof(b, "rows", size[i], threads);
        for (int i = 0; i < 4 && !b->why.text[0]; i++) bench_roof(b, "rows-cached", size[i], threads);
        if (threads == b->threads) break;
    }
    bench_roof(b, "latency", 0, 1);
#ifdef _OPENMP
    if (b->threads > 1) bench_roof(b, "core-to-core", 0, 2);
#endif
    return !b->why.text[0];
}
