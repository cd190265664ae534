"""Writes model_vectors.h: logits, loss, gradients and optimiser steps of ggnn-train's models, computed by PyTorch.

    pip install "torch==2.2.*" "numpy<2" && python3 make_model_vectors.py > model_vectors.h

These are the definitions that trainer/ implements. x is a layer's input (N, in), h its output (N, out); N(v) lists
the stored in-edges of v, duplicates and explicit self-loops counted as any other edge; deg v = |N(v)|.

    MLP        h_v = x_v W + b
    GCN        h_v = sum over u in N(v) and v itself of x_u W / sqrt((deg u + 1)(deg v + 1)) + b
    SAGE mean  h_v = x_v W_self + mean over u in N(v) of x_u W_neigh + b                     an empty mean is 0
    SAGE gcn   h_v = (x_v + sum over u in N(v) of x_u) / (deg v + 1) W + b
    SAGE pool  h_v = x_v W_self + max over u in N(v) of relu(x_u W_pool + b_pool) W_neigh + b    an empty max is 0
               W_pool is (in, in): the pooled vectors are as wide as the layer's input.
    GAT        z = x W, in K heads of D columns; el_u = a_l . z_u and er_v = a_r . z_v per head;
               alpha over N(v) and v itself = softmax of LeakyReLU_0.2(el_u + er_v);
               h_v = the heads' sum over u of alpha z_u, concatenated, + b (K D entries).
               Last layer: out_heads heads of C columns each, averaged, then + b (C entries).

A hidden layer is: h, + residual, then layer norm, then activation (ELU for GAT, ReLU for the others), then dropout
(none here). The last layer is: h, + residual; no norm, no activation.
    residual    + x where in = out, else + x W_res (no bias); from each layer's input, in every layer
    layer norm  (h - mean) / sqrt(variance + 1e-5) * gamma + beta over a row; variance divides by the width
Hidden width is the total over heads. Every weight is (in, out), row-major; a_l, a_r are (K, D), head by head.

Loss: the mean over labelled nodes (label >= 0) of -log softmax(logits)[label]; binary, with one logit s a node, of
log(1 + exp(s)) - label * s.
Adam, step t = 1, 2, ...: g += decay * p; m = .9 m + .1 g; v = .999 v + .001 g g;
    p -= lr * (m / (1 - .9^t)) / (sqrt(v / (1 - .999^t)) + 1e-8).
AdamW: without the first rule, but p *= 1 - lr * decay before the step. Both on every parameter, biases too.

The script checks itself: all gradients against central differences, both optimisers against torch.optim's, and that
no ReLU, LeakyReLU or max is within MARGIN of its kink, so that single precision takes the same branches.
"""
import torch

from c_header import Inputs, c_array, check_gradient

MARGIN = 1e-3
LEARNING_RATE, WEIGHT_DECAY, STEPS = 0.01, 0.05, 3

# In-neighbours by node. Node 3 is isolated, 5 has only out-edges, 4 has only itself, 8 has a self-loop among others,
# 2 and 8 have duplicate edges, 0 has more neighbours than a fanout of 5, 11 only receives.
NEIGHBORS = [[1, 2, 4, 5, 6, 7, 9, 10], [0], [0, 1, 1, 9], [], [4], [], [0, 5, 5, 7], [2, 6], [0, 8, 8, 9, 10],
             [2, 8], [1, 6, 9], [0, 2, 4, 10]]
N, F, C, HIDDEN, HEADS, OUT_HEADS = len(NEIGHBORS), 5, 3, 8, 4, 2
INDPTR = [sum(len(row) for row in NEIGHBORS[:v]) for v in range(N + 1)]
SRC = torch.tensor([u for row in NEIGHBORS for u in row])
DST = torch.tensor([v for v, row in enumerate(NEIGHBORS) for _ in row])
DEGREE = torch.tensor([len(row) for row in NEIGHBORS], dtype=torch.float64)
LOOPS = torch.arange(N)
LABELS = torch.tensor([0, 2, 1, 1, 0, 2, -1, 1, 2, 0, 0, 1])
LABELS_BINARY = torch.tensor([0, 1, 1, 0, 0, 1, -1, 1, 0, 1, 0, 0])
FEATURES = Inputs(1).tensor(N, F)


