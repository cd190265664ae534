"""compact_svg.py - a picture of matplotlib's in a quarter of its bytes, to the eye the same: one digit after the point, places
beside the last one, a class in place of every style that comes again, one path for lines that look alike, short names, nothing
invisible, no data about the data. plot.py saves its pictures by it.

    python3 bench/compact_svg.py FILE.svg ...     in place
"""

import os
import re
import sys
import xml.etree.ElementTree as tree

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
HREF = f"{{{LINK}}}href"
NUMBERS = {"d", "points", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "viewBox"}


def shorter(text):
    """Numbers with one digit after the point, no blank that separates nothing."""
    text = re.sub(r"-?\d*\.\d+", lambda number: f"{float(number[0]):.1f}".rstrip("0").rstrip("."), text)
    text = re.sub(r"(?<![\d.])-0(?![\d.])", "0", text)
    return re.sub(r"\s*([MLHVCQZz,])\s*", r"\1", re.sub(r"\s+", " ", text)).strip()


def steps(d):
    """(letter, numbers in tenths) of each piece of a path."""
    letter, values = "", []
    for token in re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)", d):
        if token.isalpha():
            letter, values = token, []
        else:
            values.append(round(10 * float(token)))
        if len(values) == {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Q": 4, "Z": 0}[letter.upper()]:
            yield letter, values
            letter, values = {"M": "L", "m": "l"}.get(letter, letter), []


def tenths(value):
    text = f"{value / 10:.1f}".rstrip("0").rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text)


def end_of(letter, values, place, begin):
    """Where a piece of absolute places leads."""
    if letter == "z":
        return begin
    if letter in "HV":
        return (values[0], place[1]) if letter == "H" else (place[0], values[0])
    return tuple(values[-2:])


def absolute(d):
    """The path with all places as they are; a line without length stays h0."""
    x = y = 0
    begin, text = (0, 0), ""
    for letter, values in steps(d):
        if letter.islower():
            values = [v + (y if i % 2 or letter == "v" else x) for i, v in enumerate(values)]
        letter = letter.upper() if letter not in "zZ" else "z"
        still = letter == "H" and values == [x]
        x, y = end_of(letter, values, (x, y), begin)
        begin = (x, y) if letter == "M" else begin
        points = [x, y] if letter in "HV" else values
        text += "h0" if still else ("L" if letter in "HV" else letter) + " ".join(f"{v / 10:.1f}" for v in points)
    return shorter(text)


def relative(d):
    """The path by steps from place to place, a letter where it changes."""
    x = y = 0
    begin, text, last = (0, 0), "", ""
    for letter, values in steps(d):
        if letter == "z":
            text, last, (x, y) = text + "z", "z", begin
            continue
        moved = values if letter == "h" else [v - (y if i % 2 else x) for i, v in enumerate(values)]
        if letter != "h":
            x, y = values[-2:]
        letter = letter.lower()
        if letter == "l" and 0 in moved:
            letter, moved = ("h", moved[:1]) if moved[1] == 0 else ("v", moved[1:])
        begin = (x, y) if letter == "m" else begin
        for i, v in enumerate(moved):
            number = tenths(v)
            text += letter if i == 0 and letter != last else "" if number[0] == "-" else " "
            text += number
        last = "l" if letter == "m" else letter
    return text


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


def looks(element):
    return {key: value for key, value in element.attrib.items() if key != "d"}


def alike(element, children):
    """The open path before it that looks as it does; between them are only ticks, their texts and lines of the grid."""
    for last in reversed(children):
        path = last.tag == f"{{{SVG}}}path"
        if path and looks(last) == looks(element):
            return last if not re.search("[zC]|^$", element.get("d", "") + last.get("d", "")) else None
        straight = path and re.fullmatch(r"(M[\d.]+ [\d.]+L[\d.]+ [\d.]+)+", last.get("d", ""))
        if not straight and last.tag != f"{{{SVG}}}text":
            return None
    return None


def join_lines(element):
    """Open paths that look alike are one path."""
    children = []
    for child in element:
        join_lines(child)
        last = alike(child, children) if child.tag == f"{{{SVG}}}path" else None
        if last is not None:
            last.set("d", last.get("d") + child.get("d"))
        elif child.tag != f"{{{SVG}}}defs" or len(child):
            children.append(child)
    element[:] = children


def drop_invisible(root):
    """Paths without colour and bars without width."""
    for element in root.iter():
        for path in element.findall(f"{{{SVG}}}path"):
            style = path.get("style", "")
            if style == "fill:none" or is_flat(path.get("d", ""), style):
                element.remove(path)


def is_flat(d, style):
    """A closed path of no area that has no line around it."""
    if not d.endswith("z") or "C" in d or "stroke" in style:
        return False
    points = re.findall(r"(-?[\d.]+) (-?[\d.]+)", d)
    return any(len({point[i] for point in points}) == 1 for i in (0, 1))


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


def shared_of(element):
    return {key: element.get(key) for key in ("class", "clip-path") if key in element.attrib}


def share_looks(element):
    """Three or more things of one class, in one frame, that follow one another get both from a group around them."""
    children = list(element)
    for child in children:
        share_looks(child)
    kept = []
    while children:
        look = shared_of(children[0])
        count = 0
        while look and count < len(children) and shared_of(children[count]) == look and children[count].attrib != look:
            count += 1
        if count < 3:
            kept.append(children.pop(0))
            continue
        group = tree.Element(f"{{{SVG}}}g", look)
        for child in children[:count]:
            for key in look:
                del child.attrib[key]
            group.append(child)
        share_looks(group)
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
        if "transform" in element.attrib:  # a scale of a hundredth keeps its digits
            moved = re.sub(r"(translate|rotate)\([^)]*\)", lambda part: shorter(part[0]), element.get("transform"))
            element.set("transform", moved)
        if "style" in element.attrib:
            element.set("style", re.sub(r"\s*([:;,])\s*", r"\1", element.get("style")).rstrip(";"))
        if "d" in element.attrib:
            element.set("d", absolute(element.get("d")))
    draw_in_place(root)
    drop_invisible(root)
    flatten(root)
    number_styles(root)
    join_lines(root)
    rename(root)
    share_looks(root)
    for element in root.iter():
        if "d" in element.attrib:
            element.set("d", relative(element.get("d")))
    return tree.tostring(root, encoding="unicode").replace(" />", "/>") + "\n"


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
