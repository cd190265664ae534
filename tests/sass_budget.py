#!/usr/bin/env python3
"""sass_budget.py - the machine code of kernels, held to the limits of a budget file.

    sass_budget.py --nvdisasm PATH --budget FILE [--kernel NAME] [--print] REPORT CUBIN
    sass_budget.py --nvdisasm PATH (--show NAME | --budget FILE --write) REPORT CUBIN

REPORT is what `ptxas -v` said, CUBIN what it made. nvdisasm must print JSON: that of CUDA 13 does.
--kernel   the limits of that kernel alone, and no word about kernels without a budget
--print    figures over a limit are printed, and are no failure
--show     the loops of that kernel, each with its measures and its instructions by opcode; of all kernels: ''
--write    the budget file with the figures of this CUBIN in place of its limits

A line of the budget file:   ARCHITECTURE  KERNEL  SCOPE  MEASURE<=LIMIT MEASURE>=LIMIT ...      # begins a comment
KERNEL     demangled, without blanks, arguments and namespaces: reduce_lists<sum_op<matrix_rows,false>,4>
SCOPE      untrained   the trainer's usual path does not launch it: no limits. * stands for any text of KERNEL
           whole       the whole kernel
           UNIT@LOOP   a loop, by its number in the order of addresses, from 0; UNIT: what a turn of it does, in words
           UNIT@LOOP/N a turn of it is N units
           UNIT@LOOP-  a turn of it that enters none of the loops inside of it
Measures of the whole:  regs, smem (bytes), spills (bytes, with the stack's); any opcode: how many instructions begin with
           it; loop.OPCODE: how many of them are in loops. Slow paths of divisions, which are calls, are left out.
Measures of a loop, along its hot path: of a turn's paths with most of the widest loads, of these with most stores, the one
with fewest instructions. Inner loops are gone through once.
           insns   instructions a unit
           flight  most loads of global memory under way at once, in a thread
           bytes   those loads' bytes
           trips   waits for memory, one after the other, a turn: a load's first use waits for all issued before it
           loops   loops inside of it
           any opcode: how many instructions of a turn begin with it
A kernel of the CUBIN that is not `untrained` needs a line `whole`, and one of a loop if it has loops.
"""
import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
from collections import Counter

REGISTER = re.compile(r"\bR(\d+)(\.64)?")
LIMIT = re.compile(r"([\w.]+)(<=|>=)(\d+(?:\.\d+)?)$")


def width(opcode):
    """Registers of a load."""
    return 4 if ".128" in opcode else 2 if ".64" in opcode else 1


def is_load(opcode):
    return opcode.startswith(("LDG", "LD.E", "ATOMG"))


def is_store(opcode):
    return opcode.startswith(("STG", "RED"))


def begins(opcode, name):
    return opcode == name or opcode.startswith(name + ".")


def memory_of(path):
    """flight, bytes and trips of instructions in order. A load's data come one trip after its issue; the first instruction
    that names one of its registers waits for them, and so for all loads issued before."""
    now = flight = most = 0
    under = []  # (arrival, registers) of each load under way
    for opcode, operands in path:
        named = set()
        for number, wide in REGISTER.findall(operands):
            named.update(range(int(number), int(number) + (2 if wide else 1)))
        now = max([now] + [arrival for arrival, registers in under if registers & named])
        under = [load for load in under if load[0] > now]
        if is_load(opcode):
            first = REGISTER.search(operands)
            under.append((now + 1, set(range(int(first[1]), int(first[1]) + width(opcode))) if first else set()))
            flight = max(flight, len(under))
            most = max(most, 4 * sum(len(registers) for _, registers in under))
    return {"flight": flight, "bytes": most, "trips": now}


