// simt_options.cc - what the environment says, the generator behind every random choice, garbage.
#include "simt_core.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <unistd.h>

namespace simt {

static const char* variable(const char* name)
{
    const char* value = getenv(name);
    return value && *value ? value : nullptr;
}

template <class T> static void read_number(const char* name, T& into)
{
    if (const char* value = variable(name)) into = (T)strtoull(value, nullptr, 0);
}

static int read_choice(const char* name, int otherwise, std::initializer_list<const char*> choices)
{
    const char* value = variable(name);
    int         i     = 0;
    if (!value) return otherwise;
    for (const char* choice : choices) {
        if (!strcmp(value, choice)) return i;
        i++;
    }
    fail("%s=%s is not among its choices", name, value);
}

static Options read_options()
{
    Options o;
    o.guard = with_asan();
    o.order = (decltype(o.order))read_choice("SIMT_ORDER", Options::FORWARD, {"fwd", "rev", "rand"});
    o.lazy  = read_choice("SIMT_ASYNC", 0, {"eager", "lazy"}) == 1;
    read_number("SIMT_PREEMPT", o.preempt);
    read_number("SIMT_LAX", o.lax);
    read_number("SIMT_GUARD", o.guard);
    read_number("SIMT_PIN", o.pin);
    o.links = variable("SIMT_LINKS");
    o.fail_nccl = variable("SIMT_FAIL_NCCL");
    read_number("SIMT_DEVICES", o.devices);
    read_number("SIMT_FAIL_MALLOC", o.fail);
    read_number("SIMT_STACK", o.stack);
    read_number("SIMT_MEMORY", o.memory);
    const char* poison = variable("SIMT_POISON");
    if (poison) o.poison = strcmp(poison, "rand") ? (int)(strtoul(poison, nullptr, 0) & 255) : -1;
    if (o.poison < 0) o.seed = (uint64_t)time(nullptr) * 1000003 + (uint64_t)getpid();
    read_number("SIMT_SEED", o.seed);
    if (with_asan() || with_tsan() || RUNNING_ON_VALGRIND) o.stack *= 4;
    o.stack   = (o.stack + 4095) & ~(size_t)4095;
    o.devices = o.devices < 0 ? 0 : o.devices > 16 ? 16 : o.devices;
    return o;
}

const Options& options()
{
    static const Options o = read_options();
    return o;
}

// splitmix64
uint64_t random_word()
{
    static uint64_t state = options().seed;
    uint64_t        z     = (state += 0x9E3779B97F4A7C15u);
    z                     = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z                     = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
uint64_t random_below(uint64_t n) { return random_word() % n; }

static volatile char* fill_words(volatile char* p, size_t words, uint64_t word)
{
#if defined(__x86_64__)
    asm volatile("rep stosq" : "+D"(p), "+c"(words) : "a"(word) : "memory");
#else
    for (; words; words--, p += 8) *(volatile uint64_t*)p = word;
#endif
    return p;
}

void fill_garbage(void* start, size_t bytes)
{
    const int      poison = options().poison;
    volatile char* p      = (char*)start;
    volatile char* end    = p + bytes;
    for (; p < end && (uintptr_t)p % 8; p++) *p = (char)(poison < 0 ? random_word() : (uint64_t)poison);
    if (poison >= 0) p = fill_words(p, (size_t)(end - p) / 8, (unsigned)poison * 0x0101010101010101u);
    for (; end - p >= 8; p += 8) *(volatile uint64_t*)p = random_word();
    for (; p < end; p++) *p = (char)(poison < 0 ? random_word() : (uint64_t)poison);
}

} // namespace simt
