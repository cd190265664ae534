#!/usr/bin/env python3
"""gpu_step.py - the step of GCN, GraphSAGE and GAT on GPUs, predicted from machine code and stated roofs.

    gpu_step.py              prints the tables of docs/GPU.md
    gpu_step.py --launches   every launch of a step on each GPU, in microseconds, and what rules it
    gpu_step.py --cases      cases of ggnn-bench on each GPU, tabs between: the kit prints them beside what it measures
    gpu_step.py --write      puts the tables into docs/GPU.md, between their marks

tests/sass_budget.txt says what kernels are made of, bench/gpu_inputs.csv what the GPUs give and what a batch has. A launch
takes the largest of four times:
    memory   bytes over the copy rate, and 64 bytes per access at random over the rate of such pieces
    issue    instructions of all warps over what the processors issue
    trips    a launch; and threads over those that fit on the GPU at once, times the waits for memory of one thread
    matmul   FLOP of a product over what a library reaches
A step is their sum: nothing overlaps. An epoch is as many steps.
Rows are read in pieces of 64 bytes. A matrix that fits into the second-level cache is read once, another one once per edge.
Every wait for memory takes a trip, though some find their data in a cache.
"""
import argparse
import csv
import math
import os
import sys
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
from sass_budget import lines_of, read_budget  # noqa: E402

BUDGET = os.path.join(HERE, "..", "tests", "sass_budget.txt")
INPUTS = os.path.join(HERE, "gpu_inputs.csv")
PAGE = os.path.join(HERE, "..", "docs", "GPU.md")
MARKS = "<!-- bench/gpu_step.py --write makes what follows -->", "<!-- to here -->"
BLOCK, WARP, ROWS = 256, 32, 256  # threads of a block, of a warp; rows of a segment of a sum over rows

# threads: lanes of all warps together. insns and trips: of one thread. row: bytes that each of `edges` reads of `distinct` rows.
Launch = namedtuple("Launch", "kernel threads insns trips bytes atoms edges distinct row flops",
                    defaults=[0, 0, 0, 0, 0, 0, 0, 0])


def read_inputs(path=INPUTS):
    """{(kind, name): {field: value}}"""
    table = {}
    for line in csv.reader(line for line in lines_of(path) if not line.startswith("#")):
        table.setdefault((line[0], line[1]), {})[line[2]] = float(line[3])
    return table


def read_limits(path=BUDGET, arch="sm_90"):
    """{(kernel, unit or whole): {measure: limit, "units": units of a turn}}"""
    limits = {}
    for _, of, kernel, scope, measures in read_budget(path):
        unit, _, loop = scope.partition("@")
        if of == arch and measures:
            limits[kernel, unit] = {name: limit for name, _, limit in measures} | {"units": int((loop.split("/") + ["1"])[1] or 1)}
    return limits


def row_bytes(columns):
    return 64 * math.ceil(4 * columns / 64)


