// simt_run.cc - runs a grid: block after block, each CUDA thread on a fiber of its own, which goes on until
// it must wait for others. Who is next, when a warp's lanes or a block's threads have all come, and what is
// an error.
#include "simt_core.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <numeric>
#include <unistd.h>

uint3     threadIdx, blockIdx;
dim3      blockDim, gridDim;
const int warpSize = 32;

namespace simt {

enum { MAX_THREADS = 1024, WARP = 32, MAX_WARPS = MAX_THREADS / WARP, NOBODY = -1 };

// ---- state of the running block, in fixed arrays: nothing is allocated while fibers run

struct Thread {
    Fiber*     fiber; // null: not started
    uint3      index;
    Collective what; // that it waits at, and with what
    unsigned   mask;
    uint64_t   value, result;
    int        argument, width;
    Site       site;
};
// Lanes of one warp on their way to one collective. Usually there is one; several where masks are disjoint.
struct Gathering {
    Collective what;
    unsigned   mask, arrived;
    Site       site;
    void*      sync;
};
struct Warp {
    unsigned  ready;      // lanes that can run: not started yet, or woken
    unsigned  exited;     // or never existed
    unsigned  at_barrier; // lanes waiting at __syncthreads
    int       last;       // lane that ran last
    int       gatherings;
    Gathering gathering[WARP];
};
struct Barrier {
    int   arrived;
    int   votes;  // threads whose predicate is not 0, so far
    int   result; // votes of the barrier that was passed last
    Site  site;
    void* sync;
};

static Options  opt;
static Thread   threads[MAX_THREADS];
static Warp     warps[MAX_WARPS];
static Barrier  barrier;
static Fiber    fibers[MAX_THREADS], host;
static Fiber*   idle[MAX_THREADS]; // fibers that wait in thread_loop() for a thread
static int      num_fibers, num_idle;
static int      current = NOBODY, num_threads, num_warps, unfinished;
static uint64_t block_number; // of all blocks ever run
static Kernel   kernel;
static Sync     launch_sync, done_sync;
static long     fence_sync;
static Range    dynamic;
static uint64_t atomics_since_progress;
static bool     running;

bool     in_kernel() { return running && current != NOBODY; }
int      threads_in_block() { return num_threads; }
unsigned lane() { return (unsigned)current % WARP; }
void*    dynamic_shared() { return dynamic.start; }

static Warp&    warp_of(int thread) { return warps[(unsigned)thread / WARP]; }
static unsigned bit_of(int thread) { return 1u << (unsigned)thread % WARP; }

// ---- reports

static const char* name_of(Collective what)
{
    static const char* names[] = {
#define SIMT_NAME(kind, name) name,
        SIMT_COLLECTIVES(SIMT_NAME)
#undef SIMT_NAME
    };
    return names[what];
}

static std::string state_of(int thread)
{
    const Warp&   warp = warp_of(thread);
    const Thread& t    = threads[thread];
    char          mask[32];
    if (warp.exited & bit_of(thread)) return "exited";
    if (thread == current) return "running";
    if (warp.ready & bit_of(thread)) return t.fiber ? "ready" : "not started";
    snprintf(mask, sizeof mask, ", mask %08x", t.mask);
    return "waiting at " + std::string(name_of(t.what)) + ", " + t.site.file + ":" +
           std::to_string(t.site.line) + (t.what == SYNCTHREADS ? "" : mask);
}

void print_position()
{
    if (!in_kernel()) return;
    fprintf(stderr, "simt: kernel %s\nsimt: block (%u,%u,%u) thread (%u,%u,%u)\n",
            function_name(kernel.function).c_str(), blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
            threadIdx.y, threadIdx.z);
    for (int first = 0, next; first < num_threads; first = next) {
        std::string state = state_of(first);
        for (next = first + 1; next < num_threads && state_of(next) == state;) next++;
        fprintf(stderr, "simt:   threads %d to %d: %s\n", first, next - 1, state.c_str());
    }
}

void end_process()
{
    fflush(stdout);
    fflush(stderr);
    _exit(97);
}

void fail(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "simt: ERROR: ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    print_position();
    end_process();
}

// ---- who runs next

// The first ready lane after the warp's last one, in the order asked for. There is one.
static int next_lane(const Warp& warp)
{
    unsigned ready = warp.ready, ahead;
    switch (opt.order) {
    case Options::FORWARD: ahead = ready & ~1u << warp.last; return __builtin_ctz(ahead ? ahead : ready);
    case Options::REVERSE:
        ahead = ready & ((1u << warp.last) - 1);
        return 31 - __builtin_clz(ahead ? ahead : ready);
    default:
        for (uint64_t skip = random_below((uint64_t)__builtin_popcount(ready)); skip > 0; skip--)
            ready &= ready - 1;
        return __builtin_ctz(ready);
    }
}

// A warp goes on until all its lanes wait: its collectives are soon complete, its stacks stay in cache.
static int next_thread(int warp)
{
    if (opt.order == Options::RANDOM) warp = (int)random_below((uint64_t)num_warps);
    int step = opt.order == Options::REVERSE ? num_warps - 1 : 1;
    for (int i = 0; i < num_warps; i++, warp = (warp + step) % num_warps)
        if (warps[warp].ready) return warp * WARP + next_lane(warps[warp]);
    return NOBODY;
}

static void make_current(int thread)
{
    current   = thread;
    threadIdx = threads[thread].index;
    warp_of(thread).ready &= ~bit_of(thread);
    warp_of(thread).last = thread % WARP;
}

// TSan takes what one fiber does as ordered, so thread i of this block and of the next run on different ones.
static Fiber* fiber_for(int thread)
{
    if (with_tsan()) return &fibers[((uint64_t)thread + 37 * block_number) % (uint64_t)num_fibers];
    return idle[--num_idle];
}

// Leaves the fiber we are on for a thread's, or for the host when the block is done.
static void go_to(Fiber& from, int thread)
{
    if (thread == NOBODY) {
        if (unfinished) fail("deadlock: every thread waits for one that does not come");
        current = NOBODY;
        fiber_switch(from, host);
        return;
    }
    make_current(thread);
    Thread& t = threads[thread];
    if (!t.fiber) t.fiber = fiber_for(thread);
    if (t.fiber != &from) fiber_switch(from, *t.fiber);
}

// Returns when somebody has made this thread ready and its turn has come.
static void wait_from_warp(int warp)
{
    int me = current;
    go_to(*threads[me].fiber, next_thread(warp));
}
static void wait() { wait_from_warp(current / WARP); }
static void yield()
{
    warp_of(current).ready |= bit_of(current);
    wait_from_warp((current / WARP + 1) % num_warps);
}

// ---- warp collectives

// The lanes of a mask, lowest first: for (unsigned left = mask; left; left &= left - 1) lane = lowest(left).
static int lowest(unsigned lanes) { return __builtin_ctz(lanes); }

// A lane that reads one which is not in the mask gets garbage.
static uint64_t shuffle(const Thread* lanes, unsigned arrived, int lane)
{
    const Thread& t     = lanes[lane];
    int           begin = lane & ~(t.width - 1), end = begin + t.width, from = lane;
    if (t.what == SHFL) from = begin + (t.argument & (t.width - 1));
    if (t.what == SHFL_UP && lane - t.argument >= begin) from = lane - t.argument;
    if (t.what == SHFL_DOWN && lane + t.argument < end) from = lane + t.argument;
    if (t.what == SHFL_XOR && (lane ^ t.argument) < end) from = lane ^ t.argument; // earlier segments too
    return from >= 0 && (arrived >> from & 1) ? lanes[from].value : 0xDEADBEEFDEADBEEFu;
}

static unsigned vote(const Thread* lanes, unsigned arrived)
{
    unsigned yes = 0;
    for (unsigned left = arrived; left; left &= left - 1)
        if (lanes[lowest(left)].value) yes |= left & -left;
    return yes;
}

static unsigned equal_to(const Thread* lanes, unsigned arrived, uint64_t value)
{
    unsigned equal = 0;
    for (unsigned left = arrived; left; left &= left - 1)
        if (lanes[lowest(left)].value == value) equal |= left & -left;
    return equal;
}

static unsigned reduce(const Thread* lanes, unsigned arrived, Collective what)
{
    unsigned a = (unsigned)lanes[lowest(arrived)].value;
    for (unsigned left = arrived & (arrived - 1); left; left &= left - 1) {
        unsigned b = (unsigned)lanes[lowest(left)].value;
        switch (what) {
        case REDUCE_ADD: a += b; break;
        case REDUCE_MIN: a = std::min(a, b); break;
        case REDUCE_MAX: a = std::max(a, b); break;
        case REDUCE_MIN_SIGNED: a = (unsigned)std::min((int)a, (int)b); break;
        case REDUCE_MAX_SIGNED: a = (unsigned)std::max((int)a, (int)b); break;
        case REDUCE_AND: a &= b; break;
        case REDUCE_OR: a |= b; break;
        default: a ^= b;
        }
    }
    return a;
}

static void set_results(Thread* lanes, unsigned arrived, Collective what)
{
    unsigned common = 0; // what all lanes get
    if (what == SYNCWARP) return;
    if (what <= ANY) common = vote(lanes, arrived);
    if (what == ALL) common = common == arrived;
    if (what == ANY) common = common != 0;
    if (what >= REDUCE_ADD) common = reduce(lanes, arrived, what);
    for (unsigned left = arrived; left; left &= left - 1) {
        Thread& t = lanes[lowest(left)];
        if (what >= SHFL && what <= SHFL_XOR) t.result = shuffle(lanes, arrived, lowest(left));
        else if (what == MATCH_ANY || what == MATCH_ALL) t.result = equal_to(lanes, arrived, t.value);
        else t.result = common;
        if (what == MATCH_ALL && t.result != arrived) t.result = 0;
    }
}

static bool same_site(Site a, Site b)
{
    return a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

static void check_mask(const Thread& t, const Warp& warp, int lane)
{
    const char* name = name_of(t.what);
    if (!(t.mask >> lane & 1))
        fail("%s at %s:%d: lane %d is not in its own mask %08x", name, t.site.file, t.site.line, lane,
             t.mask);
    if ((t.mask & warp.exited) && !opt.lax)
        fail("%s at %s:%d: mask %08x names lanes %08x, which have exited or do not exist", name, t.site.file,
             t.site.line, t.mask, t.mask & warp.exited);
    if (t.width < 1 || t.width > WARP || (t.width & (t.width - 1)))
        fail("%s at %s:%d: width %d", name, t.site.file, t.site.line, t.width);
}

// The gathering that the calling lane belongs to. Two that wait for each other's lanes never complete:
// divergence. A lane may well be named by one while it first goes through another, without the lanes that
// wait for it.
static Gathering& join(Warp& warp, const Thread& t, int lane)
{
    for (int i = 0; i < warp.gatherings; i++) {
        Gathering& g          = warp.gathering[i];
        bool       same_place = opt.lax || same_site(g.site, t.site);
        if (g.what == t.what && g.mask == t.mask && same_place) return g;
        if ((g.mask >> lane & 1) && (t.mask & g.arrived))
            fail("divergent warp: lane %d is at %s, mask %08x (%s:%d); "
                 "lanes %08x wait for it at %s, mask %08x (%s:%d)",
                 lane, name_of(t.what), t.mask, t.site.file, t.site.line, g.arrived, name_of(g.what), g.mask,
                 g.site.file, g.site.line);
    }
    Gathering& g = warp.gathering[warp.gatherings++];
    g            = {t.what, t.mask, 0, t.site, new_block_sync()};
    return g;
}

// Wakes the lanes if all have come; `self`, if it is one of them, goes on without having slept.
static bool complete(Warp& warp, Gathering& g, unsigned self)
{
    if ((g.mask & ~warp.exited) != g.arrived) return false;
    set_results(threads + (&warp - warps) * WARP, g.arrived, g.what);
    warp.ready |= g.arrived & ~self;
    g = warp.gathering[--warp.gatherings];
    return true;
}

uint64_t warp_collective(Collective what, unsigned mask, uint64_t value, int argument, int width, Site site)
{
    if (current == NOBODY) fail("%s on the host, at %s:%d", name_of(what), site.file, site.line);
    Thread& t    = threads[current];
    Warp&   warp = warp_of(current);
    t.what       = what;
    t.mask       = mask;
    t.value      = value;
    t.argument   = argument;
    t.width      = width;
    t.site       = site;
    check_mask(t, warp, current % WARP);
    atomics_since_progress = 0;
    Gathering& g           = join(warp, t, current % WARP);
    void*      sync        = what == SYNCWARP ? g.sync : nullptr; // only __syncwarp orders memory
    g.arrived |= bit_of(current);
    tsan_release(sync);
    if (!complete(warp, g, bit_of(current))) wait();
    else if (opt.order == Options::RANDOM) yield();
    tsan_acquire(sync);
    return t.result;
}

// ---- block barriers

static void release_barrier()
{
    for (int w = 0; w < num_warps; w++) {
        warps[w].ready |= warps[w].at_barrier;
        warps[w].at_barrier = 0;
    }
    barrier = {0, 0, barrier.votes, {}, new_block_sync()};
}

int block_barrier(int predicate, Site site)
{
    if (current == NOBODY) fail("__syncthreads on the host, at %s:%d", site.file, site.line);
    Thread& t              = threads[current];
    t.what                 = SYNCTHREADS;
    t.site                 = site;
    atomics_since_progress = 0;
    if (barrier.arrived && !same_site(barrier.site, site) && !opt.lax)
        fail("divergent __syncthreads: this thread is at %s:%d, others wait at %s:%d", site.file, site.line,
             barrier.site.file, barrier.site.line);
    if (unfinished < num_threads && !opt.lax)
        fail("__syncthreads at %s:%d: %d threads of the block have exited", site.file, site.line,
             num_threads - unfinished);
    void* sync   = barrier.sync;
    barrier.site = site;
    barrier.votes += predicate != 0;
    warp_of(current).at_barrier |= bit_of(current);
    tsan_release(sync);
    if (++barrier.arrived == unfinished) release_barrier();
    wait();
    tsan_acquire(sync);
    return barrier.result;
}

// ---- atomics, fences

// TSan knows no fences. Each counts as acquire and release of one object: hides a race or two, invents none.
void fence()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!with_tsan()) return;
    __tsan_acquire(&fence_sync);
    __tsan_release(&fence_sync);
}

