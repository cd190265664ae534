"""The reader of .ggnn files and the table, with the standard library alone:

python3 -m unittest discover -s bench/rivals
"""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import environments  # noqa: E402
import rows  # noqa: E402
import run  # noqa: E402
import table  # noqa: E402

reader = environments.source_of("libggnn", "file")
ENTRY, MAGIC, crc32c, read_table = reader.ENTRY, reader.MAGIC, reader.crc32c, reader.read_table

TOOL = os.path.join(environments.ROOT, "build", "ggnn-data")


def file_of(sections):
    """The bytes of a file: sections are (name, type, shape, data)."""
    table_, arrays, offset = b"", b"", 8192
    for name, kind, shape, data in sections:
        table_ += ENTRY.pack(
            name, kind, len(shape), *(list(shape) + [0] * 4)[:4], offset, len(data), crc32c(data), 0
        )
        data += bytes(-len(data) % 4096)
        arrays += data
        offset += len(data)
    start = struct.pack("<8sIIqI", MAGIC, 1, len(sections), offset, 0)
    return (start + struct.pack("<I", crc32c(table_, crc32c(start))) + table_).ljust(8192, b"\0") + arrays


TWO = [
    (b"indptr", 3, (3,), struct.pack("<3q", 0, 1, 2)),
    (b"feat", 5, (2, 2), struct.pack("<4f", 1, 2, 3, 4)),
]


class Reader(unittest.TestCase):
    def test_crc_gives_the_known_answer(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)
        self.assertEqual(crc32c(b"6789", crc32c(b"12345")), 0xE3069283)

    def test_reads_names_shapes_and_places(self):
        found = read_table(file_of(TWO))
        self.assertEqual(
            [(s.name, s.dtype, s.shape, s.offset, s.bytes) for s in found.values()],
            [("indptr", "<i8", (3,), 8192, 24), ("feat", "<f4", (2, 2), 12288, 16)],
        )

    def test_skips_types_that_it_does_not_know(self):
        self.assertEqual(
            list(read_table(file_of(TWO + [(b"later", 99, (1,), b"12345678")]))), ["indptr", "feat"]
        )

    def test_rejects_what_is_damaged(self):
        whole = file_of(TWO)
        for bad in (
            b"",
            whole[:20],
            whole[:-1],
            b"x" + whole[1:],
            whole[:40] + b"\1" + whole[41:],
            whole[: 32 + 90] + b"\7" + whole[32 + 91 :],
        ):
            self.assertRaises(ValueError, read_table, bad)

    def test_rejects_a_section_that_leaves_the_file(self):
        for shape, data in (((4,), b"\0" * 24), ((-3,), b""), ((1 << 40,), b"\0" * 8)):
            self.assertRaises(ValueError, read_table, file_of([(b"indptr", 3, shape, data)]))

    @unittest.skipUnless(os.access(TOOL, os.X_OK), "no build/ggnn-data")
    def test_reads_what_ggnn_data_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "karate.ggnn")
            subprocess.run([TOOL, "generate", "karate", path], check=True, stdout=subprocess.DEVNULL)
            with open(path, "rb") as file:
                data = file.read()
        section = read_table(data)
        self.assertEqual((section["indptr"].shape, section["indices"].shape), ((35,), (156,)))
        for name, s in section.items():
            self.assertEqual(crc32c(data[s.offset : s.offset + s.bytes]), s.crc, name)
        self.assertEqual(struct.unpack_from("<35q", data, section["indptr"].offset)[-1], 156)


def measured(name, seconds, **more):
    return dict(
        {"name": name, "seconds": seconds, "work": 2.0, "peak_bytes": 4 << 20, "process_seconds": 3.0}, **more
    )


def row(ours, rivals, **more):
    done = dict(
        {"kernel": "SpMM", "size": "F 32", "target": 2.5, "against": "DGL", "unit": "ms", "ours": ours},
        **more
    )
    done["rivals"] = [dict(m, ratio=table.ratio(ours, m, done["unit"])) for m in rivals]
    return done


