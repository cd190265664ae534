#!/usr/bin/env python3
"""plot.py - figures of measured results as SVG, readable on light and on dark backgrounds. Needs
matplotlib.

    python3 bench/plot.py --bench bench.json --rivals rivals.csv --log sage.jsonl gat.jsonl --out figures

Files are JSON, or lines (bench/README.md): of several runs in a file a picture each, called by the run's name.

    roofs.svg      share of the roof per kernel              --bench, of ggnn-bench
    threads.svg    speed against threads                     --bench with its entry "threads"
    growth.svg     cost against work                         --bench with its entry "growth"
    hits-FILE.svg  hit rates of cache policies               --hits FILE ..., of ggnn-bench cache
    store-FILE.svg bytes by own, peer, host as a store grows --store FILE ..., of ggnn-bench store
                   or memory, reads, time by devices         the same with store --sweep
    placements.svg solver, cliques, CliqueOpt by topology    --placements FILE ..., of ggnn-bench store
    scale-*.svg    epochs on 1 to 256 devices, what takes them, --scale FILE, of ggnn-bench scale
                   and how far off published figures
    split-FILE.svg what a split moves, by partition          --split FILE ..., of ggnn-bench split
    roofline.svg   operations a second by operations a byte  --roofline FILE, of ggnn-bench; --out may name the picture
    order.svg      what an order of the nodes gains          --order FILE.csv, of bench/order.py
    rivals.svg     how many times ours is as fast            --rivals, of bench/rivals/run.py
    loss.svg       loss against epochs, trained, validated   --log, of ggnn-train

Only what the files hold is drawn; each figure names the processor. Backgrounds are transparent; text and
lines have a middle lightness."""

import argparse
import csv
import itertools
import json
import os
import sys

import matplotlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "rivals")]
import line_file  # noqa: E402
from compact_svg import compact  # noqa: E402
from run import read_results  # noqa: E402
from table import FOUND, TUNED, heap_of, merged  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import EngFormatter  # noqa: E402

TEXT, GRID = "#76818d", "#76818d55"
OURS = "#3d85e0"
COLOURS = ["#3d85e0", "#d97a1f", "#2f9e6e", "#c2558f", "#8f74d9", "#a08a2d", "#3f9fb0", "#cf5a4a", "#7d8794"]
LIBRARIES = ["OpenBLAS", "DGL", "PyG", "GraphBolt", "NumPy", "memcpy", "torch", "SciPy", "torch.compile"]  # a colour each
STYLE = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.edgecolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.titlecolor": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "font.size": 10,
    "axes.titlesize": 11,
    "legend.frameon": False,
    "legend.labelcolor": TEXT,
    "lines.linewidth": 2,
    "svg.hashsalt": "ggnn",
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans"],
}


def save(figure, folder, name, png):
    """The SVG, the same bytes for the same data; with --png, pictures of it on white and on dark."""
    path = os.path.join(folder, name + ".svg")
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    with open(path) as file:
        svg = compact(file.read())
    with open(path, "w") as file:
        file.write(svg)
    if png:
        for tone, colour in (("light", "#ffffff"), ("dark", "#0d1117")):
            figure.savefig(
                os.path.join(folder, f"{name}-{tone}.png"), facecolor=colour, dpi=110, bbox_inches="tight"
            )
    plt.close(figure)


def machine_of(result):
    machine = result["machine"]
    where = (
        machine.get("device")
        or f"{machine['cpu']}, {result.get('threads') or machine.get('threads')} threads"
    )
    return f"{where}, {result['date'][:10]}"


def bars(axes, places, values, colours, texts, ends=None, pale=()):
    """Horizontal bars from the top, each with a text at its end, or further out at ends. pale: a truth a bar."""
    filled = [(colour, 0.35 if light else 1) for colour, light in zip(colours, pale)] if pale else colours
    axes.barh(places, values, color=filled, height=0.75)
    axes.set_ylim(places[-1] + 0.7, -0.7)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    for place, end, text in zip(places, ends or values, texts):
        axes.annotate(text, (end, place), (4, 0), textcoords="offset points", va="center", fontsize=8.5)


# ---- ggnn-bench's results ------------------------------------------------------------------------


def ours_with_share(result):
    """Cases of ours at as many threads as they have been run with, and that a roof rules; fresh outputs
    apart."""
    left_out = {"threads", "growth", "roof"}
    most = result["machine"]["threads"]
    return [
        r
        for r in result["results"]
        if not r["rival"]
        and not r["case"].endswith("fresh")
        and r["bench"] not in left_out
        and r["share"]
        and r["threads"] in (most, 1)
        and not any(
            o["bench"] == r["bench"] and o["case"] == r["case"] and o["threads"] > r["threads"]
            for o in result["results"]
        )
    ]


