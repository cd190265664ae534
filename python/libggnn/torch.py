"""ggnn.h's operations under torch.autograd, and SAGEConv, GCNConv and GATConv with PyG's parameters. CPU, float32.

A Block is the edges of a layer, sorted by target; layers take one, or an edge_index of PyG's, of which they make one. The same input
gives the same bits, backward too, with any number of threads.
"""
import ctypes as c
import math

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from . import _c

_lib = _c.LIBRARIES[np.dtype(np.int32)]  # local ids have 32 bits in both
SUM, MEAN, MAX, MIN = range(4)
_REDUCE = {"sum": SUM, "add": SUM, "mean": MEAN, "max": MAX, "min": MIN}


def _call(name, *arguments):
    status = getattr(_lib, name)(*arguments)
    if status:
        raise (MemoryError if status == 6 else ValueError)(f"{name[8:]}: {_lib.ggnn_py_status(status).decode()}")


def _p(t):
    """Its address: t must have a name, which keeps it alive for the call."""
    return None if t is None else t.data_ptr()


def _float(x, name, rows, columns=None):
    if x.device.type != "cpu" or x.dtype != torch.float32:
        raise TypeError(f"{name} is {x.dtype} on {x.device}, not float32 on the CPU")
    if x.dim() != 2 or x.shape[0] != rows or (columns is not None and x.shape[1] != columns):
        raise ValueError(f"{name} is {tuple(x.shape)}, not ({rows}, {'any' if columns is None else columns})")
    return x.contiguous()


def _factor(x, name, length):
    if x is None:
        return None
    if x.device.type != "cpu" or x.dtype != torch.float32 or x.dim() != 1 or len(x) != length:
        raise ValueError(f"{name} is {tuple(x.shape)} of {x.dtype} on {x.device}, not ({length},) of float32 on the CPU")
    if x.requires_grad:
        raise NotImplementedError(f"{name} is a constant: it has no gradient here. Multiply by it outside, or detach() it")
    return x.contiguous()


class Block:
    """Edges of a layer, by target: indptr (num_dst + 1), indices (num_edges), local ids of sources. Targets are the first sources,
    unless there are fewer sources. order: where edge i of the block was in edge_index; None: there."""

    def __init__(self, indptr, indices, num_src, order=None):
        for name, t in (("indptr", indptr), ("indices", indices)):
            if t.device.type != "cpu" or t.dtype not in (torch.int32, torch.int64) or t.dim() != 1:
                raise TypeError(f"{name} is {t.dtype} of {t.dim()} dimensions on {t.device}, not whole numbers of one dimension on the CPU")
        if indices.numel() and (int(indices.min()) < 0 or int(indices.max()) >= num_src):
            raise ValueError(f"no block: a source is not in [0, {num_src})")
        self.indptr, self.indices, self.order = indptr.contiguous(), indices.to(torch.int32).contiguous(), order
        self.num_dst, self.num_src, self.num_edges = len(indptr) - 1, int(num_src), len(indices)
        if self.num_dst < 0 or self.indptr.dtype != torch.int64 or max(self.num_src, self.num_dst, self.num_edges) >= 2 ** 31:
            raise ValueError("a block has an int64 indptr, and fewer than 2^31 nodes and edges")
        self._c = _c.Block(self.num_dst, self.num_src, self.num_edges, _p(self.indptr), _p(self.indices), None)
        self._t = self._loopless = None
        if _lib.ggnn_py_block_check(c.byref(self._c)):
            raise ValueError(f"no block: indptr does not rise to {self.num_edges} edges, or a source is not in [0, {self.num_src})")

    @staticmethod
    def from_edge_index(edge_index, num_dst, num_src=None, loops=True):
        """loops=False: without edges from a node to itself."""
        num_src = num_dst if num_src is None else num_src
        row, col = edge_index[0], edge_index[1]
        if row.numel() and (int(row.min()) < 0 or int(row.max()) >= num_src or int(col.min()) < 0 or int(col.max()) >= num_dst):
            raise IndexError(f"edge_index names a node that is not in [0, {num_src}) or, for targets, [0, {num_dst})")
        order = None
        if not loops:
            order = (row != col).nonzero().view(-1)
            row, col = row[order], col[order]
        if col.numel() > 1 and bool((col[1:] < col[:-1]).any()):
            by = torch.sort(col, stable=True).indices
            row, col, order = row[by], col[by], by if order is None else order[by]
        indptr = torch.zeros(num_dst + 1, dtype=torch.int64)
        torch.cumsum(torch.bincount(col, minlength=num_dst), 0, out=indptr[1:])
        return Block(indptr, row, num_src, order)

    def transpose(self):
        """What backward walks; made once."""
        if self._t is None:
            arrays = torch.empty(self.num_src + 1, dtype=torch.int64), *(torch.empty(self.num_edges, dtype=torch.int32) for _ in range(2))
            _call("ggnn_py_transpose", c.byref(self._c), *map(_p, arrays))
            self._t = _c.Block(self.num_src, self.num_dst, self.num_edges, *map(_p, arrays)), arrays
        return self._t[0]

    def without_loops(self):
        """The same without edges from a node to itself; made once, and this one where it has none."""
        if self._loopless is None:
            target = torch.repeat_interleave(torch.arange(self.num_dst), self.degrees())
            keep = self.indices != target
            if bool(keep.all()):
                return self
            indptr = torch.zeros(self.num_dst + 1, dtype=torch.int64)
            torch.cumsum(torch.bincount(target[keep], minlength=self.num_dst), 0, out=indptr[1:])
            order = keep.nonzero().view(-1) if self.order is None else self.order[keep]
            self._loopless = Block(indptr, self.indices[keep], self.num_src, order)
        return self._loopless

    def degrees(self):
        return self.indptr[1:] - self.indptr[:-1]

    def by_edge(self, value):
        """A value for each edge of edge_index, in the block's order."""
        return value if self.order is None else value[self.order]