// Now and then another thread's turn comes, so that a loop that waits for one ends, and orders vary.
void before_atomic()
{
    if (current == NOBODY) return;
    if (++atomics_since_progress > 200000000)
        fail("livelock: 200 million atomics, and no thread got anywhere");
    if (opt.preempt) before_load();
    else if (atomics_since_progress % 1024 == 0) yield();
}
void before_load()
{
    if (opt.preempt && random_below(opt.preempt) == 0) yield();
}

// ---- threads, blocks, grids

static void end_thread()
{
    Warp& warp = warp_of(current);
    warp.exited |= bit_of(current);
    unfinished--;
    atomics_since_progress = 0;
    tsan_release(done_sync);
    if (barrier.arrived && !opt.lax)
        fail("a thread exits while %d others wait at __syncthreads, %s:%d", barrier.arrived,
             barrier.site.file, barrier.site.line);
    if (barrier.arrived && barrier.arrived == unfinished) release_barrier();
    for (int i = warp.gatherings - 1; i >= 0; i--) {
        Gathering& g = warp.gathering[i];
        if (!(g.mask & bit_of(current))) continue;
        if (!opt.lax)
            fail("lane %d exits; lanes %08x wait for it at %s, mask %08x (%s:%d)", current % WARP, g.arrived,
                 name_of(g.what), g.mask, g.site.file, g.site.line);
        complete(warp, g, 0);
    }
}

