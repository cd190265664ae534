/* checkpoint.h - where a training stands, in a .ggnn container, from which it goes on bit for bit.

   trainer/saved/checkpoint_file.h has its sections.

   A CHECKPOINT FIXES the graph, features, labels and splits that it was trained on (not the file's name), edge weights
   where --sampler weighted reads them, preprocessed features where --preprocess does, and every option but these:
     --data --verify --eval-memory --threads --backend --precision --pipeline --devices --device-list --parallel --store --gather --owners
     --save --save-every --save-steps --resume --log --profile
                                     may differ; those not given have their usual defaults
     --epochs                        may differ, unless the schedule is cosine's, whose rates depend on it; not given:
                                     the checkpoint's
   Another value of a fixed option is an error that names both; so is other data, which names the section. With --shuffle
   local --devices is fixed as well.
   (The table in config.c decides, --help prints the list.)

   CHECKSUMS are those of the data's section table: no array is read. --verify compares them with the arrays.

   VERSIONS. Those of 0.1 have no data_crc: they are read, and a warning says that features, labels and splits are not
   compared. Early ones of 0.2 have none of pre_feat: a warning says so where it is read. Options of a later version that this one does not know are an error. */
#ifndef TRAINER_CHECKPOINT_H
#define TRAINER_CHECKPOINT_H
#include "trainer/options/config.h"
#include "trainer/saved/checkpoint_file.h"
#include "trainer/task.h"

/* Could it be written there? To be asked before the work that would be lost. */
bool checkpoint_possible(const char* path, error* why);

/* Writes path anew: completely, or not at all and the old one stays. */
bool checkpoint_save(const char* path, const config* c, const task* t, net* n, train_state* at, const float* best,
                     error* why);

/* "--data has graph 1f00ba2d, feat 0, ..": the same checksums, for people. */
void checkpoint_data_text(const config* c, const task* t, char text[256]);

/* Puts net, state and best weights where the checkpoint has them. Errors: other data, another network, another number
   of mini-batches an epoch, other batches (another division). */
bool checkpoint_restore(ggnn_file* f, const config* c, const task* t, int64_t batches, net* n, train_state* at,
                        float* best, error* why);

/* For a prediction, of any graph: how wide the data was that the network was trained on, as its parameters say. */
typedef struct {
    int32_t features, edge_features; /* 0: rows of edges are not read */
    int32_t outputs;
} checkpoint_widths;
bool checkpoint_widths_of(ggnn_file* f, const config* c, checkpoint_widths* widths, error* why);

/* Is the data of a task that wide? */
bool checkpoint_fits(const ggnn_file* f, const config* c, const checkpoint_widths* widths, const task* t, error* why);

/* The weights of the best epoch, at->best_epoch, become the net's; where no evaluation has chosen one, at->has_best 0, the last
   ones. An error: another network. */
bool checkpoint_load(ggnn_file* f, net* n, train_state* at, error* why);
#endif
