/* weights_file.h - named tensors as a file of PyTorch's world: NumPy's .npz, of stored arrays, or safetensors.

   SAFETENSORS: the header's bytes as 64 bits, little-endian; the header, JSON, with blanks at its end up to a multiple of 8: each
   tensor's dtype "F32", shape, and data_offsets from the header's end; "__metadata__", strings by name. Then the tensors' elements.
   NPZ: an array "__metadata__", a single byte string, has the same strings as a JSON object.

   __metadata__: format "pt"; generator; weights "best" or "last", with their epoch and, of the best, validation_loss; graph_crc; and each option that shapes
   the training by its name: "model": "sage", "residual": "true" where the flag was given. */
#ifndef TRAINER_WEIGHTS_FILE_H
#define TRAINER_WEIGHTS_FILE_H
#include "datasets/output.h"
#include "trainer/saved/weights.h"

#define WEIGHTS_FORMATS "npz|safetensors"
typedef enum { WEIGHTS_NPZ, WEIGHTS_SAFETENSORS } weights_format;

/* By the ending of its name; -1: another one. */
int weights_format_of(const char* path);

typedef struct {
    const config* options;
    const weight_tensor* tensor;
    int32_t tensors;
    const float* values; /* all parameters */
    bool best;           /* of the best epoch, at.best_epoch; else of the last step */
    train_state at;
    int64_t graph_crc;
} weights;

/* Writes them at path: all or nothing. */
bool weights_write(const char* path, weights_format format, const weights* w, error* why);
#endif
