#!/usr/bin/env bash
# gpu.sh - what `make gpu-test`, `make gpu-sanitize` and `make gpu-bench` run: tests and benches of ggnn_cuda.cuh, built
# by nvcc, on the GPU.
#   tests/gpu.sh test       every tests/*/test_cuda_*.cc, and both programs with --backend cuda beside the CPU
#   tests/gpu.sh sanitize   the same programs under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
#   tests/gpu.sh bench ...  ggnn-bench --backend cuda with what follows (names, options), all samples in gpu-bench.json
# Where there is no GPU the programs are built all the same, and what would have run on it is skipped. The last line is
# "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 1
case ${1:-} in
test | sanitize | bench) command=$1 && shift ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
build=${BUILD:-build}
logs=$build/gpu-logs
mkdir -p "$logs"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "gpu: nvcc is not installed"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
passed=0 failed=0 skipped=0
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}

# The GPU's own architecture alone: half the compiler's time.
gpu=$(nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
arch=$(echo "$gpu" | awk -F', ' '{ gsub(/\./, "", $2); print $2 }')
echo "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p'); GPU: ${gpu:-none}"
targets="gpu-tests gpu"
[ "$command" = bench ] && targets=$build/ggnn-bench-cuda
if ! make -j"$(nproc)" BUILD="$build" ${arch:+GPU_ARCH="-arch=sm_$arch"} $targets >"$logs/build" 2>&1; then
    grep -m5 -E 'error[: ]|Error [0-9]' "$logs/build"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
programs=$(ls tests/*/test_cuda_*.cc | sed 's|.*/\(.*\)\.cc|\1|')

# run LOG COMMAND...: adds up the closing line of a test program; its failures are shown
run() {
    local log=$logs/$1 line code
    shift
    timeout -k 10 400 "$@" >"$log" 2>&1
    code=$?
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    if [ -z "$line" ] || { [ $code -ne 0 ] && [[ $line == *" 0 failed"* ]]; }; then
        failed=$((failed + 1))
        echo "  FAILED $*: exit status $code"
        tail -n 20 "$log"
    fi
    read -r p _ f _ s _ <<<"${line:-0 passed, 0 failed, 0 skipped}"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    case $line in *" 0 failed"*" 0 skipped") ;; *) grep -E '^  ' "$log" ;; esac
}

test_all() {
    for name in $programs; do
        echo "== $name"
        run "$name" "$build/gpu-tests/$name"
    done
    run test_show "$build/tests/test_show" the_gpu_prints_what_the_cpu_prints
}

sanitize_all() {
    local sanitizer
    sanitizer=$(command -v compute-sanitizer || echo "$(dirname "$nvcc")/compute-sanitizer")
    if [ ! -x "$sanitizer" ] || [ -z "$gpu" ]; then
        skipped=$((skipped + 1))
        echo "  skipped: ${gpu:+compute-sanitizer is not installed}${gpu:-no GPU}"
        return
    fi
    if ! "$sanitizer" --tool memcheck "$build/gpu-tests/${programs%%[[:space:]]*}" --list >"$logs/sanitizer" 2>&1; then
        skipped=$((skipped + 1))
        echo "  skipped: compute-sanitizer cannot watch this GPU:"
        tail -n 3 "$logs/sanitizer"
        return
    fi
    for tool in "memcheck --leak-check full" racecheck initcheck synccheck; do
        for name in $programs; do
            echo "== ${tool%% *} $name"
            run "${tool%% *}.$name" "$sanitizer" --tool $tool --report-api-errors no --error-exitcode 9 "$build/gpu-tests/$name"
        done
    done
}

# A wrong answer fails, after all others have run; the time limit leaves the file of what was measured. What the figures are is not judged: --check does that, beside an earlier run.
bench_all() {
    local kept
    if [ -z "$gpu" ]; then
        skipped=$((skipped + 1))
        echo "  skipped: no GPU"
        return
    fi
    kept=$(echo "${gpu%%,*}" | tr 'A-Z ' 'a-z-' | sed 's/^nvidia-//')-$(date +%Y-%m-%d).json
    if OMP_NUM_THREADS=$(nproc) timeout -k 10 460 "$build/ggnn-bench-cuda" --backend cuda --json "$build/gpu-bench.json" "$@" |
        tee "$logs/bench" && [ "${PIPESTATUS[0]}" -eq 0 ]; then
        passed=$((passed + 1))
        echo
        echo "All samples are in $build/gpu-bench.json. To keep them beside others, for ggnn-bench --check bench/results:"
        echo "    mkdir -p bench/results && cp $build/gpu-bench.json bench/results/$kept"
    else
        failed=$((failed + 1))
        echo "  FAILED ggnn-bench --backend cuda $*: $build/gpu-bench.json has what was measured"
    fi
}

"${command}_all" "$@"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
