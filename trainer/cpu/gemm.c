/* gemm.c - the built-in matrix product. The file includes itself once per instruction set: the part under GEMM_LANES
   is the register tile and what feeds it, the rest chooses an instance and divides the work. */
#ifndef GEMM_LANES
#include "gemm.h"

#include <assert.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "ggnn.h"

enum {
    SEGMENT       = 256,     /* products summed from zero before they join C: part of the result's definition */
    WIDEST_PANEL  = 32,      /* columns; the workspace's size must not depend on the level */
    SHARED_FLOATS = 1 << 20, /* an op(B) up to this size is packed once, for all threads */
    GROUP         = 24,      /* row tiles of op(A) packed at a time, at most: 300 KiB on the stack */
    LINE          = 16,      /* floats in a cache line, as far as prefetching goes */
    STEPS         = 16,      /* along k, from one burst of prefetches to the next */
    BURST         = 4        /* lines of a burst; twice as many at most: the tile's own loads wait for them */
};

/* op(A)[i,p] = a[i * a_row + p * a_k], op(B)[p,j] = b[p * b_k + j * b_column]; one of each pair of strides is 1. */
typedef struct {
    float*       c;
    int64_t      ldc;
    const float* a;
    int64_t      a_row, a_k;
    const float* b;
    int64_t      b_k, b_column;
    int64_t      m, n, k;
    float        beta;
    void (*finish)(void* context, int64_t row, int64_t row_end); /* of whole rows of C; or NULL */
    void* context;
} product;

/* Of A' B tiles pack both: the first that meets elements multiplies them where they are. */
static inline bool packs_in_tiles(const product* g) { return g->a_k != 1 && g->b_column == 1; }

typedef struct { int64_t row, row_end, column, column_end; } part; /* of C */
typedef struct { int64_t row, rows, k; } group;                    /* of a part's rows, at one segment of k */

/* One instance. Packed op(B) is [segment of k][panel][k][tile_columns], the last panel padded with zeros. */
typedef struct {
    int64_t tile_rows, tile_columns;
    void (*pack)(float* panel, const product* g, int64_t k, int64_t column); /* one panel of one segment */
    void (*multiply)(const product* g, const float* packed, part at); /* packed NULL: packs what it needs itself */
} kernel;

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t round_up(int64_t a, int64_t unit) { return (a + unit - 1) / unit * unit; }
static inline int64_t pieces(int64_t a, int64_t size) { return (a + size - 1) / size; }

/* The definition of the result as plain loops: what tiles compute, but for the rounding of a fused multiply-add. */
static void multiply_plain(const product* g, const float* packed, part at)
{
    (void)packed;
    for (int64_t k = 0; k < g->k; k += SEGMENT)
        for (int64_t i = at.row; i < at.row_end; i++)
            for (int64_t j = at.column; j < at.column_end; j += WIDEST_PANEL) {
                float sum[WIDEST_PANEL] = {0};
                int64_t columns = least(at.column_end - j, WIDEST_PANEL);
                for (int64_t p = k; p < least(k + SEGMENT, g->k); p++)
                    for (int64_t x = 0; x < columns; x++)
                        sum[x] += g->a[i * g->a_row + p * g->a_k] * g->b[p * g->b_k + (j + x) * g->b_column];
                float* c = g->c + i * g->ldc + j;
                for (int64_t x = 0; x < columns; x++) c[x] = k == 0 && g->beta == 0 ? sum[x] : c[x] + sum[x];
            }
}

/* ---- instances ----------------------------------------------------------------------------------------------------
   A vector must be as wide as the register: GCC lowers wider ones through memory, ten times slower. Multiply-adds
   are intrinsics because whether a * b + c is contracted is the compiler's choice. Tile shapes leave a few of the 16
   or 32 registers for op(B)'s vectors and the broadcast element. */
#if defined(__GNUC__) && (defined(__SSE2__) || defined(__ARM_NEON))
#define GEMM_HAVE_VECTOR 1

