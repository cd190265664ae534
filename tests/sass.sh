#!/usr/bin/env bash
# sass.sh - holds the machine code of training's kernels to tests/sass_budget.txt. It needs nvcc, python3 and an nvdisasm
# that prints JSON, as CUDA 13's does: $NVDISASM, that of PATH, nvcc's neighbour, or the one that .ci/run put into
# build/nvdisasm.
#   tests/sass.sh find                        prints which nvdisasm; or what is missing, and ends with 77
#   tests/sass.sh install                     puts one into build/nvdisasm; a failure is one
#   tests/sass.sh check [OPTION] REPORT CUBIN what ptxas -v said and made, as tests/cuda.sh keeps them
#   tests/sass.sh check --print REPORT CUBIN  under another nvcc than the limits': prints what is over, and passes
#   tests/sass.sh check --write REPORT CUBIN  prints the budget file with the figures of CUBIN
#   tests/sass.sh check --show NAME REPORT CUBIN   the loops of a kernel, and what they are made of
#   tests/sass.sh alone FOLDER KERNEL         compiles that kernel alone, for sm_90, from the files in FOLDER where it has
#                                             them, and holds it to its lines: tests/mutate.sh breaks one at a time
set -u
cd "$(dirname "$0")/.." || exit 1
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
own=build/nvdisasm/nvidia/cu13/bin/nvdisasm
install="python3 -m pip install --target build/nvdisasm nvidia-cuda-nvdisasm==13.2.86" # it reads what nvcc 13.0 makes

find_nvdisasm() {
    local tool
    [ -x "$nvcc" ] || { echo "nvcc is not installed"; return 77; }
    command -v python3 >/dev/null || { echo "python3 is not installed"; return 77; }
    for tool in "${NVDISASM:-}" "$(command -v nvdisasm)" "$(dirname "$nvcc")/nvdisasm" "$own"; do
        [ -x "$tool" ] && "$tool" --help | grep -q -e --emit-json && { echo "$tool"; return; }
    done
    echo "no nvdisasm of CUDA 13: $install"
    return 77
}

budget() { python3 -B tests/sass_budget.py --nvdisasm "$nvdisasm" --budget tests/sass_budget.txt "$@"; }

# alone FOLDER KERNEL: all other kernels become functions that nothing calls. Of a template, the instances
# that the header launches are compiled.
alone() {
    local folder=$1/alone kernel=$2 name=${2%%<*} file from
    mkdir -p "$folder/trainer/cuda"
    for file in ggnn_cuda*.cuh trainer/cuda/*.cuh; do
        from=$file
        [ -f "$1/$file" ] && from=$1/$file
        awk -v name="$name" '
            /define GGNNI_KERNEL\(/ {
                print "#define GGNNI_KERNEL(registers, ...) inline __device__ void"
                print "#define GGNNI_THIS(registers, ...) __global__ void __launch_bounds__(__VA_ARGS__)"
                next
            }
            held != "" { # a kernel whose name is in the next line
                if (index($0, " " name "(")) sub(/GGNNI_KERNEL\(/, "GGNNI_THIS(", held)
                print held
                held = ""
            }
            /GGNNI_KERNEL\(.*\)$/ && !/\(.*\) [a-z]/ { held = $0; next }
            index($0, " " name "(") { sub(/GGNNI_KERNEL\(/, "GGNNI_THIS(") }
            { if (!/GGNNI_THIS/) gsub(/__grid_constant__/, ""); print }' "$from" >"$folder/$file"
    done
    from=$(cd "$folder" && grep -l "GGNNI_THIS(.*" ggnn_cuda*.cuh trainer/cuda/*.cuh | tail -n 1)
    printf '#define GGNN_CUDA_IMPLEMENTATION\n#include "%s"\n' "$from" >"$folder/one.cu"
    if ! "$nvcc" -w -std=c++17 -O2 -I"$folder" -I. -arch=sm_90 -cubin -Xptxas -v -o "$folder/one.cubin" "$folder/one.cu" >"$folder/report" 2>&1; then
        echo "  FAILED NOT COMPILED: $(grep -m1 error "$folder/report")"
        return 1
    fi
    budget --kernel "$kernel" "$folder/report" "$folder/one.cubin" && echo "1 passed, 0 failed, 0 skipped"
}

case ${1:-} in
find) find_nvdisasm ;;
install) [ -x "$own" ] || $install --quiet --disable-pip-version-check && [ -x "$own" ] ;;
check | alone)
    nvdisasm=$(find_nvdisasm) || { echo "  skipped: machine code is not held to its budgets: $nvdisasm"; exit 77; }
    command=$1
    shift
    if [ "$command" = alone ]; then alone "$@"; else budget "$@"; fi
    ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
