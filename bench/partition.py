#!/usr/bin/env python3
"""partition.py - what PaGraph's partition and its first layer gain, as its figures show it, from the logs of ggnn-train. Prints Markdown.

    python3 bench/partition.py --build build [--cora cora.npz] hits accuracy share fanout

    hits      the share of rows read that a cache by degree has, by devices, with and without the partition (Fig. 16): counted
    accuracy  test accuracy where devices draw their own training nodes (local) and where they draw any (global), of the same partition,
              mean and standard deviation over five seeds (Fig. 18): measured
    share     rows and bytes read from the host per epoch by the cache's share, and the seconds that they take on the link that ggnn-train
              --links supposes, 12 GB/s (Fig. 12's cause; a throughput needs a device with memory of its own): counted, and arithmetic
    fanout    seconds per epoch by fanout, with a first layer that is sampled and one that is computed once (--preprocess), measured in turns;
              rows and bytes of features read per epoch: counted

Graphs are made in a folder of their own, but for Cora (docs/DATA.md says what is in cora.npz)."""

import argparse
import json
import os
import statistics
import subprocess
import tempfile

GRAPHS = {"citation": "citation --nodes 200000 --edges 1600000 --features 64",
          "rmat": "rmat --nodes 200000 --edges 4000000 --directed --train .05 --features 64"}
LINK = 12e9  # bytes a second, as --links has it
SEEDS = range(1, 6)
FANOUTS = (2, 4, 8, 16, 32)
TURNS, EPOCHS = 7, 6  # of each pair; epochs of a run, the first of which is left out


class Tools:
    """The programs of one build, and a folder."""

    def __init__(self, build, folder):
        self.build, self.folder = os.path.abspath(build), folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def data(self, line):
        subprocess.run([os.path.join(self.build, "ggnn-data")] + line.split(), check=True, capture_output=True)

    def graph(self, name):
        if not os.path.exists(self.path(name)):
            kind, options = GRAPHS[name].split(" ", 1)
            self.data(f"generate {kind} {self.path(name)} {options}")
        return self.path(name)

    def records(self, line):
        log = self.path("log")
        subprocess.run([os.path.join(self.build, "ggnn-train")] + line.split() + ["--log", log], check=True, capture_output=True)
        with open(log, encoding="utf-8") as records:
            return [json.loads(record) for record in records]

    def train(self, line):
        """The last record of each event."""
        return {record["event"]: record for record in self.records(line)}

    def epochs(self, line):
        """Seconds of each epoch."""
        return [record["seconds"] for record in self.records(line) if record["event"] == "epoch"]


def reads(record):
    """Rows from the cache, and all rows, of all devices."""
    rows = record["ranks"]["rows"]
    return sum(rows["cache"]), sum(sum(tier) for tier in rows.values())


def run_of(graph, devices):
    return f"--data {graph} --fanout 15,10 --hidden 8 --batch {1000 * devices} --epochs 2 --eval-every 0 --devices {devices}"


def hits(tools, _):
    print("| graph | cache | devices | hit rate, % | with the partition | replication |\n|---|---|---|---|---|---|")
    for name in GRAPHS:
        for ratio in (0.1, 0.2):
            for devices in (1, 2, 4, 8):
                cache = f" --cache degree --cache-ratio {ratio}"
                whole = reads(tools.train(run_of(tools.graph(name), devices) + cache))
                line = f"| {name} | {ratio:.0%} | {devices} | {100 * whole[0] / whole[1]:.1f} |"
                if devices > 1:
                    record = tools.train(run_of(tools.graph(name), devices) + cache + " --partition pagraph")
                    own = reads(record)
                    line += f" {100 * own[0] / own[1]:.1f} | {record['partition']['replication']:.2f} |"
                else:
                    line += " - | 1 |"
                print(line, flush=True)


