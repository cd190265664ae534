"""The scripts of docs/DATA.md that make a partition and a ranking of one's own, and the commands that take them."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build")

try:
    import numpy as np
except ImportError:
    np = None


def blocks():
    """(language, text) of the section's blocks."""
    with open(os.path.join(ROOT, "docs", "DATA.md"), encoding="utf-8") as page:
        section = page.read().split("### A partition and a ranking of your own\n")[1].split("\n### ")[0]
    return re.findall(r"^```(\w+)\n(.*?)^```", section, re.M | re.S)


@unittest.skipIf(np is None, "NumPy is not installed")
@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "ggnn-bench")), "build/ggnn-bench is not built")
class OwnPlans(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name
        os.symlink(BUILD, os.path.join(self.folder, "build"))

    def run_words(self, words):
        ran = subprocess.run(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(ran.returncode, 0, f"{words}: {ran.stderr}")

    def figures(self, name):
        with open(os.path.join(self.folder, name + ".json"), encoding="utf-8") as file:
            return {(f["case"], f["row"], f["column"]): f["value"] for f in json.load(file)["figures"]}

    def test_the_scripts_of_the_page_make_files_that_the_tools_take(self):
        self.run_words("build/ggnn-data generate citation F.ggnn --nodes 4000 --edges 32000 --features 4".split())
        for language, text in blocks():
            if language == "python":
                self.run_words([sys.executable, "-c", text])
            for line in text.splitlines() if language == "sh" else []:
                words = line.split("#")[0].split()
                self.run_words(words + (["--quick", "--json", words[1] + ".json"] if "ggnn-bench" in line else []))
        split, cache = self.figures("split"), self.figures("cache")
        local = [split["local edges", row, "P = 4"] for row in ("own: F.ggnn.part", "hash")]
        self.assertGreater(local[0], 1.5 * local[1])
        taken = [cache["uniform 5,4,3", row, "10 %"] for row in ("own: F.ggnn.rank", "random")]
        self.assertGreater(taken[0], 1.2 * taken[1])


if __name__ == "__main__":
    unittest.main()
