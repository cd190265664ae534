"""Batches through PyG's own loaders and through ours: each sentence of PyG's meaning of a batch, by loops over the edge list."""
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np

try:
    import torch
    import torch_geometric.loader as theirs
    from torch_geometric.data import Data, HeteroData
except ImportError:
    raise unittest.SkipTest("torch or torch_geometric is not installed")

import libggnn.pyg as ours

warnings.simplefilter("ignore")
NODES, EDGES = 400, 3000


def graph(seed=0, **more):
    g = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(0, NODES, (2, EDGES), generator=g)
    edge_index[1, :200] = 7  # a hub, of more neighbours than any fanout
    edge_index[1][edge_index[1] == 11] = 12  # and a node without any
    return Data(x=torch.randn(NODES, 5, generator=g), y=torch.arange(NODES), edge_index=edge_index, edge_attr=torch.randn(EDGES, 2, generator=g), **more)


def lists_of(data, time=None):
    """Of each node the positions of its in-edges, in the order in which PyG's CSC has them: any, or by time."""
    sampler = ours.NeighborSampler(data, [1], **({"time_attr": time} if time else {}))
    perm, col, lists = sampler.edge_permutation.tolist(), data.edge_index[1].tolist(), [[] for _ in range(data.num_nodes)]
    for e in perm:
        lists[col[e]].append(e)
    assert sorted(perm) == list(range(EDGES))
    if time:
        of = data[time] if len(data[time]) == EDGES else data[time][data.edge_index[0]]
        assert all(of[a] <= of[b] for edges in lists for a, b in zip(edges, edges[1:]))
    return lists


def loaders(data, fanout, seeds=None, batch_size=32, link=False, **how):
    """The same by PyG's loader over our sampler, and by our loader."""
    kind = "LinkNeighborLoader" if link else "NeighborLoader"
    sampled = {k: v for k, v in how.items() if k in ("replace", "subgraph_type", "disjoint", "temporal_strategy", "time_attr", "weight_attr")}
    rest = {k: v for k, v in how.items() if k not in sampled}
    if "time_attr" in sampled:
        rest["time_attr"] = sampled["time_attr"]
    yield "PyG's", getattr(theirs, kind)(data, fanout, seeds, neighbor_sampler=ours.NeighborSampler(data, fanout, **sampled), batch_size=batch_size, **rest)
    yield "ours", getattr(ours, kind)(data, fanout, seeds, batch_size=batch_size, **{k: v for k, v in rest.items() if k != "time_attr"}, **sampled)
    yield "ours, threads", getattr(ours, kind)(data, fanout, seeds, batch_size=batch_size, num_workers=3, **{k: v for k, v in rest.items() if k != "time_attr"}, **sampled)


def hops(batch):
    """Of each hop: the local ids of its targets, and its edges."""
    node, edge = 0, 0
    for targets, edges in zip(batch.num_sampled_nodes, batch.num_sampled_edges):
        yield range(node, node + targets), range(edge, edge + edges)
        node, edge = node + targets, edge + edges


