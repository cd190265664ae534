"""Graphs of one or several types of nodes and edges, and a sampler of their neighbours: PyG's meaning of a hop."""
import ctypes as c
import os
import threading

import numpy as np

from . import _c


class Sampled:
    """A mini-batch. By type of nodes: node (global ids), batch (the seed's number, where disjoint), num_nodes (per hop, the seeds
    first). By type of edges: row (sources), col (targets), both local, edge (positions in the graph's lists), num_edges (per hop)."""
    __slots__ = ("node", "batch", "num_nodes", "row", "col", "edge", "num_edges")


class Graph:
    """In-neighbour lists of each type of edges. Arrays are not copied: do not change them while the graph lives.

    num_nodes   {type of nodes: how many}
    lists       {(source type, name, target type): (indptr int64, indices int32 or int64)}; list v: sources of edges into node v
    weight      {type of edges: float32 per edge}; a sampler with weights never takes an edge of weight 0
    node_time   {type of nodes: int64 per node}; each list rises by its sources' times
    edge_time   {type of edges: int64 per edge}; rising in each list
    check       look at all lists and ids first; without it a sampler looks at those that it reads
    """

    def __init__(self, num_nodes, lists, weight=None, node_time=None, edge_time=None, check=True):
        self.types, self.relations = list(num_nodes), list(lists)
        self.num_nodes = {t: int(n) for t, n in num_nodes.items()}
        for t, n in self.num_nodes.items():
            if n < 0:
                raise ValueError(f"num_nodes of {t!r} is {n}")
        weight, node_time, edge_time = weight or {}, node_time or {}, edge_time or {}
        for what, given, known in (("weight", weight, lists), ("edge_time", edge_time, lists), ("node_time", node_time, num_nodes)):
            for key in given:
                if key not in known:
                    raise KeyError(f"{what}: the graph has no type {key!r}")
        self.weighted = bool(weight)
        self.timed = bool(node_time or edge_time)
        self._keep, ids = [], None
        self._relations = (_c.Relation * max(1, len(lists)))()
        for i, (key, (indptr, indices)) in enumerate(lists.items()):
            if not isinstance(key, tuple) or len(key) != 3 or key[0] not in num_nodes or key[2] not in num_nodes:
                raise KeyError(f"type of edges {key!r}: it is (source type, name, target type), both types in num_nodes")
            name = f"lists[{key!r}]"
            indptr = _c.array(indptr, np.int64, name + "[0]", self.num_nodes[key[2]] + 1)
            indices = _c.array(indices, (np.int32, np.int64), name + "[1]")
            if ids is not None and indices.dtype != ids:
                raise TypeError(f"{name}[1] is {indices.dtype}, another type of edges has {ids}")
            ids = indices.dtype
            w = _c.array(weight.get(key), np.float32, f"weight[{key!r}]", len(indices))
            t = _c.array(edge_time.get(key), np.int64, f"edge_time[{key!r}]", len(indices))
            self._keep.append((indptr, indices, w, t))
            self._relations[i] = _c.Relation(self.num_nodes[key[2]], self.num_nodes[key[0]], len(indices), _c.address(indptr), _c.address(indices),
                                             _c.address(w), _c.address(t), self.types.index(key[0]), self.types.index(key[2]))
        self.ids = ids or np.dtype(np.int64)
        self.lib = _c.LIBRARIES[self.ids]
        times = [_c.array(node_time.get(t), np.int64, f"node_time[{t!r}]", self.num_nodes[t]) for t in self.types]
        self._keep.append(times)
        self._node_time = (c.c_void_p * len(self.types))(*[_c.address(t) for t in times])
        self._num_nodes = np.array(list(self.num_nodes.values()), np.int64)
        if check:
            self.check()

    def check(self):
        """ValueError: a list falls, an id or a weight is out of range; it says which."""
        node, edge = c.c_int64(), c.c_int64()
        for i, key in enumerate(self.relations):
            status = self.lib.ggnn_py_check(c.byref(self._relations[i]), c.byref(node), c.byref(edge))
            if status:
                where = f"edge {edge.value} into node {node.value}" if edge.value >= 0 else f"indptr of node {node.value}"
                raise ValueError(f"{key!r}: {self.lib.ggnn_py_status(status).decode()}: {where}")


EDGES = ("node", "to", "node")


def from_edge_index(edge_index, num_nodes):
    """A graph of one type of nodes, "node", and of edges, EDGES, from (2, edges) sources and targets of int32 or int64; and the
    position in edge_index of each edge of its lists, which are in input order. IndexError: an edge names a node that there is not."""
    src, dst = (_c.array(row, (np.int32, np.int64), f"edge_index[{i}]") for i, row in enumerate(edge_index))
    if src.dtype != dst.dtype or len(src) != len(dst):
        raise ValueError(f"edge_index: {len(src)} sources of {src.dtype}, {len(dst)} targets of {dst.dtype}")
    indptr, indices, position, edge = np.empty(num_nodes + 1, np.int64), np.empty(len(src), src.dtype), np.empty(len(src), np.int64), c.c_int64()
    status = _c.LIBRARIES[src.dtype].ggnn_py_from_coo(*map(_c.address, (indptr, indices, position, src, dst)), num_nodes, len(src), c.byref(edge))
    if status:
        raise IndexError(f"edge {edge.value}, {src[edge.value]} -> {dst[edge.value]}: nodes are in [0, {num_nodes})")
    return Graph({"node": num_nodes}, {EDGES: (indptr, indices)}, check=False), position