class Kinks:
    """Smallest distance from a point where the model is not differentiable, over one forward pass."""
    nearest = float("inf")

    @classmethod
    def see(cls, distance):
        if distance.numel():
            cls.nearest = min(cls.nearest, distance.abs().min().item())


def relu(x):
    Kinks.see(x)
    return torch.where(x > 0, x, torch.zeros_like(x))


def elu(x):    # continuously differentiable: no kink
    return torch.where(x > 0, x, torch.exp(torch.minimum(x, torch.zeros_like(x))) - 1)


def leaky_relu(x):
    Kinks.see(x)
    return torch.where(x > 0, x, 0.2 * x)


def sum_over(edge_rows, dst):
    return torch.zeros((N,) + edge_rows.shape[1:]).index_add(0, dst, edge_rows)


# ---- layers: forward(p, x) with the layer's parameters by name -----------------------------------------------------

def mlp(p, x, last):
    return x @ p["w"] + p["b"]


def gcn(p, x, last):
    scale = 1 / torch.sqrt(DEGREE + 1)
    src, dst = torch.cat([SRC, LOOPS]), torch.cat([DST, LOOPS])
    return sum_over((x @ p["w"])[src] * (scale[src] * scale[dst])[:, None], dst) + p["b"]


def sage_mean(p, x, last):
    mean = sum_over(x[SRC], DST) / torch.clamp(DEGREE, min=1)[:, None]
    return x @ p["w_self"] + mean @ p["w_neigh"] + p["b"]


def sage_gcn(p, x, last):
    return ((x + sum_over(x[SRC], DST)) / (DEGREE + 1)[:, None]) @ p["w"] + p["b"]


def sage_pool(p, x, last):
    pooled = relu(x @ p["w_pool"] + p["b_pool"])
    rows = []
    for neighbors in NEIGHBORS:
        distinct = sorted(set(neighbors))    # a duplicate changes no maximum
        if not distinct:
            rows.append(torch.zeros(x.shape[1]))
            continue
        ordered = pooled[distinct].sort(dim=0, descending=True).values
        if len(distinct) > 1:                # a tie of zeros is none: relu's gradient is 0 for both
            Kinks.see((ordered[0] - ordered[1])[ordered[0] > 0])
        rows.append(ordered[0])
    return x @ p["w_self"] + torch.stack(rows) @ p["w_neigh"] + p["b"]


def gat(p, x, last):
    heads, width = p["a_l"].shape
    z = (x @ p["w"]).reshape(N, heads, width)
    el, er = (z * p["a_l"]).sum(2), (z * p["a_r"]).sum(2)
    src, dst = torch.cat([SRC, LOOPS]), torch.cat([DST, LOOPS])
    weight = torch.exp(leaky_relu(el[src] + er[dst]))    # small logits: no maximum to subtract
    alpha = weight / sum_over(weight, dst)[dst]
    out = sum_over(alpha[:, :, None] * z[src], dst)
    return (out.mean(1) if last else out.reshape(N, heads * width)) + p["b"]


def layer_norm(x, gamma, beta):
    centred = x - x.mean(1, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(1, keepdim=True) + 1e-5) * gamma + beta


# ---- models --------------------------------------------------------------------------------------------------------

def shapes_of(layer, fan_in, fan_out, last):
    if layer is gat:
        heads = OUT_HEADS if last else HEADS
        width = fan_out if last else fan_out // heads
        return {"w": (fan_in, heads * width), "a_l": (heads, width), "a_r": (heads, width), "b": (fan_out,)}
    shapes = {}
    if layer is sage_pool:
        shapes.update(w_pool=(fan_in, fan_in), b_pool=(fan_in,))
    if layer in (sage_mean, sage_pool):
        shapes.update(w_self=(fan_in, fan_out), w_neigh=(fan_in, fan_out))
    else:
        shapes.update(w=(fan_in, fan_out))
    return dict(shapes, b=(fan_out,))