/* Memory that will be needed next, to be prefetched among the multiply-adds: rows of cache lines, in memory's order. */
typedef struct { const float *at, *row_end; int64_t width, step, rows; } stream;

/* The block x[r * row_step + c * column_step], one of the steps being 1. */
static inline stream stream_over(const float* x, int64_t row_step, int64_t rows, int64_t column_step, int64_t columns)
{
    if (column_step != 1) return stream_over(x, column_step, columns, row_step, rows);
    if (row_step == columns) columns *= rows, rows = columns > 0; /* one piece */
    return (stream){x, x + columns, columns, row_step, rows};
}

static inline int64_t lines_of(const stream* s) { return s->rows * pieces(s->width, LINE); }

/* No branch depends on where rows end: one would be guessed wrong in the midst of the multiply-adds. The last lines of a
   row, and of all, may pass the end: they are only hints. */
static inline void prefetch(stream* s, int64_t lines)
{
    stream x = *s;
    if (x.rows <= 0) return;
    for (; lines > 0; lines--) {
        __builtin_prefetch(x.at, 0, 2);
        x.at += LINE;
        bool end = x.at >= x.row_end;
        x.at = end ? x.row_end + x.step - x.width : x.at;
        x.row_end += end ? x.step : 0;
        x.rows -= end;
    }
    *s = x;
}

/* What a tile prefetches: its place in C, two lines a row (c_rows = 0: not that), and `lines` of a stream a burst. */
typedef struct { const float* c; int64_t c_rows, ldc; stream* s; int64_t lines; } hints;

/* What a tile multiplies: `step` floats from one k to the next. keep: where it leaves them packed; or NULL. */
typedef struct { const float* at; int64_t step; float* keep; } operand;

#define GEMM_LANES 4
#define GEMM_ROWS 4
#define GEMM_NAME(x) x##_vector
#define GEMM_SPLAT(a) ((lanes_vector){(a), (a), (a), (a)})
#define GEMM_MULTIPLY_ADD(a, b, c) ((c) + (a) * (b))
#include "gemm.c"
#endif

#if defined(GEMM_HAVE_VECTOR) && defined(__x86_64__)
#include <immintrin.h>
#define GEMM_HAVE_AVX 1
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define GEMM_LANES 8
#define GEMM_ROWS 6
#define GEMM_NAME(x) x##_avx2
#define GEMM_SPLAT(a) _mm256_set1_ps(a)
#define GEMM_MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "gemm.c"
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx2,fma")
#endif
#define GEMM_LANES 16
#define GEMM_ROWS 12
#define GEMM_NAME(x) x##_avx512
#define GEMM_SPLAT(a) _mm512_set1_ps(a)
#define GEMM_MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "gemm.c"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* ---- choosing one ---------------------------------------------------------------------------------------------- */
static const kernel* kernel_of(gemm_level level)
{
    static const kernel plain = {1, WIDEST_PANEL, NULL, multiply_plain};
    switch (level) {
    case GEMM_PLAIN: return &plain;
#ifdef GEMM_HAVE_VECTOR
    case GEMM_VECTOR: return &kernel_vector;
#endif
#ifdef GEMM_HAVE_AVX
    case GEMM_AVX2: return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kernel_avx2 : NULL;
    case GEMM_AVX512: return __builtin_cpu_supports("avx512f") && kernel_of(GEMM_AVX2) ? &kernel_avx512 : NULL;
#endif
    default: return NULL;
    }
}

static int chosen = -1; /* a gemm_level; -1: none yet. Threads that race to choose write the same value. */
#ifdef __GNUC__
#define LOAD_CHOSEN() __atomic_load_n(&chosen, __ATOMIC_RELAXED)
#define STORE_CHOSEN(level) __atomic_store_n(&chosen, (int)(level), __ATOMIC_RELAXED)
#else
#define LOAD_CHOSEN() chosen
#define STORE_CHOSEN(level) (chosen = (int)(level))
#endif

bool gemm_use(gemm_level level)
{
    if (!kernel_of(level)) return false;
    STORE_CHOSEN(level);
    return true;
}

