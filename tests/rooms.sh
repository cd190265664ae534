#!/usr/bin/env bash
# rooms.sh - does the source keep to the rooms of ARCHITECTURE.md? One line a check: "ok ..." or "  FAILED ...".
#   tests/rooms.sh [FOLDER]   the project's, or that of a copy
set -u
cd "${1:-$(dirname "$0")/..}" || exit 1

# A room, and what it may include besides itself. A header of the project's own folder is a room, and so is each folder.
may="
ggnn.h:
ggnn_cuda.cuh: ggnn.h
ggnn_plan.h:   ggnn.h
ggnn_frontier.h: ggnn.h
ggnn_reference.h: ggnn.h
common:        ggnn.h ggnn_plan.h
datasets:      ggnn.h ggnn_plan.h ggnn_reference.h ggnn_cuda.cuh common
trainer/device: ggnn.h common
trainer/ranks: ggnn.h common trainer/device
trainer/batch: ggnn.h common trainer/device trainer/ranks
trainer/net:   ggnn.h common trainer/device trainer/ranks trainer/batch
trainer/store: ggnn.h ggnn_plan.h common datasets trainer/device trainer/ranks trainer/batch
trainer/split: ggnn.h ggnn_plan.h common trainer/device trainer/ranks trainer/batch
trainer/factored: ggnn.h common trainer/device trainer/ranks trainer/batch trainer/net
trainer/cpu:   ggnn.h ggnn_plan.h common trainer/device trainer/batch trainer/net
trainer/cuda:  ggnn.h ggnn_cuda.cuh common trainer/device trainer/ranks trainer/batch trainer/net
trainer/options: ggnn.h common datasets trainer/device trainer/ranks trainer/net trainer/store
trainer/saved: ggnn.h common datasets trainer/net trainer/options
trainer:       ggnn.h ggnn_plan.h ggnn_reference.h common datasets trainer/device trainer/ranks trainer/batch trainer/net trainer/store trainer/split trainer/factored trainer/options trainer/saved
bench:         ggnn.h ggnn_plan.h ggnn_reference.h common datasets trainer/device trainer/ranks trainer/batch trainer/net trainer/store trainer/split trainer trainer/cpu
bench/cuda:    ggnn.h ggnn_reference.h ggnn_cuda.cuh common datasets trainer/device trainer/batch trainer/net trainer/store bench
examples:      ggnn.h ggnn_plan.h ggnn_frontier.h ggnn_cuda.cuh datasets bench
"
# Every include of a file of the project: who, whom. A name is looked for from the project's folder, then beside the includer.
includes() {
    grep -sE '^ *# *include +"[^"]+"' ggnn*.h ggnn*.cuh {common,datasets,trainer,trainer/*,bench,bench/cuda,examples}/*.{c,h,cu,cuh} /dev/null |
        sed -E 's/^([^:]*):.*"([^"]+)".*/\1 \2/' | while read -r who whom; do
        [ -f "$whom" ] || whom=$(dirname "$who")/$whom
        [ "$who" = "$whom" ] || [ ! -f "$whom" ] || echo "$who $whom" # ggnn.h includes its own loops; make writes some headers
    done
}
# A module is a .c with its .h. These headers have no .c of their name: each completes the module beside it.
completes="
trainer/device/ops:        trainer/device/device
trainer/ranks/comm_engine: trainer/ranks/comm
trainer/batch/ring:        trainer/batch/loader
trainer/net/layers:        trainer/net/net
"
modules() {
    awk -v completes="$completes" '
        BEGIN { words = split(completes, word, "[: \n]+"); for (w = 2; w < words; w += 2) of[word[w]] = word[w + 1] }
        { for (i = 1; i <= 2; i++) { sub("[.][^.]*$", "", $i); if ($i in of) $i = of[$i] } if ($1 != $2) print }' | sort -u
}
rooms() { awk '{ for (i = 1; i <= 2; i++) if (!sub("/[^/]*$", "", $i)) $i = $i; if ($1 != $2) print }' | sort -u; }

report() { # report NAME WHAT-IS-WRONG
    if [ -z "$2" ]; then echo "ok $1"; else printf '  FAILED %s\n%s\n' "$1" "$2"; fi
}
all=$(includes)
[ "$(echo "$all" | wc -l)" -gt 300 ] || { echo "  FAILED rooms: few includes are found"; exit 1; }
report "rooms: no header includes itself by way of others" "$(echo "$all" | tsort 2>&1 >/dev/null)"
report "rooms: no module is in a circle" "$(echo "$all" | modules | tsort 2>&1 >/dev/null)"
report "rooms: no room is in a circle" "$(echo "$all" | rooms | tsort 2>&1 >/dev/null)"
report "rooms: examples include no file of datasets/ and bench/ but ggnn_file.h and plugin.h, which are vendored alone" \
    "$(echo "$all" | grep -E '^examples/.* (datasets|bench)/' | grep -vE ' (datasets/ggnn_file|bench/plugin)\.h$')"
report "rooms: each includes what it may" "$(echo "$all" | rooms | awk -v may="$may" '
    BEGIN {
        lines = split(may, line, "\n")
        for (i = 1; i <= lines; i++) {
            words = split(line[i], word, "[: ]+")
            for (w = 2; w <= words; w++) allowed[word[1], word[w]]
        }
    }
    !(($1, $2) in allowed) { print "  " $1 " includes " $2 }')"
report "rooms: the top of trainer/ has at most 25 files" "$(ls trainer/*.[ch] | awk 'END { if (NR > 25) print "  " NR }')"

# CONTRIBUTING's table "Which test tests what": every module of a room and every test program is in it, and no other program.
row() { sed -n '/^## Which test/,/^## How/p' CONTRIBUTING.md | grep "^| $1 |"; }
untested() {
    for folder in common datasets trainer trainer/*/; do
        folder=${folder%/}
        row=$(row "${folder##*/}" | tr ':;,' '\n\n\n')
        ls "$folder"/*.{c,h,cu,cuh} 2>/dev/null | sed 's|.*/||; s|\.[^.]*$||' | sort -u | while read -r module; do
            echo "$row" | grep -qwF "$module" || echo "  $folder/$module"
        done
    done
    { row '[a-z]*' | grep -ow 'test_[a-z0-9_]*' | sort -u; ls tests/*/test_*.c* | sed 's|.*/||; s|\.[^.]*$||'; } | sort | uniq -u | sed 's/^/  /'
}
report "rooms: CONTRIBUTING says which test tests each module" "$(untested)"