class Model:
    def __init__(self, name, layer, aggregator="", layers=2, outputs=C, residual=False, norm=False):
        self.name, self.layer, self.aggregator, self.layers, self.outputs = name, layer, aggregator, layers, outputs
        self.residual, self.norm = residual, norm
        for seed in range(1, 1000):          # the first seed whose forward pass stays clear of every kink
            self.parameters = self.draw(seed)
            Kinks.nearest = float("inf")
            self.logits()
            if Kinks.nearest > MARGIN:
                return
        raise AssertionError("no seed keeps %s clear of its kinks" % name)

    def draw(self, seed):
        inputs, parameters = Inputs(1000 * seed), []
        for l in range(self.layers):
            last = l == self.layers - 1
            fan_in, fan_out = (HIDDEN if l else F), (self.outputs if last else HIDDEN)
            shapes = shapes_of(self.layer, fan_in, fan_out, last)
            if self.residual and fan_in != fan_out:
                shapes["w_res"] = (fan_in, fan_out)
            if self.norm and not last:
                shapes.update(gamma=(fan_out,), beta=(fan_out,))
            tensors = {}
            for key, shape in shapes.items():
                low, high = (0.5, 1.5) if key == "gamma" else (-0.75, 0.75)
                tensors[key] = inputs.tensor(*shape, low=low, high=high).requires_grad_()
            parameters.append(tensors)
        return parameters

    def logits(self):
        x = FEATURES
        for l, p in enumerate(self.parameters):
            last = l == self.layers - 1
            h = self.layer(p, x, last)
            if self.residual:
                h = h + (x @ p["w_res"] if "w_res" in p else x)
            if self.norm and not last:
                h = layer_norm(h, p["gamma"], p["beta"])
            if not last:
                h = elu(h) if self.layer is gat else relu(h)
            x = h
        return x

    def loss(self):
        logits = self.logits()
        labels = LABELS_BINARY if self.outputs == 1 else LABELS
        known = labels >= 0
        logits, labels = logits[known], labels[known]
        if self.outputs == 1:
            s = logits[:, 0]
            return (torch.log(1 + torch.exp(s)) - labels * s).mean()
        return (torch.log(torch.exp(logits).sum(1)) - logits[torch.arange(len(labels)), labels]).mean()

    def named(self):
        return [(key + str(l), tensor) for l, p in enumerate(self.parameters) for key, tensor in p.items()]

    def gradients(self):
        return torch.autograd.grad(self.loss(), [tensor for _, tensor in self.named()])

    def check(self):
        for (name, tensor), gradient in zip(self.named(), self.gradients()):
            check_gradient(self.name + "." + name, self.loss, tensor, gradient)


# ---- optimisers ----------------------------------------------------------------------------------------------------

def train(model, decoupled):
    """STEPS full-batch steps of Adam (L2) or AdamW; gives the parameters and leaves the model as it was."""
    tensors = [tensor for _, tensor in model.named()]
    kept = [tensor.detach().clone() for tensor in tensors]
    m, v = [torch.zeros_like(k) for k in kept], [torch.zeros_like(k) for k in kept]
    for t in range(1, STEPS + 1):
        for i, g in enumerate(model.gradients()):
            p = tensors[i].data
            if decoupled:
                p *= 1 - LEARNING_RATE * WEIGHT_DECAY
            else:
                g = g + WEIGHT_DECAY * p
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g * g
            p -= LEARNING_RATE * (m[i] / (1 - 0.9**t)) / (torch.sqrt(v[i] / (1 - 0.999**t)) + 1e-8)
    trained = [tensor.detach().clone() for tensor in tensors]
    check_with_torch_optim(model, kept, trained, decoupled)
    restore(tensors, kept)
    return trained


def restore(tensors, kept):
    for tensor, value in zip(tensors, kept):
        tensor.data.copy_(value)


