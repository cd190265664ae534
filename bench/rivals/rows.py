"""rows.py - what is compared with whom: one Row a kernel and size. Read by run.py; the standard library
only."""

from collections import namedtuple

# A rival's measurement: its name in the table, the environment and script that run it, and a variant for
# the script.
Rival = namedtuple("Rival", "name environment script variant", defaults=("",))

# A kernel at a size. case: what the scripts are asked for. bench: (entry, pattern of a case) of ggnn-bench
# or None, where ours.py alone measures ours. target: the ratio that is aimed at, against the named rival.
# unit: what is compared.
Row = namedtuple("Row", "kernel size case rivals target against bench unit", defaults=(None, "ms"))

DGL = Rival("DGL", "dgl", "dgl_rival.py")
PYG, PYG_NEW = Rival("PyG", "dgl", "pyg_rival.py"), Rival("PyG, newest torch", "torch", "pyg_rival.py")
TORCH = Rival("torch", "torch", "torch_rival.py")
SCIPY = Rival("SciPy", "torch", "scipy_rival.py")
OPENBLAS = Rival("OpenBLAS", "torch", "scipy_rival.py")
NUMPY = Rival("NumPy take", "torch", "scipy_rival.py")
MEMCPY = Rival("memcpy", "torch", "scipy_rival.py", "memcpy")
GRAPHBOLT = Rival("GraphBolt", "dgl", "dgl_rival.py")
SAMPLERS = [
    DGL._replace(name="DGL int32", variant="int32"),
    DGL._replace(name="DGL int64, fused", variant="fused"),
    DGL._replace(name="DGL int32, workers", variant="workers"),
    PYG,
]
PYG_LIB = Rival("pyg-lib", "", "")

# Rivals that are only named: why there is no row with numbers.
ABSENT = {
    "pyg-lib": "not on the package index; built from its sources it takes torch-sparse's place",
    "WholeGraph": "needs a GPU; not in this comparison yet",
    "cuSPARSE": "through torch_rival.py with --device cuda",
}


def gemm_rows(quick):
    sizes = (
        [(2000, 32, 32), (700, 64, 32)] if quick else [(99996, 128, 256), (39578, 256, 256), (7135, 512, 256)]
    )
    rows = []
    for m, k, n in sizes:
        rows.append(
            Row(
                "GEMM A B",
                f"{m} x {k} x {n}",
                f"gemm:n:{m}:{k}:{n}",
                [OPENBLAS, TORCH],
                1.0,
                "OpenBLAS",
                ("gemm", rf"A B, {m} x {k} x {n}"),
            )
        )
        rows.append(
            Row(
                "GEMM A' B",
                f"{k} x {m} x {n}",
                f"gemm:t:{m}:{k}:{n}",
                [OPENBLAS, TORCH],
                1.0,
                "OpenBLAS",
                ("gemm", rf"A' B, {k} x {m} x {n}"),
            )
        )
    return rows


def all_rows(quick=False):
    widths, fanout = (32, 100, 128, 256), "5,4,3, batch 128" if quick else "15,10,5, batch 1024"
    rows = [
        Row(
            "sample + relabel",
            fanout,
            "sample",
            SAMPLERS,
            10,
            "DGL",
            ("block", r"a batch a thread, \d+ seeds"),
        ),
        Row(
            "sample + relabel",
            fanout,
            "graphbolt",
            [GRAPHBOLT, GRAPHBOLT._replace(name="GraphBolt int64", variant="int64")],
            None,
            "GraphBolt",
            ("block", r"a batch a thread, \d+ seeds"),
        ),
    ]
    rows += [
        Row(
            "gather, kept buffer",
            f"F {f}",
            f"gather:{f}",
            [TORCH, NUMPY, MEMCPY],
            1.2,
            "torch",
            ("gather", rf"random, \d+ rows, F {f}, kept"),
        )
        for f in widths[:3]
    ]
    rows += [
        Row(
            "SpMM mean",
            f"F {f}",
            f"spmm:mean:{f}",
            [DGL, TORCH] + ([SCIPY] if f in (32, 128) else []),
            2.5,
            "DGL",
            ("spmm", rf"mean, graph, F {f}"),
        )
        for f in widths
    ]
    rows += [Row("SpMM sum", f"F {f}", f"spmm:sum:{f}", [DGL, TORCH], 2.5, "DGL") for f in (32, 128)]
    rows += [
        Row("SpMM weighted", f"F {f}", f"weighted:{f}", [TORCH, DGL, PYG], 4, "torch") for f in (32, 128)
    ]
    rows += [Row("SpMM max with arg", "F 32", "max:32", [DGL, TORCH, PYG], 3, "DGL")]
    rows += [
        Row("SDDMM dot", "F 32", "sddmm:32", [TORCH, DGL], 6, "torch", ("sddmm", r"dot, F 32, heads 1")),
        Row("edge softmax", "4 heads", "softmax:4", [DGL, PYG], 6, "DGL", ("softmax", r"heads 4")),
        Row(
            "GAT forward",
            "4 x 32",
            "gat:forward:4:32",
            [DGL],
            5,
            "DGL",
            ("gat", r"graph forward, 4 heads of 32"),
        ),
        Row("GAT forward + backward", "4 x 32", "gat:both:4:32", [DGL], 4, "DGL"),
        Row(
            "input hop: gather + mean",
            "a batch's",
            "input-hop",
            [DGL],
            3,
            "DGL",
            ("spmm", r"input hop from the store, mean, F \d+"),
        ),
        Row(
            "backward of mean",
            "F 128",
            "mean-back:128",
            [DGL],
            2,
            "DGL",
            ("backward", r"mean, last hop, transpose \+ gather, F 128"),
        ),
    ]
    rows += gemm_rows(quick)
    hidden = "3 x 32, batch 128" if quick else "3 x 256, batch 1024"
    plain = DGL._replace(name="DGL, heap as found", variant="plain-heap")
    for kind, name, target in (("sage", "GraphSAGE", 2.8), ("gcn", "GCN", 3), ("gat", "GAT", 3)):
        rows.append(
            Row(
                f"training step, {name}",
                hidden,
                f"step:{kind}",
                [DGL, plain, PYG],
                target,
                "DGL",
                ("step", rf"{name}, 3 x \d+, .*"),
            )
        )
    rows.append(Row("peak memory, GraphSAGE", hidden, "memory:sage", [DGL, PYG], 2, "DGL", None, "MiB"))
    rows.append(Row("file to first batch", fanout, "open", [DGL, PYG], None, "DGL"))
    for kind in ("gcn", "gat"):
        rivals = [PYG, PYG_NEW, DGL]
        rows.append(
            Row(f"Cora, {kind.upper()}, epochs", "20" if quick else "200", f"cora:{kind}", rivals, 2, "PyG")
        )
        rows.append(
            Row(
                f"Cora, {kind.upper()}, process",
                "20" if quick else "200",
                f"cora:{kind}",
                rivals,
                2,
                "PyG",
                None,
                "process",
            )
        )
    return rows
