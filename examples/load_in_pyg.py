"""load_in_pyg.py - GCN, GraphSAGE and GAT that ggnn-train has trained, in PyTorch Geometric's own layers: all nodes' logits.

    ggnn-train --data F.ggnn --model gat --save F.ckpt
    ggnn-train export F.ckpt W.npz                 (or W.safetensors)
    ggnn-data export F.ggnn graph                  (a folder of .npy)
    python3 load_in_pyg.py W.npz graph logits.npy
"""
import json
import sys

import numpy as np
import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv


KNOWN = {"model": ("gcn", "sage", "gat"), "aggregator": ("mean", "gcn", "pool"), "norm": ("none",), "residual": (None,), "edge-features": (None,)}


def load(path):  # tensors by name, options by name
    if path.endswith(".npz"):
        w = dict(np.load(path))
        return {name: torch.from_numpy(w[name]) for name in w if name != "__metadata__"}, json.loads(w["__metadata__"].item())
    from safetensors import safe_open
    with safe_open(path, "pt") as w:
        return {name: w.get_tensor(name) for name in w.keys()}, w.metadata()


def layer(own, width, **more):  # the names of a layer's weights say which one it is
    if "att_src" in own:
        _, heads, out = own["att_src"].shape
        return GATConv(width, out, heads, concat=len(own["bias"]) == heads * out, add_self_loops=False, **more)
    if "lin_l.weight" in own:
        pool, root = "lin.weight" in own, "lin_r.weight" in own
        return SAGEConv(width, len(own["lin_l.bias"]), "max" if pool else "mean", project=pool, root_weight=root)
    return GCNConv(width, len(own["bias"]), add_self_loops=False)


@torch.no_grad()
def logits(weights, folder):
    w, about = load(weights)
    for option, values in KNOWN.items():
        if about.get(option) not in values:
            sys.exit(f"{weights}: trained with --{option} {about.get(option)}, which no layer of PyG has: docs/TRAINING.md says how to add it")
    indptr, indices, x = (torch.from_numpy(np.load(f"{folder}/{name}.npy")) for name in ("indptr", "indices", "feat"))
    nodes, x, layers = torch.arange(len(indptr) - 1), x.float(), len({name.split(".")[1] for name in w})
    edges = torch.stack([indices.long(), torch.repeat_interleave(nodes, indptr.diff())])  # from, to
    if "convs.0.lin_r.weight" not in w:  # a node sees itself beside its list, once more if that has it, too
        edges = torch.cat([edges, nodes.expand(2, -1)], 1)
    for l in range(layers):
        own = {name.removeprefix(f"convs.{l}."): tensor for name, tensor in w.items() if name.startswith(f"convs.{l}.")}
        conv = layer(own, x.shape[1])
        conv.load_state_dict(own)  # fails where names differ
        x = conv(x, edges)
        if l + 1 < layers:
            x = torch.nn.functional.elu(x) if "att_src" in own else torch.relu(x)
    return x


if __name__ == "__main__":
    out = logits(*sys.argv[1:3])
    np.save(sys.argv[3], out.numpy())
    print(f"{sys.argv[3]}: {out.shape[0]} nodes, {out.shape[1]} logits each")
