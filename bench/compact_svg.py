"""compact_svg.py - a picture of matplotlib's in a third of its bytes, to the eye the same: one digit after the point, a class in
place of every style that comes again, one path for lines that look alike, short names, no data about the data. plot.py saves its
pictures by it.

    python3 bench/compact_svg.py FILE.svg ...     in place
"""

import os
import re
import sys
import xml.etree.ElementTree as tree

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{LINK}}}href"
NUMBERS = {"d", "points", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "transform", "viewBox"}


def shorter(text):
    """Numbers with one digit after the point, no blank that separates nothing."""
    text = re.sub(r"-?\d*\.\d+", lambda number: f"{float(number[0]):.1f}".rstrip("0").rstrip("."), text)
    text = re.sub(r"(?<![\d.])-0(?![\d.])", "0", text)
    return re.sub(r"\s*([MLHVCQZz,])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def flatten(element):
    """What groups without attributes hold takes their place; groups that hold nothing go."""
    children = []
    for child in element:
        flatten(child)
        plain = child.tag == f"{{{SVG}}}g" and not child.attrib
        children += list(child) if plain else [child] if len(child) or child.tag != f"{{{SVG}}}g" else []
    element[:] = children


def referred(root):
    """Names that something refers to."""
    values = [value for element in root.iter() for value in element.attrib.values()]
    return {name for value in values for name in re.findall(r"#([\w-]+)", value)}


def draw_in_place(root):
    """What is drawn by the name of a tick or of a disc becomes a line where it is: a disc one without length, with a round end."""
    drawn = {path.get("id"): path for path in root.iter(f"{{{SVG}}}path") if "id" in path.attrib}
    for use in root.iter(f"{{{SVG}}}use"):
        shape = drawn.get(use.get(HREF, "")[1:])
        d = shape.get("d", "") if shape is not None else ""
        disc = re.fullmatch(r"M0 ([\d.]+)(C[^MLCz]*){8}z", d)
        if not disc and not re.fullmatch(r"M[^MLCz]*L[^MLCz]*", d):
            continue
        x, y = (float(use.attrib.pop(name, 0)) for name in "xy")
        use.tag = f"{{{SVG}}}path"
        del use.attrib[HREF]
        if disc:
            style = dict(part.split(":") for part in use.get("style", "").split(";") if part)
            width = 2 * float(disc[1]) + float(style.get("stroke-width", 1))
            use.set("style", f"stroke:{style['stroke']};stroke-width:{width:g};stroke-linecap:round")
            use.set("d", shorter(f"M{x:.1f} {y:.1f}") + "h0")
        else:
            ends = [(float(a) + x, float(b) + y) for a, b in re.findall(r"(-?[\d.]+) (-?[\d.]+)", d)]
            use.set("d", shorter("".join(f"{op}{a:.1f} {b:.1f}" for op, (a, b) in zip("ML", ends))))
    names = referred(root)
    for defs in root.iter(f"{{{SVG}}}defs"):
        defs[:] = [child for child in defs if child.get("id", "") in names or child.tag == f"{{{SVG}}}style"]


def join_lines(element):
    """Open paths that follow one another and look alike are one path."""
    children = []
    for child in element:
        join_lines(child)
        last = children[-1] if children else None
        looks = [{k: v for k, v in e.attrib.items() if k != "d"} if e is not None else None for e in (last, child)]
        if child.tag == f"{{{SVG}}}path" and looks[0] == looks[1] and last.tag == child.tag and not re.search("[zC]|^$", child.get("d", "") + last.get("d", "")):
            last.set("d", last.get("d") + child.get("d"))
        elif child.tag != f"{{{SVG}}}defs" or len(child):
            children.append(child)
    element[:] = children


def rename(root):
    """Names a, b, ... z, aa, ... in the order in which they are given."""
    new = {}
    for element in root.iter():
        if "id" in element.attrib:
            n, name = len(new), ""
            while n >= 0:
                n, name = n // 26 - 1, chr(97 + n % 26) + name
            new[element.get("id")] = name
            element.set("id", name)
    for element in root.iter():
        for key, value in element.attrib.items():
            element.set(key, re.sub(r"#([\w-]+)", lambda name: "#" + new.get(name[1], name[1]), value) if "#" in value and key != "style" else value)


def share_classes(element):
    """Three or more things of one class that follow one another get it from a group around them."""
    children = list(element)
    for child in children:
        share_classes(child)
    kept = []
    while children:
        run = [child for child in children if child.get("class")][:1]
        count = 0
        while count < len(children) and run and children[count].get("class") == run[0].get("class") and len(children[count].attrib) > 1:
            count += 1
        if count < 3:
            kept.append(children.pop(0))
            continue
        group = tree.Element(f"{{{SVG}}}g", {"class": run[0].get("class")})
        for child in children[:count]:
            del child.attrib["class"]
            group.append(child)
        kept.append(group)
        children = children[count:]
    element[:] = kept


def compact(svg):
    """The same picture; of a compact one the same text."""
    tree.register_namespace("", SVG)
    tree.register_namespace("xlink", LINK)
    root = tree.fromstring(svg.encode())
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    names = referred(root)
    for element in root.iter():
        element.text, element.tail = (element.text or "").strip() or None, None
        if element.get("id") not in names:
            element.attrib.pop("id", None)
        if re.fullmatch(r"rotate\(-?0( .*)?\)", element.get("transform", "")):
            del element.attrib["transform"]
        for name in NUMBERS & set(element.attrib):
            element.set(name, shorter(element.get(name)))
        if "style" in element.attrib:
            element.set("style", re.sub(r"\s*([:;,])\s*", r"\1", element.get("style")).rstrip(";"))
    draw_in_place(root)
    flatten(root)
    number_styles(root)
    join_lines(root)
    rename(root)
    share_classes(root)
    return tree.tostring(root, encoding="unicode") + "\n"


def number_styles(root):
    """Styles that come more than once become classes, the first of them s0."""
    styled = [element for element in root.iter() if "style" in element.attrib]
    styles = [element.get("style") for element in styled]
    common = [style for style in dict.fromkeys(styles) if styles.count(style) > 1]
    for element in styled:
        if element.get("style") in common:
            element.set("class", f"s{common.index(element.attrib.pop('style'))}")
    sheet = root.find(f".//{{{SVG}}}style")
    if sheet is not None and common:
        sheet.text = (sheet.text or "") + "".join(f".s{i}{{{style}}}" for i, style in enumerate(common))


def main(paths):
    for path in paths:
        with open(path) as file:
            svg = compact(file.read())
        with open(path + ".new", "w") as file:
            file.write(svg)
        os.replace(path + ".new", path)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    main(sys.argv[1:])
