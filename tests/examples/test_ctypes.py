"""examples/batch_ctypes.py: its structures are those of ggnn.h, field by field; and it runs:

python3 -m unittest discover -s tests
"""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(ROOT, "examples", "batch_ctypes.py")
CC = shutil.which(os.environ.get("CC", "cc"))
try:
    import numpy as np
except ImportError:
    np = None
    sys.modules["numpy"] = types.ModuleType("numpy")  # structures need none

spec = importlib.util.spec_from_file_location("batch_ctypes", EXAMPLE)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
if np is None:
    del sys.modules["numpy"]

STRUCTURES = ["Count", "Layout", "Csc", "Graph", "Walks", "Sampling", "Rng", "Block", "Fault", "Batch"]


@unittest.skipIf(CC is None, "no C compiler")
class Ctypes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def made(self, name, *options, source=None):
        path = os.path.join(self.folder.name, name)
        subprocess.run([CC, *options, "-I" + ROOT, "-o", path, "-x", "c", source or "-", "-lm"], input=self.text, text=True, check=True)
        return path

    def test_every_field_lies_where_c_has_it(self):
        lines, ours = [], []
        for name in STRUCTURES:
            kind = getattr(example, name)
            c = "ggnn_" + name.lower()
            lines.append(f'printf("{name} %zu\\n", sizeof({c}));')
            ours.append(f"{name} {ctypes.sizeof(kind)}")
            for field, of in kind._fields_:
                lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({c}, {field}), sizeof((({c}*)0)->{field}));')
                ours.append(f"{name}.{field} {getattr(kind, field).offset} {ctypes.sizeof(of)}")
        self.text = '#include "ggnn.h"\n#include <stdio.h>\nint main(void)\n{\n' + "\n".join(lines) + "\nreturn 0;\n}\n"
        theirs = subprocess.run([self.made("layout")], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(theirs.splitlines(), ours)

    @unittest.skipIf(np is None, "NumPy is not installed")
    def test_it_samples_neighbours(self):
        self.text = None
        library = self.made("libggnn.so", "-shared", "-fPIC", "-O1", "-DGGNN_IMPLEMENTATION", source=os.path.join(ROOT, "ggnn.h"))
        done = subprocess.run([sys.executable, "-B", EXAMPLE, library], stdout=subprocess.PIPE, text=True, check=True)
        self.assertTrue(done.stdout.endswith("every sampled neighbour is one\n"))


if __name__ == "__main__":
    unittest.main()
