#!/usr/bin/env python3
"""run.py - ours beside its rivals, the same work on the same graph: make bench-rivals.

For each row: ours.py (ggnn.h through ctypes, which also writes the answers that rivals' are compared with),
then each rival in a process of its own; ggnn-bench once an entry. Of our times the median counts, of two the
slower. See README.md."""

import argparse
import datetime
import json
import os
import platform
import re
import signal
import subprocess
import sys
import time

import environments
import table

sys.path.insert(0, os.path.dirname(environments.HERE))
import line_file  # noqa: E402
from rows import ABSENT, FOUND, TUNED, all_rows, heaps_of

HERE, ROOT = environments.HERE, environments.ROOT
TUNED_HEAP = {  # freed memory is kept, so that no page is asked for twice
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(256 << 20),
    "MALLOC_ARENA_MAX": "1",
}
CORA = {
    "gcn": "--hidden 16 --dropout .5 --input-dropout .5 --lr .01",
    "gat": "--hidden 64 --heads 8 --out-heads 1 --dropout .6 --input-dropout .6 --attention-dropout .6"
    " --lr .005",
}


def log(text):
    print(text, file=sys.stderr, flush=True)


def read_json(path):
    with open(path) as file:
        return json.load(file)


def ended(code, text):
    """How a script that left no result ended, from its exit code (None: it was stopped) and last words."""
    if code is None:
        return text
    if code < 0:
        return f"killed by {signal.Signals(-code).name}" + (" (no memory?)" if code == -signal.SIGKILL else "")
    return f"ended with {code}: {text}"


