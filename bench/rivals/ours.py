"""ours.py - ggnn.h itself, called through ctypes on the rivals' very inputs: their answers are compared
with its.

Its times stand beside ggnn-bench's; where the two differ by much, the machine was disturbed. libggnn.so is
ggnn.h alone, compiled with the flags of the tools (environments.py). Structures and the sampler are those
of examples/batch_ctypes.py."""

import ctypes as c
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from common import Graph, integers, noise, rival_main, zeros

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
from batch_ctypes import Block, Count, Layout, Rng, Sampler, load  # noqa: E402

SUM, MEAN, MAX = 0, 1, 2
DOT = 0


class Store(c.Structure):
    _fields_ = [
        ("width", c.c_int32),
        ("type", c.c_int),
        ("pitch", c.c_int64),
        ("rows", c.c_void_p),
        ("base", c.c_void_p),
        ("at", Layout),
        ("traffic", c.c_void_p),
    ]


class Attention(c.Structure):
    _fields_ = [
        ("slope", c.c_float),
        ("dropout", c.c_float),
        ("layer", c.c_int32),
        ("rng", Rng),
    ]


class GatLayer(c.Structure):
    _fields_ = [
        ("block", c.POINTER(Block)),
        ("z", c.c_void_p),
        ("ld_z", c.c_int64),
        ("el", c.c_void_p),
        ("er", c.c_void_p),
        ("out", c.c_void_p),
        ("ld_out", c.c_int64),
        ("lse", c.c_void_p),
        ("heads", c.c_int32),
        ("width", c.c_int32),
        ("how", Attention),
        ("att_l", c.c_void_p),
        ("att_r", c.c_void_p),
        ("term", c.c_void_p),
        ("own_term", c.c_void_p),
        ("datt_l", c.c_void_p),
        ("datt_r", c.c_void_p),
        ("del_", c.c_void_p),
        ("der", c.c_void_p),
        ("dterm", c.c_void_p),
        ("delta", c.c_void_p),
        ("dlogit", c.c_void_p),
        ("coef", c.c_void_p),
        ("partial", c.c_void_p),
    ]


class Scale(c.Structure):
    _fields_ = [("src", c.c_void_p), ("dst", c.c_void_p), ("self", c.c_void_p)]


def at(array):
    return c.c_void_p(0 if array is None else array.ctypes.data)


def i32(x):
    return c.c_int32(int(x))


def i64(x):
    return c.c_int64(int(x))


class Ours:
    def __init__(self, task):
        self.lib = load(task.args.library)
        self.lib.ggnn_block_transpose_bytes.restype = c.c_size_t
        self.keep = []

    def block(self, indptr, indices, sources, ids=None):
        """A block over arrays of NumPy; ids: of its sources."""
        sizes = np.array([len(indptr) - 1, sources, len(indices)], np.int64)
        self.keep += [indptr, indices, sizes, ids]
        count = [
            Count(c.cast(sizes.ctypes.data + 8 * i, c.POINTER(c.c_int64)), int(sizes[i])) for i in range(3)
        ]
        return Block(
            *count,
            at(ids),
            c.cast(indptr.ctypes.data, c.POINTER(c.c_int64)),
            c.cast(indices.ctypes.data, c.POINTER(c.c_int32))
        )

    def whole(self, graph):
        return self.block(graph.indptr, graph.indices, graph.nodes)

    def transpose(self, block):
        sizes = [i64(block.num_dst.max), i64(block.num_src.max), i64(block.num_edges.max)]
        memory = Sampler.aligned(self.lib.ggnn_block_transpose_bytes(*sizes))
        self.keep.append(memory)
        t = Block()
        self.lib.ggnn_block_transpose_init(c.byref(t), *sizes, at(memory))
        return t

    def store(self, rows):
        self.keep.append(rows)
        nodes, width = rows.shape
        return Store(width, 0, 4 * width, rows.ctypes.data, None, Layout(None, 0, None, None, nodes, 1), None)

    def spmm(self, out, arg, how, block, scale, weight, inp):
        width = inp.shape[1]
        self.lib.ggnn_spmm(
            at(out),
            i64(width),
            at(arg),
            how,
            c.byref(block),
            c.byref(scale) if scale else None,
            at(weight),
            i32(1),
            at(inp),
            i64(width),
            i32(width),
        )


