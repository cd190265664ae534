"""python -m libggnn.export: what other tools wrote, as .npy; and files that would run code."""
import contextlib
import io
import os
import pickle
import tempfile
import unittest

import numpy as np

from libggnn import export

try:
    import torch
except ImportError:
    torch = None
try:
    import yaml
except ImportError:
    yaml = None
try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.edges = np.random.default_rng(0).integers(0, 50, (2, 300))
        self.ran = self.path("ran")

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def run_export(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            code = export.main([*words])
        return code, said.getvalue()

    def arrays(self, out="out"):
        return {name[:-4]: np.load(self.path(out, name)) for name in os.listdir(self.path(out))}

    def refused(self, text, *words):
        code, said = self.run_export(*words)
        self.assertEqual(code, 1)
        self.assertRegex(said, text)
        self.assertFalse(os.path.exists(self.path("out")))
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.startswith(".export-")], [])

    def bomb(self):
        class Bomb:
            def __reduce__(bomb):
                return os.mkdir, (self.ran,)
        return Bomb()


@unittest.skipUnless(torch, "torch is not installed")
class Pt(Folder):
    def data(self):
        return {"edge_index": torch.from_numpy(self.edges), "x": torch.rand(50, 4), "y": torch.arange(50), "train_mask": torch.arange(50) < 20, "name": "graph"}

    def test_data_of_pyg_and_dicts_are_written(self):
        from torch_geometric.data import Data
        data = self.data()
        for number, content in enumerate((data, (data, None), Data(**{k: v for k, v in data.items() if k != "name"}))):
            torch.save(content, self.path("d.pt"))
            self.assertEqual(self.run_export("pt", self.path("d.pt"), self.path(f"out{number}"))[0], 0)
            found = self.arrays(f"out{number}")
            self.assertEqual(sorted(found), ["edge_index", "feat", "label", "train"])
            self.assertTrue(np.array_equal(found["edge_index"], self.edges) and np.array_equal(found["feat"], data["x"].numpy()))
        code, said = self.run_export("pt", self.path("d.pt"), self.path("out0"))
        self.assertEqual(code, 1)
        self.assertIn("is there already", said)

    def test_a_pickle_does_not_run(self):
        torch.save({**self.data(), "bomb": self.bomb()}, self.path("d.pt"))
        self.refused("--trust-pickle", "pt", self.path("d.pt"), self.path("out"))
        self.assertFalse(os.path.exists(self.ran))
        self.assertEqual(self.run_export("pt", "--trust-pickle", self.path("d.pt"), self.path("trusted"))[0], 0)
        self.assertTrue(os.path.exists(self.ran))

    def test_what_has_no_edges_is_said(self):
        torch.save({"x": torch.rand(3)}, self.path("d.pt"))
        self.refused("no data with an edge_index", "pt", self.path("d.pt"), self.path("out"))
        with open(self.path("d.pt"), "wb") as file:
            file.write(b"PK")
        self.refused("d.pt", "pt", self.path("d.pt"), self.path("out"))
        self.refused("No such file", "pt", self.path("none.pt"), self.path("out"))
        torch.save({"edge_index": torch.rand(2, 3)}, self.path("d.pt"))
        self.refused("edge_index is .* not .2, edges. of whole numbers", "pt", self.path("d.pt"), self.path("out"))