class Launches:
    """What operations launch; the numbers of a batch's nodes and edges, hop by hop."""

    def __init__(self, limits, batch, model="a case of ggnn-bench"):
        self.limits, self.model, self.all = limits, model, []
        self.nodes = [batch["seeds"], batch["nodes1"], batch["nodes2"], batch["nodes3"]]
        self.edges = [0, batch["edges1"], batch["edges2"], batch["edges3"]]

    # ---- launches ----------------------------------------------------------------------------------------------------
    def of(self, kernel, unit):
        if (kernel, unit) not in self.limits:
            sys.exit(f"tests/sass_budget.txt has no line of {kernel}, {unit}, which {self.model} launches")
        return self.limits[kernel, unit]

    def add(self, *args, **more):
        self.all.append(Launch(*args, **more))

    def once(self, kernel, threads, trips):
        """A kernel without a loop: nothing but its trips matters."""
        self.of(kernel, "whole")
        self.add(kernel, threads, 0, trips)

    def per_turn(self, kernel, unit, threads, units=None, **more):
        """Each thread goes through that loop once, or as often as so many units need."""
        k = self.of(kernel, unit)
        turns = math.ceil((units or 1) / k["units"])
        self.add(kernel, threads, turns * k["units"] * k["insns"], turns * k["trips"], **more)

    def product(self, m, n, k):
        self.add("product", 0, 0, 1, bytes=4 * (m * k + k * n + m * n), flops=2 * m * n * k)

    # ---- a batch -----------------------------------------------------------------------------------------------------
    def sample(self, last_is_numbered):
        self.per_turn("begin_sample", "seed", self.nodes[0], bytes=8 * self.nodes[0])
        self.per_turn("insert_ids<0,false>", "id", self.nodes[0], bytes=4 * self.nodes[0], atoms=self.nodes[0])
        self.number(self.nodes[0], self.nodes[0], "next_hop<true>")
        for hop in (1, 2, 3):
            numbered = hop < 3 or last_is_numbered
            self.fisher_yates(self.nodes[hop - 1], self.edges[hop], 8 if hop == 3 else 16, numbered)
            if numbered:
                self.number(self.edges[hop], self.nodes[hop], "next_hop<true>" if hop < 3 else "no_next")
        edges = sum(self.edges[1 : 4 if last_is_numbered else 3])
        self.per_turn("relabel", "edge", edges, bytes=8 * edges, atoms=2 * edges)
        self.once("note_sample", 1, 1)

    def fisher_yates(self, rows, edges, lanes, numbered):
        """`lanes` threads a row. A span of rows is placed by all warps of a block; then a warp takes 32 / lanes rows at once. Spans
        are as launch_rows chooses them: longer, as long as half of the blocks that an H200 holds at once have one."""
        kernel = f"fisher_yates<{lanes},u32,true>"
        resident = 132 * blocks_of(self.limits, kernel, {"shared": 228})
        rows_a_span = BLOCK // lanes
        while rows_a_span < BLOCK and rows / (2 * rows_a_span) >= resident / 2:
            rows_a_span *= 2
        row, insert, span = (self.of(kernel, unit) for unit in ("row", "insert", "span_row_and_insert"))
        placing = span["insns"] - row["insns"] - insert["insns"]
        insns = row["insns"] + BLOCK / (rows_a_span * lanes) * placing + numbered * edges / (rows * lanes) * insert["insns"]
        self.add(kernel, rows * lanes, insns, row["trips"], bytes=12 * edges + 8 * rows, atoms=rows + edges * (1 + numbered))

    def number(self, ids, found, then):
        self.per_turn("flag_firsts", "id", ids / 4, bytes=4 * ids, atoms=ids)
        self.per_turn(f"number_firsts<{then}>", "id", ids, bytes=4 * ids + ids / 8 + 4 * found, atoms=2 * found)

    def transpose(self, y):
        """Of a block with repeats. Edges that are not their source's only one take a place, and count as written, by an atomic each."""
        several = min(y.edges, 2 * max(0, y.edges - (y.sources - y.targets)))
        self.per_turn("sum_sources", "source", y.sources, bytes=12 * y.sources)
        self.per_turn("place_rows", "row", y.sources, bytes=16 * y.sources)
        self.per_turn("fill_transpose", "edge", y.edges, bytes=8 * y.edges + 16 * several, atoms=2 * y.edges + 2 * several)

    # ---- what layers have in common ----------------------------------------------------------------------------------
    def lists(self, kernel, lists, edges, columns, distinct, own=0, copied=0):
        """A thread a list and four columns; a turn is four edges. own: lists with a row of their own; copied: as many are
        written too. Bytes: rows, indices, offsets, sums."""
        first, turn = self.of(kernel, "list_and_turn"), self.of(kernel, "edge_chunk")
        more = math.ceil(edges / lists / turn["units"]) - 1
        for_own = 2 if "store_rows" in kernel else 1  # the path's last waits are for the list's own id and row
        trips = first["trips"] - (0 if own else for_own) + more * turn["trips"]
        self.add(kernel, lists * columns / 4, first["insns"] + more * turn["units"] * turn["insns"], trips,
                 bytes=4 * edges + 8 * lists + 4 * (lists + copied) * columns, edges=edges + own, distinct=distinct, row=row_bytes(columns))

    def four_lists(self, kernel, next_unit, lists, more, columns, **bytes_and_rows):
        """Four lists a thread and four columns, the i-th entries of all at once; `more` entries are not the first of their lists, and
        each of these may be a turn of its own."""
        first, turn = self.of(kernel, "four_lists"), self.of(kernel, next_unit)
        turns = 4 * max(0, more) / lists
        self.add(kernel, lists / 4 * max(1, columns / 4), first["insns"] + turns * turn["insns"],
                 first["trips"] + turns * turn["trips"], **bytes_and_rows)

    def lists_back(self, y, columns, own, through):
        """Over a transpose: a source that is no target has an edge. own: rows that are added. through: rows of the layer before are
        read."""
        self.four_lists("reduce_lists<back_op<through_layer>,4>", "next_edges", y.sources, y.edges - (y.sources - y.targets), columns,
                        bytes=4 * y.edges + 8 * y.sources + 4 * columns * (y.sources * (1 + through) + own),
                        edges=y.edges, distinct=y.targets, row=row_bytes(columns))

    def entry_sums(self, y, entries):
        """Numbers of entries and heads, by target, a list and four heads a thread; and by source."""
        width = 4 if y.heads % 4 == 0 else 1
        moved = {lists: dict(bytes=4 * entries + 4 * lists * (2 + y.heads), edges=entries, distinct=entries, row=row_bytes(y.heads))
                 for lists in (y.targets, y.sources)}
        kernel = f"reduce_lists<back_op<target_sums>,{width}>"
        first, turn = self.of(kernel, "list_and_turn"), self.of(kernel, "entry_chunk")
        more = math.ceil(entries / y.targets / turn["units"]) - 1
        self.add(kernel, y.targets * y.heads / width, first["insns"] + more * turn["units"] * turn["insns"],
                 first["trips"] + more * turn["trips"], **moved[y.targets])
        self.four_lists(f"reduce_lists<back_op<entry_sums>,{width}>", "next_entries", y.sources, entries - y.sources, y.heads * 4 / width,
                        **moved[y.sources])

    def gather(self, rows, columns):
        self.per_turn("copy_rows<float,float,4,false,stored_rows<int,false>>", "chunk", rows * columns / 4 / 4,
                      bytes=rows * (4 + row_bytes(columns) + 4 * columns))

    def wide(self, y, kernel):
        """The instance for rows of so many columns, and how many of them a thread takes at once."""
        return (f"{kernel}<4>", 4) if y.wide % 4 == 0 else (f"{kernel}<1>", 1)

    def finish(self, y):
        self.per_turn(self.wide(y, "finish")[0], "fields", y.targets * math.ceil(y.out / 8), bytes=8 * y.targets * y.out)

    def finish_back(self, y, activation):
        if activation:
            self.per_turn(self.wide(y, "finish_back")[0], "fields", y.targets * math.ceil(y.out / 8), bytes=12 * y.targets * y.out)
        segments = math.ceil(y.targets / ROWS)
        self.per_turn("column_sums", "row", segments * y.out, min(ROWS, y.targets), bytes=4 * y.targets * y.out)
        self.join("add_column_sums", y.out, segments)

    def join(self, kernel, columns, segments):
        """A block for 32 columns. One of its warps adds, one segment after the other; only the waits for memory are counted."""
        self.per_turn(kernel, "segment", math.ceil(columns / WARP) * BLOCK, segments, bytes=4 * segments * columns)

    def loss(self, y):
        # sixteen lanes a row, which read 64 columns together, in each of three passes
        row, passes = self.of("loss_rows", "row"), [self.of("loss_rows", unit) for unit in ("greatest", "powers", "gradient")]
        more = math.ceil(y.out / 64) - 1
        self.add("loss_rows", 16 * y.targets, row["insns"] + more * sum(p["units"] * p["insns"] for p in passes),
                 row["trips"] + more * sum(p["trips"] for p in passes), bytes=8 * y.targets * y.out)
        self.per_turn("sum_losses", "row", BLOCK, bytes=8 * y.targets)

    def attention(self, y, loops):
        columns = self.wide(y, "")[1]
        kernel = f"reduce_lists<gat_op<false,false>,{columns}>"
        few, greatest, powers = (self.of(kernel, unit) for unit in ("few_entries", "greatest", "powers"))
        entries = y.edges + loops
        turns = {name: math.ceil(entries / y.targets / k["units"]) for name, k in (("greatest", greatest), ("powers", powers))}
        if turns["powers"] * powers["units"] <= 8:
            turns = {"greatest": 0, "powers": 0}  # up to 8 entries are read together; more pay that path, too
        insns = {name: n * self.of(kernel, name)["units"] * self.of(kernel, name)["insns"] for name, n in turns.items()}
        self.add(kernel, y.targets * y.wide / columns, few["insns"] + sum(insns.values()),
                 few["trips"] + sum(n * self.of(kernel, name)["trips"] for name, n in turns.items()),
                 bytes=4 * y.edges * (1 + y.heads) + 4 * y.targets * (y.wide + 3 * y.heads),
                 edges=entries, distinct=y.sources, row=row_bytes(y.wide))

    def scores(self, y):
        """Sixteen columns of a row and head at once, by a thread for one or four of them; a turn is two such chunks. A target's row is
        multiplied with the second vector, too."""
        kernel, columns = self.wide(y, "scores")
        first, second, pair = (self.of(kernel, unit) for unit in ("row", "vector", "pair"))
        more = math.ceil(y.wide / y.heads / 16 / pair["units"]) - 1
        again = y.targets / y.sources
        self.add(kernel, y.sources * y.heads * 16 / columns,
                 first["insns"] + again * second["insns"] + (1 + again) * more * pair["units"] * pair["insns"],
                 first["trips"] + again * second["trips"] + (1 + again) * more * pair["trips"],
                 bytes=4 * y.sources * (y.wide + y.heads) + 4 * y.targets * y.heads)

    def attention_back(self, y, loops):
        """Entries: edges, and `loops` of targets to themselves."""
        entries = y.edges + loops
        kernel, columns = self.wide(y, "gat_gradients")
        kernel = kernel.replace(">", ",false,false>")
        delta, delta_pair, entry, head, pair = (self.of(kernel, unit) for unit in ("delta", "delta_dots", "entry", "head", "dots"))
        more = math.ceil(y.wide / y.heads / 32) - 1
        deltas = y.targets * y.heads / entries  # dout . out, of each target and head once
        self.add(kernel, entries * 16 / columns,
                 entry["insns"] + y.heads * (head["insns"] + more * pair["insns"]) + deltas * (delta["insns"] + more * delta_pair["insns"]),
                 entry["trips"] + y.heads * (head["trips"] + more * pair["trips"]) + deltas * (delta["trips"] + more * delta_pair["trips"]),
                 bytes=4 * y.targets * (2 * y.wide + 3 * y.heads) + 4 * entries * (1 + 3 * y.heads),
                 edges=entries, distinct=y.sources, row=row_bytes(y.wide))
        self.entry_sums(y, entries)
        self.four_lists(f"reduce_lists<back_op<through_scores>,{columns}>", "next_entries", y.sources, entries - y.sources,
                        y.wide * 4 / columns, bytes=entries * (8 + 4 * y.heads) + y.sources * (8 + 4 * y.heads + 4 * y.wide),
                        edges=entries, distinct=y.targets, row=row_bytes(y.wide))
        self.per_turn("zero_tail", "element", BLOCK)


