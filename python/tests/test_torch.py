"""Operations and layers under torch.autograd: beside PyG's layers, and beside finite differences."""
import unittest
import warnings

import numpy as np

try:
    import torch
    import torch_geometric.nn as theirs
except ImportError:
    raise unittest.SkipTest("torch or torch_geometric is not installed")

import libggnn
import libggnn.torch as ours

warnings.simplefilter("ignore")


def edges(num_dst, num_src, many, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randint(0, num_src, (many,), generator=g), torch.randint(0, num_dst, (many,), generator=g)])


class Layers(unittest.TestCase):
    def beside(self, wanted, got, x, edge_index):
        """Outputs within 1e-6 and gradients within 1e-5, of their largest value."""
        got.load_state_dict(wanted.state_dict())
        self.assertEqual(sorted(dict(wanted.named_parameters())), sorted(dict(got.named_parameters())))
        weight, found = None, []
        for layer in (wanted, got):
            layer.zero_grad()
            inputs = [t.clone().requires_grad_() for t in (x if isinstance(x, tuple) else (x,))]
            out = layer(tuple(inputs) if isinstance(x, tuple) else inputs[0], edge_index)
            weight = torch.randn(out.shape, generator=torch.Generator().manual_seed(1)) if weight is None else weight
            out.backward(weight)
            found.append((out.detach(), [t.grad for t in inputs], {k: p.grad for k, p in layer.named_parameters()}))
        near = lambda a, b, much: self.assertLessEqual(float((a - b).abs().max()), much * max(1.0, float(a.abs().max())))
        near(found[0][0], found[1][0], 1e-6)
        for a, b in zip(found[0][1], found[1][1]):
            near(a, b, 1e-5)
        for name in found[0][2]:
            near(found[0][2][name], found[1][2][name], 1e-5)

    def test_layers_are_pygs(self):
        x, some = torch.randn(300, 16, generator=torch.Generator().manual_seed(2)), edges(300, 300, 2500)
        some[1][some[1] == 9] = 10  # a node without edges; loops and equal edges are in it by chance
        for edge_index in (some, some[:, torch.sort(some[1], stable=True).indices], some[:, :0]):
            for aggr in ("mean", "sum", "max", "min"):
                self.beside(theirs.SAGEConv(16, 8, aggr=aggr), ours.SAGEConv(16, 8, aggr=aggr), x, edge_index)
            self.beside(theirs.SAGEConv(16, 8, normalize=True, root_weight=False, bias=False),
                        ours.SAGEConv(16, 8, normalize=True, root_weight=False, bias=False), x, edge_index)
            self.beside(theirs.GCNConv(16, 8), ours.GCNConv(16, 8), x, edge_index)
            self.beside(theirs.GATConv(16, 8, heads=4), ours.GATConv(16, 8, heads=4), x, edge_index)
            self.beside(theirs.GATConv(16, 8, heads=4, concat=False, negative_slope=.1), ours.GATConv(16, 8, heads=4, concat=False, negative_slope=.1), x, edge_index)

    def test_layers_of_a_block_with_fewer_targets_are_pygs(self):
        x, edge_index = torch.randn(300, 16), edges(100, 300, 1500)
        self.beside(theirs.SAGEConv(16, 8), ours.SAGEConv(16, 8), (x, x[:100]), edge_index)
        self.beside(theirs.SAGEConv((16, 4), 8), ours.SAGEConv((16, 4), 8), (x, torch.randn(100, 4)), edge_index)
        block = ours.Block.from_edge_index(edge_index, 100, 300)
        self.assertTrue(torch.equal(ours.spmm(x, block), torch.zeros(100, 16).index_add_(0, edge_index[1][torch.sort(edge_index[1], stable=True).indices],
                                                                                          x[edge_index[0][torch.sort(edge_index[1], stable=True).indices]])))

    def test_targets_may_have_rows_of_their_own(self):
        x, own, edge_index = torch.randn(300, 16), torch.randn(100, 16), edges(100, 300, 1500)
        self.beside(theirs.GATConv(16, 8, heads=4), ours.GATConv(16, 8, heads=4), (x, own), edge_index)

    def test_loops_of_a_block_count_once(self):
        x, edge_index = torch.randn(300, 16), edges(300, 300, 3000)
        block = ours.Block.from_edge_index(edge_index, 300)
        self.assertTrue(bool((edge_index[0] == edge_index[1]).any()))
        for layer in (ours.GATConv(16, 8), ours.GCNConv(16, 8)):
            self.assertTrue(torch.equal(layer(x, block), layer(x, edge_index)))

    def test_gradients_that_are_not_computed_are_refused(self):
        block = ours.Block.from_edge_index(edges(20, 30, 80), 20, 30)
        x, factor = torch.randn(30, 8, requires_grad=True), torch.rand(20, requires_grad=True)
        with self.assertRaisesRegex(NotImplementedError, "dst_scale is a constant"):
            ours.spmm(x, block, "sum", None, None, factor)
        grad, = torch.autograd.grad((ours.spmm(x, block) ** 2).sum(), x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "once_differentiable"):
            grad.sum().backward()

    def test_attention_drops_out_by_key(self):
        torch.manual_seed(3)
        layer, x, edge_index = ours.GATConv(16, 8, heads=2, dropout=.5), torch.randn(300, 16), edges(300, 300, 2500)
        first, second = layer(x, edge_index), layer(x, edge_index)
        self.assertFalse(torch.equal(first, second))
        layer.eval()
        self.assertTrue(torch.equal(layer(x, edge_index), layer(x, edge_index)))