class Table(unittest.TestCase):
    def test_the_slower_of_ours_counts(self):
        a, b = measured("ours", 0.010), measured("ours", 0.012)
        self.assertIs(table.ours_of([a, b, None, {"skipped": "no ggnn-bench"}]), b)
        self.assertIsNone(table.ours_of([{"skipped": "no ggnn-bench"}]))

    def test_of_several_rounds_the_medians_count(self):
        a, b, c, d = [measured("x", seconds) for seconds in (0.010, 0.012, 0.030, 0.040)]
        self.assertIs(table.ours_of([c, a, b]), b)
        self.assertIs(table.ours_of([d, a, c, b]), c)
        self.assertEqual(table.rival_of([d, a, c, b])["seconds"], 0.012)
        self.assertEqual(table.rival_of([c, a, b])["rounds"], [0.015, 0.005, 0.006])  # a unit of work
        missing, wrong = {"name": "DGL", "skipped": "crashed"}, measured("DGL", 0.1, wrong="rows differ")
        self.assertIs(table.rival_of([a, missing]), missing)
        self.assertIs(table.rival_of([a, wrong, b]), wrong)

    def test_a_disturbed_machine_is_named(self):
        a, b = measured("ours", 0.010), measured("ours", 0.013)
        self.assertEqual(table.disturbed([a, b]), "ours moved by 1.30x between two measurements")
        self.assertIsNone(table.disturbed([a, measured("ours", 0.012)]))
        self.assertIsNone(table.disturbed([b, {"skipped": "no ggnn-bench"}]))

    def test_ratios_are_at_equal_work(self):
        self.assertAlmostEqual(table.ratio(measured("ours", 0.010), measured("DGL", 0.060, work=4.0)), 3)
        self.assertAlmostEqual(
            table.ratio(measured("ours", 1, peak_bytes=100), measured("DGL", 1, peak_bytes=250), "MiB"), 2.5
        )
        self.assertAlmostEqual(
            table.ratio(measured("ours", 1), measured("DGL", 1, process_seconds=6.0), "process"), 2
        )

    def test_wrong_or_missing_answers_have_no_ratio(self):
        self.assertIsNone(table.ratio(measured("ours", 0.010), {"name": "DGL", "skipped": "not installed"}))
        self.assertIsNone(table.ratio(measured("ours", 0.010), measured("DGL", 0.1, wrong="rows differ")))
        self.assertIsNone(table.ratio(None, measured("DGL", 0.1)))

    def test_how_a_script_ended_is_said(self):
        self.assertEqual(run.ended(None, "no end after 180 s"), "no end after 180 s")
        self.assertEqual(run.ended(-9, "no message"), "killed by SIGKILL (no memory?)")
        self.assertEqual(run.ended(1, "ImportError"), "ended with 1: ImportError")

    def test_a_document_gets_a_line_a_row(self):
        rivals = [measured("DGL", 0.040), measured("DGL int64", 0.020), {"name": "torch", "skipped": "crashed"}]
        last = {"rows": [row(measured("ours", 0.010), rivals)]}
        first = {"rows": [row(measured("ours", 0.005), rivals)]}
        line = "| SpMM | F 32 | 10.0 ms | DGL 40.0; DGL int64 20.0; torch: crashed | 2.00x DGL |%s 2.5x **missed** |"
        self.assertEqual(table.markdown([last])[2:], [line % "  |"])
        self.assertEqual(table.markdown([first, last])[2:], [line % " 4.00x |"])

    def test_comparisons_with_an_aim_get_a_line_each(self):
        def result(value):
            of = {"bench": "unique", "case": "direct map", "threads": 1, "of": "a plain table"}
            return {"ratios": [dict(of, ratio=value, goal=4), dict(of, case="hash", ratio=1, goal=None)]}

        line = "| unique | direct map | 1 | a plain table |"
        self.assertEqual(table.goals([result(4.5)])[2:], [line + " 4.50x |  | 4x |"])
        self.assertEqual(table.goals([result(4.5), {"ratios": []}])[2:], [])
        self.assertEqual(table.goals([result(4.5), result(3)])[2:], [line + " 3.00x | 4.50x | 4x **missed** |"])

    def test_the_best_variant_decides_the_target(self):
        ours = measured("ours", 0.010)
        self.assertEqual(
            table.verdict(
                row(
                    ours,
                    [measured("DGL int32", 0.030), measured("DGL fused", 0.020), measured("torch", 0.011)],
                )
            ),
            (2.0, "below"),
        )
        self.assertEqual(
            table.verdict(row(ours, [measured("DGL", 0.030), measured("torch", 0.011)])), (3.0, "met")
        )
        self.assertEqual(
            table.verdict(row(ours, [{"name": "DGL", "skipped": "no"}, measured("torch", 0.011)])), (None, "")
        )

    def test_every_rival_has_a_line(self):
        text = table.lines(
            [
                row(
                    measured("ours", 0.010),
                    [
                        measured("DGL", 0.030, threads=2, notes=["int32"]),
                        {"name": "pyg-lib", "skipped": "cannot be installed"},
                    ],
                )
            ]
        )
        self.assertEqual(len(text), 4)
        self.assertRegex(text[2], r"^SpMM +F 32 +10\.0 +DGL +30\.0 +3\.00x +2\.5x +met +2 +int32$")
        self.assertRegex(text[3], r"^ +pyg-lib +- +- +cannot be installed$")

    def test_bytes_are_shown_as_mebibytes(self):
        self.assertEqual(table.shown(measured("ours", 1), "MiB"), "4")
        self.assertEqual(table.shown(measured("ours", 0.1234), "ms"), "123")
        self.assertEqual(table.shown({"skipped": "x"}), "-")


