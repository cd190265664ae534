"""PyG's samplers and loaders over ggnn.h, with PyG's signatures and the meaning of its batches.

NeighborSampler     for NeighborLoader(data, ..., neighbor_sampler=NeighborSampler(data, ...)): PyG's own loader
NeighborLoader, LinkNeighborLoader     in place of PyG's: num_workers are threads, and a batch depends on (seed, epoch, step) alone
install()           PyG's own classes sample by ggnn.h from then on: scripts stay as they are
"""
import contextlib
import copy
import importlib.machinery
import itertools
import sys
import threading
import types
import warnings
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from . import rows
from .sampler import Graph, Sampler

_MIX = 0x9E3779B97F4A7C15


def _numpy(t):
    return None if t is None else t.detach().cpu().contiguous().numpy()


def _state(t):
    """What changes where a tensor is another one, or has other values."""
    return t.data_ptr(), t.numel(), t.stride(), t.dtype, 0 if t.is_inference() else t._version


# What PyG writes into a batch itself.
_OF_BATCHES = {"num_nodes", "n_id", "e_id", "batch", "batch_size", "input_id", "seed_time", "num_sampled_nodes", "num_sampled_edges", "edge_label",
               "edge_label_index", "edge_label_time", "src_index", "dst_pos_index", "dst_neg_index"}


class _Keys(threading.local):
    """(seed, step) of the batch that this thread samples, and a generator for its negatives; None: by torch's own random numbers."""
    at = generator = None


_keys = _Keys()


def _key():
    return _keys.at if _keys.at is not None else (int(torch.randint(2 ** 62, ())), 0)


def _method(replace, weight, timed):
    if weight is not None and replace:
        raise NotImplementedError("weights with replacement are not sampled: replace=False, or no weights")
    if weight is not None and timed:
        raise NotImplementedError("weights do not go with times: no weights, or no times")
    return "weighted" if weight is not None else "replacement" if replace else "fisher-yates"


def _time(t, name):
    """Times as whole numbers: a float would be cut, and what is later than its seed be taken."""
    a = _numpy(t)
    if a.ndim != 1 or a.dtype.kind not in "iu":
        raise TypeError(f"{name} is {a.dtype} of {a.ndim} dimensions: times are whole numbers, one each, in seconds or microseconds for example")
    return np.ascontiguousarray(a, np.int64)


def _weight(t, key):
    a = _numpy(t.float() if t.dtype is torch.bfloat16 else t)  # which NumPy has not
    if a.ndim != 1:
        raise ValueError(f"weights of {key!r} have {a.ndim} dimensions, not one")
    w = np.ascontiguousarray(a, np.float32)
    if ((w == 0) & (a > 0)).any() or (np.isinf(w) & ~np.isinf(a)).any():
        raise ValueError(f"weights of {key!r} do not fit float32: scale them")
    return w


def _sampler(num_nodes, lists, weight, node_time, edge_time, replace, disjoint, last):
    """A Sampler of torch's or NumPy's arrays by type; ids of 64 bits where types differ, or where subgraphs times nodes need them."""
    lists = {key: (_numpy(colptr), _numpy(row)) for key, (colptr, row) in lists.items()}
    wide = disjoint or len({row.dtype for _, row in lists.values()}) != 1
    lists = {key: (colptr.astype(np.int64, copy=False), row.astype(np.int64, copy=False) if wide else row) for key, (colptr, row) in lists.items()}
    graph = Graph(num_nodes, lists, {k: _weight(v, k) for k, v in (weight or {}).items() if v is not None},
                  *({k: _time(v, f"time of {k!r}") for k, v in (by or {}).items() if v is not None} for by in (node_time, edge_time)), check=False)
    return Sampler(graph, _method(replace, weight or None, graph.timed), disjoint or graph.timed, last)


def _run(sampler, seeds, fanouts, time):
    ids = sampler.graph.ids
    seed, step = _key()
    return sampler({t: _numpy(s).astype(ids, copy=False) for t, s in seeds.items()}, fanouts, seed, step,
                   None if time is None else {t: _time(x, "the seeds' time") for t, x in time.items()})