def write(task, **values):
    np.savez(task.args.expected, **values)


# ---- the whole graph -----------------------------------------------------------------------------


def spmm_case(task, how, width, weighted=False, arg=False):
    g, o = task.graph, Ours(task)
    inp, weight = noise((g.nodes, int(width)), 1), noise(g.edges, 2) if weighted else None
    out = zeros(inp.shape)
    which = zeros(inp.shape, np.int32) if arg else None
    block = o.whole(g)
    task.measure(lambda: o.spmm(out, which, how, block, None, weight, inp), work=g.edges, unit="edges")
    write(task, rows=out[g.rows()])


def spmm(task, how, width):
    spmm_case(task, {"sum": SUM, "mean": MEAN}[how], width)


def weighted(task, width):
    spmm_case(task, SUM, width, weighted=True)


def largest(task, width):
    spmm_case(task, MAX, width, arg=True)


def sddmm(task, width):
    g, o, width = task.graph, Ours(task), int(width)
    src, dst, out = noise((g.nodes, width), 1), noise((g.nodes, width), 2), zeros(g.edges)
    block = o.whole(g)
    task.measure(
        lambda: o.lib.ggnn_sddmm(
            at(out), DOT, c.byref(block), at(src), i64(width), at(dst), i64(width), i32(1), i32(width)
        ),
        work=g.edges,
        unit="edges",
    )
    write(task, edges=out[g.places()])


def softmax(task, heads):
    g, o, heads = task.graph, Ours(task), int(heads)
    logit = noise((g.edges, heads), 3)
    out = zeros(logit.shape)
    block = o.whole(g)
    task.measure(
        lambda: o.lib.ggnn_edge_softmax(at(out), c.byref(block), at(logit), i32(heads)),
        work=g.edges,
        unit="edges",
    )
    write(task, edges=out[g.places()])


def gat(task, direction, heads, width):
    g, o, heads = task.graph, Ours(task), int(heads)
    width = heads * int(width)
    z, el, er, dout = (
        noise((g.nodes, width), 1),
        noise((g.nodes, heads), 2),
        noise((g.nodes, heads), 3),
        noise((g.nodes, width), 4),
    )
    out, lse = zeros(z.shape), zeros(er.shape)
    block, how = o.whole(g), Attention(0.2, 0, 0, Rng(0, 0, 0))
    layer = GatLayer(
        c.pointer(block), at(z), width, at(el), at(er), at(out), width, at(lse), heads, width, how
    )

    def forward():
        o.lib.ggnn_gat(c.byref(layer))

    if direction == "forward":
        task.measure(forward, work=g.edges, unit="edges")
        return write(task, rows=out[g.rows()])
    t = o.transpose(block)
    dz, de, dr = zeros(z.shape), zeros(el.shape), zeros(er.shape)
    delta, dlogit = zeros(er.shape), zeros((g.nodes + g.edges, heads))
    layer.del_, layer.der, layer.delta, layer.dlogit = at(de), at(dr), at(delta), at(dlogit)
    o.lib.ggnn_block_transpose(c.byref(t), c.byref(block))  # once a graph, as the rivals keep theirs

    def both():
        forward()
        o.lib.ggnn_gat_back(
            at(dz),
            i64(width),
            c.byref(t),
            c.byref(layer),
            at(dout),
            i64(width),
        )

    task.measure(both, work=g.edges, unit="edges")
    rows = g.rows()
    write(task, rows=out[rows], dz=dz[rows], del_=de[rows], der=dr[rows])


def gather(task, width):
    g, o, width = task.graph, Ours(task), int(width)
    table, ids = gather_inputs(g, width, task.quick)
    out = zeros((len(ids), width))
    store, local = o.store(table), ids.astype(np.int32)
    task.measure(
        lambda: o.lib.ggnn_gather(at(out), i64(width), 0, c.byref(store), at(local), i64(len(ids))),
        work=len(ids),
        unit="rows",
    )
    write(task, rows=out[:512])