class Step(Launches):
    """The launches of a step, in the trainer's order."""

    def __init__(self, model, limits, batch):
        super().__init__(limits, batch, model)
        b = batch
        self.sample(last_is_numbered=model == "GAT")
        widths = [b["features"], b["hidden"], b["hidden"], b["classes"]]
        layers = [Layer(l, self.nodes[2 - l], self.nodes[3 - l], self.edges[3 - l], widths[l], widths[l + 1], b["heads"] if l < 2 else 1)
                  for l in range(3)]
        forward, backward = {"GCN": (self.gcn, self.gcn_back), "GraphSAGE": (self.sage, self.sage_back),
                             "GAT": (self.gat, self.gat_back)}[model]
        self.once("advance", 1, 1)
        for y in layers:
            forward(y)
            self.finish(y)
        self.loss(layers[-1])
        for y in reversed(layers):
            self.finish_back(y, y.index < 2 and model == "GAT")  # aggregate_back was there, or no activation is
            if y.index or model == "GAT":
                self.transpose(y)
            backward(y)
        parameters = sum(p.parameters(model) for p in layers)
        self.per_turn("update", "parameter", parameters, bytes=28 * parameters)

    # ---- models: trainer/net/models.c, line by line ------------------------------------------------------------------
    def gcn(self, y):
        self.per_turn("scale_gcn", "node", y.sources if y.index else y.targets, bytes=24 * (y.sources if y.index else y.targets))
        self.lists(f"reduce_lists<sum_op<{y.rows},true>,4>", y.targets, y.edges, y.inp, y.sources, y.targets)
        self.product(y.targets, y.out, y.inp)

    def gcn_back(self, y):
        self.product(y.inp, y.out, y.targets)
        if y.index:
            self.product(y.targets, y.inp, y.out)
            self.lists_back(y, y.inp, y.targets, True)

    def sage(self, y):
        if y.index:
            self.lists("reduce_lists<own_and_mean,4>", y.targets, y.edges, y.inp, y.sources, y.targets, y.targets)
        else:
            self.gather(y.targets, y.inp)
            self.lists("reduce_lists<sum_op<store_rows<float>,false>,4>", y.targets, y.edges, y.inp, y.sources)
        self.product(y.targets, y.out, 2 * y.inp)

    def sage_back(self, y):
        self.product(2 * y.inp, y.out, y.targets)
        if y.index:
            self.product(y.targets, 2 * y.inp, y.out)
            self.lists_back(y, y.inp, y.targets, True)

    def gat(self, y):
        if not y.index:
            self.gather(y.sources, y.inp)
        self.product(y.sources, y.wide, y.inp)
        self.scores(y)
        self.attention(y, y.targets)

    def gat_back(self, y):
        self.attention_back(y, y.targets)
        self.vector_sums(y)
        self.product(y.inp, y.wide, y.sources)
        if y.index:
            self.product(y.sources, y.inp, y.wide)

    def vector_sums(self, y):
        kernel, columns = self.wide(y, "vector_sums")
        segments = math.ceil(y.sources / ROWS)
        self.per_turn(kernel, "row_chunk", segments * y.wide / columns, min(ROWS, y.sources),
                      bytes=4 * y.sources * (y.wide + y.heads) + 4 * y.targets * y.heads)
        self.join("add_segments", 2 * y.wide, segments)


