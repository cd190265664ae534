#!/usr/bin/env bash
# mutate.sh - what `make mutate` runs: does every test that should fail do so? Breaks the sources in one place at a time
# (a barrier left out, a bound off by one, an atomic lost, a carry dropped ...), as tests/mutations.txt (ggnn_cuda.cuh)
# and tests/mutations_c.txt (ggnn.h, the trainer, the data tools, what they share) say, in a copy of the file under build/mutate, and runs
# the program that should notice: C programs as they are, those of the CUDA header and of trainer/cuda on the emulator
# (simt). The program `sass` is tests/sass.sh, which compiles the named kernel alone by nvcc and looks at its machine code,
# `packaging` is a group of packaging/check.sh.
#   tests/mutate.sh [NAME ...]   tests/contribute.sh and all breaks, or those whose names begin with one of these; or those of ggnn_cuda.cuh,
#                                trainer/cuda, ggnn.h, ggnn_plan.h, ggnn_frontier.h, ggnn_reference.h, trainer, common, datasets, bench, packaging, or a file of these; contribute: tests/contribute.sh alone
#   tests/mutate.sh --list       their names
#   tests/mutate.sh --help
# Prints a table: number, where, what is broken, program and mode, what noticed it, seconds. Exit status 1 where a break
# is not noticed, where its text is not found exactly once, or where the test fails without it too.
# JOBS (number of cores), LIMIT (seconds that a program may take: 300), CC, CXX, RACEXX (CXX, for the race detector).
# make mutate builds the tests first, and gives CFLAGS and LDLIBS.
# RACEXX should be g++ 12 or older: the thread sanitizer of clang 14 and all built as it is tell 256 threads apart, which
# a block's 256 and the host exceed, and miss some of their races.
set -u
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc} CXX=${CXX:-c++} RACEXX=${RACEXX:-${CXX:-c++}}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
limit=${LIMIT:-300}
plain=${BUILD:-build} build=${BUILD:-build}/mutate
CFLAGS=${CFLAGS:--std=c99 -O1 -I. -D_GNU_SOURCE -fopenmp -ffp-contract=off} LDLIBS=${LDLIBS:--lz -lopenblas -lm}
contributed=0
if [ $# = 0 ] || [ "$*" = contribute ]; then
    bash tests/contribute.sh || contributed=1
    [ $# = 0 ] || exit $contributed
fi
export CCACHE_DISABLE=1 # it does not see that a broken header now comes before the good one
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=0
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1 OMP_WAIT_POLICY=passive
list() { cat tests/mutations.txt tests/mutations_c.txt; } # one after the other, numbered through

# breaks [NAME ...]: number, file, section, name, program, mode, test and what is broken, a line each, tabs between them
breaks() {
    list | awk -v wanted="$*" '
        BEGIN { names = split(wanted, want, " ") }
        /^=/ { file = $2; section = file == "ggnn_cuda.cuh" ? "" : file }
        /^\[/ { section = $0 }
        /^[a-z]/ {
            number++
            split($0, field, / *\| */)
            split(field[2], program, ":")
            for (i = chosen = 0; ++i <= names;) chosen += index(field[1], want[i]) == 1 || want[i] == file || index(file, want[i] "/") == 1
            if (!names || chosen)
                printf "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", number, file, section, field[1], program[1], field[3], program[2] ? program[2] : "-", field[4]
        }'
}

# broken NUMBER FILE FOLDER: puts FILE with that break into FOLDER, under its own path; or says on standard error why not.
broken() {
    list | awk -v number="$1" -v file="$2" -v folder="$3" '
        /^[a-z]/ { n++ }
        n == number && /^-/ { old = old (old_lines++ ? "\n" : "") substr($0, 3) }
        n == number && /^\+/ { new = new (new_lines++ ? "\n" : "") substr($0, 3) }
        END {
            while ((getline line < file) > 0) text = text line "\n"
            if (old) for (rest = text; at = index(rest, old); rest = substr(rest, at + 1)) found++
            if (found != 1) {
                print "its text is found " (found ? found " times" : "nowhere") " in " file > "/dev/stderr"
                exit 1
            }
            at = index(text, old)
            parent = file
            if (!sub(/\/[^\/]*$/, "", parent)) parent = "."
            system("mkdir -p " folder "/" parent)
            printf "%s", substr(text, 1, at - 1) new substr(text, at + length(old)) >(folder "/" file)
        }'
}

form_of() { case $1 in asan | tsan) echo "$1" ;; *) echo plain ;; esac; }

# compiler FORM: the command that makes that form of a program
compiler() {
    case $1 in
    asan) echo "$CXX -fsanitize=address,undefined -fno-sanitize-recover=undefined" ;;
    tsan) echo "$RACEXX -fsanitize=thread -g1" ;;
    *) echo "$CXX" ;;
    esac
}

