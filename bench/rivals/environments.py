"""environments.py - throw-away virtual environments for the rivals, and libggnn.so, all outside the source
tree."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHONS = {
    "dgl": ((3, 10), (3, 12)),
    "torch": ((3, 11), (3, 14)),
    "plot": ((3, 9), (3, 14)),
}  # that the pinned versions have


def home():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("GGNN_RIVALS") or os.path.join(cache, "ggnn-rivals")


def source_of(package, name):
    """A module of the Python package, by its file: it needs no compiled library."""
    path = os.path.join(ROOT, "python", package, name + ".py")
    spec = importlib.util.spec_from_file_location(f"{package}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def version_of(python):
    try:
        text = subprocess.run(
            [python, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.split()
        return tuple(map(int, text)) if len(text) == 2 else None
    except (OSError, subprocess.TimeoutExpired):
        return None


def find_python(name):
    """A Python that the environment's pinned packages have binaries for."""
    least, most = PYTHONS[name]
    for python in [sys.executable] + [
        shutil.which(f"python3.{minor}") for minor in range(most[1], least[1] - 1, -1)
    ]:
        version = version_of(python) if python else None
        if version and least <= version <= most:
            return python
    return None


def requirements(name):
    return os.path.join(HERE, f"requirements-{name}.txt")


def mark_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no message"])[-1][:300]


def pip(folder, name, log, *options):
    """Installs a requirements file unless that has been done already. None, or why not."""
    path, done = requirements(name), os.path.join(folder, f"installed-{name}")
    if os.path.exists(done) and open(done).read() == mark_of(path):
        return None
    log(f"{folder}: installing {os.path.basename(path)}")
    run = subprocess.run(
        [
            os.path.join(folder, "bin", "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *options,
            "-r",
            path,
        ],
        capture_output=True,
        text=True,
    )
    with open(done + ".log", "w") as file:
        file.write(run.stdout + run.stderr)
    if run.returncode:
        return last_line(run.stderr or run.stdout)
    with open(done, "w") as file:
        file.write(mark_of(path))
    return None


def prepare(name, log, build=False):
    """(python of the environment or None, reason or None): the reason may be of packages that had to be
    built."""
    folder = os.path.join(home(), name)
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        base = find_python(name)
        if not base:
            return None, "no Python %d.%d to %d.%d with venv is installed" % (
                *PYTHONS[name][0],
                *PYTHONS[name][1],
            )
        log(f"{folder}: made by {base}")
        made = subprocess.run([base, "-m", "venv", folder], capture_output=True, text=True)
        if made.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            return None, last_line(made.stderr or made.stdout)
    why = pip(folder, name, log)
    if why:
        return None, why
    if build and os.path.exists(requirements(name + "-build")):
        return python, pip(folder, name + "-build", log, "--no-build-isolation")
    return python, None


def compile_library(path, sources, *options, openmp=False):
    """By the tools' flags; openmp: with it, where there is one. None, or why not."""
    if os.path.exists(path) and all(os.path.getmtime(path) > os.path.getmtime(s) for s in sources):
        return None
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-std=c99", "-O2", "-ffp-contract=off"]
    command += ["-D_GNU_SOURCE", "-fvisibility=hidden", *options, "-o", path, "-lm", "-lpthread"]
    for extra in (["-fopenmp"], []) if openmp else ([],):
        run = subprocess.run(command + extra, capture_output=True, text=True)
        if run.returncode == 0:
            return None
    return last_line(run.stderr)


def library(log):
    """ggnn.h alone as a shared library, and beside it the two of the Python package. (path, None) or (None, why)."""
    os.makedirs(home(), exist_ok=True)
    path = os.path.join(home(), "libggnn.so")
    header, frontier, package = (
        os.path.join(ROOT, *name) for name in (("ggnn.h",), ("ggnn_frontier.h",), ("python", "ggnn_py.c"))
    )
    log(f"{path}: compiling")
    shown = ["-fvisibility=default", "-DGGNN_IMPLEMENTATION", "-x", "c"]
    why = compile_library(path, [header], *shown, header, openmp=True)
    for bits, wide in ((32, []), (64, ["-DGGNN_NODE64"])):
        of_package = os.path.join(home(), f"libggnn{bits}.so")
        why = why or compile_library(of_package, [header, frontier, package], *wide, "-I", ROOT, package)
    return (None, why) if why else (path, None)
