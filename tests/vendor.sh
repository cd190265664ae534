#!/usr/bin/env bash
# vendor.sh - does ggnn.h compile, link and run the way vendors will use it? One line a check: "ok ..." or "  FAILED ...".
#   tests/vendor.sh [CC]
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

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
prints() { # prints NAME PROGRAM TEXT
    check "$1" test "$("$2" 2>&1)" = "$3"
}

printf '#include "ggnn.h"\nconst char* other(void);\nconst char* other(void) { return ggnn_status_string(GGNN_OK); }\n' >"$work/user.c"
printf '#define GGNN_IMPLEMENTATION\n#include "ggnn.h"\n' >"$work/impl.c"
printf '#define GGNN_STATIC\n#define GGNN_IMPLEMENTATION\n#include "ggnn.h"\n' >"$work/static_a.c"
printf '#include "ggnn.h"\nint uses(void);\nint uses(void) { return (int)ggnn_sample(0, 0, 0, 0, 0, 0, 0); }\n' >"$work/wide.c"
printf '#define _GNU_SOURCE\n#define GGNN_FILE_IMPLEMENTATION\n#include "datasets/ggnn_file.h"\n' >"$work/file.c"
printf 'const char* other(void);\nint uses(void);\nint main(void) { return other()[0] != 111; }\n' >"$work/main.c"
printf 'int uses(void);\nint main(int n, char** v) { (void)v; return n > 9 ? uses() : 0; }\n' >"$work/main_wide.c"

compilers="${1:-cc}"
for other in gcc clang; do
    command -v $other >/dev/null && compilers="$compilers $other" || echo "  skipped vendoring with $other: not installed"
done
for cc in $compilers; do
    for language in "-x c -std=c99" "-x c -std=gnu17" "-x c++ -std=c++11" "-x c++ -std=c++17"; do
        options="-O2 -fopenmp -DGGNN_NODE64 -DGGNN_NO_SIMD -DNDEBUG -march=native -O3"
        case $language in *17) options="-O2" ;; esac
        for option in $options; do
            echo 'int main(void) { return 0; }' | $cc -x c $option - -o "$work/can" 2>/dev/null || continue
            check "$cc $language $option" $cc $language -O2 $strict $option -I. -c "$work/impl.c" -o "$work/impl.o"
        done
        check "$cc $language GGNN_STATIC" $cc $language -O2 $strict -I. -c "$work/static_a.c" -o "$work/static.o"
        check "$cc $language ggnn_file.h" $cc $language -O2 $strict -U_GNU_SOURCE -I. -c "$work/file.c" -o "$work/file.o"
        check "$cc $language API alone" $cc $language -O2 $strict -I. -c "$work/user.c" -o "$work/user.o"
    done
    check "$cc two files" $cc -std=c99 $strict -I. "$work/impl.c" "$work/user.c" "$work/main.c" -o "$work/two" -lm
    check "$cc two files run" "$work/two"
    refuse "$cc 64-bit and 32-bit files do not link" sh -c "$cc -DGGNN_NODE64 -I. -c $work/impl.c -o $work/impl64.o && $cc -I. -c $work/wide.c -o $work/wide.o && $cc $work/impl64.o $work/wide.o $work/main_wide.c -o $work/mixed -lm"
    check "$cc example compiles" $cc -std=c99 $strict -I. examples/vendor.c -o "$work/vendor" -lm
    prints "$cc example prints the means" "$work/vendor" "3 4"
    check "$cc example as C++" $cc -x c++ -std=c++11 $strict -Wno-old-style-cast -I. -c examples/vendor.c -o "$work/vendor.o"
done
sed -n '/^\/\/ A complete program/,/^\/\/ WHAT/p' ggnn.h | sed -n 's|^//     ||p' >"$work/first_page.c"
check "the example is the program on the header's first page" sh -c "tail -n +2 examples/vendor.c | sed 's/^    \$//' | diff - $work/first_page.c"
sed -n '/^```c$/,/^```$/p' README.md | grep -v '^```' >"$work/readme.c"
check "the example is README's" sh -c "tail -n +2 examples/vendor.c | diff - $work/readme.c"
check "no symbol but ggnn_*" sh -c "${1:-cc} -I. -c $work/impl.c -o $work/impl.o && ! nm -g --defined-only $work/impl.o | awk '{print \$3}' | grep -v '^ggnn_'"
check "only libc is needed" sh -c "! grep -nE '^ *#include <' ggnn.h | grep -vE '<(stddef|stdint|math|string|assert|omp|immintrin|arm_neon)\.h>'"
