/* test_gemm.c - trainer/cpu/gemm.h: every level and transpose against sums in double and, bit for bit, against the order
   of summation that gemm.h defines; threads; edges; NaN; what must not be touched. */
#include "tests/test.h"
#include "trainer/cpu/gemm.h"

#include <stdbool.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static const float sentinel = 12345.5f; /* beyond a row's width in C */

/* One product with its matrices in blocks of exactly the size needed, so that a sanitizer sees any step outside; the
   padding between rows of A and B is NaN, so that reading it shows in the result. */
typedef struct {
    int64_t m, n, k, lda, ldb, ldc;
    bool ta, tb;
    float beta;
    float *a, *b, *c, *start; /* start: what C holds before */
    float *fused, *rounded;   /* (m, n) the defined result, with and without fused multiply-add */
    double *exact, *bound;    /* (m, n) in double, and how far a float sum may be from it */
} problem;

static float* matrix(int64_t rows, int64_t width, int64_t ld, float padding)
{
    int64_t size = rows > 0 ? (rows - 1) * ld + width : 0;
    float* x = malloc((size_t)size * sizeof *x + (size == 0));
    for (int64_t i = 0; i < size; i++) x[i] = i % ld < width ? test_uniform() : padding;
    return x;
}

static float a_at(const problem* p, int64_t i, int64_t x) { return p->a[p->ta ? x * p->lda + i : i * p->lda + x]; }
static float b_at(const problem* p, int64_t x, int64_t j) { return p->b[p->tb ? j * p->ldb + x : x * p->ldb + j]; }

/* gemm.h's order: segments of 256 from zero, then added to beta * C. */
static void defined_result(problem* p, int64_t i, int64_t j)
{
    float fused = p->beta != 0 ? p->start[i * p->ldc + j] : 0, rounded = fused;
    for (int64_t s = 0; s < p->k; s += 256) {
        float with = 0, without = 0;
        for (int64_t x = s; x < p->k && x < s + 256; x++) {
            volatile float product = a_at(p, i, x) * b_at(p, x, j); /* volatile: rounded, whatever the options */
            with = fmaf(a_at(p, i, x), b_at(p, x, j), with);
            without += product;
        }
        fused = s == 0 && p->beta == 0 ? with : fused + with;
        rounded = s == 0 && p->beta == 0 ? without : rounded + without;
    }
    p->fused[i * p->n + j] = fused;
    p->rounded[i * p->n + j] = rounded;
}

/* A term meets one rounding as a product, at most 256 in its segment, one per segment after; each is half an ulp. */
static void exact_result(problem* p, int64_t i, int64_t j)
{
    int64_t segments = (p->k + 255) / 256;
    double roundings = (double)(1 + (p->k < 256 ? p->k : 256) + segments + 1);
    double sum = p->beta != 0 ? (double)p->start[i * p->ldc + j] : 0, magnitude = fabs(sum);
    for (int64_t x = 0; x < p->k; x++) {
        double product = (double)a_at(p, i, x) * (double)b_at(p, x, j);
        sum += product;
        magnitude += fabs(product);
    }
    p->exact[i * p->n + j] = sum;
    p->bound[i * p->n + j] = 1.001 * roundings * 0x1p-24 * magnitude;
}

static void solve(problem* p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            defined_result(p, i, j);
            exact_result(p, i, j);
        }
}

static problem problem_new(int64_t m, int64_t n, int64_t k, bool ta, bool tb, float beta, int64_t padding)
{
    problem p = {.m = m, .n = n, .k = k, .ta = ta, .tb = tb, .beta = beta};
    p.lda = (ta ? m : k) + padding;
    p.ldb = (tb ? k : n) + 2 * padding;
    p.ldc = n + padding;
    p.a = matrix(ta ? k : m, ta ? m : k, p.lda, NAN);
    p.b = matrix(tb ? n : k, tb ? k : n, p.ldb, NAN);
    p.c = matrix(m, n, p.ldc, sentinel);
    p.start = matrix(m, n, p.ldc, sentinel);
    size_t size = (size_t)(m * n) + 1;
    p.fused = malloc(size * sizeof *p.fused), p.rounded = malloc(size * sizeof *p.rounded);
    p.exact = malloc(size * sizeof *p.exact), p.bound = malloc(size * sizeof *p.bound);
    solve(&p);
    return p;
}

static void problem_free(problem* p)
{
    free(p->a), free(p->b), free(p->c), free(p->start);
    free(p->fused), free(p->rounded), free(p->exact), free(p->bound);
}

