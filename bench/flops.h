/* flops.h - floating-point operations of what a bench measures, by its formula, whatever a version of it does: `flops` of a
   case, on every backend. README.md has the table in words. */
#ifndef BENCH_FLOPS_H
#define BENCH_FLOPS_H

typedef enum {
    FLOPS_SUM,          /* an addition per element of a row per edge */
    FLOPS_MEAN,         /* and a division per element out */
    FLOPS_MAX,          /* a comparison in place of the addition */
    FLOPS_WEIGHTED,     /* a multiplication and an addition */
    FLOPS_DOT,          /* the same */
    FLOPS_ADD,          /* scores of both ends, added */
    FLOPS_SOFTMAX,      /* per edge and head: comparison, subtraction, exp, addition, division */
    FLOPS_SOFTMAX_BACK, /* multiplication and addition of the sum, subtraction, multiplication */
    FLOPS_GAT,          /* per edge, the target's own too, and head: addition, slope, comparison, subtraction, exp,
                           addition; per element: multiplication and addition; a division per element out */
    FLOPS_GAT_BACK,     /* per edge, the target's own too, and head: addition, slope, subtraction, exp; subtraction,
                           multiplication, slope; two additions; per element: two multiplications, two additions. Per
                           target's element: its gradient times its output, added */
    FLOPS_ADAM          /* per parameter, which are `edges` here: trainer/cpu/optimiser.c */
} flops_of;

/* width: elements of a row, all heads together; targets: of the forward pass. */
static inline double flops(flops_of what, double edges, double targets, double width, double heads)
{
    switch (what) {
    case FLOPS_SUM:
    case FLOPS_MAX:
    case FLOPS_ADD: return edges * width;
    case FLOPS_MEAN: return edges * width + targets * width;
    case FLOPS_WEIGHTED:
    case FLOPS_DOT: return 2 * edges * width;
    case FLOPS_SOFTMAX: return 5 * edges * heads;
    case FLOPS_SOFTMAX_BACK: return 4 * edges * heads;
    case FLOPS_GAT: return (edges + targets) * (6 * heads + 2 * width) + targets * width;
    case FLOPS_GAT_BACK: return (edges + targets) * (9 * heads + 4 * width) + 2 * targets * width;
    case FLOPS_ADAM: return 17 * edges;
    }
    return 0;
}
#endif
