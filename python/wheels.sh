#!/usr/bin/env bash
# wheels.sh - wheels for Linux on x86-64 and aarch64 that run from glibc 2.17 on, of any machine's making: zig's C compiler, which
# comes as a Python package, has the old libraries of both.
#   python/wheels.sh FOLDER [PYTHON]     PYTHON has what python/tests/requirements.txt lists [python3]
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd) python=${2:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for arch in x86_64 aarch64; do
    printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s-linux-gnu.2.17 "$@"\n' "$python" "$arch" >"$work/cc-$arch"
    chmod +x "$work/cc-$arch"
    CC=$work/cc-$arch "$python" -m build --wheel --no-isolation --outdir "$work/$arch" -Ccmake.define.CMAKE_SYSTEM_NAME=Linux \
        -Ccmake.define.CMAKE_SYSTEM_PROCESSOR=$arch -Ccmake.define.CMAKE_C_COMPILER_WORKS=1 . >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
    "$python" -m wheel tags --remove --platform-tag "manylinux2014_$arch" "$work/$arch"/*.whl >/dev/null
    mv "$work/$arch"/*.whl "$folder/"
done
ls -l "$folder"/*.whl