def _without(row, col, edge, per_hop, node_src, node_dst, pairs):
    """The edges that are not among pairs of global ids, and how many of each hop are left."""
    n = max([int(node_src.max()) + 1 if node_src.numel() else 1] + [int(p[0].max()) + 1 for p in pairs if p[0].numel()])
    code = node_dst.long()[col] * n + node_src.long()[row]
    hidden = torch.cat([v.long() * n + u.long() for u, v in pairs])
    keep = ~torch.isin(code, hidden)
    left = [int(k.sum()) for k in keep.split(per_hop)]
    return row[keep], col[keep], edge[keep], left


def _exclude(out, targets, reverse):
    """Takes the positive examples out of a sampled subgraph, from all relations between their types; reverse: their reverse edges too."""
    u, v, kind = targets.row, targets.col, targets.input_type
    if kind is None:
        pairs = [(u, v), (v, u)] if reverse else [(u, v)]
        out.row, out.col, out.edge, out.num_sampled_edges = _without(out.row, out.col, out.edge, out.num_sampled_edges, out.node, out.node, pairs)
        return
    for e in out.row:
        pairs = ([(u, v)] if e == kind else []) + ([(v, u)] if reverse and (e[0], e[2]) == (kind[2], kind[0]) else [])
        if pairs:
            out.row[e], out.col[e], out.edge[e], out.num_sampled_edges[e] = _without(
                out.row[e], out.col[e], out.edge[e], out.num_sampled_edges[e], out.node[e[0]], out.node[e[2]], pairs)


# ---- PyG's sampler -----------------------------------------------------------------

@contextlib.contextmanager
def _as_if_installed():
    """PyG's constructor refuses weights and edge times without pyg-lib, and warns of all else."""
    import torch_geometric.typing as t
    names = ("WITH_PYG_LIB", "WITH_EDGE_TIME_NEIGHBOR_SAMPLE", "WITH_WEIGHTED_NEIGHBOR_SAMPLE")
    with _lock:
        before = {name: getattr(t, name, False) for name in names}
        try:
            for name in names:
                setattr(t, name, True)
            yield
        finally:
            for name, value in before.items():
                setattr(t, name, value)


_lock = threading.RLock()