// What every fiber does. A thread that has ended is followed on the same fiber by one that has not begun, so
// threads that never wait cost no switch.
static void thread_loop()
{
    fiber_entered();
    for (;;) {
        Fiber* self = threads[current].fiber;
        tsan_acquire(launch_sync);
        kernel.run(kernel.arguments);
        end_thread();
        int next = next_thread(current / WARP);
        if (next != NOBODY && !threads[next].fiber && !with_tsan()) {
            threads[next].fiber = self;
            make_current(next);
            continue;
        }
        if (!with_tsan()) idle[num_idle++] = self;
        go_to(*self, next); // back when a thread has been given this fiber
    }
}

static void make_fibers(int wanted)
{
    for (; num_fibers < wanted; num_fibers++) {
        fiber_create(fibers[num_fibers], thread_loop);
        if (with_tsan()) fibers[num_fibers].tsan = __tsan_create_fiber(0);
        idle[num_idle++] = &fibers[num_fibers];
    }
}

// Shared memory holds garbage when a block begins, and nobody has touched it yet.
static void poison_shared()
{
    auto poison = [](Range range) {
        if (!range.bytes) return;
        fill_garbage(range.start, range.bytes);
        (void)VALGRIND_MAKE_MEM_UNDEFINED(range.start, range.bytes);
        tsan_forget(range.start, range.bytes);
    };
    for (Range variable : shared_variables()) poison(variable);
    poison(dynamic);
}