# compile_cuda FOLDER PROGRAM FORM: FOLDER/tests/PROGRAM.FORM with the header that lies in FOLDER, if one does
compile_cuda() {
    local kernels=
    grep -q '^#define GGNN_CUDA_IMPLEMENTATION' tests/*/"test_cuda_$2.cc" || kernels=tests/ggnn_cuda/cuda_kernels.cc
    $(compiler "$3") -std=c++17 -O1 -w -ffp-contract=off -D_GNU_SOURCE -I"$1" -I. -Isimt \
        tests/*/"test_cuda_$2.cc" $kernels "$build/$3.twin.o" "$build"/simt_*.o -o "$1/tests/$2.$3" -lm
}

# What is to be compiled again where that file is broken: of ggnn.h its implementation and the test, as a vendor's program
# is; of a source itself, or the test where that includes it, both of a program's own; of another header what `make` says depends on it.
dependents() { # dependents FILE PROGRAM
    case $1 in
    ggnn.h) echo common/ggnn.c tests/*/"test_$2.c" ;;
    examples/*) ;; # a program: compile_c
    trainer/ggnn_train.c | datasets/ggnn_data.c) echo "$1"; grep -qF " $1" "$plain/tests/test_$2.d" && echo tests/*/"test_$2.c" ;;
    *.c) grep -qF " $1" "$plain/tests/test_$2.d" && echo tests/*/"test_$2.c" || echo "$1" ;;
    c) ;; # none: the program without any break
    *)
        grep -lF " $1" "$plain"/{common,datasets,trainer,trainer/*,bench}/*.d 2>/dev/null | sed "s|^$plain/\(.*\)\.d|\1.c|" | xargs -r ls 2>/dev/null # some .d are of files gone since
        grep -qF " $1" "$plain/tests/test_$2.d" && ls tests/*/"test_$2.c"
        ;;
    esac
}

