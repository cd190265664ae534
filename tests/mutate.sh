#!/usr/bin/env bash
# mutate.sh - what `make mutate` runs: does every test that should fail do so? Breaks ggnn_cuda.cuh in one place at a
# time (a barrier left out, a bound off by one, an atomic lost, a carry dropped ...), each as tests/mutations.txt says,
# in a copy of the header under build/mutate, and runs the program that should notice on the emulator (tests/simt).
#   tests/mutate.sh [NAME ...]   all breaks, or those whose names begin with one of these
#   tests/mutate.sh --list       their names
#   tests/mutate.sh --help
# Prints a table: number, section, what is broken, program and mode, what noticed it, seconds. Exit status 1 where a
# break is not noticed, where its text is not found exactly once, or where the test fails without it too.
# JOBS (number of cores), LIMIT (seconds that a program may take: 300), CXX, RACEXX (CXX, for the race detector).
# RACEXX should be g++ 12 or older: the thread sanitizer of clang 14 and all built as it is tell 256 threads apart, which
# a block's 256 and the host exceed, and miss some of their races.
set -u
cd "$(dirname "$0")/.." || exit 1
CXX=${CXX:-c++} RACEXX=${RACEXX:-${CXX:-c++}}
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
limit=${LIMIT:-300}
build=${BUILD:-build}/mutate
list=tests/mutations.txt
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=0
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1

# breaks [NAME ...]: number, section, name, program, mode, test and what is broken, a line each, tabs between them
breaks() {
    awk -v wanted="$*" '
        BEGIN { names = split(wanted, want, " ") }
        /^\[/ { section = $0 }
        /^[a-z]/ {
            number++
            split($0, field, / *\| */)
            split(field[2], where, ":")
            for (i = chosen = 0; ++i <= names;) chosen += index(field[1], want[i]) == 1
            if (!names || chosen)
                printf "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", number, section, field[1], where[1], field[3], where[2] ? where[2] : "-", field[4]
        }' "$list"
}

# broken NUMBER: the header with that break, or on standard error why not
broken() {
    awk -v number="$1" -v header=ggnn_cuda.cuh '
        /^[a-z]/ { n++ }
        n == number && /^-/ { old = old (old_lines++ ? "\n" : "") substr($0, 3) }
        n == number && /^\+/ { new = new (new_lines++ ? "\n" : "") substr($0, 3) }
        END {
            while ((getline line < header) > 0) text = text line "\n"
            at = index(text, old)
            again = index(substr(text, at + 1), old)
            if (!old || !at || again) {
                print "its text is found " (at && again ? "more than once" : "nowhere") > "/dev/stderr"
                exit 1
            }
            printf "%s%s%s", substr(text, 1, at - 1), new, substr(text, at + length(old))
        }' "$list"
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

# compile FOLDER PROGRAM FORM: FOLDER/PROGRAM.FORM with the header that lies in FOLDER, if one does
compile() {
    $(compiler "$3") -std=c++17 -O1 -w -ffp-contract=off -D_GNU_SOURCE -I"$1" -I. -Itests/simt \
        "tests/test_cuda_$2.cc" "$build/$3.twin.o" "$build"/simt_*.o -o "$1/$2.$3" -lm
}

# What all programs need: the emulator, and ggnn.h's own implementation in every form.
compile_common() {
    printf '%s\n' tests/simt/simt_*.cc | xargs -P "$jobs" -I SOURCE sh -c \
        "$CXX -std=c++17 -O2 -w -D_GNU_SOURCE -Itests/simt -c SOURCE -o $build/\$(basename SOURCE .cc).o" &&
        for form in "$@"; do
            $(compiler "$form") -x c++ -O1 -w -ffp-contract=off -I. -c common/ggnn.c -o "$build/$form.twin.o" || return
        done
}

# run PROGRAM MODE TEST: its exit status; 124: it did not end
run() {
    local order= async=
    case $2 in reversed) order=rev ;; random) order=rand ;; lazy) order=rand async=lazy ;; esac
    SIMT_ORDER=$order SIMT_ASYNC=$async timeout "$limit" "$1" $([ "$3" = - ] || echo "$3")
}

