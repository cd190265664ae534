#!/usr/bin/env python3
"""api.py - one page of HTML from the headers' own words: python3 docs/api.py OUT.html (`make docs`).

A header's API is what stands before END. It is cut into items: a comment, and the declarations behind it, whose contract
it is. The name of each function, type, macro and enumerator is its anchor. A function without a contract is an error.
"""
import html
import re
import sys
from pathlib import Path

END = {  # the first line behind a header's API
    "ggnn.h": "// ==== BEHIND THE API",
    "ggnn_plan.h": "#if defined(GGNN_NODE64) && !defined(GGNN_STATIC)",
    "ggnn_frontier.h": "#if defined(GGNN_NODE64) && !defined(GGNN_STATIC)",
    "ggnn_cuda.cuh": "// ==== BEHIND THE API",
    "ggnn_reference.h": "#if defined(__clang__)\n#pragma float_control(pop)",
    "datasets/ggnn_file.h": "/* ==== IMPLEMENTATION",
}
WHOLE = "ggnn_reference.h"  # whose functions are shown with their loops: these are what it says
STYLE = """:root { color-scheme: light dark }
body { font: 16px/1.5 sans-serif; max-width: 56rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
pre { overflow-x: auto; overflow-wrap: normal; font-size: .85rem; line-height: 1.4; padding: .5rem; background: #8882 }
a { text-decoration: none } nav a { display: inline-block; padding: .2rem .4rem } :target { outline: 2px solid }
h2, h3, h4 { margin-top: 2.5rem } h2 { border-bottom: 1px solid } section { margin: 2rem 0 } .top { float: right }"""
DECLARES = {
    "function": r"^(?!typedef|enum|struct|#|return)[A-Za-z][^(\n=]*?\b(ggnn_\w+)\(",
    "type": r"^typedef [^({\n]*\b(ggnn_\w+);|\} (ggnn_\w+);|^struct (ggnn_\w+)",
    "macro": r"^# *define (GGNN_\w+)",
}
LISTS = r"^# *define \w+\(X\)(?:.*\\\n)*.*|\b(?:enum|GGNN_ENUM)\b[^{;(]*\{.*?\}"  # of enumerators
HIDDEN = r"^(?:typedef char ggnni_.*|#(?:ifndef|define) GGNN_\w*(?:H|CUH))$\n?"
BODY = r"^((?:GGNN_HD|static inline)\b[^;{]*\))\s*\{(?:[^\n]*\}$|.*?^\}$)"


def api_of(path):
    """The lines of a header's API, comments of /* */ turned into those of //."""
    text, end, _ = Path(path).read_text().partition("\n" + END[path])
    if not end:
        sys.exit(f'{path}: no line begins with "{END[path]}"')
    text = re.sub(r"^/\*\s*(.*?)\s*\*/$", lambda c: "// " + re.sub(r"\n(   )?", "\n// ", c[1]), text, flags=re.M | re.S)
    return re.sub(r'^#ifdef \w+\n(?:extern "C"|inline namespace|\}).*\n#endif$', "", text, flags=re.M).split("\n")


def items_of(lines):
    """(comment, code): a comment ends at a blank line or at code, code at a blank line or a comment outside braces."""
    comment, code, depth = [], [], 0
    for line in lines + [""]:
        inside = depth > 0 or (code and code[-1].endswith("\\"))
        if not inside and (not line or (code and line.startswith("//"))):
            yield "\n".join(re.sub("^// ?", "", c) for c in comment), "\n".join(code)
            comment, code = [], []
        if line.startswith("//") and not inside:
            comment.append(line)
        elif line:
            code.append(line)
            bare = re.sub(r'"(\\.|[^"])*"|//.*|/\*.*?\*/', "", line)
            depth += sum(bare.count(c) for c in "({") - sum(bare.count(c) for c in ")}")