class Kernel:
    def __init__(self, function):
        self.mangled, self.name = function["function-name"], ""
        self.ptxas = {}
        self.code = [(i["opcode"], i.get("operands", "")) for i in function["sass-instructions"]]
        self.guarded = [bool(i.get("predicate")) for i in function["sass-instructions"]]
        self.first = function["start"] // 16
        self.divide()
        self.walk()
        self.find_loops()

    def divide(self):
        """Basic blocks, (first, end), and each one's successors."""
        targets, joins, leaders = {}, {}, {0}
        for at, (opcode, operands) in enumerate(self.code):
            last = operands.split(",")[-1]
            if opcode.startswith("BSSY"):
                joins[operands.split(",")[0]] = int(last, 16) // 16 - self.first
            elif opcode.startswith("BSYNC"):
                targets[at] = joins.get(operands, at + 1)
            elif opcode.startswith("BRA"):
                targets[at] = int(last, 16) // 16 - self.first
            if at in targets or opcode.startswith(("EXIT", "RET", "BRX")):
                leaders |= {targets.get(at, 0), at + 1}
        starts = sorted(at for at in leaders if at < len(self.code))
        number = {at: b for b, at in enumerate(starts)}
        self.blocks = list(zip(starts, starts[1:] + [len(self.code)]))
        self.next = []
        for _, end in self.blocks:
            opcode, operands = self.code[end - 1]
            jumps = end - 1 in targets
            leaves = jumps or opcode.startswith(("EXIT", "RET", "BRX"))
            always = leaves and not self.guarded[end - 1] and "," not in operands  # BRA.DIV and BRA P0 have two operands
            to = [number[targets[end - 1]]] if jumps else []
            if not always and end in number:
                to.append(number[end])
            self.next.append(to)

    def walk(self):
        """Blocks that are reached, the last to be left first; edges back to a block that is being walked."""
        self.order, self.back, state = [], set(), {0: "open"}
        stack = [(0, iter(self.next[0]))]
        while stack:
            b, successors = stack[-1]
            for t in successors:
                if t not in state:
                    state[t] = "open"
                    stack.append((t, iter(self.next[t])))
                    break
                if state[t] == "open":
                    self.back.add((b, t))
            else:
                state[b] = "left"
                self.order.append(b)
                stack.pop()

    def find_loops(self):
        before = {b: [a for a in self.order if b in self.next[a]] for b in self.order}
        bodies = {}
        for tail, head in self.back:
            body, work = bodies.setdefault(head, {head}), [tail]
            while work:
                b = work.pop()
                if b not in body:
                    body.add(b)
                    work += before[b]
        self.loops = [(head, bodies[head]) for head in sorted(bodies)]
        self.in_loops = set().union(*bodies.values()) if bodies else set()

    def instructions(self, blocks):
        return [i for b in blocks for i in self.code[slice(*self.blocks[b])]]

    def hot_path(self, head, body):
        widest = max((width(op) for op, _ in self.instructions(body) if is_load(op)), default=0)
        best = {}
        for b in self.order:  # each after its successors
            if b not in body:
                continue
            ways = [best[t] for t in self.next[b] if t in best and (b, t) not in self.back]
            if head in self.next[b]:
                ways.append(((0, 0, 0), ()))
            if ways:
                code = [op for op, _ in self.instructions([b])]
                loads, stores, length = max(ways)[0]
                loads += sum(is_load(op) and width(op) == widest for op in code)
                best[b] = ((loads, stores + sum(map(is_store, code)), length - len(code)), (b,) + max(ways)[1])
        return self.instructions(best[head][1]) if head in best else []

    def measure(self, scope, name):
        """A figure; None where there is no such loop."""
        if scope == "whole":
            if name in self.ptxas:
                return self.ptxas[name]
            code = self.instructions(sorted(self.in_loops)) if name.startswith("loop.") else self.code
            return sum(begins(op, name.removeprefix("loop.")) for op, _ in code)
        which, _, units = scope.partition("@")[2].partition("/")
        number = int(which.rstrip("-"))
        if number >= len(self.loops):
            return None
        head, body = self.loops[number]
        inner = [other for _, other in self.loops if other < body]
        path = self.hot_path(head, body.difference(*inner) if which.endswith("-") else body)
        if name == "loops":
            return len(inner)
        if name == "insns":
            return round(len(path) / int(units or 1), 2)
        return memory_of(path).get(name, sum(begins(op, name) for op, _ in path))


def short(name):
    """Of a demangled name: no blanks, arguments, result and namespaces."""
    for old, new in (("unsigned long long", "u64"), ("unsigned int", "u32"), ("unsigned short", "u16"), ("ggnni::", ""), ("train::", "")):
        name = name.replace(old, new)
    depth = 0
    for at, c in enumerate(name):
        depth += (c == "<") - (c == ">")
        if c == "(" and depth == 0:
            name = name[:at]
            break
    return name.removeprefix("void ").replace(" ", "")


def lines_of(path):
    with open(path, errors="replace") as file:
        return file.read().splitlines()


