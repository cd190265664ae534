"""common.py - what the scripts of all rivals share: their options, the graph, inputs, the clock, the
answers' check.

A script is started for one case, "spmm:mean:128", in a process of its own, and writes one JSON object to
--out:

    python dgl_rival.py spmm:mean:128 --graph rmat.ggnn --threads 2 --expected values.npz --out result.json

Its function for "spmm" gets a Task and the rest of the case ("mean", "128"), hands task.measure what is to
be timed and task.check the answers at places that all scripts choose alike. ours.py has written the
expected ones to --expected."""

import argparse
import json
import os
import platform
import resource
import time
import warnings

import numpy as np

from environments import source_of

FANOUT, QUICK_FANOUT = (15, 10, 5), (5, 4, 3)  # from the seeds outward, as ggnn-bench takes them


# ---- inputs: the same in every process, whatever the versions ------------------------------------


def scramble(x):
    """A hash of 32 bits (Wellons's lowbias32), in place."""
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return x


def zeros(shape, dtype=np.float32):
    """From a multiple of 64 bytes on, as a torch tensor; NumPy's arrays begin 16 bytes behind one, so that
    rows of whole lines would share their lines."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(count + 64, np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + count].view(dtype).reshape(shape)


def noise(shape, seed):
    """float32 in [-1, 1), a hash of the position."""
    out = zeros(shape)
    flat, piece = out.reshape(-1), 1 << 18
    start = np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
    for begin in range(0, flat.size, piece):
        end = min(begin + piece, flat.size)
        x = np.arange(begin, end, dtype=np.uint64).astype(np.uint32)
        x += start
        flat[begin:end] = (scramble(x) >> np.uint32(8)).astype(np.float32) * np.float32(
            2**-23
        ) - np.float32(1)
    return out


def integers(count, below, seed):
    """int64 in [0, below)."""
    x = scramble(np.arange(count, dtype=np.uint32) + np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF))
    return (x.astype(np.uint64) * np.uint64(below) >> np.uint64(32)).astype(np.int64)


class Graph:
    """A .ggnn file: indptr (N + 1), indices (E), feat (N, F), label (N), train (ids), all in place but the
    last."""

    def __init__(self, path):
        arrays = source_of("libggnn", "file").open(path)
        self.indptr, self.indices = arrays["indptr"], arrays["indices"]
        self.nodes, self.edges = len(self.indptr) - 1, len(self.indices)
        self.feat, self.label = arrays.get("feat"), arrays.get("label")
        self.split = arrays["split"][0] if "split" in arrays else None

    def ids(self, part):
        return np.flatnonzero(self.split == part)

    def seeds(self, batch):
        """Training nodes in an order of our own, whole batches of them: (batches, batch)."""
        ids = self.ids(1)
        order = np.argsort(scramble(np.arange(len(ids), dtype=np.uint32)), kind="stable")
        count = max(1, len(ids) // batch)
        return ids[order][: count * batch].reshape(count, -1)

    def rows(self, count=512):
        """Places of a check: the 16 longest rows, and others."""
        longest = np.argsort(-np.diff(self.indptr), kind="stable")[:16]
        return np.concatenate([longest, integers(count, self.nodes, 5)])

    def places(self, count=4096):
        return integers(count, self.edges, 6)

    def with_loops(self):
        """indptr and indices with v itself as first entry of each row, as ggnn_gat attends."""
        at = np.arange(self.nodes)
        indptr = self.indptr + np.arange(self.nodes + 1)
        indices = np.empty(self.edges + self.nodes, self.indices.dtype)
        others = np.ones(len(indices), bool)
        others[indptr[:-1]] = False
        indices[others] = self.indices
        indices[indptr[:-1]] = at
        return indptr, indices


# ---- a script's run ------------------------------------------------------------------------------


class Skip(Exception):
    """The rival cannot do this; str() is the reason of the row."""


class Task:
    def __init__(self, args):
        self.args, self.threads, self.device, self.quick = args, args.threads, args.device, args.quick
        self.family, *self.parameters = args.case.split(":")
        self.result = {
            "case": args.case,
            "threads": args.threads,
            "workers": 0,
            "precision": "fp32",
            "notes": [],
        }
        self.fanout = QUICK_FANOUT if args.quick else FANOUT
        self.batch, self.hidden = (128, 32) if args.quick else (1024, 256)
        self.sync = lambda: None  # a GPU's: set by use_torch
        self.cache = None
        self._graph = self._expected = None

    @property
    def graph(self):
        if self._graph is None:
            self._graph = Graph(self.args.graph)
        return self._graph

    @property
    def expected(self):
        if self._expected is None:
            if not self.args.expected or not os.path.exists(self.args.expected):
                raise Skip("no expected values: ours.py failed on this case")
            with np.load(self.args.expected) as file:
                self._expected = {name: file[name] for name in file.files}
        return self._expected

    def note(self, text):
        self.result["notes"].append(text)

    def flush(self):
        """Writes 128 MiB, more than any cache holds, as ggnn-bench does before a cold run."""
        if self.cache is None:
            self.cache = np.zeros(128 << 20, np.uint8)
        self.cache += 1

    def measure(self, run, work=1, unit="runs", before=None, cold=False, each=1):
        """Median seconds of run() / each, after a warm-up: at least 5 samples, more of what is short, 3 of
        what takes seconds. before() is not timed; cold: with empty caches."""

        def once():
            if before:
                before()
            if cold:
                self.flush()
            self.sync()
            start = time.perf_counter()
            run()
            self.sync()
            return (time.perf_counter() - start) / each

        first = once()
        least = 0.05 if self.quick else 0.5
        samples = [once()]
        while len(samples) < (3 if first * each > 4 else 5) or (
            sum(samples) * each < least and len(samples) < 200
        ):
            samples.append(once())
        self.result.update(
            seconds=float(np.median(samples)), samples=samples, work=work / each, unit=unit, cold=cold
        )

    def best(self, runs, **how):
        """Of several ways to the same, the one that is fastest in a second run."""
        trial = {}
        for name, run in runs.items():
            try:
                run()
                start = time.perf_counter()
                run()
                self.sync()
                trial[name] = time.perf_counter() - start
            except (RuntimeError, NotImplementedError, ValueError, TypeError) as why:
                self.note(f"{name}: {str(why).splitlines()[0][:120]}")
        if not trial:
            raise Skip("; ".join(self.result["notes"]) or "nothing ran")
        fastest = min(trial, key=trial.get)
        self.note("by " + fastest)
        self.measure(runs[fastest], **how)
        return runs[fastest]

    def check(self, name, values, tolerance=1e-4):
        """The largest difference from ours, over the largest value of the row (of all, for one value an
        edge); beyond the tolerance the row is wrong."""
        want, got = np.asarray(self.expected[name], np.float64), np.asarray(values, np.float64)
        want, got = want.reshape(len(want), -1), got.reshape(len(got), -1)
        if want.shape != got.shape:
            raise ValueError(f"{name}: shape {got.shape}, ours {want.shape}")
        scale = np.maximum(
            np.abs(want).max(1, keepdims=True) if want.shape[1] > 1 else np.abs(want).max(), 1e-3
        )
        far = float(np.max(np.abs(want - got) / scale)) if want.size else 0.0
        self.result.setdefault("checks", {})[name] = far
        if not far <= tolerance:
            self.result["wrong"] = f"{name} differs from ours by {far:.2g} of the largest value"

    def check_count(self, name, value, tolerance=0.01):
        """A number that is random: sampled edges of a batch. Unlike: ratios are per edge, and the row says
        so."""
        want = float(self.expected[name])
        self.result.setdefault("checks", {})[name] = value / want - 1
        if abs(value / want - 1) > tolerance:
            self.note(f"{name} a batch {value:.0f}, ours {want:.0f}: the ratio is per edge")

    def finish(self):
        self.result.setdefault("peak_bytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def options(argv=None):
    p = argparse.ArgumentParser(description="One case of one rival; see common.py.")
    p.add_argument("case")
    p.add_argument("--graph", required=True)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--device", default="cpu")
    p.add_argument("--variant", default="")
    p.add_argument("--expected", help="npz of values that ours.py has written")
    p.add_argument("--library", help="libggnn.so, for ours.py")
    p.add_argument("--out", required=True, help="JSON of the result")
    p.add_argument("--quick", action="store_true")
    return p.parse_args(argv)


def rival_main(name, versions, cases):
    """Runs the case's function and writes its result; a Skip is a result too."""
    task = Task(options())
    task.result["rival"] = name
    try:
        if task.family not in cases:
            raise Skip("has no such operation")
        cases[task.family](task, *task.parameters)
        task.finish()
    except Exception as why:  # whatever a rival throws is its row's reason
        lines = (str(why) or type(why).__name__).strip().splitlines()
        task.result["skipped"] = lines[0][:300]
    task.result["versions"] = dict(versions, python=platform.python_version())  # with what the case imported
    with open(task.args.out, "w") as file:
        json.dump(task.result, file)
    return 0 if "skipped" not in task.result else 3


