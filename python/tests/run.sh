#!/usr/bin/env bash
# run.sh - the Python package: the wheel, built from the sdist as who installs it builds it, holds what it should and nothing
# else; its tests beside torch and PyTorch Geometric, which tests/python.sh installs (3 GB, once). A line a check; the last
# line is "N passed, N failed, N skipped". Where CI=true an environment that cannot be made is a failure, elsewhere a skip.
#   python/tests/run.sh [TEST ...]     tests as unittest names them [all]
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0 began=$SECONDS
ends() { echo "$passed passed, $failed failed, $skipped skipped; $((SECONDS - began)) s"; exit $((failed > 0)); }
check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok python: $name" && passed=$((passed + 1)); else
        echo "  FAILED python: $name" && tail -n 15 "$work/log" && failed=$((failed + 1))
    fi
}
if ! bin=$(bash tests/python.sh python/tests/requirements.txt 2>"$work/log"); then
    tail -n 3 "$work/log"
    if [ "${CI:-}" = true ]; then echo "  FAILED python: the environment" && failed=1; else echo "  skipped python: torch and PyG cannot be installed" && skipped=1; fi
    ends
fi
python=$bin/python3

check "the wheel is built from the sdist" "$python" -m build --no-isolation --outdir "$work/dist" .
wheel=$(ls "$work"/dist/*.whl 2>/dev/null) archive=$(ls "$work"/dist/*.tar.gz 2>/dev/null)
[ -n "$wheel" ] || ends
version=$(sed -n 's/^#define GGNN_VERSION "\(.*\)"/\1/p' ggnn.h)
sources() { # what the sdist has, without its folder
    tar -tzf "$archive" | sed 's|^[^/]*/||' | sort
}
wanted=$(printf '%s\n' PKG-INFO pyproject.toml LICENSE ggnn.h ggnn_frontier.h python/CMakeLists.txt python/README.md python/ggnn_py.c python/libggnn/*.py | sort)
check "the sdist has the sources of the wheel alone" diff <(sources) <(echo "$wanted")
check "one wheel serves all Pythons" test "$(basename "$wheel")" = "libggnn-$version-py3-none-linux_$(uname -m).whl"
check "it is installed" "$python" -m pip install -q --no-deps --disable-pip-version-check --target "$work/site" "$wheel"
site=$work/site/libggnn
exported() { sed -n 's/^EXPORT .*\b\(ggnn_py_[a-z_]*\)(.*/\1/p' python/ggnn_py.c | sort; }
for bits in 32 64; do
    check "libggnn$bits.so exports what EXPORT marks" diff <(nm -D --defined-only "$site/libggnn$bits.so" | awk '{ print $3 }' | sort) <(exported)
    check "libggnn$bits.so needs the C library alone" sh -c "! readelf -d '$site/libggnn$bits.so' | grep NEEDED | grep -vE 'libc\.so|libm\.so|libpthread|ld-linux'"
done
portable() { # portable WHEEL TAG: by auditwheel it needs no library but those of every Linux of that tag
    "$python" -W ignore -m auditwheel show "$1" >"$work/said" && cat "$work/said" && tr '\n' ' ' <"$work/said" | grep -q "following platform tag: \"$2" &&
        ! grep -q 'external shared libraries are required' "$work/said"
}
check "auditwheel finds no library to take along" portable "$wheel" manylinux_
sed 's/0\.3\.0/9.9.9/' "$site/_c.py" >"$work/other.py"
refuses() { # another library than the one that the Python side was written for
    mkdir -p "$work/other/libggnn" && cp "$site"/* "$work/other/libggnn/" 2>/dev/null
    cp "$work/other.py" "$work/other/libggnn/_c.py"
    ! PYTHONPATH=$work/other "$python" -c 'import libggnn' 2>"$work/said" && grep -q 'is of another build' "$work/said"
}
check "another build's library is refused" refuses
PYTHONPATH=$work/site check "python -m libggnn.check" "$python" -B -m libggnn.check

bash python/wheels.sh "$work/wheels" "$python" >"$work/built" 2>&1 & # beside the tests
building=$!
sanitizer() { # eight threads call at once
    clang -g -O1 -std=c99 -fsanitize=thread -I. python/tests/threads.c -o "$work/threads" -lm -lpthread && "$work/threads"
}
if command -v clang >/dev/null; then check "threads of the caller's and of the pool have no race" sanitizer
else echo "  skipped python: the thread sanitizer: no clang" && skipped=$((skipped + 1)); fi

tests=$PWD/python/tests # from there libggnn is the one that is installed
(cd "$tests" && PYTHONPATH=$work/site "$python" -B -W ignore -m unittest ${@:-discover} -v) >"$work/tests" 2>&1
code=$?
grep -vE ' \.\.\. (ok|skipped)|^$|^Ran |^OK|^-----' "$work/tests" | head -n 60
count() { grep -cE " \.\.\. $1" "$work/tests"; }
passed=$((passed + $(count ok))) skipped=$((skipped + $(count skipped)))
[ $code -eq 0 ] || failed=$((failed + 1 + $(count 'FAIL|\.\.\. ERROR')))

built() { wait "$building" || { cat "$work/built" && false; }; }
check "wheels for x86-64 and aarch64, as python/wheels.sh builds them" built
for arch in x86_64 aarch64; do
    check "the wheel for $arch needs glibc 2.17 alone" portable "$work/wheels/libggnn-$version-py3-none-manylinux2014_$arch.whl" "manylinux_2_\\([5-9]\\|1[0-7]\\)_$arch"
done
loads() { # a C program of aarch64 that loads its library and samples
    mkdir -p "$work/arm" && (cd "$work/arm" && "$python" -m zipfile -e "$work"/wheels/*aarch64.whl .) &&
        aarch64-linux-gnu-gcc -O1 -o "$work/arm/loads" python/tests/loads.c -ldl &&
        qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/arm/loads" "$work/arm/libggnn/libggnn32.so" "$work/arm/libggnn/libggnn64.so"
}
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then check "the libraries of aarch64 sample under qemu" loads
else echo "  skipped python: aarch64: no compiler for it, or no qemu-user" && skipped=$((skipped + 1)); fi
ends
