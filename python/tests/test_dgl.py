"""DGL's DataLoader over libggnn.dgl.NeighborSampler: blocks against the graph, by loops. It needs DGL, whose last release is for torch
2.2.1 and Python 3.12 at most (bench/rivals installs it); without it these tests are skipped."""
import unittest

import numpy as np
import torch

try:
    import dgl

    from libggnn.dgl import NeighborSampler
except ImportError:
    dgl = None


@unittest.skipUnless(dgl, "DGL is not installed")
class Blocks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.g = dgl.rand_graph(1000, 12000)
        self.g.ndata["x"], self.g.ndata["y"] = torch.randn(1000, 8), torch.arange(1000)
        self.g.edata["p"], self.g.edata["even"] = torch.rand(12000), torch.arange(12000) % 2 == 0

    def loader(self, sampler, g=None, ids=None, **how):
        return dgl.dataloading.DataLoader(g or self.g, torch.arange(300) if ids is None else ids, sampler, **{"batch_size": 100, **how})

    def check(self, g, blocks, fanouts, lists=None):
        """Edges are the graph's, no edge twice, as many as fanout and list say, targets first; lists: {type: in-degrees}."""
        before = None
        for block, layer in zip(reversed(blocks), reversed(fanouts)):
            for key in g.canonical_etypes:
                fanout = layer[key] if isinstance(layer, dict) else layer
                part, ids = block[key] if len(g.canonical_etypes) > 1 else block, block.edges[key].data[dgl.EID]
                u, v = block.edges(etype=key)
                su, sv = g.find_edges(ids, etype=key)
                self.assertTrue(torch.equal(block.srcnodes[key[0]].data[dgl.NID][u.long()], su))
                self.assertTrue(torch.equal(block.dstnodes[key[2]].data[dgl.NID][v.long()], sv))
                self.assertEqual(len(ids.unique()), len(ids))
                degree = (g.in_degrees(block.dstnodes[key[2]].data[dgl.NID], etype=key) if lists is None else
                          lists[key][block.dstnodes[key[2]].data[dgl.NID]])
                self.assertEqual(part.in_degrees(etype=key).tolist(), (degree if fanout < 0 else degree.clamp(max=fanout)).tolist())
            for t in g.ntypes:
                src, dst = block.srcnodes[t].data[dgl.NID], block.dstnodes[t].data[dgl.NID]
                self.assertTrue(torch.equal(src[:len(dst)], dst))
                self.assertEqual(len(src.unique()), len(src))
                if before is not None:
                    self.assertTrue(torch.equal(before.srcnodes[t].data[dgl.NID], dst))
            before = block

    def test_blocks_are_dgls(self):
        fanouts = [5, -1, 3]
        for g in (self.g, self.g.int()):
            for num_workers in (0, 2):
                seen = []
                for inputs, outputs, blocks in self.loader(NeighborSampler(fanouts, prefetch_node_feats=["x"], prefetch_labels=["y"]), g,
                                                           torch.arange(300, dtype=g.idtype), num_workers=num_workers):
                    self.check(g, blocks, fanouts)
                    self.assertEqual(inputs.dtype, g.idtype)
                    self.assertTrue(torch.equal(blocks[0].srcdata["x"], g.ndata["x"][inputs.long()]))
                    self.assertTrue(torch.equal(blocks[-1].dstdata["y"], outputs.long()))
                    seen += outputs.tolist()
                self.assertEqual(sorted(seen), list(range(300)))

    def test_layers_of_dgl_run_over_them_and_learn(self):
        x = self.g.ndata["x"]
        conv = torch.nn.ModuleList([dgl.nn.SAGEConv(8, 16, "mean"), dgl.nn.SAGEConv(16, 1, "mean")])
        best = torch.optim.Adam(conv.parameters(), 0.02)
        losses = []
        for _ in range(15):
            for inputs, outputs, blocks in self.loader(NeighborSampler([-1, -1]), shuffle=True):
                h = conv[1](blocks[1], conv[0](blocks[0], x[inputs]).relu())
                loss = torch.nn.functional.mse_loss(h, x[outputs, :1])
                best.zero_grad(), loss.backward(), best.step()
                losses.append(float(loss))
        self.assertLess(np.mean(losses[-3:]), 0.3 * np.mean(losses[:3]))
        # the full lists: the blocks' answer is the graph's
        inputs, outputs, blocks = next(iter(self.loader(NeighborSampler([-1, -1]))))
        whole = conv[1](self.g, conv[0](self.g, x).relu())[outputs]
        self.assertLess(float((conv[1](blocks[1], conv[0](blocks[0], x[inputs]).relu()) - whole).abs().max()), 1e-5)

    def test_several_types(self):
        random = np.random.default_rng(1)
        edges = lambda a, b, n: tuple(torch.from_numpy(random.integers(0, k, n)) for k in (a, b))
        g = dgl.heterograph({("user", "follows", "user"): edges(200, 200, 2000), ("user", "plays", "game"): edges(200, 50, 900),
                             ("game", "played-by", "user"): edges(50, 200, 900)}, {"user": 200, "game": 50})
        layer = {"follows": 4, "plays": 3, "played-by": -1}
        fanouts = [layer, 2]
        sampler = NeighborSampler(fanouts)
        for _, outputs, blocks in self.loader(sampler, g, {"user": torch.arange(90), "game": torch.arange(50)}, batch_size=40, shuffle=True):
            self.check(g, blocks, [{g.to_canonical_etype(k): f for k, f in layer.items()}, 2])
        with self.assertRaisesRegex(ValueError, "a number for each type"):
            NeighborSampler([{"follows": 4}]).sample_blocks(g, {"user": torch.arange(3)})

    def test_weights_and_masks(self):
        for name, how in (("even", dict(mask="even")), ("p", dict(prob="p"))):
            if name == "p":
                self.g.edata["p"][::3] = 0
            allowed = self.g.edata[name] > 0
            lists = {self.g.canonical_etypes[0]: torch.bincount(self.g.edges()[1][allowed], minlength=1000)}
            for _, _, blocks in self.loader(NeighborSampler([4, 4], **how)):
                self.check(self.g, blocks, [4, 4], lists)
                for block in blocks:
                    self.assertTrue(bool(allowed[block.edata[dgl.EID]].all()))
        count, trials = torch.zeros(3), 6000  # one of three edges, by their weights
        g = dgl.graph((torch.arange(3), torch.full((3,), 3)))
        g.edata["w"] = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64)
        sampler = NeighborSampler([1], prob="w")
        for _ in range(trials):
            count[sampler.sample_blocks(g, torch.tensor([3]))[2][0].edata[dgl.EID]] += 1
        expected = trials * g.edata["w"].float() / 8
        self.assertLess(float(((count - expected) ** 2 / expected).sum()), 13.8)  # chi-square, 2 degrees of freedom, p = .001; a fixed seed

    def test_excluded_edges_are_in_no_block(self):
        edges = torch.arange(500)
        sampler = dgl.dataloading.as_edge_prediction_sampler(NeighborSampler([5, -1]), exclude="self", negative_sampler=dgl.dataloading.negative_sampler.Uniform(2))
        for _, pairs, _, blocks in self.loader(sampler, ids=edges, batch_size=50):
            hidden = set(pairs.edata[dgl.EID].tolist())
            for block in blocks:
                u, v = block.edges()
                su, sv = self.g.find_edges(block.edata[dgl.EID])
                self.assertTrue(torch.equal(block.srcdata[dgl.NID][u], su) and torch.equal(block.dstdata[dgl.NID][v], sv))
                self.assertFalse(hidden & set(block.edata[dgl.EID].tolist()))
            whole = blocks[-1]  # of the seeds by all edges: no other edge is missing
            left = [len(set(self.g.in_edges(int(v), form="eid").tolist()) - hidden) for v in whole.dstdata[dgl.NID]]
            self.assertEqual(whole.in_degrees().tolist(), left)

    def test_replacement_and_repeated_runs(self):
        draw = lambda: [b.edata[dgl.EID].tolist() for _, _, blocks in self.loader(NeighborSampler([4, 9], replace=True)) for b in blocks]
        torch.manual_seed(3)
        first = draw()
        torch.manual_seed(3)
        self.assertEqual(draw(), first)
        self.assertNotEqual(draw(), first)
        _, _, (block,) = NeighborSampler([9], replace=True).sample_blocks(self.g, torch.arange(50))
        self.assertEqual(block.in_degrees().tolist(), [9 if n else 0 for n in self.g.in_degrees(torch.arange(50)).tolist()])

    def test_edges_go_to_the_graph_s_own_numbers(self):
        g = dgl.graph((torch.tensor([2, 0, 1, 0]), torch.tensor([1, 2, 1, 1])))  # not in order of targets
        _, _, (block,) = NeighborSampler([-1]).sample_blocks(g, torch.tensor([1, 2]))
        self.assertEqual(sorted(block.edata[dgl.EID].tolist()), [0, 1, 2, 3])
        self.check(g, [block], [-1])

    def test_blocks_are_those_of_dgl_s_sampler(self):
        """By all neighbours there is nothing to draw: the same nodes, edges, types of ids and features, excluded edges too."""
        random = np.random.default_rng(3)
        edges = lambda a, b, n: tuple(torch.from_numpy(random.integers(0, k, n)) for k in (a, b))
        typed = dgl.heterograph({("a", "x", "b"): edges(60, 40, 200), ("b", "y", "a"): edges(40, 60, 150), ("a", "z", "a"): edges(60, 60, 0)},
                                {"a": 60, "b": 40, "c": 5})
        for t in typed.ntypes:
            typed.nodes[t].data["f"] = torch.randn(typed.num_nodes(t), 2)
        self.g.edata["w"] = torch.randn(12000, 3)
        cases = [(self.g, torch.arange(20), None), (self.g.int(), torch.arange(20, dtype=torch.int32), torch.arange(0, 12000, 3, dtype=torch.int32)),
                 (self.g, torch.arange(0, 40)[::2], torch.arange(0, 12000, 2)), (typed, {"a": torch.arange(9)}, None),
                 (typed, {"a": torch.arange(9), "b": torch.arange(3), "c": torch.arange(2)}, {("a", "x", "b"): torch.arange(0, 200, 2), ("b", "y", "a"): torch.arange(90)})]
        for g, seeds, excluded in cases:
            theirs = dgl.dataloading.NeighborSampler([-1, -1], fused=False).sample(g, seeds, excluded)
            ours = NeighborSampler([-1, -1]).sample(g, seeds, excluded)
            for mine, other in zip(ours[2], theirs[2]):
                self.assertEqual((mine.ntypes, mine.canonical_etypes, mine.idtype), (other.ntypes, other.canonical_etypes, other.idtype))
                for t in g.ntypes:
                    for side in ("srcnodes", "dstnodes"):
                        a, b = getattr(mine, side)[t].data, getattr(other, side)[t].data
                        self.assertEqual(set(a), set(b))
                        self.assertEqual(sorted(a[dgl.NID].tolist()), sorted(b[dgl.NID].tolist()))
                        for name in set(a) - {dgl.NID}:
                            self.assertTrue(torch.equal(a[name], g.nodes[t].data[name][a[dgl.NID].long()]))
                for key in g.canonical_etypes:
                    a, b = mine.edges[key].data, other.edges[key].data
                    self.assertEqual((sorted(a[dgl.EID].tolist()), a[dgl.EID].dtype, set(a)), (sorted(b[dgl.EID].tolist()), b[dgl.EID].dtype, set(b)))
                    u, v = mine.edges(etype=key)
                    su, sv = g.find_edges(a[dgl.EID], etype=key)
                    self.assertTrue(torch.equal(mine.srcnodes[key[0]].data[dgl.NID][u.long()], su))
                    self.assertTrue(torch.equal(mine.dstnodes[key[2]].data[dgl.NID][v.long()], sv))

    def test_a_changed_graph_is_seen(self):
        g, sampler = dgl.graph(([1, 2, 3], [0, 0, 1])), NeighborSampler([-1], prob="p")
        found = lambda: sorted(sampler.sample_blocks(g, torch.tensor([0]))[2][0].edata[dgl.EID].tolist())
        g.edata["p"] = torch.tensor([1.0, 0, 1], dtype=torch.bfloat16)
        self.assertEqual(found(), [0])
        g.edata["p"] = torch.tensor([0.0, 1, 1])
        self.assertEqual(found(), [1])
        g.edata["p"][0] = 5
        self.assertEqual(found(), [0, 1])
        g.add_edges([3], [0], {"p": torch.ones(1)})
        self.assertEqual(found(), [0, 1, 3])
        g.remove_edges([1])
        self.assertEqual(found(), [0, 2])
        g.add_nodes(1)
        self.assertEqual(len(sampler.sample_blocks(g, torch.tensor([4]))[2][0].srcdata[dgl.NID]), 1)

    def test_what_is_not_sampled_is_refused(self):
        for error, text, make in ((NotImplementedError, "edge_dir", lambda: NeighborSampler([2], edge_dir="out")),
                                  (ValueError, "prob and mask", lambda: NeighborSampler([2], prob="a", mask="b")),
                                  (NotImplementedError, "replacement", lambda: NeighborSampler([2], prob="a", replace=True)),
                                  (KeyError, "no 'q'", lambda: NeighborSampler([2], prob="q").sample_blocks(self.g, torch.arange(3))),
                                  (ValueError, "given twice", lambda: NeighborSampler([2]).sample_blocks(self.g, torch.tensor([3, 3]))),
                                  (ValueError, "seed_nodes: the graph has 2 types of them", lambda: NeighborSampler([2]).sample_blocks(
                                      dgl.heterograph({("a", "x", "b"): ([0], [0])}), torch.tensor([0]))),
                                  (IndexError, "node 1000", lambda: NeighborSampler([2]).sample_blocks(self.g, torch.tensor([1000])))):
            with self.assertRaisesRegex(error, text):
                make()


if __name__ == "__main__":
    unittest.main()