/* C before the call: NaN where beta = 0 says it is not read. */
static void restart(problem* p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < (i + 1 < p->m ? p->ldc : p->n); j++)
            p->c[i * p->ldc + j] = p->beta == 0 && j < p->n ? NAN : p->start[i * p->ldc + j];
}

static void compute(problem* p)
{
    size_t bytes = gemm_workspace_bytes(p->m, p->n, p->k);
    char* workspace = malloc(bytes + 1); /* + 1: any alignment will do */
    restart(p);
    gemm(p->c, p->ldc, p->a, p->lda, p->ta, p->b, p->ldb, p->tb, p->m, p->n, p->k, p->beta, workspace + 1);
    free(workspace);
}

static bool same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

/* Counts the elements that differ from what they must be; the padding of C counts too. */
static int64_t wrong_bits(const problem* p, gemm_level level)
{
    const float* expected = level >= GEMM_AVX2 ? p->fused : p->rounded;
    int64_t wrong = 0;
    for (int64_t i = 0; i < p->m; i++) {
        for (int64_t j = 0; j < p->n; j++) wrong += !same_bits(p->c[i * p->ldc + j], expected[i * p->n + j]);
        for (int64_t j = p->n; i + 1 < p->m && j < p->ldc; j++) wrong += p->c[i * p->ldc + j] != sentinel;
    }
    return wrong;
}

static int64_t too_far(const problem* p)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++)
            wrong += !(fabs((double)p->c[i * p->ldc + j] - p->exact[i * p->n + j]) <= p->bound[i * p->n + j]);
    return wrong;
}

/* The plain loops and the 16-byte vectors may be contracted where the machine's baseline has a fused multiply-add. */
static bool bits_are_defined(gemm_level level)
{
#if defined(__x86_64__) && !defined(__FMA__)
    (void)level;
    return true;
#else
    return level >= GEMM_AVX2;
#endif
}

/* Every level from this one that the machine has, with the threads as they are. */
static void check_levels(problem* p, gemm_level from)
{
    for (int level = (int)from; level < GEMM_LEVELS; level++) {
        if (!gemm_use((gemm_level)level)) continue;
        compute(p);
        int64_t far = too_far(p), wrong = bits_are_defined((gemm_level)level) ? wrong_bits(p, (gemm_level)level) : 0;
        if (far || wrong)
            printf("  %s, m n k %" PRId64 " %" PRId64 " %" PRId64 "%s%s, beta %g: %" PRId64 " too far, %" PRId64
                   " wrong bits\n", gemm_level_name((gemm_level)level), p->m, p->n, p->k, p->ta ? ", A^T" : "",
                   p->tb ? ", B^T" : "", (double)p->beta, far, wrong);
        CHECK_EQ(far, 0);
        CHECK_EQ(wrong, 0);
    }
}

static void check_transposes(int64_t m, int64_t n, int64_t k, float beta, int64_t padding)
{
    for (int t = 0; t < 4; t++) {
        problem p = problem_new(m, n, k, t & 1, t & 2, beta, padding);
        check_levels(&p, GEMM_PLAIN);
        problem_free(&p);
    }
}

