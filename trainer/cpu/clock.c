/* clock.c - the CPU backend's accounts: seconds and bytes of each stage, for --profile. */
#include "common/progress.h"
#include "trainer/cpu/cpu.h"

double cpu_start(void) { return progress_seconds(); }

void cpu_stop(net* n, net_stage stage, double start, int64_t bytes)
{
    n->profile.seconds[n->backward][stage] += progress_seconds() - start;
    n->profile.bytes[n->backward][stage] += bytes;
}
