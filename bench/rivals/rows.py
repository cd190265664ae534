"""rows.py - what is compared with whom: one Row a kernel and size. The standard library only."""

from collections import namedtuple

# A rival's measurement: its name in the table (the library first), the environment and script that run it, a
# variant for the script.
Rival = namedtuple("Rival", "name environment script variant", defaults=("",))

# How the C library's heap stands while a rival runs: as a user finds it, or told to keep its memory (run.py).
FOUND, TUNED = "as found", "tuned"

# A kernel at a size. case: what the scripts are asked for. target: the ratio that is aimed at, against the
# named rival. bench: (entry, pattern of a case) of ggnn-bench, or None where ours.py alone measures ours.
# unit: what is compared.
Row = namedtuple("Row", "kernel size case rivals target against bench unit", defaults=(None, "ms"))

DGL = Rival("DGL", "dgl", "dgl_rival.py")
SAMPLERS = [
    Rival("DGL int32", "dgl", "dgl_rival.py", "int32"),
    Rival("DGL int64, fused", "dgl", "dgl_rival.py", "fused"),
    Rival("DGL int32, workers", "dgl", "dgl_rival.py", "workers"),
    Rival("GraphBolt int32", "dgl", "dgl_rival.py", "graphbolt-int32"),
    Rival("GraphBolt int64", "dgl", "dgl_rival.py", "graphbolt-int64"),
    Rival("PyG torch-sparse", "dgl", "pyg_rival.py", "torch-sparse"),
    Rival("PyG pyg-lib", "dgl", "pyg_rival.py", "pyg-lib"),
]
PYG = Rival("PyG", "dgl", "pyg_rival.py")
PYG_NEW = Rival("PyG, newest torch", "torch", "pyg_rival.py")
PYG_SPARSE = Rival("PyG torch-sparse", "dgl", "pyg_rival.py", "torch-sparse")
TORCH = Rival("torch", "torch", "torch_rival.py")
COMPILED = [
    Rival("torch.compile index_add", "torch", "torch_rival.py", "index_add"),
    Rival("torch.compile scatter_reduce", "torch", "torch_rival.py", "scatter_reduce"),
    Rival("torch.compile CSR", "torch", "torch_rival.py", "csr"),
    Rival("torch.compile PyG's layer", "torch", "pyg_rival.py", "compile"),
]
SCIPY = Rival("SciPy", "torch", "scipy_rival.py")
OPENBLAS = Rival("OpenBLAS", "torch", "scipy_rival.py")
NUMPY = Rival("NumPy take", "torch", "scipy_rival.py")
MEMCPY = Rival("memcpy", "torch", "scipy_rival.py", "memcpy")

# Rivals that are only named: why there is no row with numbers.
ABSENT = {
    "pyg-lib": "not on the package index; its rows are measured where it is installed by hand",
    "WholeGraph": "needs a GPU; not in this comparison yet",
    "cuSPARSE": "through torch_rival.py with --device cuda",
}


def heaps_of(row, who):
    """The heaps that a rival runs with. Only as found: memory; ours; what writes into kept outputs, where nothing is
    allocated."""
    alone = row.unit == "MiB" or row.case.startswith(("gather:", "gemm:")) or who.name.startswith("ours")
    return (FOUND,) if alone else (FOUND, TUNED)


def batch_rows(fanout):
    a_thread = ("block", r"a batch a thread, \d+ seeds")
    fused = ("spmm", r"input hop from the store, mean, F \d+")
    back = ("backward", r"mean, last hop, transpose \+ gather, F 128")
    return [
        Row("sample + relabel", fanout, "sample", SAMPLERS, 10, "DGL", a_thread),
        Row("input hop: gather + mean", "a batch's", "input-hop", [DGL], 3, "DGL", fused),
        Row("backward of mean", "a batch's, F 128", "mean-back:128", [DGL], 2, "DGL", back),
        Row("file to first batch", fanout, "open", [DGL, PYG], None, "DGL"),
    ]