static void run_block(uint64_t number)
{
    blockIdx = {(unsigned)(number % gridDim.x), (unsigned)(number / gridDim.x % gridDim.y),
                (unsigned)(number / gridDim.x / gridDim.y)};
    block_number++;
    unfinished = num_threads;
    reset_block_syncs();
    barrier = {0, 0, 0, {}, new_block_sync()};
    for (int w = 0; w < num_warps; w++) {
        int lanes           = std::min(num_threads - w * WARP, (int)WARP);
        warps[w].ready      = lanes == WARP ? ~0u : (1u << lanes) - 1;
        warps[w].exited     = ~warps[w].ready;
        warps[w].at_barrier = 0;
        warps[w].gatherings = 0;
        warps[w].last       = opt.order == Options::REVERSE ? 0 : WARP - 1;
    }
    for (int t = 0; t < num_threads; t++) threads[t].fiber = nullptr;
    poison_shared();
    go_to(host, next_thread(opt.order == Options::REVERSE ? num_warps - 1 : 0));
}

static void number_threads(dim3 block)
{
    int t = 0;
    for (unsigned z = 0; z < block.z; z++)
        for (unsigned y = 0; y < block.y; y++)
            for (unsigned x = 0; x < block.x; x++) threads[t++].index = {x, y, z};
    num_threads = t;
    num_warps   = (t + WARP - 1) / WARP;
}