def gather_inputs(graph, width, quick):
    """512 MiB of rows (the graph's features where they are as wide), and 524,288 random ids."""
    own = graph.feat is not None and graph.feat.shape[1] == width and graph.feat.dtype == np.float32
    table = graph.feat if own else noise(((8 if quick else 512) * 2**20 // (4 * width), width), 7)
    return table, integers(1 << 12 if quick else 1 << 19, len(table), 8)


# ---- mini-batches --------------------------------------------------------------------------------


def sampler_of(task):
    g = task.graph
    return Sampler(load(task.args.library), g.indptr, g.indices, list(task.fanout), task.batch)


TURNS = 8


def sample(task):
    g = task.graph
    seeds = g.seeds(task.batch).astype(np.int32)
    samplers = [sampler_of(task) for _ in range(task.threads)]
    step, pool = [0], ThreadPoolExecutor(task.threads)

    def one(sampler, number):
        blocks, ids = sampler(seeds[number % len(seeds)], 1, number)
        return sum(len(b[1]) for b in blocks), len(ids)

    edges, sources = np.mean([one(samplers[0], i) for i in range(20)], axis=0)

    def several(sampler, first):
        for number in range(first, first + TURNS):
            sampler.sample(seeds[number % len(seeds)], 1, number)

    def together():  # a batch a thread, TURNS times: Python's part is small beside
        firsts = range(step[0], step[0] + task.threads * TURNS, TURNS)
        step[0] += task.threads * TURNS
        list(pool.map(several, samplers, firsts))

    task.measure(together, each=task.threads * TURNS)
    task.result.update(work=float(edges), unit="edges", workers=task.threads)
    write(task, edges=edges, sources=sources)


def first_block(task):
    """The input hop of the first batch, and all ids of the batch."""
    sampler = sampler_of(task)  # blocks and ids are views of its memory
    blocks, ids = sampler(task.graph.seeds(task.batch)[0], 1, 0)
    indptr, indices, sources = blocks[-1]
    return indptr.copy(), indices.copy(), int(sources), ids.astype(np.int64)


def input_hop(task):
    g, o = task.graph, Ours(task)
    indptr, indices, sources, ids = first_block(task)
    block, store = o.block(indptr, indices, sources, ids.astype(np.int32)), o.store(g.feat)
    width = g.feat.shape[1]
    out = zeros((len(indptr) - 1, width))
    task.measure(
        lambda: o.lib.ggnn_aggregate(
            at(out), i64(width), MEAN, c.byref(block), None, None, i32(1), c.byref(store)
        ),
        work=len(indices),
        unit="edges",
        cold=True,
    )
    write(task, rows=out[:512], indptr=indptr, indices=indices, sources=sources, ids=ids)


def mean_back(task, width):
    o, width = Ours(task), int(width)
    indptr, indices, sources, ids = first_block(task)
    block = o.block(indptr, indices, sources)
    t, dout, dx = (
        o.transpose(block),
        noise((len(indptr) - 1, width), 9),
        zeros((sources, width)),
    )
    degree = np.diff(indptr)
    inv = np.where(degree > 0, np.float32(1) / np.maximum(degree, 1).astype(np.float32), 0).astype(np.float32)
    scale = Scale(inv.ctypes.data, None, None)

    def run():
        o.lib.ggnn_block_transpose(c.byref(t), c.byref(block))
        o.spmm(dx, None, SUM, t, scale, None, dout)

    task.measure(run, work=len(indices), unit="edges", cold=True)
    write(task, rows=dx[:512], indptr=indptr, indices=indices, sources=sources, ids=ids)


def opening(task):
    """Map the file, lay the first batch's memory out, sample it, gather its rows."""

    def run():
        g, o = Graph(task.args.graph), Ours(task)
        sampler = Sampler(o.lib, g.indptr, g.indices, list(task.fanout), task.batch)
        _, ids = sampler(g.ids(1)[: task.batch], 1, 0)
        out = zeros((len(ids), g.feat.shape[1]))
        store = o.store(g.feat)
        o.lib.ggnn_gather(at(out), i64(out.shape[1]), 0, c.byref(store), at(ids), i64(len(ids)))

    task.measure(run)


CASES = {
    "spmm": spmm,
    "weighted": weighted,
    "max": largest,
    "sddmm": sddmm,
    "softmax": softmax,
    "gat": gat,
    "gather": gather,
    "sample": sample,
    "input-hop": input_hop,
    "mean-back": mean_back,
    "open": opening,
}

if __name__ == "__main__":
    sys.exit(rival_main("ggnn", {"numpy": np.__version__}, CASES))
