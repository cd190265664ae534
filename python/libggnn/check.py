"""python -m libggnn.check: which libraries are here, whether a batch is right, and what it takes beside PyG's own sampler."""
import importlib
import time

import numpy as np

import libggnn


def version(name):
    try:
        return getattr(importlib.import_module(name), "__version__", "?")
    except ImportError:
        return "not installed"
    except Exception as error:
        return f"cannot be loaded ({type(error).__name__})"


def seconds(call, repeats=5):
    call()
    took = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        took.append(time.perf_counter() - begin)
    return sorted(took)[repeats // 2]


def main():
    print(f"libggnn {libggnn.__version__}, {libggnn.get_num_threads()} threads; numpy {np.__version__}")
    print(", ".join(f"{name} {version(name)}" for name in ("torch", "torch_geometric", "pyg_lib", "torch_sparse", "dgl")))
    nodes, edges, random = 200_000, 4_000_000, np.random.default_rng(0)
    source, target = random.integers(0, nodes, edges), np.sort(random.integers(0, nodes, edges))
    indptr, key = np.searchsorted(target, np.arange(nodes + 1)).astype(np.int64), ("v", "e", "v")
    for dtype in (np.int32, np.int64):
        sampler = libggnn.Sampler(libggnn.Graph({"v": nodes}, {key: (indptr, source.astype(dtype))}))
        seeds = random.choice(nodes, 1024, replace=False).astype(dtype)
        batch = sampler({"v": seeds}, {key: [15, 10]})
        at = batch.edge[key]
        right = np.array_equal(source[at], batch.node["v"][batch.row[key]]) and np.array_equal(target[at], batch.node["v"][batch.col[key]])
        if not right:
            raise SystemExit(f"a batch of {np.dtype(dtype)} ids has edges that the graph has not")
        took = seconds(lambda: sampler({"v": seeds}, {key: [15, 10]}))
        print(f"{np.dtype(dtype)} ids: {len(at)} edges and {len(batch.node['v'])} nodes of 1024 seeds, 15 and 10 neighbours, in {1e3 * took:.2f} ms")
    try:
        import torch
        import torch_geometric.typing as typing
    except ImportError:
        return
    if typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE:
        ops = torch.ops.pyg.neighbor_sample if typing.WITH_PYG_LIB else torch.ops.torch_sparse.neighbor_sample
        colptr, row, seed = torch.from_numpy(indptr), torch.from_numpy(source), torch.from_numpy(seeds)
        arguments = (colptr, row, seed, [15, 10], None, None, None, None, True) if typing.WITH_PYG_LIB else (colptr, row, seed, [15, 10], False, True)
        theirs = seconds(lambda: ops(*arguments))
        print(f"{'pyg-lib' if typing.WITH_PYG_LIB else 'torch-sparse'}: {1e3 * theirs:.2f} ms, {theirs / took:.1f} times as long")
    else:
        print("PyG has no sampler of its own here: libggnn.pyg.install() gives it one")


if __name__ == "__main__":
    main()
