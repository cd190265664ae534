/* device.h - where a net runs: one logical device, its memory, and the thread that works for it.

   The room device/: bytes and rows on a device, whatever its backend. It knows no graph, no batch and no other rank.

   Memory of a device is the host's on a CPU; elsewhere only the operations of ops.h may look into it. Structs (graphs,
   stores, blocks, batches) are always the host's, what they point to is the device's. A program may hold several
   devices of one kind; each is used by one thread at a time. */
#ifndef TRAINER_DEVICE_H
#define TRAINER_DEVICE_H
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "ggnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --unique: tables of the ids of mini-batches. auto: a direct map, where that takes no more than a hash table and `room`. A
   table of a ring's begins and ends with it. cooperative: a hash table of CUDA's, in which the lanes of a warp look for an id
   together. */
#define DEVICE_UNIQUES "auto|direct|hash|cooperative"
enum { UNIQUE_AUTO, UNIQUE_DIRECT, UNIQUE_HASH, UNIQUE_COOPERATIVE };
typedef struct {
    int     which;
    int64_t room;     /* of the device: bytes that direct maps may take, as of now, above those of hash tables */
    int64_t spare;    /* taken so by auto, which would do without */
    int64_t bytes[2]; /* taken now, by a ggnn_unique_kind */
} device_unique;

enum { DEVICE_BUS = 16 };

struct ops;
typedef struct device device;
struct device {
    const struct ops* ops;
    const char* backend; /* "cpu", ... as --backend takes it */
    char  name[256];     /* of the device; empty for a CPU */
    const char* gemm[2]; /* what multiplies matrices: usually, and with --gemm blas (NULL: it cannot) */
    int32_t threads;     /* of the CPU, that work for it */
    double  host_share;  /* CUDA: of its processors, that read the host's rows for batches, in whole lines; 0: all, and rows
                            as they come */
    device_unique unique;
    int32_t number;      /* CUDA's; several devices of one number share its memory */
    char  bus[DEVICE_BUS]; /* where it is plugged in, by which all processes of a machine know it; empty for a CPU */
    bool  host_memory;   /* its memory is the host's, as a CPU's is: what the host has needs no copy */
    bool  tight;         /* room costs memory: batches get what they usually need, and grow (bucket.h). Else they get
                            room for the worst case, which costs address space only */
    bool  overlaps;      /* it prepares a batch while another one trains, unless it is `serial` */
    int32_t most_parts;  /* that ids are split over on it (ops.h: split) */
    error failed;        /* the first thing that went wrong on it, as operations return nothing; empty: none */
    bool  plain;         /* to compare with: nothing is captured as a graph (environment GGNN_TRAIN_PLAIN=1) */
    bool  serial;        /* no batch is sampled while another one trains (--pipeline serial) */
    bool  profile;       /* every operation is waited for and timed: plain and serial then too */
    int64_t bytes, most_bytes;  /* that were taken from it, now and at most; 0 on a CPU */
    int64_t launched, replayed; /* pieces of work so far, by their operations or as a graph */
    void* own;           /* the backend's */
};

/* A CPU, or a part of one: threads of OpenMP for whoever works for it; 0: as many as the calling thread has now. NULL
   on failure. */
device* device_open_cpu(int32_t threads, error* why);
bool    device_cpu_has_blas(void); /* --gemm blas */
int32_t device_cpu_threads(void);  /* as many as the calling thread has now */

/* CUDA device `number`, or the emulator's; tf32: products may round their factors to 10 bits. Several may be opened of one
   number. NULL on failure. How many numbers there are. The pointers are NULL in a program without: sibling.h finds one
   that has it. */
typedef device* device_opener(int32_t number, bool tf32, error* why);
typedef int32_t device_counter(void);
extern device_opener* const device_open_cuda;
extern device_counter* const device_count_cuda;
void device_close(device* d); /* after all that is on it; NULL is fine */

/* The same device for another thread of the program: what one has the other reads, once the work that made it has been waited
   for. NULL on failure. */
device* device_twin(device* d, error* why);

/* From now on the calling thread works for this device. Before all other calls that a thread makes for one. */
void device_enter(device* d);