gemm_level gemm_used(void)
{
    int level = LOAD_CHOSEN();
    if (level < 0) {
        level = GEMM_LEVELS - 1;
        while (!kernel_of((gemm_level)level)) level--;
        STORE_CHOSEN(level);
    }
    return (gemm_level)level;
}

const char* gemm_level_name(gemm_level level)
{
#ifdef __SSE2__
    static const char* const name[GEMM_LEVELS] = {"plain", "sse2", "avx2", "avx512"};
#else
    static const char* const name[GEMM_LEVELS] = {"plain", "neon", "avx2", "avx512"};
#endif
    return name[level];
}

/* ---- dividing the work ----------------------------------------------------------------------------------------- */
static bool pack_is_shared(int64_t n, int64_t k) { return round_up(n, WIDEST_PANEL) <= SHARED_FLOATS / k; }

size_t gemm_workspace_bytes(int64_t m, int64_t n, int64_t k)
{
    (void)m;
    if (n == 0 || k == 0) return 0;
    int64_t floats = pack_is_shared(n, k) ? round_up(n, WIDEST_PANEL) * k : SHARED_FLOATS;
    return (size_t)floats * sizeof(float) + 64; /* 64: to align it */
}

/* Parts of C: rows x columns of them, in tiles and panels, sizes equal but for one. */
typedef struct { int64_t rows, columns; } grid;

/* What a part costs, in halves of a tile of C: packing a row tile of op(A) takes as long as a tile, packing a panel of
   op(B), which every group of row tiles does where it was not done for all before, as two. Half of that where tiles pack
   by the way: the waiting for memory. */
static int64_t cost(const product* g, int64_t tiles, int64_t panels, bool b_is_packed)
{
    int64_t row_tile = g->a_k != 1 ? 1 : 2, panel = b_is_packed ? 0 : packs_in_tiles(g) ? 2 : 4;
    return tiles * (2 * panels + row_tile) + pieces(tiles, GROUP) * panel * panels;
}

/* The grid on which the busiest thread has least to do. */
static grid divide(const product* g, int64_t tiles, int64_t panels, int64_t threads, bool b_is_packed)
{
    grid best = {1, 1};
    int64_t least_work = INT64_MAX;
    for (int64_t columns = 1; columns <= panels; columns *= 2) {
        int64_t rows = least(tiles, round_up(pieces(tiles, GROUP), pieces(threads, columns)));
        int64_t work = cost(g, pieces(tiles, rows), pieces(panels, columns), b_is_packed);
        work *= pieces(rows * columns, threads);
        if (work < least_work) {
            least_work = work;
            best = (grid){rows, columns};
        }
    }
    return best;
}

/* Part number `index` of the grid, in elements. */
static part part_of(const product* g, const kernel* how, grid parts, int64_t index)
{
    int64_t tiles = pieces(g->m, how->tile_rows), panels = pieces(g->n, how->tile_columns);
    int64_t y = index / parts.columns, x = index % parts.columns;
    return (part){
        .row = tiles * y / parts.rows * how->tile_rows,
        .row_end = least(g->m, tiles * (y + 1) / parts.rows * how->tile_rows),
        .column = panels * x / parts.columns * how->tile_columns,
        .column_end = least(g->n, panels * (x + 1) / parts.columns * how->tile_columns),
    };
}

static int64_t threads_for(const product* g)
{
#ifdef _OPENMP
    enum { WORTH_A_THREAD = 1 << 17 }; /* multiply-adds: a microsecond or two, what waking it costs. (All are woken or none) */
    double steps = (double)g->k + (g->finish ? 16 : 0); /* finishing an element takes as long as some multiply-adds */
    double worth = (double)g->m * (double)g->n * steps / WORTH_A_THREAD;
    int64_t most = omp_in_parallel() ? 1 : omp_get_max_threads();
    return worth < (double)most ? 1 + (int64_t)worth : most;
#else
    (void)g;
    return 1;
#endif
}

typedef struct {
    const product* g;
    const kernel*  how;
    float*         packed; /* op(B), or NULL */
    grid           parts;
} job;