# compile_c FOLDER PROGRAM FORM FILE: FOLDER/tests/PROGRAM.FORM with FILE as it is in FOLDER, the rest as make built it; and
# the tools beside it that some tests run.
compile_c() {
    local folder=$1 program=$2 source object objects= test=$plain/tests/test_$2.o flags="-w -O0 -g0" tool sources
    [ "$3" = asan ] && flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    sources=$(dependents "$4" "$program")
    [ "$4" = ggnn.h ] && cp ggnn_reference.h ggnn_plan.h ggnn_frontier.h "$folder" # beside it, as they include it
    [ "$3" = asan ] && sources=$(printf '%s\n' $sources common/ggnn.c common/ggnn_plan.c tests/*/"test_$program.c" | sort -u)
    local train=$plain/trainer/ggnn_train.o data=$plain/datasets/ggnn_data.o bench=$plain/bench/ggnn_bench.o archives=$plain/libtools.a
    case $program in bench | bench_*) archives="$plain/libbench.a $archives" ;; esac
    for source in $sources; do
        object=$folder/$(echo "$source" | tr / _).o
        local from=$source
        [ -f "$folder/$source" ] && from=$folder/$source
        $CC -I"$folder" -iquote "$(dirname "$source")" $CFLAGS $flags -c "$from" -o "$object" || return
        case $source in
        trainer/ggnn_train.c) train=$object ;;
        datasets/ggnn_data.c) data=$object ;;
        bench/ggnn_bench.c) bench=$object ;;
        tests/*) test=$object ;;
        *) objects="$objects $object" ;;
        esac
    done
    $CC $CFLAGS $flags -o "$folder/tests/$program.$3" "$test" $objects $archives $LDLIBS || return
    if [ "$program" = train_example ]; then # in both forms, as make builds it
        from=$folder/examples/train.c
        [ -f "$from" ] || from=examples/train.c
        $CC -I"$folder" $CFLAGS $flags -o "$folder/train" "$from" -lm || return
        [ ! -x "$plain/train-fma" ] || $CC -I"$folder" $CFLAGS $flags -mfma -o "$folder/train-fma" "$from" -lm || return
    fi
    case $program in train | saved | edges | roles | train_parts | part | train_example | train_files | train_ends | mpi | signals | devices | tiers | division | builder | data | convert | foreign | names | edge_features | hostile | file | show | bench | bench_* | order | plan_tool | preprocess | explain | trace | combinations | predict) ;; *) return ;; esac
    [ "$program" = bench_plugin ] && { ln -f "$plain"/tests/bad_plugin.so* "$folder/tests" && ln -f "$plain"/bench_plugin.so "$plain"/bench_limit.so "$folder" || return; }
    case $program in bench | bench_*) $CC $CFLAGS $flags -o "$folder/ggnn-bench" "$bench" $objects $archives $LDLIBS || return ;; esac
    $CC $CFLAGS $flags -o "$folder/ggnn-data" $data $objects $archives $LDLIBS &&
        $CC $CFLAGS $flags -o "$folder/ggnn-train" $train $objects $archives $LDLIBS
}

# compile_trainer FOLDER PROGRAM FORM: FOLDER/tests/PROGRAM.FORM with the CUDA backend, of which what lies in FOLDER is taken
# from there; the rest as make built it.
compile_trainer() {
    local ops=trainer/cuda/ops.cu
    [ -f "$1/$ops" ] && ops=$1/$ops
    $CXX -std=c++17 -O1 -w -ffp-contract=off -D_GNU_SOURCE -I"$1" -I. -Isimt -x c++ -c "$ops" -o "$1/ops.o" &&
        $CXX -fopenmp -o "$1/tests/$2.$3" "$plain/tests/test_cuda_$2.o" "$1/ops.o" "$plain/emulated/trainer/cuda/comm_nccl.o" \
            "$plain"/simt/simt_*.o "$plain/libtools.a" $LDLIBS
}

# group FILE: how it is compiled
group() {
    case $1 in
    ggnn_cuda.cuh) echo "$1" ;;
    trainer/cuda/*) echo trainer/cuda ;;
    *) echo c ;;
    esac
}

# compile FOLDER FILE PROGRAM FORM
compile() {
    mkdir -p "$1/tests"
    case $(case $3 in sass | packaging) echo "$3" ;; *) group "$2" ;; esac) in
    packaging) printf '#!/bin/sh\nCI=true exec bash packaging/check.sh --broken "%s" "$1"\n' "$1" >"$1/tests/packaging.$4" && chmod +x "$1/tests/packaging.$4" ;;
    sass) printf '#!/bin/sh\nexec bash tests/sass.sh alone "%s" "$1"\n' "$1" >"$1/tests/sass.$4" && chmod +x "$1/tests/sass.$4" ;;
    ggnn_cuda.cuh) compile_cuda "$1" "$3" "$4" ;;
    trainer/cuda) compile_trainer "$1" "$3" "$4" ;;
    c) compile_c "$1" "$3" "$4" "$2" ;;
    esac
}

# What all programs need: the emulator, and the C headers' own implementation in every form.
compile_common() {
    printf '%s\n' simt/simt_*.cc | xargs -P "$jobs" -I SOURCE sh -c \
        "$CXX -std=c++17 -O2 -w -D_GNU_SOURCE -Isimt -c SOURCE -o $build/\$(basename SOURCE .cc).o" &&
        for form in "$@"; do
            printf '#include "common/%s.c"\n' ggnn ggnn_plan |
                $(compiler "$form") -x c++ -O1 -w -ffp-contract=off -I. -c - -o "$build/$form.twin.o" || return
        done
}

# run PROGRAM MODE TEST: its exit status; 124: it did not end
run() {
    local order= async=
    case $2 in reversed) order=rev ;; random) order=rand ;; lazy) order=rand async=lazy ;; esac
    SIMT_ORDER=$order SIMT_ASYNC=$async timeout -k 5 "$limit" "$1" $([ "$3" = - ] || echo "$3")
}

# noticed LOG: what first went wrong
noticed() {
    grep -m1 -E '^  FAILED |simt: ERROR|WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error' "$1" | sed -E '
        s/^  FAILED //; s/.*simt: ERROR: //; s/.*ThreadSanitizer: ([a-z ]+).*/\1/; s/.*AddressSanitizer: ([a-z-]+).*/\1/
        s/.*runtime error: //; s/ggnni:://g; s/ 0x[0-9a-f]+,?//g' | cut -c1-64
}

# try NUMBER FILE SECTION NAME PROGRAM MODE TEST WHAT: one break; its row of the table
try() {
    local folder=$build/$1 form start=$SECONDS status seen
    form=$(form_of "$6")
    rm -rf "$folder"
    mkdir -p "$folder"
    if ! broken "$1" "$2" "$folder" 2>"$folder/log"; then seen="NOT BROKEN: $(cat "$folder/log")"
    elif ! compile "$folder" "$2" "$5" "$form" >"$folder/log" 2>&1; then seen="NOT COMPILED: $(grep -m1 error "$folder/log" | cut -c1-60)"
    else
        run "$folder/tests/$5.$form" "$6" "$7" >"$folder/log" 2>&1
        status=$?
        seen=$(noticed "$folder/log")
        if [ $status = 0 ]; then seen="NOT NOTICED ($4)"
        elif [ $status = 124 ]; then seen="does not end"
        else seen=${seen:-exit status $status}; fi
    fi
    find "$folder" -type f ! -name log ! -name '*.[ch]' ! -name '*.cuh' -delete
    printf '%4d  %-28s %-62s %-10s %-9s %-62s %4d s\n' "$1" "$3" "$8" "$5" "$6" "$seen" $((SECONDS - start))
}

# whole GROUP PROGRAM FORM: does every test that breaks of this form rely on pass without them?
whole() {
    local folder=$build/whole/${1//\//_}.$2.$3 mode test log group # its own: some programs come with tools beside them
    mkdir -p "$folder"
    log=$folder/$2.$3.log
    compile "$folder" "$([ "$1" = trainer/cuda ] && echo trainer/cuda/ops.cu || echo "$1")" "$2" "$3" >"$log" 2>&1 || { echo "NOT COMPILED: $1 $2 $3, $log"; return; }
    awk -F'\t' -v OFS='\t' '{ print ($2 == "ggnn_cuda.cuh" ? $2 : index($2, "trainer/cuda/") == 1 ? "trainer/cuda" : "c"), $5, $6, $7 }' "$build/wanted" | sort -u | while IFS=$'\t' read -r group program mode test; do
        [ "$group $program" = "$1 $2" ] && [ "$(form_of "$mode")" = "$3" ] || continue
        run "$folder/tests/$2.$3" "$mode" "$test" >"$log" 2>&1 && grep -q '^[1-9].* passed, 0 failed' "$log" ||
            echo "NOT WHOLE: without any break $2 $mode $test fails too, or tests nothing: $(noticed "$log")"
    done
    rm -f "$folder/tests/$2.$3"
}

case ${1:-} in
--help | -h) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;;
--list) breaks | cut -f3,4,8; exit ;;
--try) breaks | awk -v n="$2" '$1 == n' | { IFS=$'\t' read -r a b c d e f g h; try "$a" "$b" "$c" "$d" "$e" "$f" "$g" "$h"; }; exit ;;
--whole) whole "$2" "$3" "$4"; exit ;;
-*) echo "mutate.sh: no option $1; --help tells more" >&2; exit 2 ;;
esac

