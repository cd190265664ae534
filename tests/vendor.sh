#!/usr/bin/env bash
# vendor.sh - do ggnn.h, ggnn_reference.h, ggnn_plan.h and ggnn_cuda.cuh compile, link and run the way vendors will use them? One line a check: "ok ..." or "  FAILED ...".
#   tests/vendor.sh quick|rest [CC]   quick: every check, by CC, in the languages and with the options that find most;
#                                     rest: the other languages and options, and all by clang
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
stricter="-Wcast-qual -Wcast-align -Wfloat-equal" # of the headers alone

check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"; else echo "  FAILED $name"; head -n 5 "$work/log"; fi
}
refuse() { # refuse NAME COMMAND...: must fail
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "  FAILED $name: succeeded"; else echo "ok $name"; fi
}
# What takes no ids, neither itself nor in a struct (graph, lists, unique, batch, block, layout, store): all else must be
# named ggnn_x_node64 under GGNN_NODE64, and every name here must be one that is left.
without_ids="ggnn_block_transpose_bytes ggnn_dropout_fields ggnn_exp2 ggnn_exp2_array ggnn_float_to_half
    ggnn_half_to_float ggnn_log2 ggnn_neg_log2_fast ggnn_parallel_for ggnn_permute
    ggnn_random_nodes ggnn_sample_workspace_bytes ggnn_scores ggnn_scores_back ggnn_status_string"
plan_without_ids="ggnn_fill_auto ggnn_fill_ratio ggnn_fill_rows ggnn_fill_slope ggnn_place_parts ggnn_place_sources
    ggnn_topology_named ggnn_topology_validate"
only_these_keep_their_names() { # only_these_keep_their_names OBJECT NAMES
    nm -g --defined-only "$1" | awk '$3 !~ /^DW\.ref\./ { print $3 }' | grep -v '_node64$' | sort >"$work/kept" # DW: C++'s own
    echo $2 | tr ' ' '\n' | sort | diff - "$work/kept"
}
# Inline functions of two files are one in a program, if their names are: which would be called is the linker's choice.
share_no_function() { # share_no_function OBJECT OBJECT
    local object
    for object; do
        nm --defined-only "$object" | awk '$2 ~ /[TWVu]/ && /ggnni|ggnn_cuda/ { print $3 }' | sort >"$object.names"
        grep -q ggnn_cuda_gather "$object.names" && grep -q ggnni "$object.names" || { echo "no functions in $object"; return 1; }
    done
    ! comm -12 "$1.names" "$2.names" | grep .
}
# Of ggnn_cuda.cuh, by objects for the emulator, which itself is not linked:
has_all_functions() { # has_all_functions OBJECT...: one has what another calls
    ld -r -o "$work/joined.o" "$@" && nm "$work/joined.o" | grep -q ' T .*ggnn_cuda_gather' && ! nm -u "$work/joined.o" | grep ggnn_cuda_
}
are_there_twice() { # are_there_twice OBJECT...: an error of the linker
    ! ld -r -o "$work/joined.o" "$@" 2>"$work/said" && grep -q 'multiple definition.*ggnn_cuda_gather' "$work/said"
}
names_the_macro() { # names_the_macro LINK...: its message of a missing function does, for each that is missing
    ! "$@" 2>"$work/said" && grep -q 'ggnn_cuda_gather.*needs_GGNN_CUDA_IMPLEMENTATION_in_one_file' "$work/said" &&
        ! grep 'undefined reference' "$work/said" | grep -v 'needs_GGNN_CUDA_IMPLEMENTATION_in_one_file'
}
has_no_kernel() { # has_no_kernel OBJECT, by nvcc; and it is small
    ! nm -u "$1" | grep -q cudaRegisterFunction && [ "$(wc -c <"$1")" -lt 100000 ]
}
needs_no_function() { # needs_no_function OBJECT...
    ! nm -u "$@" | grep ' U ggnn'
}
prints() { # prints NAME PROGRAM TEXT
    check "$1" test "$("$2" 2>&1)" = "$3"
}
prefetches() { # prefetches NAME FILE: a function of that name does, in this assembly of x86-64
    ! grep -q '%rsp' "$2" || awk -v name="$1" '/^[a-z_]/ { at = $1 } /\tprefetch/ && at ~ name { n++ } END { exit !n }' "$2"
}

