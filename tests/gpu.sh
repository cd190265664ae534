#!/usr/bin/env bash
# gpu.sh - what `make gpu-test`, `make gpu-bench`, `make gpu-sanitize` and `make gpu-kit` run: builds the GPU's tests, tools and
# bench by nvcc, for this machine's GPU, and runs them (gpu_run.sh); or packs them for a machine without nvcc.
#   tests/gpu.sh test | bench | sanitize ...   words that follow go to gpu_run.sh; results are in BUILD/gpu-results
#   tests/gpu.sh kit                           BUILD/gpu-kit.tar.xz, for sm_90 and later, or for GPU_ARCH
# Where there is no GPU all is built, and what would have run is skipped. The last line is "N passed, N failed, N skipped".
set -u
cd "$(dirname "$0")/.." || exit 1
case ${1:-} in
test | bench | sanitize | kit) command=$1 && shift ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
build=${BUILD:-build}
log=$build/gpu-build.log
mkdir -p "$build"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
ends() { echo "$1 passed, $2 failed, $3 skipped"; exit "$2"; }
[ -x "$nvcc" ] || { echo "gpu: nvcc is not installed"; ends 0 0 1; }
release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p')

# making WORD...: make, whose first errors are shown
making() {
    make -j"$(nproc)" NVCC="$nvcc" "$@" >"$log" 2>&1 && return
    grep -m5 -E 'error: |\*\*\*' "$log"
    ends 0 1 0
}

# Without Python nothing is predicted.
predict() { ! command -v python3 >/dev/null || python3 bench/gpu_step.py --cases >"$1"; }

# Of libraries the kit asks for cuBLAS and the C library alone; OpenMP's comes with it.
pack() {
    local kit=$build/gpu-kit own=$build/kit began=$SECONDS program
    making BUILD="$own" OPT=-O2 NO_BLAS=1 NO_MPI=1 NO_METIS=1 NO_ZLIB=1 NO_NCCL=1 \
        GPU_ARCH="${GPU_ARCH:--gencode arch=compute_90,code=[sm_90,compute_90]}" gpu-tests gpu
    rm -rf "$kit"
    mkdir -p "$kit/bin/gpu-tests" "$kit/bin/tests" "$kit/lib"
    for program in "$own"/gpu-tests/test_cuda_* "$own"/tests/test_show "$own"/ggnn-{data,train,bench}-cuda "$own"/ggnn-{data,train} "$own"/train*; do
        case $program in *.d | *.o | */trainer) continue ;; esac
        strip -o "$kit/bin/${program#"$own"/}" "$program"
    done
    cp -L "$(ldd "$own/ggnn-train" | awk '/libgomp/ { print $3 }')" "$kit/lib/" 2>/dev/null
    cp tests/gpu_run.sh "$kit/run.sh"
    predict "$kit/predicted.tsv"
    echo "ggnn $(git describe --always --dirty --tags 2>/dev/null), $release" >"$kit/VERSION"
    tar -C "$build" -c gpu-kit | xz -T0 -6 >"$build/gpu-kit.tar.xz.new" && mv "$build/gpu-kit.tar.xz.new" "$build/gpu-kit.tar.xz" || ends 0 1 0
    echo "$build/gpu-kit.tar.xz: $(($(stat -c %s "$build/gpu-kit.tar.xz") / 1000)) kB, made in $((SECONDS - began)) s"
    echo "there: tar -xJf gpu-kit.tar.xz && for part in test bench sanitize; do gpu-kit/run.sh \$part --out results; done"
}

if [ "$command" = kit ]; then
    pack
    exit
fi
gpu=$(nvidia-smi --query-gpu=name,compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
arch=$(echo "$gpu" | awk -F', ' '{ gsub(/\./, "", $2); print $2 }')
echo "$release; GPU: ${gpu:-none}"
targets="gpu-tests gpu"
[ "$command" = bench ] && targets=$build/ggnn-bench-cuda
making BUILD="$build" ${arch:+GPU_ARCH="-arch=sm_$arch"} $targets # the GPU's own architecture alone: half the compiler's time
[ -n "$gpu" ] || { echo "  skipped: no GPU"; ends 0 0 1; }
predict "$build/predicted.tsv"
bash tests/gpu_run.sh "$command" --bin "$build" --out "$build/gpu-results" --predicted "$build/predicted.tsv" "$@"
code=$?
read -r passed failed skipped <<<"$(awk -F'\t' -v kind="$command" '$1 == kind { p += $3; f += $4; s += $5 } END { print p + 0, f + 0, s + 0 }' "$build/gpu-results/results.tsv")"
echo "$passed passed, $failed failed, $skipped skipped"
exit $code
