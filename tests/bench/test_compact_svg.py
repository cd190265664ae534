"""test_compact_svg.py - pictures are small, and look as they did: python3 -B tests/bench/test_compact_svg.py"""

import glob
import os
import re
import sys
import unittest
import xml.etree.ElementTree as tree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
from compact_svg import absolute, compact, relative  # noqa: E402

HEAD = '<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="9.126pt" viewBox="0 0 9.126 8" xmlns="http://www.w3.org/2000/svg">'
DISC = "M 0 2 C 1 2 2 1 2 0 C 2 0 2 0 2 0 C 2 0 2 0 2 0 C 2 0 2 0 2 0 C 2 0 2 0 2 0 C 2 0 2 0 2 0 C 2 0 2 0 2 0 C 2 0 2 0 0 2 z"


def body(svg):
    return compact(HEAD + "<defs><style>*{x: y}</style></defs>" + svg + "</svg>").split("</defs>", 1)[1].replace("</svg>\n", "")


class CompactSvg(unittest.TestCase):
    def test_numbers_have_one_digit_and_styles_that_come_again_a_class(self):
        line = '<path d="M 1.06 2.00 \nL 3.149 -0.04 \n" style="fill: none; stroke: #76818d"/>'
        svg = compact(HEAD + f"<metadata><x/></metadata><defs><style>*{{x: y}}</style></defs><g><g>{line}</g><text>1.06</text>{line}</g></svg>")
        self.assertIn('width="9.1pt" viewBox="0 0 9.1 8"', svg)
        self.assertIn("*{x: y}.s0{fill:none;stroke:#76818d}", svg)
        self.assertIn('<path d="m1.1 2 2-2m-2 2 2-2" class="s0"/><text>1.06</text>', svg)
        self.assertNotIn("metadata", svg)

    def test_lines_that_look_alike_are_one_path(self):
        alike = '<path d="M1 2L3 4" style="a: b"/><path d="M5 6L7 8" style="a: b"/>'
        self.assertEqual(body(alike), '<path d="m1 2 2 2m2 2 2 2" class="s0"/>')
        self.assertEqual(body(alike.replace("L7 8", "L7 8z")).count("<path"), 2)
        self.assertEqual(body('<path d="M1 2L3 4" style="a: b"/><path d="M5 6L7 8" style="a: c"/>').count("<path"), 2)

    def test_ticks_and_discs_are_drawn_where_they_are(self):
        tick = '<defs><path id="m" d="M 0 0 \nL 0 3.5 \n"/></defs><use xlink:href="#m" x="10.26" y="5"/><use xlink:href="#m" x="20" y="5"/>'
        self.assertEqual(body(tick), '<path d="m10.3 5v3.5m9.7-3.5v3.5"/>')
        disc = f'<defs><path id="m" d="{DISC}"/></defs><use xlink:href="#m" x="10.26" y="5" style="fill: #abc; stroke: #abc"/>'
        self.assertEqual(body(disc), '<path style="stroke:#abc;stroke-width:5;stroke-linecap:round" d="m10.3 5h0"/>')
        star = '<defs><path id="m" d="M0 0L1 1L2 0z"/></defs><use xlink:href="#m" x="1" y="2"/>'
        self.assertEqual(body(star), '<defs><path id="a" d="m0 0 1 1 1-1z"/></defs><use xlink:href="#a" x="1" y="2"/>')

    def test_steps_lead_where_places_are(self):
        for places, by_steps in (
            ("M1 2L3 2L3 5C1 1 2 2 4 4.5z", "m1 2h2v3c-2-4-1-3 1-.5z"),
            ("M1 2L3 4zM2 2L0 0", "m1 2 2 2zm1 0-2-2"),
            ("M1 2h0M3 3h0", "m1 2h0m2 1h0"),
            ("M0 0.5Q1 1 2 0.4L2.5 0.4", "m0 .5q1 .5 2-.1h.5"),
        ):
            self.assertEqual(relative(places), by_steps)
            self.assertEqual(absolute(by_steps), places)

    def test_lines_between_which_only_ticks_stand_are_joined(self):
        grid, tick = '<path d="M1 1L1 9" style="a: b"/>', '<path d="M1 9L1 10" style="a: c"/>'
        data = '<path d="M1 1L2 2L3 1" style="a: d"/>'
        more = grid.replace("M1 1L1", "M4 1L4")
        self.assertEqual(body(grid + tick + "<text>4</text>" + more).count("<path"), 2)
        self.assertEqual(body(grid + data + more).count("<path"), 3)

    def test_what_nobody_sees_goes(self):
        self.assertEqual(body('<path d="M0 0L9 0L9 9z" style="fill: none"/><text>1</text>'), "<text>1</text>")
        self.assertEqual(body('<path d="M5 0L5 0L5 9L5 9z" style="fill: #abc"/><text>1</text>'), "<text>1</text>")
        for d, style in (("M5 0L6 0L6 9z", "fill: #abc"), ("M5 0L5 9z", "stroke: #abc"), ("M5 0L5 9", "stroke: #abc")):
            self.assertIn("<path", body(f'<path d="{d}" style="{style}"/>'))

    def test_a_frame_is_said_once_and_a_scale_stays(self):
        bars = "".join(f'<path d="M0 {y}L5 {y}L5 {y + 1}z" clip-path="url(#f)" style="fill: #abc"/>' for y in (1, 3, 5))
        self.assertEqual(body(bars + '<clipPath id="f"/>').count("clip-path"), 1)
        scaled = body('<g transform="translate(1.26 0) scale(0.0156 -0.0156)"><text>1</text></g>')
        self.assertIn("translate(1.3 0) scale(0.0156 -0.0156)", scaled)

    def test_pictures_of_pages_are_compact(self):
        pictures = glob.glob(os.path.join(ROOT, "bench", "results", "*.svg"))
        self.assertGreater(len(pictures), 5)
        for path in pictures:
            with open(path) as file:
                svg = file.read()
            self.assertEqual(compact(svg), svg, path)
            root = tree.fromstring(svg)
            names = {element.get("id") for element in root.iter()}
            self.assertLessEqual(set(re.findall(r"[\"(]#([a-z]+)[\")]", svg)), names, path)


if __name__ == "__main__":
    unittest.main()