ABSENT = {
    "pyg-lib": "pyg-lib is not installed: the package index has none",
    "torch-sparse": "torch-sparse is not installed: it has to be compiled",
}


def choose_sampler(torch_geometric, name=""):
    """"pyg-lib" or "torch-sparse", by which PyG's loaders sample from here on: the one that is named, else pyg-lib where
    that is, as PyG itself chooses. Skip: it is not installed."""
    typing = torch_geometric.typing
    there = {"pyg-lib": typing.WITH_PYG_LIB, "torch-sparse": typing.WITH_TORCH_SPARSE}
    name = name or next((each for each in there if there[each]), "torch-sparse")
    if not there[name]:
        raise Skip(ABSENT[name])
    typing.WITH_PYG_LIB = name == "pyg-lib"
    return name


def limit_memory(path="/proc/meminfo"):
    """What the machine has no memory for fails from here on, in this process, in place of the system's ending one: a sum
    over gathered rows may hold a row of each edge. Nothing where the system does not say what it has."""
    try:
        with open(path) as file:
            free = next(1024 * int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
        most = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = 9 * free // 10
        resource.setrlimit(resource.RLIMIT_DATA, (limit if most < 0 else min(limit, most), most))
    except (OSError, StopIteration, ValueError):
        pass


def compiled(task, torch, function, *arguments):
    """function(*arguments) by torch.compile: as one graph, or else in parts, which the row says. Compiled when it
    returns."""
    limit_memory()
    run = torch.compile(function, fullgraph=True, dynamic=False)
    try:
        run(*arguments)
    except RuntimeError as why:
        if "allocate memory" in str(why):
            raise
        task.note("not one graph: " + str(why).strip().splitlines()[0][:120])
        run = torch.compile(function, dynamic=False)
        run(*arguments)
    return lambda: run(*arguments)


def use_torch(task, threads=None):
    """torch with this many threads, on the task's device; task.tensor brings an array there."""
    import torch

    torch.set_num_threads(threads or task.threads)
    if task.device != "cpu":
        if not torch.cuda.is_available():
            raise Skip("no GPU that torch can use")
        task.sync = torch.cuda.synchronize
        task.result["device"] = torch.cuda.get_device_name()
    warnings.filterwarnings("ignore", message=".*not writable.*")  # the mapped file; nobody writes to it
    warnings.filterwarnings("ignore", message=".*Sparse CSR tensor support.*")
    task.tensor = lambda array: torch.from_numpy(np.ascontiguousarray(array)).to(task.device)
    return torch
