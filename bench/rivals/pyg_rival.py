"""pyg_rival.py - PyTorch Geometric: pyg-lib's or torch-sparse's sampler, torch-sparse's products, its softmax, its
layers."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch_geometric
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, SimpleConv

from common import ABSENT, Graph, Skip, choose_sampler, compiled, noise, rival_main, use_torch
from training import CORA, train_cora, train_steps

VERSIONS = {"torch-geometric": torch_geometric.__version__, "torch": torch.__version__}


def edge_index(task, loops=False):
    """(2, E): source, target, sorted by target."""
    g = task.graph
    indptr, indices = g.with_loops() if loops else (g.indptr, g.indices)
    target = np.repeat(np.arange(g.nodes, dtype=np.int64), np.diff(indptr))
    return task.tensor(np.stack([indices.astype(np.int64), target]))


# ---- the whole graph -----------------------------------------------------------------------------


def largest(task, width):
    """torch-scatter's segment_csr over gathered rows: max, with arg."""
    import torch_scatter

    VERSIONS["torch-scatter"] = torch_scatter.__version__
    use_torch(task)
    g, inp = task.graph, task.tensor(noise((task.graph.nodes, int(width)), 1))
    indptr, indices = task.tensor(g.indptr), task.tensor(g.indices.astype(np.int64))

    def run():
        return torch_scatter.segment_max_csr(inp[indices], indptr)[0]

    with torch.inference_mode():
        task.measure(run, work=g.edges, unit="edges")
        task.check("rows", run()[task.tensor(g.rows())].cpu())


def product(task, width, reduce, value=None):
    """torch-sparse's matmul; without values where it has none."""
    try:
        import torch_sparse
    except ImportError:
        raise Skip(ABSENT["torch-sparse"]) from None

    VERSIONS["torch-sparse"] = torch_sparse.__version__
    use_torch(task)
    g, inp = task.graph, task.tensor(noise((task.graph.nodes, int(width)), 1))
    a = torch_sparse.SparseTensor(
        rowptr=task.tensor(g.indptr),
        col=task.tensor(g.indices.astype(np.int64)),
        value=None if value is None else task.tensor(value),
        sparse_sizes=(g.nodes, g.nodes),
        is_sorted=True,
    )
    with torch.inference_mode():
        task.measure(lambda: torch_sparse.matmul(a, inp, reduce), work=g.edges, unit="edges")
        task.check("rows", torch_sparse.matmul(a, inp, reduce)[task.tensor(g.rows())].cpu())


def weighted(task, width):
    product(task, width, "sum", noise(task.graph.edges, 2))


def spmm(task, how, width):
    """Variants: torch-sparse; compile, PyG's SimpleConv by torch.compile."""
    if task.args.variant != "compile":
        return product(task, width, how)
    use_torch(task)
    g, x = task.graph, task.tensor(noise((task.graph.nodes, int(width)), 1))
    with torch.inference_mode():
        run = compiled(task, torch, SimpleConv(aggr=how), x, edge_index(task))
        task.measure(run, work=g.edges, unit="edges")
        task.check("rows", run()[task.tensor(g.rows())].cpu())


def softmax(task, heads):
    use_torch(task)
    g, logit = task.graph, task.tensor(noise((task.graph.edges, int(heads)), 3))
    index, indptr = edge_index(task)[1], task.tensor(g.indptr)
    scatter = torch_geometric.utils.softmax
    with torch.inference_mode():
        run = task.best(
            {
                "index": lambda: scatter(logit, index, num_nodes=g.nodes),
                "offsets": lambda: scatter(logit, ptr=indptr),
            },
            work=g.edges,
            unit="edges",
        )
        task.check("edges", run()[task.tensor(g.places())].cpu())


# ---- mini-batches --------------------------------------------------------------------------------


def native_sampler(task, indptr, indices):
    """Function of seeds that returns (rows, cols, ids); by the variant's library, or pyg-lib where that is, else
    torch-sparse."""
    fanout = list(task.fanout)
    if choose_sampler(torch_geometric, task.args.variant) == "pyg-lib":
        import pyg_lib

        VERSIONS["pyg-lib"] = pyg_lib.__version__
        return lambda seeds: pyg_lib.sampler.neighbor_sample(indptr, indices, seeds, fanout)[:3]
    import torch_sparse

    VERSIONS["torch-sparse"] = torch_sparse.__version__

    def run(seeds):
        ids, rows, cols, _ = torch.ops.torch_sparse.neighbor_sample(indptr, indices, seeds, fanout, False, True)
        return rows, cols, ids

    return run