class _SpMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, block, reduce, src, dst, own):
        x = _float(x, "x", block.num_src)
        src, dst = _factor(src, "src_scale", block.num_src), _factor(dst, "dst_scale", block.num_dst)
        own = _factor(own, "self_scale", min(block.num_dst, block.num_src))
        ctx.block, ctx.reduce, ctx.scale = block, reduce, (src, dst, own)
        heads = 1 if weight is None else weight.shape[1]
        if weight is not None:
            weight = _float(weight, "weight", block.num_edges)
        out = torch.empty(block.num_dst, x.shape[1])
        arg = torch.empty(block.num_dst, x.shape[1], dtype=torch.int32) if reduce in (MAX, MIN) else None
        _call("ggnn_py_spmm", _p(out), _p(arg), reduce, c.byref(block._c), _p(src), _p(dst), _p(own), _p(weight), heads, _p(x), x.shape[1])
        ctx.save_for_backward(x if weight is not None else None, weight, arg)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, dout):
        (x, weight, arg), block, (src, dst, own) = ctx.saved_tensors, ctx.block, ctx.scale
        dout, width = dout.contiguous(), dout.shape[1]
        heads = 1 if weight is None else weight.shape[1]
        if ctx.reduce == MEAN and dst is None:
            dst = 1.0 / block.degrees().clamp(min=1).float()
        dx = dweight = None
        if ctx.needs_input_grad[0]:
            dx = torch.empty(block.num_src, width)
            t = block.transpose()
            if arg is not None:
                _call("ggnn_py_spmm_back_arg", _p(dx), c.byref(t), c.byref(block._c), _p(weight), heads, _p(dout), _p(arg), width)
            else:
                _call("ggnn_py_spmm", _p(dx), None, SUM, c.byref(t), _p(dst), _p(src), _p(own), _p(weight), heads, _p(dout), width)
        if weight is not None and ctx.needs_input_grad[1]:
            if arg is not None or src is not None:
                raise NotImplementedError("gradients of weights are those of sum and mean, without factors of sources")
            dweight = torch.empty(block.num_edges, heads)
            scaled = dout if dst is None else dout * dst[:, None]
            _call("ggnn_py_sddmm", _p(dweight), 0, c.byref(block._c), _p(x), _p(scaled), heads, width)
        return dx, dweight, None, None, None, None, None


def spmm(x, block, reduce="sum", weight=None, src_scale=None, dst_scale=None, self_scale=None):
    """Row v: reduce over the edges u -> v of weight[e, head] * x[u], times dst_scale[v], which replaces mean's 1 / degree; x[u] times
    src_scale[u]; plus self_scale[v] * x[v].
    x (num_src, width), weight (num_edges, heads) in the block's order, of which heads divide width; scales are constants."""
    return _SpMM.apply(x, weight, block, _REDUCE[reduce], src_scale, dst_scale, self_scale)


