#!/usr/bin/env bash
# aarch64.sh - do the tools give on aarch64 what they give here? Those of BUILD/aarch64 run by qemu-user, those of BUILD
# as they are (tests/run.sh aarch64 builds both). One line a check: "ok ...", "  FAILED ...".
#   data      ggnn-data writes the same file, and samples the same mini-batch by every method
#   training  20 steps of GCN, GraphSAGE and GAT: each loss within 1e-6 of the one here (products may be fused)
set -u
cd "$(dirname "$0")/.." || exit 1
here=${BUILD:-build} there=${BUILD:-build}/aarch64
emulator=${EMULATOR:-qemu-aarch64 -L /usr/aarch64-linux-gnu}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 # two trainers run at once

# on MACHINE TOOL OPTION...
on() {
    if [ "$1" = here ]; then "$here/$2" "${@:3}"; else $emulator "$there/$2" "${@:3}"; fi
}
both() { # both NAME COMMAND...: the same bytes, and some
    local name=$1
    shift
    if "$@" here >"$work/here.out" 2>"$work/log" && "$@" there >"$work/there.out" 2>>"$work/log" && [ -s "$work/here.out" ] && cmp -s "$work/here.out" "$work/there.out"; then
        echo "ok aarch64: $name"
    else
        echo "  FAILED aarch64: $name is not the same as here"
        diff "$work/here.out" "$work/there.out" | head -n 4
        head -n 4 "$work/log"
    fi
}

generates() { # generates KIND MACHINE
    on "$2" ggnn-data generate "$1" "$work/$1.ggnn" --nodes 2000 --edges 20000 >/dev/null && cat "$work/$1.ggnn"
}
samples() { on "$2" ggnn-data sample "$work/planted.ggnn" --seeds 0,7,1999 --fanout 8,4 --sampler "$1"; }
trains() { # trains MODEL MACHINE: the log
    on "$2" ggnn-train --data "$work/planted.ggnn" --model "$1" --layers 2 --hidden 32 --fanout 5,5 --batch 1000 --epochs 20 --log "$work/$1.$2" >"$work/$1.$2.out" 2>&1
}
for kind in citation rmat planted; do both "the file of generate $kind" generates $kind; done
methods=$("$here/ggnn-data" sample --help | sed -n 's/^  --sampler *\([a-z|-]*\)$/\1/p' | tr '|' ' ')
[ -n "$methods" ] || echo "  FAILED aarch64: no samplers are found in the help"
for method in $methods; do both "a sample by $method" samples "$method"; done

# near MODEL: the losses of both logs, of training and of validation, a step each
near() {
    local machine
    for machine in here there; do
        sed -n 's/^{"event":"epoch",.*"loss":\([^,]*\),.*"val_loss":\([^,]*\),.*/\1\n\2/p' "$work/$1.$machine" >"$work/$1.$machine.losses"
    done
    paste -d ' ' "$work/$1.here.losses" "$work/$1.there.losses" | awk '
        NF == 2 && $1 > 0 { d = ($2 - $1) / $1; if (d < 0) d = -d; if (d > most) most = d; n++ }
        END { printf "%d losses, at most %.1e apart\n", n, most; exit n != 40 || NR != 40 || !(most <= 1e-6) }'
}
models="gcn sage gat"
for model in $models; do for machine in here there; do echo "$model $machine"; done; done |
    xargs -P "$(nproc 2>/dev/null || echo 2)" -L 1 bash -c "$(declare -f on trains); here=$here there=$there emulator='$emulator' work=$work; trains \$0 \$1"
for model in $models; do
    if said=$(near $model); then echo "ok aarch64: $model: $said"; else echo "  FAILED aarch64: $model: $said"; tail -n 2 "$work/$model".*.out; fi
done