def graph_rows():
    rows = []
    for f in (32, 100, 128):
        kept, who = ("gather", rf"random, \d+ rows, F {f}, kept"), [TORCH, NUMPY, MEMCPY]
        rows.append(Row("gather, kept buffer", f"F {f}", f"gather:{f}", who, 1.2, "torch", kept))
    for f in (32, 100, 128, 256):
        mean, who = ("spmm", rf"mean, graph, F {f}"), [DGL, TORCH]
        who += [SCIPY, PYG_SPARSE] + COMPILED if f in (32, 128) else []
        rows.append(Row("SpMM mean", f"F {f}", f"spmm:mean:{f}", who, 2.5, "DGL", mean))
    for f in (32, 128):
        rows.append(Row("SpMM sum", f"F {f}", f"spmm:sum:{f}", [DGL, TORCH, PYG_SPARSE] + COMPILED, 2.5, "DGL"))
        rows.append(Row("SpMM weighted", f"F {f}", f"weighted:{f}", [TORCH, DGL, PYG], 4, "torch"))
    dot, heads = ("sddmm", r"dot, F 32, heads 1"), ("softmax", r"heads 4")
    forward = ("gat", r"graph forward, 4 heads of 32")
    return rows + [
        Row("SpMM max with arg", "F 32", "max:32", [DGL, TORCH, PYG], 3, "DGL"),
        Row("SDDMM dot", "F 32", "sddmm:32", [TORCH, DGL], 6, "torch", dot),
        Row("edge softmax", "4 heads", "softmax:4", [DGL, PYG], 6, "DGL", heads),
        Row("GAT forward", "4 x 32", "gat:forward:4:32", [DGL], 5, "DGL", forward),
        Row("GAT forward + backward", "4 x 32", "gat:both:4:32", [DGL], 4, "DGL"),
    ]


def loader_rows(fanout):
    """Under PyTorch: an epoch of batches with 128 features each, by the loaders of libggnn, PyG and DGL."""

    def by(name, variant):
        return Rival(name, "dgl", "loader_rival.py", variant)

    pyg, lib, dgl = by("PyG torch-sparse", "pyg-sparse"), by("PyG pyg-lib", "pyg-lib"), by("DGL", "dgl")
    loaders = [pyg, by("PyG torch-sparse, workers", "pyg-sparse-workers")]
    loaders += [lib, by("PyG pyg-lib, workers", "pyg-lib-workers"), dgl, by("DGL, workers", "dgl-workers")]
    loaders += [by("ours under PyG's", "ours-under-pyg"), by("ours under DGL's", "ours-under-dgl")]
    plain = [by("ours, plain", "ours-plain")]
    return [
        Row("loader, an epoch", fanout, "loader:plain", loaders, 4, "PyG"),
        Row("loader, disjoint", fanout, "loader:disjoint", plain, 0.5, "ours"),
        Row("loader, temporal", fanout, "loader:temporal", plain, 0.5, "ours"),
        Row("loader, peak memory", fanout, "loader:memory", [pyg, lib, dgl, loaders[6]], None, "PyG", None, "MiB"),
    ]


def gemm_rows(sizes, n):
    """A B as forward has it, A' B as the gradient of the weights."""
    rows, who = [], [OPENBLAS, TORCH]
    for m, k in sizes:
        straight, turned = f"{m} x {k} x {n}", f"{k} x {m} x {n}"
        found = ("gemm", "A B, " + straight), ("gemm", "A' B, " + turned)
        rows.append(Row("GEMM A B", straight, f"gemm:n:{m}:{k}:{n}", who, 1.0, "OpenBLAS", found[0]))
        rows.append(Row("GEMM A' B", turned, f"gemm:t:{m}:{k}:{n}", who, 1.0, "OpenBLAS", found[1]))
    return rows


def training_rows(size, epochs):
    rows = []
    for kind, name, target in (("sage", "GraphSAGE", 2.8), ("gcn", "GCN", 3), ("gat", "GAT", 3)):
        ours, who = ("step", rf"{name}, 3 x \d+, .*"), [DGL, PYG]
        rows.append(Row(f"training step, {name}", size, f"step:{kind}", who, target, "DGL", ours))
    rows.append(Row("peak memory, GraphSAGE", size, "memory:sage", [DGL, PYG], 2, "DGL", None, "MiB"))
    for kind in ("gcn", "gat"):
        for case, size, target in ((f"cora:{kind}:dense", epochs + ", dense", 2), (f"cora:{kind}", epochs, 4)):
            who = [PYG, DGL] if ":dense" in case else [PYG, PYG_NEW, DGL]
            rows.append(Row(f"Cora, {kind.upper()}, epochs", size, case, who, None, "PyG"))
            rows.append(Row(f"Cora, {kind.upper()}, process", size, case, who, target, "PyG", None, "process"))
    return rows


def all_rows(quick=False):
    if quick:
        products, training = gemm_rows([(2000, 32), (700, 64)], 32), training_rows("3 x 32, batch 128", "20")
        return batch_rows("5,4,3, batch 128") + loader_rows("5,4,3, batch 128") + graph_rows() + products + training
    products = gemm_rows([(99996, 128), (39578, 256), (7135, 512)], 256)
    training = training_rows("3 x 256, batch 1024", "200")
    batches = batch_rows("15,10,5, batch 1024") + loader_rows("15,10,5, batch 1024")
    return batches + graph_rows() + products + training
