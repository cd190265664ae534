"""table.py - from measurements to the table of ratios, and to the lines that are kept. The standard library only."""

from rows import FOUND, TUNED

# A line is ours, which has what the row asks for, or a rival's. Ratios follow from them.
ROW = ("kernel", "size", "unit", "target", "against", "git", "date", "moved")
MEASURED = ("name", "heap", "seconds", "work", "peak_bytes", "process_seconds", "threads", "workers", "accuracy")
MEASURED += ("skipped", "wrong", "notes")
COLUMNS = ROW[:2] + MEASURED[:2] + ROW[2:] + MEASURED[2:]
HEADS = ("graph", "date", "machine", "threads", "device", "versions")  # of a run; the date is that of its newest row
OURS = "ours"


def per_work(result, unit="ms"):
    """What is compared: seconds a unit of work, seconds of a process, or bytes."""
    if unit == "MiB":
        return result["peak_bytes"]
    if unit == "process":
        return result["process_seconds"]
    return result["seconds"] / (result.get("work") or 1)


def ours_of(candidates, unit="ms"):
    """The median of our measurements, of an even number the slower of the two in the middle: nothing is claimed
    that only one of them showed."""
    known = sorted((c for c in candidates if c and "skipped" not in c), key=lambda c: per_work(c, unit))
    return known[len(known) // 2] if known else None


def rival_of(runs, unit="ms"):
    """The median of a rival's measurements, the faster in the middle; one that is wrong or missing stands for
    all."""
    for run in runs:
        if "wrong" in run or "skipped" in run:
            return run
    known = sorted(runs, key=lambda r: per_work(r, unit))
    return dict(known[(len(known) - 1) // 2], rounds=[per_work(r, unit) for r in runs])


def disturbed(candidates, unit="ms"):
    """What to say where our measurements of the same differ by over a quarter; else None."""
    values = [per_work(c, unit) for c in candidates if c and "skipped" not in c]
    if not values or max(values) <= 1.25 * min(values):
        return None
    return f"ours moved by {max(values) / min(values):.2f}x between two measurements"


def ratio(ours, theirs, unit="ms"):
    """How many times ours is as fast, or as small, at equal work."""
    if not ours or "skipped" in theirs or "wrong" in theirs or per_work(ours, unit) <= 0:
        return None
    return per_work(theirs, unit) / per_work(ours, unit)


def shown(result, unit="ms"):
    """Milliseconds, or MiB, with three digits or more."""
    if not result or "skipped" in result:
        return "-"
    value = (
        result["peak_bytes"] / 2**20
        if unit == "MiB"
        else 1e3 * per_work(result, unit) * (result.get("work") or 1 if unit == "ms" else 1)
    )
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.3g}"


def best(row, *heaps):
    """The least ratio against the rival that the target names, as their best counts; None where there is none."""
    values = [
        m["ratio"]
        for m in row["rivals"]
        if m["ratio"] is not None and m["name"].startswith(row["against"]) and heap_of(m) in (heaps or (FOUND, TUNED))
    ]
    return min(values) if values else None


def verdict(row):
    """(the least ratio with either heap, "met", "below" or "")."""
    value = best(row)
    return value, "" if value is None or row["target"] is None else "met" if value >= row["target"] else "below"


def heap_of(measured):
    return TUNED if measured.get("heap") in (TUNED, "kept") else FOUND  # "kept" was its name in older results


def pairs(row):
    """(heap as found, heap tuned) of each rival, in their order; None where that was not measured."""
    found = {}
    for m in row["rivals"]:
        found.setdefault(m["name"], [None, None])[heap_of(m) == TUNED] = m
    return list(found.values())


def remarks(row, measured):
    """What a reader must know of this line: why there is nothing, whether it is the same work, how it was
    got."""
    if "skipped" in measured:
        return measured["skipped"]
    words = [measured["wrong"]] if "wrong" in measured else []
    if measured is row["rivals"][0] and row.get("disturbed"):
        words.append(row["disturbed"])
    if "accuracy" in measured:
        words.append(f"accuracy {100 * measured['accuracy']:.1f} %")
    return "; ".join(words + measured.get("notes", []))


def tuned_remark(both):
    """Why there is no ratio with the tuned heap, where there is one as found."""
    found, tuned = both
    return "tuned heap: " + (tuned.get("skipped") or tuned["wrong"]) if found and tuned and tuned["ratio"] is None else ""


def figures(measured, unit):
    """Two cells: the time and the ratio; empty where nothing was measured."""
    if measured is None:
        return "", ""
    return shown(measured, unit), "-" if measured["ratio"] is None else f"{measured['ratio']:.2f}x"


def said(row):
    """A row in one line, for the progress."""
    ours = shown(row["ours"], row["unit"])
    rivals = [
        m["name"] + (" tuned " if heap_of(m) == TUNED else " ") + shown(m, row["unit"])
        + (f" ({m['ratio']:.2f}x)" if m["ratio"] else "")
        for m in row["rivals"]
    ]
    return f"{row['kernel']}, {row['size']}: ours {ours}; " + ", ".join(rivals)


def lines(rows):
    """The table as text: a line a rival, its heap as found first, beside it tuned."""
    head = ("kernel", "size", "ours", "rival", "theirs", "ratio", "tuned", "ratio", "target", "", "T", "workers", "remarks")
    body = []
    for row in rows:
        least, word = verdict(row)
        for i, both in enumerate(pairs(row)):
            unit, m = row["unit"], both[0] or both[1]
            decisive = least is not None and least in [each["ratio"] for each in both if each]
            body.append(
                (
                    row["kernel"] if i == 0 else "",
                    row["size"] if i == 0 else "",
                    shown(row["ours"], unit) if i == 0 else "",
                    m["name"],
                    *figures(both[0], unit),
                    *figures(both[1], unit),
                    f"{row['target']:g}x" if decisive and row["target"] else "",
                    word if decisive else "",
                    str(m.get("threads", "")),
                    str(m.get("workers", "")),
                    "; ".join(filter(None, [remarks(row, m), tuned_remark(both)])),
                )
            )
    width = [max(len(line[c]) for line in [head] + body) for c in range(len(head) - 1)]
    text = [
        "  ".join(
            [
                cell.ljust(w) if c in (0, 1, 3, 9) else cell.rjust(w)
                for c, (cell, w) in enumerate(zip(line, width))
            ]
            + [line[-1]]
        ).rstrip()
        for line in [head] + body
    ]
    return [text[0], "-" * len(text[0])] + text[1:]


def runs_of(results):
    """Each kernel and size's rows in several results, in their order."""
    runs = {}
    for result in results:
        for row in result["rows"]:
            runs.setdefault((row["kernel"], row["size"]), []).append(row)
    return list(runs.values())


def merged(results):
    """Rows of several results: the last of each kernel and size."""
    return [rows[-1] for rows in runs_of(results)]


def lines_of(rows):
    """A dictionary a line, of COLUMNS: of ours the measurement that counts, memory and processes where a row is of those."""
    for row in rows:
        ours = dict(row["ours"] or {}, name=OURS, **{key: row.get(key) for key in ROW[:-1]}, moved=row.get("disturbed"))
        for measured in [ours] + [dict(m, kernel=row["kernel"], size=row["size"]) for m in row["rivals"]]:
            left = [key for key, unit in (("peak_bytes", "MiB"), ("process_seconds", "process")) if row["unit"] != unit]
            yield dict(measured, notes="; ".join(measured.get("notes") or []), **dict.fromkeys(left))


def rows_of(lines):
    """The rows of such lines, with their ratios."""
    rows = []
    for line in lines:
        measured = {key: line[key] for key in MEASURED if line.get(key) is not None}
        measured["notes"] = [line["notes"]] if line.get("notes") else []
        if line["name"] == OURS:
            ours = measured if "seconds" in measured else None
            rows.append(dict({key: line.get(key) for key in ROW}, disturbed=line.get("moved"), ours=ours, rivals=[]))
        elif not rows or (rows[-1]["kernel"], rows[-1]["size"]) != (line["kernel"], line["size"]):
            raise ValueError(f"{line['kernel']}, {line['size']}: {line['name']} stands under no line of ours")
        else:
            rows[-1]["rivals"].append(dict(measured, ratio=ratio(rows[-1]["ours"], measured, rows[-1]["unit"])))
    return rows


def kept(runs, result):
    """Runs of a file with those of a result: of each graph a run, whose rows are the newest of each kernel and size."""
    rows = [dict(row, git=result["git"], date=result["date"][:10]) for row in result["rows"]]
    before = next((run for run in runs if run["graph"] == result["graph"]), {"versions": {}, "rows": []})
    new = {key: result[key] for key in HEADS}
    new.update(versions={**before["versions"], **result["versions"]}, rows=merged([before, {"rows": rows}]))
    return [new if run is before else run for run in runs] + [new] * (before not in runs)


def side_by_side(row, found, tuned):
    """A rival in a cell: its time with the heap as found, then tuned; or why there is none."""
    if found and found["ratio"] is None:
        return f"{found['name']}: {remarks(row, found)}"
    if tuned is None or (found and tuned["ratio"] is None):
        return f"{found['name']} {shown(found, row['unit'])}"
    if tuned["ratio"] is None:
        return f"{tuned['name']}: {remarks(row, tuned)}"
    return f"{tuned['name']} " + (f"{shown(found, row['unit'])}, " if found else "") + f"tuned {shown(tuned, row['unit'])}"


def earlier_ratio(row):
    """That of the heap as found; where only the tuned one was measured, of that, which it says."""
    lead, tuned = best(row, FOUND), best(row, TUNED)
    return f"{lead:.2f}x" if lead else f"tuned {tuned:.2f}x" if tuned else ""


def markdown(results):
    """The table for a document: a line a row, as the last result has it, with all rivals, or why one did not answer;
    what earlier results gave beside it, as a machine that others share never gives the same twice."""
    text = ["| kernel | size | ours | rivals | ratio | tuned heap | earlier | aim |", "|---|---|---|---|---|---|---|---|"]
    for *earlier, row in runs_of(results):
        word = verdict(row)[1]
        lead, tuned = best(row, FOUND), best(row, TUNED)
        unit = "ms" if row["unit"] == "process" else row["unit"]
        rivals = [side_by_side(row, *both) for both in pairs(row)]
        cells = (
            row["kernel"],
            row["size"],
            f"{shown(row['ours'], row['unit'])} {unit}",
            "; ".join(rivals),
            f"{lead:.2f}x {row['against']}" if lead else "",
            f"{tuned:.2f}x {row['against']}" if tuned else "",
            ", ".join(filter(None, map(earlier_ratio, earlier))),
            (f"{row['target']:g}x" if row["target"] else "") + (" **missed**" if word == "below" else ""),
        )
        text.append("| " + " | ".join(cells) + " |")
    return text


def goals(results):
    """The same of results of ggnn-bench: the last one's comparisons that have an aim."""
    text = ["| bench | case | T | against | ratio | earlier | aim |", "|---|---|---|---|---|---|---|"]

    def key(r):
        return r["bench"], r["case"], str(r["threads"]), r["of"]

    for r in results[-1]["ratios"]:
        if r["goal"]:
            before = [old["ratio"] for result in results[:-1] for old in result["ratios"] if key(old) == key(r)]
            cells = (
                *key(r),
                f"{r['ratio']:.2f}x",
                ", ".join(f"{value:.2f}x" for value in before),
                f"{r['goal']:.3g}x" + (" **missed**" if r["ratio"] < r["goal"] else ""),
            )
            text.append("| " + " | ".join(cells) + " |")
    return text
