/* threads.c - eight threads call the package's library at once, for the thread sanitizer: samplers of their own, one pool. */
#include "python/ggnn_py.c"

enum { NODES = 3000, DEGREE = 12, WIDTH = 200, SEEDS = 64, CALLS = 40, THREADS = 8 };
static int64_t indptr[NODES + 1];
static ggnn_node indices[NODES * DEGREE];
static float rows[NODES * WIDTH];
static int wrong;

static void* call(void* unused)
{
    static const int64_t num_nodes[] = {NODES}, num_seeds[] = {SEEDS};
    static const int32_t fanout[] = {5, 4};
    const ggnn_py_relation relation = {NODES, NODES, NODES * DEGREE, indptr, indices, NULL, NULL, 0, 0};
    ggnn_py_sampler* sampler = ggnn_py_sampler_new(1, num_nodes, NULL, 1, &relation, GGNN_FISHER_YATES, 0, 0, 0);
    ggnn_node* id = malloc(NODES * sizeof *id);
    float* out = malloc((size_t)NODES * WIDTH * sizeof *out);
    for (int c = 0; c < CALLS; c++) {
        ggnn_node seeds[SEEDS];
        const ggnn_node* of_type[] = {seeds};
        int64_t nodes[3], edges[3], bad;
        for (int i = 0; i < SEEDS; i++) seeds[i] = (ggnn_node)((c * SEEDS + i) % NODES);
        int failed = ggnn_py_sample(sampler, 1, (uint32_t)c, 2, fanout, num_seeds, of_type, NULL, nodes, edges) != GGNN_OK;
        if (!failed) {
            ggnn_py_nodes(sampler, 0, id, NULL);
            failed = ggnn_py_gather(out, WIDTH, 0, rows, NODES, WIDTH * 4, WIDTH, 0, id, nodes[2], &bad) != GGNN_OK;
            for (int64_t i = 0; i < nodes[2] && !failed; i++) failed = out[i * WIDTH + 3] != rows[id[i] * WIDTH + 3];
        }
        if (failed) __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
    }
    ggnn_py_sampler_free(sampler);
    free(id), free(out);
    return unused;
}

int main(void)
{
    for (int v = 0; v <= NODES; v++) indptr[v] = (int64_t)v * DEGREE;
    for (int e = 0; e < NODES * DEGREE; e++) indices[e] = (ggnn_node)((e * 7919 + e / 5) % NODES);
    for (int i = 0; i < NODES * WIDTH; i++) rows[i] = (float)i;
    for (int pool_threads = 1; pool_threads <= 7; pool_threads += 3) { /* the pool grows, and is asked for fewer */
        pthread_t thread[THREADS];
        ggnn_py_set_threads(pool_threads == 7 ? 2 : pool_threads);
        for (int i = 0; i < THREADS; i++) pthread_create(&thread[i], NULL, call, NULL);
        for (int i = 1; i < 4; i++) ggnn_py_set_threads(pool_threads == 7 ? 2 : i); /* while they are at work */
        for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    }
    return wrong || pool.made < 2;
}
