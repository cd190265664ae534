#!/usr/bin/env python3
"""planetoid.py - makes cora.npz and citeseer.npz from the files that Planetoid published. Needs NumPy.

    python3 datasets/planetoid.py FOLDER cora cora.npz
    build/ggnn-data convert cora.npz cora.ggnn --row-normalise

FOLDER holds ind.NAME.{allx,tx,y,ally,ty,graph,test.index}, from https://github.com/kimiyoung/planetoid/tree/master/data
(Yang, Cohen & Salakhutdinov 2016). ind.NAME.x is not read: its rows are the first of allx.

The archive holds, for N nodes:
    node_features  (N, F) float32    as published, not normalised; zeros for nodes without features
    node_labels    (N) int64         -1 for nodes without a label
    edges          (E, 2) int64      each undirected edge once, the lower id first, in order; no self-loops
    train_masks, val_masks, test_masks  (1, N) bool  the public split: the nodes of y, the 500 after them, test.index

Node v is row v of allx; row i of tx is node test.index[i]. Ids that are in neither file (15 of CiteSeer) are nodes
without features and label.

The published files are pickles, and a pickle may name any function to be called. Here it can call none: the six names
that the files need stand for records that keep what they were given, and any other name ends the program.
Arrays are made from the records' bytes after their types and sizes were checked."""

import argparse
import io
import os
import pickle
import pickletools
import sys

try:
    import numpy as np
except ImportError:
    np = None

VALIDATION = 500  # nodes, those after the training nodes
MOST_COLUMNS = 1 << 20  # a damaged width is refused before memory is asked for
DTYPES = {"f4": "<f4", "f8": "<f8", "i4": "<i4", "i8": "<i8"}


class BadFile(Exception):
    """A file that is not what Planetoid published; the text names it."""


# ---- pickles, with the standard library alone --------------------------------------------------------------


class Record:
    """Stands for a class or function that a pickle names: keeps the arguments and the state, does nothing."""

    args = state = None

    def __init__(self, *args):
        self.args = args

    def __setstate__(self, state):
        self.state = state


class Array(Record):
    pass


class Dtype(Record):
    pass


class Csr(Record):
    pass


class Lists(Record, dict):
    """Neighbours by node."""


NAMES = {
    "numpy.core.multiarray._reconstruct": Array,
    "numpy.ndarray": "ndarray",  # an argument, never called
    "numpy.dtype": Dtype,
    "scipy.sparse.csr.csr_matrix": Csr,
    "collections.defaultdict": Lists,
    "__builtin__.list": "list",  # an argument, never called
}


class Records(pickle.Unpickler):
    def find_class(self, module, name):
        try:
            return NAMES[f"{module}.{name}"]
        except KeyError:
            raise BadFile(f"the pickle names {module}.{name}, which no published file does: refused") from None


def check_sizes(data):
    """Refuses what would ask for far more memory than the pickle has bytes, and what follows its end."""
    end = 0
    for op, arg, at in pickletools.genops(data):
        if "PUT" in op.name and int(arg) > len(data):
            raise BadFile(f"byte {at}: {op.name} {arg} in a pickle of {len(data)} bytes")
        end = at + 1
    if end != len(data):
        raise BadFile(f"byte {end}: {len(data) - end} bytes after the pickle's end")


def load_records(path, kind):
    """The records of a pickle, whose outermost one is of this kind. Nothing that the file names is called."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        check_sizes(data)
        found = Records(io.BytesIO(data), fix_imports=False, encoding="latin1").load()
    except BadFile as why:
        raise BadFile(f"{path}: {why}") from None
    except Exception as why:  # the pickle module lists no limit of what a damaged file raises
        raise BadFile(f"{path}: not a pickle, or damaged: {why}") from None
    if type(found) is not kind:
        raise BadFile(f"{path}: holds a {type(found).__name__}, expected {kind.__name__}")
    return found


# ---- arrays ------------------------------------------------------------------------------------------------


def whole(value):
    return type(value) is int and value >= 0


def array_of(record, path, dimensions):
    """NumPy's array from the record of one."""
    try:
        version, shape, dtype, by_columns, text = record.state
        kind, little = DTYPES[dtype.args[0]], dtype.state == (3, "<", None, None, None, -1, -1, 0)
        good = version == 1 and little and by_columns is False and len(shape) == dimensions
        good = good and type(shape) is tuple and all(whole(n) for n in shape)
        flat = np.frombuffer(text.encode("latin1"), kind)
        items = 1
        for n in shape if good else ():
            items *= n
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as why:
        raise BadFile(f"{path}: an array's record is damaged: {why}") from None
    if not good or items != len(flat):
        raise BadFile(f"{path}: an array is not of {dimensions} dimensions, little-endian, by rows, and whole")
    return flat.reshape(shape)


def read_dense(path):
    return array_of(load_records(path, Array), path, 2)


