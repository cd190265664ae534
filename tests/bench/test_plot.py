"""Tests of bench/plot.py --roofline: results by hand."""
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
if importlib.util.find_spec("matplotlib"):
    import plot
    from matplotlib.colors import to_rgba


def result(case, flops, size, median, rival=False, threads=2):
    return {"bench": "spmm", "case": case, "threads": threads, "flops": flops, "bytes": size, "median": median, "rival": rival}


def roof(name, value, threads=2, size=0):
    return {"name": name, "size": size, "threads": threads, "value": value}


RUN = {
    "ggnn_bench": 1,
    "date": "2026-01-01",
    "machine": {"cpu": "a processor", "device": "", "threads": 2},
    "roofs": [roof("copy", 100.0), roof("madd", 400.0), roof("rows", 9.0, size=128), roof("copy", 50.0, 1), roof("madd", 7.0, 4)],
    "results": [result("mean", 600.0, 300.0, 3.0), result("plain loop", 600.0, 300.0, 6.0, True), result("gather", 0, 300.0, 1.0)],
}


LINES = """# ggnn_bench: 1
# date: "2026-01-01"
# machine: {"cpu":"a processor","device":"","threads":2}
# roofs
name,size,threads,unit,value,measured
copy,0,2,B,100,1
madd,0,2,FLOP,400,1
# results
bench,case,threads,rival,bytes,flops,median
spmm,mean,2,,300,600,3
# end
"""


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
class Rivals(unittest.TestCase):
    """A row of three libraries; of DGL's the best variant counts, of each heap."""

    def row(self):
        rivals = [("DGL int32", "tuned", 2.0), ("DGL int32", "as found", 4.0), ("DGL int64", "as found", 3.0), ("torch", "tuned", 5.0)]
        rivals += [("torch.compile index_add", "as found", 6.0), ("torch.compile CSR", "as found", 7.0), ("SciPy", "as found", None)]
        names = [dict(name=name, heap=heap, ratio=ratio) for name, heap, ratio in rivals]
        return {"kernel": "SpMM", "size": "F 32", "target": 2.5, "against": "DGL", "rivals": names}

    def test_the_heap_as_found_comes_first_and_the_tuned_one_is_pale(self):
        run = dict(RUN, rows=[self.row()], threads=2)
        found, labels = plot.rival_bars(run)
        self.assertEqual(
            found,
            [
                (0.0, 3.0, "DGL", 2.5, False),
                (1.0, 2.0, "DGL", 2.5, True),
                (2.0, 6.0, "torch.compile", None, False),
                (3.0, 5.0, "torch", None, True),
            ],
        )
        self.assertEqual(labels, [(1.5, "SpMM, F 32")])
        bars = plot.draw_rivals(run).axes[0].patches
        self.assertEqual([bar.get_facecolor()[3] < 1 for bar in bars], [False, True, False, True])
        self.assertEqual(bars[0].get_facecolor()[:3], bars[1].get_facecolor()[:3])


@unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
class Roofline(unittest.TestCase):
    def drawn(self, run):
        return plot.draw_roofline(run).axes[0]

    def test_a_point_has_operations_per_byte_and_per_second(self):
        self.assertEqual(
            plot.roofline_points(RUN),
            [("spmm: mean, 2 T", "spmm", 2.0, 200.0, False), ("spmm: plain loop, 2 T", "spmm", 2.0, 100.0, True)],
        )

    def test_roofs_are_those_that_one_number_of_threads_has_both_of(self):
        self.assertEqual(plot.roofs_by_threads(RUN), {2: (100.0, 400.0)})

    def test_the_slope_meets_the_ceiling_at_the_ridge(self):
        line = self.drawn(RUN).lines[0]
        self.assertEqual(list(line.get_xdata()), [1.0, 4.0, 16.0])
        self.assertEqual(list(line.get_ydata()), [100.0, 400.0, 400.0])

    def test_rivals_are_hollow_and_all_are_named(self):
        axes = self.drawn(RUN)
        mean, plain = axes.lines[1:]
        self.assertEqual(plain.get_markerfacecolor(), "none")
        self.assertEqual(to_rgba(mean.get_markerfacecolor()), to_rgba(mean.get_color()))
        words = [text.get_text() for text in axes.texts]
        for word in ("1 spmm: mean, 2 T", "2 spmm: plain loop, 2 T", "copy 100.0 B/s, 2 T", "madd 400.0 FLOP/s, 2 T"):
            self.assertIn(word, words)

    def run_main(self, text, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.csv" if text.startswith("#") else "run.json")
            with open(path, "w") as file:
                file.write(text)
            out, why = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(why):
                try:
                    status = plot.main(["--roofline", path] + [word.replace("FOLDER", folder) for word in words])
                except SystemExit as end:
                    status = end.code
            pictures = {
                name: xml.etree.ElementTree.parse(os.path.join(folder, name)).getroot().tag
                for name in os.listdir(folder)
                if name.endswith(".svg")
            }
            return status, pictures, why.getvalue()

    def test_out_names_the_picture_or_its_folder(self):
        status, pictures, _ = self.run_main(json.dumps(RUN), "--out", "FOLDER/picture.svg")
        self.assertEqual((status, pictures), (0, {"picture.svg": "{http://www.w3.org/2000/svg}svg"}))
        status, pictures, _ = self.run_main(json.dumps(RUN), "--out", "FOLDER")
        self.assertEqual((status, list(pictures)), (0, ["roofline.svg"]))
        status, pictures, why = self.run_main(json.dumps(RUN), "--out", "FOLDER/x.svg", "--log", "no.jsonl")
        self.assertEqual((status, pictures), (2, {}))
        self.assertIn("is one picture, of --roofline alone", why)

    def test_lines_are_drawn_as_json_is(self):
        status, pictures, why = self.run_main(LINES, "--out", "FOLDER")
        self.assertEqual((status, list(pictures)), (0, ["roofline.svg"]), why)
        status, pictures, _ = self.run_main(LINES[: -len("# end\n")], "--out", "FOLDER")
        self.assertIn("run.csv: line 11: the file ends before", status)

    def test_files_that_cannot_be_drawn_say_why(self):
        status, _, _ = self.run_main(json.dumps(dict(RUN, roofs=RUN["roofs"][:1])), "--out", "FOLDER")
        self.assertIn("run.json: no roofs copy and madd at 2 threads", status)
        status, _, _ = self.run_main("{", "--out", "FOLDER")
        self.assertIn("run.json: ", status)
        status, _, _ = self.run_main("[]", "--out", "FOLDER")
        self.assertIn('run.json: has no "ggnn_bench"', status)
        status, pictures, _ = self.run_main(json.dumps(dict(RUN, results=[])), "--out", "FOLDER")
        self.assertEqual((status, pictures), (1, {}))


if __name__ == "__main__":
    unittest.main()
