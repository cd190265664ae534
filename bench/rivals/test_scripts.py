"""The rivals' scripts on a small graph with stand-ins for torch, PyG and torch-sparse: which function a row calls, that its
answer is checked, what is said where a library is missing. NumPy alone:

python3 -m unittest discover -s bench/rivals
"""

import contextlib
import importlib
import importlib.util
import os
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rows  # noqa: E402

NUMPY = importlib.util.find_spec("numpy")
if NUMPY:
    import common
    import numpy as np

    class Tensor(np.ndarray):
        def expand(self, _, width):
            return np.broadcast_to(self, (len(self), width)).view(Tensor)

        def cpu(self):
            return self

        def to(self, _):
            return self

    class Matrix:
        """CSR, or a SparseTensor without values: all products by rows."""

        def __init__(self, indptr, indices, value=None):
            self.indptr, self.indices, self.value = indptr, indices, value

        def __matmul__(self, x):
            return self.product(x, "sum")

        def product(self, x, reduce):
            out = np.zeros_like(x)
            for v, (begin, end) in enumerate(zip(self.indptr[:-1], self.indptr[1:])):
                weight = 1 if self.value is None else self.value[begin:end, None]
                out[v] = (x[self.indices[begin:end]] * weight).sum(0) / (max(end - begin, 1) if reduce == "mean" else 1)
            return out


class Torch(types.ModuleType):
    """torch in NumPy: what the scripts' products call. whole: does the compiler take a function as one graph?"""

    def __init__(self, whole=True):
        super().__init__("torch")
        self.whole, self.compiled, self.__version__ = whole, [], "0"
        self.nn = types.SimpleNamespace(Module=object)
        self.zeros_like = np.zeros_like if NUMPY else None

    def compile(self, function, fullgraph=False, dynamic=None):
        def run(*arguments):
            if fullgraph and not self.whole:
                raise RuntimeError("sparse tensors are not traced\nfrom user code")
            return function(*arguments)

        self.compiled.append((getattr(function, "__name__", type(function).__name__), fullgraph))
        return run

    def set_num_threads(self, _):
        pass

    inference_mode = staticmethod(contextlib.nullcontext)

    @staticmethod
    def from_numpy(array):
        return array.view(Tensor)

    @staticmethod
    def index_add(out, dim, places, values):
        assert dim == 0
        out = out.copy()
        np.add.at(out, places, values)
        return out

    @staticmethod
    def scatter_reduce(out, dim, places, values, how, include_self):
        assert dim == 0 and not include_self and how in ("sum", "mean")
        out, count = out.copy(), np.zeros(len(out), int)
        np.add.at(out, places[:, 0], values)
        np.add.at(count, places[:, 0], 1)
        return out / np.maximum(count, 1)[:, None].astype(np.float32) if how == "mean" else out

    @staticmethod
    def sparse_csr_tensor(indptr, indices, value, size, check_invariants):
        return Matrix(indptr, indices, value)


def sparse_module(spoil=0):
    """torch-sparse; spoil: what is added to its answers."""
    module = types.ModuleType("torch_sparse")
    module.__version__ = "0"
    module.SparseTensor = lambda rowptr, col, value, sparse_sizes, is_sorted: Matrix(rowptr, col, value)
    module.matmul = lambda a, x, reduce: a.product(x, reduce) + spoil
    return module


def geometric_modules(**typing):
    """PyG: a layer that gathers and adds, and what it says is installed."""

    class SimpleConv:
        def __init__(self, aggr):
            self.aggr = aggr

        def __call__(self, x, edges):
            return Torch.scatter_reduce(np.zeros_like(x), 0, edges[1][:, None], x[edges[0]], self.aggr, False)

    pyg, nn = types.ModuleType("torch_geometric"), types.ModuleType("torch_geometric.nn")
    pyg.__version__, pyg.nn = "0", nn
    pyg.typing = types.SimpleNamespace(**typing)
    nn.SimpleConv = SimpleConv
    nn.GATConv = nn.GCNConv = nn.SAGEConv = object
    return {"torch_geometric": pyg, "torch_geometric.nn": nn}


