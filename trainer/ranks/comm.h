/* comm.h - what P ranks do together.

   The room ranks/: everything that goes from one rank to another. It knows devices, not what the rows that it moves mean.

   A rank is one worker (worker.h) and has one comm. Two engines carry the bytes: threads of one process (comm_threads.c)
   and processes under MPI, on one machine or on several (comm_mpi.c). Beneath either one NCCL may carry what goes from
   device to device (comm_nccl.c). A rank that is alone exchanges nothing.

   All ranks make the same calls in the same order. Each call begins with a word from every rank: go on, stop, or failed
   with a message. So
   - a rank that fails calls comm_fail, and makes no call after it. The next call of every other rank returns false; its
     error names the least failed rank and has that rank's message: "rank 3 (host b): out of memory: ...". From then on
     every call of every rank returns false at once with that error, and comm_fail does nothing. So whoever meets an
     error, whether a call returned it or not, says comm_fail;
   - after a call `stopped` is the same on all ranks: true once *stop was set anywhere. All leave a loop at one step.
   A rank that dies says no word. Under MPI the others notice that by heartbeats, name it, and end (comm_mpi.c).

   Sums are added in rank order by our own code, so that every engine gives the same bits, with NCCL and without. */
#ifndef TRAINER_COMM_H
#define TRAINER_COMM_H
#include <signal.h>

#include "trainer/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { COMM_RANKS_MAX = 1024 };

typedef struct { /* of one rank, since it was opened */
    int64_t calls;
    int64_t bytes;   /* sent to other ranks, each receiver counted; without the words */
    double  seconds; /* in calls */
    double  waited;  /* seconds in calls until all ranks had come */
} comm_cost;

typedef struct comm comm;
struct comm {
    int32_t rank, ranks;
    int32_t local, locals;     /* this rank among the ranks of its machine; those are the ranks rank - local .. */
    int32_t machine, machines; /* ranks of one machine follow each other */
    bool one_process;          /* all ranks are threads of this process, or this one is alone */
    const char* name;          /* for messages: "rank 3 (host a)" */
    bool stopped;
    error failed;              /* why all calls return false; empty: they do not */
    comm_cost cost;
    const volatile sig_atomic_t* stop;
    void* own;                 /* the engine's; NULL: alone */
    const struct comm_engine* engine;
    void* nccl;                /* NCCL carries rows of devices; NULL: the engine does */
};

/* One rank. stop: set from outside, when the run is to end in good order; must outlive c. */
void comm_open_alone(comm* c, const volatile sig_atomic_t* stop);

/* `ranks` threads of this process: fills c[0 .. ranks). Each thread then uses one. False on failure; comm_close_threads is
   harmless then. Closed after all threads have ended. */
bool comm_open_threads(comm c[], int32_t ranks, const volatile sig_atomic_t* stop, error* why);
void comm_close_threads(comm c[], int32_t ranks);

/* Was this program started as one of several, by mpirun or srun? Then comm_open_mpi is called, once, by the main thread,
   which makes all calls but those of a comm_branch; it fails in a program that was built without MPI. comm_close_mpi ends it. Errors are printed
   before: mpirun ends all others as soon as one has left with a failure. failed: without waiting for the others. */
bool comm_under_mpi(void);
const char* comm_mpi_name(void); /* "Open MPI 4.1.4"; NULL: built without */
bool comm_open_mpi(comm* c, const volatile sig_atomic_t* stop, error* why);
void comm_close_mpi(comm* c, bool failed);

/* What carries rows of devices, where a call below names one. COMM_OWN: the engine; threads copy them from device to
   device, processes pass them through memory of the host. COMM_NCCL: NCCL; it is an error where the program has none or
   where two ranks have one device, which NCCL cannot. COMM_AUTO: NCCL between processes, where it can; else the engine.
   No bit depends on it. All ranks make the call, each with a device of its own that it has entered, and take leave at one
   time, before the device is closed. */
typedef enum { COMM_AUTO, COMM_OWN, COMM_NCCL } comm_carrier;
bool comm_carry(comm* c, device* d, comm_carrier by, error* why);
void comm_leave(comm* c); /* harmless where nothing is to be left */
const char* comm_nccl_name(void); /* "NCCL 2.28.9"; NULL: this program has none */

