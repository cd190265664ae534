/* saved.h - all that a checkpoint says by itself: what the commands print of it, and which weights they write. */
#ifndef TRAINER_SAVED_H
#define TRAINER_SAVED_H
#include "trainer/saved/weights.h"

typedef struct {
    ggnn_file file;
    config options;
    char version[16]; /* of the writer; "" where it is not known */
    train_state at;
    int64_t graph_crc;
    const int64_t* data_crc; /* (known) checkpoint_data_crcs */
    int64_t known;
    net_param param[NET_PARAMS_MAX];
    int32_t params;
    int64_t floats;
    weight_tensor tensor[WEIGHTS_MAX];
    int32_t tensors;
} saved;

/* Reads it all but the weights, which are there: `value` and `best` have `floats` elements. saved_close after a failure, too. */
bool saved_open(saved* s, const char* path, error* why);
void saved_close(saved* s);
#endif