def _classes():
    from torch_geometric import loader, sampler
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.sampler import HeteroSamplerOutput, NegativeSampling, SamplerOutput

    class NeighborSampler(sampler.NeighborSampler):
        """PyG's NeighborSampler, which draws by ggnn.h: its arguments, and all that it does, but subgraph_type='induced'."""

        def __init__(self, data, num_neighbors, subgraph_type="directional", *args, **kwargs):
            if str(getattr(subgraph_type, "value", subgraph_type)) == "induced" or kwargs.get("directed") is False:
                raise NotImplementedError("subgraph_type='induced' is not sampled: 'directional' or 'bidirectional'")
            with _as_if_installed():
                super().__init__(data, num_neighbors, subgraph_type, *args, **kwargs)
            self._made = None
            self._make()

        def _make(self):
            """The Sampler, made again where one of these was changed after the constructor."""
            what = (self.replace, self.disjoint, self.temporal_strategy)
            if self._made and self._made[0] == what:
                return self._made[1]
            if self.temporal_strategy not in ("uniform", "last"):
                raise ValueError(f"temporal_strategy {self.temporal_strategy!r}: 'uniform' or 'last'")
            if self.is_hetero:
                for t, n in self.num_nodes.items():
                    if n is None:
                        raise ValueError(f"nodes of type {t!r} have no number: give them features, or num_nodes")
                num_nodes = {t: int(n) for t, n in self.num_nodes.items()}
                rel = self.to_rel_type
                lists = {e: (self.colptr_dict[r], self.row_dict[r]) for e, r in rel.items()}
                by_rel = lambda d: None if d is None else {e: d[r] for e, r in rel.items() if r in d}
                args = num_nodes, lists, by_rel(self.edge_weight), self.node_time, by_rel(self.edge_time)
            else:
                one = lambda key, x: None if x is None else {key: x}
                args = ({None: max(int(self.num_nodes), len(self.colptr) - 1)}, {(None, None, None): (self.colptr, self.row)},
                        one((None, None, None), self.edge_weight), one(None, self.node_time), one((None, None, None), self.edge_time))
            made = _sampler(*args, self.replace, self.disjoint, self.temporal_strategy == "last")
            self._made = what, made
            return made

        def __getstate__(self):
            return {**self.__dict__, "_made": None}

        def _sample(self, seed, seed_time=None, **kwargs):
            made = self._make()
            t, backward = torch.from_numpy, getattr(self, "sample_direction", "forward") == "backward"
            if not isinstance(seed, dict):
                key = (None, None, None)
                out = _run(made, {None: seed}, {key: list(self.num_neighbors.get_mapped_values())}, None if seed_time is None else {None: seed_time})
                row, col = t(out.row[key]), t(out.col[key])
                return SamplerOutput(t(out.node[None]), *((col, row) if backward else (row, col)), t(out.edge[key]),
                                     None if out.batch is None else t(out.batch[None]), num_sampled_nodes=out.num_nodes[None],
                                     num_sampled_edges=out.num_edges[key])
            fanouts = {self.to_edge_type[r]: list(f) for r, f in self.num_neighbors.get_mapped_values(self.edge_types).items()}
            out = _run(made, seed, fanouts, seed_time)
            back = getattr(self, "to_restored_edge_type", None) or {e: e for e in self.edge_types}
            each = lambda by: {back[e]: t(a) for e, a in by.items()}
            row, col = each(out.row), each(out.col)
            return HeteroSamplerOutput({k: t(a) for k, a in out.node.items()}, *((col, row) if backward else (row, col)), each(out.edge),
                                       None if out.batch is None else {k: t(a) for k, a in out.batch.items()}, num_sampled_nodes=out.num_nodes,
                                       num_sampled_edges={back[e]: n for e, n in out.num_edges.items()})

    class Threads:
        """A loader's __iter__ by threads: batches in order, prefetch_factor for each thread on their way. An epoch's batches are
        keyed by (seed, epoch, step), so that their number changes none."""

        def _begin(self, kwargs):
            self._threads = int(kwargs.pop("num_workers", 0) or 0)
            self._ahead = int(kwargs.pop("prefetch_factor", None) or 2)
            for name in ("persistent_workers", "multiprocessing_context", "timeout", "worker_init_fn"):  # of processes
                if kwargs.pop(name, None) and name in ("timeout", "worker_init_fn"):
                    warnings.warn(f"{name} has no effect: num_workers are threads of this process", stacklevel=3)
            seed = kwargs.pop("seed", None)
            self._seed, self._epoch, self._light = int(torch.randint(2 ** 62, ())) if seed is None else int(seed), 0, None
            if kwargs.get("batch_size", 1) is None:
                raise ValueError("batch_size=None: a batch has a number of seeds")
            if seed is not None and kwargs.get("shuffle") and kwargs.get("generator") is None:
                kwargs["generator"] = torch.Generator().manual_seed(self._seed & (2 ** 63 - 1))
            return kwargs

        def set_epoch(self, epoch):
            """The next pass over the loader is this epoch; without it, passes count from 0."""
            self._epoch = int(epoch)

        def _lean(self):
            """This loader without the rows that ggnn_gather copies; these, as (type of nodes, name, rows); and the types that it lent a number
            of nodes, which those rows would have told."""
            if self._light is None:
                lean, heavy, lent = copy.copy(self), [], []
                lean.transform = lean.transform_sampler_output = None
                if isinstance(self.data, (Data, HeteroData)):
                    lean.data = copy.copy(self.data)
                    for store in self.data.node_stores:
                        kind, num_nodes = getattr(store, "_key", None), store.num_nodes
                        left = lean.data if kind is None else lean.data[kind]
                        for name, value in list(store.items()):
                            if name not in _OF_BATCHES and store.is_node_attr(name) and rows.can(value) and self.data.__cat_dim__(name, value, store) == 0:
                                heavy.append((kind, name, value))
                                del left[name]
                        if "num_nodes" not in store:
                            left.num_nodes = num_nodes
                            lent.append(kind)
                self._light = lean, heavy, lent
            return self._light

        def __call__(self, index):
            self._light = None
            return super().__call__(index)

        def filter_fn(self, out):
            lean, heavy, lent = self._lean()
            out = out if self.transform_sampler_output is None else self.transform_sampler_output(out)
            batch = super(Threads, lean).filter_fn(out)
            for kind, name, value in heavy:
                node = out.node if kind is None else out.node[kind]
                copied = rows.gather(value, node)
                (batch if kind is None else batch[kind])[name] = torch.from_numpy(copied) if isinstance(copied, np.ndarray) else copied
            for kind in lent:
                del (batch if kind is None else batch[kind])["num_nodes"]
            return batch if self.transform is None else self.transform(batch)

        def _batch(self, key, index):
            _keys.at = key
            _keys.generator = torch.Generator().manual_seed((key[0] + _MIX * (key[1] + 1)) & (2 ** 63 - 1))
            try:
                out = self.collate_fn(index)
                out = out if self.filter_per_worker else self.filter_fn(out)
                return out.pin_memory() if self.pin_memory and torch.cuda.is_available() else out
            finally:
                _keys.at = _keys.generator = None

        def __iter__(self):
            seed = (self._seed + _MIX * self._epoch) & 0xFFFFFFFFFFFFFFFF
            self._epoch += 1
            self._light = None  # the data may have changed since
            self._lean()
            work = (((seed, step), index) for step, index in enumerate(self.batch_sampler))
            if self._threads == 0:
                for key, index in work:
                    yield self._batch(key, index)
                return
            pool, under_way = ThreadPoolExecutor(self._threads, "libggnn"), deque()
            try:
                for key, index in itertools.islice(work, self._threads * self._ahead):
                    under_way.append(pool.submit(self._batch, key, index))
                while under_way:
                    out = under_way.popleft().result()
                    for key, index in itertools.islice(work, 1):
                        under_way.append(pool.submit(self._batch, key, index))
                    yield out
            finally: # also where the loop over the loader is left early
                for future in under_way:
                    future.cancel()
                pool.shutdown(wait=True)

    class Negatives(NegativeSampling):
        """PyG's NegativeSampling, whose draws belong to the batch: any number of threads draws the same ones."""

        def sample(self, num_samples, endpoint, num_nodes=None):
            weight = self.src_weight if endpoint == "src" else self.dst_weight
            if weight is not None and num_nodes is not None and weight.numel() != num_nodes:
                raise ValueError(f"neg_sampling has {weight.numel()} weights for {num_nodes} nodes")
            if weight is None:
                return torch.randint(num_nodes, (num_samples,), generator=_keys.generator)
            return torch.multinomial(weight, num_samples, replacement=True, generator=_keys.generator)

    class NeighborLoader(Threads, loader.NeighborLoader):
        """PyG's NeighborLoader, and seed=: num_workers are threads of this process."""

        def __init__(self, data, num_neighbors, input_nodes=None, input_time=None, replace=False, subgraph_type="directional", disjoint=False,
                     temporal_strategy="uniform", time_attr=None, weight_attr=None, transform=None, transform_sampler_output=None,
                     is_sorted=False, filter_per_worker=None, neighbor_sampler=None, directed=True, **kwargs):
            kwargs = self._begin(kwargs)
            if input_time is not None and time_attr is None:
                raise ValueError("input_time without time_attr")
            if neighbor_sampler is None:
                neighbor_sampler = NeighborSampler(data, num_neighbors, subgraph_type, replace, disjoint, temporal_strategy, time_attr,
                                                   weight_attr, is_sorted, **({} if directed else {"directed": False}))
            super().__init__(data, num_neighbors, input_nodes, input_time, transform=transform,
                             transform_sampler_output=transform_sampler_output, time_attr=time_attr, filter_per_worker=filter_per_worker,
                             neighbor_sampler=neighbor_sampler, **kwargs)
            self.num_workers = self._threads

    class LinkNeighborLoader(Threads, loader.LinkNeighborLoader):
        """PyG's LinkNeighborLoader, seed=, and exclude=: which edges of a batch may not be in its subgraph. None, as PyG; 'self': those
        that are its positive examples; 'reverse': these, and their reverse edges too."""

        def __init__(self, data, num_neighbors, edge_label_index=None, edge_label=None, edge_label_time=None, replace=False,
                     subgraph_type="directional", disjoint=False, temporal_strategy="uniform", neg_sampling=None, neg_sampling_ratio=None,
                     time_attr=None, weight_attr=None, transform=None, transform_sampler_output=None, is_sorted=False,
                     filter_per_worker=None, neighbor_sampler=None, directed=True, exclude=None, **kwargs):
            kwargs = self._begin(kwargs)
            if exclude not in (None, "self", "reverse"):
                raise ValueError(f"exclude={exclude!r}: None, 'self' or 'reverse'")
            self._exclude = exclude
            if neighbor_sampler is None:
                neighbor_sampler = NeighborSampler(data, num_neighbors, subgraph_type, replace, disjoint, temporal_strategy, time_attr,
                                                   weight_attr, is_sorted, **({} if directed else {"directed": False}))
            if exclude and str(getattr(neighbor_sampler.subgraph_type, "value", neighbor_sampler.subgraph_type)) == "bidirectional":
                raise NotImplementedError("exclude does not go with bidirectional subgraphs")
            super().__init__(data, num_neighbors, edge_label_index, edge_label, edge_label_time, neg_sampling=neg_sampling,
                             neg_sampling_ratio=neg_sampling_ratio, time_attr=time_attr, transform=transform,
                             transform_sampler_output=transform_sampler_output, filter_per_worker=filter_per_worker,
                             neighbor_sampler=neighbor_sampler, **kwargs)
            self.num_workers = self._threads

            if self.neg_sampling is not None:
                self.neg_sampling = copy.copy(self.neg_sampling)
                self.neg_sampling.__class__ = Negatives

        def collate_fn(self, index):
            if self._exclude is None:
                return super().collate_fn(index)
            targets = self.input_data[index]
            out = self.link_sampler.sample_from_edges(targets, neg_sampling=self.neg_sampling)
            _exclude(out, targets, self._exclude == "reverse")
            return self.filter_fn(out) if self.filter_per_worker else out

    return NeighborSampler, NeighborLoader, LinkNeighborLoader


