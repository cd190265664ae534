#!/usr/bin/env bash
# gpu_run.sh - runs the GPU's tests, tools and bench, as `make gpu-kit` packed them (there it is run.sh) or as
# `make gpu-tests gpu` built them, and writes down what it finds, result by result. It needs a driver and cuBLAS, no compiler.
#   run.sh test       every test program; losses of training beside the CPU's
#   run.sh bench      the GPU's roofs, and every operation beside its roof, kernels of training beside their prediction;
#                     further words go to ggnn-bench
#   run.sh sanitize   a chosen few tests under compute-sanitizer: memcheck, racecheck
#   run.sh table      what these three wrote, as one table; each of them ends with it
# Options, before further words:
#   --out FOLDER      where results go [gpu-results]: eight files at most
#   --bin FOLDER      where the programs are [bin, beside this script]
#   --cublas FOLDER   where libcublas.so is [searched: LD_LIBRARY_PATH, the toolkit, the wheels of PyPI]
#   --predicted FILE  what bench/gpu_step.py --cases printed [predicted.tsv, beside this script]
#   --emulated        the programs are those of `make cuda-tests emulated`
#   --only "NAME ..." of the test programs these
#   --seconds N       that test, bench or sanitize may take [400]
# Each goes on after a failure. Exit status: 0, 1 where something failed, 2 for a wrong call, 3 where there is no GPU or no cuBLAS.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=gpu-results bin=$here/bin cublas= predicted=$here/predicted.tsv emulated= only= seconds=400
fail() { echo "gpu: $2" >&2; exit "$1"; }
usage() { sed -n '2,18s/^# \{0,1\}//p' "$0"; }
command=${1:-} && shift
case $command in
test | bench | sanitize | table) ;;
--help | -h) usage; exit 0 ;;
*) usage >&2; exit 2 ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    --out | --bin | --cublas | --predicted | --only | --seconds)
        [ $# -gt 1 ] || fail 2 "$1: what follows is missing"
        declare "${1#--}=$2"
        shift 2
        ;;
    --emulated) emulated=1 && shift ;;
    *) break ;;
    esac
