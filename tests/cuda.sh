#!/usr/bin/env bash
# cuda.sh - what `make cuda` runs: compiles all kernels with nvcc for sm_80 and sm_90, all warnings errors, and reads
# ptxas's report: no kernel may spill, use local memory, or take more registers than the limit beside it,
# GGNNI_KERNEL(registers, ...). Limits are those of nvcc 13.0; under another one they are printed only. The PTX must not
# round as -use_fast_math does, and must have the loads of 16 bytes that the header says: "// 16-byte loads: n in m instances" above a kernel. tests/sass.sh holds
# the machine code of training's kernels to their budgets.
#   tests/cuda.sh [-v]      -v: every kernel's registers, shared memory and vector loads
set -u
cd "$(dirname "$0")/.." || exit 1
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { echo "cuda: nvcc is not installed"; exit 77; }
build=${BUILD:-build}/cuda
mkdir -p "$build"
rm -f "$build"/*.ptxas
version=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
echo "nvcc $version"
hopper="-gencode arch=compute_90,code=sm_90"
arch="-gencode arch=compute_80,code=sm_80 $hopper"
flags="-std=c++17 -O2 -I. -Xcompiler -Wall,-Wextra -Werror all-warnings --threads 0"
failed=0 skipped=0

# compile NAME SOURCE FLAG...: an object, and ptxas's report in NAME.ptxas
compile() {
    local name=$1 source=$2
    shift 2
    rm -rf "$build/$name" && mkdir "$build/$name" # PTX and the like
    if ! "$nvcc" $flags $arch -Xptxas -v -keep -keep-dir "$build/$name" "$@" -x cu -c "$source" -o "$build/$name.o" >"$build/$name.ptxas" 2>&1; then
        echo "  FAILED $source $*"
        grep -m5 -E 'error|warning' "$build/$name.ptxas"
        return 1
    fi
}

# One file with the implementation, so that every kernel is compiled, and only once.
printf '#define GGNN_CUDA_IMPLEMENTATION\n#include "ggnn_cuda.cuh"\n' >"$build/header.cu"
printf '#include "%s"\n' "$build/header.cu" trainer/cuda/ops.cu datasets/sample_cuda.cu >"$build/all.cu" # and the tools'

compile all "$build/all.cu" & jobs=$!
arch=$hopper compile node64 "$build/header.cu" -DGGNN_NODE64 -DGGNN_NO_CURAND || failed=1 # the wider ids, once
wait "$jobs" || failed=1

strict=$([ "$version" = 13.0 ] && echo 1 || echo 0)
cat "$build"/*.ptxas | "${CXXFILT:-c++filt}" | awk -v headers="ggnn_cuda.cuh trainer/cuda/elementwise.cuh trainer/cuda/batches.cuh" -v strict="$strict" -v verbose="${1:-}" '
    BEGIN {
        files = split(headers, header, " ")
        for (f = 1; f <= files; f++)
            while ((getline line < header[f]) > 0) {
                if (match(line, /GGNNI_KERNEL\([0-9]+,/)) {
                    now = substr(line, RSTART + 13) + 0
                    line = substr(line, RSTART + 12)
                    for (i = depth = 0; ++i <= length(line);) { # what follows the closing parenthesis
                        depth += (substr(line, i, 1) == "(") - (substr(line, i, 1) == ")")
                        if (!depth) break
                    }
                    line = substr(line, i + 1)
                }
                if (now && match(line, /[a-z][a-z0-9_]*\(/)) {
                    limit[substr(line, RSTART, RLENGTH - 1)] = now
                    now = 0
                }
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

# loads NAME ARCH: 16-byte loads of each kernel in that PTX, against the header
loads() {
    local ptx # named by architecture where there are several
    ptx=$(ls "$build/$1"/*.compute_$2.ptx "$build/$1"/*.ptx 2>/dev/null | head -n 1)
    "${CXXFILT:-c++filt}" <"$ptx" | awk -v header=ggnn_cuda.cuh -v where="$1, compute_$2" -v verbose="${3:-}" '
        BEGIN {
            while ((getline line < header) > 0) {
                if (line ~ /^\/\/ 16-byte loads: [0-9]+ in [0-9]+ instances/) { split(line, word, " "); now = word[4]; times = word[6] }
                if (now && line !~ /^\/\// && match(line, /[a-z][a-z0-9_]*\([A-Za-z_<>]+ [a-z]+\)$/)) {
                    name = substr(line, RSTART, RLENGTH)
                    sub(/\(.*/, "", name)
                    wanted[name] = now; instances[name] = times; now = 0
                }
            }
        }
        /\.entry/ { kernel = $0; sub(/.*\.entry (void )?/, "", kernel); sub(/\(.*/, "", kernel); while (kernel ~ /<[^<>]*>/) sub(/<[^<>]*>/, "", kernel); sub(/.*::/, "", kernel); seen = 0 }
        /ld\.global\.nc\.v4\./ { found[kernel]++; if (!seen++) of[kernel]++ }
        END {
            for (k in wanted) {
                n++
                if (verbose) printf "  %-28s %3d loads of 16 bytes in %2d instances (%s)\n", k, found[k], of[k], where
                if (found[k] < wanted[k] || of[k] < instances[k]) { printf "  FAILED %s: %d loads of 16 bytes in %d instances, not %d in %d (%s)\n", k, found[k], of[k], wanted[k], instances[k], where; bad++ }
            }
            for (k in found) if (!(k in wanted)) { print "  FAILED " k ": 16-byte loads, not stated beside it"; bad++ }
            if (n < 7) { print "  FAILED: of the header, " n " kernels with 16-byte loads"; bad++ }
            exit bad > 0
        }'
}