def names_of(code):
    """Name: kind, of what an item declares; but for include guards, and what it undefines again."""
    plain = re.sub(r"//.*|/\*.*?\*/", "", code)
    found = {next(g for g in m.groups() if g): kind for kind, how in DECLARES.items() for m in re.finditer(how, plain, re.M)}
    for m in re.finditer(LISTS, plain, re.M | re.S):
        for name in re.findall(r"\bX\((GGNN_\w+)|\b(GGNN_[A-Z0-9_]+)(?=(?: = [^,}]*)?\s*[,}])", m[0]):
            found.setdefault(name[0] or name[1], "enumerator")
    return {n: k for n, k in found.items() if not re.search(rf"#undef {n}$", plain, re.M) and not re.fullmatch(r"GGNN_\w*(H|CUH|REF)", n)}


def linked(text, known, here=()):
    """Text as HTML: each known name a link to its anchor; the first place of one of here is that anchor."""
    anchors = set(here)

    def mark(m):
        if m[0] in anchors:
            anchors.remove(m[0])
            return f'<b id="{m[0]}">{m[0]}</b>'
        return f'<a href="#{m[0]}">{m[0]}</a>' if m[0] in known else m[0]

    return re.sub(r"\b(?:ggnn|GGNN)_\w+", mark, html.escape(text))


def prose(text, known):
    """Lines that begin at the margin flow; indented ones are a table or a program, and stay as they are."""
    for part in re.findall(r"(?:^(?! ).+\n)+|(?:^ .+\n(?:\n(?= ))?)+", text + "\n", re.M):
        yield ("<pre>%s</pre>" if part.startswith(" ") else "<p>%s</p>") % linked(part.rstrip(), known)


def page(items):
    """The contents, and the body."""
    known, contents, body, path, sections = {}, [], [], None, 0
    for *_, names in items:
        known.update(names)
    for at, comment, code, names in items:
        first = at != path
        if first:
            path, title = at, f'<a href="#{at}">{at}</a>'
            contents.append(f"<h3>{title}</h3>")
            body.append(f'<h2 id="{at}">{at} <a class="top" href="#contents">contents</a></h2>')
        for level, mark, title in re.findall(r"^((=|-)\2{3}) (.*?)(?: \2+)?$", comment, re.M):
            sections += 1
            body.append(f'<h{3 + (mark == "-")} id="section-{sections}">{linked(title, known)}</h{3 + (mark == "-")}>')
            contents.append(f'<br><a href="#section-{sections}"><b>{html.escape(title)}</b></a>')
        if code and not names:  # a guard, an include, a pragma
            if not first:
                continue
            code = ""
        for name, kind in names.items():
            if kind == "function" and not comment.strip() and not re.search(rf"\b{name}\(.*(//|/\*)", code):
                sys.exit(f"{at}: {name} has no contract")
        comment = re.sub(r"^(={4}|-{4}).*\n?", "", comment, flags=re.M)
        contents += [f'<a href="#{n}">{n}</a>' for n, kind in names.items() if kind != "enumerator"]
        code = re.sub(HIDDEN, "", code, flags=re.M)
        code = code if at == WHOLE else re.sub(BODY, r"\1;", code, flags=re.M | re.S)
        body.append("<section>" + "".join(prose(comment, known)) + (f"<pre>{linked(code, known, names)}</pre>" if code else "") + "</section>")
    return contents, body


def main(out):
    items = [(path, comment, code, names_of(code)) for path in END for comment, code in items_of(api_of(path))]
    contents, body = page([i for i in items if i[1] or i[2]])
    title = html.escape(items[0][1].split("\n")[0])
    text = ['<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{STYLE}</style></head><body>", f'<h1>{title}</h1><nav id="contents">', *contents, "</nav>", *body, "</body></html>"]
    Path(out).parent.mkdir(parents=True, exist_ok=True)
    Path(out).write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 docs/api.py OUT.html, in the project's folder")
    main(sys.argv[1])
