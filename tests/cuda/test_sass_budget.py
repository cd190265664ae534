"""Tests of tests/sass_budget.py on a kernel that a script in nvdisasm's place prints: figures by hand, and each failure's words."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import sass_budget  # noqa: E402

# Two rows a turn, from R2 and R10 on; the second is asked for before the first is used. Then an index, and what lies there.
CODE = """MOV R1,c[0x0][0x28]
LDG.E.128 R4,desc[UR4][R2.64]
LDG.E.128 R12,desc[UR4][R10.64]
FADD R20,R20,R4
FFMA R20,R12,R13,R20
LDG.E R22,desc[UR4][R24.64]
LDG.E R26,desc[UR4][R22.64]
IADD3 R20,R26,R20,RZ
@P0 BRA 0xb0
MATCH.ANY R30,R31
STG.E desc[UR4][R2.64],R20
@P1 BRA 0x10
EXIT"""
REPORT = """ptxas info    : Compiling entry function '{0}' for 'sm_90'
    0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 33 registers, used 1 barriers, 520 bytes smem
ptxas info    : Compiling entry function '{0}' for 'sm_80'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 99 registers
"""
NAME = "_ZN5ggnni3sumILi4ELb0EEEvPf"  # void ggnni::sum<4, false>(float*)


def instruction(line):
    words = line.split(" ")
    predicate = {"predicate": words.pop(0)} if line.startswith("@") else {}
    return {**predicate, "opcode": words[0], **({"operands": words[1]} if len(words) > 1 else {})}


class SassBudget(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        function = {"function-name": NAME, "start": 0, "length": 0, "sass-instructions": [instruction(l) for l in CODE.split("\n")]}
        self.write("json", json.dumps([{"SM": {"version": {"major": 9, "minor": 0}}}, [function]]))
        self.write("report", REPORT.format(NAME))
        self.write("nvdisasm", f"#!/bin/sh\ncat {self.path('json')}\n")
        os.chmod(self.path("nvdisasm"), 0o755)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def held(self, budget, *options):
        """Exit status and what was printed."""
        self.write("budget", budget)
        words = io.StringIO()
        argv, sys.argv = sys.argv, ["sass_budget.py", "--nvdisasm", self.path("nvdisasm"), "--budget", self.path("budget"), *options,
                                    self.path("report"), "cubin"]
        try:
            with contextlib.redirect_stdout(words):
                return sass_budget.main(), words.getvalue()
        finally:
            sys.argv = argv

    def test_figures_are_those_of_a_hand(self):
        written = self.held("sm_90 sum<4,false> whole regs<=0 smem<=0 spills<=0 FFMA<=0 loop.MATCH<=0 LDG.E.128>=0 LDG>=0\n"
                            "sm_90 sum<4,false> two_rows@0/2 insns<=0 flight>=0 bytes>=0 trips<=0 loops<=0 MATCH<=0  # kept\n", "--write")[1]
        self.assertEqual(written.split("\n")[0], "sm_90 sum<4,false> whole regs<=33 smem<=520 spills<=12 FFMA<=1 loop.MATCH<=1 LDG.E.128>=2 LDG>=4")
        self.assertEqual(written.split("\n")[1], "sm_90 sum<4,false> two_rows@0/2 insns<=5.5 flight>=2 bytes>=32 trips<=3 loops<=0 MATCH<=1  # kept")

    def test_limits_that_are_kept_pass(self):
        self.assertEqual(self.held("sm_90 sum<4,false> whole regs<=33\nsm_90 sum<4,false> row@0 flight>=2\nsm_80 other whole regs<=1\n"),
                         (0, "sm_90: 2 limits of machine code, of kernels 1: 0 not kept\n"))

    def test_a_limit_that_is_not_kept_is_named(self):
        budget = "sm_90 sum<4,false> whole regs<=32\nsm_90 sum<4,false> row@0 flight>=3\n"
        status, words = self.held(budget)
        self.assertEqual(status, 1)
        self.assertIn("  FAILED sum<4,false> (sm_90), whole: regs is 33, the limit is at most 32\n", words)
        self.assertIn("  FAILED sum<4,false> (sm_90), row@0: flight is 2, the limit is at least 3\n", words)
        status, words = self.held(budget, "--print")
        self.assertEqual(status, 0)
        self.assertIn("  over sum<4,false> (sm_90), whole: regs is 33, the limit is at most 32\n", words)

    def test_kernels_and_budgets_that_miss_each_other_fail(self):
        for budget, sentence in (
            ("sm_90 sum<4,false> whole regs<=33\n", "sum<4,false> (sm_90) has no budget: .* needs a line of its loop"),
            ("sm_90 sum<4,false> row@0 flight>=2\n", "needs a line of its whole"),
            ("sm_90 sum<4,true> whole regs<=33\nsm_90 sum<*> untrained\n", "budget:1: there is no kernel sum<4,true> of sm_90"),
            ("sm_90 sum<4,false> whole regs<=33\nsm_90 sum<*> untrained\n", "is untrained, and has a budget"),
            ("sm_90 gone<*> untrained\nsm_90 sum<*> untrained\n", "budget:1: there is no kernel gone<\\*> of sm_90"),
            ("sm_90 sum<4,false> whole regs<=33\nsm_90 sum<4,false> row@1 flight>=2\n", "row@1: there is no such loop"),
        ):
            status, words = self.held(budget, "--print") if "no kernel" in sentence else self.held(budget)
            self.assertEqual(status, 1, budget)
            self.assertRegex(words, "  FAILED .*" + sentence.replace("(", "\\(").replace(")", "\\)"))

    def test_one_kernel_alone(self):
        budget = "sm_90 sum<4,false> whole regs<=33\nsm_90 gone whole regs<=1\n"
        self.assertEqual(self.held(budget, "--kernel", "sum<4,false>")[0], 0)
        self.assertIn("  FAILED gone: not in the cubin\n", self.held(budget, "--kernel", "gone")[1])
        self.assertIn("  FAILED other: not in ", self.held(budget, "--kernel", "other")[1])

    def test_a_line_that_is_none_is_named(self):
        for line in ("sm_90 sum<4,false> whole", "sm_90 sum<4,false> whole regs=33", "sm_90 sum<4,false> untrained regs<=33", "sm_90 x"):
            with self.assertRaisesRegex(SystemExit, "budget:2: not ARCHITECTURE KERNEL SCOPE"):
                self.held("# a comment\n" + line + "\n")


if __name__ == "__main__":
    unittest.main()
