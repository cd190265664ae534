"""dgl_rival.py - DGL: its samplers (its own and GraphBolt's), its sparse ops, its layers."""

import os
import sys
import time

os.environ.setdefault("DGLBACKEND", "pytorch")

import dgl  # noqa: E402
import dgl.nn  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

from common import Graph, Skip, noise, rival_main, use_torch  # noqa: E402
from training import CORA, train_cora, train_steps  # noqa: E402

NONE = torch.empty(0, dtype=torch.int32)


def csc_graph(task, indptr, indices, narrow=True, numbered=False):
    """numbered: with an array of edge ids, which the backward of attention asks for (else an assertion of
    DGL fails)."""
    kind = np.int32 if narrow else np.int64
    ids = np.arange(len(indices) if numbered else 0)
    g = dgl.graph(
        ("csc", tuple(torch.from_numpy(a.astype(kind)) for a in (indptr, indices, ids))),
        num_nodes=len(indptr) - 1,
    )
    return g.to(task.device) if task.device != "cpu" else g


def graph_of(task, narrow=True):
    use_torch(task)
    return csc_graph(task, task.graph.indptr, task.graph.indices, narrow)


# ---- the whole graph -----------------------------------------------------------------------------


def product(task, op, width, weight=False):
    g, inp = graph_of(task), task.tensor(noise((task.graph.nodes, int(width)), 1))
    arguments = (inp, task.tensor(noise((task.graph.edges, 1), 2))) if weight else (inp,)
    with torch.inference_mode():
        task.measure(lambda: op(g, *arguments), work=task.graph.edges, unit="edges")
        rows = op(g, *arguments)[task.tensor(task.graph.rows())].cpu()
        task.check(
            "rows", torch.where(torch.isinf(rows), 0, rows)
        )  # the largest of nothing is -inf there, 0 here


def spmm(task, how, width):
    product(task, {"sum": dgl.ops.copy_u_sum, "mean": dgl.ops.copy_u_mean}[how], width)


def weighted(task, width):
    product(task, dgl.ops.u_mul_e_sum, width, weight=True)


def largest(task, width):
    product(task, dgl.ops.copy_u_max, width)


def sddmm(task, width):
    g, n = graph_of(task), task.graph.nodes
    src, dst = task.tensor(noise((n, int(width)), 1)), task.tensor(noise((n, int(width)), 2))
    with torch.inference_mode():
        task.measure(lambda: dgl.ops.u_dot_v(g, src, dst), work=task.graph.edges, unit="edges")
        task.check("edges", dgl.ops.u_dot_v(g, src, dst)[task.tensor(task.graph.places())].cpu())


def softmax(task, heads):
    g, logit = graph_of(task), task.tensor(noise((task.graph.edges, int(heads)), 3))
    with torch.inference_mode():
        task.measure(lambda: dgl.ops.edge_softmax(g, logit), work=task.graph.edges, unit="edges")
        task.check("edges", dgl.ops.edge_softmax(g, logit)[task.tensor(task.graph.places())].cpu())


def gat(task, direction, heads, width):
    """DGL's separate operations, as its GATConv calls them; a self-loop a node, as ours attends to the node
    itself."""
    use_torch(task)
    n, heads, width = task.graph.nodes, int(heads), int(width)
    g = csc_graph(task, *task.graph.with_loops(), numbered=direction == "both")
    z = task.tensor(noise((n, heads * width), 1)).view(n, heads, width)
    el, er = (task.tensor(noise((n, heads), seed)).view(n, heads, 1) for seed in (2, 3))
    dout = task.tensor(noise((n, heads * width), 4)).view(n, heads, width)

    def forward():
        logit = torch.nn.functional.leaky_relu(dgl.ops.u_add_v(g, el, er), 0.2)
        return dgl.ops.u_mul_e_sum(g, z, dgl.ops.edge_softmax(g, logit))

    rows = task.tensor(task.graph.rows())
    if direction == "forward":
        with torch.inference_mode():
            task.measure(forward, work=task.graph.edges, unit="edges")
            return task.check("rows", forward()[rows].flatten(1).cpu())
    for x in (z, el, er):
        x.requires_grad_()
    task.measure(
        lambda: torch.autograd.grad(forward(), (z, el, er), dout), work=task.graph.edges, unit="edges"
    )
    dz, de, dr = torch.autograd.grad(forward(), (z, el, er), dout)
    for name, grad in (("dz", dz), ("del_", de), ("der", dr)):
        task.check(name, grad[rows].flatten(1).cpu(), 1e-3)


def gather(task, width):
    raise Skip("DGL gathers by torch's index_select")


# ---- mini-batches --------------------------------------------------------------------------------