def read_report(path, arch):
    """{mangled name: its regs, smem, spills}"""
    figures = {}
    for line in lines_of(path):
        if m := re.search(r"Compiling entry function '(.*)' for '(.*)'", line):
            now = figures.setdefault(m[1], {}) if m[2] == arch else {}
        elif m := re.match(r" *(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            now["spills"] = sum(map(int, m.groups()))
        elif m := re.search(r"Used (\d+) registers", line):
            smem = re.search(r"(\d+) bytes smem", line)
            now.update(regs=int(m[1]), smem=int(smem[1]) if smem else 0)
    return figures


def read_kernels(nvdisasm, report, cubin):
    printed = subprocess.run([nvdisasm, "-json", cubin], capture_output=True, text=True)
    if printed.returncode:
        sys.exit(f"  FAILED {nvdisasm} {cubin}: {printed.stderr.strip()}")
    head, functions = json.loads(printed.stdout)[:2]
    arch = "sm_%d%d" % (head["SM"]["version"]["major"], head["SM"]["version"]["minor"])
    figures = read_report(report, arch)
    kernels = [Kernel(f) for f in functions if f["function-name"] in figures]
    filt = subprocess.run([os.environ.get("CXXFILT", "c++filt")], input="\n".join(k.mangled for k in kernels),
                          check=True, capture_output=True, text=True).stdout.split("\n")
    for kernel, name in zip(kernels, filt):
        kernel.name, kernel.ptxas = short(name), figures[kernel.mangled]
    return arch, kernels


def read_budget(path):
    """(line number, architecture, kernel, scope, [(measure, sign, limit)])"""
    budget = []
    for number, line in enumerate(lines_of(path), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        limits = [LIMIT.match(word) for word in words[3:]]
        if len(words) < 3 or None in limits or (words[2] == "untrained") == bool(limits):
            sys.exit(f"{path}:{number}: not ARCHITECTURE KERNEL SCOPE MEASURE<=LIMIT ...")
        budget.append((number, *words[:3], [(m[1], m[2], float(m[3])) for m in limits]))
    return budget


def over(kernel, arch, scope, limits):
    """A sentence for each limit that is not kept."""
    for name, sign, limit in limits:
        figure = kernel.measure(scope, name)
        if figure is None:
            yield f"{kernel.name} ({arch}), {scope}: there is no such loop"
            return
        if figure > limit if sign == "<=" else figure < limit:
            yield f"{kernel.name} ({arch}), {scope}: {name} is {figure:g}, the limit is {'at most' if sign == '<=' else 'at least'} {limit:g}"


def unbudgeted(kernels, arch, budget, path):
    """A sentence for each kernel without a budget, and for each budget without a kernel."""
    names = {k.name for k in kernels}
    untrained = [b for b in budget if b[3] == "untrained"]
    scopes = Counter((b[2], "whole" if b[3] == "whole" else "loop") for b in budget if b[3] != "untrained")
    for number, _, name, scope, _ in budget:
        if not (fnmatch.filter(names, name) if scope == "untrained" else name in names):
            yield f"{path}:{number}: there is no kernel {name} of {arch}"
    for k in kernels:
        left_out = any(fnmatch.fnmatchcase(k.name, b[2]) for b in untrained)
        for kind in ["whole"] + ["loop"] * bool(k.loops):
            if left_out == bool(scopes[k.name, kind]):
                yield f"{k.name} ({arch}) {'is untrained, and has a budget' if left_out else f'has no budget: {path} needs a line of its {kind}'}"


def check(kernels, arch, args):
    budget = [b for b in read_budget(args.budget) if b[1] == arch and args.kernel in ("", b[2])]
    by_name = {k.name: k for k in kernels}
    faults = [] if args.kernel else list(unbudgeted(kernels, arch, budget, args.budget))
    if args.kernel and not (budget and args.kernel in by_name):
        faults.append(f"{args.kernel}: {'not in the cubin' if budget else 'not in ' + args.budget}")
    wrong = [s for _, _, name, scope, limits in budget if name in by_name for s in over(by_name[name], arch, scope, limits)]
    for sentence in faults:
        print("  FAILED " + sentence)
    for sentence in wrong:
        print(f"  {'over' if args.print else 'FAILED'} {sentence}")
    held = sum(len(b[4]) for b in budget)
    print(f"{arch}: {held} limits of machine code, of kernels {len({b[2] for b in budget if b[4]})}: {len(wrong)} not kept")
    return not faults and (args.print or not wrong)


def write(kernels, arch, path):
    """The file as it is, but for the limits."""
    by_name = {k.name: k for k in kernels}
    lines = lines_of(path)
    for number, of, name, scope, limits in read_budget(path):
        if of == arch and limits and name in by_name:
            words = " ".join(f"{m}{sign}{by_name[name].measure(scope, m):g}" for m, sign, _ in limits)
            lines[number - 1] = re.sub(r"\S+(<=|>=).*?( *#.*)?$", lambda old: words + (old[2] or ""), lines[number - 1], count=1)
    print("\n".join(lines))


def show(kernel):
    print(kernel.name, kernel.ptxas, len(kernel.code), "instructions")
    for number, (head, body) in enumerate(kernel.loops):
        path = kernel.hot_path(head, body)
        inner = [other for _, other in kernel.loops if other < body]
        print(f"  @{number} at {16 * kernel.blocks[head][0]:#x}{' with loops inside' if inner else ''}: insns {len(path)} of {len(kernel.instructions(body))}",
              memory_of(path), " ".join(f"{op} {n}" for op, n in sorted(Counter(op for op, _ in path).items())))
        if inner:
            path = kernel.hot_path(head, body.difference(*inner))
            print(f"  @{number}- without them: insns {len(path)}", memory_of(path))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nvdisasm", required=True)
    p.add_argument("--budget")
    p.add_argument("--kernel", default="")
    p.add_argument("--print", action="store_true")
    p.add_argument("--show")
    p.add_argument("--write", action="store_true")
    p.add_argument("report")
    p.add_argument("cubin")
    args = p.parse_args()
    arch, kernels = read_kernels(args.nvdisasm, args.report, args.cubin)
    if args.show is not None:
        for kernel in kernels:
            if args.show in ("", kernel.name):
                show(kernel)
    elif args.write:
        write(kernels, arch, args.budget)
    else:
        return 0 if check(kernels, arch, args) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