printf '#include "ggnn.h"\nconst char* other(void);\nconst char* other(void) { return ggnn_status_string(GGNN_OK); }\n' >"$work/user.c"
printf '#define GGNN_IMPLEMENTATION\n#include "ggnn.h"\n' >"$work/impl.c"
printf '#include "ggnn.h"\nint uses(void);\nint uses(void) { ggnn_gather(0, 0, GGNN_F32, 0, 0, 0); return 0; }\n' >"$work/gather.c"
printf '#include "ggnn_reference.h"\n' >"$work/reference.c"
printf '#define GGNN_PLAN_IMPLEMENTATION\n#include "ggnn_plan.h"\n' >"$work/plan.c"
printf '#define GGNN_FRONTIER_IMPLEMENTATION\n#include "ggnn_frontier.h"\n' >"$work/frontier.c"
cat "$work/impl.c" "$work/plan.c" >"$work/both.c"
cat "$work/impl.c" "$work/frontier.c" >"$work/whole_frontier.c"
printf '#include "ggnn_plan.h"\nint uses(void);\nint uses(void) { ggnn_rank_random(0, 0, 1, 0); return 0; }\n' >"$work/rank.c"
printf '#define GGNN_CUDA_IMPLEMENTATION\n#include "ggnn_cuda.cuh"\n' >"$work/cuda.c"
printf '#define GGNN_CUDA_IMPLEMENTATION\n#include "ggnn_plan.h"\n#include "ggnn_cuda.cuh"\n' >"$work/cuda_plan.c"
cat >"$work/cuda_user.c" <<'END'
#include "ggnn_cuda.cuh"
cudaError_t uses(void* out, ggnn_cuda_batch* b, const ggnn_store* rows, const ggnn_node* id, cudaStream_t stream);
cudaError_t uses(void* out, ggnn_cuda_batch* b, const ggnn_store* rows, const ggnn_node* id, cudaStream_t stream)
{
    cudaError_t error = ggnn_cuda_batch_init(b, out, stream);
    if (error == cudaSuccess) error = ggnn_cuda_batch_pack(out, ggnn_cuda_batch_packed_max(b), b, stream);
    return error == cudaSuccess ? ggnn_cuda_gather(out, 1, GGNN_F32, rows, id, {nullptr, 1}, stream) : error;
}
END
printf 'int main(void) { return 0; }\n' >"$work/main_alone.c"
printf '#include "bench/plugin.h"\n' >"$work/plugin.c"
printf '#define _GNU_SOURCE 1\n#define GGNN_FILE_IMPLEMENTATION\n#include "datasets/ggnn_file.h"\n' >"$work/file.c"
printf '#include "ggnn.h"\nint main(void)\n{ return ggnn_unique_choose(1 << 17) != GGNN_UNIQUE_DIRECT || ggnn_unique_choose((1 << 17) + 1) != GGNN_UNIQUE_HASH; }\n' >"$work/cache.c"
cat >"$work/alone.c" <<'END'
#include "ggnn.h"
int main(void)
{
    const int64_t   indptr[] = {0, 1, 2};
    const ggnn_node indices[] = {1, 0};
    const int32_t   fanout[] = {1};
    const float     x[] = {1, 2};
    ggnn_graph      g = ggnn_graph_plain(indptr, indices, NULL, 2, 2);
    ggnn_store      rows = ggnn_store_plain(x, 2, 1, GGNN_F32);
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_WALK, fanout, 1);
    ggnn_rng        rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_batch      b;
    const float*    row = (const float*)ggnn_row(&rows, ggnn_neighbors(&g, 0).id[ggnn_draw_below(&rng, 0, 0, 0, 1)]);
    return ggnn_batch_bound(&b, &g, &how, 2) != GGNN_OK || *row < 2 || ggnn_shuffle(1, 0, 0, 1) != 0 ||
           ggnn_owner_of(1, GGNN_OWNER_HASH, NULL, 2, 1) != 0 || ggnn_neg_log2(1) == 0;
}
END
cat >"$work/one_width.c" <<'END'
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
int NAME(void);
int NAME(void)
{
    const ggnn_layout at = {NULL, 0, NULL, NULL, 2, 1};
    ggnn_node         id[4] = {7, 7, 7, 7};
    return ggnn_layout_nodes(id, &at, 2, 0) == 2 && id[0] == 0 && id[1] == 1;
}
END
printf 'int narrow(void);\nint wide(void);\nint main(void) { return !narrow() || !wide(); }\n' >"$work/both_widths.c"
printf 'const char* other(void);\nint uses(void);\nint main(void) { return other()[0] != 111; }\n' >"$work/main.c"
printf 'int uses(void);\nint main(int n, char** v) { (void)v; return n > 9 ? uses() : 0; }\n' >"$work/main_wide.c"

