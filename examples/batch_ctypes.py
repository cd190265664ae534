"""batch_ctypes.py - a graph in NumPy arrays in, sampled blocks out, through ctypes and without a copy.

    cc -shared -fPIC -O2 -DGGNN_IMPLEMENTATION -x c ../ggnn.h -o libggnn.so -lm
    python3 batch_ctypes.py ./libggnn.so

Works on any CSC whose arrays are contiguous: NumPy's, SciPy's, a torch tensor's .numpy(). Needs NumPy.
"""
import ctypes as c
import sys

import numpy as np


class Count(c.Structure):
    _fields_ = [("n", c.POINTER(c.c_int64)), ("max", c.c_int64)]


class Layout(c.Structure):
    _fields_ = [("cache_row", c.c_void_p), ("cached", c.c_int64), ("rank", c.c_void_p), ("bound", c.c_void_p),
                ("stored", c.c_int64), ("parts", c.c_int32)]


class Csc(c.Structure):
    _fields_ = [("indptr", c.c_void_p), ("first", c.c_void_p), ("indices", c.c_void_p), ("weight", c.c_void_p), ("num_edges", c.c_int64)]


class Graph(c.Structure):
    _fields_ = [("num_nodes", c.c_int64), ("num_edges", c.c_int64), ("whole", Csc), ("part", c.c_void_p), ("at", Layout),
                ("traffic", c.c_void_p)]


class Walks(c.Structure):
    _fields_ = [("walks", c.c_int32), ("length", c.c_int32), ("restart", c.c_float)]


class Sampling(c.Structure):
    _fields_ = [("method", c.c_int), ("num_hops", c.c_int32), ("fanout", c.c_int32 * 8), ("last_hop_global", c.c_int32),
                ("keep", c.c_int32), ("walk", Walks), ("first_hop", c.c_int32), ("max_src", c.c_int64 * 8),
                ("max_edges", c.c_int64 * 8)]


class Rng(c.Structure):
    _fields_ = [("seed", c.c_uint64), ("step", c.c_uint32), ("purpose", c.c_uint32)]


class Block(c.Structure):
    _fields_ = [("num_dst", Count), ("num_src", Count), ("num_edges", Count), ("id", c.c_void_p), ("indptr", c.POINTER(c.c_int64)),
                ("indices", c.POINTER(c.c_int32)), ("neighbor", c.c_void_p), ("position", c.c_void_p), ("weight", c.c_void_p),
                ("repeats", c.c_void_p), ("edge", c.c_void_p), ("bipartite", c.c_int32)]


class Fault(c.Structure):
    _fields_ = [("what", c.c_char_p), ("node", c.c_int64), ("edge", c.c_int64), ("hop", c.c_int32)]


class Batch(c.Structure):
    _fields_ = [("how", Sampling), ("num_nodes", c.c_int64), ("num_edges", c.c_int64), ("bytes", c.c_size_t), ("max_ids", c.c_int64),
                ("id", c.POINTER(c.c_int32)), ("seed_local", c.POINTER(c.c_int32)), ("num_seeds", Count), ("num_hops", c.c_int32),
                ("hop", Block * 8), ("back", Block * 8), ("shared", c.c_void_p), ("seen", c.c_void_p),
                ("workspace", c.c_void_p), ("status", c.c_void_p), ("fault", Fault)]


class Sampler:
    """Samples mini-batches of a CSC graph: indptr int64 (N + 1), indices int32 (E), both used in place."""

    def __init__(self, lib, indptr, indices, fanout, max_seeds, method=0):
        self.lib, self.keep = lib, (indptr, indices)
        nodes, edges = len(indptr) - 1, len(indices)
        lists = Csc(indptr.ctypes.data, None, indices.ctypes.data, None, edges)
        self.graph = Graph(nodes, edges, lists, None, Layout(None, 0, None, None, nodes, 1), None)
        how = Sampling(method, len(fanout), (c.c_int32 * 8)(*fanout))
        self.batch = Batch()
        if lib.ggnn_batch_plan(c.byref(self.batch), c.byref(self.graph), c.byref(how), c.c_int64(max_seeds), None):
            raise ValueError(self.batch.fault.what.decode())
        self.memory = self.aligned(self.batch.bytes)
        self.check(lib.ggnn_batch_init(c.byref(self.batch), c.c_void_p(self.memory.ctypes.data)))

    @staticmethod
    def aligned(bytes_):
        raw = np.empty(bytes_ + 64, np.uint8)
        return raw[-raw.ctypes.data % 64:][:bytes_]

    def check(self, status):
        if status:
            raise ValueError(f"{self.lib.ggnn_status_string(status).decode()} (node {self.batch.fault.node})")

    def sample(self, seeds, seed, step):
        """One mini-batch, into self.batch. Other threads run meanwhile, with Samplers of their own."""
        seeds = np.ascontiguousarray(seeds, np.int32)
        self.check(self.lib.ggnn_sample(c.byref(self.batch), c.byref(self.graph), c.byref(Rng(seed, step, 0)),
                                        c.c_void_p(seeds.ctypes.data), c.c_int64(len(seeds))))

    def __call__(self, seeds, seed, step):
        """Blocks from the seeds outward as (indptr, indices, num_src), and the global ids: views, valid until the next call."""
        self.sample(seeds, seed, step)
        view = lambda pointer, n: np.ctypeslib.as_array(pointer, (n,)) if n else np.empty(0, np.int32)
        blocks = []
        for hop in self.batch.hop[:self.batch.num_hops]:
            dst, src, edges = hop.num_dst.n[0], hop.num_src.n[0], hop.num_edges.n[0]
            blocks.append((view(hop.indptr, dst + 1), view(hop.indices, edges), src))
        return blocks, view(self.batch.id, blocks[-1][2])


def load(path):
    lib = c.CDLL(path)
    lib.ggnn_status_string.restype = c.c_char_p
    return lib


if __name__ == "__main__":
    nodes = 1000
    generator = np.random.default_rng(1)
    indptr = np.concatenate([[0], np.cumsum(generator.integers(0, 20, nodes))]).astype(np.int64)
    indices = generator.integers(0, nodes, indptr[-1]).astype(np.int32)
    sampler = Sampler(load(sys.argv[1] if len(sys.argv) > 1 else "./libggnn.so"), indptr, indices, fanout=[5, 3], max_seeds=64)
    blocks, ids = sampler(np.arange(64), seed=1, step=0)
    for hop, (row, column, sources) in enumerate(blocks):
        print(f"hop {hop}: {len(row) - 1} targets, {sources} sources, {len(column)} edges")
        for v in range(len(row) - 1):
            assert set(ids[column[row[v]:row[v + 1]]]) <= set(indices[indptr[ids[v]]:indptr[ids[v] + 1]])
    print("every sampled neighbour is one")