def __getattr__(name):
    if name in ("NeighborSampler", "NeighborLoader", "LinkNeighborLoader"):
        made = dict(zip(("NeighborSampler", "NeighborLoader", "LinkNeighborLoader"), _classes()))
        for key, value in made.items():
            value.__qualname__, value.__module__ = key, __name__
        globals().update(made)
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---- under PyG's own classes ---------------------------------------------------------

_SCHEMAS = (
    "neighbor_sample(Tensor rowptr, Tensor col, Tensor seed, int[] num_neighbors, Tensor? node_time=None, Tensor? edge_time=None, "
    "Tensor? seed_time=None, Tensor? edge_weight=None, bool csc=False, bool replace=False, bool directed=True, bool disjoint=False, "
    "str temporal_strategy='uniform', bool return_edge_id=True) -> (Tensor, Tensor, Tensor, Tensor?, int[], int[])",
    "hetero_neighbor_sample(str[] node_types, (str, str, str)[] edge_types, Dict(str, Tensor) rowptr_dict, Dict(str, Tensor) col_dict, "
    "Dict(str, Tensor) seed_dict, Dict(str, int[]) num_neighbors_dict, Dict(str, Tensor)? node_time_dict=None, Dict(str, Tensor)? "
    "edge_time_dict=None, Dict(str, Tensor)? seed_time_dict=None, Dict(str, Tensor)? edge_weight_dict=None, bool csc=False, bool "
    "replace=False, bool directed=True, bool disjoint=False, str temporal_strategy='uniform', bool return_edge_id=True) -> (Dict(str, "
    "Tensor), Dict(str, Tensor), Dict(str, Tensor), Dict(str, Tensor)?, Dict(str, int[]), Dict(str, int[]))")