class Lines(unittest.TestCase):
    """What --save keeps: the newest of each row of a graph, as lines, of which the same table follows."""

    def result(self, graph, git, seconds, size="200"):
        rivals = [
            measured("DGL", 3 * seconds, threads=2, notes=["int32", "by CSR, or not"], samples=[1]),
            measured("DGL fused", 0.04, wrong="rows differ"),
            {"name": "torch", "skipped": "crashed", "process_seconds": 1.5},
        ]
        ours = measured("ours", seconds, accuracy=0.8125, samples=[1, 2])
        rows_ = [row(ours, rivals, size=size), row(None, rivals[:1], size="no ours")]
        rows_ += [row(ours, rivals[:1], kernel="memory", unit="MiB")]
        same = {"date": "2026-01-02T03:04:05Z", "machine": {"cpu": "x"}, "threads": 2, "device": "cpu"}
        return dict(same, ggnn_rivals=1, graph=graph, git=git, versions={"DGL": {"dgl": git}}, rows=rows_)

    def kept(self, *results):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rivals-x.csv")
            for result in results:
                run.keep(result, path)
            return run.read_results(path)

    def test_lines_have_the_table_of_the_json(self):
        result = self.result("g", "abc", 0.0123456)
        (found,) = self.kept(result)
        self.assertEqual(table.lines(found["rows"]), table.lines(result["rows"]))
        self.assertEqual(table.markdown([found]), table.markdown([result]))
        self.assertEqual([(r["git"], r["date"], r["size"]) for r in found["rows"]][0], ("abc", "2026-01-02", "200"))
        self.assertEqual([m.get("peak_bytes") for m in found["rows"][0]["rivals"]], [None] * 3)

    def test_of_a_row_the_newest_counts_and_graphs_are_apart(self):
        found = self.kept(self.result("g", "old", 0.5), self.result("h", "other", 0.25), self.result("g", "new", 0.125, "F 32"))
        self.assertEqual([f["graph"] for f in found], ["g", "h"])
        self.assertEqual(
            [(r["kernel"], r["size"], r["git"]) for r in found[0]["rows"]],
            [("SpMM", "200", "old"), ("SpMM", "no ours", "new"), ("memory", "F 32", "new"), ("SpMM", "F 32", "new")],
        )
        self.assertEqual(found[0]["versions"], {"DGL": {"dgl": "new"}})

    def test_a_rival_without_ours_above_it_is_refused(self):
        lines = list(table.lines_of(self.result("g", "abc", 0.5)["rows"]))
        with self.assertRaisesRegex(ValueError, "SpMM, 200: DGL stands under no line of ours"):
            table.rows_of(lines[1:])


class Rows(unittest.TestCase):
    def test_scripts_exist_and_cases_are_told_apart(self):
        for quick in (False, True):
            seen = set()
            for r in rows.all_rows(quick):
                self.assertNotIn((r.case, r.unit), seen)
                seen.add((r.case, r.unit))
                for who in r.rivals:
                    self.assertTrue(os.path.exists(os.path.join(environments.HERE, who.script)), who)
                    self.assertTrue(os.path.exists(environments.requirements(who.environment)), who)
                if r.target:
                    self.assertTrue(any(who.name.startswith(r.against) for who in r.rivals), r.kernel)


if __name__ == "__main__":
    unittest.main()