/* Panel after panel of each segment. */
static void pack_panel(void* context, int64_t i)
{
    const job* j = context;
    int64_t panels = pieces(j->g->n, j->how->tile_columns), width = panels * j->how->tile_columns;
    int64_t k = i / panels * SEGMENT, column = i % panels * j->how->tile_columns;
    j->how->pack(j->packed + k * width + column * least(SEGMENT, j->g->k - k), j->g, k, column);
}

static void multiply_one(void* context, int64_t i)
{
    const job* j = context;
    part at = part_of(j->g, j->how, j->parts, i);
    j->how->multiply(j->g, j->packed, at);
    if (j->g->finish && j->parts.columns == 1) j->g->finish(j->g->context, at.row, at.row_end);
}

static void finish_rows(void* context, int64_t i)
{
    const job* j = context;
    part at = part_of(j->g, j->how, (grid){j->parts.rows, 1}, i);
    j->g->finish(j->g->context, at.row, at.row_end);
}

/* body(j, i) for i in [0, n): what is not worth a second thread by this one. */
static void run(job* j, int64_t threads, int64_t n, void (*body)(void* context, int64_t i))
{
    if (threads > 1) ggnn_parallel_for(n, body, j);
    else
        for (int64_t i = 0; i < n; i++) body(j, i);
}

/* A small op(B), a weight matrix, is packed by all threads for all; of a large one, and of that of a weight gradient, which
   is as long as the batch, each part packs the segment that it is at, so that threads meet once however large k is. */
static void multiply(const product* g, const kernel* how, float* workspace)
{
    int64_t panels = pieces(g->n, how->tile_columns), threads = threads_for(g);
    job j = {g, how, how->pack && !packs_in_tiles(g) && pack_is_shared(g->n, g->k) ? workspace : NULL, {0, 0}};
    j.parts = divide(g, pieces(g->m, how->tile_rows), panels, threads, j.packed != NULL);
    if (j.packed) run(&j, threads, pieces(g->k, SEGMENT) * panels, pack_panel);
    run(&j, threads, j.parts.rows * j.parts.columns, multiply_one);
    if (g->finish && j.parts.columns > 1) run(&j, threads, j.parts.rows, finish_rows); /* whole when all parts are */
}

static void compute(const product* g, void* workspace)
{
    if (g->m == 0 || g->n == 0) return;
    if (g->k > 0) {
        multiply(g, kernel_of(gemm_used()), (float*)(((uintptr_t)workspace + 63) / 64 * 64));
        return;
    }
    for (int64_t i = 0; g->beta == 0 && i < g->m; i++) memset(g->c + i * g->ldc, 0, (size_t)g->n * sizeof *g->c);
    if (g->finish) g->finish(g->context, 0, g->m);
}

void gemm(float* c, int64_t ldc, const float* a, int64_t lda, bool a_transposed, const float* b, int64_t ldb,
          bool b_transposed, int64_t m, int64_t n, int64_t k, float beta, void* workspace)
{
    assert(m >= 0 && n >= 0 && k >= 0 && (beta == 0 || beta == 1));
    assert(ldc >= n && lda >= (a_transposed ? m : k) && ldb >= (b_transposed ? k : n));
    product g = {c, ldc, a, a_transposed ? 1 : lda, a_transposed ? lda : 1,
                 b, b_transposed ? 1 : ldb, b_transposed ? ldb : 1, m, n, k, beta, NULL, NULL};
    compute(&g, workspace);
}

void gemm_finish(float* c, int64_t ldc, const float* a, int64_t lda, const float* b, int64_t ldb, int64_t m, int64_t n,
                 int64_t k, void* workspace, void (*finish)(void* context, int64_t row, int64_t row_end), void* context)
{
    assert(m >= 0 && n >= 0 && k >= 0 && ldc >= n && lda >= k && ldb >= n);
    product g = {c, ldc, a, lda, 1, b, ldb, 1, m, n, k, 0, finish, context};
    compute(&g, workspace);
}

