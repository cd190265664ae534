"""Writes op_vectors.h: the sparse ops of ggnn.h, forward and backward, on one small block, computed by PyTorch.

    pip install "torch==2.2.*" "numpy<2" && python3 make_op_vectors.py > op_vectors.h

The block has 5 targets and 7 sources, the first 5 of which are the targets; target 2 has no edge, source 5 is listed
twice by target 0, source 4 by nobody, target 3 lists itself. Edge e goes from source u to target v; N(v) are v's
edges; K heads of D columns, head by head in a row. A gradient d* is that of the sum over the entries of out * dout.

    SpMM sum, mean   out[v,k,:] = sum over N(v) of weight[e,k] * x[u,k,:]; mean divides by |N(v)|; zeros if empty
    SpMM max, min    out[v,k,c] = max over N(v) of weight[e,k] * x[u,k,c]; zeros if empty;
                     arg = the edge's offset in its row, -1 if empty
    SDDMM dot        out[e,k] = sum over c of y[v,k,c] * x[u,k,c]
    SDDMM add        out[e,k] = el[u,k] + er[v,k]
    edge softmax     out[e,k] = exp(logit[e,k]) / sum over N(v) of exp(logit)
    GAT attention    logit = LeakyReLU_0.2(el[u,k] + er[v,k]) over N(v) and v itself (el[v] + er[v]);
                     alpha = softmax of logit; out[v,k,:] = sum of alpha * z[u,k,:]; lse[v,k] = log2 of the sum of
                     exp(logit), the self edge included; here el, er are inputs of their own, not made from z
    GAT with terms   the same of logit = LeakyReLU_0.2(el[u,k] + er[v,k] + term[e,k]); the self edge's term is the
                     mean of term over N(v), 0 if empty: PyG's GATConv(edge_dim), fill_value "mean"

The script checks itself: all gradients against central differences, and no LeakyReLU or max within MARGIN of a tie.
"""
import torch

from c_header import Inputs, c_array, check_gradient

MARGIN = 1e-2
HEADS, WIDTH = 2, 3
NEIGHBORS = [[1, 5, 5, 6], [0, 2], [], [0, 1, 3, 6, 2], [5]]
NUM_DST, NUM_SRC = len(NEIGHBORS), 7
INDPTR = [sum(len(row) for row in NEIGHBORS[:v]) for v in range(NUM_DST + 1)]
SRC = torch.tensor([u for row in NEIGHBORS for u in row])
DST = torch.tensor([v for v, row in enumerate(NEIGHBORS) for _ in row])
E = len(SRC)
LOOPS = torch.arange(NUM_DST)
INPUTS = Inputs(7)


def sum_over(edge_rows, dst=DST):
    return torch.zeros((NUM_DST,) + edge_rows.shape[1:]).index_add(0, dst, edge_rows)


def spmm_sum(x, weight):
    return sum_over(weight[:, :, None] * x[SRC])


def spmm_mean(x, weight):
    degree = torch.tensor([float(max(len(row), 1)) for row in NEIGHBORS])
    return spmm_sum(x, weight) / degree[:, None, None]


def extreme(x, weight, sign):
    """(out, arg) of max (sign 1) or min (sign -1)."""
    values = weight[:, :, None] * x[SRC]
    out, arg = [], []
    for v in range(NUM_DST):
        row = sign * values[INDPTR[v]:INDPTR[v + 1]]
        if len(row) == 0:
            out.append(torch.zeros(HEADS, WIDTH))
            arg.append(torch.full((HEADS, WIDTH), -1))
            continue
        ordered = row.sort(dim=0, descending=True).values
        assert len(row) == 1 or (ordered[0] - ordered[1]).min() > MARGIN
        best = row.max(dim=0)
        out.append(sign * best.values)
        arg.append(best.indices)
    return torch.stack(out), torch.stack(arg)


def sddmm_dot(x, y):
    return (y[DST] * x[SRC]).sum(2)


def sddmm_add(el, er):
    return el[SRC] + er[DST]


def edge_softmax(logit):
    weight = torch.exp(logit)    # small logits: no maximum to subtract
    return weight / sum_over(weight)[DST]


def gat_weights(el, er, term=None):
    src, dst = torch.cat([SRC, LOOPS]), torch.cat([DST, LOOPS])
    sums = el[src] + er[dst]
    if term is not None:
        degree = torch.tensor([float(max(len(row), 1)) for row in NEIGHBORS])
        sums = sums + torch.cat([term, sum_over(term) / degree[:, None]])
    assert sums.abs().min() > MARGIN
    return src, dst, torch.exp(torch.where(sums > 0, sums, 0.2 * sums))


