#!/usr/bin/env python3
"""order.py - what an order of the nodes gains, measured in turns: each graph as it is and as
`ggnn-data reorder --by` writes it, by `ggnn-bench spmm`, one file after the other, again and again.

    python3 bench/order.py --chung-lu chunglu    # NumPy; then ggnn-data convert chunglu chunglu.ggnn --from npy --undirected
    python3 bench/order.py chunglu.ggnn rmat.ggnn citation.ggnn cora.ggnn --work /tmp --out bench/results/order/order.csv
    python3 bench/order.py --write           # the table of docs/DATA.md from bench/results/order/order.csv
    python3 bench/plot.py --order bench/results/order/order.csv --out bench/results

A row is a graph, an order and a case: the median of its least times, that of the ratios of a turn, time as it is over
time in that order, their quartiles, and what the model of `ggnn-data info` predicts by degree."""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "DATA.md")
CSV = os.path.join(ROOT, "bench", "results", "order", "order.csv")
ORDERS = ["degree", "grouped", "community"]
CASES = {"mean, graph, F 32": "F 32", "mean, graph, F 128": "F 128", "input hop": "input hop"}
COLUMNS = "graph nodes edges order case turns threads ms ratio lower upper predicted".split()


def json_of(*command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def times_of(bench, path, threads, log):
    """Milliseconds of each case of a run: the least, as what else runs only adds."""
    results = []
    for features in ("32", "128"):
        command = [bench, "spmm", "--data", path, "--threads", str(threads), "--json", log, "--alone", "--features", features]
        subprocess.run(command, check=True, capture_output=True)
        with open(log) as file:
            results += json.load(file)["results"]
    samples = {name: [x for r in results if r["case"].startswith(name) for x in r["samples"]] for name in CASES}
    return {CASES[name]: 1e3 * min(found) for name, found in samples.items()}


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def rows_of(graph, of_files, times, turns, threads):
    """of_files: what `info` says of the graph as it is; times[order]: those of each turn."""
    predicted = {f"F {g['features']}": g["gain"] for g in of_files["gain_by_degree"]}
    for order, runs in times.items():
        for case in runs[0]:
            lower, ratio, upper = quartiles([was[case] / now[case] for was, now in zip(times["as it is"], runs)])
            guess = predicted.get(case) if order == "degree" else None
            yield [graph, of_files["num_nodes"], of_files["num_edges"], order, case, turns, threads,
                   f"{statistics.median(r[case] for r in runs):.2f}", f"{ratio:.2f}", f"{lower:.2f}", f"{upper:.2f}",
                   "" if guess is None else f"{guess:.2f}"]


def measure(path, o):
    graph = os.path.splitext(os.path.basename(path))[0]
    files = {"as it is": path}
    for order in ORDERS:
        files[order] = os.path.join(o.work, f"{graph}.{order}.ggnn")
        subprocess.run([o.data, "reorder", path, files[order], "--by", order], check=True, capture_output=True)
    times = {order: [] for order in files}
    log = os.path.join(o.work, "order.json")
    for turn in range(o.turns):
        for order, file in files.items():
            times[order].append(times_of(o.bench, file, o.threads, log))
            print(f"{graph}, {order}, turn {turn + 1}: {times[order][-1]}", file=sys.stderr, flush=True)
    for order in ORDERS:
        os.remove(files[order])
    return list(rows_of(graph, json_of(o.data, "info", path, "--json"), times, o.turns, o.threads))


def write_chung_lu(folder):
    """A graph whose expected degrees fall by a power law (Chung & Lu 2002), ids shuffled: of none of ggnn-data's kinds."""
    import numpy

    random = numpy.random.default_rng(5)
    nodes, pairs = 1 << 19, 1 << 23
    share = numpy.cumsum((numpy.arange(nodes) + 20.0) ** -0.75)
    share /= share[-1]
    name = random.permutation(nodes)
    source, target = (name[numpy.searchsorted(share, random.random(pairs))] for _ in range(2))
    other = source != target
    train = numpy.sort(random.permutation(nodes)[: nodes // 2])
    rest = numpy.setdiff1d(numpy.arange(nodes), train)
    os.makedirs(folder, exist_ok=True)
    arrays = {"edge_index": numpy.stack([source[other], target[other]]), "label": numpy.arange(nodes) % 16,
              "feat": random.standard_normal((nodes, 128), dtype=numpy.float32), "train": train, "val": rest[::2], "test": rest[1::2]}
    for key, array in arrays.items():
        numpy.save(os.path.join(folder, key + ".npy"), array)


# ---- the page ----


def lines_of(path):
    with open(path) as file:
        return file.read().split("\n")


def read_csv(path=CSV):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def shown(row):
    return f"{row['ratio']} ({row['lower']}-{row['upper']})" if row["lower"] else row["ratio"]


def page(rows):
    """The table: a line a graph and case, a column an order: the ratio, and its quartiles where there were turns enough."""
    lines = ["| graph | case | as it is | by degree | predicted | grouped | by community |", "|---|---|---|---|---|---|---|"]
    of = {(r["graph"], r["case"], r["order"]): r for r in rows}
    for graph, case in dict.fromkeys((r["graph"], r["case"]) for r in rows):
        gain = [shown(of[graph, case, order]) for order in ORDERS]
        guess = of[graph, case, "degree"]["predicted"]
        cells = [graph, case, of[graph, case, "as it is"]["ms"] + " ms", gain[0], guess, gain[1], gain[2]]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_page(rows):
    text = "\n".join(lines_of(PAGE))
    begin = text.index("| graph | case | as it is |")
    end = text.index("\n\n", begin)
    with open(PAGE, "w") as file:
        file.write(text[:begin] + page(rows) + text[end:])


def main():
    p = argparse.ArgumentParser(description="What an order of the nodes gains, in turns.")
    p.add_argument("graphs", nargs="*", help=".ggnn files with 128 features and a split")
    p.add_argument("--turns", type=int, default=5)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--work", default=".", help="folder for the reordered files, removed in the end")
    p.add_argument("--data", default=os.path.join(ROOT, "build", "ggnn-data"))
    p.add_argument("--bench", default=os.path.join(ROOT, "build", "ggnn-bench"))
    p.add_argument("--out", default=CSV, help="the CSV")
    p.add_argument("--write", action="store_true", help="write the table of docs/DATA.md, and measure nothing")
    p.add_argument("--chung-lu", metavar="FOLDER", help="write that graph as .npy files, and measure nothing")
    o = p.parse_args()
    if o.chung_lu:
        return write_chung_lu(o.chung_lu)
    if o.write:
        return write_page(read_csv(o.out))
    if not o.graphs:
        p.error("no graphs are given")
    rows = []
    for path in o.graphs:  # written after each graph
        rows += measure(path, o)
        with open(o.out, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
