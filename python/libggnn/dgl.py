"""DGL's NeighborSampler over ggnn.h, for dgl.dataloading.DataLoader: from libggnn.dgl import NeighborSampler."""
import dgl
import numpy as np
import torch
from dgl import utils
from dgl.dataloading import BlockSampler

from .pyg import _method, _state, _weight
from .sampler import Graph, Sampler


def _by_type(x, types, what):
    """What DGL gives as one tensor where there is one type, and by type where there are several."""
    if isinstance(x, dict):
        return x
    if len(types) > 1:
        raise ValueError(f"{what}: the graph has {len(types)} types of them: a dict, by type")
    return {types[0]: x}


def _ids(x, dtype):
    return np.ascontiguousarray(torch.as_tensor(x).numpy(), dtype)


class NeighborSampler(BlockSampler):
    """DGL's NeighborSampler: its arguments, its blocks; graphs of several types too. The graph is on the CPU; edge_dir is 'in'; prob or
    mask do not go with replace; seeds differ. torch.manual_seed repeats a run. fused is accepted, and means nothing here."""

    def __init__(self, fanouts, edge_dir="in", prob=None, mask=None, replace=False, prefetch_node_feats=None, prefetch_labels=None,
                 prefetch_edge_feats=None, output_device=None, fused=True):
        super().__init__(prefetch_node_feats, prefetch_labels, prefetch_edge_feats, output_device)
        if edge_dir != "in":
            raise NotImplementedError(f"edge_dir={edge_dir!r}: neighbours are sampled along in-edges alone")
        if prob is not None and mask is not None:
            raise ValueError("prob and mask: one of them")
        self.fanouts, self.weight, self.replace = list(fanouts), prob or mask, bool(replace)
        _method(self.replace, self.weight, False)
        self._made = None, None, None

    def __getstate__(self):
        return {**self.__dict__, "_made": (None, None, None)}

    def _sampler(self, g):
        """The Sampler of the graph as it is now, and the edge ids of each type's lists (None: positions)."""
        if g.device.type != "cpu":
            raise NotImplementedError(f"the graph is on {g.device}: it is sampled on the CPU, and output_device takes its blocks")
        csc = {key: g.adj_tensors("csc", etype=key) for key in g.canonical_etypes}
        of = {key: g.edges[key].data[self.weight] for key in csc if self.weight in g.edges[key].data}
        if self.weight is not None and not of:
            raise KeyError(f"the graph's edges have no {self.weight!r}")
        state = [(t, g.num_nodes(t)) for t in g.ntypes], [(key, *map(_state, tensors)) for key, tensors in csc.items()], [_state(w) for w in of.values()]
        before, sampler, ids = self._made  # its arrays are alive, so that no others lie there
        if state != before:
            lists, ids = {}, {}
            for key, (indptr, indices, eid) in csc.items():
                lists[key] = indptr.numpy().astype(np.int64, copy=False), indices.numpy()
                ids[key] = eid.numpy() if len(eid) else None
            weight = {key: _weight(w, key) for key, w in of.items()}
            graph = Graph({t: g.num_nodes(t) for t in g.ntypes}, lists, {k: w if ids[k] is None else w[ids[k]] for k, w in weight.items()}, check=False)
            sampler = Sampler(graph, _method(self.replace, self.weight, False), hop="all")
            sampler.keep = csc, of
            self._made = state, sampler, ids
        return sampler, ids

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

    def _layers(self, sampler, edge_ids, seeds, fanouts, excluded):
        """Of each hop: ids of its sources and the number of its targets, by type of nodes; rows, columns and ids of its edges, by type of
        edges. With excluded edges a hop is a batch of its own, as nothing is to be found through them."""
        seed, hops = int(torch.randint(2 ** 62, ())), len(self.fanouts)
        ids = lambda key, at: at if edge_ids[key] is None else edge_ids[key][at]
        if not excluded:
            out = sampler(seeds, fanouts, seed)
            found = {t: np.cumsum(n) for t, n in out.num_nodes.items()}  # nodes before each hop, and at the end
            taken = {key: np.cumsum([0, *n]) for key, n in out.num_edges.items()}
            for hop in range(hops):
                part = {key: slice(*t[hop:hop + 2]) for key, t in taken.items()}
                yield ({t: n[:found[t][hop + 1]] for t, n in out.node.items()}, {t: n[hop] for t, n in found.items()},
                       {key: (out.row[key][p], out.col[key][p], ids(key, out.edge[key][p])) for key, p in part.items()})
            return
        for hop in range(hops):
            out = sampler(seeds, {key: f[hop:hop + 1] for key, f in fanouts.items()}, seed, hop)
            targets = {t: n[0] for t, n in out.num_nodes.items()}
            known, edges = {t: np.arange(len(n)) < targets[t] for t, n in out.node.items()}, {}
            for key in fanouts:
                row, col, eid = out.row[key], out.col[key], ids(key, out.edge[key])
                if key in excluded:
                    keep = ~np.isin(eid, excluded[key])
                    row, col, eid = row[keep], col[keep], eid[keep]
                known[key[0]][row] = True
                edges[key] = row, col, eid
            place = {t: (np.cumsum(k) - 1).astype(sampler.graph.ids) for t, k in known.items()}
            seeds = {t: out.node[t][k] for t, k in known.items()}
            yield seeds, targets, {key: (place[key[0]][row], col, eid) for key, (row, col, eid) in edges.items()}

    def sample_blocks(self, g, seed_nodes, exclude_eids=None):
        sampler, edge_ids = self._sampler(g)
        dtype = sampler.graph.ids
        seeds = {t: _ids(s, dtype) for t, s in _by_type(seed_nodes, g.ntypes, "seed_nodes").items()}
        excluded = {} if exclude_eids is None else {
            g.to_canonical_etype(k): _ids(e, dtype) for k, e in _by_type(exclude_eids, g.canonical_etypes, "exclude_eids").items()}
        blocks, tensor = [], lambda a: torch.from_numpy(np.ascontiguousarray(a, dtype))
        for node, targets, edges in self._layers(sampler, edge_ids, seeds, self._fanouts(g), excluded):
            csc = {}
            for key, (row, col, _) in edges.items():
                indptr = np.zeros(targets[key[2]] + 1, dtype)
                np.cumsum(np.bincount(col, minlength=targets[key[2]]), out=indptr[1:])
                csc[key] = "csc", (torch.from_numpy(indptr), tensor(row), torch.empty(0, dtype=g.idtype))
            sources, targets = {t: len(n) for t, n in node.items()}, {t: int(n) for t, n in targets.items()}
            if g.is_homogeneous:
                block = dgl.create_block(csc[g.canonical_etypes[0]], sources[g.ntypes[0]], targets[g.ntypes[0]])
            else:
                block = dgl.create_block(csc, sources, targets)
            # frames as DGL's blocks have them: ids, and columns that are read from the graph's when they are asked for
            src = [tensor(node[t]) for t in g.ntypes]
            frames = utils.extract_node_subframes_for_block(g, src, [s[:targets[t]] for t, s in zip(g.ntypes, src)])
            of_src, of_dst = dict(zip(g.ntypes, frames)), dict(zip(g.ntypes, frames[len(src):]))
            of_edges = dict(zip(g.canonical_etypes, utils.extract_edge_subframes(g, [tensor(edges[key][2]) for key in g.canonical_etypes])))
            utils.set_new_frames(block, node_frames=[of_src[t] for t in block.srctypes] + [of_dst[t] for t in block.dsttypes],
                                 edge_frames=[of_edges[key] for key in block.canonical_etypes])
            blocks.insert(0, block if self.output_device is None else block.to(self.output_device))
        return (blocks[0].srcdata[dgl.NID] if blocks else seed_nodes), seed_nodes, blocks
