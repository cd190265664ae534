"""ggnn-data convert reads what NumPy and SciPy write: np.save, np.memmap, tofile, np.savez, and nothing that is pickled.

python3 tests/datasets/test_foreign_arrays.py
"""

import os
import pickle
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, os.environ.get("BUILD", "build"), "ggnn-data")

try:
    import numpy as np
except ImportError:
    np = None

N, E, WIDTH = 50, 300, 8


class Harm:
    """What makes a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


@unittest.skipIf(np is None, "NumPy is not installed")
@unittest.skipUnless(os.path.exists(TOOL), "ggnn-data is not built")
class Foreign(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = self.temporary.name
        rng = np.random.default_rng(7)
        self.edges = rng.integers(0, N, (E, 2))
        self.feat = rng.normal(size=(N, WIDTH)).astype("f4")
        self.label = rng.integers(0, 5, N).astype("f4")
        self.label[::7] = np.nan
        self.split = rng.integers(0, 4, (2, N)).astype("u1")
        self.split[:, ::7] = 0

    def at(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def convert(self, name, *options):
        return subprocess.run([TOOL, "convert", self.at(name), self.at("o.ggnn"), *options], capture_output=True, text=True)

    def graph(self, name, *options):
        """The arrays that export gives of the converted graph."""
        done = self.convert(name, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        out = tempfile.mkdtemp(dir=self.folder)
        subprocess.run([TOOL, "export", self.at("o.ggnn"), out], check=True, capture_output=True)
        return {f[:-4]: np.load(os.path.join(out, f)) for f in os.listdir(out)}

    def check(self, made, feat=None, split=None):
        pairs = sorted(set(map(tuple, self.edges)), key=lambda e: (e[1], e[0]))
        target = np.repeat(np.arange(N), np.diff(made["indptr"]))
        self.assertEqual(list(zip(made["indices"], target)), pairs)
        feat = self.feat if feat is None else feat
        self.assertEqual(made["feat"].dtype, feat.dtype)
        self.assertTrue((made["feat"] == feat).all())
        self.assertTrue((made["label"] == np.where(np.isnan(self.label), -1, self.label)).all())
        for part, name in enumerate(("train", "val", "test"), 1):
            if split is not None:
                self.assertTrue((made[name] == (split == part)).all(), name)

    def test_save(self):
        for edges, name in ((self.edges, "edges"), (self.edges, "edge_index"), (self.edges.T, "edge_index"), (np.asfortranarray(self.edges), "edges")):
            for feat in (self.feat, self.feat.astype("f2"), self.feat.astype(">f4"), np.asfortranarray(self.feat)):
                folder = tempfile.mkdtemp(dir=self.folder)
                np.save(os.path.join(folder, name), edges)
                np.save(os.path.join(folder, "feat"), feat)
                np.save(os.path.join(folder, "label"), self.label)
                np.save(os.path.join(folder, "split"), self.split)
                self.check(self.graph(os.path.basename(folder)), feat.astype(feat.dtype.newbyteorder("<")), self.split)

    def test_savez(self):
        np.savez_compressed(self.at("z.npz"), edge_index=self.edges.T, x=self.feat, y=self.label, split=self.split)
        self.check(self.graph("z.npz", "--directed"), split=self.split)

    def test_memmap_and_tofile(self):
        for edge_type, feat_type, spec in (("i4", "f4", "i32 f32"), ("i8", "f2", "i64 f16"), ("u2", "f8", "u16 f64")):
            ids, kind = spec.split()
            feat = np.memmap(self.at("raw", "feat.npy"), dtype=feat_type, mode="w+", shape=(N, WIDTH))
            feat[:] = self.feat
            feat.flush()
            self.edges.astype(edge_type).tofile(self.at("raw", "pairs"))
            self.edges.T.astype(edge_type).tofile(self.at("raw", "planes"))
            self.label.tofile(self.at("raw", "label"))
            self.split.tofile(self.at("raw", "split"))
            expected = np.array(feat).astype("f4" if kind == "f64" else feat_type)
            for edges in ("edges=pairs", "edge_index=planes"):
                spec = f"{edges}:{ids} feat=feat.npy:{kind}:{WIDTH} label=label:f32 split=split:u8:{N}"
                self.check(self.graph("raw", "--raw", spec), expected, self.split)

    def test_csr_as_wholegraph_has_it(self):
        pairs = np.array(sorted(set(map(tuple, self.edges))))
        np.cumsum(np.bincount(pairs[:, 0] + 1, minlength=N + 1)).astype("i8").tofile(self.at("wg", "homograph_csr_row_ptr"))
        pairs[:, 1].astype("i4").tofile(self.at("wg", "homograph_csr_col_idx"))
        self.feat.tofile(self.at("wg", "node_feat.bin"))
        np.save(self.at("wg", "label"), self.label)
        spec = f"row_ptr=homograph_csr_row_ptr:i64 col_idx=homograph_csr_col_idx:i32 feat=node_feat.bin:f32:{WIDTH} label=label.npy"
        self.check(self.graph("wg", "--raw", spec))

    def igbs_split(self):
        split = np.full(N, 3)
        split[: int(N * 0.6)] = 1
        split[int(N * 0.6) : int(N * 0.6) + int(N * 0.2)] = 2
        split[np.isnan(self.label)] = 0
        return split

    def test_igb(self):
        np.save(self.at("igb", "processed", "paper__cites__paper", "edge_index"), self.edges)
        np.save(self.at("igb", "processed", "paper", "node_feat"), self.feat)
        np.save(self.at("igb", "processed", "paper", "node_label_19"), self.label)
        self.check(self.graph("igb"), split=self.igbs_split())
        loops = self.graph("igb", "--self-loops", "add")
        target = np.repeat(np.arange(N), np.diff(loops["indptr"]))
        self.assertEqual((loops["indices"] == target).sum(), N)

    def test_igb_large(self):
        np.save(self.at("large", "processed", "paper__cites__paper", "edge_index"), self.edges)
        feat = np.memmap(self.at("large", "processed", "paper", "node_feat.npy"), dtype="float32", mode="w+", shape=(N, 1024))
        feat[:] = np.arange(N * 1024).reshape(N, 1024)
        feat.flush()
        label = np.memmap(self.at("large", "processed", "paper", "node_label_19.npy"), dtype="float32", mode="w+", shape=(N))
        label[:] = self.label
        label.flush()
        self.check(self.graph("large"), np.array(feat), self.igbs_split())

    def test_mag240m(self):
        year = np.random.default_rng(8).integers(2015, 2022, N)
        np.save(self.at("mag", "processed", "paper___cites___paper", "edge_index"), self.edges.T)
        np.save(self.at("mag", "processed", "paper", "node_feat"), self.feat.astype("f2"))
        np.save(self.at("mag", "processed", "paper", "node_label"), self.label)
        np.save(self.at("mag", "processed", "paper", "node_year"), year)
        harm = self.at("harm")
        for name in ("meta.pt", "split_dict.pt"):
            with open(self.at("mag", name), "wb") as file:
                pickle.dump(Harm(harm), file)
        split = np.where(np.isnan(self.label), 0, np.where(year <= 2018, 1, np.where(year == 2019, 2, 3)))
        self.check(self.graph("mag"), self.feat.astype("f2"), split)
        self.assertFalse(os.path.exists(harm))

    def test_beside_a_list_of_edges(self):
        np.savetxt(self.at("e.csv"), self.edges, "%d", ",")
        for name, array in (("x", self.feat.astype("f2")), ("y", self.label), ("s", self.split)):
            np.save(self.at(name), array)
        made = self.graph("e.csv", "--features", self.at("x.npy"), "--labels", self.at("y.npy"), "--split", self.at("s.npy"))
        self.check(made, self.feat.astype("f2"), self.split)

    def test_objects_are_not_unpickled(self):
        harm = self.at("harm")
        np.save(self.at("objects", "edges"), self.edges)
        np.save(self.at("objects", "feat"), np.array([Harm(harm)] * N, dtype=object), allow_pickle=True)
        done = self.convert("objects")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pickled Python objects", done.stderr)
        np.savetxt(self.at("e.csv"), self.edges, "%d", ",")
        done = self.convert("e.csv", "--features", self.at("objects", "feat.npy"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("pickled Python objects", done.stderr)
        self.assertFalse(os.path.exists(harm))


if __name__ == "__main__":
    unittest.main()