# rounding PTX...: no instruction that rounds as it likes or flushes subnormal numbers, as -use_fast_math makes them
rounding() { ! grep -h -m3 -E '\.(ftz|approx|full)[.a-z]*\.f32' "$@"; }
printf '__global__ void k(float* x) { x[0] = x[1] / x[2]; }\n' >"$build/fast.cu"
if rounding "$build"/all/*.ptx "$build"/node64/*.ptx && "$nvcc" -use_fast_math -arch=sm_80 -ptx -o "$build/fast.ptx" "$build/fast.cu" && ! rounding "$build/fast.ptx" >"$build/fast.log"; then
    echo "ok every kernel rounds as the CPU does"
else echo "  FAILED kernels round as -use_fast_math would, or it is not seen"; failed=1; fi

# Three files that include the header, one with the implementation, one after CUB and one before it, one with cuRAND and one
# without, link; so do the examples.
printf '#include <cub/cub.cuh>\n#include "ggnn_cuda.cuh"\ncudaError_t other(float* x);\nint main() { return other(nullptr) == cudaSuccess && ggnn_cuda_exp2_array(nullptr, {nullptr, 0}, nullptr) == cudaSuccess; }\n' >"$build/one.cu"
printf '#define GGNN_NO_CURAND\n#include "ggnn_cuda.cuh"\n#include <cub/cub.cuh>\ncudaError_t other(float* x);\ncudaError_t other(float* x) { return ggnn_cuda_exp2_array(x, {nullptr, 0}, nullptr); }\n' >"$build/two.cu"
quick=$([ "$strict" = 1 ] && echo -Ofc=max) # what is linked is looked at by ptxas above
quickly() { # quickly NAME FLAG... SOURCE...: makes that object or program, for one architecture
    local name=$1
    shift
    if "$nvcc" $flags $quick -gencode arch=compute_80,code=sm_80 -o "$build/$name" "$@" >"$build/$name.log" 2>&1; then echo "ok $name"
    else echo "  FAILED $name"; grep -m5 -E 'error|warning|multiple' "$build/$name.log"; return 1; fi
}
# The C headers' own implementation in a .cu file.
printf '#define GGNN_IMPLEMENTATION\n#define GGNN_PLAN_IMPLEMENTATION\n#include "ggnn.h"\n#include "ggnn_plan.h"\nint main() { return ggnn_exp2(0) != 1; }\n' >"$build/implementation.cu"
quickly three.o -c "$build/header.cu" & jobs=$!
"${CC:-cc}" -O1 -I. -c common/ggnn.c -o "$build/ggnn.o" && quickly vendor examples/vendor.cu "$build/ggnn.o" &&
    "${CC:-cc}" -O1 -I. -c common/ggnn_plan.c -o "$build/ggnn_plan.o" &&
    quickly peers examples/peers.cu "$build/ggnn.o" "$build/ggnn_plan.o" || failed=1
quickly train examples/train.cu || failed=1 # all that it needs is in it
quickly bench_plugin.so -Xcompiler -fPIC -shared examples/bench_plugin.cu || failed=1
quickly one.o -c "$build/one.cu" && quickly two.o -c "$build/two.cu" || failed=1
quickly implementation "$build/implementation.cu" && "$build/implementation" || failed=1
wait "$jobs" || failed=1
# A file that only calls compiles no kernel: it was 5 MB. One of each kind: a launch, and a set-up on the host.
printf '#include "ggnn_cuda.cuh"\ncudaError_t call(float* out, const ggnn_store* s, const ggnn_node* id, ggnn_count n);\ncudaError_t call(float* out, const ggnn_store* s, const ggnn_node* id, ggnn_count n) { return ggnn_cuda_gather(out, s->width, GGNN_F32, s, id, n, nullptr); }\n' >"$build/call.cu"
printf '#include "ggnn_plan.h"\n#include "ggnn_cuda.cuh"\ncudaError_t call(ggnn_cuda_dist* d, const ggnn_dist_data* from, const int* device);\ncudaError_t call(ggnn_cuda_dist* d, const ggnn_dist_data* from, const int* device) { return ggnn_cuda_dist_open(d, from, device, nullptr, 0, nullptr); }\n' >"$build/call_dist.cu"
for call in call call_dist; do
    if quickly "$call.o" -c "$build/$call.cu" && [ "$(stat -c %s "$build/$call.o")" -lt 100000 ]; then echo "ok a call compiles no kernel: $call.cu"
    else echo "  FAILED a file that calls, $call.cu, has $(stat -c %s "$build/$call.o") bytes"; failed=1; fi
done
quickly three_files "$build/one.o" "$build/two.o" "$build/three.o" || failed=1

# The program as the Makefile links it: with NCCL where there is one, and with nvcc's own runtime inside.
programs=$build/programs
if make -s -j"$(nproc)" BUILD="$programs" NVCC="$nvcc" OPT=-O0 GPU_ARCH="-gencode arch=compute_80,code=sm_80 $quick" "$programs/ggnn-train-cuda" >"$build/programs.log" 2>&1; then
    needed=$(readelf -d "$programs/ggnn-train-cuda" | sed -n 's/.*(NEEDED).*\[\(libnccl\|libcudart\)\..*/\1/p' | tr '\n' ' ')
    wanted=$(make -s nccl-flags NVCC="$nvcc" | grep -o -m1 libnccl | head -n 1)
    if [ "$needed" = "${wanted:+$wanted }" ]; then echo "ok ggnn-train-cuda needs ${wanted:-no libnccl} and no libcudart"
    else echo "  FAILED ggnn-train-cuda needs \"$needed\", not \"$wanted\" alone"; failed=1; fi
