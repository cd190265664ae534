"""loader_rival.py - an epoch of loading under PyTorch: batches with features and labels, as a training loop takes them.

loader:plain       PyG's NeighborLoader and DGL's DataLoader, by their own samplers and by libggnn's
loader:disjoint, loader:temporal     libggnn's loader, beside its plain one
loader:memory      loader:plain, whose highest memory counts; before the epoch starts it is counted anew

Variants: ours (the default), ours-under-pyg (install()), ours-plain, ours-under-dgl, pyg-sparse and pyg-lib (PyG by the
sampler of either), dgl; "-workers": by worker processes. All run in one environment: the same torch, the same PyG."""

import importlib
import os
import sys

os.environ.setdefault("DGLBACKEND", "pytorch")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from common import Skip, choose_sampler, integers, rival_main, use_torch  # noqa: E402

VERSIONS = {"torch": torch.__version__}
BATCHES = 100  # an epoch's, at most


def ours(task):
    """The package from its sources, by the two libraries that environments.py compiled."""
    if not task.args.library:
        raise Skip("no libggnn32.so and libggnn64.so: the compiler failed")
    os.environ["LIBGGNN_FOLDER"] = os.path.dirname(task.args.library)
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
    import libggnn

    libggnn.set_num_threads(task.threads)
    return libggnn


def seeds_of(task):
    return torch.from_numpy(task.graph.seeds(task.batch)[: 8 if task.quick else BATCHES].ravel().copy())


def clear_peak():
    """The highest memory is counted anew; where the system cannot, it stays that of the whole process."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


# ---- PyG's loaders -------------------------------------------------------------------------------


def data_of(task, timed):
    from torch_geometric.data import Data

    g = task.graph
    edge_index = torch.empty(2, g.edges, dtype=torch.int64)  # as a user has it; both make their lists of it
    edge_index[0] = torch.from_numpy(g.indices)
    for v in range(0, g.nodes, 1 << 16):
        end = min(v + (1 << 16), g.nodes)
        degrees = np.diff(g.indptr[v : end + 1])
        edge_index[1, g.indptr[v] : g.indptr[end]] = torch.from_numpy(np.repeat(np.arange(v, end), degrees))
    data = Data(
        x=torch.from_numpy(g.feat), y=torch.from_numpy(g.label.astype(np.int64)), edge_index=edge_index
    )
    if timed:
        data.time = torch.from_numpy(integers(g.nodes, 1 << 20, 7))
    return data


def pyg_loader(task, variant, how):
    import torch_geometric

    VERSIONS["torch-geometric"] = torch_geometric.__version__
    workers = task.threads if variant.endswith("-workers") else 0
    options = {
        "input_nodes": seeds_of(task),
        "batch_size": task.batch,
        "is_sorted": how != "temporal",
        "num_workers": workers,
    }
    if variant.startswith("pyg"):
        name = choose_sampler(torch_geometric, "torch-sparse" if variant.startswith("pyg-sparse") else "pyg-lib")
        VERSIONS[name] = importlib.import_module(name.replace("-", "_")).__version__
        kind = torch_geometric.loader.NeighborLoader
    elif variant.startswith("ours-under-pyg"):
        ours(task)
        import libggnn.pyg

        task.note(libggnn.pyg.install())
        kind = torch_geometric.loader.NeighborLoader
    else:
        ours(task)
        from libggnn.pyg import NeighborLoader as kind

        options["num_workers"] = workers = task.threads
    task.result["workers"] = workers
    options.update({"disjoint": {"disjoint": True}, "temporal": {"time_attr": "time"}}.get(how, {}))
    data = data_of(task, how == "temporal")
    loader = kind(data, list(task.fanout), **options)

    def check(batch):
        right = torch.equal(batch.x, data.x[batch.n_id])
        if "e_id" in batch and batch.e_id is not None:
            right &= torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        if not right:
            task.result["wrong"] = "rows or edges of a batch are not the graph's"

    return loader, lambda batch: (batch.x, batch.edge_index.shape[1]), check


# ---- DGL's loader --------------------------------------------------------------------------------


def dgl_loader(task, variant):
    import dgl

    VERSIONS["dgl"] = dgl.__version__
    workers = task.threads if variant.endswith("-workers") else 0
    g, fanout = task.graph, list(reversed(task.fanout))
    if variant.startswith("ours"):
        ours(task)
        from libggnn.dgl import NeighborSampler

        sampler = NeighborSampler(fanout, prefetch_node_feats=["x"], prefetch_labels=["y"])
    else:
        sampler = dgl.dataloading.NeighborSampler(fanout, prefetch_node_feats=["x"], prefetch_labels=["y"])
    arrays = (g.indptr, g.indices.astype(np.int64), np.empty(0, np.int64))
    graph = dgl.graph(("csc", tuple(torch.from_numpy(a) for a in arrays)), num_nodes=g.nodes)
    graph.ndata["x"], graph.ndata["y"] = torch.from_numpy(g.feat), torch.from_numpy(g.label.astype(np.int64))
    loader = dgl.dataloading.DataLoader(
        graph, seeds_of(task), sampler, batch_size=task.batch, num_workers=workers
    )
    task.result["workers"] = workers

    def rows(batch):
        return batch[2][0].srcdata["x"], sum(block.num_edges() for block in batch[2])

    def check(batch):
        right = torch.equal(batch[2][0].srcdata["x"], graph.ndata["x"][batch[0]])
        for block in batch[2]:
            u, v = block.edges()
            su, sv = graph.find_edges(block.edata[dgl.EID])
            right &= torch.equal(block.srcdata[dgl.NID][u], su) and torch.equal(block.dstdata[dgl.NID][v], sv)
        if not right:
            task.result["wrong"] = "rows or edges of a block are not the graph's"

    return loader, rows, check


# ---- the epoch -----------------------------------------------------------------------------------


def loader(task, how):
    use_torch(task)
    variant = task.args.variant or "ours"
    if variant == "ours-plain":
        variant, how = "ours", "plain"
    by_dgl = "dgl" in variant
    loader, rows, check = dgl_loader(task, variant) if by_dgl else pyg_loader(task, variant, how)
    edges, batches = [], len(loader)
    clear_peak()

    def epoch():
        edges.clear()
        for batch in loader:
            edges.append(rows(batch)[1])

    task.measure(epoch, each=batches)
    alike = task.parameters[0] in ("plain", "memory")
    if alike:  # disjoint and temporal batches have other numbers of edges: there a batch is compared
        task.result.update(work=float(np.mean(edges)), unit="edges")
    highest = peak()
    if highest:
        task.result["peak_bytes"] = highest
    check(next(iter(loader)))
    if variant == "ours":
        np.savez(task.args.expected, edges=np.mean(edges))
    elif alike:
        task.check_count("edges", np.mean(edges))


def peak():
    """Bytes: the highest resident memory since clear_peak, that of worker processes left out."""
    try:
        with open("/proc/self/status") as file:
            return 1024 * int(next(line.split()[1] for line in file if line.startswith("VmHWM")))
    except (OSError, StopIteration):
        return None


if __name__ == "__main__":
    sys.exit(rival_main("loader", VERSIONS, {"loader": loader}))