def sample(task):
    """A batch a thread, as these samplers use one. They expand new ids only: fewer edges than ours, so time
    per edge."""
    use_torch(task, 1)
    g = task.graph
    run = native_sampler(
        task, torch.from_numpy(g.indptr.astype(np.int64)), torch.from_numpy(g.indices.astype(np.int64))
    )
    seeds, pool, at = torch.from_numpy(g.seeds(task.batch)), ThreadPoolExecutor(task.threads), [0]
    edges = np.mean([len(run(seeds[i % len(seeds)])[0]) for i in range(20)])

    def together():
        at[0] += task.threads
        list(pool.map(lambda i: run(seeds[i % len(seeds)]), range(at[0], at[0] + task.threads)))

    task.measure(together, each=task.threads)
    task.result.update(work=float(edges), unit="edges", workers=task.threads)
    task.check_count("edges", edges)


def opening(task):
    use_torch(task)

    def run():
        g = Graph(task.args.graph)
        take = native_sampler(task, torch.from_numpy(g.indptr), torch.from_numpy(g.indices.astype(np.int64)))
        torch.index_select(torch.from_numpy(g.feat), 0, take(torch.from_numpy(g.ids(1)[: task.batch]))[2])

    task.measure(run)


# ---- training ------------------------------------------------------------------------------------


class Net(torch.nn.Module):
    """Three layers as ggnn-train has them."""

    def __init__(self, kind, features, hidden, classes, heads=4):
        super().__init__()
        pairs = [(features, hidden), (hidden, hidden), (hidden, classes)]
        if kind == "gat":
            layers = [
                GATConv(features, hidden // heads, heads),
                GATConv(hidden, hidden // heads, heads),
                GATConv(hidden, classes, 1),
            ]
        else:
            layers = [SAGEConv(a, b, project=False) if kind == "sage" else GCNConv(a, b) for a, b in pairs]
        self.layers, self.kind = torch.nn.ModuleList(layers), kind

    def forward(self, x, edges, trim):
        act = torch.nn.functional.elu if self.kind == "gat" else torch.relu
        for i, layer in enumerate(self.layers):
            if trim:
                x, edges, _ = torch_geometric.utils.trim_to_layer(i, *trim, x, edges)
            x = layer(x, edges)
            if i < len(self.layers) - 1:
                x = torch.nn.functional.dropout(act(x), 0.5, self.training)
        return x


def step(task, kind):
    """NeighborLoader in this process; layers are trimmed to what they need where pyg-lib's sampler says
    what that is."""
    use_torch(task)
    g = task.graph
    data = torch_geometric.data.Data(
        x=torch.from_numpy(g.feat), y=torch.from_numpy(g.label.astype(np.int64)), edge_index=edge_index(task)
    )
    seeds = torch.from_numpy(g.seeds(task.batch).ravel())
    loader = torch_geometric.loader.NeighborLoader(
        data, list(task.fanout), input_nodes=seeds, batch_size=task.batch, is_sorted=True
    )
    model = Net(kind, g.feat.shape[1], task.hidden, int(g.label.max()) + 1).to(task.device)
    trims = torch_geometric.typing.WITH_PYG_LIB
    task.note("pyg-lib" if trims else "torch-sparse's sampler, no trimming of layers")

    def batches():
        while True:
            for batch in loader:
                yield batch.to(task.device)

    def forward(batch):
        trim = (batch.num_sampled_nodes, batch.num_sampled_edges) if trims else None
        return model(batch.x, batch.edge_index, trim)[: task.batch], batch.y[: task.batch]

    train_steps(task, torch, model, batches(), forward)


def cora(task, kind):
    use_torch(task)
    how, g = CORA[kind], task.graph
    x, edges, classes = task.tensor(g.feat), edge_index(task), int(g.label.max()) + 1
    p = how["dropout"]
    if kind == "gcn":
        layers = [
            GCNConv(x.shape[1], how["hidden"], cached=True),
            GCNConv(how["hidden"], classes, cached=True),
        ]
    else:
        layers = [
            GATConv(x.shape[1], how["hidden"], 8, dropout=p),
            GATConv(8 * how["hidden"], classes, 1, dropout=p),
        ]
    model = torch.nn.ModuleList(layers).to(task.device)
    act = torch.relu if kind == "gcn" else torch.nn.functional.elu

    def logits():
        drop = torch.nn.functional.dropout
        h = act(model[0](drop(x, p, model.training), edges))
        return model[1](drop(h, p, model.training), edges)

    train_cora(task, torch, model, logits, kind)


CASES = {
    "spmm": spmm,
    "max": largest,
    "weighted": weighted,
    "softmax": softmax,
    "sample": sample,
    "open": opening,
    "step": step,
    "memory": step,
    "cora": cora,
}

if __name__ == "__main__":
    sys.exit(rival_main("PyG", VERSIONS, CASES))