def read_sparse(path):
    """The dense float32 array of a CSR matrix."""
    state = load_records(path, Csr).state
    try:
        shape = state["_shape"]
        data, indices, indptr = (array_of(state[name], path, 1) for name in ("data", "indices", "indptr"))
        rows, columns = shape
    except (KeyError, TypeError, ValueError) as why:
        raise BadFile(f"{path}: the CSR matrix is damaged: {why}") from None
    if not (whole(rows) and whole(columns) and columns <= MOST_COLUMNS and len(indptr) == rows + 1):
        raise BadFile(f"{path}: {len(indptr)} offsets and a shape of {shape}")
    degree = np.diff(indptr)
    if indptr[0] != 0 or (degree < 0).any() or indptr[-1] != len(indices) or len(data) != len(indices):
        raise BadFile(f"{path}: the CSR matrix's offsets do not rise from 0 to {len(indices)}")
    if not np.isfinite(data).all():
        raise BadFile(f"{path}: a feature is not finite")
    if indices.dtype.kind != "i" or ((indices < 0) | (indices >= columns)).any():
        raise BadFile(f"{path}: a column is not in 0 .. {columns - 1}")
    dense = np.zeros((rows, columns), np.float32)
    np.add.at(dense, (np.repeat(np.arange(rows), degree), indices), data.astype(np.float32))
    return dense


def read_labels(path):
    """(labels, classes) of an array with a one in each row."""
    ones = read_dense(path)
    wrong = np.flatnonzero(((ones != 0) & (ones != 1)).any(axis=1) | (ones.sum(axis=1) != 1))
    if len(wrong):
        raise BadFile(f"{path}: row {wrong[0]} is not a single one among zeros")
    return ones.argmax(axis=1).astype(np.int64), ones.shape[1]


def read_edges(path):
    """(number of nodes, edges)."""
    lists = load_records(path, Lists)
    nodes = len(lists)
    for v in range(nodes):
        if type(lists.get(v)) is not list:
            raise BadFile(f"{path}: node {v} of {nodes} has no list of neighbours")
        for u in lists[v]:
            if not whole(u) or u >= nodes:
                raise BadFile(f"{path}: node {v} has a neighbour that is not in 0 .. {nodes - 1}")
    pairs = sorted({(min(u, v), max(u, v)) for v in range(nodes) for u in lists[v] if u != v})
    return nodes, np.array(pairs, np.int64).reshape(-1, 2)


def read_test_index(path, low, nodes):
    """The ids of tx's rows: distinct, after those of allx."""
    ids, seen = [], set()
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            word = line.strip()
            if not word.isdigit() or len(word) > 18 or not low <= int(word) < nodes or int(word) in seen:
                raise BadFile(f"{path}:{number}: {word[:40]!r} is not an id in {low} .. {nodes - 1} for the first time")
            seen.add(int(word))
            ids.append(int(word))
    return np.array(ids, np.int64)


# ---- the graph ---------------------------------------------------------------------------------------------


def mask_of(nodes, ids):
    mask = np.zeros((1, nodes), bool)
    mask[0, ids] = True
    return mask


def read_graph(folder, name):
    """The archive's arrays, by name."""

    def path(part):
        return os.path.join(folder, f"ind.{name}.{part}")

    nodes, edges = read_edges(path("graph"))
    features, test_features = read_sparse(path("allx")), read_sparse(path("tx"))
    labels, classes = read_labels(path("ally"))
    test_labels, test_classes = read_labels(path("ty"))
    training, _ = read_labels(path("y"))
    known, low = len(training), len(features)
    test = read_test_index(path("test.index"), low, nodes)
    for part, found, expected in (
        ("ally", len(labels), low),
        ("tx", len(test_features), len(test)),
        ("ty", len(test_labels), len(test)),
        ("tx", test_features.shape[1], features.shape[1]),
        ("ty", test_classes, classes),
    ):
        if found != expected:
            raise BadFile(f"{path(part)}: {found} rows or columns, where the other files have {expected}")
    if known + VALIDATION > low or (training != labels[:known]).any():
        raise BadFile(f"{path('y')}: its {known} labels are not the first of ally's {low}")
    return {
        "node_features": placed(features, test_features, test, np.zeros((nodes, features.shape[1]), np.float32)),
        "node_labels": placed(labels, test_labels, test, np.full(nodes, -1, np.int64)),
        "edges": edges,
        "train_masks": mask_of(nodes, slice(0, known)),
        "val_masks": mask_of(nodes, slice(known, known + VALIDATION)),
        "test_masks": mask_of(nodes, test),
    }


def placed(first, tested, ids, out):
    """out with the first rows and, at ids, the tested ones."""
    out[: len(first)] = first
    out[ids] = tested
    return out


def write_archive(path, arrays):
    """The archive, whole or not at all. A link stays a link: the file behind it is replaced."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise BadFile(f"{path}: not a file; nothing was written")
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "xb") as file:
            np.savez_compressed(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except FileExistsError:
        raise
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def main(argv=None):
    p = argparse.ArgumentParser(
        description="Makes an npz archive that ggnn-data converts from Planetoid's published files.",
        epilog="No pickle is executed. Exit codes: 0 done, 1 failure, 2 wrong usage, 130 interrupted.",
    )
    p.add_argument("folder", help="folder of ind.NAME.allx, .tx, .y, .ally, .ty, .graph and .test.index")
    p.add_argument("name", choices=["cora", "citeseer"])
    p.add_argument("output", help="the archive, such as cora.npz")
    args = p.parse_args(argv)
    try:
        if np is None:
            raise BadFile("NumPy is not installed; python3 -m pip install numpy")
        arrays = read_graph(args.folder, args.name)
        write_archive(args.output, arrays)
        nodes, features = arrays["node_features"].shape
        print(f"{args.output}: {nodes} nodes, {len(arrays['edges'])} undirected edges, {features} features", flush=True)
    except (BadFile, OSError, MemoryError) as why:
        print(f"planetoid.py: {why or 'out of memory'}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