@unittest.skipUnless(NUMPY, "NumPy is not installed")
class Products(unittest.TestCase):
    def graph(self):
        g = object.__new__(common.Graph)
        degree = np.arange(40) % 7  # some nodes have no list
        g.indptr = np.concatenate([[0], np.cumsum(degree)])
        g.nodes, g.edges = len(degree), int(g.indptr[-1])
        g.indices = common.integers(g.edges, g.nodes, 4).astype(np.int32)
        return g

    def run_case(self, who, how="sum", modules=(), torch=None):
        """The result of a rival's SpMM. Expected are sums of float64, by a loop of their own."""
        torch = torch or Torch()
        graph = self.graph()
        x = common.noise((graph.nodes, 32), 1).astype(np.float64)
        lists = [graph.indices[begin:end] for begin, end in zip(graph.indptr[:-1], graph.indptr[1:])]
        want = np.array([x[ids].sum(0) / (max(len(ids), 1) if how == "mean" else 1) for ids in lists])
        task = common.Task(common.options([f"spmm:{how}:32", "--graph", "", "--out", "", "--variant", who.variant, "--quick"]))
        task._graph, task._expected = graph, {"rows": want[graph.rows()]}
        with unittest.mock.patch.dict(sys.modules, {"torch": torch, **dict(modules)}), \
                unittest.mock.patch.object(common, "limit_memory") as limited:
            name = who.script[: -len(".py")]
            sys.modules.pop(name, None)
            importlib.import_module(name).CASES["spmm"](task, how, "32")
            sys.modules.pop(name)
        self.limited = limited.called
        return task.result

    def rivals(self, prefix):
        (row,) = [r for r in rows.all_rows() if r.case == "spmm:mean:32"]
        return [who for who in row.rivals if who.name.startswith(prefix)]

    def test_every_way_to_compile_gives_the_sum_and_the_mean(self):
        called = {}
        for who in self.rivals("torch.compile"):
            for how in ("sum", "mean"):
                torch = Torch()
                result = self.run_case(who, how, geometric_modules(), torch)
                self.assertNotIn("wrong", result, (who, how))
                self.assertLess(result["checks"]["rows"], 1e-5)
                self.assertEqual((result["work"], result["unit"]), (self.graph().edges, "edges"))
                self.assertTrue(self.limited)
                called[who.name] = torch.compiled
        self.assertEqual(
            called,
            {
                "torch.compile index_add": [("by_index_add", True)],
                "torch.compile scatter_reduce": [("by_scatter_reduce", True)],
                "torch.compile CSR": [("by_csr", True)],
                "torch.compile PyG's layer": [("SimpleConv", True)],
            },
        )

    def test_what_is_not_one_graph_is_compiled_in_parts_and_says_so(self):
        for who in self.rivals("torch.compile"):
            torch = Torch(whole=False)
            result = self.run_case(who, "mean", geometric_modules(), torch)
            self.assertEqual(result["notes"], ["not one graph: sparse tensors are not traced"])
            self.assertEqual([whole for _, whole in torch.compiled], [True, False])
            self.assertNotIn("wrong", result)

    def test_want_of_memory_is_not_tried_again(self):
        torch = Torch()
        torch.index_add = unittest.mock.Mock(side_effect=RuntimeError("DefaultCPUAllocator: can't allocate memory"))
        (who,) = self.rivals("torch.compile index_add")
        with self.assertRaisesRegex(RuntimeError, "allocate memory"):
            self.run_case(who, "sum", (), torch)
        self.assertEqual(torch.compiled, [("by_index_add", True)])

    def test_a_compiled_sum_that_is_wrong_is_found(self):
        torch = Torch()
        torch.index_add = lambda out, dim, places, values: out
        (who,) = self.rivals("torch.compile index_add")
        self.assertRegex(self.run_case(who, "sum", (), torch)["wrong"], "^rows differs from ours by 1 of")

    def test_torch_sparse_gives_the_sum_and_the_mean_and_is_checked(self):
        (who,) = self.rivals("PyG torch-sparse")
        for how in ("sum", "mean"):
            modules = dict(geometric_modules(), torch_sparse=sparse_module())
            result = self.run_case(who, how, modules)
            self.assertNotIn("wrong", result)
            self.assertLess(result["checks"]["rows"], 1e-5)
        result = self.run_case(who, "sum", dict(geometric_modules(), torch_sparse=sparse_module(spoil=1)))
        self.assertIn("differs from ours", result["wrong"])

    def test_a_missing_torch_sparse_is_said(self):
        (who,) = self.rivals("PyG torch-sparse")
        with self.assertRaisesRegex(common.Skip, "^torch-sparse is not installed"):
            self.run_case(who, "sum", dict(geometric_modules(), torch_sparse=None))


@unittest.skipUnless(NUMPY, "NumPy is not installed")
class Samplers(unittest.TestCase):
    def choose(self, lib, sparse, *name):
        pyg = geometric_modules(WITH_PYG_LIB=lib, WITH_TORCH_SPARSE=sparse)["torch_geometric"]
        return common.choose_sampler(pyg, *name), pyg.typing.WITH_PYG_LIB

    def test_a_named_library_samples(self):
        self.assertEqual(self.choose(True, True, "torch-sparse"), ("torch-sparse", False))
        self.assertEqual(self.choose(True, True, "pyg-lib"), ("pyg-lib", True))

    def test_without_a_name_it_is_pyg_lib_where_that_is(self):
        self.assertEqual(self.choose(True, True), ("pyg-lib", True))
        self.assertEqual(self.choose(False, True), ("torch-sparse", False))

    def test_one_that_is_missing_is_said(self):
        for lib, sparse, name in ((False, True, "pyg-lib"), (True, False, "torch-sparse"), (False, False, "")):
            with self.assertRaisesRegex(common.Skip, f"^{name or 'torch-sparse'} is not installed"):
                self.choose(lib, sparse, name)


@unittest.skipUnless(NUMPY, "NumPy is not installed")
class Memory(unittest.TestCase):
    def limit(self, text, most=-1):
        with tempfile.NamedTemporaryFile("w") as file, unittest.mock.patch.object(common, "resource") as system:
            system.getrlimit.return_value = (-1, most)
            file.write(text)
            file.flush()
            common.limit_memory(file.name)
            return [call.args[1] for call in system.setrlimit.call_args_list]

    def test_the_limit_is_nine_tenths_of_what_is_free(self):
        text = "MemTotal: 9999 kB\nMemAvailable:     1000 kB\n"
        self.assertEqual(self.limit(text), [(921600, -1)])
        self.assertEqual(self.limit(text, 5000), [(5000, 5000)])
        self.assertEqual(self.limit("MemTotal: 9999 kB\n"), [])


if __name__ == "__main__":
    unittest.main()