class _SDDMM(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, block, heads):
        x, y = _float(x, "x", block.num_src), _float(y, "y", block.num_dst, x.shape[1])
        ctx.block, ctx.heads = block, heads
        ctx.save_for_backward(x, y)
        out = torch.empty(block.num_edges, heads)
        _call("ggnn_py_sddmm", _p(out), 0, c.byref(block._c), _p(x), _p(y), heads, x.shape[1])
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, dout):
        (x, y), block, heads = ctx.saved_tensors, ctx.block, ctx.heads
        dout, width = dout.contiguous(), x.shape[1]
        dx, dy = torch.empty_like(x), torch.empty_like(y)
        _call("ggnn_py_spmm", _p(dx), None, SUM, c.byref(block.transpose()), None, None, None, _p(dout), heads, _p(y), width)
        _call("ggnn_py_spmm", _p(dy), None, SUM, c.byref(block._c), None, None, None, _p(dout), heads, _p(x), width)
        return dx, dy, None, None


def sddmm(x, y, block, heads=1):
    """(num_edges, heads): the dot of x[u] and y[v], per head, for each edge u -> v in the block's order."""
    return _SDDMM.apply(x, y, block, heads)


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logit, block):
        logit = _float(logit, "logit", block.num_edges)
        out = torch.empty_like(logit)
        _call("ggnn_py_softmax", _p(out), c.byref(block._c), _p(logit), logit.shape[1])
        ctx.block = block
        ctx.save_for_backward(out)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, dout):
        (out,), dout = ctx.saved_tensors, dout.contiguous()
        dlogit = torch.empty_like(out)
        _call("ggnn_py_softmax_back", _p(dlogit), c.byref(ctx.block._c), _p(out), _p(dout), out.shape[1])
        return dlogit, None


def softmax(logit, block):
    """Over the edges of each target, per column of logit (num_edges, heads)."""
    return _Softmax.apply(logit, block)


class _GAT(torch.autograd.Function):
    @staticmethod
    def forward(ctx, z, el, er, block, slope, dropout, key):
        z, el = _float(z, "z", block.num_src), _float(el, "el", block.num_src)
        er = _float(er, "er", block.num_dst, el.shape[1])
        ctx.block, ctx.how = block, (el.shape[1], z.shape[1], slope, dropout, *key)
        out, lse = torch.empty(block.num_dst, z.shape[1]), torch.empty(block.num_dst, el.shape[1])
        _call("ggnn_py_gat", c.byref(block._c), _p(z), _p(el), _p(er), _p(out), _p(lse), *ctx.how)
        ctx.save_for_backward(z, el, er, out, lse)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, dout):
        (z, el, er, out, lse), dout = ctx.saved_tensors, dout.contiguous()
        dz, del_, der = torch.empty_like(z), torch.empty_like(el), torch.empty_like(er)
        _call("ggnn_py_gat_back", _p(dz), _p(del_), _p(der), c.byref(ctx.block.transpose()), c.byref(ctx.block._c), _p(z), _p(el), _p(er), _p(out),
              _p(lse), _p(dout), *ctx.how)
        return dz, del_, der, None, None, None, None


def gat(z, el, er, block, negative_slope=0.2, dropout=0.0, key=(0, 0)):
    """Fused attention of each target over itself and its list: z (num_src, width), scores el (num_src, heads), er (num_dst, heads). key:
    (seed, step) of dropout. Edges of the block from a node to itself count once more: block.without_loops() has none."""
    if block.num_src < block.num_dst:
        raise ValueError("gat: the first sources are the targets")
    return _GAT.apply(z, el, er, block, float(negative_slope), float(dropout), key)


def blocks(batch):
    """The layers of a batch, the first one first: layer l of L needs no edge of the last l hops, so that what is computed shrinks.
    x = batch.x; for conv, block in zip(convs, blocks(batch)): x = conv(x, block) ends with the rows of the seeds. batch: PyG's Data, not
    bidirectional; its edges are by target, as samplers leave them."""
    if "num_sampled_nodes" not in batch or batch.num_sampled_nodes is None:
        raise ValueError("blocks: the batch does not say what each hop found: it is bidirectional, or no sampler made it")
    row, col = batch.edge_index
    nodes, edges = (torch.tensor([0] + list(n)).cumsum(0).tolist() for n in (batch.num_sampled_nodes, batch.num_sampled_edges))
    if col.numel() > 1 and bool((col[1:] < col[:-1]).any()):
        raise ValueError("blocks: edges are not by target")
    indptr = torch.searchsorted(col.contiguous(), torch.arange(nodes[-1] + 1))
    made = []
    for hop in range(len(edges) - 1, 0, -1):
        made.append(Block(indptr[:nodes[hop] + 1].clamp(max=edges[hop]), row[:edges[hop]], nodes[hop + 1]))
    return made


