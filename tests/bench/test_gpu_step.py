"""Tests of bench/gpu_step.py: launches by hand, and the page that holds its tables."""
import copy
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import gpu_step  # noqa: E402
import line_file  # noqa: E402


class GpuStep(unittest.TestCase):
    def setUp(self):
        self.inputs, self.limits = gpu_step.read_inputs(), gpu_step.read_limits()
        self.gpu = self.inputs["gpu", "H200"]

    def step(self, model="GraphSAGE", limits=None):
        return gpu_step.Step(model, limits or self.limits, self.inputs["batch", "products"])

    def test_the_page_has_the_tables_of_today(self):
        page = "\n".join(gpu_step.lines_of(gpu_step.PAGE))
        self.assertTrue(gpu_step.page(self.inputs, self.limits) in page, "docs/GPU.md is old: bench/gpu_step.py --write")

    def test_times_are_those_of_a_hand(self):
        limits = {("k", "whole"): {"regs": 48, "smem": 4488}}
        self.assertEqual(gpu_step.blocks_of(limits, "k", self.gpu), 5)
        all_at_once = 132 * 5 * 256
        times = gpu_step.times_of(gpu_step.Launch("k", 2 * all_at_once, 100, 3, bytes=4.3e9, atoms=2.2e6), limits, self.gpu)
        self.assertAlmostEqual(times["memory"], 1000 + 64)
        self.assertAlmostEqual(times["trips"], 1.5 + 2 * 3 * 0.7)
        self.assertAlmostEqual(times["issue"], 2 * all_at_once / 32 * 100 / (132 * 4 * 1980))
        self.assertAlmostEqual(gpu_step.times_of(gpu_step.Launch("product", 0, flops=300e6), {}, self.gpu)["matmul"], 1)

    def test_a_matrix_that_fits_into_the_cache_is_read_once(self):
        limits = {("k", "whole"): {"regs": 32, "smem": 0}}
        for distinct, rows in ((50000, 50000), (70000, 200000)):  # of 1,000 bytes: 50 and 70 MB, where 60 fit
            launch = gpu_step.Launch("k", 1, edges=200000, distinct=distinct, row=1000)
            self.assertAlmostEqual(gpu_step.times_of(launch, limits, self.gpu)["memory"], rows * 1000 / 4.3e6)

    def test_a_step_takes_less_where_more_is_under_way(self):
        better = copy.deepcopy(self.limits)
        better["column_sums", "row"]["units"] *= 2  # rows for each wait
        before, after = (gpu_step.microseconds(self.step(limits=l), self.inputs, "H200") for l in (self.limits, better))
        self.assertGreater(before - after, 1)

    def test_every_model_is_made_of_kernels_with_budgets(self):
        for model in ("GCN", "GraphSAGE", "GAT"):
            for launch in self.step(model).all:
                self.assertTrue(launch.kernel == "product" or (launch.kernel, "whole") in self.limits, launch.kernel)
        poorer = {key: value for key, value in self.limits.items() if key != ("update", "parameter")}
        with self.assertRaisesRegex(SystemExit, "no line of update, parameter, which GAT launches"):
            self.step("GAT", poorer)

    def test_cases_are_those_that_the_bench_measured(self):
        runs = line_file.read(os.path.join(os.path.dirname(gpu_step.PAGE), "..", "bench", "results", "nvidia-h200.csv"))
        measured = {(r["bench"], r["case"]) for run in runs for r in run["results"]}
        lines = [line.split("\t") for line in gpu_step.cases(self.inputs, self.limits)]
        self.assertEqual(lines[0], ["name", "case", "H200 us", "H200 %", "H100 us", "H100 %", "A100 us", "A100 %"])
        for line in lines[1:]:
            self.assertIn((line[0], line[1]), measured)
            self.assertTrue(all(float(cell) > 0 for cell in line[2:]), line)


if __name__ == "__main__":
    unittest.main()