version=$(sed -n 's/^#define GGNN_VERSION "\(.*\)"/\1/p' ggnn.h)
number=$(echo "$version" | awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }')
check "ggnn.h says its version as a number, twice" test "$(grep -cE "^#define (GGNN_VERSION_NUMBER|GGNNI_LOOPS_VERSION) $number( |$)" ggnn.h)" = 2
for header in ggnn.h ggnn_reference.h ggnn_cuda.cuh ggnn_plan.h ggnn_frontier.h; do check "$header says its version" grep -q "^// $header - v$version - " $header; done
check "vcpkg.json says ggnn.h's version" grep -q "^  \"version\": \"$version\",$" packaging/vcpkg/ports/ggnn/vcpkg.json

# A vendor can declare every public struct before it is defined: it has a tag, which is its name.
tagged() { # tagged HEADER...
    awk '/^typedef/ { tag = $2 == "struct" ? $3 : "" }
        tag && match($0, /[}] ggnn_[a-z0-9_]*;/) && substr($0, RSTART + 2, RLENGTH - 3) != tag { print FILENAME ": " $0; bad = 1 }
        END { exit bad }' "$@"
}
check "every public struct has its name as tag" tagged ggnn.h ggnn_plan.h ggnn_frontier.h ggnn_reference.h ggnn_cuda.cuh datasets/ggnn_file.h

# The manual's table of functions names them all. (Sizes and layouts stand beside what they are for.)
named_in_table() { # named_in_table HEADER
    local table missing= name
    table=$(sed -n '/^\/\/ FUNCTIONS:/,/^\/\/ MEMORY/p' "$1")
    for name in $(awk '/^#endif \/\/ GGNN_(PLAN_H|CUDA_CUH|H)/ { exit } /^GGNN_(CUDA_)?API/' "$1" | grep -o 'ggnn_[a-z0-9_]*(' | tr -d '(' | sed -E 's/^ggnn_(cuda_)?//' |
        grep -vE '_bytes$|^block_transpose_init$'); do
        echo "$table" | grep -qw "$name" || missing="$missing $name"
    done
    [ -z "$missing" ] || { echo "not in the table:$missing"; return 1; }
}
for header in ggnn.h ggnn_plan.h ggnn_cuda.cuh; do check "$header: the manual's table names every function" named_in_table $header; done