#else /* GEMM_LANES: one instance ============================================================================== */
#define lanes GEMM_NAME(lanes)
#define c_lanes GEMM_NAME(c_lanes)
#define pack_b GEMM_NAME(pack_b)
#define pack_a GEMM_NAME(pack_a)
#define tile GEMM_NAME(tile)
#define put GEMM_NAME(put)
#define tile_of_columns GEMM_NAME(tile_of_columns)
#define multiply_tile GEMM_NAME(multiply_tile)
#define multiply_group GEMM_NAME(multiply_group)
#define multiply_part GEMM_NAME(multiply_part)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline)) /* else the loops over tiles take registers from those over k */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define COLUMNS (2 * GEMM_LANES)      /* of a tile: two vectors */
#define PITCH (SEGMENT + 16)          /* of op(A)'s packed rows: no power of two, lest they share cache sets */

typedef float lanes __attribute__((vector_size(4 * GEMM_LANES), may_alias));
typedef float c_lanes __attribute__((vector_size(4 * GEMM_LANES), may_alias, aligned(4))); /* in C, at any address */

/* panel[p][x] = op(B)[k + p, column + x], zeros for the columns past the end. */
static void pack_b(float* panel, const product* g, int64_t k, int64_t column)
{
    int64_t depth = least(SEGMENT, g->k - k), used = least(COLUMNS, g->n - column);
    const float* from = g->b + k * g->b_k + column * g->b_column;
    if (g->b_column == 1 && used == COLUMNS) {
        for (int64_t p = 0; p < depth; p++) memcpy(panel + p * COLUMNS, from + p * g->b_k, COLUMNS * sizeof *panel);
        return;
    }
    memset(panel, 0, (size_t)(depth * COLUMNS) * sizeof *panel);
    if (g->b_column == 1) {
        for (int64_t p = 0; p < depth; p++)
            for (int64_t x = 0; x < used; x++) panel[p * COLUMNS + x] = from[p * g->b_k + x];
    } else {
        for (int64_t x = 0; x < used; x++)
            for (int64_t p = 0; p < depth; p++) panel[p * COLUMNS + x] = from[p * g->b_k + x * g->b_column];
    }
}

/* `rows` rows of op(A) from row i on, at PITCH, when that is how A is stored; else a tile of fewer rows than GEMM_ROWS,
   GEMM_ROWS elements at each k. Zeros for a tile's rows past the end. */
static void pack_a(float* out, const product* g, int64_t k, int64_t depth, int64_t i, int64_t rows)
{
    const float* from = g->a + i * g->a_row + k * g->a_k;
    if (g->a_k == 1) {
        for (int64_t r = 0; r < round_up(rows, GEMM_ROWS); r++)
            if (r < rows) memcpy(out + r * PITCH, from + r * g->a_row, (size_t)depth * sizeof *out);
            else memset(out + r * PITCH, 0, (size_t)depth * sizeof *out);
        return;
    }
    for (int64_t p = 0; p < depth; p++, from += g->a_k)
        for (int64_t r = 0; r < GEMM_ROWS; r++) *out++ = r < rows ? from[r] : 0;
}

/* out[r][x] = sum over p < depth of a[r * row_step + p * a.step] * b[p * b.step + x], in order of p. The sums stay in
   registers. What is kept is stored on the way, while the multiply-adds are what takes the time. row_step, keep_a, keep_b
   and `vectors` are constants where this is inlined. */