PYG_LIB = "0.8.0"  # whose operators these are
_installed, _samplers, _same_objects = None, {}, True


def _cached(tensors, rest, make, again=False):
    """A Sampler for these tensors, which PyG passes for each batch. It is kept while they live; by a torch that hands an operator other
    objects each time, while it is one of the last 8."""
    key = tuple(map(_state, tensors)) + rest
    with _lock:
        found = None if again else _samplers.get(key)
        if found is None:
            while len(_samplers) >= 8:
                _samplers.pop(next(iter(_samplers)), None)
            kept = [weakref.ref(t, lambda _: _samplers.pop(key, None)) for t in tensors] if _same_objects else tensors
            found = _samplers[key] = make(), kept
        return found[0]


def neighbor_sample(rowptr, col, seed, num_neighbors, node_time=None, edge_time=None, seed_time=None, edge_weight=None, csc=False, replace=False,
                    directed=True, disjoint=False, temporal_strategy="uniform", return_edge_id=True):
    """pyg-lib's operator of this name."""
    if not directed:
        raise NotImplementedError("induced subgraphs are not sampled")
    key, one = (None, None, None), lambda k, t: None if t is None else {k: t}
    given = [t for t in (rowptr, col, node_time, edge_time, edge_weight) if t is not None]
    sampler = _cached(given, (node_time is None, edge_time is None, edge_weight is None, replace, disjoint, temporal_strategy), lambda: _sampler(
        {None: rowptr.numel() - 1}, {key: (rowptr, col)}, one(key, edge_weight), one(None, node_time), one(key, edge_time), replace, disjoint,
        temporal_strategy == "last"))
    out = _run(sampler, {None: seed}, {key: list(num_neighbors)}, one(None, seed_time))
    t = lambda a: torch.from_numpy(a).to(col.dtype)
    row, target, node = t(out.row[key]), t(out.col[key]), t(out.node[None])
    if out.batch is not None:
        node = torch.stack([t(out.batch[None]), node], 1)
    return (row, target, node, t(out.edge[key]), out.num_nodes[None], out.num_edges[key]) if csc else (
        target, row, node, t(out.edge[key]), out.num_nodes[None], out.num_edges[key])