class Batches(unittest.TestCase):
    def each(self, *args, **how):
        for name, loader in loaders(*args, **how):
            for number, batch in enumerate(loader):
                with self.subTest(loader=name, batch=number, how=how):
                    yield batch

    def check_edges(self, data, batch):
        """Edges are the graph's, and attributes the rows of what n_id and e_id name, bit for bit."""
        self.assertTrue(torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index]))
        self.assertTrue(torch.equal(batch.x, data.x[batch.n_id]) and torch.equal(batch.y, data.y[batch.n_id]))
        self.assertTrue(torch.equal(batch.edge_attr, data.edge_attr[batch.e_id]))

    def check_frontier(self, data, batch, fanout, lists, replace=False):
        """A hop samples what the hop before found, each node once, in order; local ids are by first occurrence."""
        subgraph = batch.batch if batch.batch is not None else torch.zeros(len(batch.n_id), dtype=torch.long)
        known = {(int(s), int(v)): i for i, (s, v) in enumerate(zip(subgraph[:batch.num_sampled_nodes[0]], batch.n_id[:batch.num_sampled_nodes[0]]))}
        self.assertEqual(len(known), batch.num_sampled_nodes[0])
        for (targets, edges), m in zip(hops(batch), fanout):
            at = edges.start
            for target in targets:
                allowed = lists(int(batch.n_id[target]), int(subgraph[target]))
                wanted = len(allowed) if m < 0 or (len(allowed) <= m and not replace) else m if allowed else 0
                taken = [int(e) for e in batch.e_id[at:at + wanted]]
                self.assertTrue(bool((batch.edge_index[1, at:at + wanted] == target).all()))
                if wanted == len(allowed) and not replace:
                    self.assertEqual(taken, allowed)  # whole, in order
                elif not replace:
                    self.assertEqual(len(set(taken)), wanted)
                self.assertLessEqual(set(taken), set(allowed))
                for k in range(at, at + wanted):
                    key = int(subgraph[target]), int(data.edge_index[0, batch.e_id[k]])
                    self.assertEqual(known.setdefault(key, len(known)), int(batch.edge_index[0, k]))
                at += wanted
            self.assertEqual(at, edges.stop)
        self.assertEqual(len(known), len(batch.n_id))
        self.assertEqual(len(batch.num_sampled_nodes), len(fanout) + 1)
        self.assertEqual(sum(batch.num_sampled_nodes), len(batch.n_id))

    def test_a_hop_samples_what_the_hop_before_found(self):
        data = graph()
        lists = lists_of(data)
        for fanout in ([4, 3], [-1, 2, 1], [0, 5], [40]):
            for batch in self.each(data, fanout):
                self.check_edges(data, batch)
                self.check_frontier(data, batch, fanout, lambda v, s: lists[v])
                self.assertIsNone(batch.batch)

    def test_with_replacement_a_list_is_drawn_from_fanout_times(self):
        data = graph()
        lists = lists_of(data)
        for batch in self.each(data, [5, 2], replace=True):
            self.check_edges(data, batch)
            self.check_frontier(data, batch, [5, 2], lambda v, s: lists[v], replace=True)

    def test_seeds_come_first_and_input_id_says_which(self):
        data = graph()
        seeds = torch.tensor([399, 7, 11, 3, 250])
        for batch in self.each(data, [3], seeds, batch_size=3):
            self.assertTrue(torch.equal(batch.n_id[:batch.batch_size], seeds[batch.input_id]))
        mask = torch.zeros(NODES, dtype=torch.bool)
        mask[seeds] = True
        for batch in self.each(data, [3], mask, batch_size=3):
            self.assertTrue(torch.equal(batch.n_id[:batch.batch_size], batch.input_id))

    def test_disjoint_subgraphs_share_no_node(self):
        data = graph()
        lists = lists_of(data)
        for batch in self.each(data, [4, 3], disjoint=True):
            self.check_edges(data, batch)
            self.check_frontier(data, batch, [4, 3], lambda v, s: lists[v])
            self.assertTrue(torch.equal(batch.batch[:batch.batch_size], torch.arange(batch.batch_size)))
            self.assertTrue(torch.equal(batch.batch[batch.edge_index[0]], batch.batch[batch.edge_index[1]]))

    def test_bidirectional_edges_are_both_ways_and_once(self):
        data = graph()
        for batch in self.each(data, [4, 3], subgraph_type="bidirectional"):
            pairs = list(map(tuple, batch.edge_index.t().tolist()))
            self.assertEqual(len(pairs), len(set(pairs)))
            self.assertEqual(set(pairs), {(v, u) for u, v in pairs})
            self.assertEqual(pairs, sorted(pairs, key=lambda p: (p[1], p[0])))
            self.assertNotIn("num_sampled_nodes", batch)

    def test_no_neighbor_is_later_than_the_seed(self):
        time = torch.randint(0, 60, (NODES,), generator=torch.Generator().manual_seed(3))
        data = graph(time=time)
        lists = lists_of(data, "time")
        for strategy in ("uniform", "last"):
            for given in (None, torch.randint(0, 60, (NODES,), generator=torch.Generator().manual_seed(4))):
                for batch in self.each(data, [4, 3], time_attr="time", temporal_strategy=strategy, input_time=given):
                    of_seed = (time[batch.n_id] if given is None else given[batch.input_id])[:batch.batch_size]
                    if given is not None:
                        self.assertTrue(torch.equal(batch.seed_time, of_seed))

                    def allowed(v, s):
                        return [e for e in lists[v] if time[data.edge_index[0, e]] <= of_seed[s]]

                    if strategy == "uniform":
                        self.check_frontier(data, batch, [4, 3], allowed)
                    else:
                        self.check_latest(batch, [4, 3], allowed)

    def test_no_edge_is_later_than_the_seed(self):
        data = graph(edge_time=torch.randint(0, 60, (EDGES,), generator=torch.Generator().manual_seed(5)))
        lists = lists_of(data, "edge_time")
        given = torch.randint(0, 60, (NODES,), generator=torch.Generator().manual_seed(6))
        for strategy in ("uniform", "last"):
            for batch in self.each(data, [4, 3], time_attr="edge_time", temporal_strategy=strategy, input_time=given):
                def allowed(v, s):
                    return [e for e in lists[v] if data.edge_time[e] <= given[batch.input_id[s]]]

                (self.check_frontier if strategy == "uniform" else lambda d, *a: self.check_latest(*a))(data, batch, [4, 3], allowed)

    def check_latest(self, batch, fanout, allowed):
        for (targets, edges), m in zip(hops(batch), fanout):
            taken = {}
            for k in edges:
                taken.setdefault(int(batch.edge_index[1, k]), []).append(int(batch.e_id[k]))
            for target in targets:
                of = allowed(int(batch.n_id[target]), int(batch.batch[target]))
                self.assertEqual(taken.get(target, []), of[-m:])

    def test_weights_decide_and_zero_is_never_taken(self):
        weight = torch.randint(0, 3, (EDGES,), generator=torch.Generator().manual_seed(8)).float()
        data = graph(weight=weight)
        lists = [[e for e in of if weight[e] > 0] for of in lists_of(data)]
        for batch in self.each(data, [4, 3], weight_attr="weight"):
            self.check_edges(data, batch)
            self.assertGreater(float(weight[batch.e_id].min()), 0)
            for (targets, edges), m in zip(hops(batch), [4, 3]):
                count = torch.bincount(batch.edge_index[1, edges.start:edges.stop], minlength=len(batch.n_id))
                for target in targets:
                    self.assertEqual(int(count[target]), min(m, len(lists[int(batch.n_id[target])])))

    def test_what_is_not_sampled_is_said(self):
        data = graph(weight=torch.ones(EDGES), time=torch.zeros(NODES, dtype=torch.long))
        for error, how in ((NotImplementedError, dict(weight_attr="weight", time_attr="time")), (NotImplementedError, dict(weight_attr="weight", replace=True)),
                           (NotImplementedError, dict(subgraph_type="induced")), (KeyError, dict(time_attr="no such"))):
            with self.assertRaises(error):
                ours.NeighborLoader(data, [2], batch_size=4, **how)
        with self.assertRaisesRegex(ValueError, "a seed is given twice: node 5"):
            next(iter(ours.NeighborLoader(data, [2], torch.tensor([5, 5]), batch_size=2)))
        with self.assertRaisesRegex(IndexError, "out of range: node 400"):
            next(iter(ours.NeighborLoader(data, [2], torch.tensor([1, 400]), batch_size=2)))

    def test_features_may_be_a_mapped_file(self):
        with tempfile.TemporaryDirectory() as folder:
            x = np.memmap(os.path.join(folder, "x"), np.float32, "w+", shape=(NODES, 5))
            x[:] = np.arange(NODES * 5).reshape(NODES, 5)
            data = graph()
            del data.x
            for data.x in (x, np.memmap(os.path.join(folder, "x"), np.float32, "r", shape=(NODES, 5))):
                for batch in self.each(data, [4]):
                    self.assertTrue(np.array_equal(batch.x, x[batch.n_id.numpy()]))
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # torch's, of memory that it may not write
                torch.set_warn_always(True)
                try:
                    for batch in ours.NeighborLoader(data, [4], batch_size=99):
                        batch.x += 1
                finally:
                    torch.set_warn_always(False)
            self.assertEqual(float(data.x[0, 1]), 1)

    def test_a_batch_depends_on_seed_epoch_and_step_alone(self):
        data = graph()
        runs = []
        for workers in (0, 1, 4):
            loader = ours.NeighborLoader(data, [4, 3], batch_size=64, num_workers=workers, seed=9)
            runs.append([[(b.n_id, b.e_id) for b in loader] for _ in range(2)])
        self.assertEqual([len(epoch) for run in runs for epoch in run], [7] * 6)  # the last one, of 16 seeds, too
        self.assertEqual(len(loader), 7)
        for run in runs[1:]:
            for epoch, first in zip(run, runs[0]):
                for batch, wanted in zip(epoch, first):
                    self.assertTrue(torch.equal(batch[0], wanted[0]) and torch.equal(batch[1], wanted[1]))
        self.assertFalse(torch.equal(runs[0][0][0][1], runs[0][1][0][1]))  # epochs draw afresh
        loader.set_epoch(0)
        self.assertTrue(torch.equal(next(iter(loader)).e_id, runs[0][0][0][1]))
        other = next(iter(ours.NeighborLoader(data, [4, 3], batch_size=64, seed=10)))
        self.assertFalse(torch.equal(other.e_id, runs[0][0][0][1]))

    def test_times_are_whole_numbers(self):
        with self.assertRaisesRegex(TypeError, "time of None is float32"):
            ours.NeighborLoader(graph(time=torch.rand(NODES)), [2], time_attr="time", batch_size=4)
        with self.assertRaisesRegex(TypeError, "seeds' time is float32"):
            next(iter(ours.NeighborLoader(graph(time=torch.arange(NODES)), [2], time_attr="time", input_time=torch.rand(NODES), batch_size=4)))
        data = graph(time=torch.arange(NODES, dtype=torch.int32))
        batch = next(iter(ours.NeighborLoader(data, [5, 5], time_attr="time", batch_size=64)))
        self.assertTrue(bool((batch.time <= batch.time[batch.batch]).all()))

    def test_what_a_batch_says_is_not_what_the_data_say(self):
        data = graph(batch=torch.full((NODES,), 7), seed_time=torch.zeros(NODES), input_id=torch.zeros(NODES))
        for batch in ours.NeighborLoader(data, [2], torch.arange(50, 60), batch_size=4, disjoint=True):
            self.assertEqual(batch.batch[:batch.batch_size].tolist(), list(range(batch.batch_size)))
            self.assertTrue(torch.equal(batch.n_id[:batch.batch_size], 50 + batch.input_id))

    def test_changed_data_are_seen(self):
        data = graph()
        loader = ours.NeighborLoader(data, [2], batch_size=100)
        next(iter(loader))
        data.x = data.x + 1
        data.z = torch.arange(NODES)
        for batch in (next(iter(loader)), loader([1, 2])):
            self.assertTrue(torch.equal(batch.x, data.x[batch.n_id]) and torch.equal(batch.z, batch.n_id))
        data.x = torch.nn.Parameter(data.x)
        batch = next(iter(loader))
        batch.x.sum().backward()
        self.assertTrue(torch.equal(data.x.grad.sum(1) > 0, torch.zeros(NODES, dtype=torch.bool).index_fill_(0, batch.n_id, True)))

    def test_a_run_is_repeated_by_its_seed(self):
        data = graph()
        of = lambda **how: [(b.input_id.tolist(), b.e_id.tolist()) for b in ours.NeighborLoader(data, [3], batch_size=64, shuffle=True, **how)]
        self.assertEqual(of(seed=4), of(seed=4, num_workers=2))
        self.assertNotEqual(of(seed=4), of(seed=5))
        self.assertNotEqual(of(), of())

    def test_seeds_without_an_in_edge_are_a_batch(self):
        data = graph()
        for batch in self.each(data, [3, 2], torch.tensor([11])):
            self.assertEqual((batch.n_id.tolist(), batch.edge_index.shape, batch.num_sampled_edges), ([11], (2, 0), [0, 0]))
            self.check_edges(data, batch)

    def test_a_sampler_may_be_pickled(self):
        data, draws = graph(), []
        sampler = ours.NeighborSampler(data, [3, 2])
        for s in (sampler, pickle.loads(pickle.dumps(sampler))):
            torch.manual_seed(1)
            draws.append([batch.e_id.tolist() for batch in theirs.NeighborLoader(data, [3, 2], neighbor_sampler=s, batch_size=99)])
        self.assertEqual(draws[0], draws[1])

    def test_workers_are_threads_and_what_is_of_processes_is_said(self):
        loader = ours.NeighborLoader(graph(), [2], batch_size=100, num_workers=2, persistent_workers=True, multiprocessing_context="spawn")
        self.assertEqual((loader.num_workers, len(list(loader))), (2, 4))
        self.assertEqual(ours.LinkNeighborLoader(graph(), [2], num_workers=3).num_workers, 3)
        for how in (dict(timeout=5), dict(worker_init_fn=print)):
            with self.assertWarnsRegex(UserWarning, f"{next(iter(how))} has no effect: num_workers are threads"):
                ours.NeighborLoader(graph(), [2], num_workers=2, **how)

    def test_a_loop_that_is_left_leaves_no_thread_and_an_error_comes_through(self):
        import threading
        before = threading.active_count()

        def transform(batch):
            if 100 in batch.input_id:
                raise RuntimeError("of the transform")
            return batch

        loader = ours.NeighborLoader(graph(), [4], batch_size=16, num_workers=3, transform=transform)
        with self.assertRaisesRegex(RuntimeError, "of the transform"):
            for _ in loader:
                pass
        for _ in loader:
            break
        import gc
        gc.collect()
        self.assertEqual(threading.active_count(), before)
        self.assertEqual(len(loader), 25)
        self.assertEqual(repr(loader), "NeighborLoader()")
        self.assertEqual(loader([3, 5]).n_id[:2].tolist(), [3, 5])


