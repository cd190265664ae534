/* agree.h - have all processes of a run the same to work on? What they compare before the first step, so that none trains on
   something else in silence. All ranks make each call. False where one differs: the error names rank, file and difference. */
#ifndef TRAINER_AGREE_H
#define TRAINER_AGREE_H
#include "trainer/checkpoint.h"
#include "trainer/ranks/comm.h"

/* Version, data and options; and by their contents, whatever they are called, the files of --resume or --load, --ranking,
   --partition-file, --nodes and --topology. resumed: the checkpoint, where there is one. Of the data checksums are compared, which
   the file's table has: no array is read. */
bool agree_on_inputs(comm* c, const config* with, const task* t, const ggnn_file* resumed, error* why);

/* After task_divide: whose node each node is, where nodes have owners. */
bool agree_on_owners(comm* c, const config* with, const task* t, error* why);

/* In one process: are the parts of a graph that its ranks train on of one graph, and divided alike? task (count). */
bool agree_on_parts(const config* with, const task* t, int32_t count, error* why);
#endif
