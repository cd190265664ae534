"""datasets/planetoid.py: pickles that would do harm, small graphs, the published files:

python3 -m unittest discover -s tests
"""

import contextlib
import io
import os
import pickle
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "datasets", "planetoid.py")
sys.path.insert(0, os.path.dirname(SCRIPT))
import planetoid  # noqa: E402

try:
    import numpy as np
except ImportError:
    np = None

REAL = next((f for f in (ROOT + "/../shared/data", ROOT + "/../../shared/data") if os.path.isdir(f + "/planetoid")), "")
PARTS = ("allx", "tx", "y", "ally", "ty", "graph")
KNOWN, LOW = 2, 502  # training nodes; nodes of allx


class Name:
    """A global name in a pickle, which need not exist."""

    def __init__(self, module, name):
        self.text = f"c{module}\n{name}\n".encode()

    def __call__(self):
        raise AssertionError("a name is called")


class Thing:
    """What a pickle makes by a call."""

    def __init__(self, module, name, args=(), state=None, items=()):
        self.reduced = (Name(module, name), args, state, None, iter(items))


class Pickler(pickle._Pickler):
    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, Name):
            self.write(obj.text)
        else:
            super().save(obj, save_persistent_id)

    def reducer_override(self, obj):
        return obj.reduced if isinstance(obj, Thing) else NotImplemented


def dumped(obj, protocol=2):
    file = io.BytesIO()
    Pickler(file, protocol, fix_imports=False).dump(obj)
    return file.getvalue()


def array(values, kind, shape=None):
    values = np.asarray(values, kind)
    dtype = Thing("numpy", "dtype", (kind, 0, 1), (3, "<", None, None, None, -1, -1, 0))
    args = (Name("numpy", "ndarray"), (0,), "b")
    state = (1, shape or values.shape, dtype, False, values.tobytes().decode("latin1"))
    return Thing("numpy.core.multiarray", "_reconstruct", args, state)


def csr(rows, columns, **other):
    """A matrix whose row i has a one in column rows[i]."""
    state = {"data": array(np.ones(len(rows)), "f4"), "indices": array(rows, "i4")}
    state.update(indptr=array(np.arange(len(rows) + 1), "i4"), _shape=(len(rows), columns))
    state.update(other)
    return Thing("scipy.sparse.csr", "csr_matrix", (), state)


def one_hot(labels, classes=3):
    return array(np.eye(classes)[labels], "i4")


def lists(neighbours):
    args = (Name("__builtin__", "list"),)
    return Thing("collections", "defaultdict", args, None, sorted(neighbours.items()))