ALWAYS_INLINE void tile(float* out, operand a, const int row_step, const bool keep_a, operand b, const bool keep_b,
                        const int vectors, int64_t depth, hints next)
{
    const int64_t a_step = keep_a ? a.step : row_step == 1 ? GEMM_ROWS : 1, b_step = keep_b ? b.step : COLUMNS;
    lanes sum[GEMM_ROWS][2], x[2];
    UNROLL for (int r = 0; r < GEMM_ROWS; r++)
        UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = (lanes){0};
    while (depth > 0) {
        prefetch(next.s, next.lines);
        if (next.c_rows-- > 0) {
            __builtin_prefetch(next.c, 1);
            __builtin_prefetch(next.c + LINE, 1);
            next.c += next.ldc;
        }
        int64_t steps = least(depth, STEPS);
        depth -= steps;
        for (; steps > 0; steps--, a.at += a_step, b.at += b_step) {
            UNROLL for (int v = 0; v < vectors; v++) x[v] = *(const c_lanes*)(b.at + v * GEMM_LANES);
            if (keep_b) {
                UNROLL for (int v = 0; v < vectors; v++) *(lanes*)(b.keep + v * GEMM_LANES) = x[v];
                b.keep += COLUMNS;
            }
            if (keep_a) {
                memcpy(a.keep, a.at, GEMM_ROWS * sizeof *a.keep);
                a.keep += GEMM_ROWS;
            }
            UNROLL for (int r = 0; r < GEMM_ROWS; r++) {
                lanes y = GEMM_SPLAT(a.at[r * row_step]);
                UNROLL for (int v = 0; v < vectors; v++) sum[r][v] = GEMM_MULTIPLY_ADD(y, x[v], sum[r][v]);
            }
        }
    }
    UNROLL for (int r = 0; r < GEMM_ROWS; r++)
        UNROLL for (int v = 0; v < vectors; v++) *(lanes*)(out + r * COLUMNS + v * GEMM_LANES) = sum[r][v];
}

/* The tile's way out: C = sum or C += sum. */
ALWAYS_INLINE void put(float* c, int64_t ldc, const float* sum, int64_t rows, int64_t columns, bool add)
{
    for (int64_t r = 0; r < rows; r++, c += ldc, sum += COLUMNS) {
        if (columns == COLUMNS)
            UNROLL for (int v = 0; v < COLUMNS; v += GEMM_LANES) {
                lanes s = *(const lanes*)(sum + v);
                if (add) s += *(const c_lanes*)(c + v);
                *(c_lanes*)(c + v) = s;
            }
        else
            for (int64_t x = 0; x < columns; x++) c[x] = add ? c[x] + sum[x] : sum[x];
    }
}

/* tile() of an A' whose elements of one k lie side by side. */
static NOINLINE void tile_of_columns(float* out, operand a, operand b, bool narrow, int64_t depth, hints next)
{
    if (narrow && a.keep) tile(out, a, 1, true, b, false, 1, depth, next);
    else if (narrow) tile(out, a, 1, false, b, false, 1, depth, next);
    else if (a.keep && b.keep) tile(out, a, 1, true, b, true, 2, depth, next);
    else if (a.keep) tile(out, a, 1, true, b, false, 2, depth, next);
    else if (b.keep) tile(out, a, 1, false, b, true, 2, depth, next);
    else tile(out, a, 1, false, b, false, 2, depth, next);
}

/* One tile of C and one segment: of its rows those from `skip` on. */
static void multiply_tile(float* c, int64_t ldc, operand a, bool a_by_rows, operand b, int64_t depth, int64_t skip,
                          int64_t rows, int64_t columns, bool add, hints next)
{
    float sum[GEMM_ROWS * COLUMNS] __attribute__((aligned(64)));
    bool narrow = columns <= GEMM_LANES;
    if (!a_by_rows) tile_of_columns(sum, a, b, narrow, depth, next);
    else if (narrow) tile(sum, a, PITCH, false, b, false, 1, depth, next);
    else tile(sum, a, PITCH, false, b, false, 2, depth, next);
    put(c, ldc, sum + skip * COLUMNS, rows, columns, add);
}

/* One segment of k for a group of the part's rows (Goto's inner loops): their op(A) is packed side by side, and each
   panel of op(B) passes all of its tiles. Of A' B the first tile that meets rows or a panel packs them; the last rows
   of A are read as the end of a whole tile. next: where the rows and segment of the group to come start. */
