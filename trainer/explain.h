/* explain.h - ggnn-train --explain: what lies where, what is read from where, how long each stage takes, and which setting
   of the store would be the fastest on a device with the memory and the links that the options state.

   Rows are predicted as they are extracted, each once a batch. Where the input layer reads them where they lie, as on a CPU
   with --store parts and no plan of tiers, the run counts a read an edge, which is another figure.

   Lists are predicted as samplers read them: one a target, of walks one a step. Rankings count those of targets alone.

   Every figure has a label. Counted: rows, lists, bytes, from sampled ids. The prediction counts an epoch before training
   that no ranking was made of (of --cache optimal the epochs of the run, which is what its ranking knows); what training did is the tiers' own
   count, which log and profile show too. Modelled: explain_model.h. Measured: by this run's clock. */
#ifndef TRAINER_EXPLAIN_H
#define TRAINER_EXPLAIN_H
#include "trainer/explain_model.h"
#include "trainer/training.h"

typedef struct { /* of the reads of device 0, %; all 0 where no one counted */
    double cache, own, peer, host;
    double reads; /* reads of an epoch */
} explain_shares;

typedef struct {
    explain_shares predicted[TIERS_KINDS], counted[TIERS_KINDS];
    double sample, mark, copy, extract, train, waiting; /* measured: seconds of an epoch, device 0 */
    explain_case    given;  /* its arrays are gone */
    explain_outcome outcome[EXPLAIN_SETTINGS];
    explain_setting choice;
} explanation;

/* After training_run, on rank 0 alone. False: no memory. */
bool explain(explanation* e, const training* t, error* why);

/* Prints it, and logs it where there is a log: report.h. */
void explain_print(const explanation* e, const training* t, report* r);
#endif