static void set_threads(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

TEST(sizes_around_every_tile)
{
    static const int64_t m[] = {0, 1, 3, 4, 5, 6, 7, 11, 12, 13}, n[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33};
    static const int64_t k[] = {0, 1, 2, 37};
    for (size_t x = 0; x < sizeof m / sizeof *m; x++)
        for (size_t y = 0; y < sizeof n / sizeof *n; y++)
            for (size_t z = 0; z < sizeof k / sizeof *k; z++)
                check_transposes(m[x], n[y], k[z], (float)((x + y + z) % 2), (int64_t)((x + y) % 3));
}

TEST(segments_are_summed_from_zero_in_order)
{
    static const int64_t k[] = {255, 256, 257, 512, 513, 800};
    for (size_t z = 0; z < sizeof k / sizeof *k; z++)
        for (int beta = 0; beta < 2; beta++) check_transposes(13, 17, k[z], (float)beta, 3);
}

TEST(random_sizes)
{
    for (int i = 0; i < 8; i++)
        check_transposes(test_below(90), test_below(90), test_below(300), (float)test_below(2), test_below(20));
}

/* Large enough for all the threads asked for; op(B) packed for all threads, and (the last two) by each part. */
TEST(same_bits_for_any_number_of_threads)
{
    static const int64_t size[][3] = {{120, 100, 90}, {37, 100, 300}, {3, 500, 900}, {13, 2, 33000}, {3, 33, 16400}};
    static const int threads[] = {1, 2, 3, 8};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (int t = 0; t < 2; t++) {
            problem p = problem_new(size[s][0], size[s][1], size[s][2], s % 2, t, (float)(s % 2), 5);
            for (int x = 0; x < 4; x++) {
                set_threads(threads[x]);
                check_levels(&p, threads[x] == 3 ? GEMM_PLAIN : GEMM_VECTOR); /* the plain one is slow */
            }
            problem_free(&p);
        }
    set_threads(2);
}

/* A' B packs within its tiles: tiles, panels and segments that are whole or not, and rows and columns of several groups. */
TEST(same_bits_of_a_weight_gradient_for_any_number_of_threads)
{
    static const int64_t size[][3] = {{12, 32, 256}, {13, 33, 257}, {11, 70, 600}, {5, 48, 300}, {25, 100, 511},
                                      {24, 128, 769}, {301, 65, 260}, {128, 256, 300}};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (int beta = 0; beta < 2; beta++) {
            problem p = problem_new(size[s][0], size[s][1], size[s][2], true, false, (float)beta, beta * 3);
            for (int threads = 1; threads <= 9; threads++) {
                set_threads(threads);
                check_levels(&p, threads == 9 && s < 6 ? GEMM_PLAIN : GEMM_VECTOR);
            }
            problem_free(&p);
        }
    set_threads(2);
}

typedef struct {
    const problem* p;
    const float* whole; /* (m, n) */
    int32_t* times;     /* of each row */
    int64_t wrong;
} finishing;

/* Rows must be whole, and are doubled. */
static void double_rows(void* context, int64_t row, int64_t row_end)
{
    finishing* f = context;
    const problem* p = f->p;
    int64_t wrong = 0;
    for (int64_t i = row; i < row_end; i++) {
        f->times[i]++;
        for (int64_t j = 0; j < p->n; j++) {
            wrong += !same_bits(p->c[i * p->ldc + j], f->whole[i * p->n + j]);
            p->c[i * p->ldc + j] *= 2;
        }
    }
#ifdef _OPENMP
#pragma omp atomic
#endif
    f->wrong += wrong;
}

static void check_finish(problem* p, gemm_level level)
{
    if (!gemm_use(level)) return;
    const size_t size = (size_t)(p->m * p->n);
    float* whole = malloc(size * sizeof *whole + 1);
    void* workspace = malloc(gemm_workspace_bytes(p->m, p->n, p->k) + 1);
    finishing f = {p, whole, calloc((size_t)p->m + 1, sizeof *f.times), 0};
    compute(p);
    for (int64_t i = 0; i < p->m; i++) memcpy(whole + i * p->n, p->c + i * p->ldc, (size_t)p->n * sizeof *whole);
    restart(p);
    gemm_finish(p->c, p->ldc, p->a, p->lda, p->b, p->ldb, p->m, p->n, p->k, workspace, double_rows, &f);
    bool good = CHECK_EQ(f.wrong, 0);
    for (int64_t i = 0; i < p->m; i++) {
        good = CHECK_EQ(f.times[i], p->n > 0) && good;
        for (int64_t j = 0; j < p->n; j++) good = good && CHECK(same_bits(p->c[i * p->ldc + j], 2 * whole[i * p->n + j]));
        for (int64_t j = p->n; i + 1 < p->m && j < p->ldc; j++) good = good && CHECK(p->c[i * p->ldc + j] == sentinel);
    }
    if (!good) printf("  %s, m n k %" PRId64 " %" PRId64 " %" PRId64 "\n", gemm_level_name(level), p->m, p->n, p->k);
    free(f.times);
    free(workspace);
    free(whole);
}

/* Of 6 rows and 2,000 columns each thread makes some columns: rows are whole when all have. */
TEST(rows_are_finished_once_when_they_are_whole)
{
    static const int64_t size[][3] = {{0, 5, 3}, {5, 0, 3}, {7, 5, 0}, {1, 1, 1}, {13, 33, 5}, {700, 40, 300}, {6, 2000, 70}, {300, 90, 260}};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        problem p = problem_new(size[s][0], size[s][1], size[s][2], false, false, 0, 3);
        for (int threads = 1; threads <= 8; threads *= 2) {
            set_threads(threads);
            for (int level = threads == 2 ? GEMM_PLAIN : GEMM_VECTOR; level < GEMM_LEVELS; level++) check_finish(&p, (gemm_level)level);
        }
        problem_free(&p);
    }
    set_threads(2);
}

TEST(serial_inside_a_parallel_region)
{
    problem p[3];
    for (int i = 0; i < 3; i++) p[i] = problem_new(130, 70, 300, i == 1, i == 2, 0, 0);
    for (int level = 0; level < GEMM_LEVELS; level++) {
        if (!gemm_use((gemm_level)level)) continue;
#ifdef _OPENMP
#pragma omp parallel for num_threads(3)
#endif
        for (int i = 0; i < 3; i++) compute(&p[i]);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(too_far(&p[i]), 0);
            if (bits_are_defined((gemm_level)level)) CHECK_EQ(wrong_bits(&p[i], (gemm_level)level), 0);
        }
    }
    for (int i = 0; i < 3; i++) problem_free(&p[i]);
}