@unittest.skipUnless(yaml, "PyYAML is not installed")
class GraphBolt(Folder):
    def make(self, **change):
        np.save(self.path("edges.npy"), self.edges)
        np.save(self.path("feat.npy"), np.random.default_rng(1).random((50, 3), np.float32))
        np.save(self.path("seeds.npy"), np.arange(10, 30))
        np.save(self.path("labels.npy"), np.arange(20) % 4)
        item = lambda name, path: {"name": name, "format": "numpy", "path": path}
        about = {"graph": {"nodes": [{"num": 50}], "edges": [{"format": "numpy", "path": "edges.npy"}]},
                 "feature_data": [{"domain": "node", **item("feat", "feat.npy")}],
                 "tasks": [{"train_set": [{"data": [item("seeds", "seeds.npy"), item("labels", "labels.npy")]}]}], **change}
        with open(self.path("metadata.yaml"), "w") as file:
            yaml.dump(about, file)

    def test_a_data_set_is_written(self):
        self.make()
        self.assertEqual(self.run_export("graphbolt", self.folder.name, self.path("out"))[0], 0)
        found = self.arrays()
        self.assertTrue(np.array_equal(found["edge_index"], self.edges) and np.array_equal(found["train"], np.arange(10, 30)))
        self.assertTrue(np.array_equal(found["label"][10:30], np.arange(20) % 4) and (found["label"][:10] == -1).all())
        with open(self.path("edges.csv"), "w") as file:
            file.writelines(f"{u},{v}\n" for u, v in self.edges.T)
        self.make(graph={"nodes": [{"num": 50}], "edges": [{"format": "csv", "path": "edges.csv"}]})
        self.assertEqual(self.run_export("graphbolt", self.folder.name, self.path("second"))[0], 0)
        self.assertTrue(np.array_equal(self.arrays("second")["edge_index"], self.edges))

    def test_no_code_runs_and_what_is_missing_is_said(self):
        self.make()
        with open(self.path("metadata.yaml"), "a") as file:
            file.write(f"bomb: !!python/object/apply:os.mkdir ['{self.ran}']\n")
        self.refused("metadata.yaml: could not determine a constructor", "graphbolt", self.folder.name, self.path("out"))
        self.make()
        np.save(self.path("edges.npy"), np.array([self.bomb()], object), allow_pickle=True)
        self.refused("edges.npy", "graphbolt", self.folder.name, self.path("out"))
        self.assertFalse(os.path.exists(self.ran))
        self.make(graph={"nodes": [{"num": 50, "type": "a"}, {"num": 3, "type": "b"}], "edges": []})
        self.refused("nodes of several types", "graphbolt", self.folder.name, self.path("out"))
        self.make(graph={})
        self.refused("'nodes' is missing", "graphbolt", self.folder.name, self.path("out"))
        for name, array, text in (("labels.npy", np.full(20, .7), "labels of train_set are float64"), ("seeds.npy", np.zeros((20, 2), np.int64), "pairs of nodes"),
                                  ("seeds.npy", np.full(20, 50), "index 50 is out of bounds")):
            self.make()
            np.save(self.path(name), array)
            self.refused(text, "graphbolt", self.folder.name, self.path("out"))
        with open(self.path("edges.csv"), "w") as file:
            file.write("src,dst\n0,1\n")
        self.make(graph={"nodes": [{"num": 50}], "edges": [{"format": "csv", "path": "edges.csv"}]})
        self.refused("edges.csv: invalid literal", "graphbolt", self.folder.name, self.path("out"))


@unittest.skipUnless(pyarrow, "pyarrow is not installed")
class Parquet(Folder):
    def test_a_table_of_edges_is_written(self):
        pyarrow.parquet.write_table(pyarrow.table({"a": self.edges[0], "b": self.edges[1], "c": ["x"] * 300}), self.path("e.parquet"), row_group_size=70)
        self.assertEqual(self.run_export("parquet", self.path("e.parquet"), self.path("out"), "--src", "a", "--dst", "b")[0], 0)
        self.assertTrue(np.array_equal(self.arrays()["edge_index"], self.edges))

    def test_columns_that_are_no_ids_are_said(self):
        pyarrow.parquet.write_table(pyarrow.table({"a": [1, None], "b": [.5, 2.]}), self.path("e.parquet"))
        for text, src, dst in (("no column z", "z", "b"), ("empty places", "a", "b"), ("whole numbers", "b", "b")):
            self.refused(text, "parquet", self.path("e.parquet"), self.path("out"), "--src", src, "--dst", dst)


if __name__ == "__main__":
    unittest.main()