# ---- PyG's layers --------------------------------------------------------------------

def _block(x, edge_index, loops=True):
    if isinstance(edge_index, Block):
        return edge_index if loops else edge_index.without_loops()
    if isinstance(x, tuple) and x[1] is None:
        raise ValueError("(x, None) does not say how many targets there are: pass a Block, or both")
    num_src, num_dst = (x[0].shape[0], x[1].shape[0]) if isinstance(x, tuple) else (x.shape[0], x.shape[0])
    return Block.from_edge_index(edge_index, num_dst, num_src, loops)


def _pair(x, block):
    return x if isinstance(x, tuple) else (x, x[:block.num_dst])


class SAGEConv(nn.Module):
    """PyG's SAGEConv: its parameters (lin_l, lin_r), aggr mean, sum, max or min."""

    def __init__(self, in_channels, out_channels, aggr="mean", normalize=False, root_weight=True, bias=True):
        super().__init__()
        if aggr not in _REDUCE:
            raise ValueError(f"aggr={aggr!r}: one of {', '.join(_REDUCE)}")
        src, dst = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        self.aggr, self.normalize = aggr, normalize
        self.lin_l = nn.Linear(src, out_channels, bias=bias)
        self.lin_r = nn.Linear(dst, out_channels, bias=False) if root_weight else None

    def reset_parameters(self):
        for lin in filter(None, (self.lin_l, self.lin_r)):
            lin.reset_parameters()

    def forward(self, x, edge_index):
        block = _block(x, edge_index)
        src, dst = _pair(x, block)
        out = self.lin_l(spmm(src, block, self.aggr))
        if self.lin_r is not None and dst is not None:
            out = out + self.lin_r(dst)
        return nn.functional.normalize(out, dim=-1) if self.normalize else out


class GCNConv(nn.Module):
    """PyG's GCNConv with self-loops and normalisation, over a square graph without weights: its parameters (lin, bias)."""

    def __init__(self, in_channels, out_channels, bias=True):
        super().__init__()
        self.lin = nn.Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.zeros(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.lin.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x, edge_index):
        block = _block(x, edge_index, loops=False)  # each node has one, as PyG adds the missing ones
        if block.num_src != block.num_dst:
            raise ValueError("GCNConv: degrees are those of a square graph; of a batch, pass its edge_index")
        degree = (block.degrees() + 1).float()
        factor = degree.rsqrt()
        out = spmm(self.lin(x), block, "sum", None, factor, factor, 1.0 / degree)
        return out if self.bias is None else out + self.bias


class GATConv(nn.Module):
    """PyG's GATConv with self-loops: its parameters (lin, att_src, att_dst, bias); no edge_dim, no residual."""

    def __init__(self, in_channels, out_channels, heads=1, concat=True, negative_slope=0.2, dropout=0.0, bias=True):
        super().__init__()
        self.heads, self.out_channels, self.concat, self.negative_slope, self.dropout = heads, out_channels, concat, negative_slope, dropout
        self.lin = nn.Linear(in_channels, heads * out_channels, bias=False)
        self.att_src, self.att_dst = (nn.Parameter(torch.empty(1, heads, out_channels)) for _ in range(2))
        self.bias = nn.Parameter(torch.zeros(heads * out_channels if concat else out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        for w in (self.lin.weight, self.att_src, self.att_dst):
            bound = math.sqrt(6.0 / (w.size(-2) + w.size(-1)))
            nn.init.uniform_(w, -bound, bound)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x, edge_index):
        block = _block(x, edge_index, loops=False)
        z = self.lin(x[0] if isinstance(x, tuple) else x)
        by_head = z.view(-1, self.heads, self.out_channels)
        el = (by_head * self.att_src).sum(-1)
        if isinstance(x, tuple):  # targets have rows of their own; a target attends to the source of its number, as PyG's loops do
            er = (self.lin(x[1]).view(-1, self.heads, self.out_channels) * self.att_dst).sum(-1)
        else:
            er = (by_head[:block.num_dst] * self.att_dst).sum(-1)
        dropout = self.dropout if self.training else 0.0
        key = (int(torch.randint(2 ** 62, ())), 0) if dropout else (0, 0)
        out = gat(z, el, er, block, self.negative_slope, dropout, key)
        if not self.concat:
            out = out.view(-1, self.heads, self.out_channels).mean(1)
        return out if self.bias is None else out + self.bias