static void multiply_group(const product* g, const float* packed, part at, group now, group next)
{
    float a[GROUP * GEMM_ROWS * PITCH] __attribute__((aligned(64)));
    float own_panel[SEGMENT * COLUMNS] __attribute__((aligned(64)));
    int64_t depth = least(SEGMENT, g->k - now.k), next_depth = least(SEGMENT, g->k - next.k);
    int64_t tiles = pieces(now.rows, GEMM_ROWS) * pieces(at.column_end - at.column, COLUMNS);
    bool add = now.k > 0 || g->beta != 0, by_rows = g->a_k == 1, a_in_tile = !by_rows && g->m >= GEMM_ROWS;
    stream next_a = stream_over(g->a + next.row * g->a_row + next.k * g->a_k, g->a_row, least(now.rows, g->m - next.row),
                                g->a_k, next_depth);
    stream next_b = {0};
    if (!packed && next.k != now.k)
        next_b = stream_over(g->b + next.k * g->b_k + at.column * g->b_column, g->b_k, next_depth, g->b_column,
                             at.column_end - at.column);
    int64_t lines = pieces(lines_of(&next_a) + lines_of(&next_b), tiles * pieces(depth, STEPS));
    lines = lines < BURST ? BURST : least(lines, 2 * BURST);
    if (!a_in_tile) pack_a(a, g, now.k, depth, now.row, now.rows);
    for (int64_t j = at.column; j < at.column_end; j += COLUMNS) {
        int64_t columns = least(COLUMNS, at.column_end - j);
        bool b_in_tile = packs_in_tiles(g) && columns == COLUMNS;
        const float* b = packed ? packed + now.k * round_up(g->n, COLUMNS) + j * depth : own_panel;
        if (!packed && !b_in_tile) pack_b(own_panel, g, now.k, j);
        for (int64_t r = 0; r < now.rows; r += GEMM_ROWS) {
            float* c = g->c + (now.row + r) * g->ldc + j;
            int64_t rows = least(GEMM_ROWS, now.rows - r), skip = a_in_tile ? GEMM_ROWS - rows : 0;
            operand x = {a + r * PITCH, by_rows ? 1 : GEMM_ROWS, NULL}, y = {b, COLUMNS, NULL};
            if (a_in_tile && j == at.column)
                x = (operand){g->a + now.k * g->a_k + now.row + r - skip, g->a_k, a + r * PITCH};
            if (b_in_tile && r == 0) y = (operand){g->b + now.k * g->b_k + j, g->b_k, own_panel};
            hints hint = {c, add ? 0 : rows, g->ldc, next_b.rows > 0 ? &next_b : &next_a, lines};
            multiply_tile(c, g->ldc, x, by_rows, y, depth, skip, rows, columns, add, hint);
        }
    }
}

/* Where op(B) is packed already and rows of A are copied as they are, a tile's rows at a time, so that they stay in
   the level-1 cache; else as many as fit: the less often op(B) is packed, and the longer the pieces of A's rows. */
static void multiply_part(const product* g, const float* packed, part at)
{
    int64_t most = packed && g->a_k == 1 ? GEMM_ROWS : GROUP * GEMM_ROWS;
    group now = {at.row, 0, 0}, next;
    for (; now.k < g->k; now = next) {
        now.rows = least(most, at.row_end - now.row);
        next = (group){now.row + now.rows, 0, now.k};
        if (next.row == at.row_end) next.row = at.row, next.k += SEGMENT;
        group hint = next.k < g->k ? next : (group){at.row_end % g->m, 0, 0}; /* a guess: the part after this one */
        multiply_group(g, packed, at, now, hint);
    }
}

static const kernel GEMM_NAME(kernel) = {GEMM_ROWS, COLUMNS, pack_b, multiply_part};

#undef lanes
#undef c_lanes
#undef pack_b
#undef pack_a
#undef tile
#undef put
#undef tile_of_columns
#undef multiply_tile
#undef multiply_group
#undef multiply_part
#undef ALWAYS_INLINE
#undef NOINLINE
#undef UNROLL
#undef COLUMNS
#undef PITCH
#undef GEMM_LANES
#undef GEMM_ROWS
#undef GEMM_NAME
#undef GEMM_SPLAT
#undef GEMM_MULTIPLY_ADD
#endif
