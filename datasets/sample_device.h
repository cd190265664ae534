/* sample_device.h - a mini-batch sampled by ggnn_cuda.cuh: in ggnn-data-emulated and ggnn-data-cuda, not in ggnn-data. */
#ifndef DATASETS_SAMPLE_DEVICE_H
#define DATASETS_SAMPLE_DEVICE_H
#include "common/error.h"
#include "ggnn.h"

/* Sends graph and seeds to the device, samples there and fetches the batch into b, which ggnn_batch_init has laid out
   for them; `kind` of append-unique. What goes wrong on the device is an error here. */
typedef bool sample_device(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_rng* rng,
                           const ggnn_node* seeds, int64_t num_seeds, ggnn_unique_kind kind, error* why);
extern sample_device* const sample_on_device; /* NULL: this program has no device */
#endif