def check_edges(task, blocks):
    """Every sampled edge is one of the graph."""
    g = task.graph
    key = np.repeat(np.arange(g.nodes, dtype=np.int64), np.diff(g.indptr)) * g.nodes + g.indices
    for block in blocks:
        src, dst = block.edges()
        got = block.dstdata[dgl.NID][dst.long()].cpu().numpy().astype(np.int64) * g.nodes
        got += block.srcdata[dgl.NID][src.long()].cpu().numpy()
        at = np.minimum(np.searchsorted(key, got), g.edges - 1)
        if (key[at] != got).any():
            task.result["wrong"] = "sampled edges that the graph does not have"


def measure_sampler(task, sample):
    """sample(seeds) returns (edges, sources) of one batch; others each time. Edges are counted over the
    first 20."""
    seeds, at = task.graph.seeds(task.batch), [0]

    def run():
        at[0] += 1
        sample(seeds[at[0] % len(seeds)])

    edges = np.mean([sample(seeds[i % len(seeds)])[0] for i in range(20)])
    task.measure(run)
    task.result.update(work=float(edges), unit="edges")
    task.check_count("edges", edges)


def sample(task):
    """Variants: int32; fused (int64: on int32 DGL's fused sampler is wrong from the second batch on);
    workers: int32 by DataLoader's processes, one a thread."""
    variant = task.args.variant or "int32"
    if variant.startswith("graphbolt"):
        return graphbolt(task, np.int64 if variant == "graphbolt-int64" else np.int32)
    g = graph_of(task, narrow=variant != "fused")
    sampler = dgl.dataloading.NeighborSampler(list(reversed(task.fanout)), fused=variant == "fused")
    if variant == "workers":
        return sample_by_workers(task, g, sampler)
    kind = torch.int64 if variant == "fused" else torch.int32
    last = []

    def one(seeds):
        inputs, _, blocks = sampler.sample_blocks(g, torch.from_numpy(seeds).to(kind).to(task.device))
        last[:] = blocks
        return sum(b.num_edges() for b in blocks), len(inputs)

    measure_sampler(task, one)
    check_edges(task, last)


def sample_by_workers(task, g, sampler):
    """Time from batch to batch, the workers' start left out: they are ahead by what the first ones took."""
    torch.set_num_threads(1)
    seeds = torch.from_numpy(task.graph.seeds(task.batch).astype(np.int32)).ravel()
    loader = dgl.dataloading.DataLoader(g, seeds, sampler, batch_size=task.batch, num_workers=task.threads)
    skip, count, edges = 10, 20 if task.quick else 100, []
    for i, (_, _, blocks) in enumerate(loader):
        if i == skip:
            start = time.perf_counter()
        edges.append(sum(b.num_edges() for b in blocks))
        if i == skip + count:
            break
    seconds = (time.perf_counter() - start) / (len(edges) - 1 - skip)
    task.result.update(
        seconds=seconds, samples=[seconds], work=float(np.mean(edges)), unit="edges", workers=task.threads
    )
    task.check_count("edges", np.mean(edges[:20]))


def graphbolt(task, kind):
    import dgl.graphbolt as gb

    use_torch(task)
    g = gb.fused_csc_sampling_graph(
        torch.from_numpy(task.graph.indptr.astype(np.int64)),
        torch.from_numpy(task.graph.indices.astype(kind)),
    )
    if task.device != "cpu":
        g.to(task.device)
    fanout = [torch.LongTensor([k]) for k in task.fanout]

    def one(seeds):
        nodes, edges = torch.from_numpy(seeds.astype(kind)).to(task.device), 0
        for k in fanout:
            csc = g.sample_neighbors(nodes, k).sampled_csc
            nodes, csc = gb.unique_and_compact_csc_formats(csc, nodes)
            edges += len(csc.indices)
        return edges, len(nodes)

    task.result["rival"] = "GraphBolt"
    measure_sampler(task, one)


def block_of(task):
    """The very block that ours was measured on."""
    e = task.expected
    arrays = [torch.from_numpy(e[name].astype(np.int32)) for name in ("indptr", "indices")]
    sources, targets = int(e["sources"]), len(e["indptr"]) - 1
    return lambda: dgl.create_block(
        ("csc", (*arrays, NONE)), num_src_nodes=sources, num_dst_nodes=targets
    ).to(task.device)


def input_hop(task):
    use_torch(task)
    feat, ids, block = task.tensor(task.graph.feat), task.tensor(task.expected["ids"]), block_of(task)()
    with torch.inference_mode():

        def run():
            return dgl.ops.copy_u_mean(block, torch.index_select(feat, 0, ids))

        task.measure(run, work=len(task.expected["indices"]), unit="edges", cold=True)
        task.check("rows", run()[:512].cpu())


def mean_back(task, width):
    """A new block each time, as training has: its transpose is part of the work."""
    use_torch(task)
    make, state, edges = block_of(task), {}, len(task.expected["indices"])
    targets, sources = len(task.expected["indptr"]) - 1, int(task.expected["sources"])
    x = task.tensor(noise((sources, int(width)), 1)).requires_grad_()
    dout = task.tensor(noise((targets, int(width)), 9))

    def forward():
        state["out"] = dgl.ops.copy_u_mean(make(), x)

    def backward():
        (state["dx"],) = torch.autograd.grad(state["out"], x, dout)

    task.measure(backward, work=edges, unit="edges", before=forward, cold=True)
    task.check("rows", state["dx"][:512].cpu())