def hetero_neighbor_sample(node_types, edge_types, rowptr_dict, col_dict, seed_dict, num_neighbors_dict, node_time_dict=None, edge_time_dict=None,
                           seed_time_dict=None, edge_weight_dict=None, csc=False, replace=False, directed=True, disjoint=False,
                           temporal_strategy="uniform", return_edge_id=True):
    """pyg-lib's operator of this name."""
    if not csc or not directed:
        raise NotImplementedError("heterogeneous sampling is over CSC, and not induced")
    rel = {tuple(e): "__".join(e) for e in edge_types}

    most = lambda ids: int(ids.max()) + 1 if ids.numel() else 0

    def make():
        num_nodes = {t: len(node_time_dict[t]) if node_time_dict and t in node_time_dict else 0 for t in node_types}
        for e, r in rel.items():
            num_nodes[e[2]] = max(num_nodes[e[2]], rowptr_dict[r].numel() - 1)
            num_nodes[e[0]] = max(num_nodes[e[0]], most(col_dict[r]))
        for k, ids in seed_dict.items():
            num_nodes[k] = max(num_nodes[k], most(ids))
        lists = {}
        for e, r in rel.items():  # all relations into a type have as many lists
            ptr = rowptr_dict[r]
            lists[e] = torch.cat([ptr, ptr[-1:].expand(num_nodes[e[2]] + 1 - ptr.numel())]), col_dict[r]
        by = lambda d: None if d is None else {e: d[r] for e, r in rel.items() if r in d}
        return _sampler(num_nodes, lists, by(edge_weight_dict), node_time_dict, by(edge_time_dict), replace, disjoint,
                        temporal_strategy == "last")

    given = [t for d in (rowptr_dict, col_dict, node_time_dict, edge_time_dict, edge_weight_dict) if d is not None for t in d.values()]
    names = tuple(tuple(d) if d is not None else None for d in (rowptr_dict, node_time_dict, edge_time_dict, edge_weight_dict))
    rest = (tuple(node_types), tuple(rel), names, replace, disjoint, temporal_strategy)
    sampler = _cached(given, rest, make)
    if any(most(ids) > sampler.graph.num_nodes[k] for k, ids in seed_dict.items()):  # of a type that no edge has told the size of
        sampler = _cached(given, rest, make, again=True)
    out = _run(sampler, seed_dict, {e: list(num_neighbors_dict[r]) for e, r in rel.items()}, seed_time_dict)
    dtype = next(iter(col_dict.values())).dtype if len(col_dict) else torch.int64
    t = lambda a: torch.from_numpy(a).to(dtype)
    node = {k: t(a) if out.batch is None else torch.stack([t(out.batch[k]), t(a)], 1) for k, a in out.node.items()}
    each = lambda by: {rel[e]: t(a) for e, a in by.items()}
    return each(out.row), each(out.col), node, each(out.edge), out.num_nodes, {rel[e]: n for e, n in out.num_edges.items()}