class Types(unittest.TestCase):
    """Several types of nodes and edges: for each hop each type of edges, in order; one numbering per type of nodes."""

    def setUp(self):
        g = torch.Generator().manual_seed(1)
        data = HeteroData()
        sizes = {"paper": 200, "author": 150, "venue": 3}
        for t, n in sizes.items():
            data[t].x = torch.randn(n, 3, generator=g)
        for e, m in ((("paper", "cites", "paper"), 900), (("author", "writes", "paper"), 700), (("paper", "rev", "author"), 700), (("paper", "in", "venue"), 200)):
            data[e].edge_index = torch.stack([torch.randint(0, sizes[e[0]], (m,), generator=g), torch.randint(0, sizes[e[2]], (m,), generator=g)])
            data[e].edge_attr = torch.randn(m, 2, generator=g)
        self.data = data

    def test_all_neighbors_are_those_of_loops(self):
        data, order = self.data, list(self.data.edge_types)
        perm = ours.NeighborSampler(data, [1]).edge_permutation
        lists = {e: [[k for k in perm[e].tolist() if data[e].edge_index[1, k] == v] for v in range(data[e[2]].num_nodes)] for e in order}
        for name, loader in loaders(data, [-1, -1], ("paper", torch.arange(20, 60)), batch_size=8):
            for batch in loader:
                with self.subTest(loader=name):
                    found = {t: [] for t in data.node_types}
                    found["paper"] = batch["paper"].n_id[:batch["paper"].batch_size].tolist()
                    begin, taken = {t: 0 for t in found}, {e: [] for e in order}
                    for _ in range(2):
                        end = {t: len(f) for t, f in found.items()}
                        for e in order:
                            for i in range(begin[e[2]], end[e[2]]):
                                for k in lists[e][found[e[2]][i]]:
                                    u = int(data[e].edge_index[0, k])
                                    if u not in found[e[0]]:
                                        found[e[0]].append(u)
                                    taken[e].append((found[e[0]].index(u), i, k))
                        begin = end
                    for t in found:
                        self.assertEqual(batch[t].n_id.tolist(), found[t])
                        self.assertTrue(torch.equal(batch[t].x, data[t].x[batch[t].n_id]))
                    for e in order:
                        got = list(zip(*batch[e].edge_index.tolist(), batch[e].e_id.tolist()))
                        self.assertEqual(got, taken[e])
                        self.assertTrue(torch.equal(batch[e].edge_attr, data[e].edge_attr[batch[e].e_id]))

    def test_fanouts_are_by_type_of_edges(self):
        fanout = {e: [0, 0] for e in self.data.edge_types}
        fanout["author", "writes", "paper"] = [3, 3]
        for _, loader in loaders(self.data, fanout, "paper", batch_size=16):
            for batch in loader:
                self.assertEqual(batch["paper", "cites", "paper"].edge_index.size(1), 0)
                count = torch.bincount(batch["author", "writes", "paper"].edge_index[1])
                self.assertEqual(int(count.max()), 3)

    def test_stores_of_others_are_sampled(self):
        from torch_geometric.testing import MyFeatureStore, MyGraphStore
        data, features, graphs = self.data, MyFeatureStore(), MyGraphStore()
        for t in data.node_types:
            features.put_tensor(data[t].x, group_name=t, attr_name="x", index=None)
        for e in data.edge_types:
            graphs.put_edge_index(data[e].edge_index, edge_type=e, layout="coo", size=(data[e[0]].num_nodes, data[e[2]].num_nodes))
        for _, loader in loaders((features, graphs), [3, 2], ("paper", torch.arange(64)), batch_size=16):
            for batch in loader:
                self.assertEqual(batch["paper"].batch_size, 16)
                for t in data.node_types:
                    self.assertTrue(torch.equal(batch[t].x, data[t].x[batch[t].n_id]))
                for e in data.edge_types:
                    edges = set(map(tuple, data[e].edge_index.t().tolist()))
                    u, v = batch[e].edge_index
                    self.assertTrue({(a, b) for a, b in zip(batch[e[0]].n_id[u].tolist(), batch[e[2]].n_id[v].tolist())} <= edges)

    def test_disjoint_and_times(self):
        for t in self.data.node_types:
            self.data[t].time = torch.arange(self.data[t].num_nodes)
        for _, loader in loaders(self.data, [4, 3], ("paper", torch.arange(40, 120)), batch_size=16, time_attr="time"):
            for batch in loader:
                seed_time = batch["paper"].n_id[:batch["paper"].batch_size]
                for t in self.data.node_types:
                    self.assertTrue(bool((batch[t].time <= seed_time[batch[t].batch]).all()))
                for e in self.data.edge_types:
                    u, v = batch[e].edge_index
                    self.assertTrue(torch.equal(batch[e[0]].batch[u], batch[e[2]].batch[v]))