def opening(task):
    """Map the file, make DGL's graph of it, sample the first batch, gather its rows."""
    use_torch(task)

    def run():
        g = Graph(task.args.graph)
        graph, feat = csc_graph(task, g.indptr, g.indices), torch.from_numpy(g.feat)
        sampler = dgl.dataloading.NeighborSampler(list(reversed(task.fanout)), fused=False)
        inputs, _, _ = sampler.sample_blocks(graph, torch.from_numpy(g.ids(1)[: task.batch].astype(np.int32)))
        torch.index_select(feat, 0, inputs.long())

    task.measure(run)


# ---- training ------------------------------------------------------------------------------------


class Net(torch.nn.Module):
    """Three layers as ggnn-train has them: dropout .5 between them, ReLU, or ELU and heads for GAT."""

    def __init__(self, kind, features, hidden, classes, heads=4):
        super().__init__()
        conv, last = dgl.nn, (hidden, classes)
        if kind == "sage":
            layers = [conv.SAGEConv(a, b, "mean") for a, b in ((features, hidden), (hidden, hidden), last)]
        elif kind == "gcn":
            layers = [
                conv.GraphConv(a, b, allow_zero_in_degree=True)
                for a, b in ((features, hidden), (hidden, hidden), last)
            ]
        else:
            layers = [
                conv.GATConv(a, b, k, allow_zero_in_degree=True)
                for a, b, k in (
                    (features, hidden // heads, heads),
                    (hidden, hidden // heads, heads),
                    (hidden, classes, 1),
                )
            ]
        self.layers, self.kind = torch.nn.ModuleList(layers), kind

    def forward(self, blocks, x):
        act = torch.nn.functional.elu if self.kind == "gat" else torch.relu
        for i, (layer, block) in enumerate(zip(self.layers, blocks)):
            x = layer(block, x).flatten(1)
            if i < len(self.layers) - 1:
                x = torch.nn.functional.dropout(act(x), 0.5, self.training)
        return x


def step(task, kind):
    """GCN and GAT on the graph with a self-loop a node, as DGL's users do: ours have the node itself beside
    its list."""
    graph = task.graph
    g = graph_of(task) if kind == "sage" else csc_graph(task, *graph.with_loops())
    use_torch(task)
    feat, label = task.tensor(graph.feat), task.tensor(graph.label.astype(np.int64))
    sampler = dgl.dataloading.NeighborSampler(list(reversed(task.fanout)), fused=False)
    model = Net(kind, graph.feat.shape[1], task.hidden, int(graph.label.max()) + 1).to(task.device)

    def batches():
        while True:
            for seeds in graph.seeds(task.batch):
                seeds = torch.from_numpy(seeds.astype(np.int32)).to(task.device)
                yield seeds.long(), sampler.sample_blocks(g, seeds)

    def forward(batch):
        seeds, (inputs, _, blocks) = batch
        return model(blocks, torch.index_select(feat, 0, inputs.long())), label[seeds]

    train_steps(task, torch, model, batches(), forward)


def cora(task, kind):
    use_torch(task)
    how, g = CORA[kind], task.graph
    graph = csc_graph(task, *g.with_loops(), numbered=True)
    x, classes = task.tensor(g.feat), int(g.label.max()) + 1
    p = how["dropout"]
    if kind == "gcn":
        layers = [dgl.nn.GraphConv(x.shape[1], how["hidden"]), dgl.nn.GraphConv(how["hidden"], classes)]
    else:
        layers = [
            dgl.nn.GATConv(x.shape[1], how["hidden"], 8, p, p),
            dgl.nn.GATConv(8 * how["hidden"], classes, 1, p, p),
        ]
    model = torch.nn.ModuleList(layers).to(task.device)

    def logits():
        if kind == "gat":  # its layers drop their inputs themselves
            return model[1](graph, torch.nn.functional.elu(model[0](graph, x).flatten(1))).flatten(1)
        drop = torch.nn.functional.dropout
        h = torch.relu(model[0](graph, drop(x, p, model.training)))
        return model[1](graph, drop(h, p, model.training))

    train_cora(task, torch, model, logits, kind)


CASES = {
    "spmm": spmm,
    "weighted": weighted,
    "max": largest,
    "sddmm": sddmm,
    "softmax": softmax,
    "gat": gat,
    "gather": gather,
    "sample": sample,
    "input-hop": input_hop,
    "mean-back": mean_back,
    "open": opening,
    "step": step,
    "memory": step,
    "cora": cora,
}

if __name__ == "__main__":
    sys.exit(rival_main("DGL", {"dgl": dgl.__version__, "torch": torch.__version__}, CASES))