def small():
    """506 nodes: tx's rows are 505, 502, 504; nobody has 503. An edge given twice, a self-loop, one given one way."""
    neighbours = {v: [] for v in range(506)}
    neighbours.update({0: [1, 1, 0], 1: [0], 505: [2]})
    return {
        "allx": csr([v % 4 for v in range(LOW)], 4),
        "tx": csr([3, 1, 2], 4),
        "y": one_hot([0, 1]),
        "ally": one_hot([v % 3 for v in range(LOW)]),
        "ty": one_hot([2, 0, 1]),
        "graph": lists(neighbours),
    }


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def path(self, part):
        return os.path.join(self.folder, "ind.cora." + part)

    def put(self, data, part):
        with open(self.path(part), "wb") as file:
            file.write(data)

    def refused(self, data, message, kind=planetoid.Lists):
        self.put(data, "graph")
        with self.assertRaisesRegex(planetoid.BadFile, "ind.cora.graph: .*" + message):
            planetoid.load_records(self.path("graph"), kind)

    def run_script(self, *args):
        command = [sys.executable, "-B", SCRIPT, *args]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Harm:
    """Unpickled by the pickle module, it runs a command."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


class Hostile(Folder):
    def test_a_pickle_that_runs_a_command_is_refused_and_not_run(self):
        marker = os.path.join(self.folder, "ran")
        harm = Harm(f"touch '{marker}'")
        pickle.loads(pickle.dumps(harm))
        self.assertTrue(os.path.exists(marker), "the command does what the test looks for")
        os.remove(marker)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            self.refused(pickle.dumps(harm, protocol), rf"names {os.name}\.system,.*refused")
            self.assertFalse(os.path.exists(marker))

    @unittest.skipIf(np is None, "NumPy is not installed")
    def test_the_program_refuses_it_in_each_file(self):
        marker = os.path.join(self.folder, "ran")
        out = os.path.join(self.folder, "cora.npz")
        for hostile in PARTS:
            for part, thing in small().items():
                self.put(dumped(thing), part)
            self.put(b"505\n502\n504\n", "test.index")
            self.put(pickle.dumps(Harm(f"touch '{marker}'")), hostile)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(planetoid.main([self.folder, "cora", out]), 1, hostile)
            self.assertIn(f"ind.cora.{hostile}: the pickle names {os.name}.system", said.getvalue())
            self.assertFalse(os.path.exists(marker) or os.path.exists(out))

    def test_only_six_exact_names_are_known(self):
        for module, name in (("builtins", "eval"), ("numpy", "ndarray.tofile"), ("numpy", "save"), ("os", "getcwd")):
            self.refused(f"c{module}\n{name}\n.".encode(), f"names {module}.{name},")
            words = [b"\x8c" + bytes([len(word)]) + word.encode() for word in (module, name)]
            self.refused(b"\x80\x04" + b"".join(words) + b"\x93.", f"names {module}.{name},")  # STACK_GLOBAL

    def test_names_that_are_arguments_cannot_be_called(self):
        self.refused(b"c__builtin__\nlist\n(tR.", "not callable")
        self.refused(b"cnumpy\nndarray\n(tR.", "not callable")

    def test_refuses_damage(self):
        good = dumped(lists({0: [1], 1: [0]}))
        self.put(good, "graph")
        self.assertEqual(planetoid.load_records(self.path("graph"), planetoid.Lists), {0: [1], 1: [0]})
        for length in range(len(good)):
            self.refused(good[:length], "damaged")
        self.refused(good + b"x", "1 bytes after the pickle's end")
        self.refused(b"\x80\x02]r\xff\xff\xff\xff.", "LONG_BINPUT 4294967295 in a pickle of 9 bytes")
        self.refused(dumped([1]), "holds a list, expected Lists")
        self.refused(good, "holds a Lists, expected Csr", planetoid.Csr)


@unittest.skipIf(np is None, "NumPy is not installed")
class Small(Folder):
    def made(self, **other):
        for part, thing in dict(small(), **other).items():
            self.put(dumped(thing), part)
        self.put(b"505\n502\n504\n", "test.index")
        return planetoid.read_graph(self.folder, "cora")

    def wrong(self, message, **other):
        with self.assertRaisesRegex(planetoid.BadFile, message):
            self.made(**other)

    def test_rows_go_to_their_nodes(self):
        made = self.made()
        self.assertEqual(made["edges"].tolist(), [[0, 1], [2, 505]])
        self.assertEqual(made["node_labels"][500:].tolist(), [2, 0, 0, -1, 1, 2])
        self.assertEqual(made["node_features"][500:].argmax(axis=1).tolist(), [0, 1, 1, 0, 2, 3])
        self.assertEqual(made["node_features"].sum(axis=1)[500:].tolist(), [1, 1, 1, 0, 1, 1])
        self.assertEqual(np.flatnonzero(made["train_masks"]).tolist(), [0, 1])
        self.assertEqual(np.flatnonzero(made["val_masks"]).tolist(), list(range(2, 502)))
        self.assertEqual(np.flatnonzero(made["test_masks"]).tolist(), [502, 504, 505])

    def test_refuses_arrays_that_do_not_fit(self):
        self.wrong("cora.allx: a column is not in 0 .. 2", allx=csr([3] * LOW, 3))
        self.wrong("cora.allx: the CSR matrix's offsets", allx=csr([0] * LOW, 4, indptr=array([9] * (LOW + 1), "i4")))
        self.wrong("cora.allx: 503 offsets", allx=csr([0] * LOW, 4, _shape=(LOW, 10**12)))
        self.wrong("cora.allx: a feature is not finite", allx=csr([0] * LOW, 4, data=array([np.inf] * LOW, "f4")))
        self.wrong("cora.tx: 5 rows or columns, where .* 4", tx=csr([3, 1, 2], 5))
        self.wrong("cora.ty: 2 rows or columns, where .* 3", ty=one_hot([2, 0]))
        self.wrong("cora.ty: row 1 is not a single one", ty=array([[0, 0, 1], [0, 1, 1], [1, 0, 0]], "i4"))
        self.wrong("cora.y: its 2 labels are not the first", y=one_hot([0, 2]))
        self.wrong("cora.y: .* and whole", y=array([[1, 0, 0]], "i4", (10**6, 10**6)))
        self.wrong("cora.graph: node 0 has a neighbour", graph=lists({0: [2], 1: []}))
        self.wrong("cora.graph: node 1 of 2 has no list", graph=lists({0: [], 2: []}))

    def test_refuses_ids_of_test_nodes(self):
        self.made()
        for text, line in ((b"505\n501\n504\n", 2), (b"506\n", 1), (b"505\n505\n504\n", 2), (b"505\n-1\n", 2), (b"\n", 1)):
            self.put(text, "test.index")
            with self.assertRaisesRegex(planetoid.BadFile, f"test.index:{line}: "):
                planetoid.read_graph(self.folder, "cora")

    def test_writes_the_whole_file_or_none(self):
        out = os.path.join(self.folder, "cora.npz")
        made = self.made()
        self.assertEqual(self.run_script(self.folder, "cora", out).returncode, 0)
        with np.load(out) as archive:
            for name, values in made.items():
                self.assertTrue(np.array_equal(archive[name], values), name)
        before = os.stat(out).st_mtime_ns
        os.remove(self.path("ty"))
        ran = self.run_script(self.folder, "cora", out)
        self.assertEqual((ran.returncode, os.stat(out).st_mtime_ns), (1, before))
        self.assertIn("ind.cora.ty", ran.stderr)
        self.assertEqual([f for f in os.listdir(self.folder) if f.endswith(".tmp")], [])

    def test_does_not_replace_what_is_no_file(self):
        self.made()
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        self.assertEqual(self.run_script(self.folder, "cora", pipe).returncode, 1)
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))

    def test_exit_codes_of_usage(self):
        self.assertEqual(self.run_script("--help").returncode, 0)
        self.assertEqual(self.run_script(self.folder, "unknown", "out").returncode, 2)
        self.assertEqual(self.run_script(self.folder).returncode, 2)


@unittest.skipIf(np is None, "NumPy is not installed")
@unittest.skipUnless(REAL, "../shared/data/planetoid is not there")
class Published(Folder):
    def test_arrays_equal_those_of_the_archives(self):
        for name in ("cora", "citeseer"):
            out = os.path.join(self.folder, name + ".npz")
            ran = self.run_script(os.path.join(REAL, "planetoid"), name, out)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            with np.load(out) as made, np.load(os.path.join(REAL, name + ".npz")) as known:
                self.assertEqual(list(made), list(known))
                for key in known:
                    self.assertEqual((made[key].dtype, made[key].shape), (known[key].dtype, known[key].shape))
                    self.assertTrue(np.array_equal(made[key], known[key]), f"{name}: {key}")


if __name__ == "__main__":
    unittest.main()
