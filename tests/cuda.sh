#!/usr/bin/env bash
# cuda.sh - what `make cuda` runs: compiles the CUDA tests with nvcc for sm_80 and sm_90, all warnings errors, and reads
# ptxas's report: no kernel may spill, use local memory, or take more registers than the limit beside it in
# ggnn_cuda.cuh, GGNNI_KERNEL(threads, registers). Limits are those of nvcc 13.0; under another one they are printed only.
#   tests/cuda.sh [-v]      -v: every kernel's registers, shared memory and vector loads
set -u
cd "$(dirname "$0")/.." || exit 1
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "cuda: nvcc is not installed"; exit 77; }
build=${BUILD:-build}/cuda
mkdir -p "$build"
version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
echo "nvcc $version"
arch="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"
flags="-std=c++17 -O2 -I. -Xcompiler -Wall,-Wextra -Werror all-warnings --threads 0"
failed=0

# compile NAME SOURCE FLAG...: an object, and ptxas's report in NAME.ptxas
compile() {
    local name=$1 source=$2
    shift 2
    if ! "$nvcc" $flags $arch -Xptxas -v "$@" -x cu -c "$source" -o "$build/$name.o" >"$build/$name.ptxas" 2>&1; then
        echo "  FAILED $source $*"
        grep -m5 -E 'error|warning' "$build/$name.ptxas"
        return 1
    fi
}

for source in tests/test_cuda_*.cc; do
    name=$(basename "$source" .cc)
    compile "$name" "$source" || failed=1
done
compile node64 tests/test_cuda_block.cc -DGGNN_NODE64 || failed=1
compile no_curand tests/test_cuda_sample.cc -DGGNN_NO_CURAND || failed=1

strict=$([ "$version" = 13.0 ] && echo 1 || echo 0)
cat "$build"/*.ptxas | "${CXXFILT:-c++filt}" | awk -v header=ggnn_cuda.cuh -v strict="$strict" -v verbose="${1:-}" '
    BEGIN {
        while ((getline line < header) > 0)
            if (match(line, /GGNNI_KERNEL\([A-Za-z0-9_]+, *[0-9]+\) *[a-z0-9_]+/)) {
                text = substr(line, RSTART, RLENGTH)
                split(text, part, /[(,)] */)
                limit[part[4]] = part[3] + 0
            }
    }
    /Compiling entry function/ {
        kernel = $0
        sub(/.*entry function ./, "", kernel)
        arch = kernel
        sub(/.* for ./, "", arch)
        sub(/.$/, "", arch)
        sub(/. for .*/, "", kernel)
        name = kernel
        sub(/\(.*/, "", name)          # arguments
        while (name ~ /<[^<>]*>/) sub(/<[^<>]*>/, "", name)
        sub(/^.* /, "", name)          # return type
        sub(/.*::/, "", name)
    }
    /bytes stack frame/ {
        if ($1 + 0 || $5 + 0 || $9 + 0) { print "  FAILED " kernel " (" arch "): " $0; bad++ }
    }
    /Used [0-9]+ registers/ {
        match($0, /Used [0-9]+/)
        used = substr($0, RSTART + 5, RLENGTH - 5) + 0
        kernels[name] = 1
        key = name " " arch
        if (used > most[key]) most[key] = used
        if (name in limit && used > limit[name]) over[kernel " " arch] = used " registers, limit " limit[name]
        if (!(name in limit) && name !~ /^(test_|_)/) unknown[name] = 1
    }
    END {
        for (k in kernels) {
            n++
            if (verbose) printf "  %-28s sm_80 %3d   sm_90 %3d   limit %s\n", k, most[k " sm_80"], most[k " sm_90"], k in limit ? limit[k] : "-"
        }
        for (k in over) { printf "  %s %s: %s\n", strict ? "FAILED" : "over", k, over[k]; if (strict) bad++ }
        for (k in unknown) { print "  FAILED " k ": no limit beside it"; bad++ }
        print n " kernels: " (bad ? bad " faults" : "no spill, no local memory, registers within their limits")
        exit bad > 0
    }' || failed=1
exit $failed
