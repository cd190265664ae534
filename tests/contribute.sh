#!/usr/bin/env bash
# contribute.sh - does CONTRIBUTING.md say all that a new sampler, or a new model, needs? Adds one in a copy of the tree by
# doing what the page says and nothing else: tests/contribute_sampler.txt and contribute_model.txt, whose changes have the
# number of the step that they follow. Step 1 alone must not build; after all steps the tests named here must pass.
#   tests/contribute.sh [sampler] [model]   one line a check: "ok ..." or "  FAILED ..."
set -u
cd "$(dirname "$0")/.." || exit 1
CC=${CC:-cc} CXX=${CXX:-c++} jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
work=$PWD/${BUILD:-build}/contribute
export ASAN_OPTIONS=detect_leaks=0 OMP_WAIT_POLICY=passive
unset MAKEFLAGS MAKELEVEL CFLAGS LDLIBS # of make mutate
failed=0
pass() { echo "ok contribute: $*"; }
fail() { failed=1; echo "  FAILED contribute: $*"; }

# follow WHAT TO FIRST LAST: makes the changes of these steps in the tree at TO; a text that is not there once is a failure
follow() {
    awk -v to="$2/" -v first="$3" -v last="$4" '
        function finish() {
            if (step >= first && step <= last) {
                text = ""
                while ((getline line < (to file)) > 0) text = text line "\n"
                close(to file)
                found = 0
                for (rest = text; at = index(rest, old); rest = substr(rest, at + 1)) found++
                if (found != 1) { print what ": its text is found " found " times in " file; bad = 1; exit 1 }
                at = index(text, old)
                printf "%s", substr(text, 1, at - 1) new substr(text, at + length(old)) >(to file)
                close(to file)
            }
            step = old = new = olds = news = ""
        }
        /^= / { finish(); file = $2 }
        /^[0-9]+ \| / { finish(); what = $0; step = $1 + 0 }
        /^-/ { old = old (olds++ ? "\n" : "") substr($0, 3) }
        /^\+/ { new = new (news++ ? "\n" : "") substr($0, 3) }
        END { if (!bad) finish(); exit bad }' "tests/contribute_$1.txt"
}

# fresh WHAT: a copy of the tree as it is
fresh() {
    rm -rf "$work/$1" && mkdir -p "$work/$1"
    tar cf - --exclude=./build --exclude=./build64 --exclude=./.git . | tar xf - -C "$work/$1"
}

# refuses WHAT NAME TARGET...: these do not build, as something lacks NAME
refuses() {
    local what=$1 name=$2
    if make -C "$work/$what" -k -j"$jobs" CC="$CC" CXX="$CXX" "${@:3}" >"$work/$what.log" 2>&1; then fail "$what: $3 builds with step 1 alone"
    elif grep -q "error: .*$name" "$work/$what.log"; then pass "$what: $3 does not build without the other steps, and says why"
    else fail "$what: $3 does not build, but for another reason: $(grep -m1 'error[: ]' "$work/$what.log")"; fi
}

# passes WHAT FORM MAKE-ARGUMENT... -- TEST...: these test programs build and pass
passes() {
    local what=$1 form=$2 made=() folder=build/$2 test
    shift 2
    while [ "$1" != -- ]; do made+=("$1"); shift; done
    shift
    if ! make -C "$work/$what" -j"$jobs" CC="$CC" CXX="$CXX" BUILD="$folder" ${made[@]+"${made[@]}"} $([ "$form" = emulated ] || echo all) \
        $(printf "$folder/tests/%s " "$@") >"$work/$what.log" 2>&1; then
        fail "$what: building for $form: $(grep -m1 'error[: ]' "$work/$what.log")"
        return
    fi
    for test; do
        if (cd "$work/$what" && "$folder/tests/$test" --quick) >"$work/$what.log" 2>&1; then pass "$what: $form $test: $(tail -n 1 "$work/$what.log")"
        else fail "$what: $form $test: $(grep -m1 -E '^  FAILED|ERROR|runtime error' "$work/$what.log")"; fi
    done
}

asan=(OPT="-O1 -g1" EXTRA="-fsanitize=address,undefined -fno-sanitize-recover=undefined")

sampler() {
    fresh sampler
    follow sampler "$work/sampler" 1 1 || { fail "sampler: step 1"; return; }
    refuses sampler GGNN_FIRST build/common/ggnn.o
    refuses sampler GGNN_FIRST build/datasets/cmd_sample.o
    refuses sampler GGNN_FIRST build/tests/test_cuda_sample.o
    follow sampler "$work/sampler" 2 9 || { fail "sampler: the steps"; return; }
    passes sampler plain -- test_sample test_arguments test_bits test_block test_graph test_random test_show test_config test_train
    passes sampler asan "${asan[@]}" -- test_sample test_block
    passes sampler emulated -- test_cuda_sample test_cuda_block test_cuda_arguments
}

model() {
    fresh model
    follow model "$work/model" 1 1 || { fail "model: step 1"; return; }
    refuses model NET_PLAIN build/trainer/net/models.o
    refuses model NET_PLAIN build/trainer/saved/weights.o
    follow model "$work/model" 2 9 || { fail "model: the steps"; return; }
    passes model plain -- test_models test_config test_trace
    passes model emulated -- test_cuda_steps
}

mkdir -p "$work"
for one in ${*:-sampler model}; do "$one"; done
exit $failed
