"""Every command of .github/workflows/ci.yml is one of .ci/run's or the Makefile's: python3 -B -m unittest discover -s tests/docs"""
import re
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    yaml = None

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / ".github/workflows/ci.yml"


def commands(text):
    """What each `run:` says, a command each. Of several lines or none: not in this file."""
    found = re.findall(r"^ *(?:- )?run: *(.*)$", text, re.M)
    return [one.strip() for said in found for one in re.split(r"&&|\|\||[;|&]", said)]


def unknown(text):
    """Those that are neither .ci/run, a target that `make help` shows, nor an installation by apt-get."""
    makefile = (ROOT / "Makefile").read_text()
    targets = {name for line in re.findall(r"^([a-z][a-z0-9 -]*):[^=\n]*# ", makefile, re.M) for name in line.split()}
    variables = set(re.findall(r"\$\((\w+)\)", makefile))
    own = set(re.findall(r'"" \| (\w+)\)', (ROOT / ".ci/run").read_text()))

    def known(command):
        words = command.split()
        if words[:1] == ["make"]:
            return len(words) > 1 and all(w in targets or w.partition("=")[0] in variables and "=" in w for w in words[1:])
        if words[:1] == [".ci/run"]:
            return set(words[1:]) <= own
        return words[:2] in (["apt-get", "update"], ["apt-get", "install"])

    return [c for c in commands(text) if not known(c)]


class Workflow(unittest.TestCase):
    def setUp(self):
        self.text = FILE.read_text()

    def test_every_command_is_the_projects(self):
        self.assertGreaterEqual(len(commands(self.text)), 5)
        self.assertEqual(unknown(self.text), [])
        self.assertTrue((ROOT / ".ci/run").stat().st_mode & 0o100)

    def test_other_commands_are_found(self):
        for bad in ("make everything", "make", "make check NO_SUCH=1", "pip install numpy", "make check; curl x", "make check && sh x", ".ci/run fast", "|", ""):
            self.assertEqual(len(unknown(self.text + f"      - run: {bad}\n")), 1 + (bad == "|"), bad)

    def test_each_job_runs_in_debian(self):
        jobs = re.findall(r"^  (\w+):$", self.text.partition("\njobs:\n")[2], re.M)
        self.assertEqual(jobs, ["gcc", "clang", "aarch64"])
        self.assertEqual(re.findall(r"^ +image: (.*)$", self.text, re.M), ["debian:12"] * 3)
        self.assertTrue("make aarch64" in commands(self.text) and ".ci/run" in commands(self.text))

    def test_it_is_yaml(self):
        self.assertFalse("\t" in self.text)
        for number, line in enumerate(self.text.split("\n"), 1):
            self.assertEqual((len(line) - len(line.lstrip(" "))) % 2, 0, f"line {number}")
        if not yaml:
            self.skipTest("PyYAML is not installed")
        jobs = yaml.safe_load(self.text)["jobs"]
        steps = [s for job in jobs.values() for s in job["steps"]]
        self.assertTrue(all(job["container"]["image"] and job["runs-on"] for job in jobs.values()))
        self.assertTrue(all(set(s) in ({"run"}, {"uses"}) for s in steps))
        self.assertEqual([s["run"] for s in steps if "run" in s], commands(self.text))


if __name__ == "__main__":
    unittest.main()