def draw_roofs(result):
    """Shares above 100 % are cut there, and written: the roof was measured too low, or a cache was nearer."""
    cases = ours_with_share(result)
    if not cases:
        return None
    figure, axes = plt.subplots(figsize=(8, 0.26 * len(cases) + 1))
    shares = [100 * r["share"] for r in cases]
    texts = [
        f"{s:.0f} % of {r['roof']}" + (f" {r['roof_size']}" if r["roof_size"] else "")
        for s, r in zip(shares, cases)
    ]
    places = list(range(len(cases)))
    bars(axes, places, [min(s, 100) for s in shares], OURS, texts)
    axes.set_yticks(places, [f"{r['bench']}: {r['case']}" for r in cases])
    axes.set_xlim(0, 130)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("share of the roof that rules, in per cent")
    axes.set_title(
        "How near each operation comes to what the machine gives\n" + machine_of(result), loc="left"
    )
    return figure


def series(result, entry, place, key):
    """Points of an entry's cases: {name: [(x, value)]}, in the order measured; place(r) is (name, x)."""
    found = {}
    for r in result["results"]:
        if r["bench"] == entry and not r["rival"]:
            name, x = place(r)
            found.setdefault(name, []).append((x, key(r)))
    return {name: sorted(points) for name, points in found.items() if len(points) > 1}


def draw_threads(result):
    lines = series(result, "threads", lambda r: (r["case"], r["threads"]), lambda r: r["median"])
    if not lines:
        return None
    figure, axes = plt.subplots(figsize=(7, 4))
    most = max(points[-1][0] for points in lines.values())
    axes.plot(
        [1, most], [1, most], color=TEXT, linestyle=":", linewidth=1.2, label="as many times as threads"
    )
    for colour, (name, points) in zip(COLOURS, lines.items()):
        axes.plot(
            [t for t, _ in points], [points[0][1] / s for _, s in points], "o-", color=colour, label=name
        )
    axes.set_xticks(sorted({t for points in lines.values() for t, _ in points}))
    axes.set_xlabel("threads")
    axes.set_ylabel("times the speed of one")
    axes.set_title("Speed against threads\n" + machine_of(result), loc="left")
    axes.legend(fontsize=8.5)
    return figure


