#!/usr/bin/env bash
# run.sh - what `make check`, `make test` and `make test-all` run: builds the tests, runs them, adds up.
#   tests/run.sh check [PROGRAM[:TEST] ...]   what to run after each edit: the plain build, tests of seconds left out; or
#                                             the named programs and tests alone. An unknown name is a failure.
#   tests/run.sh test | slow | all | STAGE ...   the stages of make test; those that make test-all has besides; all; or these
# Each stage has its own folder under build/. The last line is "N passed, N failed, N skipped", where every form of a test
# counts; the line before says how many distinct tests there were.
set -u
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc}
jobs=$(nproc 2>/dev/null || echo 2)
passed=0 failed=0 skipped=0
logs=build/test-logs
ran=$logs/ran.$$ # what passed: a form and a test a line
mkdir -p "$logs"
unset GGNN_TEST_FAIL_ALLOCATION MAKEFLAGS MAKELEVEL
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export OMP_WAIT_POLICY=passive # programs run side by side: threads that wait leave their core to the others
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=0

# Stages, each with the seconds it may take on two quiet cores with nothing built before. Those of make test add up to under 600.
quick="plain:110 asan:200 clang:35 vendor:85 fuzz:25 install:8 emulated:135"
slow="plain_slow:120 bare:45 vendor_all:90 asan_slow:110 emulated_slow:320 tsan:100 node64:100 orders:100 emulated_asan:80 faults:80 race:240 emulated64:120 aarch64:120"

say() { printf '== %s\n' "$*"; }
pass() { passed=$((passed + 1)); echo "$form ${1:-$form}" >>"$ran"; }
fail() { failed=$((failed + 1)); printf '  FAILED %s\n' "$*"; }
skip() { skipped=$((skipped + 1)); printf '  skipped %s\n' "$*"; }

# What this machine cannot prove, in words; after the stages, before the last lines.
unproved() {
    local found
    found=$(make -s show CC="$CC")
    lacks() { case $found in *"$1: no"*) printf 'not proved: %s\n' "$2" ;; esac; }
    lacks OpenMP "threads: OpenMP is not installed"
    lacks zlib "compressed input: zlib is not installed"
    lacks CBLAS "--gemm blas: no CBLAS is installed"
    lacks MPI "processes and machines: Open MPI is not installed"
    lacks METIS "--method metis: METIS is not installed"
    command -v clang >/dev/null || echo "not proved: that clang compiles it, and libFuzzer: clang is not installed"
    can "$CC" -fsanitize=address,undefined || echo "not proved: that no byte out of bounds is touched: $CC has no sanitizers"
    python3 -c 'import numpy' 2>/dev/null || echo "not proved: the examples in Python: NumPy is not installed"
    [ -f ../shared/data/cora.npz ] || echo "not proved: accuracy on real graphs: ../shared/data is absent"
    unshare -rn true 2>/dev/null || [ "$(id -u)" = 0 ] || echo "not proved: several machines: namespaces are not allowed"
    [ -z "$left_out" ] || echo "not proved: what these stages show, for want of time:$left_out"
    echo "not proved: that the kernels run on a GPU, and how fast: that takes make gpu-check on a machine with one"
}
can() { printf 'int main(void){return 0;}\n' | "$1" -x c - -o "$logs/can" "${@:2}" 2>/dev/null && "$logs/can"; }

# build FOLDER TARGETS MAKE-ARGUMENT...: a failed build is one failed test
build() {
    local folder=$1 target=$2 log
    log=$logs/$(basename "$folder").build
    if make -j"$jobs" BUILD="$folder" "${@:3}" $target >"$log" 2>&1; then return 0; fi
    fail "building $folder: $(grep -m1 -E 'error[: ]|Error [0-9]' "$log")"
    return 1
}

in_folder() { printf "$1/tests/%s " "${@:2}"; } # the paths of test programs

