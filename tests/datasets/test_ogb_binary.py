"""ggnn-data convert reads what OGB's DatasetSaver writes, by its own calls of NumPy, and what papers100M is made of:

python3 -m unittest discover -s tests
"""

import gzip
import os
import pickle
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "build", "ggnn-data")

try:
    import numpy as np
except ImportError:
    np = None


class Harm:
    """Unpickled, it runs a command."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@unittest.skipIf(np is None, "NumPy is not installed")
@unittest.skipUnless(os.path.exists(TOOL), "build/ggnn-data is not built")
class Folder(unittest.TestCase):
    NODES, EDGES, WIDTH, CLASSES = 300, 2000, 7, 5

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.top = held.name
        self.root = os.path.join(self.top, "papers")
        rng = np.random.default_rng(3)
        self.graph = {
            "edge_index": rng.integers(0, self.NODES, (2, self.EDGES)),
            "num_nodes": self.NODES,
            "node_feat": rng.standard_normal((self.NODES, self.WIDTH)),
            "edge_feat": None,
            "node_year": rng.integers(1990, 2020, (self.NODES, 1)),
        }
        self.label = rng.integers(0, self.CLASSES, (self.NODES, 1)).astype(np.float32)
        self.label[::3] = np.nan
        self.label[1] = self.CLASSES - 1  # all classes are there
        known = np.flatnonzero(~np.isnan(self.label[:, 0]))
        self.split = dict(zip(("train", "valid", "test"), np.split(rng.permutation(known), [80, 130])))

    def saved(self, write=None, split="time", **other):
        """save_graph_list, save_target_labels and, as papers100M has it, the split as lists."""
        write = write or np.savez_compressed
        raw, parts = os.path.join(self.root, "raw"), os.path.join(self.root, "split", split)
        os.makedirs(raw, exist_ok=True)
        os.makedirs(parts, exist_ok=True)
        graph = dict(self.graph, **other)
        data = {"num_nodes_list": np.array([graph["num_nodes"]]).astype(np.int64)}
        data["edge_index"] = np.concatenate([graph["edge_index"]], axis=1).astype(np.int64)
        data["num_edges_list"] = np.array([graph["edge_index"].shape[1]]).astype(np.int64)
        for key, values in graph.items():
            if key not in ("edge_index", "num_nodes") and values is not None:
                kind = np.int64 if "int" in str(values.dtype) else np.float32
                data[key] = np.concatenate([values], axis=0).astype(kind)
        write(os.path.join(raw, "data.npz"), **data)
        write(os.path.join(raw, "node-label.npz"), node_label=self.label)
        for part, ids in self.split.items():
            with gzip.open(os.path.join(parts, part + ".csv.gz"), "wt") as file:
                file.write("".join(f"{node}\n" for node in ids))
        return parts

    def run_tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def converted(self, *options):
        """The arrays that export makes of what convert made."""
        out, arrays = os.path.join(self.top, "out.ggnn"), tempfile.mkdtemp(dir=self.top)
        ran = self.run_tool("convert", self.root, out, *options)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.said = ran.stdout
        folder = os.path.join(arrays, "arrays")
        ran = self.run_tool("export", out, folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return {name[:-4]: np.load(os.path.join(folder, name)) for name in os.listdir(folder)}

    def refused(self, words, *options):
        ran = self.run_tool("convert", self.root, os.path.join(self.top, "none.ggnn"), *options)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(words, ran.stderr)

    def check_graph(self, made):
        source, target = self.graph["edge_index"]
        pairs = np.unique(np.stack([target, source]), axis=1)  # by target, then by source, each once
        self.assertEqual(made["indices"].tolist(), pairs[1].tolist())
        self.assertEqual(np.diff(made["indptr"]).tolist(), np.bincount(pairs[0], minlength=self.NODES).tolist())
        known = np.nan_to_num(self.label[:, 0], nan=-1).astype(int)
        self.assertEqual(made["label"].tolist(), known.tolist())
        for part, name in (("train", "train"), ("valid", "val"), ("test", "test")):
            self.assertEqual(np.flatnonzero(made[name]).tolist(), sorted(self.split[part]))

    def test_what_datasetsaver_writes_is_read(self):
        for write in (np.savez_compressed, np.savez):
            self.saved(write)
            made = self.converted()
            self.check_graph(made)
            self.assertTrue(np.array_equal(made["feat"], self.graph["node_feat"].astype(np.float32)))
            self.assertIn("as ogb-binary (OGB binary folder)", self.said)
            self.assertIn("left out   node_year.npy\n", self.said)

    def test_features_may_be_left_out(self):
        self.saved()
        made = self.converted("--no-features")
        self.check_graph(made)
        self.assertNotIn("feat", made)

    def test_rows_of_edges_follow_their_edges(self):
        rows = np.arange(self.EDGES, dtype=np.float32)[:, None] * [1, -1]
        self.saved(edge_feat=rows)
        made = self.converted("--keep-duplicates")
        source, target = self.graph["edge_index"]
        order = np.lexsort((np.arange(self.EDGES), source, target))
        self.assertTrue(np.array_equal(next(v for k, v in made.items() if k.startswith("edge_")), rows[order]))

    def test_a_split_that_torch_saved_is_refused_and_not_run(self):
        marker = os.path.join(self.top, "ran")
        harm = pickle.dumps(Harm(f"touch '{marker}'"))
        pickle.loads(harm)
        self.assertTrue(os.path.exists(marker), "the command does what the test looks for")
        os.remove(marker)
        parts = self.saved()
        with open(os.path.join(parts, "split_dict.pt"), "wb") as file:
            file.write(harm)
        self.check_graph(self.converted())
        for part in self.split:
            os.remove(os.path.join(parts, part + ".csv.gz"))
        self.refused("split/time/split_dict.pt: is a pickle, and reading one may run code: it is not read")
        self.converted("--split", "50:25:25")
        for name in ("data.npz", "node-label.npz"):
            self.saved()
            objects = np.array([Harm(f"touch '{marker}'")], object)
            np.savez(os.path.join(self.root, "raw", name), edge_index=objects, node_label=objects, num_nodes_list=[1], num_edges_list=[1])
            self.refused("elements of type '|O' (pickled Python objects)")
        self.assertFalse(os.path.exists(marker))

    def test_the_documented_lines_make_lists_of_a_split(self):
        """docs/DATA.md: what to do with split_dict.pt, in place of which stands a dictionary of the same arrays."""
        with open(os.path.join(ROOT, "docs", "DATA.md")) as file:
            text = file.read()
        begin = text.index("for part, ids in torch.load(")
        line = text[begin : text.index("\n", begin)].replace("torch.load(", "load(").replace(", weights_only=False", "")
        parts = self.saved()
        for part in self.split:
            os.remove(os.path.join(parts, part + ".csv.gz"))
        here = os.getcwd()
        os.chdir(parts)
        try:
            exec(line, {"np": np, "load": lambda path: self.split})
        finally:
            os.chdir(here)
        self.check_graph(self.converted())


if __name__ == "__main__":
    unittest.main()
