/* machine.c - what a run's figures hold for: processor, caches, compiler, flags, version, date. */
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/harness.h"
#include "bench_version.h" /* made by make: BENCH_FLAGS, BENCH_GIT */
#include "common/resources.h"
#include "trainer/cpu/gemm.h"
#include "trainer/report.h"

const char bench_flags[] = BENCH_FLAGS;
const char bench_git[] = BENCH_GIT;

/* The rest of the line of `path` that begins with key, after the colon; "" where there is none. */
static void line_of(char* text, size_t size, const char* path, const char* key)
{
    char line[512];
    FILE* in = fopen(path, "r");
    text[0] = 0;
    while (in && fgets(line, sizeof line, in) && !text[0]) {
        const char* colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon) continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(text, size, "%.*s", (int)strcspn(colon, "\n"), colon);
    }
    if (in) fclose(in);
}

void bench_machine_of(bench_machine* m)
{
    struct utsname os;
    time_t now = time(NULL);
    memset(m, 0, sizeof *m);
    line_of(m->cpu, sizeof m->cpu, "/proc/cpuinfo", "model name");
    m->cores = sysconf(_SC_NPROCESSORS_ONLN);
    m->memory = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    resources_caches(m->cache);
#if defined(__clang__)
    snprintf(m->compiler, sizeof m->compiler, "%s", __VERSION__);
#else
    snprintf(m->compiler, sizeof m->compiler, "gcc %s", __VERSION__);
#endif
    if (uname(&os) == 0) snprintf(m->os, sizeof m->os, "%.60s %.60s", os.sysname, os.release);
    strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
}

void bench_machine_json(bench* b, const bench_machine* m, json* j)
{
    json_string(j, "version", GGNN_VERSION);
    json_string(j, "git", bench_git[0] ? bench_git : NULL);
    json_string(j, "date", m->date);
    json_string(j, "backend", b->backend->name);
    json_begin_object(j, "machine");
    json_string(j, "cpu", m->cpu);
    json_string(j, "device", b->backend->describe(b));
    json_int(j, "cores", m->cores);
    json_int(j, "threads", b->threads);
    json_int(j, "l1_bytes", m->cache[1]);
    json_int(j, "l2_bytes", m->cache[2]);
    json_int(j, "l3_bytes", m->cache[3]);
    json_int(j, "memory_bytes", m->memory);
    json_string(j, "os", m->os);
    json_end_object(j);
    json_begin_object(j, "build");
    json_string(j, "compiler", m->compiler);
    json_string(j, "flags", bench_flags);
    json_string(j, "gemm", gemm_level_name(gemm_used()));
    report_put_build(j);
    json_end_object(j);
}
