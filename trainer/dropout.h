/* dropout.h - the random fields that decide what is dropped, many at a time. */
#ifndef TRAINER_DROPOUT_H
#define TRAINER_DROPOUT_H
#include "ggnn.h"

/* field[8 b + i] = ggnn_dropout_field(ggnn_random(rng, l, node, first + b), i) for b in [0, blocks), i in [0, 8): the
   same bits whatever the CPU. Column j of a row of layer l's input is dropped where its field, in block j / 8, is
   below the threshold. */
void dropout_fields(uint16_t* field, const ggnn_rng* rng, int32_t l, int64_t node, uint32_t first, int32_t blocks);
#endif
