"""Tests of bench/order.py: rows by hand, the page that holds its table, and its picture."""
import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
import order  # noqa: E402

GRAPH = {"num_nodes": 5, "num_edges": 9, "gain_by_degree": [{"features": 32, "gain": 1.25}, {"features": 128, "gain": 1.5}]}
TIMES = {"as it is": [{"F 32": 10.0}, {"F 32": 12.0}, {"F 32": 30.0}], "degree": [{"F 32": 5.0}, {"F 32": 8.0}, {"F 32": 10.0}]}


class Order(unittest.TestCase):
    def test_a_ratio_is_the_median_of_those_of_the_turns(self):
        rows = [dict(zip(order.COLUMNS, row)) for row in order.rows_of("g", GRAPH, TIMES, 3, 2)]
        self.assertEqual([r["order"] for r in rows], ["as it is", "degree"])
        self.assertEqual(rows[1]["ms"], "8.00")
        self.assertEqual((rows[1]["lower"], rows[1]["ratio"], rows[1]["upper"]), ("1.75", "2.00", "2.50"))
        self.assertEqual((rows[0]["predicted"], rows[1]["predicted"]), ("", "1.25"))

    def test_the_page_has_the_table_of_today(self):
        rows = order.read_csv()
        self.assertTrue(rows)
        self.assertIn(order.page(rows), "\n".join(order.lines_of(order.PAGE)), "docs/DATA.md is old: bench/order.py --write")

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_a_bar_is_as_long_as_its_ratio(self):
        import plot

        rows = order.read_csv()
        figure = plot.draw_order(rows)
        graph = rows[0]["graph"]
        mine = [float(r["ratio"]) for o in order.ORDERS for r in rows if r["graph"] == graph and r["order"] == o]
        self.assertEqual([bar.get_width() for bar in figure.axes[0].patches], mine)


if __name__ == "__main__":
    unittest.main()
