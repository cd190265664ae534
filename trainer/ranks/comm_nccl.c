/* comm_nccl.c - do rows of devices go over NCCL? All ranks answer alike. NCCL's own calls: trainer/cuda/comm_nccl.cu. */
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "trainer/ranks/comm_engine.h"

const char* comm_nccl_name(void) { return comm_nccl_here ? comm_nccl_here->name() : NULL; }

/* The first rank with which NCCL cannot be; the same on all ranks. */
static bool possible(const comm_nccl_member* all, int32_t ranks, error* why)
{
    for (int32_t r = 0; r < ranks; r++) {
        if (!all[r].version) return error_set(why, "the program of rank %d has no NCCL", (int)r);
        if (!all[r].device[0]) return error_set(why, "rank %d has no CUDA device", (int)r);
        if (all[r].version != all[0].version)
            return error_set(why, "rank %d has version %d, rank 0 %d", (int)r, (int)all[r].version, (int)all[0].version);
        for (int32_t q = 0; q < r; q++)
            if (all[q].machine == all[r].machine && strcmp(all[q].device, all[r].device) == 0)
                return error_set(why, "rank %d and rank %d have one device, %s", (int)q, (int)r, all[r].device);
    }
    return true;
}

static bool describe_all(comm* c, const device* d, comm_nccl_member* all, error* why)
{
    comm_nccl_member* mine = &all[c->rank];
    mine->machine = c->machine;
    mine->version = comm_nccl_here ? comm_nccl_here->version() : 0;
    if (mine->version && !comm_nccl_here->describe(c, d, mine, why)) return false;
    return comm_gather_each(c, all, sizeof *all, why);
}

bool comm_carry(comm* c, device* d, comm_carrier by, error* why)
{
    error obstacle = {""}, mine = {""};
    if (c->ranks == 1 || by == COMM_OWN || (by == COMM_AUTO && !c->engine->through_host)) return true;
    comm_nccl_member* all = memory_new((size_t)c->ranks * sizeof *all, "NCCL", why);
    if (!all) return false;
    bool good = describe_all(c, d, all, why);
    if (good && !possible(all, c->ranks, &obstacle))
        good = by == COMM_AUTO || error_set(why, "--comm nccl: %s; NCCL wants a CUDA device for each rank", obstacle.text);
    else if (good)
        good = comm_nccl_here->join(c, all[0].id, &mine) || comm_broken(c, &mine, why);
    memory_free(all);
    return good;
}

void comm_leave(comm* c)
{
    if (c->nccl) comm_nccl_here->leave(c);
    c->nccl = NULL;
}
