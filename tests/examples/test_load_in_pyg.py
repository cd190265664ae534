"""examples/load_in_pyg.py: weights of ggnn-train in PyTorch Geometric's layers give the logits of ggnn-train predict; NumPy and the
library safetensors read the files alike.

python3 -m unittest discover -s tests/examples       (BUILD=FOLDER: the programs' folder, else build)
"""

import functools
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
EXAMPLE = os.path.join(ROOT, "examples", "load_in_pyg.py")


def lacks(*names):
    return [name for name in names if importlib.util.find_spec(name) is None]


def run(name, *arguments):
    done = subprocess.run([os.path.join(BUILD, name), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS="1"))
    if done.returncode:
        raise AssertionError(f"{name} {arguments}: {done.stdout}")


def write_arrays(folder):
    """Directed edges, some of them twice; self-loops; nodes without neighbours; features of edges."""
    import numpy as np
    rng = np.random.default_rng(1)
    nodes, edges = 160, 900
    edge_index = np.stack([rng.integers(0, nodes, edges), rng.integers(0, nodes - 10, edges)])
    edge_index[0, 200:] = (edge_index[1, 200:] + 4 * rng.integers(0, nodes, edges - 200)) % nodes  # of the same class
    edge_index[:, 30:60] = edge_index[:, :30]
    edge_index[0, 100:110] = edge_index[1, 100:110]
    label = np.arange(nodes) % 4
    part = rng.integers(0, 3, nodes)
    arrays = {"edge_index": edge_index, "edge_feat": rng.normal(size=(edges, 3)).astype("f4"), "label": label,
              "feat": (rng.normal(size=(nodes, 12)) + 2 * np.eye(4, 12)[label]).astype("f4"),
              "train": part == 0, "val": part == 1, "test": part == 2}
    os.mkdir(folder)
    for name, array in arrays.items():
        np.save(os.path.join(folder, name + ".npy"), array)


@functools.lru_cache
def example_module():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyG's own, of torch.jit
        spec = importlib.util.spec_from_file_location("load_in_pyg", EXAMPLE)
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)
    return example


def logits_with_all(example, weights, folder):
    """The example's layers, with what PyG's have not: residuals, norms, GraphSAGE's features of edges."""
    import numpy as np
    import torch
    import torch.nn.functional as F
    w, _ = example.load(weights)
    indptr, indices, x, rows = (torch.from_numpy(np.load(os.path.join(folder, name + ".npy"))) for name in ("indptr", "indices", "feat", "edge_feat"))
    nodes = torch.arange(len(indptr) - 1)
    edges = torch.stack([indices, torch.repeat_interleave(nodes, indptr.diff())])
    mean_row = torch.zeros(len(nodes), rows.shape[1]).index_add(0, edges[1], rows) / indptr.diff().clamp(1)[:, None]
    if "convs.0.lin_r.weight" not in w:
        edges, rows = torch.cat([edges, nodes.expand(2, -1)], 1), torch.cat([rows, mean_row])  # a node's own: the mean of its list's
    layers = 1 + max(int(name.split(".")[1]) for name in w)
    for l in range(layers):
        def of(kind):
            return {name.removeprefix(f"{kind}.{l}."): tensor for name, tensor in w.items() if name.startswith(f"{kind}.{l}.")}
        conv = example.layer(of("convs"), x.shape[1], **({"edge_dim": rows.shape[1]} if "lin_edge.weight" in of("convs") else {}))
        conv.load_state_dict(of("convs"))
        h = conv(x, edges, rows) if "lin_edge.weight" in of("convs") else conv(x, edges)
        if of("edges"):
            h = h + mean_row @ of("edges")["weight"].T
        if of("residuals"):
            h = h + x @ of("residuals")["weight"].T
        elif any(name.startswith("residuals.") for name in w):
            h = h + x
        if of("norms"):
            h = F.layer_norm(h, h.shape[1:], **of("norms"))
        x = h if l + 1 == layers else F.elu(h) if "att_src" in of("convs") else F.relu(h)
    return x.detach()