# run FOLDER NAME...: runs test programs, one more at once than there are cores, as some wait, and adds up their closing lines. OPTION: of
# all programs but those of WHOLE; EMULATOR: before each. The logs are named by the form, $form, and so is what ran.
run() {
    local folder=$1 name log line
    shift
    printf '%s\n' "$@" | xargs -P $((jobs + 1)) -I NAME sh -c "case ' ${WHOLE:-} ' in *' NAME '*) option= ;; *) option='${OPTION:-}' ;; esac
        ${EMULATOR:-} '$folder/tests/NAME' \$option >'$logs/$form.NAME' 2>&1; echo \$? >'$logs/$form.NAME.exit'"
    for name in "$@"; do
        log=$logs/$form.$name
        line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
        if [ -z "$line" ]; then
            fail "$folder/tests/$name ended early:"
            tail -n 20 "$log"
            continue
        fi
        case "$line $(cat "$log.exit")" in # a sanitizer's report after tests that pass
        *" 0 failed"*" skipped 0" | *" "[1-9]*" failed"*) ;;
        *) fail "$folder/tests/$name: exit status $(cat "$log.exit"): $(grep -m1 -E 'WARNING|ERROR' "$log")" ;;
        esac
        sed -n "s/^ok \([^ ]*\).*/$form $name:\1/p" "$log" >>"$ran"
        passed=$((passed + $(echo "$line" | cut -d' ' -f1)))
        failed=$((failed + $(echo "$line" | cut -d' ' -f3)))
        skipped=$((skipped + $(echo "$line" | cut -d' ' -f5)))
        case "$line" in
        *" 0 failed, 0 skipped") ;;
        *" 0 failed"*) grep -E '^  ' "$log" | grep -v '^  seed' | sed "s|^|  $name:|" ;;
        *) grep -v '^ok ' "$log" | sed "s|^|  $name:  |" ;; # with all that its programs said
        esac
    done
}

