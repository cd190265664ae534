/* ogb_csv.h - what both forms of an OGB folder have: csv files without headers, gzipped or not, and the split among them. */
#ifndef DATASETS_OGB_CSV_H
#define DATASETS_OGB_CSV_H
#include "datasets/builder.h"
#include "datasets/text.h"

/* Opens IN/NAME.csv.gz, or else .csv. Where neither is there: t->in = NULL, an error only where it is needed. */
bool ogb_csv_open(text* t, const char* in, const char* name, bool needed, error* why);
void ogb_csv_close(text* t); /* harmless where nothing was opened */

/* No further column may stand on the line. */
bool ogb_csv_end_line(text* t, error* why);

/* split/NAME/train, valid and test: a node id a line; one that is there twice counts once. NAME is the one folder in split/; of several the first by
   name. None: no split. split_dict.pt, which stands there in place of the csv
   since OGB 1.2.3, is a pickle: it is refused, as reading it may run code, by ogb_check_split: before anything is read, where the
   split of the folder is wanted. */
bool ogb_check_split(const builder* b, const char* in, error* why);
bool ogb_read_split(builder* b, const void* in, error* why); /* in: a path; as node_reader has it */
#endif
