"""What reaches C: arrays of every kind, refused or read where they lie; memory that is used again; threads, processes, files."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np

import libggnn
from libggnn import _c, file, rows

KEY = ("v", "e", "v")


def random_graph(nodes=5000, edges=60000, dtype=np.int64, seed=0):
    random = np.random.default_rng(seed)
    target = np.sort(random.integers(0, nodes, edges))
    return np.searchsorted(target, np.arange(nodes + 1)).astype(np.int64), random.integers(0, nodes, edges).astype(dtype)


def same(a, b):
    return all(np.array_equal(x["v"] if "v" in x else x[KEY], y["v"] if "v" in y else y[KEY]) for x, y in zip((a.node, a.row, a.col, a.edge), (b.node, b.row, b.col, b.edge)))


class Checks(unittest.TestCase):
    def setUp(self):
        self.indptr, self.indices = random_graph()

    def graph(self, **change):
        how = {"indptr": self.indptr, "indices": self.indices, "num_nodes": 5000, **change}
        return libggnn.Graph({"v": how["num_nodes"]}, {KEY: (how["indptr"], how["indices"])}, **{k: {KEY: v} for k, v in how.items() if k in ("weight", "edge_time")})

    def refused(self, error, text, **change):
        with self.assertRaisesRegex(error, text):
            self.graph(**change)

    def test_arrays_of_another_kind_are_refused_by_name(self):
        self.refused(TypeError, r"\[0\] is int32, not int64: .*astype", indptr=self.indptr.astype(np.int32))
        self.refused(TypeError, r"\[1\] is float64, not int32 or int64", indices=self.indices.astype(float))
        self.refused(ValueError, r"\[1\] is not contiguous", indices=np.repeat(self.indices, 2)[::2])
        self.refused(ValueError, r"\[0\] has 5000 elements, not 5001", indptr=self.indptr[:-1])
        self.refused(ValueError, "has 2 dimensions, not one", indices=self.indices.reshape(2, -1))
        self.refused(TypeError, "weight.* is float64, not float32", weight=np.ones(60000))
        self.refused(ValueError, "edge_time.* has 9 elements, not 60000", edge_time=np.zeros(9, np.int64))

    def test_lists_that_cannot_be_are_refused_with_their_place(self):
        broken = self.indptr.copy()
        broken[7] = broken[8] + 1
        self.refused(ValueError, "out of range: indptr of node 7", indptr=broken)
        broken = self.indptr.copy()
        broken[-1] += 1
        self.refused(ValueError, "indptr of node 4999", indptr=broken)
        for bad in (-1, 5000):
            indices = self.indices.copy()
            indices[123] = bad
            self.refused(ValueError, "edge 123 into node", indices=indices)
        weight = np.ones(60000, np.float32)
        weight[5] = np.nan
        self.refused(ValueError, "weight is negative or not finite: edge 5 into node", weight=weight)

    def test_calls_that_cannot_be_are_refused(self):
        sampler, seeds = libggnn.Sampler(self.graph()), {"v": np.arange(9)}
        for error, text, call in (
                (KeyError, "no nodes 'w'", lambda: sampler({"w": seeds["v"]}, {KEY: [2]})),
                (KeyError, "no edges", lambda: sampler(seeds, {("v", "x", "v"): [2]})),
                (TypeError, "seeds.* is int32, not int64", lambda: sampler({"v": np.arange(9, dtype=np.int32)}, {KEY: [2]})),
                (ValueError, "a seed is given twice: node 3", lambda: sampler({"v": np.array([3, 3])}, {KEY: [2]})),
                (IndexError, "node 5000", lambda: sampler({"v": np.array([5000])}, {KEY: [2]})),
                (ValueError, "method 'best'", lambda: libggnn.Sampler(sampler.graph, "best")),
                (KeyError, "type of edges", lambda: libggnn.Graph({"v": 3}, {("v", "w"): (self.indptr, self.indices)}))):
            with self.assertRaisesRegex(error, text):
                call()
        self.assertEqual(len(sampler(seeds, {KEY: []}).node["v"]), 9)
        self.assertEqual(len(sampler({}, {KEY: [2, 2]}).node["v"]), 0)

    def test_both_widths_of_ids_find_the_same(self):
        narrow = libggnn.Graph({"v": 5000}, {KEY: (self.indptr, self.indices.astype(np.int32))})
        for how in (dict(), dict(method="replacement"), dict(method="rejection")):
            a = libggnn.Sampler(self.graph(), **how)({"v": np.arange(100)}, {KEY: [5, 4]}, 3, 4)
            b = libggnn.Sampler(narrow, **how)({"v": np.arange(100, dtype=np.int32)}, {KEY: [5, 4]}, 3, 4)
            self.assertTrue(same(a, b))


class Edges(unittest.TestCase):
    def test_lists_are_those_of_the_edges(self):
        random = np.random.default_rng(3)
        for dtype in (np.int32, np.int64):
            edges = random.integers(0, 200, (2, 3000)).astype(dtype)
            graph, position = libggnn.from_edge_index(edges, 200)
            batch = libggnn.Sampler(graph)({"node": np.arange(200, dtype=dtype)}, {libggnn.EDGES: [-1]})
            at, ids = position[batch.edge[libggnn.EDGES]], batch.node["node"]
            self.assertTrue(np.array_equal(edges[0, at], ids[batch.row[libggnn.EDGES]]) and np.array_equal(edges[1, at], ids[batch.col[libggnn.EDGES]]))
            self.assertEqual(sorted(at), list(range(3000)))
            self.assertTrue(all(a < b for a, b, same in zip(at, at[1:], edges[1, at[1:]] == edges[1, at[:-1]]) if same))  # in input order
        with self.assertRaisesRegex(IndexError, "edge 1, 3 -> 7: nodes are in .0, 7."):
            libggnn.from_edge_index(np.array([[0, 3], [1, 7]]), 7)
        with self.assertRaisesRegex(ValueError, "2 sources of int64, 1 targets"):
            libggnn.from_edge_index([np.array([0, 3]), np.array([1])], 7)


class Rows(unittest.TestCase):
    def test_rows_are_those_of_numpy(self):
        random = np.random.default_rng(0)
        for dtype in (np.float32, np.float16, np.float64, np.int64, np.int32, np.int16, np.complex64, np.uint8):
            for shape in ((1000,), (1000, 1), (1000, 7), (1000, 4, 3), (1000, 2)):
                x = (random.random(shape) * 200).astype(dtype)
                for ids in (random.integers(0, 1000, 5000), random.integers(0, 1000, 50, dtype=np.int32), np.empty(0, np.int64)):
                    if x[0].nbytes % 2:
                        self.assertFalse(rows.can(x))
                        continue
                    out = rows.gather(x, ids)
                    self.assertTrue(out.dtype == x.dtype and np.array_equal(out, x[ids]))
        apart = np.asarray(random.random((1000, 16)), np.float32)[:, 4:9]
        self.assertTrue(np.array_equal(rows.gather(apart, np.arange(0, 1000, 3)), apart[::3]))
        nan = np.array([[np.nan, -0.0]], np.float32).view(np.uint32)
        nan[0, 0] |= 0x12345
        self.assertTrue(np.array_equal(rows.gather(nan.view(np.float32), np.zeros(3, np.int64)).view(np.uint32), nan[[0, 0, 0]]))

    def test_what_cannot_be_gathered_is_said(self):
        x = np.zeros((10, 4), np.float32)
        for bad in (10, -1):
            with self.assertRaisesRegex(IndexError, rf"id {bad} is not in \[0, 10\)"):
                rows.gather(x, np.array([0, 9, bad]))
        packed = np.zeros(10, [("a", np.int16), ("b", np.float32, 3)])["b"]  # rows 14 bytes apart, which no float is
        for apart in (x.T, packed, np.zeros((10, 7), np.float32)[:, ::2]):
            with self.assertRaises(TypeError):
                rows.gather(apart, np.array([0]))
        with self.assertRaises(TypeError):
            rows.gather(x, np.array([0.5]))
        self.assertFalse(rows.can(np.ma.masked_array(x)))
        with self.assertRaises(IndexError):
            rows.gather(x[:0], np.array([0]))
        self.assertEqual(rows.gather(x, []).shape, (0, 4))

    def test_memory_is_used_again_when_nothing_sees_it(self):
        first = _c.empty(100_000, np.int64)
        at = first.ctypes.data
        part = first[10:20]
        del first
        gc.collect()
        self.assertNotEqual(_c.empty(100_000, np.int64).ctypes.data, at)
        del part
        gc.collect()
        again = [_c.empty(100_000, np.int64) for _ in range(3)]
        self.assertIn(at, [a.ctypes.data for a in again])
        self.assertEqual(len({a.ctypes.data for a in again}), 3)


class Hops(unittest.TestCase):
    def test_a_hop_asks_the_new_nodes_or_all(self):
        indptr, indices = random_graph(500, 6000)
        degree, seeds = np.diff(indptr), np.arange(40, 60)
        found = {hop: libggnn.Sampler(libggnn.Graph({"v": 500}, {KEY: (indptr, indices)}), hop=hop)({"v": seeds}, {KEY: [4, 3, 2]}, 5) for hop in ("new", "all")}
        for hop, batch in found.items():
            node, row, col, edge = batch.node["v"], batch.row[KEY], batch.col[KEY], batch.edge[KEY]
            ends, at = np.cumsum(batch.num_nodes["v"]), 0
            for i, m in enumerate((4, 3, 2)):
                first = ends[i - 1] if i and hop == "new" else 0
                wanted = np.minimum(degree[node[first:ends[i]]], m)
                n = wanted.sum()
                self.assertEqual(batch.num_edges[KEY][i], n)
                self.assertTrue(np.array_equal(col[at:at + n], np.repeat(np.arange(first, ends[i]), wanted)))
                at += n
            self.assertEqual(at, len(col))
            self.assertTrue(np.array_equal(indices[edge], node[row]))
            self.assertTrue(((indptr[node[col]] <= edge) & (edge < indptr[node[col] + 1])).all())
        self.assertEqual(*(batch.edge[KEY][:batch.num_edges[KEY][0]].tolist() for batch in found.values()))
        with self.assertRaisesRegex(ValueError, "hop 'some'"):
            libggnn.Sampler(libggnn.Graph({"v": 500}, {KEY: (indptr, indices)}), hop="some")


class Threads(unittest.TestCase):
    def test_eight_threads_get_the_batches_of_one(self):
        indptr, indices = random_graph()
        graph = libggnn.Graph({"v": 5000}, {KEY: (indptr, indices)})
        x = np.random.default_rng(1).random((5000, 64), np.float32)
        for how in (dict(), dict(disjoint=True)):
            sampler = libggnn.Sampler(graph, **how)
            wanted = [sampler({"v": np.arange(i, i + 200)}, {KEY: [6, 5]}, 1, i) for i in range(40)]
            wrong = []

            def work():
                for i in range(40):
                    batch = sampler({"v": np.arange(i, i + 200)}, {KEY: [6, 5]}, 1, i)
                    if not same(batch, wanted[i]) or not np.array_equal(rows.gather(x, batch.node["v"]), x[batch.node["v"]]):
                        wrong.append(i)

            threads = [threading.Thread(target=work) for _ in range(8)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            self.assertEqual(wrong, [])

    def test_a_child_has_a_pool_of_its_own(self):
        x = np.random.default_rng(1).random((200_000, 64), np.float32)
        ids = np.random.default_rng(2).integers(0, 200_000, 100_000)
        wanted = rows.gather(x, ids)  # the pool is made
        for method in ("fork", "spawn"):
            if method not in multiprocessing.get_all_start_methods():
                continue
            context = multiprocessing.get_context(method)
            found = context.Queue()
            children = [context.Process(target=gather_and_tell, args=(found, ids[:1000], x[:2000] if method == "spawn" else x)) for _ in range(2)]
            [p.start() for p in children]
            sums = [found.get(timeout=60) for _ in children]
            [p.join(60) for p in children]
            self.assertEqual([p.exitcode for p in children], [0, 0])
            self.assertEqual(len(set(sums)), 1)
        self.assertTrue(np.array_equal(rows.gather(x, ids), wanted))

    def run_script(self, script, **how):
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, **how)

    LOOP = """
