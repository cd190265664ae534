"""torch_rival.py - torch alone: index_select, CSR times dense (MKL on a CPU, cuSPARSE on a GPU), sampled
products, GEMM, and products by torch.compile."""

import sys

import numpy as np
import torch

from common import Skip, compiled, noise, rival_main, use_torch
from ours import gather_inputs


def csr(task, value, narrow):
    g = task.graph
    kind = np.int32 if narrow else np.int64
    if narrow and g.edges >= 2**31:
        raise Skip("32-bit offsets do not reach")
    indptr, indices = task.tensor(g.indptr.astype(kind)), task.tensor(g.indices.astype(kind))
    return torch.sparse_csr_tensor(
        indptr, indices, task.tensor(value), size=(g.nodes, g.nodes), check_invariants=False
    )


def product(task, value, width, reduce=None):
    """CSR @ dense with offsets of 64 and of 32 bits, and torch.sparse.mm with its own reduction: the
    fastest of them."""
    use_torch(task)
    g, inp = task.graph, task.tensor(noise((task.graph.nodes, int(width)), 1))
    with torch.inference_mode():
        wide, narrow = csr(task, value, False), csr(task, value, True)
        runs = {"CSR @ dense, int64": lambda: wide @ inp, "CSR @ dense, int32": lambda: narrow @ inp}
        if reduce and task.device == "cpu":
            ones = csr(task, np.ones(g.edges, np.float32), False)
            runs["torch.sparse.mm " + reduce] = lambda: torch.sparse.mm(ones, inp, reduce)
        elif reduce is None and task.device == "cpu":
            runs["torch.sparse.mm sum"] = lambda: torch.sparse.mm(wide, inp, "sum")
        run = task.best(runs, work=g.edges, unit="edges")
        task.check("rows", run()[task.tensor(g.rows())].cpu())


def by_index_add(x, source, target, degree):
    total = torch.index_add(torch.zeros_like(x), 0, target, x[source])
    return total if degree is None else total / degree


def by_scatter_reduce(x, source, target, how):
    places = target[:, None].expand(-1, x.shape[1])
    return torch.scatter_reduce(torch.zeros_like(x), 0, places, x[source], how, include_self=False)


def by_csr(a, x):
    return a @ x


def written_out(task, way, how, width):
    """The sum or mean as a user of PyG writes it, by torch.compile. Variants: index_add and scatter_reduce, of gathered
    rows; csr, CSR @ dense."""
    use_torch(task)
    g, x = task.graph, task.tensor(noise((task.graph.nodes, int(width)), 1))
    degree = np.diff(g.indptr)
    each = np.maximum(degree, 1).astype(np.float32)
    with torch.inference_mode():
        if way == "csr":
            value = np.repeat(1 / each, degree) if how == "mean" else np.ones(g.edges, np.float32)
            run = compiled(task, torch, by_csr, csr(task, value, False), x)
        else:
            source = task.tensor(g.indices.astype(np.int64))
            target = task.tensor(np.repeat(np.arange(g.nodes, dtype=np.int64), degree))
            if way == "index_add":
                run = compiled(
                    task, torch, by_index_add, x, source, target, task.tensor(each[:, None]) if how == "mean" else None
                )
            else:
                run = compiled(task, torch, by_scatter_reduce, x, source, target, how)
        task.measure(run, work=g.edges, unit="edges")
        task.check("rows", run()[task.tensor(g.rows())].cpu())


def spmm(task, how, width):
    if task.args.variant:
        return written_out(task, task.args.variant, how, width)
    g = task.graph
    degree = np.diff(g.indptr)
    value = np.ones(g.edges, np.float32)
    if how == "mean":
        value = np.repeat(np.float32(1) / np.maximum(degree, 1).astype(np.float32), degree)
    product(task, value, width, "mean" if how == "mean" else None)


def weighted(task, width):
    product(task, noise(task.graph.edges, 2), width)


def largest(task, width):
    use_torch(task)
    if task.device != "cpu":
        raise Skip("torch.sparse.mm reduces by max on a CPU only")
    g, inp = task.graph, task.tensor(noise((task.graph.nodes, int(width)), 1))
    with torch.inference_mode():
        a = csr(task, np.ones(g.edges, np.float32), False)
        run = task.best(
            {"torch.sparse.mm amax": lambda: torch.sparse.mm(a, inp, "amax")}, work=g.edges, unit="edges"
        )
        task.check("rows", run()[task.tensor(g.rows())].cpu())


def sddmm(task, width):
    use_torch(task)
    g, width = task.graph, int(width)
    src, dst = task.tensor(noise((g.nodes, width), 1)), task.tensor(noise((g.nodes, width), 2))
    turned = src.t()
    zeros = np.zeros(g.edges, np.float32)
    with torch.inference_mode():
        wide, narrow = csr(task, zeros, False), csr(task, zeros, True)
        runs = {
            "sampled_addmm, int64": lambda: torch.sparse.sampled_addmm(wide, dst, turned, beta=0.0),
            "sampled_addmm, int32": lambda: torch.sparse.sampled_addmm(narrow, dst, turned, beta=0.0),
        }
        run = task.best(runs, work=g.edges, unit="edges")
        task.check("edges", run().values()[task.tensor(g.places())].cpu())


def gather(task, width):
    use_torch(task)
    table, ids = gather_inputs(task.graph, int(width), task.quick)
    rows, id64 = task.tensor(table), task.tensor(ids)
    id32 = id64.to(torch.int32)
    kept = torch.empty((len(ids), int(width)), device=task.device)
    with torch.inference_mode():
        runs = {
            "index_select(out=), int64": lambda: torch.index_select(rows, 0, id64, out=kept),
            "index_select(out=), int32": lambda: torch.index_select(rows, 0, id32, out=kept),
        }
        run = task.best(runs, work=len(ids), unit="rows")
        task.check("rows", run()[:512].cpu(), 0)


def gemm(task, kind, m, k, n):
    """A B into a kept output; kind t: A' B, as a weight's gradient is."""
    use_torch(task)
    m, k, n = int(m), int(k), int(n)
    left, right = task.tensor(noise((m, k), 1)), task.tensor(noise((m, n) if kind == "t" else (k, n), 2))
    out = torch.empty((k if kind == "t" else m, n), device=task.device)
    left = left.t() if kind == "t" else left
    with torch.inference_mode():
        task.measure(lambda: torch.mm(left, right, out=out), work=2.0 * m * k * n, unit="FLOP")
        want = left[:8].double() @ right.double()
        if (out[:8].double() - want).abs().max() > 1e-4 * want.abs().max():
            task.result["wrong"] = "the product is not A B"


CASES = {"spmm": spmm, "weighted": weighted, "max": largest, "sddmm": sddmm, "gather": gather, "gemm": gemm}

if __name__ == "__main__":
    sys.exit(rival_main("torch", {"torch": torch.__version__, "numpy": np.__version__}, CASES))