# all test programs, those that take longest first
programs() {
    local all long="test_mpi test_devices test_bench test_place test_builder test_convert test_models test_train"
    all=$(ls tests/*/test_*.c | sed 's|.*/\(.*\)\.c|\1|')
    for name in $long $all; do echo "$name"; done | awk '!seen[$0]++'
}

# the programs that run in parallel regions; the others start other programs
numerical() {
    for name in test_parallel test_graph test_block test_frontier test_store test_sparse test_attention test_gemm test_models test_worker test_split_train test_queue test_comm test_exchange; do
        echo "$name"
    done
}

# the tests of the CUDA header, those that take longest first
emulated() {
    for name in test_cuda_steps test_cuda_train test_cuda_sample test_cuda_block $(ls tests/*/test_cuda_*.cc | sed 's|.*/\(.*\)\.cc|\1|'); do
        echo "$name"
    done | awk '!seen[$0]++'
}
# in other forms than the plain one: the nets of test_cuda_train are those of test_cuda_steps
emulated_again() { emulated | grep -v test_cuda_train; }

sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=undefined"

# ==== make check ======================================================================================================

# The C tests without those that take seconds, and of the emulator the quickest program.
check_all() {
    say "check: $("$CC" --version | head -n 1)"
    form=plain
    build build "tests build/tests/test_cuda_unique" CC="$CC" && OPTION=--quick run build $(programs) test_cuda_unique
}

# check_one PROGRAM[:TEST]: what it prints is shown
check_one() {
    local program=${1%%:*} name= tools=all line
    case $1 in *:*) name=${1#*:} ;; esac
    if ! ls tests/*/"$program".c* >/dev/null 2>&1; then
        fail "no test program is named $program; there are: $(echo $(programs) $(emulated) test_simt)"
        return
    fi
    case $program in test_bench*) tools="all build/ggnn-bench" ;; esac
    build build "$tools build/tests/$program" CC="$CC" || return
    "build/tests/$program" $name | tee "$logs/one" | grep -v -E '^[0-9]+ passed, '
    line=$(tail -n 1 "$logs/one" | grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$')
    if [ -z "$line" ]; then
        fail "$program ended early"
        return
    fi
    passed=$((passed + $(echo "$line" | cut -d' ' -f1)))
    failed=$((failed + $(echo "$line" | cut -d' ' -f3)))
    skipped=$((skipped + $(echo "$line" | cut -d' ' -f5)))
}

# scripts FOLDER NAME: the Python tests of a folder, one test here; skipped as well where some of them cannot run
scripts() {
    if ! command -v python3 >/dev/null; then skip "$2: python3 is not installed"; return; fi
    if python3 -B -m unittest discover -v -s "$1" >"$logs/$2" 2>&1; then pass "$2"
    else fail "$1"; tail -n 20 "$logs/$2"; fi
    if grep -q ' \.\.\. skipped ' "$logs/$2"; then
        skip "$2: $(grep -c ' \.\.\. skipped ' "$logs/$2") of its tests: $(sed -n "s/.* \.\.\. skipped '\(.*\)'/\1/p" "$logs/$2" | sort -u | paste -sd ';')"
    fi
}

# ==== the stages ======================================================================================================

stage_plain() {
    say "plain: $("$CC" --version | head -n 1)"
    make -s show
    build build tests CC="$CC" || return
    OPTION=--quick run build $(programs)
    scripts bench/rivals rivals
    scripts tests/datasets readers.py
    scripts tests/examples examples.py
    scripts tests/docs docs
    scripts tests/cuda sass_budget.py
    scripts tests/bench gpu_step.py
    lines tests/rooms.sh
    built_with_all
    bits_of_all
    lines tests/makefile.sh
    lines tests/learn.sh
    if build/tests/test_memory no_such_test >"$logs/unknown"; then fail "test_memory no_such_test: succeeds"; else pass unknown_test; fi
    if bash tests/run.sh check no_such_program >"$logs/unknown" 2>&1; then fail "make check TEST=no_such_program: succeeds"; else pass unknown_program; fi
    echo 90 9 >"$logs/pace" # of an earlier run, which took ten times its budgets
    UNTIL=$(($(date +%s) + 60)) bash tests/run.sh install >"$logs/unknown" 2>&1
    if grep -q '^  skipped install: it may take 96 s here' "$logs/unknown"; then pass deadline; else fail "tests/run.sh by UNTIL: an earlier run's pace is forgotten"; fi
}

# The programs have what make found: a flag on a file that moved would be lost in silence.
built_with_all() {
    local found has name
    found=$(make -s show CC="$CC") has=$(build/ggnn-train --version)
    for name in OpenMP CBLAS MPI; do
        case "$found/$has" in
        *"$name: yes"*/*"$name: no"* | *"$name: no"*/*"$name: yes"*) fail "ggnn-train and make show differ in $name: $has" ;;
        *) pass "ggnn-train has what make show found of $name" ;;
        esac
    done
    build/ggnn-data generate karate "$logs/karate.ggnn" >"$logs/karate"
    case "$found/$(build/ggnn-data partition "$logs/karate.ggnn" --method metis --parts 2 --out "$logs/karate.parts" 2>&1)" in
    *"METIS: yes"*/*"without METIS"*) fail "ggnn-data was built without METIS, which make found" ;;
    *) pass "ggnn-data has what make show found of METIS" ;;
    esac
}

# Every function of ggnn.h and ggnn_plan.h has frozen bits: a test of test_bits, which calls it. Sizes of memory have none.
bits_of_all() {
    local functions missing
    functions=$(nm -g --defined-only build/common/ggnn.o build/common/ggnn_plan.o | sed -n 's/.* T ggnn_//p' | grep -vE '_bytes$|^batch_free$' | sort)
    build/tests/test_bits --list | sed -n 's/^bits_of_//p' | sort >"$logs/bits.tests"
    nm -u build/tests/test_bits.o | sed -n 's/.* ggnn_//p' | sort | comm -12 - "$logs/bits.tests" >"$logs/bits"
    missing=$(echo "$functions" | comm -23 - "$logs/bits")
    if [ -z "$missing" ] && [ "$(echo "$functions" | wc -l)" -ge 90 ]; then pass "every function has frozen bits"
    else fail "tests/vectors/op_bits.h: not all functions: $(echo $missing)"; fi
}

