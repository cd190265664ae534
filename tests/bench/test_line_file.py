"""Tests of bench/line_file.py: lines by hand, and those that ggnn-bench compact makes of JSON."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import line_file  # noqa: E402

TOOL = os.path.join(ROOT, "build", "ggnn-bench")
RESULT = {
    "bench": "spmm", "case": "5", "threads": 2, "rival": False, "cold": True, "unit": "edges", "work": 33554432, "bytes": 7.5,
    "flops": 0, "median": 0.5, "least": 0.25, "most": 0.75, "samples": [1, 2], "roof": None, "roof_size": 0, "share": None,
    "disturbed": False,
    "demands": [{"roof": "copy", "size": 0}, {"roof": "rows", "size": 512}],
}  # fmt: skip
RUN = {
    "ggnn_bench": 1,
    "git": "1e5",
    "machine": {"cpu": "a \"processor\"", "threads": 2},
    "left": [],
    "roofs": [{"name": "copy", "size": 0, "threads": 1, "unit": "B", "value": 2811132345678.0, "measured": 1}],
    "results": [RESULT, dict(RESULT, case="a, \"b\"", rival=True, share=0.125, roof="copy", demands=[])],
    "ratios": [
        dict({"bench": "spmm", "case": "5", "threads": 2, "of": "1", "ratio": 1.25}, goal=None, turns=0, lower=None, upper=None)
    ],
    "notes": [{"bench": "spmm", "case": "5", "threads": 2, "name": "x", "value": 1e-9, "unit": "s"}],
    "figures": [
        {"bench": "cache", "case": case, "row": row, "column": column, "value": value, "unit": "%", "label": "counted"}
        for case, row, column, value in (
            ("5", "a", "1", 1), ("5", "a", "2", None), ("5", "#", "1", 2.5), ("5", "#", "2", 3), ("6", "a", "1", 4)
        )
    ],
}
RUN["figures"][0]["note"] = "red"


class LineFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    @unittest.skipUnless(os.access(TOOL, os.X_OK), "build/ggnn-bench is not built")
    def test_what_compact_makes_of_json_is_read_as_the_json(self):
        one, two = self.path("one.json", json.dumps(RUN)), self.path("two.json", json.dumps(dict(RUN, git="y", left=None)))
        lines = self.path("all.csv")
        subprocess.run([TOOL, "compact", one, two, "--csv", lines], check=True)
        first, second = line_file.read(lines)
        results = [dict(r, samples=2) for r in RUN["results"]]
        self.assertEqual(first, dict(RUN, run="one", results=results))
        self.assertEqual(second, dict(RUN, run="two", git="y", left=None, results=results))
        self.assertEqual(line_file.read(one)[0], dict(RUN, run="one"))

    @unittest.skipUnless(os.access(TOOL, os.X_OK), "build/ggnn-bench is not built")
    def test_what_was_measured_in_turns_is_an_object(self):
        turns = {"roof": "rows", "roof_size": 128, "share": 0.25, "lower": 0.125, "upper": 0.5, "turns": 9, "thrown": 2}
        none = dict(turns, roof=None, roof_size=0, share=None, lower=None, upper=None, turns=0, thrown=45)
        results = [dict(RESULT, case=str(i), samples=2, in_turns=each) for i, each in enumerate((turns, None, none))]
        lines = self.path("turns.csv")
        run = dict(RUN, results=[dict(r, samples=[1, 2]) for r in results])
        subprocess.run([TOOL, "compact", self.path("turns.json", json.dumps(run)), "--csv", lines], check=True)
        self.assertEqual(line_file.read(lines)[0]["results"], results)

    def test_what_is_wrong_is_named_with_line_and_value(self):
        for text, why in (
            ("# ggnn_bench: 1\n# results\nbench,work\nspmm\n# end\n", "bad.csv: line 4: 'spmm': 1 values under 2 names"),
            ("# ggnn_bench: 1\n# results\nbench,work\nspmm,x\n# end\n", "bad.csv: line 4: 'spmm,x': could not convert"),
            ("# ggnn_bench: 1\nspmm,x\n# end\n", "bad.csv: line 2: 'spmm,x': stands in no table"),
            ("# ggnn_bench: 1\n# results\n", "bad.csv: line 3: the file ends before '# end'"),
            ("# ggnn_bench: 1\n# git: x\n# end\n", "bad.csv: line 2: '# git: x': Expecting value"),
            ("# ggnn_bench: 1\n# ggnn_bench: 1\n# end\n", "a run begins before the one above has its end"),
            ("# ggnn_rivals: 1\n# end\n", "a run begins with '# ggnn_bench: 1'"),
            ("{}", 'bad.csv: has no "ggnn_bench"'),
            ("{", "bad.csv: Expecting"),
        ):
            with self.assertRaises(line_file.Bad) as found:
                line_file.read(self.path("bad.csv", text))
            self.assertIn(why, str(found.exception))

    def test_what_is_written_is_read(self):
        rows = [
            {"kernel": "a, b", "size": "200", "seconds": 0.1234567, "work": 12345678, "moved": None},
            {"kernel": "c", "size": "F 3", "seconds": 1e-7, "work": 2, "moved": "much"},
        ]
        runs = [{"graph": "g", "threads": 2, "rows": rows}, {"graph": "h", "threads": 2, "rows": []}]
        path = self.path("rows.csv")
        line_file.write(path, "ggnn_rivals", runs, "rows", ("kernel", "size", "seconds", "work", "moved"))
        found = line_file.read(path, "ggnn_rivals")
        self.assertEqual([{key: run[key] for key in runs[0]} for run in found], runs)
        self.assertEqual(os.listdir(self.folder), ["rows.csv"])


if __name__ == "__main__":
    unittest.main()