class Sampler:
    """Samples mini-batches of a graph. Any number of threads may call it at once; each call that runs has memory of its own.

    method      fisher-yates, path-doubling, rejection, reservoir: uniform without replacement; weighted; replacement
    disjoint    each seed has a subgraph of its own; graphs with times need it
    latest      of a list with times the last ones, not any of those in time
    hop         whose neighbours it samples: "new", of what the hop before found, as PyG: a batch is one graph; "all", of all that were
                found, as DGL: each hop is a layer of its own
    """

    def __init__(self, graph, method="fisher-yates", disjoint=False, latest=False, hop="new"):
        if method not in _c.METHODS:
            raise ValueError(f"method {method!r}: one of {', '.join(_c.METHODS)}")
        if method == "weighted" and graph.timed:
            raise ValueError("weights do not go with times")
        if graph.timed and not disjoint:
            raise ValueError("times need disjoint=True")
        if hop not in ("new", "all"):
            raise ValueError(f"hop {hop!r}: 'new' or 'all'")
        self.graph, self.method, self.disjoint, self.latest, self.hop = graph, method, bool(disjoint), bool(latest), hop
        self._free, self._all, self._lock, self._process = [], [], threading.Lock(), os.getpid()

    def __del__(self):
        for handle in getattr(self, "_all", ()):
            self.graph.lib.ggnn_py_sampler_free(handle)

    def _take(self):
        if self._process != os.getpid():  # a child: another thread may have had the lock
            self._lock, self._process = threading.Lock(), os.getpid()
        with self._lock:
            if self._free:
                return self._free.pop()
        g = self.graph
        handle = g.lib.ggnn_py_sampler_new(len(g.types), g._num_nodes.ctypes.data, c.cast(g._node_time, c.c_void_p), len(g.relations),
                                           c.cast(g._relations, c.c_void_p), _c.METHODS[self.method], self.disjoint, self.latest, self.hop == "all")
        if not handle:
            raise MemoryError("no memory for a sampler")
        with self._lock:
            self._all.append(handle)
        return handle

    def __call__(self, seeds, fanouts, seed=0, step=0, time=None):
        """seeds    {type of nodes: ids}, each once, or disjoint
        fanouts  {type of edges: [of the first hop, ...]}, of equal length; -1: all. Types that are left out are not sampled
        seed, step   key all draws: the same give the same batch, in any thread
        time     {type of nodes: int64 per seed}: the latest time that it may see; else its own, of node_time
        """
        g = self.graph
        hops = {len(f) for f in fanouts.values()}
        if len(hops) > 1:
            raise ValueError(f"fanouts have {sorted(hops)} hops: one number for all types of edges")
        hops = hops.pop() if hops else 0
        for key in fanouts:
            if key not in g.relations:
                raise KeyError(f"fanouts: the graph has no edges {key!r}")
        table = np.zeros((hops, max(1, len(g.relations))), np.int32)
        for i, key in enumerate(g.relations):
            if key in fanouts:
                table[:, i] = fanouts[key]
        table = np.ascontiguousarray(table[:, :len(g.relations)]) if g.relations else np.zeros(1, np.int32)
        given, times, count = [None] * len(g.types), [None] * len(g.types), np.zeros(len(g.types), np.int64)
        for t, ids in seeds.items():
            if t not in g.num_nodes:
                raise KeyError(f"seeds: the graph has no nodes {t!r}")
            i = g.types.index(t)
            given[i] = _c.array(ids, g.ids, f"seeds[{t!r}]")
            count[i] = len(given[i])
            if time is not None and t not in time:
                raise KeyError(f"time: none for the seeds of type {t!r}")
            if time is not None:
                times[i] = _c.array(time[t], np.int64, f"time[{t!r}]", len(given[i]))
        nodes = np.zeros((hops + 1, len(g.types)), np.int64)
        edges = np.zeros((hops + 1, max(1, len(g.relations))), np.int64).reshape(-1)[:(hops + 1) * len(g.relations)].reshape(hops + 1, len(g.relations))
        pointers = c.c_void_p * len(g.types)
        handle = self._take()
        try:
            status = g.lib.ggnn_py_sample(handle, seed & 0xFFFFFFFFFFFFFFFF, step & 0xFFFFFFFF, hops, table.ctypes.data, count.ctypes.data,
                                          pointers(*map(_c.address, given)), None if time is None else pointers(*map(_c.address, times)),
                                          nodes.ctypes.data, edges.ctypes.data)
            if status:
                text = g.lib.ggnn_py_message(handle).decode()
                raise (MemoryError if status == 6 else IndexError if status == 2 else ValueError)(text)
            return self._read(handle, nodes, edges)
        finally:
            with self._lock:
                self._free.append(handle)

    def _read(self, handle, nodes, edges):
        g, out = self.graph, Sampled()
        out.node, out.batch, out.num_nodes = {}, {} if self.disjoint else None, {}
        out.row, out.col, out.edge, out.num_edges = {}, {}, {}, {}
        for i, t in enumerate(g.types):
            n = int(nodes[-1, i])
            out.node[t] = _c.empty(n, g.ids)
            if self.disjoint:
                out.batch[t] = _c.empty(n, np.int64)
            out.num_nodes[t] = [int(x) for x in np.diff(nodes[:, i], prepend=0)]
            g.lib.ggnn_py_nodes(handle, i, out.node[t].ctypes.data, out.batch[t].ctypes.data if self.disjoint else None)
        for i, key in enumerate(g.relations):
            n = int(edges[-1, i])
            out.row[key], out.col[key], out.edge[key] = _c.empty(n, g.ids), _c.empty(n, g.ids), _c.empty(n, np.int64)
            out.num_edges[key] = [int(x) for x in np.diff(edges[:, i])]
            g.lib.ggnn_py_edges(handle, i, out.row[key].ctypes.data, out.col[key].ctypes.data, out.edge[key].ctypes.data)
        return out
