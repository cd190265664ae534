"""ggnn-data convert reads what scipy.sparse.save_npz writes, of every format, type and width of indices:

python3 -m unittest discover -s tests
"""

import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(ROOT, "build", "ggnn-data")

try:
    import numpy as np
    import scipy.sparse as sparse
except ImportError:
    np = sparse = None

# [i, j] is the edge i -> j: in-neighbours of 0: 1 (weight 3); of 1: 0 (2), 2 (7); of 2: 1 (5)
DENSE = [[0, 2, 0], [3, 0, 5], [0, 7, 0]]


@unittest.skipIf(sparse is None, "SciPy is not installed")
@unittest.skipUnless(os.path.exists(TOOL), "build/ggnn-data is not built")
class Written(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        self.file = os.path.join(held.name, "a.npz")

    def run_tool(self, *arguments):
        return subprocess.run([TOOL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check(self, matrix, weights, said, **how):
        sparse.save_npz(self.file, matrix, **how)
        out, arrays = os.path.join(self.folder, "a.ggnn"), tempfile.mkdtemp(dir=self.folder) + "/arrays"
        ran = self.run_tool("convert", self.file, out)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""), said)
        self.assertIn("as scipy (", ran.stdout)
        self.assertEqual(self.run_tool("export", out, arrays).returncode, 0)
        made = {name: np.load(os.path.join(arrays, name + ".npy")).tolist() for name in ("indptr", "indices", "weight")}
        self.assertEqual(made, {"indptr": [0, 1, 3, 4], "indices": [1, 0, 2, 1], "weight": weights}, said)

    def test_every_format_is_read(self):
        kinds = [k for name in ("csr", "csc", "coo") for k in (name + "_matrix", name + "_array") if hasattr(sparse, k)]
        self.assertIn("coo_matrix", kinds)
        for kind in kinds:
            for number in ("f8", "f4", "i8", "u1", "?"):
                matrix = getattr(sparse, kind)(np.array(DENSE, number))
                self.check(matrix, [1] * 4 if number == "?" else [3, 2, 7, 5], f"{kind}, {number}", compressed=number in "f4i8")

    def test_indices_may_have_32_or_64_bits(self):
        for kind in ("csr", "csc"):
            for bits in (np.int32, np.int64):
                matrix = getattr(sparse, kind + "_matrix")(np.array(DENSE, "f4"))
                matrix.indices, matrix.indptr = matrix.indices.astype(bits), matrix.indptr.astype(bits)
                self.check(matrix, [3, 2, 7, 5], f"{kind}, {bits}")
        for bits in (np.int32, np.int64):
            row, col = np.nonzero(DENSE)
            matrix = sparse.coo_matrix((np.array([2, 3, 5, 7.0]), (row.astype(bits), col.astype(bits))), (3, 3))
            matrix.row, matrix.col = matrix.row.astype(bits), matrix.col.astype(bits)
            self.check(matrix, [3, 2, 7, 5], f"coo, {bits}")

    def test_entries_in_any_order_are_read(self):
        row, col, data = [2, 1, 0, 1], [1, 2, 1, 0], np.array([7, 5, 2, 3.0])
        self.check(sparse.coo_matrix((data, (row, col)), (3, 3)), [3, 2, 7, 5], "coo")
        unsorted = sparse.csr_matrix((np.array([2, 5, 3, 7.0]), [1, 2, 0, 1], [0, 1, 3, 4]), (3, 3))
        self.check(unsorted, [3, 2, 7, 5], "csr")

    def test_what_is_no_graph_is_refused(self):
        cases = [(sparse.csr_matrix(np.ones((2, 3))), "the adjacency matrix is 2 by 3"), (sparse.dia_matrix(DENSE), "format 'dia'"), (sparse.bsr_matrix(DENSE), "format 'bsr'")]
        if hasattr(sparse, "coo_array"):
            try:
                cases.append((sparse.coo_array(np.array([1, 0, 2.0])), "shape.npy: shape (1); (2) is expected"))
            except ValueError:  # of one dimension: since SciPy 1.13
                pass
        for matrix, words in cases:
            sparse.save_npz(self.file, matrix)
            ran = self.run_tool("convert", self.file, os.path.join(self.folder, "none.ggnn"))
            self.assertEqual(ran.returncode, 1)
            self.assertIn(words, ran.stderr)


if __name__ == "__main__":
    unittest.main()
