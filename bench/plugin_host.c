#include "bench/plugin_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/progress.h"

/* ==== the watcher ======================================================================================= */

enum { REGIONS = 64 };
typedef struct { /* [begin, end) with the pages around it that nobody may touch */
    const char *begin, *data, *data_end, *end;
    char name[24];
} region;

static struct watch { /* of both processes */
    double    limit;    /* seconds of a call */
    double    deadline; /* of the call; 0: none is running */
    char      doing[160];
    int       signal;   /* that ended the call; 0: none */
    uintptr_t address;
    int       regions;
    region    region[REGIONS];
} * watched;

static void describe_fault(char text[128], const struct watch* w)
{
    const char* at = (const char*)w->address;
    snprintf(text, 128, "crashes: %s", strsignal(w->signal));
    for (int i = 0; w->signal == SIGSEGV && i < w->regions; i++) {
        const region* r = &w->region[i];
        if (at < r->begin || at >= r->end) continue;
        if (at < r->data) snprintf(text, 128, "reads or writes before the begin of `%s`", r->name);
        else if (at >= r->data_end) snprintf(text, 128, "reads or writes past the end of `%s`", r->name);
        else snprintf(text, 128, "writes to its input `%s`", r->name);
    }
}

/* How the new process ended, in words; its status where the plug-in has nothing to do with it. */
static int judge(const struct watch* w, int end, bool late)
{
    char text[128];
    if (WIFEXITED(end) && w->deadline <= 0) return WEXITSTATUS(end);
    if (late) snprintf(text, sizeof text, "hangs: was ended after %g s (--limit)", w->limit);
    else if (w->signal) describe_fault(text, w);
    else if (WIFSIGNALED(end)) snprintf(text, sizeof text, "crashes: %s", strsignal(WTERMSIG(end)));
    else snprintf(text, sizeof text, "ends the program with status %d", WEXITSTATUS(end));
    fprintf(stderr, "%sggnn-bench: %s: %s\n", isatty(2) ? "\n" : "", w->deadline > 0 ? w->doing : "between two calls", text);
    return 1;
}

bool plugin_watch(double limit, int* status)
{
    const struct timespec nap = {0, 20000000};
    const pid_t here = getpid();
    int end = 0;
    bool late = false;
    watched = mmap(NULL, sizeof *watched, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (watched == MAP_FAILED) watched = NULL;
    else watched->limit = limit;
    fflush(NULL);
    const pid_t child = watched ? fork() : -1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != here) _exit(1);
        snprintf(watched->doing, sizeof watched->doing, "the plug-in");
        return true;
    }
    *status = 1;
    if (child < 0) fprintf(stderr, "ggnn-bench: a process for the plug-in: %s\n", strerror(errno));
    while (child > 0 && waitpid(child, &end, WNOHANG) == 0) {
        const double deadline = watched->deadline;
        nanosleep(&nap, NULL);
        if (!late && deadline > 0 && deadline == watched->deadline && progress_seconds() > deadline) {
            late = true;
            kill(child, SIGKILL);
        }
    }
    if (child > 0) *status = judge(watched, end, late);
    return false;
}

