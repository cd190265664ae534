#include "datasets/metis.h"

#ifndef HAVE_METIS
bool metis_divide(int32_t* owner, const ggnn_lists* lists, const int64_t* weight, int32_t parts, const char* path,
                  error* why)
{
    (void)owner;
    (void)lists;
    (void)weight;
    (void)parts;
    return error_set(why, "%s: --method metis: this program was built without METIS (metis.h, -lmetis); mincut is built in",
                     path);
}
#else
#include <errno.h>
#include <metis.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"

/* What METIS reads, in its own integers. */
typedef struct {
    idx_t *row, *column, *weight; /* (N + 1), (E), (N) or NULL */
    idx_t* part;                  /* (N) */
} metis_arrays;

static bool open_arrays(metis_arrays* m, const ggnn_lists* lists, bool weighted, error* why)
{
    const size_t n = (size_t)lists->num_nodes;
    *m = (metis_arrays){NULL, NULL, NULL, NULL};
    m->row = memory_new((n + 1) * sizeof *m->row, "METIS's rows", why);
    m->column = m->row ? memory_new((size_t)lists->num_edges * sizeof *m->column, "METIS's edges", why) : NULL;
    m->part = m->column ? memory_new(n * sizeof *m->part, "METIS's parts", why) : NULL;
    if (m->part && weighted) m->weight = memory_new(n * sizeof *m->weight, "METIS's weights", why);
    return m->part && (m->weight || !weighted);
}

static void close_arrays(metis_arrays* m)
{
    memory_free(m->row);
    memory_free(m->column);
    memory_free(m->weight);
    memory_free(m->part);
}

static double sum_of(const int64_t* weight, int64_t n)
{
    double sum = 0;
    for (int64_t v = 0; weight && v < n; v++) sum += (double)weight[v];
    return sum;
}

/* METIS adds weights up in its own integers. */
static void copy_weights(idx_t* to, const int64_t* weight, int64_t n, int64_t most)
{
    int halved = 0;
    for (double sum = sum_of(weight, n); sum > (double)most / 2; sum /= 2) halved++;
    for (int64_t v = 0; v < n; v++) to[v] = (idx_t)(weight[v] >> halved);
}

/* The process of METIS: writes its status, and where that is good the parts, into `to`. */
static void work(metis_arrays* m, int64_t n, int32_t parts, int to)
{
    idx_t options[METIS_NOPTIONS], num_nodes = (idx_t)n, constraints = 1, num_parts = (idx_t)parts, cut;
    signal(SIGHUP, SIG_DFL); /* unfinished files are the other process's matter */
    signal(SIGINT, SIG_DFL);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    const int status = METIS_PartGraphKway(&num_nodes, &constraints, m->row, m->column, m->weight, NULL, NULL, &num_parts, NULL,
                                           NULL, options, &cut, m->part);
    const char* from = (const char*)m->part;
    size_t left = status == METIS_OK ? (size_t)n * sizeof *m->part : 0;
    ssize_t wrote = write(to, &status, sizeof status);
    for (; wrote > 0 && left > 0; from += wrote, left -= (size_t)wrote) wrote = write(to, from, left);
    _exit(0);
}

/* Reads all of `bytes`, where the process at the other end lives long enough to write them. */
static bool read_all(int from, void* to, size_t bytes)
{
    size_t got = 0;
    while (got < bytes) {
        const ssize_t n = read(from, (char*)to + got, bytes - got);
        if (n == 0 || (n < 0 && errno != EINTR)) break;
        if (n > 0) got += (size_t)n;
    }
    return got == bytes;
}

/* While METIS works it takes SIGTERM and SIGABRT, whichever thread gets them, for errors of its own. So it works in a process
   of its own, which ends with this one, and signals do here what they always do. */
static bool run_metis(metis_arrays* m, int64_t n, int32_t parts, const char* path, error* why)
{
    const pid_t here = getpid();
    int ends[2], status = 0, end = 0;
    if (pipe(ends) != 0) return error_set(why, "%s: a process for METIS: %s", path, strerror(errno));
    const pid_t child = fork();
    const int failure = errno;
    if (child == 0) {
        close(ends[0]);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == here) work(m, n, parts, ends[1]);
        _exit(1);
    }
    close(ends[1]);
    const bool good = child > 0 && read_all(ends[0], &status, sizeof status) && status == METIS_OK &&
                      read_all(ends[0], m->part, (size_t)n * sizeof *m->part);
    close(ends[0]);
    while (child > 0 && waitpid(child, &end, 0) < 0 && errno == EINTR) {}
    if (good) return true;
    if (child < 0) return error_set(why, "%s: a process for METIS: %s", path, strerror(failure));
    if (WIFSIGNALED(end)) return error_set(why, "%s: METIS was ended by signal %d", path, WTERMSIG(end));
    return error_set(why, "%s: METIS fails with status %d", path, status);
}

bool metis_divide(int32_t* owner, const ggnn_lists* lists, const int64_t* weight, int32_t parts, const char* path,
                  error* why)
{
    const int64_t n = lists->num_nodes, most = sizeof(idx_t) == 4 ? INT32_MAX : INT64_MAX;
    metis_arrays m;
    if (lists->num_edges > most || n >= most)
        return error_set(why, "%s: METIS has indices of %d bits: %lld %s are too many", path, (int)(8 * sizeof(idx_t)),
                         (long long)(n >= most ? n : lists->num_edges), n >= most ? "nodes" : "edges in both directions");
    for (int64_t v = 0; v < n; v++) owner[v] = 0;
    if (parts == 1 || n == 0) return true; /* METIS would fail */
    const bool weighted = sum_of(weight, n) > 0;
    bool good = open_arrays(&m, lists, weighted, why);
    if (good) {
        for (int64_t v = 0; v <= n; v++) m.row[v] = (idx_t)lists->indptr[v];
        for (int64_t e = 0; e < lists->num_edges; e++) m.column[e] = (idx_t)lists->indices[e];
        if (weighted) copy_weights(m.weight, weight, n, most);
        good = run_metis(&m, n, parts, path, why);
        for (int64_t v = 0; good && v < n; v++) owner[v] = (int32_t)m.part[v];
    }
    close_arrays(&m);
    return good;
}
#endif
