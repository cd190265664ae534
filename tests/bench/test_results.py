"""Tests of bench/results: what a reader looks at, and no more of it: python3 -B tests/bench/test_results.py"""
import glob
import os
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "bench", "rivals")]
from run import read_results  # noqa: E402

LIMIT = 400_000  # bytes of all files


def files_of(folder):
    return [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]


def size_of(folder):
    return sum(os.path.getsize(path) for path in files_of(folder))


def shown(root):
    """Pictures that pages show, as they lie."""
    pages = [glob.glob(os.path.join(root, name)) for name in ("*.md", "docs/*.md", "bench/*.md", "bench/*/*.md", "python/*.md")]
    for page in sum(pages, []):
        with open(page) as file:
            for target in re.findall(r"!\[[^]]*\]\(([^)#]+)\)", file.read()):
                yield os.path.normpath(os.path.join(os.path.dirname(page), target))


def hidden(root):
    """Pictures of bench/results that no page shows."""
    pictures = [path for path in files_of(os.path.join(root, "bench", "results")) if path.endswith(".svg")]
    return sorted(set(map(os.path.normpath, pictures)) - set(shown(root)))


def unnamed(folder):
    """Files that the folder's page does not name."""
    with open(os.path.join(folder, "README.md")) as file:
        page = file.read()
    paths = [path for path in files_of(folder) if not path.endswith((".svg", "README.md"))]
    return sorted(path for path in paths if os.path.relpath(path, folder) not in page)


class Results(unittest.TestCase):
    folder = os.path.join(ROOT, "bench", "results")

    def test_all_files_are_within_the_limit(self):
        self.assertLessEqual(size_of(self.folder), LIMIT)

    def test_every_picture_is_on_a_page(self):
        self.assertEqual(hidden(ROOT), [])

    def test_every_file_is_named_and_every_run_is_read(self):
        self.assertEqual(unnamed(self.folder), [])
        for path in glob.glob(os.path.join(self.folder, "*.csv")):
            runs = read_results(path)
            self.assertTrue(all(run.get("results") or run.get("figures") or run.get("rows") for run in runs), path)
            for run in runs:
                self.assertRegex(run.get("date"), r"^2\d{3}-\d\d-\d\d", path)
                self.assertTrue(run["machine"]["cpu"], path)

    def test_what_is_too_much_is_found(self):
        with tempfile.TemporaryDirectory() as root:
            folder = os.path.join(root, "bench", "results", "more")
            os.makedirs(folder)
            for name, text in (("seen.svg", "x" * 7), ("hid.svg", "x" * 5), ("a.csv", "")):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            with open(os.path.join(root, "bench", "results", "README.md"), "w") as file:
                file.write("`more/b.csv`, hid.svg ![it](more/seen.svg)")
            self.assertEqual(size_of(folder), 12)
            self.assertEqual(hidden(root), [os.path.join(folder, "hid.svg")])
            self.assertEqual(unnamed(os.path.dirname(folder)), [os.path.join(folder, "a.csv")])


if __name__ == "__main__":
    unittest.main()
