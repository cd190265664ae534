"""DGL's NeighborSampler over ggnn.h, for dgl.dataloading.DataLoader: from libggnn.dgl import NeighborSampler."""
import dgl
import numpy as np
import torch
from dgl.dataloading import BlockSampler

from .pyg import _method, _weight
from .sampler import Graph, Sampler


def _by_type(x, types):
    """What DGL gives as one tensor where there is one type, and by type where there are several."""
    return dict(x) if isinstance(x, dict) else {types[0]: x}


class NeighborSampler(BlockSampler):
    """DGL's NeighborSampler: its arguments, its blocks; graphs of several types too. The graph is on the CPU; edge_dir is 'in'; prob or
    mask do not go with replace. exclude_eids takes edges out after they were drawn, as DGL does. torch.manual_seed repeats a run.
    fused is accepted, and means nothing here."""

    def __init__(self, fanouts, edge_dir="in", prob=None, mask=None, replace=False, prefetch_node_feats=None, prefetch_labels=None,
                 prefetch_edge_feats=None, output_device=None, fused=True):
        super().__init__(prefetch_node_feats, prefetch_labels, prefetch_edge_feats, output_device)
        if edge_dir != "in":
            raise NotImplementedError(f"edge_dir={edge_dir!r}: neighbours are sampled along in-edges alone")
        if prob is not None and mask is not None:
            raise ValueError("prob and mask: one of them")
        self.fanouts, self.weight, self.replace = list(fanouts), prob or mask, bool(replace)
        _method(self.replace, self.weight, False)
        self._of = self._made = None

    def __getstate__(self):
        return {**self.__dict__, "_of": None, "_made": None}

    def _sampler(self, g):
        """The Sampler of this graph, and the edge ids of each type's lists (None: positions), made again where the graph is another one."""
        if self._of is not g:
            if g.device.type != "cpu":
                raise NotImplementedError(f"the graph is on {g.device}: it is sampled on the CPU, and output_device takes its blocks")
            lists, ids, weight = {}, {}, {}
            for key in g.canonical_etypes:
                indptr, indices, eid = (t.numpy() for t in g.adj_tensors("csc", etype=key))
                lists[key] = indptr.astype(np.int64, copy=False), indices
                ids[key] = eid if len(eid) else None
                if self.weight in g.edges[key].data:
                    w = _weight(g.edges[key].data[self.weight], key)
                    weight[key] = w if ids[key] is None else w[eid]
            if self.weight is not None and not weight:
                raise KeyError(f"the graph's edges have no {self.weight!r}")
            graph = Graph({t: g.num_nodes(t) for t in g.ntypes}, lists, weight, check=False)
            self._made, self._of = (Sampler(graph, _method(self.replace, self.weight, False), hop="all"), ids), g
        return self._made

    def _fanouts(self, g):
        """By type of edges, from the seeds outward; DGL lists the input layer's first."""
        by_type = {key: [] for key in g.canonical_etypes}
        for layer in reversed(self.fanouts):
            layer = {g.to_canonical_etype(k): f for k, f in layer.items()} if isinstance(layer, dict) else dict.fromkeys(by_type, layer)
            if len(layer) != len(by_type):
                raise ValueError("fanouts: a dict has a number for each type of edges")
            for key, fanout in layer.items():
                by_type[key].append(int(fanout))
        return by_type

    def sample_blocks(self, g, seed_nodes, exclude_eids=None):
        sampler, edge_ids = self._sampler(g)
        seeds = {t: s.numpy().astype(sampler.graph.ids, copy=False) for t, s in _by_type(seed_nodes, g.ntypes).items()}
        out = sampler(seeds, self._fanouts(g), int(torch.randint(2 ** 62, ())))
        excluded = {} if exclude_eids is None else {g.to_canonical_etype(k): e.numpy() for k, e in _by_type(exclude_eids, g.canonical_etypes).items()}
        ids = {t: torch.from_numpy(n) for t, n in out.node.items()}
        found = {t: np.cumsum(n).tolist() for t, n in out.num_nodes.items()}  # nodes before each hop, and at the end
        taken = {key: [0] + np.cumsum(n).tolist() for key, n in out.num_edges.items()}
        blocks = []
        for hop in range(len(self.fanouts)):
            csc, eids = {}, {}
            for key in g.canonical_etypes:
                a, b = taken[key][hop:hop + 2]
                row, col, eid = out.row[key][a:b], out.col[key][a:b], out.edge[key][a:b]
                eid = eid if edge_ids[key] is None else edge_ids[key][eid]
                if key in excluded:
                    keep = ~np.isin(eid, excluded[key])
                    row, col, eid = row[keep], col[keep], eid[keep]
                indptr = np.zeros(found[key[2]][hop] + 1, row.dtype)
                np.cumsum(np.bincount(col, minlength=len(indptr) - 1), out=indptr[1:])
                csc[key] = "csc", (torch.from_numpy(indptr), torch.from_numpy(row), torch.empty(0, dtype=g.idtype))
                eids[key] = torch.from_numpy(eid.astype(row.dtype, copy=False))
            src, dst = ({t: n[h] for t, n in found.items()} for h in (hop + 1, hop))
            if g.is_homogeneous:
                block = dgl.create_block(csc[g.canonical_etypes[0]], src[g.ntypes[0]], dst[g.ntypes[0]])
            else:
                block = dgl.create_block(csc, src, dst)
            for t in g.ntypes:
                block.srcnodes[t].data[dgl.NID], block.dstnodes[t].data[dgl.NID] = ids[t][:src[t]], ids[t][:dst[t]]
            for key in g.canonical_etypes:
                block.edges[key].data[dgl.EID] = eids[key]
            blocks.insert(0, block if self.output_device is None else block.to(self.output_device))
        return (blocks[0].srcdata[dgl.NID] if blocks else seed_nodes), seed_nodes, blocks