def gat(z, el, er, term=None):
    src, dst, weight = gat_weights(el, er, term)
    alpha = weight / sum_over(weight, dst)[dst]
    return sum_over(alpha[:, :, None] * z[src], dst)


def gat_lse(el, er, term=None):
    _, dst, weight = gat_weights(el, er, term)
    return torch.log2(sum_over(weight, dst))


def write(name, op, arguments, **more):
    """One op: its inputs by name, dout, out, the gradient of each input, and further outputs."""
    tensors = [tensor.clone().requires_grad_() for tensor in arguments.values()]
    out = op(*tensors)
    dout = INPUTS.tensor(*out.shape)
    gradients = torch.autograd.grad((out * dout).sum(), tensors)
    for key, tensor, gradient in zip(arguments, tensors, gradients):
        check_gradient(name + "." + key, lambda: (op(*tensors) * dout).sum(), tensor, gradient)
    print("/* ---- %s " % name + "-" * (100 - len(name)) + " */")
    for key, tensor in list(arguments.items()) + [("out", out)]:
        print(c_array("op_%s_%s" % (name, key), tensor), end="")
    for key, tensor in more.items():
        kind = "double" if tensor.is_floating_point() else "int32_t"
        print(c_array("op_%s_%s" % (name, key), tensor, kind), end="")
    print(c_array("op_%s_dout" % name, dout), end="")
    for key, gradient in zip(arguments, gradients):
        print(c_array("op_%s_d%s" % (name, key), gradient), end="")
    print()


def main():
    print("/* op_vectors.h - the sparse ops on one small block, computed by PyTorch in double precision.\n"
          "   Written by make_op_vectors.py, where the formulas are: change that. Inputs are exact in float. */\n"
          "#ifndef OP_VECTORS_H\n#define OP_VECTORS_H\n#include <stdint.h>\n")
    print("/* OP_WIDTH: columns of a head */")
    print("enum { OP_NUM_DST = %d, OP_NUM_SRC = %d, OP_E = %d, OP_HEADS = %d, OP_WIDTH = %d };" % (
        NUM_DST, NUM_SRC, E, HEADS, WIDTH))
    print(c_array("op_indptr", torch.tensor(INDPTR), "int64_t"), end="")
    print(c_array("op_indices", SRC, "int32_t"))

    def x():
        return INPUTS.tensor(NUM_SRC, HEADS, WIDTH)

    def weight():
        return INPUTS.tensor(E, HEADS, low=0.25, high=1.5)

    write("spmm_sum", spmm_sum, dict(x=x(), weight=weight()))
    write("spmm_mean", spmm_mean, dict(x=x(), weight=weight()))
    for name, sign in (("spmm_max", 1), ("spmm_min", -1)):
        arguments = clear_of_ties(lambda: dict(x=x(), weight=weight()), lambda **a: extreme(sign=sign, **a))
        write(name, lambda x, weight: extreme(x, weight, sign)[0], arguments, arg=extreme(sign=sign, **arguments)[1])
    write("sddmm_dot", sddmm_dot, dict(x=x(), y=INPUTS.tensor(NUM_DST, HEADS, WIDTH)))
    write("sddmm_add", sddmm_add, dict(el=INPUTS.tensor(NUM_SRC, HEADS), er=INPUTS.tensor(NUM_DST, HEADS)))
    write("edge_softmax", edge_softmax, dict(logit=INPUTS.tensor(E, HEADS, low=-2, high=2)))
    scores = clear_of_ties(lambda: dict(el=INPUTS.tensor(NUM_SRC, HEADS, low=-2, high=2),
                                        er=INPUTS.tensor(NUM_DST, HEADS, low=-0.5, high=0.5)), gat_weights)
    write("gat", gat, dict(z=x(), **scores), lse=gat_lse(**scores))
    scores = clear_of_ties(lambda: dict(el=INPUTS.tensor(NUM_SRC, HEADS, low=-2, high=2),
                                        er=INPUTS.tensor(NUM_DST, HEADS, low=-0.5, high=0.5),
                                        term=INPUTS.tensor(E, HEADS, low=-1, high=1)), gat_weights)
    write("gat_term", gat, dict(z=x(), **scores), lse=gat_lse(**scores))
    print("#endif")


def clear_of_ties(draw, op):
    """The first draw on which op's own assertions hold."""
    for _ in range(1000):
        arguments = draw()
        try:
            op(**arguments)
            return arguments
        except AssertionError:
            continue
    raise AssertionError("every draw has a tie")


if __name__ == "__main__":
    main()
