"""Tests of bench/plot.py: rows of a user's own partition and ranking, in results by hand."""
import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
if HAS_MATPLOTLIB:
    import plot

DATA = {"nodes": 10, "edges": 20, "train": 5}
OPTIONS = {"devices": 0, "topology": None, "with": None}


def figures(bench, case, row, values):
    return [{"bench": bench, "case": case, "row": row, "column": column, "value": value} for column, value in values.items()]


def split_result(own):
    """own: the number of parts of a user's partition, or 0."""
    rows = ["mod", "mincut"] + (["own: mine"] if own else [])
    found = []
    for case in ("redundant edges", "extra input rows"):
        found += figures("split", case, "data parallel", {f"P = {p}": 10 * p for p in (2, 4, 8)})
    for case in ("local edges", "skew of edges"):
        for row in rows:
            found += figures("split", case, row, {f"P = {p}": p if not row.startswith("own") or p == own else None for p in (2, 4, 8)})
    for p in (2, 4, 8):
        for row in ["data parallel"] + rows:
            if not row.startswith("own") or p == own:
                found += figures("split", f"P = {p}, 256 hidden", row, {column: p for column in plot.SPLIT_COLUMNS})
    return {"figures": found, "data": DATA}


def texts(labels):
    return [label.get_text() for label in labels]


@unittest.skipUnless(HAS_MATPLOTLIB, "matplotlib is not installed")
class Plot(unittest.TestCase):
    def test_a_partition_of_ones_own_is_drawn_whatever_its_number_of_parts(self):
        for own in (0, 2, 4, 8):
            figure = plot.draw_split(split_result(own))
            parts = own or 4
            rows = ["data parallel", "mod", "mincut"] + (["own: mine"] if own else [])
            self.assertEqual(texts(figure.axes[0].get_yticklabels()), rows)
            self.assertEqual(figure.axes[0].get_title(loc="left"), f"MB a batch, P = {parts}, 256 hidden")
            self.assertIn(f"Over {parts} devices data parallel computes {10 * parts} % more", figure.get_suptitle())
            widths = [bar.get_width() for bar in figure.axes[0].patches]
            self.assertEqual(widths, [parts] * len(rows) * len(plot.SPLIT_COLUMNS))
            for panel in figure.axes[1:]:
                points = {line.get_label(): list(line.get_xydata().tolist()) for line in panel.lines}
                for p in (2, 4, 8):
                    self.assertEqual(points[f"P = {p}"], [[p, 1], [p, 2]] + ([[p, 3]] if p == own else []))
            plot.plt.close(figure)

    def test_a_ranking_of_ones_own_has_a_line_and_a_colour(self):
        policies = ["degree", "aligraph", "presc", "optimal", "dual", "random", "own: mine"]
        found = []
        for case in ("uniform 5", "walk 5"):
            for at, policy in enumerate(policies):
                if case != "walk 5" or policy != "dual":
                    found += figures("cache", case, policy, {"1 %": at, "10 %": 10 + at})
        figure = plot.draw_hits({"figures": found, "data": DATA})
        self.assertEqual(texts(figure.axes[0].get_legend().get_texts()), policies)
        colours = {line.get_label(): line.get_color() for line in figure.axes[0].lines}
        self.assertEqual(len(set(colours.values())), len(policies))
        for panel in figure.axes:
            for line in panel.lines:
                self.assertEqual(line.get_color(), colours[line.get_label()])
                at = policies.index(line.get_label())
                self.assertEqual(line.get_xydata().tolist(), [[1, at], [10, 10 + at]])
        plot.plt.close(figure)

    def test_a_store_says_by_what_it_is_ranked(self):
        found = []
        for case, columns, _, _ in plot.STORE_PANELS:
            found += figures("store", case, "base", {column: 1 for column in columns})
        sweep = figures("store", "memory by devices", "1 device", {"lists": 1, "rows": 1})
        sweep += figures("store", "rows by devices", "1 device", {"own": 1, "peer": 1, "host": 1})
        sweep += figures("store", "time by devices", "1 device", {"base": 1, "CliqueOpt": 1})
        old = {key: value for key, value in OPTIONS.items() if key != "with"}
        for rows in (found, sweep):
            for options, end in ((dict(OPTIONS, **{"with": "mine.rank"}), "dgx-1v, ranked by mine.rank"), (OPTIONS, "dgx-1v"), (old, "dgx-1v")):
                figure = plot.draw_store({"figures": rows, "data": DATA, "options": options})
                self.assertTrue(figure.get_suptitle().endswith(end), figure.get_suptitle())
                plot.plt.close(figure)


if __name__ == "__main__":
    unittest.main()