/* 0 * infinity and 0 * NaN are NaN: no product may be left out, and no neighbour may be hit. */
TEST(nan_and_infinity_spread_as_in_the_plain_sum)
{
    for (int t = 0; t < 4; t++) {
        problem p = problem_new(14, 35, 300, t & 1, t & 2, 0, 1);
        p.a[0] = NAN;
        p.b[0] = INFINITY;
        for (int64_t x = 0; x < (p.ta ? p.k : p.m); x++) p.a[x * p.lda + 5] = 0;
        for (int64_t x = 0; x < (p.tb ? p.n : p.k); x++) p.b[x * p.ldb + 7] = x == 3 ? -INFINITY : 0;
        solve(&p);
        int64_t nan = 0, finite = 0;
        for (int64_t i = 0; i < p.m * p.n; i++) nan += isnan(p.fused[i]), finite += isfinite(p.fused[i]) != 0;
        CHECK(nan > 0 && finite > 0);
        for (int level = 0; level < GEMM_LEVELS; level++) {
            if (!gemm_use((gemm_level)level)) continue;
            if (!bits_are_defined((gemm_level)level)) continue;
            compute(&p);
            CHECK_EQ(wrong_bits(&p, (gemm_level)level), 0); /* to wrong_bits() any NaN equals any other */
        }
        problem_free(&p);
    }
}

TEST(workspace_never_shrinks_as_sizes_grow)
{
    for (int i = 0; i < 100000; i++) {
        int64_t range = (int64_t)1 << (1 + test_below(20)), s[3], more[3];
        for (int x = 0; x < 3; x++) s[x] = test_below(range), more[x] = s[x] + test_below(3) * test_below(range);
        if (!CHECK(gemm_workspace_bytes(s[0], s[1], s[2]) <= gemm_workspace_bytes(more[0], more[1], more[2]))) break;
    }
    CHECK(gemm_workspace_bytes(1000000, 256, 1000000) < (size_t)5 << 20);
}

TEST(the_best_level_is_taken_and_missing_ones_refused)
{
    int best = 0, have = 0;
    gemm_level first = gemm_used();
    for (int level = 0; level < GEMM_LEVELS; level++) {
        gemm_level before = gemm_used();
        if (gemm_use((gemm_level)level)) {
            have++;
            best = level;
            CHECK_EQ(gemm_used(), level);
        } else CHECK_EQ(gemm_used(), before);
    }
    CHECK(have >= 1);
    CHECK_EQ(first, best);
    CHECK(!gemm_use(GEMM_LEVELS));
    CHECK_EQ(gemm_used(), best);
    printf("  levels up to %s\n", gemm_level_name((gemm_level)best));
}

TEST(blas_agrees_within_rounding)
{
    if (!gemm_blas_available()) SKIP("built without a CBLAS");
    static const int64_t size[][3] = {{0, 3, 2}, {3, 0, 2}, {5, 7, 0}, {1, 1, 1}, {60, 33, 700}};
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (int t = 0; t < 8; t++) {
            problem p = problem_new(size[s][0], size[s][1], size[s][2], t & 1, t & 2, (float)(t / 4), 2);
            double scale = (double)p.k / 256 + 2; /* its order is unknown: up to k roundings for the bound's 256 */
            for (int64_t i = 0; i < p.m * p.n; i++) p.bound[i] *= scale;
            restart(&p);
            gemm_blas(p.c, p.ldc, p.a, p.lda, p.ta, p.b, p.ldb, p.tb, p.m, p.n, p.k, p.beta, NULL);
            CHECK_EQ(too_far(&p), 0);
            problem_free(&p);
        }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(20);
    set_threads(2);
    RUN(the_best_level_is_taken_and_missing_ones_refused);
    RUN(sizes_around_every_tile);
    RUN(segments_are_summed_from_zero_in_order);
    RUN(random_sizes);
    RUN(same_bits_for_any_number_of_threads);
    RUN(same_bits_of_a_weight_gradient_for_any_number_of_threads);
    RUN(rows_are_finished_once_when_they_are_whole);
    RUN(serial_inside_a_parallel_region);
    RUN(nan_and_infinity_spread_as_in_the_plain_sum);
    RUN(workspace_never_shrinks_as_sizes_grow);
    RUN(blas_agrees_within_rounding);
    return test_finish();
}