stage_plain_slow() {
    say "tests of seconds"
    local elsewhere=none
    if can "$CC" -fsanitize=address,undefined; then elsewhere=$(echo $sanitized | tr ' ' '\n'); fi
    build build tests CC="$CC" &&
        OPTION=--slow run build $(programs | grep -v -x -F "$elsewhere" | while read -r name; do grep -q RUN_SLOW tests/*/"$name".c && echo "$name"; done)
}

stage_asan() {
    say "address and undefined-behaviour sanitizers"
    if ! can "$CC" -fsanitize=address,undefined; then skip "asan: $CC cannot"; return; fi
    build build/asan tests CC="$CC" OPT="-O1 -g1" EXTRA="$sanitizers" && OPTION=--quick run build/asan $(programs | grep -v -x test_devices)
}

# Their tests of seconds run with the sanitizers alone, where the compiler has them; all those of test_devices do so, whose others take a minute.
sanitized="test_devices test_convert test_builder test_models test_partition test_division"
stage_asan_slow() {
    say "tests of seconds with the sanitizers"
    if ! can "$CC" -fsanitize=address,undefined; then skip "asan_slow: $CC cannot"; return; fi
    build build/asan tests CC="$CC" OPT="-O1 -g1" EXTRA="$sanitizers" && WHOLE=test_devices OPTION=--slow run build/asan $sanitized
}

stage_node64() {
    say "64-bit node ids"
    local without_ids="test_attention test_bucket test_common test_config test_gemm test_hostile test_memory test_metrics test_npy test_parallel test_place test_pool test_report test_show test_text"
    build build64 tests CC="$CC" NODE64=1 BUILD=build64 &&
        OPTION=--quick run build64 $(programs | grep -v -x -F "$(echo $without_ids | tr ' ' '\n')")
}

stage_bare() {
    say "without OpenMP, zlib and BLAS"
    local few="$(numerical) test_npy test_text test_convert test_train"
    build build/bare "all $(in_folder build/bare $few)" CC="$CC" NO_OPENMP=1 NO_ZLIB=1 NO_BLAS=1 && OPTION=--quick run build/bare $few
}

stage_clang() {
    say "clang"
    if ! command -v clang >/dev/null; then skip "clang: not installed"; return; fi
    build build/clang "all $(in_folder build/clang $(numerical))" CC=clang && run build/clang $(numerical)
}

# gcc's OpenMP runtime is not instrumented and gives false reports; clang's with archer does not.
stage_tsan() {
    say "thread sanitizer (clang)"
    if ! can clang -fsanitize=thread -fopenmp; then skip "tsan: clang with libomp is not installed"; return; fi
    export OMP_NUM_THREADS=3
    build build/tsan "all $(in_folder build/tsan $(numerical) test_devices test_divide)" CC=clang OPT="-O1 -g1" EXTRA="-fsanitize=thread" && run build/tsan $(numerical) &&
        OPTION=any_number_of_threads_counts_the_same run build/tsan test_divide &&
        OPTION=runs_on_one_number_of_devices_write_one_log run build/tsan test_devices &&
        OPTION=devices_that_sample_for_others_write_the_log_of_one_fewer run build/tsan test_devices
    unset OMP_NUM_THREADS
}

# Twenty processes are killed, one after the other (make test kills three).
stage_faults() {
    say "killed processes"
    build build tests CC="$CC" || return
    if GGNN_TEST_KILLS=20 build/tests/test_mpi a_killed_process_is_named_by_all_others_which_end >"$logs/$form" 2>&1; then
        if grep -q '^  skipped' "$logs/$form"; then skip "$(grep -m1 '^  skipped' "$logs/$form")"; else pass; fi
    else fail "test_mpi with 20 kills"; tail -n 20 "$logs/$form"; fi
}

stage_vendor() {
    say "vendoring: languages, two files, programs"
    vendoring quick
}
stage_vendor_all() {
    say "vendoring: clang, other languages and options"
    vendoring rest
}
vendoring() { lines tests/vendor.sh "$1" "$CC"; }

# lines SCRIPT ARGUMENT...: adds up a script that prints a line a check
lines() {
    local log
    log=$logs/$form.$(basename "$1" .sh)
    bash "$@" >"$log" 2>&1
    grep -E '^  ' "$log"
    sed -n "s/^ok /$form /p" "$log" >>"$ran"
    passed=$((passed + $(grep -c '^ok' "$log")))
    failed=$((failed + $(grep -c '^  FAILED' "$log")))
    skipped=$((skipped + $(grep -c '^  skipped' "$log")))
    grep -q -E '^(ok|  FAILED|  skipped)' "$log" || fail "$1 ended early"
}

stage_fuzz() {
    say "fuzzing, a short run of each parser"
    local folder=build/fuzz options= name
    if can "$CC" -fsanitize=address,undefined; then folder=build/asan options=$sanitizers; fi
    build "$folder" fuzzers CC="$CC" OPT="-O1 -g1" EXTRA="$options" || return
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        if timeout -k 5 120 "$folder/fuzz/$name" "${FUZZ_RUNS:-3000}" >"$logs/$name" 2>&1; then pass "$name"
        else fail "$name:"; tail -n 20 "$logs/$name"; fi
    done
}

stage_install() {
    say "make install, make dist"
    lines tests/install.sh "$CC"
}

# The CUDA kernels on the CPU, every thread in turn, and the tools over the emulator.
stage_emulated() {
    say "CUDA kernels on the CPU (simt)"
    build build "emulated cuda-tests all build/tests/test_show build/tests/test_bench_plugin build/bench_plugin-emulated.so" CC="$CC" || return
    OPTION=--quick run build test_simt $(emulated)
    if [ "$(build/vendor-emulated)" = "3 4.5, as the CPU" ]; then pass vendor; else fail "examples/vendor.cu on the emulator"; fi
    if [ "$(SIMT_DEVICES=3 build/peers-emulated 4)" = "$(sed -n 's|^//   prints  ||p' examples/peers.cu)" ]; then pass peers; else fail "examples/peers.cu on the emulator"; fi
    lines tests/kit.sh
    "build/tests/test_show" the_emulated_device_prints_what_the_cpu_prints >"$logs/emulated.show" 2>&1 && pass test_show || { fail "test_show"; tail "$logs/emulated.show"; }
    build/tests/test_bench_plugin plug_ins_of_a_device >"$logs/emulated.plugin" 2>&1 &&
        build/ggnn-bench-emulated --backend cuda-emulated --plugin build/bench_plugin-emulated.so --rows 40 --once >>"$logs/emulated.plugin" 2>&1 &&
        pass "plug-ins of a device" || { fail "test_bench_plugin"; tail "$logs/emulated.plugin"; }
    build/ggnn-bench-emulated roof sample unique block transpose gather peer owners spmm max input backward sddmm softmax gat gemm uva growth adam step \
        --backend cuda-emulated --quick --min-time 0 --reps 1 --json "$logs/emulated.json" >"$logs/emulated.bench" 2>&1 && pass bench || { fail "ggnn-bench-emulated"; tail -n 3 "$logs/emulated.bench"; }
    awk -F '": ' '/^      "bench"/ { of = $2 } /^      "case"/ { name = $2 } /^      "bytes": 0,/ { print "no bytes:", of, name; bad = 1 }
        /^      "flops": / && ($2 != "0,") != (of ~ /^"(spmm|max|input|backward|sddmm|softmax|gat|gemm|adam|step|epoch)"/) { print "operations:", $2, of, name; bad = 1 }
        /^      "flops": / { n++ } END { exit bad || n < 100 }' "$logs/emulated.json" && pass "least of CUDA's results" || fail "ggnn-bench-emulated: bytes or operations are missing"
    SIMT_DEVICES=4 build/ggnn-bench-emulated peer --backend cuda-emulated --quick --min-time 0 --reps 1 >"$logs/emulated.peer" 2>&1 &&
        awk '/^    (exchange|nccl) / { of = $1; $1 = ""; counts[of] = counts[of] $0 } END { exit !(counts["nccl"] != "" && counts["nccl"] == counts["exchange"]) }' "$logs/emulated.peer" &&
        pass "bench of four devices" || { fail "ggnn-bench-emulated peer: NCCL's counts are not the exchange's"; tail -n 3 "$logs/emulated.peer"; }
}

stage_emulated_slow() {
    say "tests of seconds on the emulator"
    build build "emulated cuda-tests all" CC="$CC" && OPTION=--slow run build test_cuda_train test_cuda_steps test_cuda_block test_cuda_sample test_cuda_attention test_cuda_split test_simt
    lines tests/kit.sh whole
}

# Threads from the last to the first; at random, with streams that run behind the host.
stage_orders() {
    say "CUDA kernels in other orders"
    build build cuda-tests CC="$CC" || return
    form=reversed
    SIMT_ORDER=rev OPTION=--quick run build $(emulated_again)
    form=random
    SIMT_ORDER=rand SIMT_ASYNC=lazy OPTION=--quick run build $(emulated_again)
}

wide="test_cuda_sample test_cuda_unique test_cuda_block test_cuda_store test_cuda_peers" # of the sections that have global ids
stage_emulated_asan() {
    say "CUDA kernels with address and undefined-behaviour sanitizers"
    if ! can "$CC" -fsanitize=address,undefined; then skip "emulated_asan: $CC cannot"; return; fi
    local narrow
    narrow=$(emulated_again | grep -v -x -F "$(echo $wide | tr ' ' '\n')")
    build build/asan "$(in_folder build/asan $narrow)" CC="$CC" OPT="-O1 -g1" CXXOPT="-Og -g1" EXTRA="$sanitizers" && run build/asan $narrow
}
stage_emulated64() {
    say "CUDA kernels with 64-bit node ids and the same sanitizers"
    local options=
    if can "$CC" -fsanitize=address,undefined; then options=$sanitizers; fi
    build build64/asan "$(in_folder build64/asan $wide)" CC="$CC" NODE64=1 OPT="-Og -g1" CXXOPT="-Og -g1" EXTRA="$options" && run build64/asan $wide
}

# By g++ 12, whose detector knows thousands of threads: that of clang 14 loses races of blocks of 256.
stage_race() {
    say "CUDA kernels under the race detector (g++)"
    if ! command -v g++ >/dev/null || ! can "$CC" -fsanitize=thread; then skip "race: g++ is not installed"; return; fi
    build build/race "$(in_folder build/race $(emulated_again)) build/race/ggnn-data build/race/ggnn-train-emulated" CC="$CC" CXX=g++ NO_OPENMP=1 \
        OPT="-O1 -g1" EXTRA="-fsanitize=thread" || return
    OPTION=--quick run build/race $(emulated_again)
    two_devices_race "--store parts"
    two_devices_race "--gather exchange --owners hash"
    two_devices_race "--parallel split --split-sampling cooperative"
    two_devices_race "--parallel split --split-sampling single --model gat --partition hash"
}

# Two devices, a thread each, train for an epoch: what their kernels and threads share is read only behind a barrier.
two_devices_race() {
    local log=$logs/race.devices
    if build/race/ggnn-data generate planted "$log.ggnn" --nodes 60 --edges 300 --classes 3 --features 4 >"$log" 2>&1 &&
        build/race/ggnn-train-emulated --data "$log.ggnn" --backend cuda-emulated --devices 2 --layers 2 --hidden 4 --fanout 3,2 --batch 24 --epochs 1 $1 >>"$log" 2>&1 &&
        ! grep -q WARNING "$log"; then pass "ggnn-train --devices 2 $1"
    else fail "ggnn-train --devices 2 $1:"; grep -m1 -A 12 -E 'WARNING|ERROR' "$log" || tail -n 5 "$log"; fi
}

# What Debian's cross compiler makes of the headers' tests and of the tools, by qemu-user. test_bits among them has each
# function's bits as they are on x86-64.
stage_aarch64() {
    say "aarch64 by qemu-user"
    local folder=build/aarch64 cc=aarch64-linux-gnu-gcc of lacks=
    of="$(ls tests/ggnn/test_*.c tests/plan/test_*.c | sed 's|.*/\(.*\)\.c|\1|') test_cpu test_gemm"
    local -x EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    command -v qemu-aarch64 >/dev/null || lacks=qemu-user
    echo 'int main(void) { return 0; }' | $cc -x c - -o "$logs/can" 2>/dev/null || lacks="gcc-aarch64-linux-gnu or libc6-dev-arm64-cross"
    case "$lacks/${CI:-}" in
    /*) ;;
    */true) fail "aarch64: $lacks is not installed"; return ;;
    *) skip "aarch64: $lacks is not installed"; return ;;
    esac
    build build all CC="$CC" && build $folder "all $(in_folder $folder $of)" CC=$cc AR=aarch64-linux-gnu-ar || return
    OPTION=--quick run $folder $of
    lines tests/aarch64.sh
}

