#!/usr/bin/env bash
# kit.sh - does gpu_run.sh write down what happens on a GPU, whatever happens? With programs that pass, fail, break off and
# never end in place of the GPU's, and with the emulator's where BUILD has them. One line a check: "ok ..." or "  FAILED ...".
#   tests/kit.sh          with one program of the emulator's and a few names of its bench
#   tests/kit.sh whole    all that run.sh test does, to its end, with the emulator's programs, which leave out tests of seconds: nothing else
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
says() { # says NAME WANTED FOUND
    if [ "$2" = "$3" ]; then echo "ok kit: $1"; else printf '  FAILED kit: %s: "%s", not "%s"\n' "$1" "$3" "$2"; fi
}
has() { # has NAME FILE TEXT
    if grep -qF -- "$3" "$2"; then echo "ok kit: $1"; else printf '  FAILED kit: %s: "%s" is not in %s\n' "$1" "$3" "$(head -c 2000 "$2")"; fi
}
program() { # program NAME LINE...: a shell script in place of one
    mkdir -p "$(dirname "$work/bin/$1")"
    { echo '#!/bin/sh'; printf '%s\n' "${@:2}"; } >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
running() { # running COMMAND OPTION...: on a "GPU", prints the exit status
    PATH=$work/path:$PATH bash tests/gpu_run.sh "$1" --bin "$work/bin" --out "$work/out" "${@:2}" >"$work/said" 2>&1
    echo $?
}

emulated() { # emulated COMMAND OPTION...: with the emulator's programs
    [ -x "$build/ggnn-bench-emulated" ] || { echo "  skipped kit: the emulator's programs are not built"; exit; }
    says "$1 with the emulator's programs" 0 "$(bash tests/gpu_run.sh "$1" --emulated --bin "$build" --out "$work/emulated" "${@:2}" >"$work/said" 2>&1; echo $?)"
}

if [ "${1:-}" = whole ]; then
    emulated test --seconds 1200
    for program in $(ls tests/*/test_cuda_*.cc | sed 's|.*/||; s|\.cc$||'); do
        has "$program is in its table" "$work/emulated/table.md" "| $program |"
    done
    for what in losses predictions; do has "and the $what" "$work/emulated/table.md" "| $what gat | 1 | 0 | 0 |"; done
    exit
fi

mkdir -p "$work/path"
printf '#!/bin/sh\necho "A GPU, 1 MiB, 1.2, 9.0"\n' >"$work/path/nvidia-smi"
printf '#!/bin/sh\nexit 6\n' >"$work/none"
chmod +x "$work/path/nvidia-smi" "$work/none"
program gpu-tests/test_cuda_good 'echo "  skipped c: no NCCL"' 'echo "2 passed, 0 failed, 1 skipped"'
program gpu-tests/test_cuda_bad 'echo "  FAILED d"' 'echo "1 passed, 1 failed, 0 skipped"' 'exit 1'
program gpu-tests/test_cuda_broken 'kill -9 $$'
program gpu-tests/test_cuda_empty 'echo "0 passed, 0 failed, 0 skipped"'
program gpu-tests/test_cuda_long 'sleep 60'
program tests/test_show 'echo "1 passed, 0 failed, 0 skipped"'
program ggnn-data true
program ggnn-train-cuda true
loss='for e in 1 2 3; do echo "{\"event\":\"epoch\",\"epoch\":$e,\"loss\":$l,\"val_loss\":2.5,\"x\":0}"; done >$where.log'
where='where=cpu; case "$*" in *"cuda"*) where=cuda ;; esac'
logits() { echo "case \$*.\$where in predict*cuda) l=$1 ;; predict*) l=1.5 ;; esac"; }
csv='case $1 in predict) awk "BEGIN { print \"node,a,b\"; for (i = 0; i < 4000; i++) print i \",-.5,$l\" }" >$where.csv; exit ;; esac'
program ggnn-train "$where" l=1.5 'case "$*" in *gat*cuda*) l=1.501 ;; esac' "$(logits nan)" "$csv" "$loss"
program ggnn-bench-cuda 'shift 3; echo "{}" >"$1"; shift; echo "gather 80 % of copy $*"'

# ==== test: goes on after each, and says why ==========================================================================
says "a test that fails is exit status 1" 1 "$(running test --seconds 9)"
table=$work/out/table.md
has "the table names the GPU" "$table" "# A GPU, 1 MiB, 1.2, 9.0"
has "what passed, and why some was skipped" "$table" "| test_cuda_good | 2 | 0 | 1 |"
has "the skip's reason" "$table" "skipped c: no NCCL"
has "what failed" "$table" "FAILED d"
has "a program that runs no test" "$table" "| test_cuda_empty | 0 | 1 | 0 | 0 | no test ran |"
has "a program that was killed" "$table" "exit status 137"
has "losses as the CPU's" "$table" "| losses sage | 1 | 0 | 0 |"
has "a program that does not end" "$table" "did not end in"
says "a program after the time is over is not run" 1 "$(running test --seconds 2 --only "test_cuda_long test_cuda_long test_cuda_good")"
has "and the table says it" "$table" "| test_cuda_good | 0 | 0 | 1 | 0 | not run: the 2 s are over |"
rm -r "$work/bin/gpu-tests/test_cuda_long" "$work/bin/gpu-tests/test_cuda_empty" "$work/bin/gpu-tests/test_cuda_b"*
says "losses far from the CPU's fail" 1 "$(running test)"
has "the table names them" "$table" "FAILED losses are not those of the CPU within 1e-4"
has "and logits that are no numbers" "$table" "| predictions gcn | 0 | 1 | 0 |"
program ggnn-train "$where" l=1.5 "$(logits 1.5002)" "$csv" "$loss"
running test >/dev/null
has "and those that are far" "$table" "FAILED logits are not those of the CPU within 1e-4 of the largest"
program ggnn-train "$where" l=1.5 "$(logits 1.5001)" "$csv" "$loss"
rm -r "$work/out"
says "what passes is exit status 0" 0 "$(running test)"

# ==== bench, sanitize, table ==========================================================================================
says "the bench runs" 0 "$(running bench gather --quick)"
has "and the table has it" "$table" "gather 80 % of copy gather --quick"
printf 'name\tcase\tB GPU us\tB GPU %%\tA GPU us\tA GPU %%\ngather\t400 B x 9\t1.0\t99\t50.0\t80\nspmm\tsum\t1.0\t99\t2.0\t70\n' >"$work/predicted"
program ggnn-bench-cuda 'shift 3; echo "{}" >"$1"' 'echo "spmm: sums"' 'echo "  400 B x 9      1   9.00 us   8 us - 9 us   1 G rows/s   3.0  9 % of copy"' \
    'echo "gather: rows"' 'echo "  400 B x 9      1   0.10 ms   8 us - 9 us   1 G rows/s   3.0  70 % of copy"' 'echo "    400 B x 9      1   7.00 us"'
running bench --predicted "$work/predicted" >/dev/null
has "what was measured lies beside the prediction for that GPU" "$table" "| gather: 400 B x 9 | 50.0 us | 100.0 us | 2.00 | 80 % | 70 % of copy |"
says "and nothing else does" 1 "$(grep -c '^| .* us |' "$table")"
sed -i s/A/C/g "$work/predicted"
running bench --predicted "$work/predicted" >/dev/null
has "another GPU has no prediction" "$table" "nothing is predicted for this GPU"
says "what there is no sanitizer for is skipped" 0 "$(running sanitize)"
has "and the table says it" "$table" "| compute-sanitizer | 0 | 0 | 1 | 0 | it is not installed |"
says "eight files at most" 1 "$(($(ls "$work/out" | wc -l) <= 8))"
says "the table again" 0 "$(running table)"
program gpu-tests/test_cuda_bad 'echo "1 passed, 1 failed, 0 skipped"' 'exit 1'
running test --only test_cuda_bad >/dev/null
says "the table of a failure is exit status 1" 1 "$(running table)"

# ==== errors ==========================================================================================================
says "an unknown program" 2 "$(running test --only nothing)"
has "is named" "$work/said" "--only nothing: there is no such program"
says "an unknown word" 2 "$(running test gather)"
says "no value" 2 "$(running test --out)"
says "no seconds" 2 "$(running test --seconds 0)"
says "no command" 2 "$(running nothing)"
cp "$work/none" "$work/path/nvidia-smi"
says "no GPU" 3 "$(running test)"
has "is said" "$work/said" "no GPU: nvidia-smi finds none"

# ==== the emulator's programs =========================================================================================
emulated bench gather unique input --quick
emulated test --only test_cuda_unique
for what in losses predictions; do has "$what of the emulator's" "$work/emulated/table.md" "| $what gat | 1 | 0 | 0 |"; done