mkdir -p "$build/whole"
breaks "$@" >"$build/wanted"
[ -s "$build/wanted" ] || { echo "mutate.sh: no break of that name; --list shows them" >&2; exit 2; }
start=$SECONDS
if ! printf 'int main(){}' | $RACEXX -fsanitize=thread -x c++ - -o "$build/can" 2>/dev/null; then
    echo "skipped: those for the race detector, which $RACEXX has not"
    awk -F'\t' '$6 != "tsan"' "$build/wanted" >"$build/can" && mv "$build/can" "$build/wanted"
fi
if ! lacks=$(bash tests/sass.sh find); then
    awk -F'\t' '$5 != "sass"' "$build/wanted" >"$build/can"
    cmp -s "$build/can" "$build/wanted" || echo "skipped: those of machine code: $lacks"
    mv "$build/can" "$build/wanted"
fi
if ! command -v nvcc >/dev/null; then
    awk -F'\t' '$5 != "packaging" || $7 != "targets"' "$build/wanted" >"$build/can"
    cmp -s "$build/can" "$build/wanted" || echo "skipped: those of packaging's targets: nvcc is not installed"
    mv "$build/can" "$build/wanted"
fi
if ! command -v cmake >/dev/null || ! command -v pkg-config >/dev/null; then
    echo "skipped: those of packaging: cmake or pkg-config is not installed"
    awk -F'\t' '$5 != "packaging"' "$build/wanted" >"$build/can"
    mv "$build/can" "$build/wanted"
fi
[ -s "$build/wanted" ] || exit 0 # all are skipped
forms=$(awk -F'\t' '$2 == "ggnn_cuda.cuh" && $5 != "sass" { print $6 }' "$build/wanted" | while read -r mode; do form_of "$mode"; done | sort -u)
[ -z "$forms" ] || compile_common $forms || exit 1
trainers=$(awk -F'\t' -v plain="$plain" '$2 ~ "^trainer/cuda/" && $5 != "sass" { print plain "/tests/test_cuda_" $5 }' "$build/wanted" | sort -u)
[ -z "$trainers" ] || make -s -j"$jobs" BUILD="$plain" $trainers "$plain/emulated/trainer/cuda/comm_nccl.o" || exit 1
{
    while IFS=$'\t' read -r _ file _ _ program mode _; do
        echo "$(group "$file") $program $(form_of "$mode")"
    done <"$build/wanted" | sort -u | sed 's/^/--whole /'
    cut -f1 "$build/wanted" | sed 's/^/--try /'
} | xargs -P "$jobs" -L 1 bash "$0" | tee "$build/table"
bad=$(grep -c NOT "$build/table")
printf '%d breaks: %s; %d s\n' "$(wc -l <"$build/wanted")" "$([ "$bad" = 0 ] && echo "each is noticed" || echo "$bad faults")" $((SECONDS - start))
[ "$bad" = 0 ] && [ $contributed = 0 ]