# noticed LOG: what first went wrong
noticed() {
    grep -m1 -E '^  FAILED |simt: ERROR|WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error' "$1" | sed -E '
        s/^  FAILED //; s/.*simt: ERROR: //; s/.*ThreadSanitizer: ([a-z ]+).*/\1/; s/.*AddressSanitizer: ([a-z-]+).*/\1/
        s/.*runtime error: //; s/ggnni:://g; s/ 0x[0-9a-f]+,?//g' | cut -c1-64
}

# try NUMBER SECTION NAME PROGRAM MODE TEST WHAT: one break; its row of the table
try() {
    local folder=$build/$1 form start=$SECONDS status seen
    form=$(form_of "$5")
    mkdir -p "$folder"
    if ! broken "$1" >"$folder/ggnn_cuda.cuh" 2>"$folder/log"; then seen="NOT BROKEN: $(cat "$folder/log")"
    elif ! compile "$folder" "$4" "$form" >"$folder/log" 2>&1; then seen="NOT COMPILED: $(grep -m1 error "$folder/log" | cut -c1-60)"
    else
        run "$folder/$4.$form" "$5" "$6" >"$folder/log" 2>&1
        status=$?
        seen=$(noticed "$folder/log")
        if [ $status = 0 ]; then seen="NOT NOTICED ($3)"
        elif [ $status = 124 ]; then seen="does not end"
        else seen=${seen:-exit status $status}; fi
    fi
    rm -f "$folder/$4.$form"
    printf '%3d  %-5s %-62s %-10s %-9s %-62s %4d s\n' "$1" "$2" "$7" "$4" "$5" "$seen" $((SECONDS - start))
}

# whole PROGRAM FORM: does every test that breaks of this form rely on pass without them?
whole() {
    local folder=$build/whole mode test log
    log=$folder/$1.$2.log
    compile "$folder" "$1" "$2" >"$log" 2>&1 || { echo "NOT COMPILED: $1 $2, $log"; return; }
    cut -f4-6 "$build/wanted" | sort -u | while IFS=$'\t' read -r program mode test; do
        [ "$program" = "$1" ] && [ "$(form_of "$mode")" = "$2" ] || continue
        run "$folder/$1.$2" "$mode" "$test" >"$log" 2>&1 && grep -q '^[1-9].* passed, 0 failed' "$log" ||
            echo "NOT WHOLE: without any break $1 $mode $test fails too, or tests nothing: $(noticed "$log")"
    done
    rm -f "$folder/$1.$2"
}

case ${1:-} in
--help | -h) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit ;;
--list) breaks | cut -f2,3,7; exit ;;
--try) breaks | awk -v n="$2" '$1 == n' | { IFS=$'\t' read -r a b c d e f g; try "$a" "$b" "$c" "$d" "$e" "$f" "$g"; }; exit ;;
--whole) whole "$2" "$3"; exit ;;
-*) echo "mutate.sh: no option $1; --help tells more" >&2; exit 2 ;;
esac

mkdir -p "$build/whole"
breaks "$@" >"$build/wanted"
[ -s "$build/wanted" ] || { echo "mutate.sh: no break of that name; --list shows them" >&2; exit 2; }
start=$SECONDS
if ! printf 'int main(){}' | $RACEXX -fsanitize=thread -x c++ - -o "$build/can" 2>/dev/null; then
    echo "skipped: those for the race detector, which $RACEXX has not"
    awk -F'\t' '$5 != "tsan"' "$build/wanted" >"$build/can" && mv "$build/can" "$build/wanted"
fi
forms=$(cut -f5 "$build/wanted" | while read -r mode; do form_of "$mode"; done | sort -u)
compile_common $forms || exit 1
{
    while IFS=$'\t' read -r _ _ _ program mode _; do echo "$program $(form_of "$mode")"; done <"$build/wanted" | sort -u | sed 's/^/--whole /'
    cut -f1 "$build/wanted" | sed 's/^/--try /'
} | xargs -P "$jobs" -L 1 bash "$0" | tee "$build/table"
bad=$(grep -c NOT "$build/table")
printf '%d breaks of ggnn_cuda.cuh: %s; %d s\n' "$(wc -l <"$build/wanted")" "$([ "$bad" = 0 ] && echo "each is noticed" || echo "$bad faults")" $((SECONDS - start))
[ "$bad" = 0 ]
