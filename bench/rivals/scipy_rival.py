"""scipy_rival.py - SciPy's CSR times dense, NumPy's take and copy, and OpenBLAS, which NumPy's wheels
bring."""

import sys

import numpy as np
import scipy
import scipy.sparse

from common import Skip, noise, rival_main, zeros
from ours import gather_inputs


def product(task, value, width):
    g, inp = task.graph, noise((task.graph.nodes, int(width)), 1)
    a = scipy.sparse.csr_matrix((value, g.indices, g.indptr), shape=(g.nodes, g.nodes))
    task.result["threads"] = 1  # SciPy has no others
    task.measure(lambda: a @ inp, work=g.edges, unit="edges")
    task.check("rows", (a @ inp)[g.rows()])


def spmm(task, how, width):
    degree = np.diff(task.graph.indptr)
    value = np.ones(task.graph.edges, np.float32)
    if how == "mean":
        value = np.repeat(np.float32(1) / np.maximum(degree, 1).astype(np.float32), degree)
    product(task, value, width)


def weighted(task, width):
    product(task, noise(task.graph.edges, 2), width)


def gather(task, width):
    table, ids = gather_inputs(task.graph, int(width), task.quick)
    out = zeros((len(ids), int(width)))
    task.result["threads"] = 1
    if task.args.variant == "memcpy":
        source = zeros(out.shape)
        source.fill(1)  # the same bytes from one piece: what no gather beats by much on one thread
        task.note("a copy of as many bytes in one piece, no gather")
        return task.measure(lambda: np.copyto(out, source), work=len(ids), unit="rows")
    task.measure(lambda: np.take(table, ids, axis=0, out=out, mode="clip"), work=len(ids), unit="rows")
    task.check("rows", out[:512], 0)


def blas_name():
    try:
        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
        return f"{blas['name']} {blas['version']}"
    except (TypeError, KeyError):
        return "unknown"


def gemm(task, kind, m, k, n):
    m, k, n = int(m), int(k), int(n)
    left, right = noise((m, k), 1), noise((m, n) if kind == "t" else (k, n), 2)
    left = left.T if kind == "t" else left
    out = zeros((left.shape[0], n))
    task.result["versions"]["blas"] = blas_name()
    if "openblas" not in blas_name().lower():
        raise Skip("this NumPy's BLAS is " + blas_name())
    task.measure(lambda: np.matmul(left, right, out=out), work=2.0 * m * k * n, unit="FLOP")
    want = left[:8].astype(np.float64) @ right.astype(np.float64)
    if np.abs(out[:8] - want).max() > 1e-4 * np.abs(want).max():
        task.result["wrong"] = "the product is not A B"


CASES = {"spmm": spmm, "weighted": weighted, "gather": gather, "gemm": gemm}

if __name__ == "__main__":
    sys.exit(rival_main("SciPy", {"scipy": scipy.__version__, "numpy": np.__version__}, CASES))
