"""test_compact_svg.py - the pictures that pages show are small, and look as they did: python3 -B tests/bench/test_compact_svg.py"""

import glob
import os
import re
import sys
import unittest
import xml.etree.ElementTree as tree

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
from compact_svg import compact  # noqa: E402

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
        self.assertIn('<path d="M1.1 2L3.1 0" class="s0" /><text>1.06</text><path d="M1.1 2L3.1 0" class="s0" />', svg)
        self.assertNotIn("metadata", svg)

    def test_lines_that_look_alike_are_one_path(self):
        alike = '<path d="M1 2L3 4" style="a: b"/><path d="M5 6L7 8" style="a: b"/>'
        self.assertEqual(body(alike), '<path d="M1 2L3 4M5 6L7 8" class="s0" />')
        self.assertEqual(body(alike.replace("L7 8", "L7 8z")).count("<path"), 2)
        self.assertEqual(body('<path d="M1 2L3 4" style="a: b"/><path d="M5 6L7 8" style="a: c"/>').count("<path"), 2)

    def test_ticks_and_discs_are_drawn_where_they_are(self):
        tick = '<defs><path id="m" d="M 0 0 \nL 0 3.5 \n"/></defs><use xlink:href="#m" x="10.26" y="5"/><use xlink:href="#m" x="20" y="5"/>'
        self.assertEqual(body(tick), '<path d="M10.3 5L10.3 8.5M20 5L20 8.5" />')
        disc = f'<defs><path id="m" d="{DISC}"/></defs><use xlink:href="#m" x="10.26" y="5" style="fill: #abc; stroke: #abc"/>'
        self.assertEqual(body(disc), '<path style="stroke:#abc;stroke-width:5;stroke-linecap:round" d="M10.3 5h0" />')
        star = '<defs><path id="m" d="M0 0L1 1L2 0z"/></defs><use xlink:href="#m" x="1" y="2"/>'
        self.assertEqual(body(star), '<defs><path id="a" d="M0 0L1 1L2 0z" /></defs><use xlink:href="#a" x="1" y="2" />')

    def test_pictures_of_pages_are_compact(self):
        pictures = glob.glob(os.path.join(ROOT, "bench", "results", "*.svg"))
        self.assertGreater(len(pictures), 10)
        for path in pictures:
            with open(path) as file:
                svg = file.read()
            self.assertEqual(compact(svg), svg, path)
            root = tree.fromstring(svg)
            names = {element.get("id") for element in root.iter()}
            self.assertLessEqual(set(re.findall(r"[\"(]#([a-z]+)[\")]", svg)), names, path)


if __name__ == "__main__":
    unittest.main()