def accuracy(tools, options):
    graphs = [("planted", "--hidden 32 --fanout 10,5 --batch 500 --epochs 15 --lr .01")]
    tools.data(f"generate planted {tools.path('planted')} --nodes 20000 --edges 200000 --train .1 --separation .5")
    graphs.append(("citation", "--hidden 32 --fanout 10,5 --batch 1000 --epochs 15 --lr .01"))
    tools.graph("citation")
    if options.cora:
        tools.data(f"convert {options.cora} {tools.path('cora')} --row-normalise")
        graphs.append(("cora", "--hidden 64 --fanout 10,10 --batch 40 --epochs 100 --lr .01 --weight-decay 5e-4 --input-dropout .5"))
    print("| graph | devices | global, % | local, % | options |\n|---|---|---|---|---|")
    for name, how in graphs:
        for devices in (2, 4):
            score = {}
            for shuffle in ("global", "local"):
                lines = (f"--data {tools.path(name)} --model sage --devices {devices} --partition pagraph --shuffle {shuffle} --seed {seed} {how}"
                         for seed in SEEDS)
                score[shuffle] = [100 * tools.train(line)["final"]["test_accuracy"] for line in lines]
            both = (f"{statistics.mean(score[k]):.2f} ± {statistics.stdev(score[k]):.2f}" for k in ("global", "local"))
            print(f"| {name} | {devices} | {' | '.join(both)} | `--model sage {how}` |", flush=True)


def share(tools, _):
    print("| graph | cached | hit rate, % | MB from the host per epoch and device | seconds of its link |\n|---|---|---|---|---|")
    for name in GRAPHS:
        for ratio in (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5):
            cache = f" --partition pagraph --cache degree --cache-ratio {ratio}"
            record = tools.train(run_of(tools.graph(name), 4) + cache)
            own = reads(record)
            most = max(record["ranks"]["bytes"]["host"]) / 2  # of two epochs; the device that waits longest
            print(f"| {name} | {ratio:.0%} | {100 * own[0] / own[1]:.1f} | {most / 1e6:.2f} | {most / LINK:.4f} |", flush=True)


def paired(tools, one, other):
    """Median seconds per epoch of two runs in turns, and of one over the other: median, least, most."""
    turns = [[statistics.median(tools.epochs(line)[1:]) for line in (one, other)] for _ in range(TURNS)]
    ratios = [a / b for a, b in turns]
    return [statistics.median(column) for column in zip(*turns)], (statistics.median(ratios), min(ratios), max(ratios))


def moved(tools, line):
    """Rows of features, and their megabytes, that an epoch reads."""
    record = tools.train(line + " --epochs 1 --cache degree --cache-ratio 0")["ranks"]
    return record["rows"]["host"][0], record["bytes"]["host"][0] / 1e6


def fanout(tools, _):
    print("| graph | fanout | s per epoch, sampled | computed once | speed-up | least - most | rows | rows, once | MB | MB, once |\n" + "|---" * 10 + "|")
    for name in GRAPHS:
        graph, first = tools.graph(name), tools.path(name + ".first")
        tools.data(f"preprocess {graph} --model sage --out {first}")
        for width in FANOUTS:
            usual = "--hidden 32 --batch 1000 --eval-every 0 --layers 2 --threads 1"
            lines = f"--data {graph} --fanout {width},{width} {usual}", f"--data {first} --preprocess --fanout {width} {usual}"
            seconds, (ratio, least, most) = paired(tools, *(f"{line} --epochs {EPOCHS}" for line in lines))
            rows, megabytes = zip(*(moved(tools, line) for line in lines))
            print(
                f"| {name} | {width} | {seconds[0]:.4f} | {seconds[1]:.4f} | {ratio:.2f} | {least:.2f} - {most:.2f} "
                f"| {rows[0]} | {rows[1]} | {megabytes[0]:.1f} | {megabytes[1]:.1f} |",
                flush=True,
            )


def main():
    names = {"hits": hits, "accuracy": accuracy, "share": share, "fanout": fanout}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--cora", metavar="FILE")
    parser.add_argument("what", nargs="*", choices=list(names), default=list(names))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.what:
            names[name](Tools(options.build, folder), options)


if __name__ == "__main__":
    main()