/* A second line between the ranks of c, for another thread of each: its calls are apart from those of c, and so is a failure.
   NCCL stays with c. All ranks call it; false on failure, and under an MPI that lets one thread alone make its calls. Harmless
   to close then; closed before c, and no rank waits for another. */
bool comm_branch(comm* to, comm* c, error* why);
void comm_close_branch(comm* branch);

/* This rank fails, for `why`; where that has no text, the message is "rank 3 (host b) ended without a message". Returns
   when all others have come to their next call or have ended. */
void comm_fail(comm* c, const error* why);

/* All are to stop, as this rank heard in another way than by a call: they agree on that in another way, too. */
static inline void comm_heard_stop(comm* c) { c->stopped = true; }

/* Returns when all ranks have come. */
bool comm_barrier(comm* c, error* why);

/* Where the arrays of the calls below are: memory of device d, or the host's (d NULL). */

/* Elements [bound[rank], bound[rank + 1]) of `all` are this rank's, already there; the other ranks' are filled in.
   bound (ranks + 1), which does not fall, is the same on all ranks; unit is the bytes of an element. */
bool comm_all_gather(comm* c, device* d, void* all, const int64_t* bound, size_t unit, error* why);

/* The same of an element a rank, in the host's memory: all[rank] is this rank's. */
bool comm_gather_each(comm* c, void* all, size_t unit, error* why);

/* All to all: elements [first, first + count) of `from` at from_piece[r] go to rank r, where they become its to_piece[this
   rank] of `to`. Pieces of `from` may overlap; counts agree in pairs. The arrays do not overlap. */
typedef struct {
    int64_t first, count;
} comm_piece;
bool comm_exchange(comm* c, device* d, void* to, const comm_piece* to_piece, const void* from, const comm_piece* from_piece,
                   size_t unit, error* why);

/* Pieces that follow one another: of so many elements, whose sum it returns; or between bounds (ranks + 1). */
int64_t comm_pieces(comm_piece* piece, const int64_t* count, int32_t ranks);
void    comm_pieces_between(comm_piece* piece, const int64_t* bound, int32_t ranks);

/* v (n) and *value (one; NULL: none) become their sums over all ranks, added in rank order; all three arrays are of d's
   memory. Slices are exchanged, added by one rank each, and gathered: 2 n (P - 1) / P elements a rank. *value goes with
   the words. `room`: comm_reduce_bytes. */
size_t comm_reduce_bytes(const comm* c, int64_t n);
bool   comm_reduce(comm* c, device* d, float* v, int64_t n, double* value, void* room, error* why);

/* Memory that the ranks of a machine read and write alike: this rank gives `bytes` (0 is fine) and gets its own part,
   zeroed, in part[local], and those of the others. A part of 0 bytes may be NULL. For threads it is one memory; processes
   map files of /dev/shm that have no names. For a CPU only. False on failure. Each gives it back with comm_unshare,
   which never waits: a part lives until the last one has given it back. */
typedef struct { /* all zeros: nothing */
    void** part;    /* (locals) */
    size_t* bytes;  /* (locals) */
    void* own;
} comm_shared;
bool comm_share(comm* c, comm_shared* s, size_t bytes, const char* what, error* why);
void comm_unshare(comm* c, comm_shared* s);

/* A file that another process of this machine has open as number `file`, which needs no name: its first bytes, to be read and
   written alike. munmap gives them back. NULL on failure, which is said of `what`. */
void* comm_map_file(int64_t process, int64_t file, size_t bytes, const char* what, error* why);

/* Do all ranks hold the same text? False on all ranks where one differs from rank 0's, with the first line that does:
   "rank 3 (host b): --data has CRC 1f..; rank 0 (host a): --data has CRC 2a..". At most COMM_TEXT bytes of it. What follows a
   tab in a line is told with it, but may differ: a file's name. */
enum { COMM_TEXT = 512 };
bool comm_same(comm* c, const char* text, error* why);

#ifdef __cplusplus
}
#endif
#endif