/* Zeroed memory, aligned for everything. NULL on failure: why says what was for how much. */
void* device_new(device* d, size_t bytes, const char* what, error* why);
void  device_free(device* d, void* memory); /* NULL is fine */

/* Memory that grows by need, with a quarter more; what was there is lost where it does. d NULL: the host's. All zeros: none.
   grow returns it, at least `bytes` of it; NULL on failure. */
typedef struct {
    void*  memory;
    size_t bytes;
} device_growing;
void* device_grow(device* d, device_growing* g, size_t bytes, const char* what, error* why);
void  device_free_growing(device* d, device_growing* g);

/* Behind all work given to the device so far. `from` may change after upload; download waits for the work. */
void device_upload(device* d, void* to, const void* from, size_t bytes);
void device_download(device* d, void* to, const void* from, size_t bytes);

/* What is at `from` as the host can read it: there on a CPU, else copied to `to`. */
const void* device_read(device* d, void* to, const void* from, size_t bytes);
int64_t     device_size(device* d, ggnn_count count);

/* Memory of the host between which and the device bytes go fastest: pinned, where that is possible. NULL on failure. */
void* device_new_host(device* d, size_t bytes, const char* what, error* why);
void  device_free_host(device* d, void* memory);

/* What was taken since then and has been given back again is no part of the most any more. most: what that was then. */
static inline void device_forget_peak(device* d, int64_t most) { d->most_bytes = most; }

/* Bytes that can be taken now; INT64_MAX: no limit is known, as on a CPU. */
int64_t device_room(device* d);

/* Between processes, of devices that are no CPU: by the handle of memory that device_new gave here, another process has
   it there, until it gives it back. That comes before the memory is freed here. */
enum { DEVICE_HANDLE = 64 };
bool  device_lend(device* d, void* memory, char handle[DEVICE_HANDLE], error* why);
void* device_borrow(device* d, const char handle[DEVICE_HANDLE], error* why);
void  device_give_borrowed(device* d, void* memory);

/* Between devices of one process. reach: from now on the work of d may read this memory, which another device took; false
   where no link leads there. fetch: to memory of d from memory of the host or of any device, behind all work given
   to d so far; what another device is still at work on is not waited for. settle: until all work given to d is done. */
bool device_reach(device* d, const void* memory, error* why);

/* How fast d reads memory of the machine's device on that bus, as the driver knows it before either has any. It has an order of
   links, not GB/s: the best are 50, those of rank r 50 / (1 + r), as a DGX-1V's of two and of one; own memory 700. 0: no link
   leads there. Of a device that this process does not see nothing is known: 50. A CPU reads all alike. */
double device_link(device* d, const char bus[DEVICE_BUS]);
void device_fetch(device* d, void* to, const void* from, size_t bytes);
void device_settle(device* d);

/* How many of a device's processors host_share names, rounded up. */
static inline int32_t device_host_processors(const device* d, int32_t all)
{
    const int32_t whole = (int32_t)(d->host_share * all);
    return whole < d->host_share * all ? whole + 1 : whole;
}

/* The kind of a table that takes so many bytes as each kind; 0: it cannot be. */
static inline ggnn_unique_kind device_unique_kind(const device_unique* u, int64_t direct, int64_t hash)
{
    if (u->which == UNIQUE_AUTO) return direct && (direct <= hash || direct - hash <= u->room) ? GGNN_UNIQUE_DIRECT : GGNN_UNIQUE_HASH;
    return u->which == UNIQUE_DIRECT ? GGNN_UNIQUE_DIRECT : GGNN_UNIQUE_HASH;
}

/* Where the device reads and writes this memory of the host's without a copy; NULL: nowhere. */
static inline void* device_map(const device* d, const void* host) { return d->host_memory ? (void*)(uintptr_t)host : NULL; }

/* Where the device reads this memory of the host's, of `bytes` that nobody writes, over a link and without a copy of its
   own. On CUDA it is pinned; where that is refused, a pinned copy is made and *copied set. Those of one process who ask
   for the same memory share it, each giving it back by unpin of `host`, once. NULL on failure. */
const void* device_pin(device* d, const void* host, size_t bytes, const char* what, bool* copied, error* why);
void        device_unpin(device* d, const void* host);

#ifdef __cplusplus
}
#endif
#endif
