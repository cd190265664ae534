"""line_file.py - reads results: JSON, or the lines that ggnn-bench --csv writes and bench/results keeps, by the form of
bench/README.md; writes lines of bench/rivals. The standard library only."""

import csv
import io
import json
import os

TEXT = {"bench", "case", "name", "unit", "of", "roof"}  # columns whose values are words, whatever they look like
TEXT |= {"kernel", "heap", "against", "git", "date", "skipped", "wrong", "moved", "notes"}  # and of rivals' rows: their size
INNER = "in_turns"  # columns "in_turns.share" and so on are members of an object of the entry
YES = {"rival", "cold", "disturbed"}  # "true", or nothing
TABLES = ("roofs", "results", "ratios", "notes", "figures")  # of ggnn-bench; empty where a file has none
FIGURE_KEYS = ("bench", "case", "unit", "label")


class Bad(ValueError):
    """What is wrong with a file: its name, the line, the value."""


def number(text):
    value = float(text)
    return int(value) if value.is_integer() and "e" not in text and "." not in text else value


def demand(text):
    """A roof and its size."""
    roof, _, size = text.rpartition(" ")
    return {"roof": roof, "size": number(size)}


def cell(table, column, text):
    if column in YES:
        return text == "true"
    if column == "demands":
        return [demand(each) for each in text.split(";") if each]
    if column in TEXT or (table, column) == ("rows", "size") or not text:
        return text or None
    return number(text)


def entry(table, names, values):
    """A line as the JSON has it; the object is None where all of its columns are empty."""
    found, inner = {}, {}
    for name, text in zip(names, values):
        before, dot, member = name.partition(".")
        within = bool(dot) and before == INNER
        (inner if within else found)[member if within else name] = cell(table, member if within else name, text)
    if inner:
        found[INNER] = inner if any(value is not None for value in inner.values()) else None
    return found


def figures(key, names, values):
    """A row of figures: each a dictionary, as the JSON has them."""
    for column, text in zip(names[1:], values[1:]):
        value, _, note = text.partition(" ")
        figure = dict(zip(FIGURE_KEYS, key), row=values[0], column=column, value=number(value) if value else None)
        yield dict(figure, note=note) if note else figure


class Reader:
    """Takes line after line; `runs` are dictionaries as the JSON's."""

    def __init__(self, mark):
        self.mark, self.runs, self.heads = mark, [], {}
        self.run = self.title = self.key = self.names = None

    def begin_run(self):
        if self.run is not None:
            raise ValueError("a run begins before the one above has its end")
        self.run, self.title = {}, None
        self.heads.pop("run", None)  # a name is of its run alone

    def read_head(self, line):
        key, colon, value = line[2:].partition(": ")
        value = json.loads(value) if colon else None
        if colon and key != "figures":
            self.heads[key] = value
        else:
            self.title, self.key, self.names = key, value, None
            self.run.setdefault(key, [])

    def read_values(self, line):
        values = next(csv.reader([line]))
        if self.title is None:
            raise ValueError("stands in no table")
        if self.names is None:
            self.names = values
        elif len(values) != len(self.names):
            raise ValueError(f"{len(values)} values under {len(self.names)} names")
        elif self.key:
            self.run[self.title] += figures(self.key, self.names, values)
        else:
            self.run[self.title].append(entry(self.title, self.names, values))

    def read_line(self, line):
        if line.startswith(f"# {self.mark}: "):
            self.begin_run()
        if self.run is None:
            raise ValueError(f"a run begins with '# {self.mark}: 1'")
        if line == "# end":
            self.runs.append({**self.heads, **self.run})
            self.run = None
        elif line.startswith("#"):
            self.read_head(line)
        else:
            self.read_values(line)


def runs_of(text, mark):
    reader, lines = Reader(mark), text.split("\n")
    for place, line in enumerate(lines[:-1], 1):
        try:
            reader.read_line(line)
        except (ValueError, csv.Error) as why:
            raise Bad(f"line {place}: {line[:60]!r}: {why}") from None
    if reader.run is not None or lines[-1]:
        raise Bad(f"line {len(lines)}: the file ends before '# end'")
    return reader.runs


def read(path, mark="ggnn_bench"):
    """The runs of a file, each with its name: one of JSON, one or several of lines. Bad or OSError: why not."""
    with open(path) as file:
        text = file.read()
    try:
        runs = runs_of(text, mark) if text.startswith("# ") else [json.loads(text)]
    except ValueError as why:
        raise Bad(f"{path}: {why}") from None
    if not all(isinstance(run, dict) and mark in run for run in runs):
        raise Bad(f'{path}: has no "{mark}"')
    name = os.path.splitext(os.path.basename(path))[0]
    empty = {key: [] for key in TABLES}
    return [{**empty, **run, "run": run.get("run") or name} for run in runs]


def written(value):
    if value is None or value is False:
        return ""
    if value is True:
        return "true"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.7g}"


def write(path, mark, runs, table, columns):
    """Runs with one table: heads are all other members."""
    out = io.StringIO()
    lines, above = csv.writer(out, lineterminator="\n"), {}
    for run in runs:
        heads = {key: value for key, value in run.items() if key not in (table, mark)}
        print(f"# {mark}: 1", file=out)
        for key, value in heads.items():
            if key not in above or above[key] != value:
                print(f"# {key}: {json.dumps(value, separators=(',', ':'), ensure_ascii=False)}", file=out)
        print(f"# {table}", file=out)
        lines.writerow(columns)
        lines.writerows([written(row.get(column)) for column in columns] for row in run[table])
        print("# end", file=out)
        above = heads
    with open(path + ".new", "w") as file:
        file.write(out.getvalue())
    os.replace(path + ".new", path)