# ==== running them ====================================================================================================

# seconds of processor that this script's children have taken so far
processor() { awk '{ printf "%d", ($16 + $17) / 100 }' /proc/$$/stat 2>/dev/null || echo 0; }

# stage NAME:BUDGET. UNTIL: the second since 1970 by which all must have ended. A stage is left out if it would pass that: it is taken to
# need 1.2 times its budget, and as many times more as the stages before it did, those of an earlier run in this folder too.
all_taken=0 all_budgets=0 left_out=
[ -z "${UNTIL:-}" ] || [ ! -f "$logs/pace" ] || read -r all_taken all_budgets <"$logs/pace"
stage() {
    local begin taken worked may budget=${1#*:}
    begin=$(date +%s)
    worked=$(processor)
    form=${1%:*}
    if ! declare -F "stage_$form" >/dev/null; then fail "no stage is named $form"; return; fi
    may=$((budget * (all_taken > all_budgets ? 120 * all_taken / all_budgets : 120) / 100))
    if [ -n "${UNTIL:-}" ] && [ $((begin + may)) -gt "$UNTIL" ]; then
        skip "$form: it may take $may s here, $((UNTIL - begin)) are left"
        left_out="$left_out $form"
        return
    fi
    "stage_$form"
    taken=$(($(date +%s) - begin))
    worked=$(($(processor) - worked))
    all_taken=$((all_taken + taken)) all_budgets=$((all_budgets + budget))
    echo "$all_taken $all_budgets" >"$logs/pace"
    printf '   %s s (%s of processor) of %s%s\n' "$taken" "$worked" "$budget" "$([ "$taken" -le "$budget" ] || echo ": OVER the budget, which is for two quiet cores")"
}

start=$(date +%s)
: >"$ran"
trap 'rm -f "$ran"' EXIT
case ${1:-test} in
check)
    shift
    for one in "$@"; do check_one "$one"; done
    [ $# -gt 0 ] || check_all
    ;;
test) for one in $quick; do stage "$one"; done ;;
slow) for one in $slow; do stage "$one"; done ;;
all) for one in $quick $slow; do stage "$one"; done ;;
*)
    for one in "$@"; do stage "$(echo $quick $slow | tr ' ' '\n' | grep -m1 "^$one:" || echo "$one:0")"; done
    ;;
esac
case ${1:-test} in test | slow | all) unproved ;; esac
printf '%s s (%s of processor); logs in %s\n' $(($(date +%s) - start)) "$(processor)" "$logs"
awk '{ runs++; form[$1]; sub(/^[^ ]* /, ""); test[$0] } END { for (t in test) n++; for (f in form) m++; if (runs) printf "%d runs that passed: %d distinct tests in %d forms\n", runs, n, m }' "$ran"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