/* In whichever thread the plug-in fails. What fails beside it fails as ever. */
static void end_call(int number, siginfo_t* about, void* unused)
{
    (void)unused;
    if (watched->deadline > 0) {
        watched->signal = number;
        watched->address = (uintptr_t)about->si_addr;
        _exit(1);
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void begin_call(const char* kernel, const char* what)
{
    snprintf(watched->doing, sizeof watched->doing, "%s: %s", kernel, what);
    watched->deadline = progress_seconds() + watched->limit;
}
static void finish_call(void) { watched->deadline = 0; }

static void catch_faults(void)
{
    static const int number[] = {SIGSEGV, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = end_call;
    action.sa_flags = SA_SIGINFO;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) sigaction(number[i], &action, NULL);
}

/* ==== the plug-in ======================================================================================= */

static const bench_plugin* opened;

const bench_plugin* plugin_opened(void) { return opened; }

bool plugin_has(const bench_plugin* p, plugin_kernel k)
{
    switch (k) {
    case PLUGIN_SPMM: return p->spmm;
    case PLUGIN_SDDMM: return p->sddmm;
    case PLUGIN_GATHER: return p->gather;
    case PLUGIN_SAMPLE: return p->sample;
    case PLUGIN_GAT: return p->gat;
    default: return false;
    }
}

int32_t plugin_call(const bench_plugin* p, plugin_kernel k, const plugin_job* job, const char* what)
{
    int32_t status = 0;
    if (p == opened) begin_call(plugin_entries[k].name, what);
    switch (k) {
    case PLUGIN_SPMM: status = p->spmm(&job->spmm); break;
    case PLUGIN_SDDMM: status = p->sddmm(&job->sddmm); break;
    case PLUGIN_GATHER: status = p->gather(&job->gather); break;
    case PLUGIN_SAMPLE: status = p->sample(&job->sample); break;
    case PLUGIN_GAT: status = p->gat(&job->gat); break;
    default: break;
    }
    if (p == opened && !p->cuda) finish_call(); /* a device's work goes on */
    return status;
}

void plugin_settled(void) { finish_call(); }

/* The backend's name and clock, with the plug-in's kernels. */
static bool take_entries(bench* b)
{
    static bench_entry entries[PLUGIN_KERNELS + 1];
    static bench_backend backend;
    int count = 0;
    for (int k = 0; k < PLUGIN_KERNELS; k++)
        if (plugin_has(opened, (plugin_kernel)k)) entries[count++] = plugin_entries[k];
    if (!count) return error_set(&b->why, "--plugin %s: has no kernel", b->o.plugin);
    backend = *b->backend;
    backend.entries = entries;
    b->backend = &backend;
    return true;
}

bool plugin_open(bench* b)
{
    char path[PATH_MAX];
    if (!b->backend->plugins) return error_set(&b->why, "--plugin: --backend %s takes none", b->backend->name);
    if (!realpath(b->o.plugin, path)) return error_set(&b->why, "--plugin %s: %s", b->o.plugin, strerror(errno));
    catch_faults();
    begin_call("--plugin", b->o.plugin); /* what runs when it is loaded */
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    finish_call();
    if (!library) return error_set(&b->why, "--plugin %s: %s", b->o.plugin, dlerror());
    opened = dlsym(library, "ggnn_bench_plugin");
    if (!opened) return error_set(&b->why, "--plugin %s: has no symbol ggnn_bench_plugin (bench/plugin.h)", b->o.plugin);
    if (opened->version != BENCH_PLUGIN_VERSION)
        return error_set(&b->why, "--plugin %s: is of version %d of bench/plugin.h, this program of %d", b->o.plugin,
                         (int)opened->version, BENCH_PLUGIN_VERSION);
    if (opened->cuda != b->backend->plugins->cuda)
        return error_set(&b->why, "--plugin %s: its arrays are %s; --backend %s has others", b->o.plugin,
                         opened->cuda ? "a CUDA device's" : "the host's", b->backend->name);
    if (!opened->name || !(opened->tolerance >= 0))
        return error_set(&b->why, "--plugin %s: has no name, or a tolerance below 0", b->o.plugin);
    return take_entries(b);
}

/* ==== memory of the host ================================================================================ */

enum { BESIDE = 0xC7 }; /* what lies between an array and the pages around it */

typedef struct {
    char*  begin; /* a page that nobody may touch; pages that are the array's; another such page */
    size_t bytes;
} guarded;

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static bool add_region(bench* b, const plugin_array* a, const void* begin, const void* end)
{
    if (!watched) return true;
    if (watched->regions == REGIONS) return error_set(&b->why, "%s: more than %d arrays", a->name, REGIONS);
    region* r = &watched->region[watched->regions++];
    *r = (region){begin, a->seen, (const char*)a->seen + a->bytes, end, ""};
    snprintf(r->name, sizeof r->name, "%s", a->name);
    return true;
}

static void give_back(void* own)
{
    guarded* g = own;
    for (int i = 0; watched && i < watched->regions; i++)
        if (watched->region[i].begin == g->begin) watched->region[i] = watched->region[--watched->regions];
    munmap(g->begin, g->bytes);
}

/* The array ends where a page ends that nobody may touch, but for what aligns it by 64 bytes. */
static bool take(bench* b, plugin_array* a)
{
    const size_t page = page_bytes(), room = (a->bytes + 63) / 64 * 64, inner = (room + page - 1) / page * page;
    guarded* g = bench_new(b, sizeof *g, a->name);
    if (!g) return false;
    char* begin = mmap(NULL, inner + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) return error_set(&b->why, "%s: %zu bytes of memory: %s", a->name, a->bytes, strerror(errno));
    *g = (guarded){begin, inner + 2 * page};
    a->own = g;
    if (!bench_defer(b, give_back, g)) return false;
    if (mprotect(begin + page, inner, PROT_READ | PROT_WRITE) != 0)
        return error_set(&b->why, "%s: %zu bytes of memory: %s", a->name, a->bytes, strerror(errno));
    a->host = a->seen = begin + page + inner - room;
    memset(begin + page, BESIDE, inner - room);
    memset((char*)a->seen + a->bytes, BESIDE, room - a->bytes);
    return add_region(b, a, begin, begin + g->bytes);
}

static bool freeze(bench* b, plugin_array* a)
{
    const guarded* g = a->own;
    const size_t page = page_bytes();
    return mprotect(g->begin + page, g->bytes - 2 * page, PROT_READ) == 0 ||
           error_set(&b->why, "%s: memory to read alone: %s", a->name, strerror(errno));
}

static bool spoil(bench* b, plugin_array* a)
{
    (void)b;
    memset(a->seen, 0xFF, a->bytes);
    return true;
}

static bool fetch(bench* b, plugin_array* a)
{
    (void)b;
    (void)a;
    return true;
}

/* An input cannot have been written. */
static const char* harm(bench* b, const plugin_array* a)
{
    static char text[64];
    const guarded* g = a->own;
    const size_t page = page_bytes();
    const char *begin = g->begin + page, *end = g->begin + g->bytes - page, *data = a->seen, *data_end = data + a->bytes;
    (void)b;
    text[0] = 0;
    for (const char* at = begin; at < data; at++)
        if ((unsigned char)*at != BESIDE) snprintf(text, sizeof text, "writes before the begin of `%s`", a->name);
    for (const char* at = data_end; at < end; at++)
        if ((unsigned char)*at != BESIDE) snprintf(text, sizeof text, "writes past the end of `%s`", a->name);
    return text[0] ? text : NULL;
}

static void* no_stream(void) { return NULL; }
const plugin_host plugin_cpu = {0, &plugin_ours, no_stream, take, freeze, spoil, fetch, harm};
