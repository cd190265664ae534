"""GraphSAINT's folders, DGL's Reddit and pickles as their own writers make them (SciPy, NumPy, json, pickle), read by ggnn-data:

python3 -m unittest discover -s tests/datasets
"""

import json
import os
import pickle
import random
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, os.environ.get("BUILD", "build"), "ggnn-data")
try:
    import numpy as np
except ImportError:
    np = None
try:
    import scipy.sparse as sparse
except ImportError:
    sparse = None

NODES, WIDTH, EDGES = 60, 5, 300


class Harm:
    """What makes a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        self.ran = self.path("ran")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def convert(self, name, *options):
        command = [TOOL, "convert", self.path(name), self.path("out.ggnn"), *options]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def refused(self, name, words):
        ran = self.convert(name)
        self.assertEqual(ran.returncode, 1)
        self.assertIn(words, ran.stderr)
        self.assertFalse(os.path.exists(self.path("out.ggnn")))

    def check_harm(self, load):
        """It does what the test looks for, where it is loaded; and not so far."""
        self.assertFalse(os.path.exists(self.ran))
        load().close()
        self.assertTrue(os.path.exists(self.ran))
        os.remove(self.ran)


@unittest.skipUnless(os.path.exists(TOOL), "ggnn-data is not built")
class Pickles(Folder):
    def test_pickles_of_every_protocol_run_nothing(self):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            data = pickle.dumps(Harm(self.ran), protocol)
            with open(self.path("split_dict.pkl"), "wb") as file:
                file.write(data)
            self.refused("split_dict.pkl", "split_dict.pkl: is a pickle, and reading one may run code: it is not read" if protocol >= 2 else "split_dict.pkl: line 1")
            self.check_harm(lambda data=data: pickle.loads(data))

    def test_the_pickle_of_the_tests_in_c_makes_its_file(self):
        command = ("touch " + self.ran).encode()
        pickle.loads(b"\x80\x02cos\nsystem\nX" + len(command).to_bytes(4, "little") + command + b"\x85R.")
        self.assertTrue(os.path.exists(self.ran))

    @unittest.skipIf(np is None, "NumPy is not installed")
    def test_arrays_of_objects_run_nothing(self):
        harmful = np.empty(3, object)
        harmful[0] = Harm(self.ran)
        os.mkdir(self.path("g"))
        np.save(self.path("g", "edge_index.npy"), np.array([[0, 1], [1, 2]]))
        np.save(self.path("g", "feat.npy"), harmful, allow_pickle=True)
        self.refused("g", "feat.npy: elements of type '|O' (pickled Python objects)")
        self.check_harm(lambda: np.load(self.path("g", "feat.npy"), allow_pickle=True)[0])
        np.savez(self.path("g.npz"), edges=harmful)
        self.refused("g.npz", "member edges.npy: elements of type '|O'")


@unittest.skipUnless(os.path.exists(TOOL), "ggnn-data is not built")
@unittest.skipIf(np is None or sparse is None, "NumPy or SciPy is not installed")
class Graphs(Folder):
    def setUp(self):
        super().setUp()
        draw = np.random.default_rng(7)
        pair = np.unique(draw.integers(0, NODES, (EDGES, 2)), axis=0)
        self.row, self.col = pair[:, 0], pair[:, 1]
        self.feat = draw.random((NODES, WIDTH))
        self.label = draw.integers(-1, 4, NODES)
        self.part = np.where(self.label < 0, 0, draw.integers(1, 4, NODES))

    def matrix(self, data, kind):
        return kind((data, (self.row, self.col)), shape=(NODES, NODES))

    def check(self, name):
        """What convert makes, exported as arrays, is the graph: row i's entries are the edges out of i."""
        ran = self.convert(name)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        arrays = tempfile.mkdtemp(dir=self.folder)
        subprocess.run([TOOL, "export", self.path("out.ggnn"), arrays, "--format", "npy"], check=True, stdout=subprocess.DEVNULL)
        made = {f[:-4]: np.load(os.path.join(arrays, f)) for f in os.listdir(arrays)}
        into = sparse.csr_matrix((np.ones(len(self.row)), (self.col, self.row)), shape=(NODES, NODES))
        into.sort_indices()
        self.assertEqual(made["indptr"].tolist(), into.indptr.tolist())
        self.assertEqual(made["indices"].tolist(), into.indices.tolist())
        self.assertNotIn("weight", made)
        self.assertTrue(np.array_equal(made["feat"], self.feat.astype("f4")))
        self.assertEqual(made["label"].tolist(), self.label.tolist())
        self.assertEqual((made["train"] + 2 * made["val"] + 3 * made["test"]).reshape(-1).tolist(), self.part.tolist())
        return ran.stdout

    def graphsaint(self, adjacency, compressed, dtype, **dump):
        os.makedirs(self.path("saint"), exist_ok=True)
        sparse.save_npz(self.path("saint", "adj_full.npz"), adjacency, compressed=compressed)
        sparse.save_npz(self.path("saint", "adj_train.npz"), adjacency)
        np.save(self.path("saint", "feats.npy"), self.feat.astype(dtype))
        ids = [v for v in range(NODES) if self.label[v] >= 0]
        random.Random(3).shuffle(ids)
        self.dump("class_map.json", {v: int(self.label[v]) for v in ids}, **dump)  # json makes texts of its keys
        self.dump("role.json", {k: [int(v) for v in np.flatnonzero(self.part == i)] for i, k in ((2, "va"), (1, "tr"), (3, "te"))}, **dump)

    def dump(self, name, what, **dump):
        with open(self.path("saint", name), "w") as file:
            json.dump(what, file, **dump)

    def test_graphsaint(self):
        ones, ids = np.ones(len(self.row)), np.arange(len(self.row))
        for adjacency in (self.matrix(ones.astype(bool), sparse.csr_matrix), self.matrix(ones, sparse.csr_array), self.matrix(ids, sparse.coo_matrix).tocsr()):
            for compressed, dtype, dump in ((True, "f8", {}), (False, "f4", {"indent": 1}), (True, ">f4", {"separators": (",", ":"), "sort_keys": True})):
                self.graphsaint(adjacency, compressed, dtype, **dump)
                self.assertIn("left out   adj_train.npz", self.check("saint"))

    def test_several_labels_a_node_are_refused(self):
        self.graphsaint(self.matrix(np.ones(len(self.row)), sparse.csr_matrix), True, "f8")
        self.dump("class_map.json", {v: [int(v % 2), 1] for v in range(NODES)})
        self.refused("saint", 'class_map.json: line 1, byte 7, key "0": multi-label (several labels a node): one class per node is stored')

    def test_reddit(self):
        ids = np.arange(len(self.row))
        for name, save, adjacency in (("reddit_self_loop_graph.npz", np.savez_compressed, self.matrix(np.ones(len(ids)), sparse.coo_matrix)),
                                      ("reddit_graph.npz", np.savez, self.matrix(ids, sparse.coo_matrix))):
            os.makedirs(self.path("reddit"), exist_ok=True)
            save(self.path("reddit", "reddit_data.npz"), feature=self.feat, label=self.label, node_types=self.part)
            adjacency.row, adjacency.col = adjacency.row.astype("i4"), adjacency.col.astype("i4")
            sparse.save_npz(self.path("reddit", name), adjacency)
            self.assertIn("reddit/" + name, self.check("reddit"))


if __name__ == "__main__":
    unittest.main()
