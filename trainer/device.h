/* device.h - where a network runs: memory of that place, and what of a data set has to lie there.

   Memory of a device is the host's on the CPU; elsewhere only the operations of ops.h may look into it. Structs
   (graphs, stores, blocks, batches) are always the host's, what they point to is the device's. */
#ifndef TRAINER_DEVICE_H
#define TRAINER_DEVICE_H
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "trainer/net.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ops;
struct device {
    const struct ops* ops;
    const char* backend; /* "cpu", ... as --backend takes it */
    char  name[256];     /* of the device; empty for the CPU */
    bool  host;          /* its memory is the host's */
    error failed;        /* the first thing that went wrong on it, as operations return nothing; empty: none */
    bool  plain;         /* to compare with: nothing is captured as a graph (environment GGNN_TRAIN_PLAIN=1), */
    bool  serial;        /* and no batch is sampled while another one trains (GGNN_TRAIN_SERIAL=1) */
    bool  profile;       /* every operation is waited for and timed: plain and serial then too */
    int64_t bytes, most_bytes;  /* that were taken from it, now and at most */
    int64_t launched, replayed; /* steps and samples so far, by their operations or as a graph */
    void* own;           /* the backend's */
};

device* device_cpu(void);

/* The current CUDA device, or the emulator's; tf32: products may round their factors to 10 bits. NULL on failure. The
   pointer is NULL in a program without: sibling.h finds one that has it. */
typedef device* device_opener(bool tf32, error* why);
extern device_opener* const device_open_cuda;
void device_close(device* d); /* after all that is on it; NULL is fine */

/* Zeroed memory, aligned for everything. NULL on failure: why says what was for how much. */
void* device_new(device* d, size_t bytes, const char* what, error* why);
void  device_free(device* d, void* memory); /* NULL is fine */

/* Behind all work given to the device so far. `from` may change after upload; download waits for the work. */
void device_upload(device* d, void* to, const void* from, size_t bytes);
void device_download(device* d, void* to, const void* from, size_t bytes);

/* What is at `from` as the host can read it: there on the CPU, else copied to `to`. */
const void* device_read(device* d, void* to, const void* from, size_t bytes);
int64_t     device_size(device* d, ggnn_count count);

/* ---- data ----------------------------------------------------------------------------------------------------- */

typedef struct { /* as it lies on the device; on the CPU where it was */
    struct device* device;
    ggnn_graph  graph;
    ggnn_store  features;
    net_labels  labels;
    void*       memory[8];
} placement;

/* graph and features: one part, no rank; labels of graph->num_nodes nodes. On failure false; placement_close is
   harmless then. */
bool placement_open(placement* p, device* d, const ggnn_graph* graph, const ggnn_store* features,
                    const net_labels* labels, error* why);
void placement_close(placement* p);

#ifdef __cplusplus
}
#endif
#endif
