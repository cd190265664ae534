"""The page of `make docs` against what compilers say of the headers: python3 -B -m unittest discover -s tests/docs"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ALL = '#define GGNN_CUDA_API extern CUDA_FUNCTION\n#define GGNN_API extern C_FUNCTION\n#include "ggnn_plan.h"\n#include "ggnn_frontier.h"\n%s#include "datasets/ggnn_file.h"\n'
HEADERS = ("ggnn.h", "ggnn_plan.h", "ggnn_frontier.h", "ggnn_cuda.cuh", "ggnn_reference.h", "datasets/ggnn_file.h")


def written(root):
    """What api.py makes of the headers there, and what it says."""
    out = Path(root) / "page" / "API.html"
    said = subprocess.run([sys.executable, "-B", ROOT / "docs/api.py", out], cwd=root, capture_output=True, text=True)
    return out.read_text() if out.exists() else "", said


class Page(html.parser.HTMLParser):
    """Elements that are opened and closed in turn; ids, links, and per section its ids and the words of its contract."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.bad, self.other = [], [], [], [], []
        self.sections = []  # (ids, contract, code)
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in ("meta", "br"):
            self.open.append(tag)
        if tag == "section":
            self.sections.append([[], "", ""])
        if "id" in attrs:
            self.ids.append(attrs["id"])
            if "section" in self.open:
                self.sections[-1][0].append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag in ("script", "link", "img", "iframe") or "src" in attrs:
            self.other.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)

    def handle_data(self, data):
        if "section" in self.open:
            self.sections[-1][2 if "pre" in self.open else 1] += data


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            for header in HEADERS:
                os.makedirs((Path(folder) / header).parent, exist_ok=True)
                shutil.copy(ROOT / header, Path(folder) / header)
            cls.text, said = written(folder)
        assert said.returncode == 0, said.stderr
        cls.page = Page(cls.text)
        cls.contract = {i: (words, code) for ids, words, code in cls.page.sections for i in ids}

    def preprocessed(self, cuda, *options):
        """The headers as the compiler reads them."""
        compiler = os.environ.get("CXX", "c++") if cuda else os.environ.get("CC", "cc")
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        source = ALL % ('#include "ggnn_cuda.cuh"\n' if cuda else '#include "ggnn_reference.h"\n')
        run = subprocess.run([compiler, "-x", "c++" if cuda else "c", "-E", "-P", "-I.", *options, *(["-std=c++17", "-isystem", "simt"] if cuda else []), "-"],
                             cwd=ROOT, input=source, capture_output=True, text=True, check=True)
        return run.stdout

    def has_contracts(self, functions, at_least):
        self.assertGreaterEqual(len(functions), at_least)
        self.assertEqual(sorted(set(functions) - set(self.page.ids)), [])
        for name in functions:
            words, code = self.contract[name]
            beside = re.search(rf"\b{name}\(.*(//|/\*)", code)
            self.assertTrue(len(words.split()) >= 2 or beside, f"{name} has no contract: {words!r}")

    def test_the_page_is_well_formed_and_stands_alone(self):
        self.assertTrue(self.text.startswith("<!DOCTYPE html>"))
        self.assertEqual((self.page.bad, self.page.open, self.page.other), ([], [], []))
        self.assertFalse("http" in self.text)
        self.assertFalse("url(" in self.text)

    def test_what_is_no_api_is_not_there(self):
        self.assertNotIn("GGNN_X", self.page.ids)  # a macro that is undefined again
        for other in ("#pragma", "#include &lt;stddef.h&gt;", "#define GGNN_H\n", "ggnni_hop_numbers_are_256[", "extern &quot;C"):
            self.assertFalse("<pre>" + other in self.text or "\n" + other in self.text, other)
        self.assertEqual(re.findall(r"ggnni_\w+", self.text), [])

    def test_the_first_page_of_each_header_is_there(self):
        for words in ("WHAT IT DOES NOT DO", "ONE C or C++ file", "the CUDA twin of ggnn.h", "in the loops of its formula", "THE GUARANTEES", "A reader skips sections"):
            self.assertTrue(words in self.text, words)

    def test_ids_are_unique_and_every_link_leads_to_one(self):
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)))
        self.assertEqual(sorted({link for link in self.page.links if link[1:] not in self.page.ids}), [])

    def test_every_function_has_its_anchor_and_its_contract(self):
        text = self.preprocessed(False)
        self.has_contracts(re.findall(r"C_FUNCTION [^;(]*?\b(ggnn_\w+)\(", text), 95)
        inline = re.findall(r"static inline [^;(=]*?\b(ggnn_(?!ref_)\w+)\(", text)
        self.has_contracts(inline, 30)
        self.has_contracts(re.findall(r"^[\w* ]+?\b(ggnn_file_\w+)\(", text, re.M), 20)

    def test_every_function_of_the_reference_has_its_anchor(self):
        names = set(re.findall(r"static inline [^;(=]*?\b(ggnn_ref_\w+)\(", self.preprocessed(False)))
        self.assertGreater(len(names), 30)
        self.assertEqual(sorted(names - set(self.page.ids)), [])

    def test_every_cuda_function_has_its_anchor_and_its_contract(self):
        self.has_contracts(re.findall(r"CUDA_FUNCTION [^;(]*?\b(ggnn_cuda_\w+)\(", self.preprocessed(True)), 70)

    def test_every_type_and_macro_has_its_anchor(self):
        types = set(re.findall(r"(?:struct|\}) (ggnn_(?!ref_)\w+)(?= ?[{;])", self.preprocessed(True)))
        self.assertGreater(len(types), 50)
        self.assertEqual(sorted(types - set(self.page.ids)), [])
        macros = {m for m in re.findall(r"#define (GGNN_\w+)", self.preprocessed(False, "-dM")) if not re.fullmatch(r"GGNN_\w*(H|CUH|REF)", m)}
        self.assertGreater(len(macros), 15)
        self.assertEqual(sorted(macros - set(self.page.ids)), [])

    def test_contracts_are_the_headers_words(self):
        self.assertIn("Sparse-dense product over a block", self.contract["ggnn_spmm"][0])
        self.assertIn("GGNN_ERROR_CAPACITY", self.contract["ggnn_sample"][0])
        self.assertIn("The identity of the graph", self.contract["ggnn_file_graph_crc"][0])
        self.assertNotIn("Sparse-dense", self.contract["ggnn_gather"][0])
        self.assertNotIn("return", self.contract["ggnn_mul_high"][1] + self.contract["ggnn_type_bytes"][1])  # of inline functions no body
        self.assertIn("ggnn_ref_add(&sum", self.contract["ggnn_ref_gat"][1] + self.contract["ggnn_ref_gat_back"][1])  # but of the reference's

    def refused(self, change, message):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(Path(folder) / "datasets")
            for header in HEADERS:
                text = (ROOT / header).read_text()
                if header == "ggnn.h":
                    self.assertNotEqual(text, change(text))
                    text = change(text)
                (Path(folder) / header).write_text(text)
            page, said = written(folder)
            self.assertNotEqual(said.returncode, 0)
            self.assertEqual(page, "")
            self.assertIn(message, said.stderr)

    def test_a_function_without_a_contract_is_named(self):
        self.refused(lambda t: t.replace("// The graph that built lists are. They must outlive it.\n", ""), "ggnn.h: ggnn_graph_from_lists has no contract")

    def test_a_header_without_its_end_is_named(self):
        self.refused(lambda t: t.replace("// ==== BEHIND THE API", "// ==== BEHIND"), 'ggnn.h: no line begins with "// ==== BEHIND THE API"')


if __name__ == "__main__":
    unittest.main()