class Links(unittest.TestCase):
    def test_both_ends_are_seeds_and_negatives_are_labelled(self):
        data = graph()
        for name, loader in loaders(data, [3, 2], data.edge_index[:, :200], batch_size=20, link=True, neg_sampling_ratio=1.0):
            for batch in loader:
                with self.subTest(loader=name):
                    ends = batch.n_id[batch.edge_label_index]
                    self.assertTrue(torch.equal(ends[:, :20], data.edge_index[:, batch.input_id]))
                    self.assertEqual(batch.edge_label.tolist(), [1.0] * 20 + [0.0] * 20)

    def test_negatives_belong_to_the_batch(self):
        data, found = graph(), []
        for workers in (0, 4, 4):
            for negatives in ("binary", "triplet"):
                loader = ours.LinkNeighborLoader(data, [3], data.edge_index[:, :200], batch_size=20, neg_sampling=negatives, num_workers=workers, seed=9)
                found.append([b.n_id.tolist() for b in loader])
        self.assertEqual(found[:2], found[2:4])
        self.assertEqual(found[:2], found[4:])

    def test_excluded_edges_are_in_no_batch(self):
        data = graph()
        data.edge_index = torch.cat([data.edge_index, data.edge_index[:, :400].flip(0)], 1)  # reverse edges
        data.edge_attr = None
        for exclude in (None, "self", "reverse"):
            leaks = back = 0
            for batch in ours.LinkNeighborLoader(data, [-1, -1], data.edge_index[:, :400], batch_size=20, exclude=exclude):
                target = set(map(tuple, data.edge_index[:, batch.input_id].t().tolist()))
                edges = set(map(tuple, data.edge_index[:, batch.e_id].t().tolist()))
                leaks += len(target & edges)
                back += len({(v, u) for u, v in target} & edges)
                self.assertTrue(torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index]))
                self.assertEqual(sum(batch.num_sampled_edges), batch.edge_index.size(1))
                if exclude is not None:  # and no other edge is missing
                    nodes = set(batch.n_id[:sum(batch.num_sampled_nodes[:2])].tolist())
                    hidden = target | ({(v, u) for u, v in target} if exclude == "reverse" else set())
                    for u, v in data.edge_index.t().tolist():
                        if v in nodes and (u, v) not in hidden:
                            self.assertIn((u, v), edges)
            self.assertEqual(leaks > 0, exclude is None)
            self.assertEqual(back > 0, exclude != "reverse")

    def test_excluded_edges_of_narrow_ids(self):
        data = graph()
        data.edge_index, data.edge_attr = data.edge_index.int(), None
        for batch in ours.LinkNeighborLoader(data, [-1, -1], data.edge_index[:, :100], batch_size=20, exclude="self"):
            target = set(map(tuple, data.edge_index[:, batch.input_id].t().tolist()))
            self.assertFalse(target & set(map(tuple, data.edge_index[:, batch.e_id].t().tolist())))

    def typed(self):
        g = torch.Generator().manual_seed(2)
        data = HeteroData()
        data["user"].x, data["item"].x = torch.randn(80, 3, generator=g), torch.randn(60, 3, generator=g)
        likes = torch.stack([torch.randint(0, 80, (900,), generator=g), torch.randint(0, 60, (900,), generator=g)])
        data["user", "likes", "item"].edge_index, data["item", "liked", "user"].edge_index = likes, likes.flip(0)
        data["user", "knows", "user"].edge_index = torch.randint(0, 80, (2, 300), generator=g)
        return data, ("user", "likes", "item")

    def test_links_between_types_are_labelled_and_excluded(self):
        data, kind = self.typed()
        edges = data[kind].edge_index
        for exclude in (None, "self", "reverse"):
            found = {"forth": 0, "back": 0}
            for batch in ours.LinkNeighborLoader(data, [-1, -1], (kind, edges[:, :200]), batch_size=20, neg_sampling_ratio=1.0, exclude=exclude, seed=1):
                u, v = batch[kind].edge_label_index
                ends = torch.stack([batch["user"].n_id[u], batch["item"].n_id[v]])
                self.assertTrue(torch.equal(ends[:, :20], edges[:, batch[kind].input_id]))
                self.assertEqual(batch[kind].edge_label.tolist(), [1.0] * 20 + [0.0] * 20)
                target = set(map(tuple, ends[:, :20].t().tolist()))
                for e in data.edge_types:
                    self.assertTrue(torch.equal(data[e].edge_index[:, batch[e].e_id], torch.stack(
                        [batch[t].n_id[k] for t, k in zip((e[0], e[2]), batch[e].edge_index)])))
                hidden = {kind: target if exclude else set(),  # and no other edge is missing
                          ("item", "liked", "user"): {(v, u) for u, v in target} if exclude == "reverse" else set()}
                for e in data.edge_types:
                    asked = set(batch[e[2]].n_id[:sum(batch[e[2]].num_sampled_nodes[:2])].tolist())
                    self.assertEqual(batch[e].edge_index.size(1), sum(v in asked and (u, v) not in hidden.get(e, ()) for u, v in data[e].edge_index.t().tolist()))
                found["forth"] += len(target & set(map(tuple, edges[:, batch[kind].e_id].t().tolist())))
                back = data["item", "liked", "user"].edge_index[:, batch["item", "liked", "user"].e_id]
                found["back"] += len(target & set(map(tuple, back.flip(0).t().tolist())))
                self.assertGreater(batch["user", "knows", "user"].edge_index.size(1), 0)
            self.assertEqual((found["forth"] > 0, found["back"] > 0), (exclude is None, exclude != "reverse"))

    def test_triplets_between_types(self):
        data, kind = self.typed()
        edges = data[kind].edge_index
        for workers in (0, 2):
            seen = []
            for batch in ours.LinkNeighborLoader(data, [3, 2], (kind, edges), batch_size=30, neg_sampling=dict(mode="triplet", amount=2), seed=3, num_workers=workers):
                source = batch["user"].n_id[batch["user"].src_index]
                self.assertTrue(torch.equal(torch.stack([source, batch["item"].n_id[batch["item"].dst_pos_index]]), edges[:, batch[kind].input_id]))
                self.assertEqual(batch["item"].dst_neg_index.shape, (len(source), 2))
                seen.append(batch["item"].n_id[batch["item"].dst_neg_index].tolist())
            self.assertTrue(workers == 0 or seen == before)
            before = seen