else echo "  FAILED ggnn-train-cuda"; grep -m5 -E 'error[: ]|warning|Error [0-9]' "$build/programs.log"; failed=1; fi

# trainer/cuda/comm_nccl.cu with the NCCL that the Makefile finds: compiled, linked, asked for its version.
nccl=$(make -s nccl-flags NVCC="$nvcc")
if [ -n "$nccl" ]; then
    printf '#include <cstdio>\n#include "trainer/ranks/comm_engine.h"\nint main() { return printf("%%s\\n", comm_nccl_here->name()) < 0; }\n' >"$build/nccl.cu"
    "${CC:-cc}" -std=c99 -D_GNU_SOURCE -O1 -I. -c common/error.c -o "$build/error.o" && "${CC:-cc}" -std=c99 -D_GNU_SOURCE -O1 -I. -c common/printable.c -o "$build/printable.o" &&
        quickly nccl "$build/nccl.cu" trainer/cuda/comm_nccl.cu "$build/error.o" "$build/printable.o" $nccl && "$build/nccl" || failed=1
else echo "  skipped: NCCL is not installed"; skipped=1; fi

for number in 80 90; do loads all $number "${1:-}" || failed=1; done
loads node64 90 || failed=1

# The machine code of training's kernels.
bash tests/sass.sh check $([ "$strict" = 1 ] || echo --print) "$build/all.ptxas" "$build"/all/*_90.cubin
case $? in 0) ;; 77) skipped=$((skipped + 1)) ;; *) failed=1 ;; esac
[ "$skipped" = 0 ] || echo "$skipped skipped"
exit $failed
