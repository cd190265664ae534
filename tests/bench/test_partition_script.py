"""Tests of bench/partition.py: tables of logs by hand."""
import contextlib
import io
import os
import sys
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import partition  # noqa: E402


class Logs:
    """Records in place of runs: two devices, of which the second reads three times as much from the host with each line."""

    def __init__(self):
        self.lines = []

    def graph(self, name):
        return name

    def path(self, name):
        return name

    def data(self, line):
        self.lines.append(line)

    def train(self, line):
        self.lines.append(line)
        seed = int(line.split("--seed ")[1].split()[0]) if "--seed" in line else 0
        own = 60 if "--partition pagraph" in line else 20
        return {"ranks": {"rows": {"cache": [own, own], "own": [1, 2], "peer": [3, 4], "host": [5, 25]}, "bytes": {"host": [8e6, 24e6]}},
                "partition": {"replication": 1.5}, "final": {"test_accuracy": seed / 10 + (0.01 if "--shuffle local" in line else 0)}}


    def epochs(self, line):
        """A slow first epoch; then a sampled first layer takes 3, 4, 5, ... ms a neighbour in each turn, the other one as many by 2."""
        self.lines.append(line)
        width = int(line.split("--fanout ")[1].split(",")[0].split()[0])
        sampled = "--preprocess" not in line
        turn = sum(("--preprocess" in other) != sampled and "--epochs 6" in other for other in self.lines[self.start :]) - 1
        milliseconds = width * (3 + turn if sampled else 2)
        return [9.0] + [milliseconds / 1e3 + noise for noise in (0, -0.0001, 0.0001)]

    start = 0


def printed(what, logs, options=None):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        what(logs, options)
    return out.getvalue().splitlines()


class Partition(unittest.TestCase):
    def test_hits_are_of_all_rows_that_all_devices_read(self):
        self.assertEqual(partition.reads(Logs().train("")), (40, 80))
        logs = Logs()
        lines = printed(partition.hits, logs)
        self.assertEqual(lines[2], "| citation | 10% | 1 | 50.0 | - | 1 |")
        self.assertEqual(lines[3], "| citation | 10% | 2 | 50.0 | 75.0 | 1.50 |")
        self.assertEqual(len(lines), 2 + 16)
        self.assertIn("--batch 4000", [line for line in logs.lines if "--devices 4" in line][0])
        self.assertEqual(len([line for line in logs.lines if "--devices 8" in line and "--partition pagraph" in line]), 4)

    def test_both_orders_have_the_same_partition_and_seeds(self):
        logs = Logs()
        lines = printed(partition.accuracy, logs, types.SimpleNamespace(cora=None))
        self.assertTrue(lines[2].startswith("| planted | 2 | 30.00 ± 15.81 | 31.00 ± 15.81 |"), lines[2])
        runs = [line for line in logs.lines if "--shuffle" in line]
        self.assertEqual(len(runs), 2 * 2 * 2 * 5)
        self.assertTrue(all("--partition pagraph" in line for line in runs))

    def test_a_link_takes_what_the_slowest_device_reads_in_an_epoch(self):
        lines = printed(partition.share, Logs())
        self.assertEqual(lines[2], "| citation | 0% | 75.0 | 12.00 | 0.0010 |")

    def test_a_first_layer_computed_once_is_timed_in_turns_and_its_rows_are_counted(self):
        logs = Logs()
        seconds, (ratio, least, most) = partition.paired(logs, "--fanout 4,4 --epochs 6", "--preprocess --fanout 4 --epochs 6")
        self.assertEqual(["--preprocess" in line for line in logs.lines], [False, True] * partition.TURNS)
        self.assertAlmostEqual(seconds[0], 4 * (3 + (partition.TURNS - 1) / 2) / 1e3)
        self.assertAlmostEqual(seconds[1], 8 / 1e3)
        self.assertAlmostEqual(ratio, (3 + (partition.TURNS - 1) / 2) / 2)
        self.assertAlmostEqual(least, 1.5)
        self.assertAlmostEqual(most, (3 + partition.TURNS - 1) / 2)
        logs = Logs()
        lines = printed(partition.fanout, logs)
        self.assertEqual(len(lines), 2 + 2 * len(partition.FANOUTS))
        self.assertTrue(lines[2].startswith("| citation | 2 | "), lines[2])
        self.assertTrue(lines[2].endswith("| 5 | 5 | 8.0 | 8.0 |"), lines[2])
        self.assertEqual([line for line in logs.lines if "preprocess citation" in line], ["preprocess citation --model sage --out citation.first"])
        counted = [line for line in logs.lines if "--cache-ratio 0" in line]
        self.assertEqual(len(counted), 4 * len(partition.FANOUTS))
        self.assertTrue(all("--epochs 1" in line for line in counted))


if __name__ == "__main__":
    unittest.main()