import threading, numpy as np, libggnn
from libggnn import rows
x, ids = np.zeros((200000, 64), np.float32), np.arange(200000)
def work():
    while True: rows.gather(x, ids)
"""

    def test_the_interpreter_ends_while_threads_are_at_work(self):
        done = self.run_script(self.LOOP + "[threading.Thread(target=work, daemon=True).start() for _ in range(4)]\nimport time; time.sleep(.5); print('end')")
        self.assertEqual((done.returncode, done.stdout), (0, "end\n"), done.stderr)

    def test_ctrl_c_ends_a_loop(self):
        child = subprocess.Popen([sys.executable, "-c", self.LOOP + "print('begun', flush=True)\nwork()"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                 env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(child.stdout.readline(), "begun\n")
        time.sleep(.3)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=30)
        self.assertIn("KeyboardInterrupt", err)


def gather_and_tell(found, ids, x):
    ids = ids % len(x)
    found.put(float(rows.gather(x, ids).sum()))


class Files(unittest.TestCase):
    TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "ggnn-data")

    @unittest.skipUnless(os.path.exists(TOOL), "make builds ggnn-data")
    def test_a_file_of_the_tools_is_a_graph(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "k.ggnn")
            subprocess.run([self.TOOL, "generate", "karate", path], check=True, capture_output=True)
            a = libggnn.open(path)
            self.assertEqual((len(a["indptr"]), a["indptr"].dtype, a["indices"].dtype), (35, np.int64, np.int32))
            graph = libggnn.Graph({"v": 34}, {KEY: (a["indptr"], a["indices"])})
            batch = libggnn.Sampler(graph)({"v": np.array([0], np.int32)}, {KEY: [-1]})
            self.assertEqual(sorted(batch.node["v"][1:]), sorted(a["indices"][a["indptr"][0]:a["indptr"][1]]))
            self.assertTrue(np.array_equal(libggnn.gather(a["feat"], batch.node["v"]), a["feat"][batch.node["v"]]))
            with open(path, "r+b") as f:
                f.truncate(12288)
            with self.assertRaisesRegex(ValueError, "k.ggnn: version 1"):
                libggnn.open(path)

    def test_damaged_files_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "g.ggnn")
            for content in (b"", b"x" * 20000, b"\x89GGNN\r\n\x1a" + b"\xff" * 20000):
                with open(path, "wb") as f:
                    f.write(content)
                with self.assertRaisesRegex(ValueError, "g.ggnn"):
                    file.open(path)


if __name__ == "__main__":
    unittest.main()
