"""load_in_pyg.py - weights that ggnn-train has trained, in PyTorch Geometric's own layers: the logits of all nodes.

    ggnn-train --data F.ggnn --model gat --save F.ckpt
    ggnn-train export F.ckpt W.safetensors            (or W.npz)
    ggnn-data export F.ggnn graph                     (a folder of .npy)
    python3 load_in_pyg.py W.safetensors graph logits.npy

GCN, GraphSAGE and GAT. Needs torch and torch_geometric; safetensors for such a file.
"""
import json
import sys

import numpy as np
import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv


def load(path):
    if path.endswith(".npz"):
        tensors = dict(np.load(path))
        about = json.loads(tensors.pop("__metadata__").item())
        return {name: torch.from_numpy(array) for name, array in tensors.items()}, about
    from safetensors import safe_open
    with safe_open(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata()


def layer(about, own, width):
    if about["model"] == "gat":
        _, heads, out = own["att_src"].shape
        edge_dim = own["lin_edge.weight"].shape[1] if "lin_edge.weight" in own else None
        return GATConv(width, out, heads, concat=len(own["bias"]) > out or heads == 1, add_self_loops=False, edge_dim=edge_dim)
    if about["model"] == "gcn":
        return GCNConv(width, len(own["bias"]), add_self_loops=False)
    how = about["aggregator"]
    return SAGEConv(width, len(own["lin_l.bias"]), "max" if how == "pool" else "mean", project=how == "pool", root_weight=how != "gcn")


@torch.no_grad()
def logits(weights, folder):
    w, about = load(weights)
    indptr, indices, x = (torch.from_numpy(np.load(f"{folder}/{name}.npy")) for name in ("indptr", "indices", "feat"))
    nodes, x = torch.arange(len(indptr) - 1), x.float()
    edges = torch.stack([indices.long(), torch.repeat_interleave(nodes, indptr.diff())])  # from, to
    sees_itself = about["model"] != "sage" or about["aggregator"] == "gcn"  # beside its list, once more if that has it, too
    rows = mean_row = None
    if "edge-features" in about:
        rows = torch.from_numpy(np.load(f"{folder}/edge_feat.npy")).float()
        mean_row = torch.zeros(len(nodes), rows.shape[1]).index_add(0, edges[1], rows) / indptr.diff().clamp(1)[:, None]
        rows = torch.cat([rows, mean_row])  # a node's own is the mean of its list's
    edges = torch.cat([edges, nodes.expand(2, -1)], 1) if sees_itself else edges
    for l in range(int(about["layers"])):
        own = {name.split(".", 2)[2]: tensor for name, tensor in w.items() if name.startswith(f"convs.{l}.")}
        conv = layer(about, own, x.shape[1])
        conv.load_state_dict(own)
        h = conv(x, edges, edge_attr=rows) if about["model"] == "gat" else conv(x, edges)
        if f"edges.{l}.weight" in w:
            h = h + mean_row @ w[f"edges.{l}.weight"].T
        if "residual" in about:
            h = h + (x @ w[f"residuals.{l}.weight"].T if f"residuals.{l}.weight" in w else x)
        if f"norms.{l}.weight" in w:
            h = torch.nn.functional.layer_norm(h, h.shape[1:], w[f"norms.{l}.weight"], w[f"norms.{l}.bias"])
        if l + 1 < int(about["layers"]):
            h = torch.nn.functional.elu(h) if about["model"] == "gat" else torch.relu(h)
        x = h
    return x


if __name__ == "__main__":
    out = logits(*sys.argv[1:3])
    np.save(sys.argv[3], out.numpy())
    print(f"{sys.argv[3]}: {out.shape[0]} nodes, {out.shape[1]} logits each")
