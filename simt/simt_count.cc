// simt_count.cc - counts memory requests: a log of accesses, evaluated afterwards.
#include "simt_core.h"

#include <map>
#include <set>
#include <sys/mman.h>
#include <tuple>

namespace simt {

struct Access {
    const char* file;
    uint64_t    address;
    int         line;
    unsigned    bytes;
    uint64_t    launch, block;
    int         thread;
};

bool                watching;
static bool         counting;
static Access*      log_start;
static size_t       log_length;
static const size_t LOG_CAPACITY = (size_t)1 << 28; // address space; memory is taken as it is written

void watch(const void* address, size_t bytes, Site at)
{
    if (!in_kernel()) return;
    before_load();
    if (!counting) return;
    if (log_length == LOG_CAPACITY) fail("more than %zu accesses to count", LOG_CAPACITY);
    uint64_t block  = blockIdx.x + (uint64_t)gridDim.x * (blockIdx.y + (uint64_t)gridDim.y * blockIdx.z);
    int      thread = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    log_start[log_length++] = {at.file, (uint64_t)address, at.line, (unsigned)bytes, counts.launches, block,
                               thread};
}

void misaligned(const void* address, size_t bytes, Site at)
{
    fail("%zu bytes at %p, which is no multiple of %zu, are read or written at %s:%d", bytes, address, bytes, at.file, at.line);
}

static uint64_t distinct(const std::vector<const Access*>& lanes, uint64_t granule)
{
    std::set<uint64_t> seen;
    for (const Access* a : lanes)
        for (uint64_t g = a->address / granule; g <= (a->address + a->bytes - 1) / granule; g++)
            seen.insert(g);
    return seen.size();
}

} // namespace simt
using namespace simt;

void simt_count_begin()
{
    Lock lock;
    if (!log_start) {
        void* p   = mmap(nullptr, LOG_CAPACITY * sizeof(Access), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        log_start = (Access*)p;
        if (p == MAP_FAILED) fail("no address space for a log of accesses");
    }
    log_length = 0;
    counting = watching = true;
}

simt_requests simt_count_end()
{
    Lock lock;
    using Place = std::tuple<uint64_t, uint64_t, std::string, int>;           // launch, block, file, line
    std::map<std::tuple<Place, int>, int>                             times;  // a thread has been at a place
    std::map<std::tuple<Place, int, int>, std::vector<const Access*>> groups; // place, warp, i-th time
    simt_requests                                                     sum = {};
    for (size_t i = 0; i < log_length; i++) {
        const Access& a     = log_start[i];
        Place         place = {a.launch, a.block, a.file, a.line};
        int           turn  = times[{place, a.thread}]++;
        groups[{place, a.thread / 32, turn}].push_back(&a);
        sum.bytes += a.bytes;
    }
    for (auto& [key, lanes] : groups) {
        sum.accesses++;
        sum.lines += distinct(lanes, 128);
        sum.sectors += distinct(lanes, 32);
    }
    counting = false;
    watching = options().preempt != 0;
    return sum;
}