done
[ "$command" = bench ] || [ $# = 0 ] || fail 2 "unknown: $1"
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail 2 "--seconds $seconds: a number from 1 on"
[ ! -d "$bin" ] || bin=$(cd "$bin" && pwd)
if [ -n "$emulated" ]; then backend=cuda-emulated tests=$bin/tests; else backend=cuda tests=$bin/gpu-tests; fi
suffix=${backend#cuda} suffix=${suffix:--cuda}
[ -d "$tests" ] || [ "$command" = table ] || fail 2 "$tests is not there: --bin FOLDER says where the programs are"
mkdir -p "$out" || fail 2 "--out $out: the folder cannot be made"
out=$(cd "$out" && pwd)
deadline=$((SECONDS + seconds))
[ ! -d "$here/lib" ] || export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} # OpenMP's
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
export CUDA_MODULE_LOADING=EAGER # a captured graph may be the first to use a kernel, which cannot be loaded then

# ==== the machine =====================================================================================================

# Libraries of the programs that this machine lacks, or that are older than they want.
missing() { ldd "$bin/ggnn-train$suffix" 2>&1 | awk '/not found/ { print /version/ ? $4 : $1 }' | sort -u; }

# cuBLAS is the one library that comes neither with the programs nor with the driver.
find_cublas() {
    local library folder
    library=$(missing | grep '^libcublas\.so')
    [ -n "$library" ] || return 0
    for folder in ${cublas:+"$cublas"} /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /opt/cuda/lib64 /usr/lib/*-linux-gnu \
        $(python3 -c 'import site; print(*site.getsitepackages(), site.getusersitepackages(), sep="\n")' 2>/dev/null |
            sed 's|$|/nvidia|' | xargs -I{} find {} -maxdepth 3 -name "$library" -printf '%h\n' 2>/dev/null); do
        [ -e "$folder/$library" ] || continue
        export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        return 0
    done
    fail 3 "$library is not found: install CUDA's cuBLAS, or its wheel from PyPI, and say --cublas FOLDER"
}

find_gpu() {
    [ -z "$emulated" ] || { echo "the emulator"; return; }
    nvidia-smi --query-gpu=name,memory.total,driver_version,compute_cap --format=csv,noheader 2>/dev/null | grep . ||
        fail 3 "no GPU: nvidia-smi finds none. --emulated runs the emulator's programs"
}

look() {
    local gpu
    gpu=$(find_gpu) || exit 3
    find_cublas
    [ -z "$(missing)" ] || fail 3 "this machine lacks $(missing | tr '\n' ' ')which the programs want"
    { echo "$gpu"; uname -srm; ldd --version | head -n 1; date +%Y-%m-%d; [ ! -f "$here/VERSION" ] || cat "$here/VERSION"; } >"$out/machine.txt"
}

# ==== results.tsv: kind, what, passed, failed, skipped, seconds, why; tabs between them ================================

# row KIND WHAT PASSED FAILED SKIPPED SECONDS WHY; the result of an earlier run goes
row() {
    local file=$out/results.tsv
    {
        [ ! -f "$file" ] || awk -F'\t' -v kind="$1" -v what="$2" '$1 != kind || $2 != what' "$file"
        (IFS=$'\t' && echo "$*")
    } >"$file.new" && mv "$file.new" "$file"
    shift
    printf '  %-34s %5s passed %3s failed %3s skipped %5s s  %s\n' "$@"
}

# run KIND WHAT COMMAND...: a test program; its closing line is "N passed, N failed, N skipped". It may take two thirds of the
# time that is left, so that one that hangs leaves some for the others.
run() {
    local kind=$1 what=$2 left=$(((deadline - SECONDS) * 2 / 3)) began=$SECONDS line why code log
    shift 2
    [ "$left" -gt 0 ] || { row "$kind" "$what" 0 0 1 0 "not run: the $seconds s are over"; return; }
    log=$(mktemp)
    timeout -k 5 "$left" "$@" >"$log" 2>&1
    code=$?
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    why=$(grep -E '^  (FAILED|skipped|note)' "$log" | head -n 3 | cut -c 3-160 | tr '\t\n' ' ;')
    read -r passed _ failed _ skipped _ <<<"${line:-0 passed, 0 failed, 0 skipped}"
    if [ -n "$line" ] && [ $((passed + failed + skipped)) = 0 ]; then failed=1 why="no test ran"; fi
    if [ -z "$line" ] || { [ $code -ne 0 ] && [ "$failed" = 0 ]; }; then
        failed=$((failed + 1))
        if [ $((SECONDS - began)) -ge "$left" ]; then why="did not end in $left s"; else why="exit status $code: $(tail -n 1 "$log" | cut -c 1-120)"; fi
    fi
    { echo "==== $what: $*"; cat "$log"; } >>"$out/$kind.log"
    rm -f "$log"
    row "$kind" "$what" "$passed" "$failed" "$skipped" $((SECONDS - began)) "$why"
}

# The programs by name, those that start others last.
programs() {
    local all
    all=$(cd "$tests" && ls | grep -E '^test_cuda_[a-z_]+$')
    for name in ${only:-$(grep -vE '_(train|split|nccl)$' <<<"$all") $(grep -E '_(train|split|nccl)$' <<<"$all")}; do
        [ -e "$tests/$name" ] || fail 2 "--only $name: there is no such program"
        echo "$name"
    done
}

# ==== test ============================================================================================================

losses_of() { sed -n 's/.*"event":"epoch".*"loss":\([-+0-9.einfa]*\),"val_loss":\([-+0-9.einfa]*\),.*/\1 \2/p' "$1"; }

# Three models over the same batches: every epoch's losses within 1e-4 of the CPU's, relative; and the logits of the CPU's model.
losses() {
    local work model where
    work=$(mktemp -d)
    "$bin/ggnn-data" generate planted "$work/data.ggnn" --nodes 4000 --edges 40000 >/dev/null
    for model in gcn sage gat; do
        printf '#!/bin/sh\ncd "%s"\n' "$work" >"$work/both"
        for where in cpu $backend; do
            printf '"%s/ggnn-train" --data data.ggnn --model %s --layers 2 --fanout 10,5 --hidden 32 --epochs 3 --batch 512 --backend %s --log %s.log --save %s.ckpt || exit 1\n' \
                "$bin" "$model" "$where" "$where" "$where" >>"$work/both"
        done
        {
            declare -f losses_of
            printf 'paste -d" " <(losses_of cpu.log) <(losses_of %s.log) | awk %q\n' "$backend" '
                function far(a, b) { d = (a > b ? a - b : b - a) / a; if (d > most) most = d; return !(d <= 1e-4) }
                { printf "epoch %d: losses %s %s, of the CPU %s %s\n", NR, $3, $4, $1, $2; bad += NF != 4 || far($1, $3) + far($2, $4) }
                END {
                    printf "  note: %.1e at most beside the CPU, relative\n", most
                    if (bad || NR != 3) print "  FAILED losses are not those of the CPU within 1e-4"
                    printf "%d passed, %d failed, 0 skipped\n", !(bad || NR != 3), bad || NR != 3
                }'
        } >>"$work/both"
        run test "losses $model" bash "$work/both"
        printf '#!/bin/sh\ncd "%s"\n' "$work" >"$work/both"
        for where in cpu $backend; do
            printf '"%s/ggnn-train" predict --load cpu.ckpt --data data.ggnn --backend %s --out %s.csv || exit 1\n' "$bin" "$where" "$where" >>"$work/both"
        done
        printf 'paste -d, cpu.csv %s.csv | awk -F, %q\n' "$backend" '
            NR == 1 { next }
            /nan|inf/ { bad++ }
            {
                for (i = 2; i <= NF / 2; i++) {
                    d = $i - $(i + NF / 2)
                    if (d < 0) d = -d
                    if (d > most) most = d
                    if ($i > largest) largest = $i
                }
            }
            END {
                printf "  note: of %d nodes, %.1e at most beside the CPU, of the largest logit %g\n", NR - 1, most, largest
                good = NR == 4001 && !bad && largest > 0 && most <= 1e-4 * largest
                if (!good) print "  FAILED logits are not those of the CPU within 1e-4 of the largest"
                printf "%d passed, %d failed, 0 skipped\n", good, !good
            }' >>"$work/both"
        run test "predictions $model" bash "$work/both"
    done
    rm -rf "$work"
}

test_all() {
    local name names
    names=$(programs) || exit
    for name in $names; do run test "$name" "$tests/$name" ${emulated:+--quick}; done # the emulator's are run whole elsewhere
    [ -n "$emulated$only" ] || run test test_show "$bin/tests/test_show" the_gpu_prints_what_the_cpu_prints
    losses
}

# ==== bench ===========================================================================================================

# A wrong answer of an operation fails, after all others have run; the time limit leaves what was measured in bench.json.
bench_all() {
    local began=$SECONDS code
    OMP_NUM_THREADS=$(nproc) timeout -k 5 "$seconds" "$bin/ggnn-bench$suffix" --backend $backend --json "$out/bench.json" "$@" 2>&1 | tee "$out/bench.log"
    code=${PIPESTATUS[0]}
    row bench "ggnn-bench${*:+ $*}" $((code == 0)) $((code != 0)) 0 $((SECONDS - began)) "$([ $code = 0 ] || echo "exit status $code; bench.json has what was measured")"
}

# ==== sanitize ========================================================================================================

# Few and different: tables with atomics, samplers in shared memory, captured batches, long rows.
memchecked="test_cuda_unique test_cuda_sample test_cuda_block test_cuda_spmm"
racechecked="test_cuda_unique test_cuda_sample test_cuda_spmm"

sanitize_all() {
    local sanitizer name
    sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
    [ -z "$emulated" ] || sanitizer=
    [ -n "$sanitizer" ] || { row sanitize compute-sanitizer 0 0 1 0 "it is not installed"; return; }
    for name in ${only:-$memchecked}; do
        run sanitize "memcheck $name" "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 9 "$tests/$name"
    done
    for name in ${only:-$racechecked}; do
        run sanitize "racecheck $name" "$sanitizer" --tool racecheck --report-api-errors no --error-exitcode 9 "$tests/$name" --quick # some take minutes there
    done
}

# ==== the table =======================================================================================================

# What is measured over what is predicted for this GPU; a share is the roof's least time over that: all bytes', where predicted.
beside() {
    awk -F'\t' -v gpu="$(head -n 1 "$out/machine.txt" 2>/dev/null)" '
        FNR == NR && FNR == 1 { for (i = 3; i <= NF; i += 2) if (index(gpu, substr($i, 1, length($i) - 3))) us = i; next }
        FNR == NR { if (us) { of[$1, $2] = $us; share[$1, $2] = $(us + 1) } next }
        /^[a-z]+: / { name = substr($0, 1, index($0, ":") - 1); next }
        match($0, / +[0-9]+ +[0-9.]+ (ns|us|ms|s) /) {
            what = substr($0, 3, RSTART - 3)
            if (!((name, what) in of)) next
            split(substr($0, RSTART, RLENGTH), word, " ")
            took = word[2] * (word[3] == "ns" ? .001 : word[3] == "us" ? 1 : word[3] == "ms" ? 1e3 : 1e6)
            roof = match($0, /[0-9.]+ % of .*/) ? substr($0, RSTART) : ""
            if (!rows++) print "| case | predicted | measured | ratio | share, predicted | measured |\n|---|---|---|---|---|---|"
            printf "| %s: %s | %.1f us | %.1f us | %.2f | %d %% | %s |\n", name, what, of[name, what], took, took / of[name, what], share[name, what], roof
        }
        END { if (!rows) print (us ? "no case of the prediction was measured" : "nothing is predicted for this GPU") }' "$predicted" "$out/bench.log"
}

table() {
    local kind
    echo "# $(head -n 1 "$out/machine.txt" 2>/dev/null || echo "no machine was looked at")"
    sed '1d; s/^/- /' "$out/machine.txt" 2>/dev/null
    for kind in test bench sanitize; do
        printf '\n## %s\n\n' "$kind"
        awk -F'\t' -v kind="$kind" '
            $1 != kind { next }
            !rows++ { print "| | passed | failed | skipped | s | why |\n|---|---|---|---|---|---|" }
            { printf "| %s | %s | %s | %s | %s | %s |\n", $2, $3, $4, $5, $6, $7; passed += $3; failed += $4; skipped += $5; all += $6 }
            END { if (rows) printf "| all | %d | %d | %d | %d | |\n", passed, failed, skipped, all; else print "not run" }' "$out/results.tsv"
    done
    if [ -f "$out/bench.log" ] && [ -f "$predicted" ]; then printf '\n## kernels of training beside their prediction\n\n' && beside; fi
    [ ! -f "$out/bench.log" ] || { printf '\n## operations beside their roofs\n\n```\n'; cat "$out/bench.log"; echo '```'; }
}

# Did a row of this kind fail? Of all kinds, where none is named.
failed() { awk -F'\t' -v kind="${1:-}" '(!kind || $1 == kind) && $4 > 0 { found = 1 } END { exit !found }' "$out/results.tsv"; }

touch "$out/results.tsv"
if [ "$command" = table ]; then
    table
    ! failed
    exit
fi
look
: >"$out/$command.log"
"${command}_all" "$@"
table >"$out/table.md"
echo "results: $out/table.md"
! failed "$command"
