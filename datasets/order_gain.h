/* order_gain.h - how much faster sums over all neighbours would be with the nodes in the order of their degrees: counted by a
   model of the caches on a sample of the edges, not measured. */
#ifndef DATASETS_ORDER_GAIN_H
#define DATASETS_ORDER_GAIN_H
#include "datasets/dataset.h"

enum { ORDER_GAIN_WIDTHS = 2 };
extern const int32_t order_gain_width[ORDER_GAIN_WIDTHS]; /* columns of 4 bytes: 32, 128 */

#define ORDER_GAIN_LEAST 1.15 /* less is not worth a word */

typedef struct { /* what one row read costs, per row */
    double rows;  /* reads that miss the second-level cache */
    double pages; /* reads whose page the TLB does not hold */
    double tables; /* of these, whose entry of the page table is not in the second-level cache */
} order_misses;

/* m[k]: misses per edge, of rows of order_gain_width[k], of the lists as they are (rank NULL), or with node v called rank[v];
   order is its inverse. On samples of the edges, alike for any number of threads. indptr rises from 0; ids out of range count
   as node 0. False: no memory. */
bool order_gain_count(order_misses m[ORDER_GAIN_WIDTHS], const ggnn_csc* csc, int64_t num_nodes, const ggnn_node* rank,
                      const ggnn_node* order, int64_t cache_bytes, error* why);

/* The time of a mean with those misses, in reads of a line from the second-level cache. */
double order_gain_time(const order_misses* m, int64_t row_bytes);

/* gain[k]: time as it is over time by degree, at order_gain_width[k]. 1 where all rows fit. False: indptr is broken, or no
   memory. */
bool order_gain_by_degree(double gain[ORDER_GAIN_WIDTHS], const dataset* d, int64_t cache_bytes, error* why);

/* The same by this machine's second-level cache, without a word where nothing could be counted: false. */
bool order_gain_here(double gain[ORDER_GAIN_WIDTHS], const dataset* d);

/* A sentence that says so for this machine's second-level cache; false where less than ORDER_GAIN_LEAST is to be had, or
   nothing could be counted. */
enum { ORDER_HINT = 4400 };
bool order_gain_hint(char text[ORDER_HINT], const dataset* d);
#endif