class Run:
    def __init__(self, args):
        self.args, self.home = args, environments.home()
        self.work = os.path.join(self.home, "work")
        os.makedirs(self.work, exist_ok=True)
        self.python, self.reason, self.bench = {}, {}, {}
        self.chosen = [
            r for r in all_rows(args.quick) if re.search(args.rows, f"{r.kernel} {r.size} {r.case}")
        ]
        self.library = None

    # ---- what must be there ----

    def prepare(self):
        log(f"rivals live in {self.home} (GGNN_RIVALS changes that)")
        needed = {who.environment for row in self.chosen for who in row.rivals}
        if any(not row.case.startswith("loader:") for row in self.chosen):
            needed.add("torch")  # ours.py's
        for name in sorted(needed, reverse=True):
            self.python[name], self.reason[name] = environments.prepare(
                name, log, build=name == "dgl" and not self.args.no_build
            )
            if self.reason[name]:
                log(f"{name}: {self.reason[name]}")
        self.library, why = environments.library(log)
        if not self.library:
            log(f"libggnn.so: {why}")

    def tool(self, name):
        path = os.path.join(os.path.abspath(self.args.build), name)
        return path if os.access(path, os.X_OK) else None

    def graph(self):
        """--data, or R-MAT made once beside the environments."""
        if self.args.data:
            return os.path.abspath(self.args.data)
        nodes, edges, width = (
            (1 << 14, 1 << 18, 128)
            if self.args.quick
            else (2449029, 123718280, 100) if self.args.products else (1 << 20, 1 << 25, 128)
        )
        path = os.path.join(self.home, f"rmat-{nodes}-{edges}-{width}.ggnn")
        if not os.path.exists(path):
            log(f"{path}: generating")
            subprocess.run(
                [
                    self.tool("ggnn-data"),
                    "generate",
                    "rmat",
                    path,
                    "--nodes",
                    str(nodes),
                    "--edges",
                    str(edges),
                    "--features",
                    str(width),
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        return path

    def cora(self):
        folder = self.args.cora or os.path.join(ROOT, "..", "shared", "data")
        source, path = os.path.join(folder, "cora.npz"), os.path.join(self.home, "cora.ggnn")
        if not os.path.exists(source):
            return None
        if not os.path.exists(path):
            subprocess.run(
                [self.tool("ggnn-data"), "convert", source, path, "--row-normalise"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        return path

    # ---- one measurement ----

    def environment(self, heap=FOUND):
        t = str(self.args.threads)
        env = dict(
            os.environ,
            OMP_NUM_THREADS=t,
            MKL_NUM_THREADS=t,
            OPENBLAS_NUM_THREADS=t,
            DGLBACKEND="pytorch",
            TORCHINDUCTOR_CACHE_DIR=os.path.join(self.work, "compiled"),
            PYTHONDONTWRITEBYTECODE="1",
        )
        return dict(env, **(TUNED_HEAP if heap == TUNED else {}))

    def start(self, command, heap=FOUND, timeout=None):
        """(exit code, seconds, the last line of its standard error) of a process of its own, which ends
        with it."""
        begin = time.perf_counter()
        try:
            run = subprocess.run(
                command,
                env=self.environment(heap),
                capture_output=True,
                text=True,
                timeout=timeout or self.args.timeout,
            )
            code, text = run.returncode, run.stderr
        except subprocess.TimeoutExpired:
            code, text = None, f"no end after {timeout or self.args.timeout:g} s"
        return code, time.perf_counter() - begin, environments.last_line(text)

    def script(self, python, name, case, graph, variant="", heap=FOUND):
        """The result of a rival's script, with a reason in `skipped` where there is none."""
        out = os.path.join(self.work, "result.json")
        if os.path.exists(out):
            os.remove(out)
        expected = os.path.join(self.work, case.replace(":", "-") + ".npz")
        command = [
            python,
            os.path.join(HERE, name),
            case,
            "--graph",
            graph,
            "--threads",
            str(self.args.threads),
            "--device",
            self.args.device if name != "ours.py" else "cpu",
            "--expected",
            expected,
            "--out",
            out,
            "--variant",
            variant,
        ]
        command += ["--library", self.library] if self.library else []
        command += ["--quick"] if self.args.quick else []
        code, seconds, text = self.start(command, heap)
        try:
            with open(out) as file:
                result = json.load(file)
        except (OSError, ValueError):
            result = {"skipped": ended(code, text)}
        result["process_seconds"] = seconds
        return result

    def rival(self, who, row, graph, heap):
        if not self.python.get(who.environment):
            return {"skipped": self.reason.get(who.environment) or "no environment"}
        case = row.case.removesuffix(":dense")  # which is ours alone
        result = self.script(self.python[who.environment], who.script, case, graph, who.variant, heap)
        return dict(result, heap=heap)

    # ---- ours ----

    def bench_entry(self, entry, graph):
        """The results of an entry of ggnn-bench, which is run once, or the reason why there are none."""
        tool = self.tool("ggnn-bench")
        if not tool:
            return "no ggnn-bench: make bench"
        out = os.path.join(self.work, f"bench-{entry}.json")
        command = [tool, entry, "--data", graph, "--threads", str(self.args.threads), "--json", out]
        command += ["--quick"] if self.args.quick else []
        command += ["--backend", "cuda"] if self.args.device != "cpu" else []
        code, _, text = self.start(command, timeout=4 * self.args.timeout)
        return read_json(out)["results"] if code == 0 else text

    def from_bench(self, entry, pattern, graph, again):
        """A case of ggnn-bench: of --bench's file, or of a run of the entry, one a round."""
        if (entry, again) not in self.bench:
            given = line_file.read(self.args.bench)[0]["results"] if self.args.bench and not again else []
            given = [r for r in given if r["bench"] == entry]
            self.bench[entry, again] = given or self.bench_entry(entry, graph)
        found = self.bench[entry, again]
        if isinstance(found, str):
            return {"skipped": found}
        for r in found:
            if (
                re.fullmatch(pattern, r["case"])
                and not r["rival"]
                and (r["threads"] == self.args.threads or self.args.device != "cpu")
            ):
                each = r["threads"] if "a thread" in r["case"] else r["work"] if r["unit"] == "steps" else 1
                return {
                    "by": "ggnn-bench",
                    "case": r["case"],
                    "seconds": r["median"] / each,
                    "work": r["work"] / each,
                    "unit": r["unit"],
                    "samples": [s / each for s in r.get("samples") or []],
                    "threads": r["threads"],
                    "cold": r["cold"],
                }
        return {"skipped": f"ggnn-bench {entry} has no case like {pattern}"}

    def train(self, graph, model, options):
        """ggnn-train's own log: seconds, peak memory, accuracy."""
        tool, out = self.tool("ggnn-train"), os.path.join(self.work, "train.jsonl")
        if not tool:
            return {"skipped": "no ggnn-train: make"}
        command = [tool, "--data", graph, "--model", model, "--threads", str(self.args.threads), "--log", out]
        code, seconds, text = self.start(command + options.split())
        if code != 0:
            return {"skipped": text}
        with open(out) as file:
            final = [json.loads(line) for line in file][-1]
        return {
            "by": "ggnn-train",
            "seconds": final["seconds"],
            "process_seconds": seconds,
            "work": 1,
            "peak_bytes": final["peak_memory_bytes"],
            "accuracy": final.get("test_accuracy"),
            "threads": self.args.threads,
        }

    def ours(self, row, graph, again):
        """All our measurements of a row in a round; again: ggnn-bench only where nothing else measures it."""
        kind = row.case.split(":")[1] if ":" in row.case else ""
        if row.case.startswith("cora:"):
            epochs = 20 if self.args.quick else 200
            how = "--fanout full --layers 2 --weight-decay 5e-4 " + CORA[kind]
            how += " --dense-features" if row.case.endswith(":dense") else ""
            return [self.train(graph, kind, f"{how} --epochs {epochs} --eval-every {epochs}")]
        if row.case.startswith("memory:"):
            small, usual = "--hidden 32 --batch 128 --fanout 5,4,3", "--hidden 256 --batch 1024"
            how = "--epochs 1 --eval-every 0 " + (small if self.args.quick else usual)
            return [self.train(graph, kind, how)]
        if row.case.startswith("loader:"):  # under torch, in the rivals' own environment
            if not self.python.get("dgl"):
                return []
            beside = self.script(self.python["dgl"], "loader_rival.py", row.case, graph)
            return [dict(beside, by="loader_rival.py")]
        alone = self.python.get("torch") and self.library and row.case.split(":")[0] not in ("gemm", "step")
        spared = alone and (again or self.args.no_bench)
        found = [self.from_bench(*row.bench, graph, again)] if row.bench and not spared else []
        if alone:
            beside = self.script(self.python["torch"], "ours.py", row.case, graph)
            beside["by"] = "ours.py"
            if self.args.device == "cpu":
                found.append(beside)
        return found

    # ---- all rows ----

    def rounds(self, row, graph):
        """All measurements of ours, and each rival's, in turns: --rounds times ours, then every rival, its heap as
        found and then tuned. What did not run is not tried again, with neither heap."""
        ours, rivals, skipped = [], {}, set()
        for again in range(self.args.rounds):
            ours += self.ours(row, graph, again)
            for who in row.rivals:
                for heap in heaps_of(row, who):
                    if who.name in skipped or (heap == TUNED and self.args.heap != "both"):
                        continue
                    run = dict(self.rival(who, row, graph, heap), name=who.name)
                    rivals.setdefault((who.name, heap), []).append(run)
                    if "skipped" in run:
                        skipped.add(who.name)
        return ours, list(rivals.values())

    def measure(self, row, graph, kept):
        """A row as it goes into the JSON. Two rows of one case, told apart by unit, are measured once."""
        if row.case not in kept:
            kept[row.case] = self.rounds(row, graph)
        candidates, runs = kept[row.case]
        ours = table.ours_of(candidates, row.unit)
        rivals = [table.rival_of(each, row.unit) for each in runs]
        return dict(
            kernel=row.kernel,
            size=row.size,
            case=row.case,
            target=None if self.args.quick else row.target,  # of small graphs nothing is asked
            against=row.against,
            unit=row.unit,
            ours=ours,
            ours_all=candidates,
            disturbed=table.disturbed(candidates, row.unit),
            rivals=[dict(m, ratio=table.ratio(ours, m, row.unit)) for m in rivals],
        )

    def all(self):
        graph, cora = self.graph(), self.cora()
        rows, kept = [], {}
        for i, row in enumerate(self.chosen):
            path = cora if row.case.startswith("cora:") else graph
            begin = time.perf_counter()
            if not path:
                log(f"[{i + 1}/{len(self.chosen)}] {row.kernel}: no cora.npz (--cora FOLDER)")
                continue
            done = self.measure(row, path, kept)
            rows.append(done)
            log(f"[{i + 1}/{len(self.chosen)}] {table.said(done)} [{time.perf_counter() - begin:.0f} s]")
        return graph, rows


def cpu_model():
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def report(run, graph, rows):
    now = datetime.datetime.now(datetime.timezone.utc)
    versions = {}
    for row in rows:
        for m in row["rivals"]:
            if m.get("versions"):
                versions[m["name"]] = m["versions"]
    return {
        "ggnn_rivals": 1,
        "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "git": git_version(),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "os": platform.system() + " " + platform.release(),
        },
        "graph": os.path.basename(graph),
        "threads": run.args.threads,
        "device": run.args.device,
        "quick": run.args.quick,
        "rounds": run.args.rounds,
        "absent": dict(ABSENT, **{name: why for name, why in run.reason.items() if why}),
        "versions": versions,
        "rows": rows,
    }


def git_version():
    run = subprocess.run(
        ["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True
    )
    return run.stdout.strip() or None


def print_report(result):
    print("\n".join(table.lines(result["rows"])))
    print(
        f"\n{result['machine']['cpu']}, {result['threads']} threads of {result['machine']['cores']}; "
        f"graph {result['graph']}; fp32; ours {result['git']}; "
        "times in ms (of a batch, a step, a call), memory in MiB"
    )
    print("Rivals' heap: as a user finds it; beside it tuned (MALLOC_... of run.py). The aim is of the faster one.")
    print("Ratios at equal work (edges, rows, FLOP). Of our measurements the median counts, of two the slower.")
    for name, v in result["versions"].items():
        print(f"  {name}: " + ", ".join(f"{k} {x}" for k, x in v.items()))
    for name, why in result["absent"].items():
        print(f"  {name}: {why}")


def save(result, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    log(f"written: {path}")


def read_results(path):
    """Results of a file of JSON, or of lines: of each graph one, or of ggnn-bench its runs."""
    with open(path) as file:
        begin = file.read(1 << 20)
    if "ggnn_rivals" not in begin:
        return line_file.read(path)
    runs = line_file.read(path, "ggnn_rivals")
    return [dict(run, rows=table.rows_of(run["rows"])) if begin.startswith("#") else run for run in runs]


def keep(result, path):
    """The rows into a file of lines, in the place of its older ones."""
    runs = table.kept(read_results(path) if os.path.exists(path) else [], result)
    runs = [dict({key: run[key] for key in table.HEADS}, rows=list(table.lines_of(run["rows"]))) for run in runs]
    line_file.write(path, "ggnn_rivals", runs, "rows", table.COLUMNS)
    log(f"written: {path}")


def options(argv=None):
    p = argparse.ArgumentParser(description="ggnn beside its rivals: one table of ratios.")
    p.add_argument("--quick", action="store_true", help="a small graph, few samples: do the scripts run?")
    p.add_argument(
        "--products", action="store_true", help="a graph of ogbn-products' size in place of 1 M nodes"
    )
    p.add_argument("--data", help="another .ggnn file, with features, labels and a split")
    p.add_argument("--cora", help="folder of cora.npz; usually ../shared/data")
    p.add_argument("--rows", default="", help="only rows whose kernel, size or case match this pattern")
    p.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    p.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    p.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder of ggnn's tools")
    p.add_argument(
        "--bench", help="JSON or lines of a ggnn-bench run of just now, on the same graph: spares running it"
    )
    p.add_argument(
        "--no-bench",
        action="store_true",
        help="ours by ours.py alone, where it can: ggnn-bench's plain versions take minutes on large graphs",
    )
    p.add_argument("--rounds", type=int, default=1, help="turns of ours and every rival; the medians count [1]")
    p.add_argument(
        "--heap",
        default="both",
        choices=["found", "both"],
        help="rivals with the heap as found, or also with it tuned, which takes twice the time [both]",
    )
    p.add_argument("--timeout", type=float, default=180, help="seconds a measurement may take")
    p.add_argument(
        "--no-build",
        action="store_true",
        help="leave out what has to be compiled: torch-scatter, torch-sparse",
    )
    p.add_argument("--setup", action="store_true", help="install only")
    p.add_argument(
        "--save",
        action="store_true",
        help="also into bench/results/rivals-PROCESSOR.csv, where a row takes the place of the older one",
    )
    p.add_argument(
        "--markdown",
        nargs="+",
        metavar="FILE",
        help="run nothing: print earlier results as a table for a document; of a row in several files the last counts, "
        "the ratios of the others stand beside it; of ggnn-bench's: its own comparisons that have an aim",
    )
    args = p.parse_args(argv)
    if args.rounds < 1:
        p.error("--rounds: 1 or more")
    return args


def main():
    args = options()
    if args.markdown:
        results = [result for path in args.markdown for result in read_results(path)]
        if "rows" not in results[0]:
            print("\n".join(table.goals(results)))
        for graph in dict.fromkeys(r["graph"] for r in results if "rows" in r):
            print(f"{graph}\n\n" + "\n".join(table.markdown([r for r in results if r["graph"] == graph])))
        return 0
    run = Run(args)
    run.prepare()
    if run.args.setup:
        return 0
    if not run.tool("ggnn-data") and not run.args.data:
        log("no ggnn-data: run make first")
        return 1
    result = report(run, *run.all())
    print_report(result)
    save(result, os.path.join(run.home, "results", "rivals.json"))
    if run.args.save:
        cpu = re.sub(r"[^a-z0-9]+", "-", result["machine"]["cpu"].lower()).strip("-")
        keep(result, os.path.join(ROOT, "bench", "results", f"rivals-{cpu}.csv"))
    wrong = [
        f"{r['kernel']} {r['size']} {m['name']}" for r in result["rows"] for m in r["rivals"] if "wrong" in m
    ]
    if wrong:
        log("answers that differ: " + "; ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