class Layer(namedtuple("Layer", "index targets sources edges inp out heads")):
    wide = property(lambda y: y.out)  # columns of all heads together: the hidden width is that
    rows = property(lambda y: "matrix_rows" if y.index else "store_rows<float>")

    def parameters(self, model):
        return self.inp * self.out * (2 if model == "GraphSAGE" else 1) + self.out * (3 if model == "GAT" else 1)


# ---- a launch on a GPU -----------------------------------------------------------------------------------------------


def blocks_of(limits, kernel, gpu):
    """Blocks of 256 threads that a processor holds."""
    k = limits[kernel, "whole"]
    registers = 8 * math.ceil(k["regs"] / 8)
    return int(min(2048 // BLOCK, 65536 // (BLOCK * registers), 1024 * gpu["shared"] // (k["smem"] + 1024)))


def times_of(launch, limits, gpu):
    """{what: microseconds}"""
    fit = math.inf if launch.kernel == "product" else gpu["processors"] * blocks_of(limits, launch.kernel, gpu) * BLOCK
    rows = launch.row * (min(launch.edges, launch.distinct) if launch.row * launch.distinct <= 1e6 * gpu["cache"] else launch.edges)
    return {"memory": (launch.bytes + rows) / gpu["copy"] / 1e6 + 64 * launch.atoms / gpu["random"] / 1e6,
            "issue": launch.threads / WARP * launch.insns / (4e3 * gpu["processors"] * gpu["clock"]),
            "trips": gpu["launch"] + max(1, launch.threads / fit) * launch.trips * gpu["trip"],
            "matmul": launch.flops / gpu["matmul"] / 1e6}


def microseconds(step, inputs, gpu):
    return sum(max(times_of(l, step.limits, inputs["gpu", gpu]).values()) for l in step.all)


# ---- cases of ggnn-bench ---------------------------------------------------------------------------------------------

# Name, case, what it launches: those of the sizes of products' batch, whose graph the bench's is like.
CASES = [
    ("sample", "fisher-yates, 14000 nodes, fanout 10", lambda l: l.fisher_yates(l.nodes[1], l.edges[2], 16, False)),
    ("sample", "fisher-yates, 130000 nodes, fanout 5", lambda l: l.fisher_yates(l.nodes[2], l.edges[3], 8, False)),
    ("block", "1024 seeds, direct, 15 launches", lambda l: l.sample(True)),
    ("block", "1024 seeds, last hop global, direct, 13 launches", lambda l: l.sample(False)),
    ("gather", "400 B x 100000 of 8.59 GB, 1 part", lambda l: l.gather(100000, 100)),
    ("gather", "1024 B x 100000 of 8.59 GB, 1 part", lambda l: l.gather(100000, 256)),
    ("input", "one pass, F 100, 14000 x 5", lambda l: l.lists("reduce_lists<sum_op<store_rows<float>,false>,4>", 14000, 70000, 100, 70000)),
    ("input", "one pass, F 100, 130000 x 5", lambda l: l.lists("reduce_lists<sum_op<store_rows<float>,false>,4>", 130000, 650000, 100, 502000)),
    ("spmm", "sum, F 256, 14000 x 10", lambda l: l.lists("reduce_lists<sum_op<matrix_rows,false>,4>", 14000, 140000, 256, 130000)),
    ("spmm", "mean, F 256, 130000 x 5", lambda l: l.lists("reduce_lists<sum_op<matrix_rows,false>,4>", 130000, 650000, 256, 502000)),
    ("gat", "forward 4 x 64, 14000 x 10", lambda l: l.attention(Layer(1, 14000, 130000, 140000, 256, 256, 4), 0)),
    ("gat", "forward 4 x 64, 130000 x 5", lambda l: l.attention(Layer(1, 130000, 502000, 650000, 256, 256, 4), 0)),
    ("gat", "backward 4 x 64, 14000 x 10", lambda l: l.attention_back(Layer(1, 14000, 130000, 140000, 256, 256, 4), 0)),
    ("gat", "backward 4 x 64, 130000 x 5", lambda l: l.attention_back(Layer(1, 130000, 502000, 650000, 256, 256, 4), 0)),
    ("adam", "8.78 M parameters, 16 updates", lambda l: [l.per_turn("update", "parameter", 8.78e6, bytes=28 * 8.78e6) for _ in range(16)]),
]


def cases(inputs, limits):
    """Lines: name, case; then of each GPU the microseconds, and how many per cent of them memory takes."""
    gpus = [name for kind, name in inputs if kind == "gpu"]
    yield "name\tcase\t" + "\t".join(f"{gpu} us\t{gpu} %" for gpu in gpus)
    for name, case, launch in CASES:
        launches = Launches(limits, inputs["batch", "products"])
        launch(launches)
        cells = [name, case]
        for gpu in gpus:
            times = [times_of(l, limits, inputs["gpu", gpu]) for l in launches.all]
            us = sum(max(t.values()) for t in times)
            cells += [f"{us:.1f}", f"{100 * sum(t['memory'] for t in times) / us:.0f}"]
        yield "\t".join(cells)


# ---- tables ----------------------------------------------------------------------------------------------------------

# What a reader looks for: family, kernel, the unit whose instructions and loads are shown, and what that is.
FAMILIES = [
    ("sampling, fanout 5", "fisher_yates<8,u32,true>", "row", "pass: 4 lists"),
    ("sampling, fanout 15 and 10", "fisher_yates<16,u32,true>", "row", "pass: 2 lists"),
    ("numbers: is it the first", "flag_firsts", "id", "id"),
    ("relabel", "relabel", "edge", "edge"),
    ("gather of stored rows", "copy_rows<float,float,4,false,stored_rows<int,false>>", "chunk", "chunk"),
    ("gather and mean, fused", "reduce_lists<sum_op<store_rows<float>,false>,4>", "edge_chunk", "edge and chunk"),
    ("gather and weighted sum, fused", "reduce_lists<sum_op<store_rows<float>,true>,4>", "edge_chunk", "edge and chunk"),
    ("mean, own row beside it", "reduce_lists<own_and_mean,4>", "edge_chunk", "edge and chunk"),
    ("its backward, through relu", "reduce_lists<back_op<through_layer>,4>", "four_lists", "four lists and chunk"),
    ("weighted sums", "reduce_lists<sum_op<matrix_rows,true>,4>", "edge_chunk", "edge and chunk"),
    ("transpose: fill", "fill_transpose", "edge", "edge"),
    ("scores", "scores<4>", "pair", "chunk"),
    ("attention", "reduce_lists<gat_op<false,false>,4>", "powers", "edge and chunk"),
    ("attention, backward", "gat_gradients<4,false,false>", "head", "entry and head"),
    ("its rows, through the scores", "reduce_lists<back_op<through_scores>,4>", "four_lists", "four lists and chunk"),
    ("vectors, backward", "vector_sums<4>", "row_chunk", "row and chunk"),
    ("and their join", "add_segments", "segment", "segment"),
    ("bias, ReLU, dropout", "finish<4>", "fields", "element"),
    ("their backward", "finish_back<4>", "fields", "element"),
    ("sums over rows", "column_sums", "row", "row"),
    ("and their join", "add_column_sums", "segment", "segment"),
    ("loss", "loss_rows", "row", "row"),
    ("Adam", "update", "parameter", "parameter"),
]


def family_rows(steps, inputs, gpu):
    limits = steps[0].limits
    for what, kernel, unit, what_of in FAMILIES:
        k, loop = limits[kernel, "whole"], limits[kernel, unit]
        step, launch = max(((s, l) for s in steps for l in s.all if l.kernel == kernel),
                           key=lambda pair: max(times_of(pair[1], limits, inputs["gpu", gpu]).values()))
        times = times_of(launch, limits, inputs["gpu", gpu])
        rules = max(times, key=times.get)
        yield (what, f"`{kernel}`", f"{loop['insns']:g} per {what_of}", f"{loop['flight']:g}: {loop['bytes']:g} B",
               f"{k['regs']:g}; {blocks_of(limits, kernel, inputs['gpu', gpu])}", f"{step.model}: {times[rules]:.0f}",
               rules, f"{100 * times['memory'] / times[rules]:.0f} %")


def table(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def page(inputs, limits):
    steps = [Step(model, limits, inputs["batch", "products"]) for model in ("GCN", "GraphSAGE", "GAT")]
    gpus = [name for kind, name in inputs if kind == "gpu"]
    epoch = inputs["batch", "products"]["steps"]
    rows = []
    for s in steps:
        us = [microseconds(s, inputs, gpu) for gpu in gpus]
        rows.append([f"{s.model}, {len(s.all)} launches"] + [f"{each / 1000:.2f} ms; {each * epoch / 1e6:.2f} s" for each in us])
    predicted = table(["predicted"] + [f"{gpu}: a step; an epoch" for gpu in gpus], rows)
    families = table(["family, predicted", "kernel", "instructions", "loads in flight", "registers; blocks",
                      "largest launch, us", "bound by", "of the memory's roof"], family_rows(steps, inputs, gpus[0]))
    return f"""{MARKS[0]}
{predicted}

{families}
{MARKS[1]}"""


def launches(inputs, limits):
    for model in ("GCN", "GraphSAGE", "GAT"):
        step = Step(model, limits, inputs["batch", "products"])
        for kind, gpu in inputs:
            if kind == "gpu":
                print(f"{model} on {gpu}: {microseconds(step, inputs, gpu):.0f} us, predicted")
                for l in step.all:
                    times = times_of(l, limits, inputs["gpu", gpu])
                    print(f"  {l.kernel:52}", "  ".join(f"{what} {us:6.1f}" for what, us in times.items()), " ", max(times, key=times.get))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--launches", action="store_true")
    p.add_argument("--cases", action="store_true")
    p.add_argument("--write", action="store_true")
    args = p.parse_args()
    inputs, limits = read_inputs(), read_limits()
    if args.launches:
        launches(inputs, limits)
    elif args.cases:
        print(*cases(inputs, limits), sep="\n")
    elif args.write:
        text = "\n".join(lines_of(PAGE)) + "\n"
        before, after = text[: text.index(MARKS[0])], text[text.index(MARKS[1]) + len(MARKS[1]) :]
        with open(PAGE, "w") as file:
            file.write(before + page(inputs, limits) + after)
    else:
        print(page(inputs, limits))


if __name__ == "__main__":
    main()
