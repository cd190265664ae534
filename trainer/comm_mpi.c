/* comm_mpi.c - ranks that are processes, on one machine or on several. */
#include <stdlib.h>

#include "trainer/comm_engine.h"

/* What mpirun of Open MPI, that of MPICH, and srun tell a process. One that is started alone gets none of them. */
bool comm_under_mpi(void)
{
    static const char* const told[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char* size = getenv(told[i]);
        if (size && atoi(size) > 1) return true;
    }
    return false;
}

#ifndef HAVE_MPI
const char* comm_mpi_name(void) { return NULL; }

bool comm_open_mpi(comm* c, const volatile sig_atomic_t* stop, error* why)
{
    comm_open_alone(c, stop);
    return error_set(why, "this program was built without MPI: install openmpi-bin and libopenmpi-dev, and build it again");
}

void comm_close_mpi(comm* c, bool failed) { (void)c, (void)failed; }
#endif