class Blocks(unittest.TestCase):
    def test_layers_that_shrink_give_the_seeds_the_same_rows(self):
        from torch_geometric.data import Data
        from libggnn.pyg import NeighborLoader
        g = torch.Generator().manual_seed(4)
        data = Data(x=torch.randn(500, 16, generator=g), edge_index=torch.randint(0, 500, (2, 6000), generator=g))
        torch.manual_seed(7)
        convs = [ours.SAGEConv(16, 16), ours.SAGEConv(16, 16, "max"), ours.GATConv(16, 4, heads=2)]
        for batch in NeighborLoader(data, [4, 3, 2], batch_size=50):
            made, x, whole = ours.blocks(batch), batch.x, batch.x
            self.assertEqual([b.num_edges for b in made], [sum(batch.num_sampled_edges[:h]) for h in (3, 2, 1)])
            for conv, block in zip(convs, made):
                self.assertEqual(len(x), block.num_src)
                x = conv(x, block)
                whole = conv(whole, batch.edge_index)
            self.assertEqual(len(x), 50)
            self.assertLessEqual(float((x - whole[:50]).abs().max()), 1e-6)

    def test_what_has_no_layers_is_said(self):
        from torch_geometric.data import Data
        with self.assertRaisesRegex(ValueError, "does not say what each hop found"):
            ours.blocks(Data(edge_index=torch.zeros(2, 3, dtype=torch.long)))


class Operations(unittest.TestCase):
    def setUp(self):
        self.block = ours.Block.from_edge_index(edges(20, 30, 80), 20, 30)

    def differences(self, function, *inputs):
        """Gradients beside central differences."""
        inputs = [t.requires_grad_() for t in inputs]
        out = function(*inputs)
        weight = torch.randn(out.shape)
        (out * weight).sum().backward()
        for t in inputs:
            flat, grad = t.data.view(-1), t.grad.view(-1)
            for i in np.random.default_rng(0).integers(0, len(flat), 12):
                before, value = float(flat[i]), []
                for step in (1e-2, -1e-2):
                    flat[i] = before + step
                    value.append(float((function(*inputs).detach().double() * weight.double()).sum()))
                flat[i] = before
                self.assertAlmostEqual((value[0] - value[1]) / 2e-2, float(grad[i]), delta=2e-2 * max(1.0, abs(float(grad[i]))))

    def test_gradients_equal_central_differences(self):
        torch.manual_seed(5)
        b, x, w = self.block, torch.randn(30, 8), torch.rand(80, 2)
        factor = torch.rand(20)
        self.differences(lambda x: ours.spmm(x, b, "mean"), x.clone())
        self.differences(lambda x, w: ours.spmm(x, b, "sum", w), x.clone(), w.clone())
        self.differences(lambda x, w: ours.spmm(x, b, "mean", w), x.clone(), w.clone())
        self.differences(lambda x, w: ours.spmm(x, b, "sum", w, None, factor), x.clone(), w.clone())
        self.differences(lambda x: ours.spmm(x, b, "sum", None, torch.arange(30.0), factor, factor), x.clone())
        self.differences(lambda x, y: ours.sddmm(x, y, b, 2), x.clone(), torch.randn(20, 8))
        self.differences(lambda w: ours.softmax(w, b), w.clone())
        self.differences(lambda z, el, er: ours.gat(z, el, er, b), x.clone(), .1 + torch.rand(30, 2), torch.rand(20, 2))  # on one side of LeakyReLU's bend

    def test_any_number_of_threads_gives_the_same_bits(self):
        edge_index, threads = edges(5000, 5000, 100000), libggnn.get_num_threads()
        found = []
        for n in (1, 2, 7):
            libggnn.set_num_threads(n)
            torch.manual_seed(6)
            x = torch.randn(5000, 32, requires_grad=True)
            layer = ours.GATConv(32, 8, heads=4)
            layer(x, edge_index).sum().backward()
            found.append((x.grad, layer.att_src.grad))
        libggnn.set_num_threads(threads)
        for other in found[1:]:
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(found[0], other)))

    def test_wrong_inputs_are_named(self):
        b = self.block
        with self.assertRaisesRegex(ValueError, r"x is \(29, 8\), not \(30, any\)"):
            ours.spmm(torch.randn(29, 8), b)
        with self.assertRaisesRegex(TypeError, "x is torch.float64"):
            ours.spmm(torch.randn(30, 8).double(), b)
        with self.assertRaisesRegex(ValueError, "weight is"):
            ours.spmm(torch.randn(30, 8), b, "sum", torch.rand(79, 1))
        with self.assertRaisesRegex(ValueError, "spmm: an argument is out of range"):
            ours.spmm(torch.randn(30, 8), b, "sum", torch.rand(80, 3))
        with self.assertRaisesRegex(ValueError, r"dst_scale is \(19,\) of torch.float32 on cpu, not \(20,\)"):
            ours.spmm(torch.randn(30, 8), b, "sum", None, None, torch.rand(19))
        with self.assertRaisesRegex(IndexError, "edge_index names a node"):
            ours.Block.from_edge_index(torch.tensor([[0, 30], [0, 1]]), 20, 30)
        with self.assertRaisesRegex(ValueError, "no block"):
            ours.Block(torch.tensor([0, 2, 1]), torch.tensor([0]), 5)
        with self.assertRaisesRegex(ValueError, "no block: a source is not in"):
            ours.Block(torch.tensor([0, 1]), torch.tensor([2 ** 32 + 1]), 5)
        with self.assertRaisesRegex(TypeError, "indices is torch.float32"):
            ours.Block(torch.tensor([0, 1]), torch.tensor([1.]), 5)


if __name__ == "__main__":
    unittest.main()
