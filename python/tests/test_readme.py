"""README's ten lines, as they stand there."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import torch_geometric
except ImportError:
    raise unittest.SkipTest("torch or torch_geometric is not installed")

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CORA = os.path.join(ROOT, "..", "shared", "data", "planetoid")


class Readme(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(os.path.join(CORA, "ind.cora.x")), "../shared/data/planetoid is not there")
    def test_its_lines_train_on_cora(self):
        with open(os.path.join(ROOT, "README.md")) as file:
            code = re.search(r"```python\n(.*?)```", file.read(), re.S).group(1)
        self.assertLessEqual(len([line for line in code.split("\n\n")[1].splitlines() if line]), 10)
        with tempfile.TemporaryDirectory() as folder:
            raw = os.path.join(folder, "data", "Cora", "raw")
            os.makedirs(raw)
            for name in os.listdir(CORA):
                if name.startswith("ind.cora."):
                    os.symlink(os.path.join(os.path.abspath(CORA), name), os.path.join(raw, name))
            done = subprocess.run([sys.executable, "-W", "ignore", "-c", "import torch\ntorch.manual_seed(4)\n" + code], cwd=folder, capture_output=True,
                                  text=True, timeout=600, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(float(re.search(r"tensor\((.*)\)", done.stdout).group(1)), .79)


if __name__ == "__main__":
    unittest.main()