static void allot_dynamic(size_t bytes)
{
    static Range room; // grows; its end is what matters, since a guard page follows
    size_t       wanted = (bytes + 15) & ~(size_t)15;
    if (room.bytes < wanted) room = guarded(wanted, 16);
    dynamic = {room.start + room.bytes - wanted, bytes};
}

// Blocks in order, backwards, or in steps that have no divisor in common with their number.
void run_grid(dim3 grid, dim3 block, size_t shared_bytes, Kernel what)
{
    if (running) fail("a kernel was launched from within a kernel");
    opt             = options();
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, at = 0, step = 1;
    if (opt.order == Options::REVERSE) at = step = std::max<uint64_t>(blocks - 1, 1);
    if (opt.order == Options::RANDOM) {
        at = random_below(blocks);
        do step = 1 + random_below(blocks);
        while (std::gcd(step, blocks) != 1);
    }
    kernel   = what;
    gridDim  = grid;
    blockDim = block;
    number_threads(block);
    make_fibers(std::max(num_threads, 64));
    allot_dynamic(shared_bytes);
    host        = Fiber();
    host.tsan   = with_tsan() ? __tsan_get_current_fiber() : nullptr;
    launch_sync = make_sync();
    done_sync   = make_sync();
    tsan_release(launch_sync);
    watching = watching || opt.preempt;
    running  = true;
    counts.launches++;
    for (uint64_t b = 0; b < blocks; b++, at = (at + step) % blocks) run_block(at % blocks);
    running = false;
    tsan_acquire(done_sync);
    launch_sync = done_sync = nullptr;
}

} // namespace simt