@unittest.skipIf(lacks("numpy"), "NumPy is not installed")
@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "ggnn-train")), "ggnn-train is not built")
class Weights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        write_arrays(cls.at("arrays"))
        run("ggnn-data", "convert", cls.at("arrays"), cls.at("g.ggnn"), "--from", "npy", "--keep-duplicates")
        run("ggnn-data", "export", cls.at("g.ggnn"), cls.at("graph"))

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder, name)

    def trained(self, options):
        run("ggnn-train", "--data", self.at("g.ggnn"), *options.split(), "--epochs", 8, "--batch", 32, "--lr", .05, "--save", self.at("c"))
        for name in "w.npz", "w.safetensors":
            run("ggnn-train", "export", self.at("c"), self.at(name))

    def pygs_difference(self, compute, options):
        import numpy as np
        self.trained(options)
        run("ggnn-train", "predict", "--load", self.at("c"), "--data", self.at("g.ggnn"), "--out", self.at("p.npy"))
        ours, most = np.load(self.at("p.npy")), 0
        self.assertGreater(ours.std(), .1)
        for name in ["w.npz"] + ["w.safetensors"] * (not lacks("safetensors")):
            pygs = compute(self.at(name), self.at("graph")).numpy()
            self.assertEqual(pygs.shape, ours.shape)
            most = max(most, float(abs(pygs - ours).max()))
        return most

    @unittest.skipIf(lacks("torch", "torch_geometric"), "torch or torch_geometric is not installed")
    def test_pygs_layers_have_our_logits(self):
        example = example_module()
        plain = ("--model gcn", "--model sage", "--model gat --heads 4 --out-heads 2", "--model gat --heads 1", "--model sage --aggregator gcn",
                 "--model sage --aggregator pool")
        more = ("--model gcn --residual --norm layer", "--model sage --residual --norm layer", "--model gat --residual --norm layer",
                "--model gat --edge-features", "--model sage --edge-features")
        for options in plain + more:
            with self.subTest(options):
                compute = example.logits if options in plain else functools.partial(logits_with_all, example)
                difference = self.pygs_difference(compute, options + " --layers 3 --hidden 16 --fanout 6,6,6")
                print(f"\n  {options}: {difference:.2g}", end="")
                self.assertLess(difference, 1e-5)

    @unittest.skipIf(lacks("torch", "torch_geometric"), "torch or torch_geometric is not installed")
    def test_it_runs_as_a_program(self):
        import numpy as np
        self.trained("--model gat --layers 2 --hidden 8 --fanout 4,4")
        done = subprocess.run([sys.executable, "-B", "-W", "ignore", EXAMPLE, self.at("w.npz"), self.at("graph"), self.at("l.npy")],
                              stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stdout, f"{self.at('l.npy')}: 160 nodes, 4 logits each\n")
        self.assertEqual(np.load(self.at("l.npy")).shape, (160, 4))

    @unittest.skipIf(lacks("torch", "torch_geometric"), "torch or torch_geometric is not installed")
    def test_what_no_layer_of_pyg_has_is_refused_by_its_option(self):
        """The option tells: a residual has no weights where in = out, and importance those of the mean."""
        refused = {"--residual": "--model gcn --residual", "--norm layer": "--model sage --norm layer", "--edge-features": "--model gat --edge-features",
                   "--aggregator importance": "--model sage --aggregator importance", "--model mlp": "--model mlp"}
        for option, options in refused.items():
            self.trained(options + " --layers 2 --hidden 12")
            for name in ["w.npz"] + ["w.safetensors"] * (not lacks("safetensors")):
                with self.subTest(option, name=name), self.assertRaises(SystemExit) as end:
                    example_module().logits(self.at(name), self.at("graph"))
                self.assertTrue(str(end.exception).startswith(f"{self.at(name)}: trained with {option}"), end.exception)

    def test_numpy_reads_npz(self):
        import numpy as np
        self.trained("--model gat --heads 4 --layers 2 --hidden 16 --fanout 4,4")
        with np.load(self.at("w.npz"), allow_pickle=False) as w:
            about = json.loads(w["__metadata__"].item())
            self.assertEqual((about["model"], about["heads"], w["convs.0.att_src"].shape), ("gat", "4", (1, 4, 4)))
            self.assertTrue(all(w[name].dtype == np.float32 for name in w if name != "__metadata__"))

    @unittest.skipIf(lacks("safetensors"), "safetensors is not installed")
    def test_safetensors_reads_what_numpy_reads(self):
        import numpy as np
        from safetensors import safe_open
        self.trained("--model sage --aggregator pool --residual --norm layer --layers 3 --hidden 16 --fanout 4,4,4")
        with np.load(self.at("w.npz")) as npz, safe_open(self.at("w.safetensors"), "np") as safe:
            self.assertEqual(set(npz), {*safe.keys(), "__metadata__"})
            self.assertEqual(json.loads(npz["__metadata__"].item()), safe.metadata())
            for name in safe.keys():
                np.testing.assert_array_equal(npz[name], safe.get_tensor(name))


if __name__ == "__main__":
    unittest.main()
