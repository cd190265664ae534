"""The reader of .ggnn files and the table, with the standard library alone:

python3 -m unittest discover -s bench/rivals
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

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
        line = "| SpMM | F 32 | 10.0 ms | DGL 40.0; DGL int64 20.0; torch: crashed | 2.00x DGL |  | %s | 2.5x **missed** |"
        self.assertEqual(table.markdown([last])[2:], [line % ""])
        self.assertEqual(table.markdown([first, last])[2:], [line % "4.00x"])

    def test_the_heap_as_found_leads_and_the_tuned_one_stands_beside_it(self):
        tuned = measured("DGL", 0.020, heap="tuned")
        both = row(measured("ours", 0.010), [measured("DGL", 0.030, heap="as found"), tuned])
        line = "| SpMM | F 32 | 10.0 ms | DGL 30.0, tuned 20.0 | 3.00x DGL | 2.00x DGL | %s | 2.5x **missed** |"
        self.assertEqual(table.markdown([{"rows": [both]}])[2:], [line % ""])
        old = row(measured("ours", 0.010), [measured("DGL", 0.025, heap="kept")])
        self.assertEqual(table.markdown([{"rows": [old]}, {"rows": [both]}])[2:], [line % "tuned 2.50x"])
        self.assertEqual((table.best(both, "as found"), table.best(both, "tuned")), (3, 2))
        self.assertEqual((table.best(old, "as found"), table.best(old, "tuned")), (None, 2.5))
        text = table.lines([both])
        self.assertEqual(len(text), 3)
        self.assertRegex(text[2], r" DGL +30\.0 +3\.00x +20\.0 +2\.00x +2\.5x +below$")
        self.assertIn("DGL 30.0 (3.00x), DGL tuned 20.0 (2.00x)", table.said(both))

    def test_a_tuned_run_without_a_ratio_is_explained(self):
        found, ours = measured("DGL", 0.030, heap="as found"), measured("ours", 0.010)
        killed = {"name": "DGL", "heap": "tuned", "skipped": "killed"}
        self.assertRegex(table.lines([row(ours, [found, killed])])[2], r" 30\.0 +3\.00x +- +- .* tuned heap: killed$")
        wrong = measured("DGL", 0.020, heap="tuned", wrong="rows differ")
        self.assertRegex(table.lines([row(ours, [found, wrong])])[2], r" 20\.0 +- .* tuned heap: rows differ$")
        self.assertIn("| DGL 30.0 |", table.markdown([{"rows": [row(ours, [found, killed])]}])[2])
        self.assertIn("| DGL: killed |", table.markdown([{"rows": [row(ours, [killed])]}])[2])

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
            measured("DGL", 3 * seconds, threads=2, heap="as found", notes=["int32", "by CSR, or not"], samples=[1]),
            measured("DGL", 2 * seconds, threads=2, heap="tuned"),
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
        self.assertEqual([m.get("peak_bytes") for m in found["rows"][0]["rivals"]], [None] * 4)
        self.assertEqual([m.get("heap") for m in found["rows"][0]["rivals"]], ["as found", "tuned", None, None])

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
    def rivals_of(self, kernel, size):
        return [who.name for r in rows.all_rows() if (r.kernel, r.size) == (kernel, size) for who in r.rivals]

    def test_spmm_has_a_row_for_each_way_to_compile_it_and_for_torch_sparse(self):
        compiled = ["torch.compile index_add", "torch.compile scatter_reduce", "torch.compile CSR", "torch.compile PyG's layer"]
        for kernel in ("SpMM sum", "SpMM mean"):
            for size in ("F 32", "F 128"):
                names = self.rivals_of(kernel, size)
                self.assertEqual([n for n in names if n.startswith("torch.compile")], compiled)
                self.assertIn("PyG torch-sparse", names)

    def test_loaders_and_samplers_have_a_row_for_each_of_pygs_libraries(self):
        (loaders,) = [r for r in rows.all_rows() if r.case == "loader:plain"]
        variants = {who.name: who.variant for who in loaders.rivals}
        for name in ("torch-sparse", "pyg-lib"):
            self.assertIn("PyG " + name, self.rivals_of("sample + relabel", "15,10,5, batch 1024"))
            kind = name.replace("torch-sparse", "pyg-sparse")
            self.assertEqual(variants["PyG " + name], kind)
            self.assertEqual(variants[f"PyG {name}, workers"], kind + "-workers")

    def test_what_allocates_is_measured_with_both_heaps(self):
        for r in rows.all_rows():
            for who in r.rivals:
                alone = r.kernel.startswith(("gather", "GEMM")) or "memory" in r.kernel or "ours" in who.name
                self.assertEqual(rows.heaps_of(r, who), ("as found",) if alone else ("as found", "tuned"), (r, who))

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


class Ours(unittest.TestCase):
    """ours.py calls ggnn.h by names and layouts of its own."""

    def text(self, *path):
        with open(os.path.join(environments.ROOT, *path)) as file:
            return file.read()

    def test_what_it_calls_is_declared(self):
        declared = set(re.findall(r"\b(ggnn_\w+)\(", "".join(re.findall(r"GGNN_API [^;{]*", self.text("ggnn.h")))))
        called = set(re.findall(r"\blib\.(ggnn_\w+)", self.text("bench", "rivals", "ours.py")))
        self.assertGreater(len(called), 8)
        self.assertEqual(called - declared, set())

    def test_its_layer_of_attention_has_the_members_of_the_header(self):
        body = re.search(r"typedef struct ggnn_gat_layer \{(.*?)\} ggnn_gat_layer;", self.text("ggnn.h"), re.S)[1]
        members = re.findall(r"(\w+);", re.sub(r"//.*", "", body))
        layer = re.search(r"class GatLayer.*?\n    \]", self.text("bench", "rivals", "ours.py"), re.S)[0]
        self.assertEqual([name.rstrip("_") for name in re.findall(r'\("(\w+)"', layer)], members)


class Rounds(unittest.TestCase):
    """run.py's turns, without a process: what is run in which order, and what is not tried again."""

    def turns(self, *words, fails=lambda name, heap, turn: False):
        """(all that was run, the table's rivals) of a row of three."""
        row_ = rows.Row("SpMM", "F 32", "spmm:sum:32", [rows.Rival(n, "dgl", "x.py") for n in ("A", "B")], None, "A")
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, GGNN_RIVALS=folder):
            r, done = run.Run(run.options(list(words))), []
            r.ours = lambda row, graph, again: [measured("ours", 1)]

            def rival(who, row, graph, heap):
                turn = done.count((who.name, heap))
                done.append((who.name, heap))
                result = {"skipped": "killed"} if fails(who.name, heap, turn) else measured("", 2.0 if heap == "tuned" else 3.0)
                return dict(result, heap=heap)

            r.rival = rival
            return done, r.measure(row_, "g", {})["rivals"]

    def test_the_heap_as_found_comes_first(self):
        done, rivals = self.turns("--rounds", "2")
        turn = [("A", "as found"), ("A", "tuned"), ("B", "as found"), ("B", "tuned")]
        self.assertEqual(done, 2 * turn)
        self.assertEqual([(m["name"], m["heap"]) for m in rivals], turn)
        self.assertEqual([m["ratio"] for m in rivals], [3, 2, 3, 2])

    def test_heap_found_spares_the_tuned_runs(self):
        self.assertEqual(self.turns("--heap", "found")[0], [("A", "as found"), ("B", "as found")])

    def test_what_did_not_run_is_not_tried_again(self):
        done, rivals = self.turns("--rounds", "2", fails=lambda name, heap, turn: name == "A")
        self.assertEqual(done, [("A", "as found")] + 2 * [("B", "as found"), ("B", "tuned")])
        self.assertEqual([m.get("skipped") for m in rivals], ["killed", None, None])

    def test_the_tuned_heap_is_that_of_the_c_library(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, GGNN_RIVALS=folder):
            r = run.Run(run.options([]))
            found, tuned = r.environment("as found"), r.environment("tuned")
        self.assertEqual(sorted(set(tuned) - set(found)), sorted(run.TUNED_HEAP))
        self.assertTrue(all(name.startswith("MALLOC_") for name in run.TUNED_HEAP))


if __name__ == "__main__":
    unittest.main()