def check_with_torch_optim(model, start, trained, decoupled):
    tensors = [tensor for _, tensor in model.named()]
    restore(tensors, start)
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = kind(tensors, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model.loss().backward()
        optimizer.step()
    for tensor, value in zip(tensors, trained):
        assert torch.allclose(tensor.data, value, rtol=0, atol=1e-13)
        tensor.grad = None


# ---- the header ----------------------------------------------------------------------------------------------------

TYPES = """/* model_vectors.h - the models of ggnn-train on one small graph, computed by PyTorch in double precision.
   Written by make_model_vectors.py, where the formulas are: change that, not this. Inputs are exact in float. */
#ifndef MODEL_VECTORS_H
#define MODEL_VECTORS_H
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char* name;           /* as in the formulas, layer number appended: "w_self0" */
    int rows, cols;             /* a vector has one row */
    const double *value, *grad; /* grad: of the case's loss */
    const double *adam, *adamw; /* value after VEC_STEPS full-batch steps, or NULL */
} vec_param;
typedef struct {
    const char *name, *model, *aggregator; /* model: mlp, gcn, sage, gat; aggregator: mean, gcn, pool or "" */
    int layers, hidden, heads, out_heads;  /* heads and out_heads are 1 but for gat */
    int outputs, residual, norm;           /* outputs = 1: binary with logits, labels vec_labels_binary */
    double loss;
    const double* logits; /* (VEC_N, outputs) */
    const vec_param* params;
    int num_params;
} vec_case;

"""


def write_case(model):
    print("/* ---- %s " % model.name + "-" * max(0, 100 - len(model.name)) + " */")
    optimised = model.name == "gcn"
    adam = train(model, False) if optimised else None
    adamw = train(model, True) if optimised else None
    rows = []
    for i, ((name, tensor), gradient) in enumerate(zip(model.named(), model.gradients())):
        base = "vec_%s_%s" % (model.name, name)
        print(c_array(base, tensor), end="")
        print(c_array(base + "_grad", gradient), end="")
        if optimised:
            print(c_array(base + "_adam", adam[i]), end="")
            print(c_array(base + "_adamw", adamw[i]), end="")
        steps = "%s_adam, %s_adamw" % (base, base) if optimised else "NULL, NULL"
        rows.append('    {"%s", %d, %d, %s, %s_grad, %s},' % (name, tensor.shape[0] if tensor.dim() == 2 else 1,
                                                             tensor.shape[-1], base, base, steps))
    print(c_array("vec_%s_logits" % model.name, model.logits()), end="")
    print("static const vec_param vec_%s_params[] = {\n%s\n};\n" % (model.name, "\n".join(rows)))
    return len(rows)


def write_table(models, counts):
    print("static const vec_case vec_cases[] = {")
    for model, count in zip(models, counts):
        kind = "sage" if model.aggregator else model.layer.__name__
        heads = (HEADS, OUT_HEADS) if model.layer is gat else (1, 1)
        print('    {"%s", "%s", "%s", %d, %d, %d, %d, %d, %d, %d, %.12g,\n     vec_%s_logits, vec_%s_params, %d},' % (
            model.name, kind, model.aggregator, model.layers, HIDDEN, heads[0], heads[1], model.outputs,
            model.residual, model.norm, model.loss().item(), model.name, model.name, count))
    print("};\n#define VEC_NUM_CASES ((int)(sizeof vec_cases / sizeof vec_cases[0]))\n#endif")


def main():
    models = [
        Model("mlp", mlp),
        Model("gcn", gcn),
        Model("sage_mean", sage_mean, aggregator="mean"),
        Model("sage_gcn", sage_gcn, aggregator="gcn"),
        Model("sage_pool", sage_pool, aggregator="pool"),
        Model("gat", gat),
        Model("gcn_deep", gcn, layers=3, residual=True, norm=True),
        Model("gat_deep", gat, layers=3, residual=True, norm=True),
        Model("gcn_binary", gcn, outputs=1),
    ]
    for model in models:
        model.check()
    sizes = (N, len(SRC), F, C, STEPS)
    print(TYPES + "enum { VEC_N = %d, VEC_E = %d, VEC_F = %d, VEC_C = %d, VEC_STEPS = %d };" % sizes)
    print("static const double vec_lr = %g, vec_weight_decay = %g;" % (LEARNING_RATE, WEIGHT_DECAY))
    print("/* CSC, sorted: node 3 is isolated, 5 has no in-edges, loops at 4 and 8, duplicates into 2, 6, 8. */")
    print(c_array("vec_indptr", torch.tensor(INDPTR), "int64_t"), end="")
    print(c_array("vec_indices", SRC, "int32_t"), end="")
    print(c_array("vec_features", FEATURES), end="")
    print(c_array("vec_labels", LABELS, "int32_t"), end="")
    print(c_array("vec_labels_binary", LABELS_BINARY, "int32_t"))
    write_table(models, [write_case(model) for model in models])


if __name__ == "__main__":
    main()