def random_walk(rowptr, col, seed, walk_length, p, q):
    raise NotImplementedError("random walks are pyg-lib's: libggnn.pyg.install() has its neighbour samplers alone")


def install():
    """From now on PyG's own NeighborLoader and LinkNeighborLoader sample by ggnn.h, whether torch_geometric is imported yet or not.
    Returns a sentence that says what was done; nothing is, where pyg-lib is installed. Twice is once."""
    global _installed, _same_objects
    with _lock:
        if _installed:
            return "libggnn is under PyG already"
        try:
            import pyg_lib
            return "pyg-lib is installed: PyG samples by that"
        except Exception as error:  # not there, or built for another torch
            broken = "" if isinstance(error, ModuleNotFoundError) else f" in place of a pyg-lib that cannot be loaded ({type(error).__name__})"
        library = torch.library.Library("pyg", "DEF")
        for schema in _SCHEMAS:
            library.define(schema)
        library.impl("neighbor_sample", neighbor_sample, "CPU")
        library.impl("hetero_neighbor_sample", hetero_neighbor_sample, "BackendSelect") # tensors in a dict choose no backend
        library.impl("random_walk", random_walk, "CPU")
        stub, ops, sampler = types.ModuleType("pyg_lib"), types.ModuleType("pyg_lib.ops"), types.ModuleType("pyg_lib.sampler")
        for module in (stub, ops, sampler):  # scripts ask importlib whether pyg_lib is there
            module.__spec__ = importlib.machinery.ModuleSpec(module.__name__, None, is_package=module is stub)
        stub.__version__, stub.ops, stub.sampler, stub.__path__ = PYG_LIB, ops, sampler, []
        stub.__doc__ = "libggnn's: the neighbour samplers alone"
        sampler.neighbor_sample, sampler.hetero_neighbor_sample = neighbor_sample, hetero_neighbor_sample
        sys.modules.update({"pyg_lib": stub, "pyg_lib.ops": ops, "pyg_lib.sampler": sampler})
        typing = sys.modules.get("torch_geometric.typing")
        if typing is not None:
            typing.pyg_lib = stub
            typing.WITH_PYG_LIB = typing.WITH_EDGE_TIME_NEIGHBOR_SAMPLE = typing.WITH_WEIGHTED_NEIGHBOR_SAMPLE = True
        _installed = library
        lists = torch.zeros(2, dtype=torch.int64), torch.zeros(0, dtype=torch.int64)
        _keys.at = 0, 0  # draws none of torch's random numbers
        torch.ops.pyg.neighbor_sample(*lists, lists[0][:1], [1])
        _keys.at, _same_objects = None, bool(_samplers)
        _samplers.clear()
    return "PyG samples by libggnn" + broken
