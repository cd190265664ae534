/* split_loader.h - the mini-batches of --parallel split, as one rank has them. Each is the whole batch that one device would
   train on; of every hop a rank has the targets that it owns (split.h), and the rows of those nodes of the input layer.

   cooperative  Every rank samples its own targets, hop by hop, and tells the owners what it needs. A GPU samples by itself, a
                loader a hop; the host splits the sources and tells the owners. With partial the host samples.
   single       Ranks take turns to sample a whole batch, where the loader samples: on the device. Whose turn it is splits it for
                all (split_single), and each gets its slice.
   Ranks meet in it, all at the same batch. Batches are those of loader.h: the same seeds, the same samples. split_ring.h says
   when each is made. */
#ifndef TRAINER_SPLIT_LOADER_H
#define TRAINER_SPLIT_LOADER_H
#include "trainer/batch/loader.h"
#include "trainer/ranks/shuffle.h"
#include "trainer/split/split.h"

typedef struct {
    comm*          over;     /* moves rows of layers */
    comm*          line;     /* between the same ranks, by which batches are made; NULL: `over` */
    ggnn_graph     graph;    /* to sample from. This and `at`, labels, and the ids of passes are memory of the host */
    const ggnn_graph* there; /* the graph, as a device whose memory is not the host's samples from it; NULL: it does not */
    ggnn_layout    at;       /* owners: a part a rank */
    ggnn_sampling  how;      /* with local indices in all hops */
    net_labels     labels;   /* of which the labelled seeds are counted */
    ggnn_store     features; /* the device's; not read where there is an exchange */
    exchange*      exchange; /* by which rows come; NULL: from `features` */
    int64_t*       edges_read; /* as in loader_plan. `whole` counts its own */
    int64_t        batch;    /* seeds */
    bool           pointers; /* rows of other ranks are read where they lie, if that can be (shuffle.h) */
    bool           partial;  /* batches come with what partial.h says */
    loader*        whole;    /* single: it samples whole batches; it may be used between passes. NULL: cooperative */
    const char*    path;     /* of the graph, for messages */
} split_plan;

typedef struct split_loader split_loader;

/* No rank waits for another. NULL on failure; split_loader_free(NULL) is fine. */
split_loader* split_loader_create(device* d, const split_plan* plan, error* why);
void          split_loader_free(split_loader* l);

/* Bounds of a rank's part, for net_create and net_fit. On the CPU those of any batch. On a tight device those of the batches so
   far: they grow. */
const ggnn_batch* split_loader_shape(const split_loader* l);

/* All ranks, once or again: batches will be trained on by d. Before the first one is made. */
bool split_loader_meet(split_loader* l, device* d, error* why);

/* pass: as loader_begin takes it, its ids the host's. And of the loader of whole batches, which several split_loaders may share,
   with batches taken in order, by one of them; device_ids: where its device has the ids. */
void split_loader_begin(split_loader* l, const loader_pass* pass);
void split_loader_begin_whole(split_loader* l, const loader_pass* pass, const ggnn_node* device_ids, int64_t first);

/* All ranks. That batch of the pass, which stays as it is until the next call; batch->shuffle moves the rows between its layers.
   NULL on an error; why is empty before. split_loader_batch: it again. */
const mini_batch* split_loader_take(split_loader* l, int64_t number, error* why);
const mini_batch* split_loader_batch(const split_loader* l);

typedef struct { /* of this rank */
    loader_cost  batches; /* sample: splitting and exchanging ids, too, without waiting for other ranks. Its edges are those of
                             the targets */
    int64_t      targets; /* computed, of all layers */
    int64_t      rows;    /* of features, loaded */
    shuffle_cost moved;   /* between layers */
} split_cost;
split_cost split_loader_cost(const split_loader* l); /* since split_loader_take_cost; moved: since split_loader_create */
split_cost split_loader_take_cost(split_loader* l);  /* and begins anew */
#endif