def draw_growth(result):
    def place(r):
        return r["case"].rsplit(", ", 1)[0] if "," in r["case"] else "mini-batch", r["work"]

    lines = series(result, "growth", place, lambda r: 1e9 * r["median"] / r["work"])
    if not lines:
        return None
    figure, axes = plt.subplots(figsize=(7, 4))
    for colour, (name, points) in zip(COLOURS, lines.items()):
        axes.plot([w for w, _ in points], [v for _, v in points], "o-", color=colour, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        which("{x:g}")
    axes.set_xlabel("edges, ids or rows of a call")
    axes.set_ylabel("nanoseconds each")
    axes.set_title("Cost of an edge, an id, a row against size\n" + machine_of(result), loc="left")
    axes.legend(fontsize=8.5)
    return figure


ROOFLINE_ROWS = 40  # names in a column beside the picture


def roofs_by_threads(result):
    """{threads: (copy, madd)} of those numbers of threads that both were measured with."""
    value = {(r["name"], r["threads"]): r["value"] for r in result["roofs"] if r["size"] == 0}
    return {t: (value["copy", t], value["madd", t]) for name, t in value if name == "copy" and ("madd", t) in value}


def roofline_points(result):
    """(name, bench, operations per byte, operations per second, rival) of each result that has operations and bytes."""
    return [
        (
            f"{r['bench']}: {r['case']}, {r['threads']} T",
            r["bench"],
            r["flops"] / r["bytes"],
            r["flops"] / r["median"],
            r["rival"],
        )
        for r in result["results"]
        if r.get("flops") and r["bytes"]
    ]


def draw_roof(axes, roofs, threads, ends, main):
    """The least of copy's slope and madd's ceiling, which meet at the ridge."""
    copy, madd = roofs
    xs = sorted([ends[0], madd / copy, ends[1]])
    axes.plot(xs, [min(copy * x, madd) for x in xs], "-" if main else ":", color=TEXT, linewidth=1.4)
    bytes_, flops = EngFormatter("B/s", places=1)(copy), EngFormatter("FLOP/s", places=1)(madd)
    place = {"xytext": (4, 14 if main else -14), "textcoords": "offset points", "fontsize": 8}
    axes.annotate(f"copy {bytes_}, {threads} T", (ends[0], copy * ends[0]), ha="left", **place)
    axes.annotate(f"madd {flops}, {threads} T", (ends[1], madd), ha="right", **place)


def draw_roofline(result, path="the file"):
    """Williams, Waterman & Patterson 2009. Points have numbers, the list beside has their names; rivals are hollow. The
    roofs of the file's threads are solid, others dotted."""
    points, roofs, most = roofline_points(result), roofs_by_threads(result), result["machine"]["threads"]
    if not points:
        return None
    if most not in roofs:
        sys.exit(f"{path}: no roofs copy and madd at {most} threads: ggnn-bench roof NAME ... measures them too")
    figure, axes = plt.subplots(figsize=(8, 6))
    xs = [x for _, _, x, _, _ in points] + [madd / copy for copy, madd in roofs.values()]
    ends = (min(xs) / 2, max(xs) * 4)
    for threads, pair in sorted(roofs.items()):
        draw_roof(axes, pair, threads, ends, threads == most)
    colour_of = dict(zip(dict.fromkeys(bench for _, bench, _, _, _ in points), itertools.cycle(COLOURS)))
    for number, (name, bench, x, y, rival) in enumerate(points):
        colour = colour_of[bench]
        axes.plot([x], [y], "o", color=colour, markerfacecolor="none" if rival else colour, markersize=5)
        axes.annotate(str(number + 1), (x, y), (3, 3), textcoords="offset points", fontsize=6)
        at = (1.03 + 0.55 * (number // ROOFLINE_ROWS), 1 - number % ROOFLINE_ROWS / ROOFLINE_ROWS)
        axes.annotate(f"{number + 1} {name}", at, xycoords="axes fraction", va="top", fontsize=6.5, color=colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ends)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter(EngFormatter())
    axes.set_xlabel("operations per byte, both by the minimal model")
    axes.set_ylabel("operations per second")
    axes.set_title("Roofline; hollow: rivals\n" + machine_of(result), loc="left")
    return figure


def hit_panels(result):
    """{case: {policy: [(cached, hits)]}} in per cent, in the order counted; what is 0 throughout left out."""
    panels = {}
    for f in result["figures"]:
        if f["bench"] == "cache" and f["row"] not in ("none", "dual: of lists") and f["column"].endswith(" %"):
            lines = panels.setdefault(f["case"], {})
            lines.setdefault(f["row"], []).append((float(f["column"].split()[0]), f["value"]))
    return panels


def titled(figure, title):
    figure.suptitle(title, x=0.02, ha="left", fontsize=11, color=TEXT)
    figure.tight_layout()
    return figure


def draw_hits(result):
    panels = hit_panels(result)
    if not panels:
        return None
    columns = (len(panels) + 1) // 2
    figure, axes = plt.subplots(2, columns, figsize=(3.2 * columns, 6), sharex=True, sharey=True, squeeze=False)
    colours = dict(zip(next(iter(panels.values())), COLOURS))  # of policies: a panel may have fewer
    for place, (case, lines) in zip(axes.flat, panels.items()):
        for policy, points in lines.items():
            xs, ys = zip(*points)
            place.plot(xs, ys, "--" if policy == "optimal" else "o-", color=colours[policy], label=policy, markersize=4)
        place.set_xscale("log")
        place.set_xticks(xs, [f"{x:g}" for x in xs])
        place.minorticks_off()
        place.set_title(case, loc="left")
    for place in list(axes.flat)[len(panels):]:
        place.set_visible(False)
        axes[0, -1].tick_params(labelbottom=True)
    for place in axes[-1]:
        place.set_xlabel("rows cached, per cent")
    for place in axes[:, 0]:
        place.set_ylabel("reads taken, per cent")
    axes.flat[0].legend(fontsize=8.5)
    data = result["data"]
    return titled(
        figure,
        f"What a cache takes of all rows read, counted: {data['nodes']:,} nodes, {data['edges']:,} edges, "
        f"{data['train']:,} train",
    )


STORE_PANELS = [  # (case, its columns, bytes of a figure's unit, title)
    ("row bytes", ("own", "peer", "host"), 1e-9, "rows, GB an epoch, counted"),
    ("list bytes", ("own", "peer", "host"), 1e-9, "lists, GB an epoch, counted"),
    ("time", ("lists", "rows"), 1e3, "slowest device, ms an epoch, modelled"),
]


def stacked(place, names, value, columns, unit, colours):
    """A bar of pieces for each name, from the top."""
    left = [0.0] * len(names)
    for column, colour in zip(columns, colours):
        widths = [unit * value(name, column) for name in names]
        place.barh(range(len(names)), widths, left=left, color=colour, height=0.7, label=column)
        left = [a + b for a, b in zip(left, widths)]
    place.set_yticks(range(len(names)), names)
    place.set_ylim(len(names) - 0.4, -0.6)


def beside(place, names, value, columns, unit, colours):
    """Bars of each name beside each other, from the top."""
    height = 0.8 / len(columns)
    for i, (column, colour) in enumerate(zip(columns, colours)):
        at = [k + (i - (len(columns) - 1) / 2) * height for k in range(len(names))]
        place.barh(at, [unit * value(name, column) for name in names], color=colour, height=height, label=column)
    place.set_yticks(range(len(names)), names)
    place.set_ylim(len(names) - 0.4, -0.6)


def finish_panel(place, title):
    place.tick_params(axis="y", length=0)
    place.grid(axis="y", visible=False)
    place.set_title(title, loc="left", fontsize=10)
    place.legend(
        fontsize=8.5, ncols=4, loc="upper left", bbox_to_anchor=(0, -0.12), handlelength=1.2, columnspacing=1.2
    )


def store_values(result):
    return {(f["case"], f["row"], f["column"]): f["value"] for f in result["figures"] if f["bench"] == "store"}


def ranked_by(options):
    """Of a run with --with; earlier files do not have the option."""
    return f", ranked by {options['with']}" if options.get("with") else ""


def draw_store(result):
    """A bar a setting, from the base down, its pieces by where the bytes were read."""
    value = store_values(result)
    if any(case == "time by devices" for case, _, _ in value):
        return draw_sweep(result)
    if not value:
        return None
    rows = list(dict.fromkeys(row for case, row, _ in value if case == "time"))
    figure, axes = plt.subplots(1, len(STORE_PANELS), figsize=(11, 2.9), sharey=True)
    for place, (case, columns, unit, title) in zip(axes, STORE_PANELS):
        colours = COLOURS[:3] if len(columns) == 3 else COLOURS[4:6]
        stacked(place, rows, lambda row, column, case=case: value[case, row, column], columns, unit, colours)
        finish_panel(place, title)
    data, options = result["data"], result["options"]
    return titled(
        figure,
        f"What devices read as a store grows: {data['nodes']:,} nodes, {data['edges']:,} edges, "
        f"{options['devices'] or 8} devices of {options['topology'] or 'dgx-1v'}{ranked_by(options)}",
    )


def draw_sweep(result):
    """Devices of one size, by their number: what lies on each, where all read, how long that takes."""
    value = store_values(result)
    rows = list(dict.fromkeys(row for case, row, _ in value if case == "time by devices"))
    stores = list(dict.fromkeys(column for case, _, column in value if case == "time by devices"))
    figure, axes = plt.subplots(1, 3, figsize=(11, 2.9))
    memory = lambda row, column: value["memory by devices", row, column]  # noqa: E731
    stacked(axes[0], rows, memory, ("lists", "rows"), 1e-6, COLOURS[4:6])
    finish_panel(axes[0], "MB of a device, counted")
    reads = lambda row, column: value["rows by devices", row, column]  # noqa: E731
    stacked(axes[1], rows, reads, ("own", "peer", "host"), 1e-6, COLOURS)
    finish_panel(axes[1], "rows, millions an epoch, counted")
    for store, colour in zip(stores, COLOURS):
        axes[2].plot(rows, [1e3 * value["time by devices", row, store] for row in rows], "o-", color=colour, label=store)
    axes[2].set_yscale("log")
    axes[2].set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
    axes[2].set_xticks(rows, [row.split()[0] for row in rows])
    axes[2].minorticks_off()
    finish_panel(axes[2], "slowest device, ms an epoch, modelled")
    axes[2].grid(axis="y", visible=True)
    data, options = result["data"], result["options"]
    return titled(
        figure,
        f"One store over 1 to 8 devices: {data['nodes']:,} nodes, {data['edges']:,} edges, {options['topology'] or 'dgx-1v'}{ranked_by(options)}",
    )


PLACEMENT_ROWS = {"cliques": "+ set sampler", "solver": "+ placement", "CliqueOpt": "CliqueOpt"}


def draw_placements(results):
    """A panel a graph, a group of bars a topology."""
    panels = {}
    for result in results:
        data, options = result["data"], result["options"]
        links = os.path.splitext(os.path.basename(options["topology"] or "dgx-1v"))[0]
        devices = options["devices"] or (0 if "." in (options["topology"] or "") else 8)
        name = f"{links}, {devices}" if devices else links
        graph = f"{data['nodes']:,} nodes, {data['edges']:,} edges"
        panels.setdefault(graph, {})[name] = store_values(result)
    if not panels or any(("time", "CliqueOpt", "both") not in v for p in panels.values() for v in p.values()):
        return None
    figure, axes = plt.subplots(1, len(panels), figsize=(5.5 * len(panels), 3.2), squeeze=False)
    for place, (graph, of) in zip(axes[0], panels.items()):
        names = list(of)
        value = lambda name, column, of=of: of[name]["time", PLACEMENT_ROWS[column], "both"]  # noqa: E731
        beside(place, names, value, list(PLACEMENT_ROWS), 1e3, COLOURS)
        finish_panel(place, graph)
    return titled(figure, "Reads of an epoch, slowest device, ms, modelled: where parts lie, and a cache beside them")


SCALE_MACHINES = ["A100 PCIe 4", "H100 NVSwitch"]  # of the pictures; the tables have all
SCALE_LINES = ["data, replica", "data, parts", "data, host + cache", "data, shards", "data, shards, local", "split, parts"]


def scale_tables(result):
    """{case: {row: {column: value}}} of ggnn-bench scale."""
    tables = {}
    for f in result["figures"]:
        if f["bench"] == "scale":
            tables.setdefault(f["case"], {}).setdefault(f["row"], {})[f["column"]] = f["value"]
    return tables


def scale_graphs(tables):
    return [case.split(", ")[0] for case in tables if case.endswith(f", {SCALE_MACHINES[0]}, by devices")]


def draw_scale_epochs(result):
    """A row of panels a machine, a panel a graph, a line a store; what fits no number of devices has none."""
    tables = scale_tables(result)
    graphs = scale_graphs(tables)
    if not graphs:
        return None
    figure, axes = plt.subplots(2, len(graphs), figsize=(3 * len(graphs), 6.4), sharex=True, squeeze=False)
    for machine, line in zip(SCALE_MACHINES, axes):
        for graph, place in zip(graphs, line):
            rows = tables.get(f"{graph}, {machine}, by devices", {})
            for name, colour in zip(SCALE_LINES, COLOURS):
                points = [(int(c), v) for c, v in rows.get(name, {}).items() if v is not None]
                xs, ys = zip(*points) if points else ([], [])
                place.plot(xs, ys, "o-", color=colour, label=name, markersize=3.5, linewidth=1.6)
            place.set_xscale("log", base=2)
            place.set_yscale("log")
            place.yaxis.set_major_formatter("{x:g}")
            place.set_xticks([1, 4, 16, 64, 256], ["1", "4", "16", "64", "256"])
            place.set_title(f"{graph}\n{machine}", loc="left", fontsize=10)
        line[0].set_ylabel("s an epoch, modelled")
    for place in axes[-1]:
        place.set_xlabel("devices")
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, fontsize=8.5, ncols=6, loc="lower left", bbox_to_anchor=(0.02, -0.04))
    return titled(figure, "GraphSAGE, 3 x 256, fanout 15,10,5, batch 1,024 a device")


def draw_scale_time(result):
    """Stacked bars: what an epoch waits for, by store, as shares of the longest bar of a panel."""
    tables = scale_tables(result)
    graphs = scale_graphs(tables)
    if not graphs:
        return None
    figure, axes = plt.subplots(len(SCALE_MACHINES), len(graphs), figsize=(3 * len(graphs), 4.2), squeeze=False)
    for machine, line in zip(SCALE_MACHINES, axes):
        for graph, place in zip(graphs, line):
            rows = tables.get(f"{graph}, {machine}, 8 devices", {})
            left = [0.0] * len(rows)
            parts = [c for c in next(iter(rows.values()), {}) if c != "all"]
            for column, colour in zip(parts, COLOURS):
                widths = [row[column] for row in rows.values()]
                place.barh(range(len(rows)), widths, left=left, color=colour, height=0.7, label=column)
                left = [a + b for a, b in zip(left, widths)]
            place.set_yticks(range(len(rows)), [name.replace("host + cache", "cache") for name in rows], fontsize=8)
            place.invert_yaxis()
            place.grid(axis="y", visible=False)
            place.set_title(f"{graph}, {machine}" + ("" if rows else "\nfits no 8 devices"), loc="left", fontsize=9)
            place.tick_params(axis="x", labelsize=8)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, fontsize=8.5, ncols=7, loc="lower left", bbox_to_anchor=(0.02, -0.06))
    return titled(figure, "What an epoch on 8 devices waits for, seconds, modelled")


def draw_scale_checks(result):
    """How far each prediction is off; the band is what counts as good."""
    rows = scale_tables(result).get("beside published figures")
    if not rows:
        return None
    off = [row["off by, %"] for row in rows.values()]
    figure, axes = plt.subplots(figsize=(7, 0.27 * len(rows) + 1))
    axes.axvspan(-25, 25, color=GRID)
    shown = [max(-75, min(75, x)) for x in off]
    axes.barh(range(len(rows)), shown, color=[COLOURS[7] if abs(x) > 25 else COLOURS[0] for x in off], height=0.7)
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.axvline(0, color=TEXT, linewidth=1.2)
    axes.set_xlim(-75, 75)
    for place, x in enumerate(off):
        axes.annotate(f"{x:+.0f} %", (max(shown[place], 0), place), (4, 0), textcoords="offset points", va="center", fontsize=8.5)
    axes.set_xlabel("predicted beside published, per cent; red: more than 25")
    axes.set_title("What the model says of figures that papers measured", loc="left")
    return figure


SPLIT_PARTS = (4, 2, 8)  # of the first panel: the first of them whose table has all rows, a user's own too
SPLIT_COLUMNS = ("host: features", "peer: ids", "peer: features", "peer: hidden", "peer: gradients")
SPLIT_PANELS = [("local edges", "local edges, per cent"), ("skew of edges", "skew of edges, (most - least) / mean")]


def split_rows(figures, parts):
    """(parts, the name of their table of bytes by link, its rows)."""
    table = next(f["case"] for f in figures if f["case"].startswith(f"P = {parts},"))
    return parts, table, list(dict.fromkeys(f["row"] for f in figures if f["case"] == table))


def draw_split(result):
    """A row a partition, data parallel first: its bytes by link; what it keeps local and how uneven it is, by parts."""
    figures = [f for f in result["figures"] if f["bench"] == "split"]
    if not figures:
        return None
    value = {(f["case"], f["row"], f["column"]): f["value"] for f in figures}
    parts, table, rows = max((split_rows(figures, parts) for parts in SPLIT_PARTS), key=lambda found: len(found[2]))
    figure, axes = plt.subplots(1, 1 + len(SPLIT_PANELS), figsize=(11, 3.2), sharey=True)
    left = [0.0] * len(rows)
    for column, colour in zip(SPLIT_COLUMNS, COLOURS):
        widths = [value[table, row, column] for row in rows]
        axes[0].barh(range(len(rows)), widths, left=left, color=colour, height=0.7, label=column)
        left = [a + b for a, b in zip(left, widths)]
    axes[0].set_title(f"MB a batch, {table}", loc="left", fontsize=10)
    for place, (case, title) in zip(axes[1:], SPLIT_PANELS):
        for column, colour in zip(("P = 2", "P = 4", "P = 8"), (COLOURS[4], COLOURS[0], COLOURS[7])):
            points = [(value.get((case, row, column)), y) for y, row in enumerate(rows)]
            points = [point for point in points if point[0] is not None]
            place.plot(*zip(*points), "o", color=colour, label=column, markersize=5)
        place.set_xlim(left=0)
        place.set_title(title, loc="left", fontsize=10)
    for place in axes:
        place.set_yticks(range(len(rows)), rows)
        place.set_ylim(len(rows) - 0.4, -0.6)
        place.tick_params(axis="y", length=0)
        place.legend(
            fontsize=8.5, ncols=2 if place is axes[0] else 3, loc="upper left", bbox_to_anchor=(0, -0.1), handlelength=1.2
        )
    data = result["data"]
    more = [value[case, "data parallel", f"P = {parts}"] for case in ("redundant edges", "extra input rows")]
    return titled(
        figure,
        f"What a split moves, counted: {data['nodes']:,} nodes, {data['edges']:,} edges. Over {parts} devices "
        f"data parallel computes {more[0]:.0f} % more edges and loads {more[1]:.0f} % more rows",
    )


# ---- bench/order.py's results --------------------------------------------------------------------


def draw_order(rows):
    """A panel a graph: bars of each order for each case, with lines from quartile to quartile."""
    graphs, cases, orders = (list(dict.fromkeys(r[k] for r in rows)) for k in ("graph", "case", "order"))
    of = {(r["graph"], r["case"], r["order"]): r for r in rows}
    orders = [o for o in orders if o != "as it is"]
    figure, places = plt.subplots(1, len(graphs), figsize=(3.2 * len(graphs), 2.6), sharey=True, squeeze=False)
    for place, graph in zip(places[0], graphs):
        beside(place, cases, lambda c, o, g=graph: float(of[g, c, o]["ratio"]) if (g, c, o) in of else 0, orders, 1, COLOURS)
        for bar, (order, case) in zip(place.patches, itertools.product(orders, cases)):
            row = of.get((graph, case, order))
            if row and row["lower"]:
                at = bar.get_y() + bar.get_height() / 2
                place.hlines(at, float(row["lower"]), float(row["upper"]), color=TEXT, linewidth=1)
        place.axvline(1, color=TEXT, linewidth=1)
        place.grid(axis="y", visible=False)
        place.set_xlabel("times as fast")
        place.set_title(graph)
    names = places[0][0].get_legend_handles_labels()
    figure.legend(*names, fontsize=8, ncols=len(orders), loc="lower center", bbox_to_anchor=(0.5, -0.2))
    return figure


# ---- rivals and training -------------------------------------------------------------------------


def best_of(row):
    """A rival's best variant with the heap as found, then with it tuned: the library is the name's first word, "DGL int32"
    is DGL. {library: {heap: ratio}}."""
    best = {}
    for heap in (FOUND, TUNED):
        for m in row["rivals"]:
            if m["ratio"] and heap_of(m) == heap:
                of = best.setdefault(m["name"].split()[0].rstrip(","), {})
                of[heap] = min(m["ratio"], of.get(heap, m["ratio"]))
    return best


def rival_bars(result):
    """(place, ratio, library, target or None, is its heap tuned) of each bar, and (place, label) of each row, from the top."""
    found, labels, place = [], [], 0.0
    for row in result["rows"]:
        best = [(library, heap, ratio) for library, of in best_of(row).items() for heap, ratio in of.items()]
        if best:
            labels.append((place + (len(best) - 1) / 2, f"{row['kernel']}, {row['size']}"))
        for library, heap, ratio in best:
            target = row["target"] if row["against"] == library else None
            found.append((place, ratio, library, target, heap == TUNED))
            place += 1
        place += 0.6 if best else 0
    return found, labels


def draw_rivals(result):
    """A bar a rival, pale where its heap was tuned; the mark is the ratio that is aimed at."""
    found, labels = rival_bars(result)
    if not found:
        return None
    places, values, libraries, targets, tuned = zip(*found)
    colour_of = {name: COLOURS[LIBRARIES.index(name)] for name in dict.fromkeys(libraries)}
    near = [t if t and v < t < 1.3 * v else v for v, t in zip(values, targets)]
    figure, axes = plt.subplots(figsize=(8, 0.2 * places[-1] + 1.4))
    texts = [f"{v:.1f}x" if v < 9.95 else f"{v:.0f}x" for v in values]
    bars(axes, places, values, [colour_of[name] for name in libraries], texts, near, tuned)
    axes.set_yticks(*zip(*labels))
    for place, target in zip(places, targets):
        if target:
            axes.plot([target, target], [place - 0.45, place + 0.45], color=TEXT, linewidth=2.5)
    axes.axvline(1, color=TEXT, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_xlim(min(0.5, 0.8 * min(values)), 1.6 * max(values + tuple(t for t in targets if t)))
    ticks = [t for t in (0.1, 0.5, 1, 2, 5, 10, 20, 50, 100) if axes.get_xlim()[0] <= t <= axes.get_xlim()[1]]
    axes.set_xticks(ticks, [f"{t:g}x" for t in ticks])
    axes.minorticks_off()
    axes.set_xlabel("how many times ours is as fast (memory: as small)\npale: the rival with a tuned heap; the mark: what is aimed at")
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colour_of.values()]
    axes.legend(
        handles,
        colour_of,
        fontsize=8.5,
        ncols=len(colour_of),
        columnspacing=1.2,
        handlelength=1.2,
        loc="lower left",
        bbox_to_anchor=(-0.2, 1),
    )
    axes.set_title("Beside rivals, the same work\n" + machine_of(result), loc="left", pad=28)
    return figure


def read_log(path):
    """(name of the run, its epochs) of a --log file. A line cut short by an interruption ends it."""
    start, epochs = {}, []
    with open(path) as file:
        for line in file:
            try:
                event = json.loads(line)
            except ValueError:
                break
            if event["event"] == "start":
                start = event
            elif event["event"] == "epoch":
                epochs.append(event)
    options, data = start.get("options", {}), start.get("data", {})
    name = f"{options.get('model', '?')}, {os.path.basename(data.get('file', os.path.basename(path)))}"
    return name, epochs


def draw_losses(logs):
    figure, axes = plt.subplots(figsize=(7, 4))
    for colour, (name, epochs) in zip(COLOURS * (1 + len(logs) // len(COLOURS)), logs):
        axes.plot(
            [e["epoch"] for e in epochs], [e["loss"] for e in epochs], color=colour, label=name + ", training"
        )
        seen = [e for e in epochs if e["val_loss"] is not None]
        if seen:
            axes.plot(
                [e["epoch"] for e in seen],
                [e["val_loss"] for e in seen],
                "--",
                color=colour,
                label="validation",
            )
    axes.set_xlabel("epoch")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_ylabel("loss")
    axes.set_title("Loss against epochs", loc="left")
    axes.legend(fontsize=8.5, ncols=2)
    return figure


def options(argv=None):
    p = argparse.ArgumentParser(description="Figures of measured results, as SVG.")
    p.add_argument("--bench", help="JSON or lines of ggnn-bench")
    p.add_argument("--roofline", help="JSON or lines of ggnn-bench, with the roofs copy and madd")
    p.add_argument("--hits", nargs="+", default=[], help="JSON or lines of ggnn-bench cache")
    p.add_argument("--store", nargs="+", default=[], help="JSON or lines of ggnn-bench store")
    p.add_argument("--placements", nargs="+", default=[], help="JSON or lines of ggnn-bench store, a topology each")
    p.add_argument("--scale", help="JSON or lines of ggnn-bench scale")
    p.add_argument("--split", nargs="+", default=[], help="JSON or lines of ggnn-bench split")
    p.add_argument("--order", help="CSV of bench/order.py")
    p.add_argument(
        "--rivals", nargs="+", help="results of bench/rivals/run.py; of the first one's graph later ones' rows replace its own"
    )
    p.add_argument("--log", nargs="+", default=[], help="logs of ggnn-train --log")
    p.add_argument("--out", default=".", help="folder of the figures; of --roofline alone also the picture, NAME.svg")
    p.add_argument("--png", action="store_true", help="also pictures on white and on dark, to look at")
    args = p.parse_args(argv)
    args.picture = "roofline"
    if args.out.endswith(".svg"):
        others = [args.bench, args.hits, args.store, args.placements, args.scale, args.split, args.order, args.rivals]
        others.append(args.log)
        if not args.roofline or any(others):
            p.error(f"--out {args.out}: is one picture, of --roofline alone")
        folder, name = os.path.split(args.out)
        args.out, args.picture = folder or ".", name[: -len(".svg")]
    return args


def read(path, how=line_file.read):
    try:
        return how(path)
    except (OSError, ValueError) as why:
        sys.exit(str(why) if isinstance(why, line_file.Bad) else f"{path}: {why}")


def of_runs(figures, kind, paths, draw):
    """A picture of each run of the files."""
    for run in (run for path in paths for run in read(path)):
        figures[f"{kind}-{run['run']}"] = draw(run)


def of_graph(results):
    """The first result, with the rows of all that are of its graph."""
    return dict(results[0], rows=merged([r for r in results if r["graph"] == results[0]["graph"]]))


def main(argv=None):
    args = options(argv)
    plt.rcParams.update(STYLE)
    os.makedirs(args.out, exist_ok=True)
    figures = {}
    if args.bench:
        result = read(args.bench)[0]
        figures.update(roofs=draw_roofs(result), threads=draw_threads(result), growth=draw_growth(result))
    if args.roofline:
        figures[args.picture] = draw_roofline(read(args.roofline)[0], args.roofline)
    of_runs(figures, "hits", args.hits, draw_hits)
    of_runs(figures, "store", args.store, draw_store)
    if args.placements:
        figures["placements"] = draw_placements([run for path in args.placements for run in read(path)])
    if args.scale:
        result = read(args.scale)[0]
        figures["scale-epochs"] = draw_scale_epochs(result)
        figures["scale-time"] = draw_scale_time(result)
        figures["scale-checks"] = draw_scale_checks(result)
    of_runs(figures, "split", args.split, draw_split)
    if args.order:
        with open(args.order, newline="") as file:
            figures["order"] = draw_order(list(csv.DictReader(file)))
    if args.rivals:
        figures["rivals"] = draw_rivals(of_graph([result for path in args.rivals for result in read(path, read_results)]))
    if args.log:
        figures["loss"] = draw_losses([read_log(path) for path in args.log])
    for name, figure in figures.items():
        if figure:
            save(figure, args.out, name, args.png)
            print(os.path.join(args.out, name + ".svg"))
        else:
            print(f"{name}: nothing of it in the file")
    return 0 if any(figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