class Installed(unittest.TestCase):
    """install() under PyG's own loaders, in a process of its own, before and after the import of torch_geometric; worker processes."""

    def run_script(self, script):
        return self.run_python("-c", script)

    def run_python(self, *arguments):
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_scripts_stay_as_they_are(self):
        before, after = "import libggnn.pyg\nprint(libggnn.pyg.install())\n", "import torch_geometric\n"
        script = """
import torch, warnings
warnings.simplefilter("error")
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader, LinkNeighborLoader
torch.manual_seed(0)
data = Data(x=torch.randn(300, 4), edge_index=torch.randint(0, 300, (2, 3000)), time=torch.arange(300), weight=torch.rand(3000),
            edge_time=torch.arange(3000))
for how in (dict(), dict(disjoint=True), dict(time_attr="time"), dict(weight_attr="weight"), dict(subgraph_type="bidirectional"),
            dict(time_attr="edge_time", input_time=torch.full((300,), 1500)), dict(num_workers=2)):
    for batch in NeighborLoader(data, [4, 3], batch_size=100, **how):
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index]) or how.get("subgraph_type")
        assert torch.equal(batch.x, data.x[batch.n_id])
for batch in LinkNeighborLoader(data, [4], batch_size=500): pass
print("done", libggnn.pyg.install())
"""
        for first in (before + after, after + before):
            out = self.run_script("import warnings\n" + first + script)
            self.assertIn("PyG samples by libggnn\n", out)
            self.assertIn("done libggnn is under PyG already", out)

    def test_worker_processes_are_forked_and_spawned(self):
        script = """
import torch, warnings
import libggnn.pyg
libggnn.pyg.install()  # spawned workers run this too
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader

def main():
    torch.manual_seed(0)
    data = Data(x=torch.randn(300, 4), edge_index=torch.randint(0, 300, (2, 3000)))
    for context in ("fork", "spawn"):
        seen = []
        for batch in NeighborLoader(data, [4, 3], batch_size=50, num_workers=2, multiprocessing_context=context):
            assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
            assert torch.equal(batch.x, data.x[batch.n_id])
            seen += batch.input_id.tolist()
        assert seen == list(range(300))
        print(context)

if __name__ == "__main__":
    main()
"""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "train.py")
            with open(path, "w") as file:
                file.write(script)
            self.assertEqual(self.run_python(path), "fork\nspawn\n")

    def test_graphs_are_kept_while_they_live(self):
        out = self.run_python("-c", """
import gc, torch, libggnn.pyg
libggnn.pyg.install()
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
for kept in range(3):
    data = Data(x=torch.randn(300, 4), edge_index=torch.randint(0, 300, (2, 3000)))
    loader = NeighborLoader(data, [4, 3], batch_size=50)
    for batch in loader: pass
    gc.collect()
    print(len(libggnn.pyg._samplers) if libggnn.pyg._same_objects else 1)
del data, loader, batch
gc.collect()
print(len(libggnn.pyg._samplers) if libggnn.pyg._same_objects else 0)
made, libggnn.pyg._sampler = libggnn.pyg._sampler, lambda *a: print("made") or made(*a)
with torch.inference_mode():
    data = Data(x=torch.randn(300, 4), edge_index=torch.randint(0, 300, (2, 3000)))
    for batch in NeighborLoader(data, [4, 3], batch_size=50): pass
""")
        self.assertEqual(out, "1\n1\n1\n0\nmade\n")  # once, not once a batch

    def test_nothing_is_installed_beside_pyg_lib(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "pyg_lib.py"), "w").close()
            out = self.run_script(f"import sys; sys.path.insert(0, {folder!r})\nimport libggnn.pyg\nprint(libggnn.pyg.install())")
        self.assertEqual(out, "pyg-lib is installed: PyG samples by that\n")


if __name__ == "__main__":
    unittest.main()
