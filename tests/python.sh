#!/usr/bin/env bash
# python.sh - an environment of Python with what a list names, outside the project: made aside, renamed when whole, used again
# while the list stays. Prints its folder of programs, to stand first in PATH. Where it cannot be made: a message, and exit
# status 1. `make test` needs none: tests in Python that lack something are skipped, and say so.
#   tests/python.sh [LIST]      LIST: requirements for pip; its line "# import: NAME ..." says what must be there [tests/python.txt]
set -eu
cd "$(dirname "$0")/.."
list=${1:-tests/python.txt}
folder=${XDG_CACHE_HOME:-$HOME/.cache}/ggnn-ci
place=$folder/$(cat "$list" <(python3 -V) | sha256sum | cut -c1-16)
if [ ! -x "$place/bin/python3" ]; then
    mkdir -p "$folder"
    aside=$(mktemp -d "$folder/aside.XXXXXX")
    trap 'rm -rf "$aside"' EXIT
    python3 -m venv --copies "$aside/venv"
    "$aside/venv/bin/python3" -m pip install -q --disable-pip-version-check --no-cache-dir -r "$list" >&2
    mv -T "$aside/venv" "$place" 2>/dev/null || [ -x "$place/bin/python3" ] # another one was first
fi
sed -n 's/^# import: //p' "$list" | tr ' ' '\n' | sed 's/^/import /' | "$place/bin/python3" - >&2
echo "$place/bin"