# Optimised compiles see more (uninitialised values), unoptimised ones are quick: a few of the former, all of the latter.
compile() { # compile CC OPTIONS LANGUAGES: ggnn.h by each option as C99 and C++11, both headers in each language
    local cc=$1 language option
    for option in $2; do
        for language in "-x c -std=c99" "-x c++ -std=c++11"; do
            case "$option $language" in "-O3 -x c++"* | "-O2 -x c -"*) continue ;; esac # the latter: below
            echo 'int main(void) { return 0; }' | $cc -x c $option - -o "$work/can" 2>/dev/null || continue
            check "$cc $language $option" $cc $language $strict $option -I. -c "$work/impl.c" -o "$work/impl.o"
        done
    done
    for language in $3; do
        language="-x ${language%-*} -std=${language#*-}"
        local all="$strict $stricter $(casts "$language")"
        for option in "" " -DGGNN_STATIC"; do
            check "$cc $language$option" $cc $language $all $option -I. -c "$work/impl.c" -o "$work/impl.o"
        done
        check "$cc $language API alone" $cc $language $all -I. -c "$work/user.c" -o "$work/user.o"
        check "$cc $language ggnn_plan.h" $cc $language $all -I. -c "$work/plan.c" -o "$work/plan.o"
        check "$cc $language ggnn_frontier.h" $cc $language $all -I. -c "$work/frontier.c" -o "$work/frontier.o"
        check "$cc $language ggnn_reference.h" $cc $language $all -I. -c "$work/reference.c" -o "$work/reference.o"
        check "$cc $language ggnn_file.h" $cc $language $all -I. -c "$work/file.c" -o "$work/file.o"
        check "$cc $language bench/plugin.h" $cc $language $all -I. -c "$work/plugin.c" -o "$work/plugin.o"
    done
}
casts() { case $1 in *c++*) echo "-Wold-style-cast -Wzero-as-null-pointer-constant" ;; esac; } # what C++ says of C
compile_most() { compile "$1" "-O2 -fopenmp -DGGNN_NODE64 -DGGNN_STATIC" "c++-c++20"; }
compile_others() {
    local cc=$1 option=fast
    compile "$cc" "-O3 -DGGNN_NO_SIMD -DNDEBUG -march=native" "c-gnu17 c++-c++14 c++-c++17"
    # Every build of make test has contraction off; a vendor's has not, and relies on the header's own pragma.
    [ $cc = clang ] && option=on
    if echo 'int main(void) { return 0; }' | $cc -x c -march=native - -o "$work/can" 2>/dev/null; then
        check "$cc products rounded in spite of -ffp-contract=$option" $cc -std=gnu99 -O1 -march=native -ffp-contract=$option \
            -D_GNU_SOURCE -I. tests/ggnn/test_sparse.c common/ggnn.c -o "$work/contract" -lm
        check "$cc products rounded: test_sparse" "$work/contract"
    fi
    same_floats "$cc" sparse
}
same_floats() { # same_floats CC TEST: in spite of parts of -ffast-math, which the header's pragmas and its look at a weight's bits make harmless
    [ -f "$work/parts.o" ] || check "$1 no warning by parts of -ffast-math" $1 -std=gnu99 $strict -O1 -funsafe-math-optimizations \
        -ffinite-math-only -I. -c common/ggnn.c -o "$work/parts.o"
    check "$1 builds test_$2 on it" $1 -std=gnu99 -O1 -ffp-contract=off -D_GNU_SOURCE -I. tests/*/test_$2.c "$work/parts.o" -o "$work/parts_$2" -lm
    check "$1 same floats in spite of parts of -ffast-math: test_$2" "$work/parts_$2"
}
vendor_cuda() { # ggnn_cuda.cuh on the emulator's headers, by one compiler
    local cc=$1 language option users= all=
    local strict="-Wall -Wextra -Werror -Wno-unknown-pragmas $stricter $(casts c++) -D_GNU_SOURCE -isystem simt -I."
    for language in c++17 c++20; do # what make cuda-tests compiles as C++17 alone
        check "$cc ggnn_cuda.cuh as $language" $cc -x c++ -std=$language $strict -fsyntax-only "$work/cuda.c"
        check "$cc ggnn_cuda.cuh after ggnn_plan.h as $language" $cc -x c++ -std=$language $strict -fsyntax-only "$work/cuda_plan.c"
        check "$cc ggnn_cuda.cuh's API alone as $language" $cc -x c++ -std=$language $strict -fsyntax-only "$work/cuda_user.c"
    done
    for option in "" -DGGNN_NODE64 "-DGGNN_STATIC -DGGNN_IMPLEMENTATION"; do
        check "$cc ggnn_cuda.cuh in one file $option" $cc -x c++ -std=c++17 -w -D_GNU_SOURCE $option -Isimt -I. -c "$work/cuda.c" \
            -o "$work/cuda${option%% *}.o"
    done
    for option in "" -DGGNN_NODE64; do
        check "$cc calls ggnn_cuda.cuh $option" $cc -x c++ -std=c++17 $strict $option -c "$work/cuda_user.c" -o "$work/cuda_user$option.o"
        check "$cc a file that calls and the one of the implementation link $option" \
            has_all_functions "$work/cuda_user$option.o" "$work/cuda$option.o"
        check "$cc two implementations of ggnn_cuda.cuh do not $option" are_there_twice "$work/cuda$option.o" "$work/cuda$option.o"
        check "$cc no implementation: the linker names the macro $option" names_the_macro $cc "$work/main_alone.c" "$work/cuda_user$option.o" -o "$work/alone"
        users="$users $work/cuda_user$option.o" all="$all $work/cuda$option.o"
    done
    refuse "$cc a 32-bit file finds nothing in a 64-bit implementation" has_all_functions "$work/cuda_user.o" "$work/cuda-DGGNN_NODE64.o"
    check "$cc both widths of ggnn_cuda.cuh link into one program" has_all_functions $users $all
    check "$cc ggnn_cuda.cuh needs no implementation of ggnn.h" needs_no_function $users $all
    check "$cc files of both widths share no function of ggnn_cuda.cuh" share_no_function $all
    refuse "$cc a static ggnn_cuda.cuh is found by no other file" has_all_functions "$work/cuda_user.o" "$work/cuda-DGGNN_STATIC.o"
    check "$cc two static ones link" ld -r -o "$work/joined.o" "$work/cuda-DGGNN_STATIC.o" "$work/cuda-DGGNN_STATIC.o"
}
by_nvcc() { # the same of what only calls: two files link in tests/cuda.sh, whose kernels take nvcc minutes
    local nvcc option
    nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
    if [ ! -x "$nvcc" ]; then echo "  skipped ggnn_cuda.cuh by nvcc: not installed"; return; fi
    for option in "" -DGGNN_NODE64; do
        check "nvcc calls ggnn_cuda.cuh $option" "$nvcc" -x cu -std=c++17 -O2 -arch=sm_80 -Xcompiler -Wall,-Wextra -Werror all-warnings $option \
            -I. -c "$work/cuda_user.c" -o "$work/nvcc_user.o"
        check "nvcc a file that calls has no kernel, and less than 100 KB $option" has_no_kernel "$work/nvcc_user.o"
        check "nvcc no implementation: the linker names the macro $option" names_the_macro "$nvcc" -arch=sm_80 "$work/main_alone.c" "$work/nvcc_user.o" -o "$work/alone"
    done
}
vendor() { # every check of the C headers but those of other languages, by one compiler
    local cc=$1 language option
    # Compilers drop calls of functions that only prefetch, and only speed would tell.
    # windows.h defines near, far, small.
    check "$cc -x c -std=c99 -O2" $cc -x c -std=c99 $strict -Dnear= -Dfar= -Dsmall=char -O2 -I. -S "$work/impl.c" -o "$work/impl.s"
    for option in gather unique sample; do check "$cc prefetches in $option" prefetches $option "$work/impl.s"; done
    check "$cc test_arguments with NDEBUG" $cc -std=c99 -w -O1 -DNDEBUG -D_GNU_SOURCE -I. tests/ggnn/test_arguments.c common/ggnn.c common/ggnn_plan.c -o "$work/arguments" -lm
    check "$cc a caller's mistake is an answer with NDEBUG too" "$work/arguments"
    check "$cc test_random without __BYTE_ORDER__" $cc -std=c99 -w -O1 -U__BYTE_ORDER__ -D_GNU_SOURCE -I. tests/ggnn/test_random.c common/ggnn.c -o "$work/order" -lm
    check "$cc a compiler that does not say which byte comes first draws the same numbers" "$work/order"
    refuse "$cc -ffast-math" $cc -ffast-math -I. -c "$work/impl.c" -o "$work/impl.o"
    refuse "$cc ggnn_plan.h by -ffast-math" $cc -ffast-math -I. -c "$work/plan.c" -o "$work/plan.o"
    same_floats "$cc" sample
    # A file of another name, which finds another version as "ggnn.h" on the path.
    mkdir "$work/foreign" "$work/own"
    sed 's/^\(#define GGNNI_LOOPS_VERSION\) [0-9]*/\1 90000/' ggnn.h >"$work/foreign/ggnn.h"
    cp ggnn.h "$work/own/graph.h"
    printf '#define GGNN_IMPLEMENTATION\n#include "graph.h"\n' >"$work/renamed.c"
    check "$cc another version on the path is an error" sh -c \
        "! $cc '-DGGNN_HEADER=\"ggnn.h\"' -I$work/foreign -I$work/own -c $work/renamed.c -o $work/renamed.o 2>$work/said && grep -q 'another version of ggnn.h' $work/said"
    check "$cc a renamed header finds itself by __FILE_NAME__" $cc -I"$work/foreign" -I"$work/own" -c "$work/renamed.c" -o "$work/renamed.o"
    check "$cc a renamed header by GGNN_HEADER" $cc '-DGGNN_HEADER="graph.h"' -I"$work/foreign" -I"$work/own" -c "$work/renamed.c" -o "$work/renamed.o"
    check "$cc inline functions link without the implementation" $cc -std=c99 $strict -I. "$work/alone.c" -o "$work/alone"
    check "$cc and run" "$work/alone"
    check "$cc two files" $cc -std=c99 $strict -I. "$work/impl.c" "$work/user.c" "$work/main.c" -o "$work/two" -lm
    check "$cc two files run" "$work/two"
    check "$cc 64-bit ids" $cc -DGGNN_NODE64 -I. -c "$work/impl.c" -o "$work/impl64.o"
    check "$cc 64-bit gather" $cc -DGGNN_NODE64 -I. -c "$work/gather.c" -o "$work/gather64.o"
    check "$cc 32-bit gather" $cc -I. -c "$work/gather.c" -o "$work/gather.o"
    check "$cc 64-bit files link" $cc "$work/impl64.o" "$work/gather64.o" "$work/main_wide.c" -o "$work/mixed" -lm
    refuse "$cc a 32-bit file that only gathers does not link with 64-bit ones" $cc "$work/impl64.o" "$work/gather.o" "$work/main_wide.c" -o "$work/mixed" -lm
    refuse "$cc a 64-bit file that only gathers does not link with 32-bit ones" $cc -I. "$work/impl.c" "$work/gather64.o" "$work/main_wide.c" -o "$work/mixed" -lm
    check "$cc a shared object of 32-bit ids" $cc -shared -fPIC -DNAME=narrow -I. "$work/one_width.c" -o "$work/narrow.so" -lm
    check "$cc a shared object of 64-bit ids" $cc -shared -fPIC -DNAME=wide -DGGNN_NODE64 -I. "$work/one_width.c" -o "$work/wide.so" -lm
    check "$cc both link into one program" $cc "$work/both_widths.c" "$work/narrow.so" "$work/wide.so" -o "$work/both_widths"
    check "$cc each shared object calls its own functions" "$work/both_widths"
    check "$cc every function with ids is renamed for 64-bit ones" only_these_keep_their_names "$work/impl64.o" "$without_ids"
    # A GGNN_API of the vendor's own: #pragma redefine_extname renames nothing that has C++'s names.
    for option in 'extern "C"' '__attribute__((visibility("default")))'; do
        check "$cc C++ with GGNN_API=$option" $cc -x c++ -DGGNN_NODE64 "-DGGNN_API=$option" -I. -c "$work/impl.c" -o "$work/api.o"
        check "$cc C++ with GGNN_API=$option: functions with ids are renamed" only_these_keep_their_names "$work/api.o" "$without_ids"
        check "$cc C++ with GGNN_API=$option, ggnn_plan.h" $cc -x c++ -DGGNN_NODE64 "-DGGNN_API=$option" -I. -c "$work/plan.c" -o "$work/api.o"
        check "$cc C++ with GGNN_API=$option: those of ggnn_plan.h too" only_these_keep_their_names "$work/api.o" "$plan_without_ids"
    done
    check "$cc GGNN_CACHE_BYTES may be an expression" $cc -std=c99 $strict "-DGGNN_CACHE_BYTES=1 << 20" -I. "$work/cache.c" -o "$work/cache"
    check "$cc ggnn_unique_choose takes it whole" "$work/cache"
    for language in "-x c -std=c99" "-x c++ -std=c++11"; do
        check "$cc $language ggnn_frontier.h in one file" $cc $language $strict -O2 -DGGNN_STATIC -I. -c "$work/whole_frontier.c" -o "$work/both.o"
        check "$cc $language ggnn_plan.h in one file" $cc $language $strict -O2 -DGGNN_STATIC -I. -c "$work/both.c" -o "$work/both.o"
    done
    check "$cc ggnn_plan.h for 64-bit ids" $cc -std=c99 $strict -DGGNN_NODE64 -I. -c "$work/plan.c" -o "$work/plan64.o"
    check "$cc every function of ggnn_plan.h with ids is renamed" only_these_keep_their_names "$work/plan64.o" "$plan_without_ids"
    check "$cc ggnn_frontier.h for 64-bit ids" $cc -std=c99 $strict -DGGNN_NODE64 -I. -c "$work/frontier.c" -o "$work/frontier64.o"
    check "$cc every function of ggnn_frontier.h is renamed" sh -c "! nm -g --defined-only $work/frontier64.o | grep -v _node64"
    check "$cc a file that ranks" $cc -std=c99 $strict -DGGNN_NODE64 -I. -c "$work/rank.c" -o "$work/rank64.o"
    check "$cc ggnn_plan.h links beside ggnn.h" $cc "$work/impl64.o" "$work/plan64.o" "$work/rank64.o" "$work/main_wide.c" -o "$work/mixed" -lm
    refuse "$cc a 32-bit file that ranks does not link" $cc -I. "$work/impl64.o" "$work/plan64.o" "$work/rank.c" "$work/main_wide.c" -o "$work/mixed" -lm
    check "$cc example compiles" $cc -std=c99 $strict -I. examples/vendor.c -o "$work/vendor" -lm
    prints "$cc example prints the means" "$work/vendor" "3 4.5"
    check "$cc parts.c compiles" $cc -std=c99 $strict -I. examples/parts.c -o "$work/parts_of_rows" -lm
    prints "$cc parts.c prints what its first lines say" "$work/parts_of_rows" "$(sed -n 's|^//   prints  ||p' examples/parts.c)"
    check "$cc attention.c compiles" $cc -std=c99 $strict -I. examples/attention.c -o "$work/attention" -lm
    prints "$cc attention.c prints what its first lines say" "$work/attention" "$(sed -n 's|^//   prints  ||p' examples/attention.c)"
    check "$cc train.c as its first lines say" $cc -O1 -ffp-contract=off -I. examples/train.c -lm -o "$work/train"
    check "$cc train.c is C99 without a warning" $cc -std=c99 $strict -I. -fsyntax-only examples/train.c
    for option in vendor parts attention train; do
        check "$cc $option.c as C++" $cc -x c++ -std=c++11 $strict -Wno-old-style-cast -I. -c examples/$option.c -o "$work/$option.o"
    done
}
# docs/RECIPES.md: each recipe is a program that prints its third line's text.
recipes="threads pool arrays bipartite links relations frontier wide half inference"
recipes() { # recipes CC
    local cc=$1 recipe
    for recipe in $recipes; do
        check "$cc $recipe.c compiles" $cc -std=c99 $strict -I. examples/$recipe.c -o "$work/$recipe" -lm -lpthread
        prints "$cc $recipe.c prints what its first lines say" "$work/$recipe" "$(sed -n '3s|^//   prints  ||p' examples/$recipe.c)"
        check "$recipe.c has at most 60 lines of at most 110 columns" awk 'length > 110 || NR > 60 { bad = 1 } END { exit bad }' examples/$recipe.c
        [ "$part" = quick ] || check "$cc $recipe.c as C++" $cc -x c++ -std=c++11 $strict -Wno-old-style-cast -I. -fsyntax-only examples/$recipe.c
        check "RECIPES.md links $recipe.c" grep -q "(\.\./examples/$recipe.c)" docs/RECIPES.md
    done
    if echo 'int main(void) { return 0; }' | $cc -x c -fopenmp - -o "$work/can" 2>/dev/null; then
        check "$cc -fopenmp threads.c compiles" $cc -std=c99 $strict -fopenmp -I. examples/threads.c -o "$work/threads" -lm -lpthread
        prints "$cc -fopenmp threads.c prints the same" "$work/threads" "$(sed -n '3s|^//   prints  ||p' examples/threads.c)"
        refuse "$cc -fopenmp threads.c opens no team" opens_teams "$work/threads"
        check "$cc -fopenmp vendor.c" $cc -std=c99 -fopenmp -I. examples/vendor.c -o "$work/vendor" -lm
        check "$cc -fopenmp a program without GGNN_SERIAL opens teams" opens_teams "$work/vendor"
    fi
}
opens_teams() { nm "$1" | grep -qE 'GOMP_parallel|__kmpc_fork_call'; }
with_cmake() { # with_cmake CC
    if ! command -v cmake >/dev/null; then echo "  skipped examples/CMakeLists.txt: cmake is not installed"; return; fi
    check "$1 cmake takes examples/CMakeLists.txt" cmake -S examples -B "$work/cmake" -DCMAKE_C_COMPILER="$1" -DCMAKE_BUILD_TYPE=Debug
    check "$1 cmake builds the example" cmake --build "$work/cmake"
    prints "$1 cmake: the example prints the means" "$work/cmake/vendor" "3 4.5"
}
page() { recipes "$1"; with_cmake "$1"; }
cuda() { vendor_cuda "$1"; by_nvcc; }
# The examples as programs of Windows, run by wine.
windows() {
    local cc=x86_64-w64-mingw32-gcc wine example
    wine=$(command -v wine64 || command -v wine || ls /usr/lib/wine/wine64 2>/dev/null)
    if ! command -v $cc >/dev/null || [ -z "$wine" ]; then echo "  skipped Windows: MinGW or wine is not installed"; return; fi
    for example in vendor attention parts; do
        check "MinGW compiles $example.c" $cc -std=c99 $strict -O2 -D__USE_MINGW_ANSI_STDIO=1 -I. examples/$example.c -o "$work/$example.exe" -lm
        printf '#!/bin/sh\ncd %s && WINEDEBUG=-all WINEPREFIX=%s/wine %s %s.exe 2>/dev/null | tr -d "\\r"\n' "$work" "$work" "$wine" $example >"$work/$example.run"
        chmod +x "$work/$example.run"
        prints "wine runs $example.c" "$work/$example.run" "$(sed -n 's|^//   prints  ||p' examples/$example.c | grep . || echo "3 4.5")"
    done
}
in_folder() { # in_folder FOLDER FUNCTION CC: in a folder of its own, so that two may run at once
    mkdir "$work/$1"
    cp "$work"/*.c "$work/$1"
    work=$work/$1
    "$2" "$3" >"$work.out"
}
both() { compile_most "$1"; vendor "$1"; vendor_cuda "$1"; }
part=${1:-quick} own=${2:-cc}
if [ "$part" = rest ]; then
    (trap - EXIT; in_folder own compile_others "$own") &
    windows
    if command -v clang >/dev/null; then
        (trap - EXIT; in_folder clang both clang) &
        (trap - EXIT; in_folder clang2 compile_others clang) &
        (trap - EXIT; in_folder clang3 recipes clang) &
    else echo "  skipped vendoring with clang: not installed"; fi
    wait
    cat "$work"/*.out
    exit 0
fi
(trap - EXIT; in_folder languages compile_most "$own") &
(trap - EXIT; in_folder own vendor "$own") &
(trap - EXIT; in_folder recipes page "$own") &
(trap - EXIT; in_folder cuda cuda "$own") &
wait
cat "$work"/*.out
sed -n '/^\/\/ A complete program/,/^\/\/ WHAT/p' ggnn.h | sed -n 's|^//     ||p' >"$work/first_page.c"
check "the example is the program on the header's first page" sh -c "tail -n +2 examples/vendor.c | sed 's/^    \$//' | diff - $work/first_page.c"
sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```' >"$work/readme.c"
check "the example is README's" sh -c "tail -n +2 examples/vendor.c | diff - $work/readme.c"
check "no symbol but ggnn_*" sh -c "$own -I. -c $work/both.c -o $work/impl.o && ! nm -g --defined-only $work/impl.o | awk '{print \$3}' | grep -v '^ggnn_'"
is_short() { awk -v lines="$2" -v columns="$3" 'length > columns || NR > lines { bad = 1 } END { exit bad }' "$1"; }
check "ggnn_frontier.h has at most 400 lines of at most 110 columns" is_short ggnn_frontier.h 400 110
check "ggnn_reference.h has at most 500 lines of at most 110 columns" is_short ggnn_reference.h 500 110
check "train.c has at most 400 lines of at most 110 columns" is_short examples/train.c 400 110
check "train.cu has at most 450 lines of at most 120 columns" is_short examples/train.cu 450 120
check "peers.cu has at most 80 lines of at most 120 columns" is_short examples/peers.cu 80 120
check "only libc is needed" sh -c "! grep -nE '^ *#include <' ggnn.h ggnn_reference.h ggnn_plan.h ggnn_frontier.h | grep -vE '<(stddef|stdint|stdlib|math|string|assert|omp|immintrin|arm_neon)\.h>'"
