/* preprocess.h - PaGraph's preprocessing: the first layer's sum over all in-neighbours, done once and kept in the file.

   Sections:
     pre_feat  (N, W)  f32   gcn: W = F, row v is the sum over u in N(v) and v itself of x_u / sqrt(d_u d_v), d = in-degree + 1;
                             sage: W = 2 F, [x_v | mean of x_u over N(v)], the mean of none being zeros
     pre_of    (3)     i64   the model, 0 gcn, 1 sage; the graph's identity; the CRC-32C of section feat
   The sums have the bits of the trainer's own first layer over all neighbours. */
#ifndef DATASETS_PREPROCESS_H
#define DATASETS_PREPROCESS_H
#include "datasets/dataset.h"

#define PREPROCESS_MODELS "gcn|sage"
typedef enum { PREPROCESS_GCN, PREPROCESS_SAGE } preprocess_model;

/* Writes d's file with these sections to out, which may be that very file: whole or not at all. Sections of an earlier
   preprocessing are replaced, all others stay as they are: their CRCs are checked, a damaged one fails. O(E F). */
bool preprocess_write(const char* out, const dataset* d, preprocess_model model, error* why);

/* W: values in a row of pre_feat for d's features. */
int64_t preprocess_width(const dataset* d, preprocess_model model);

/* The sections of d, checked: false where there are none, or where they are another model's, another graph's or of other
   features. rows: pre_feat as a store. */
bool preprocess_rows(const dataset* d, preprocess_model model, ggnn_store* rows, error* why);

/* The same for whatever model they are of; true where there are none. */
bool preprocess_check(const dataset* d, error* why);
#endif
