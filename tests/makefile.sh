#!/usr/bin/env bash
# makefile.sh - does the Makefile build what it says, and again where it must? With compilers that only touch what they
# should make, so that no nvcc, no NCCL and no MPI are needed. One line a check: "ok ..." or "  FAILED ...".
set -u
cd "$(dirname "$0")/.." || exit 1
unset MAKEFLAGS MAKELEVEL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build=$work/build
mkdir -p "$work/nccl/include" "$work/nccl/lib"
: >"$work/nccl/include/nccl.h"
: >"$work/nccl/lib/libnccl.so.2"
printf '#!/bin/sh\n[ "$1" = --version ] && echo "release ${RELEASE:-13.0}, V"\nwhile [ $# -gt 0 ]; do if [ "$1" = -o ]; then : >"$2"; fi; shift; done\n' >"$work/compiler"
printf '#!/bin/sh\ncase $1 in --showme:link) echo -lmpi ;; --showme:compile) echo -I/mpi ;; esac\n' >"$work/mpicc"
chmod +x "$work/compiler" "$work/mpicc"

# making TARGET-OR-OPTION...: make with these compilers
making_aloud() {
    make BUILD="$build" CC="$work/compiler" CXX="$work/compiler" NVCC="$work/compiler" MPICC="$work/mpicc" NCCL_HOME="$work/nccl" "$@" 2>&1
}
making() { making_aloud -s "$@"; }
says() { # says NAME WANTED FOUND
     if [ "$2" = "$3" ]; then echo "ok makefile: $1"; else printf '  FAILED makefile: %s: "%s", not "%s"\n' "$1" "$3" "$2"; fi
}

# ==== what the programs for a GPU consist of ==========================================================================
planned=$(making -n gpu-tests gpu)
link_of() { printf '%s\n' "$planned" | grep -e "-o $build/$1 "; }
words() { grep -o -e "$1" | sort -u | tr '\n' ' '; }
says "ggnn-train-cuda has NCCL" "cuda/comm_nccl.o libnccl.so.2 " "$(link_of ggnn-train-cuda | words 'cuda/comm_nccl\.o\|libnccl\.so\.2')"
says "ggnn-train-cuda has no NCCL with NO_NCCL=1" "" "$(making -n NO_NCCL=1 "$build/ggnn-train-cuda" | words 'cuda/comm_nccl\.o\|libnccl\.so\.2')"
says "no program for a GPU asks for the shared libcudart" "" "$(printf '%s\n' "$planned" | words '-lcudart')"
for program in ggnn-data ggnn-data-cuda ggnn-train ggnn-train-cuda train train-cuda tests/test_show gpu-tests/test_cuda_train; do
    says "the tests on a GPU have $program" "-o $build/$program " "$(link_of "$program" | words "-o $build/$program")"
done

printf '#!/bin/sh\necho "$MAJOR"\n' >"$work/other"
chmod +x "$work/other"
warnings_of() { MAJOR=$1 make -n BUILD="$build" CC="$work/other" "$build/common/ggnn.o" 2>/dev/null | words '-Werror'; }
says "a warning ends a build by gcc 12" "-Werror " "$(warnings_of '__clang_major__ 12')"
says "a warning ends a build by clang 14" "-Werror " "$(warnings_of '14 4')"
says "a warning ends no build by gcc 14" "" "$(warnings_of '__clang_major__ 14')"
warnings() { RELEASE=$1 making -n gpu | words '-Werror all-warnings'; }
says "a warning ends a build by an nvcc that was tried" "-Werror all-warnings " "$(warnings 13.0)"
says "a warning ends no build by another nvcc" "" "$(warnings 13.1)"

says "archives are made by AR, as a cross compiler needs" "$work/ar qcs $build/libtools.a  " "$(making -n AR="$work/ar" "$build/libtools.a" | words "^$work/ar qcs $build/libtools.a ")"

# ==== what make builds where nothing is named ==========================================================================
linked() { words "-o $build/ggnn-[a-z]* "; }
says "make alone makes the tools" "-o $build/ggnn-data  -o $build/ggnn-train  " "$(making -n | linked)"

# ==== what is printed =================================================================================================
# printed OPTION...: what make prints of an object and of a program, of which nothing is there
printed() {
    rm -rf "$build"
    making_aloud "$@" "$build/common/error.o" "$build/train" | grep -v '^make' | sed "s|$build/||g"
}
says "a short line a file" "CC common/error.c|CC examples/train.c|LD train|" "$(printed | tr '\n' '|')"
says "V=1 shows whole commands" "3" "$(printed V=1 | grep -c "^$work/compiler .* -o ")"
says "V=1 shows no short lines" "0" "$(printed V=1 | grep -c '^[A-Z]* ')"
says "make -s shows nothing" "" "$(printed -s)"
says "make -n shows whole commands" "3" "$(printed -n | grep -c "$work/compiler .* -o ")"
printf '#!/bin/sh\nfor w in "$@"; do [ "$w" = examples/train.c ] && { echo "train.c:1:1: error: broken"; exit 3; }; done; exec "%s/compiler" "$@"\n' "$work" >"$work/broken"
chmod +x "$work/broken"
says "a file that does not compile ends make" "CC examples/train.c|train.c:1:1: error: broken|" "$(printed CC="$work/broken" | grep -v error.c | tr '\n' '|')"
making CC="$work/broken" "$build/train" >"$work/log"
says "with make's status" "2" "$?"

# ==== what is built again =============================================================================================
c=$build/trainer/ranks/comm_mpi.o nvcc=$build/cuda/datasets/sample_cuda.o emulated=$build/emulated/datasets/sample_cuda.o
making "$c" "$nvcc" "$emulated"
# again OPTION...: which of the three objects make would build again
again() {
    local object
    for object in "$c" "$nvcc" "$emulated"; do
        making -q "$@" "$object" >"$work/log" || printf '%s ' "${object#"$build/"}"
    done
}
says "nothing is built again without a change" "" "$(again)"
says "GPU_ARCH builds nvcc's objects again alone" "cuda/datasets/sample_cuda.o " "$(again GPU_ARCH=-arch=sm_90)"
says "NO_MPI builds the C compiler's objects again" "trainer/ranks/comm_mpi.o " "$(again NO_MPI=1)"
says "NODE64 builds all objects again" "trainer/ranks/comm_mpi.o cuda/datasets/sample_cuda.o emulated/datasets/sample_cuda.o " "$(again NODE64=1)"
making NODE64=1 "$c" "$nvcc" "$emulated"
says "what was built again is new" "" "$(again NODE64=1)"
says "and old without the option" "trainer/ranks/comm_mpi.o cuda/datasets/sample_cuda.o emulated/datasets/sample_cuda.o " "$(again)"

# ==== make gpu-check ==================================================================================================
# Here every test program of the first part fails, as these compilers made it, and so does the bench.
printf '#!/bin/sh\necho "a GPU, 9.0"\n' >"$work/nvidia-smi"
chmod +x "$work/nvidia-smi"
PATH=$work:$PATH making gpu-check >"$work/log"
status=$?
says "gpu-check fails where a part does" "2" "$status"
says "gpu-check runs all parts though the first fails" "3" "$(grep -c '^[0-9]* passed, [0-9]* failed, [0-9]* skipped$' "$work/log")"
says "gpu-check names the part that failed" "gpu-check: failed: gpu-test gpu-bench" "$(grep -o '^gpu-check: failed: gpu-test gpu-bench' "$work/log")"
