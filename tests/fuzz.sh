#!/usr/bin/env bash
# fuzz.sh - what `make fuzz` runs: every parser of the data tools under libFuzzer, by clang, with the sanitizers of memory.
#   tests/fuzz.sh [csv ggnn_file konect mtx npy npz snap ...]   all where none is named
# FUZZ_RUNS: inputs for each (100,000). Begins with good files, of the target's own making, and with what earlier runs
# found worth keeping: build/fuzz-corpus/NAME. What fails is left there as NAME-crash-...: build/fuzz/fuzz_NAME 0 FILE
# repeats it. A line for each: inputs, those kept, inputs a second. Exit status 1 where one fails.
set -u
cd "$(dirname "$0")/.." || exit 1
runs=${FUZZ_RUNS:-100000} folder=build/libfuzzer corpus=build/fuzz-corpus
unset MAKEFLAGS MAKELEVEL
# a small quarantine and short stacks: three times the inputs in the same time
export ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:quarantine_size_mb=1:malloc_context_size=3
echo 'int LLVMFuzzerTestOneInput(const char* data, unsigned long size) { return data == 0 && size > 0; }' >"${TMPDIR:-/tmp}/fuzz.$$.c"
clang -fsanitize=fuzzer,address "${TMPDIR:-/tmp}/fuzz.$$.c" -o "${TMPDIR:-/tmp}/fuzz.$$" 2>/dev/null
can=$?
rm -f "${TMPDIR:-/tmp}/fuzz.$$.c" "${TMPDIR:-/tmp}/fuzz.$$"
[ $can -eq 0 ] || { echo "fuzz: no clang that has libFuzzer; make fuzzers builds targets with a driver of their own"; exit 77; }
[ $# -gt 0 ] || set -- $(ls tests/fuzz/fuzz_*.c | sed 's|tests/fuzz/fuzz_\(.*\)\.c|\1|')
for name in "$@"; do
    [ -f "tests/fuzz/fuzz_$name.c" ] || { echo "fuzz: no parser is named $name"; exit 2; }
done

# Programs for libFuzzer, and one each that writes the seeds. Without OpenMP: an input is small, and repeats exactly.
make -s -j"$(nproc)" fuzzers || exit 1
make -s -j"$(nproc)" fuzzers BUILD=$folder CC=clang NO_OPENMP=1 LIBFUZZER=1 OPT="-O1 -g1" \
    EXTRA="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined" || exit 1

failed=0
for name in "$@"; do
    mkdir -p "$corpus/$name"
    "build/fuzz/fuzz_$name" --seeds "$corpus/$name" || exit 1
    "$folder/fuzz/fuzz_$name" -runs="$runs" -max_len=65536 -len_control=20 -timeout=60 -rss_limit_mb=4096 -malloc_limit_mb=0 \
        -artifact_prefix="$corpus/$name-" -print_final_stats=1 "$corpus/$name" >"$corpus/$name.log" 2>&1 ||
        { failed=1; echo "  FAILED $name: $(grep -m1 -E 'ERROR|runtime error|SUMMARY' "$corpus/$name.log") ($corpus/$name.log)"; }
    sed -n 's/^stat::number_of_executed_units: *//p' "$corpus/$name.log" | tail -n 1 | { read -r inputs
        echo "$name: ${inputs:-0} inputs, $(ls "$corpus/$name" | wc -l) kept, $(sed -n 's/^stat::average_exec_per_sec: *//p' "$corpus/$name.log") a second"; }
done
exit $failed
