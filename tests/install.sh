#!/usr/bin/env bash
# install.sh - do make install and make dist give what they say, with a compiler and make alone? packaging/check.sh asks CMake,
# Conan and vcpkg. One line a check: "ok ...", "  FAILED ..." or "  skipped ...".
#   tests/install.sh [CC]
set -u
cd "$(dirname "$0")/.." || exit 1
CC=${1:-cc}
unset MAKEFLAGS MAKELEVEL
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check() { # check NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok install: $name"; else echo "  FAILED install: $name"; tail -n 5 "$work/log"; fi
}
compiles() { # compiles FOLDER: each header there, as users include it
    local header language
    for header in "$1"/*.h "$1"/*.cuh; do
        language=c
        case $header in *.cuh) language="c++ -std=c++17 -isystem simt" ;; esac
        printf '#define _GNU_SOURCE 1\n#include "%s"\nint main(void) { return 0; }\n' "${header##*/}" | $CC -x $language -w -I"$1" -fsyntax-only - || return 1
    done
}
prints_the_means() { [ "$("$1")" = "3 4.5" ]; }

# ==== make install ====================================================================================================
root=$work/root
check "make install" make -s install DESTDIR="$root" PREFIX=/usr CC="$CC"
for tool in ggnn-data ggnn-train; do check "$tool runs" "$root/usr/bin/$tool" --version; done
for header in ggnn*.h ggnn*.cuh datasets/ggnn_file.h; do check "$header is installed" cmp "$header" "$root/usr/include/${header#*/}"; done
check "make install-headers needs no compiler" make -s install-headers DESTDIR="$work/headers" PREFIX=/usr CC=no-compiler CXX=no-compiler BUILD="$work/none"
check "and installs the same but the tools" diff -r "$root/usr" "$work/headers/usr" -x bin
mv "$root/usr" "$work/a b" # blanks, and another folder than where it was installed
check "an install that was moved compiles" $CC -I"$work/a b/include" examples/vendor.c -o "$work/vendor" -lm
check "and runs" prints_the_means "$work/vendor"
if command -v pkg-config >/dev/null; then
    check "pkg-config finds it" sh -c "PKG_CONFIG_PATH='$work/a b/share/pkgconfig' pkg-config --cflags --libs ggnn >'$work/flags'"
    check "pkg-config's flags compile" sh -c "eval '$CC' examples/vendor.c -o '$work/vendor.pc' \$(cat '$work/flags')"
    check "pkg-config says the version" grep -qx "$(sed -n 's/^#define GGNN_VERSION "\(.*\)"/Version: \1/p' ggnn.h)" "$work/a b/share/pkgconfig/ggnn.pc"
else echo "  skipped install: pkg-config is not installed"; fi
check "DESTDIR and PREFIX with blanks" make -s install DESTDIR="$work/my root" PREFIX="/the prefix" CC="$CC"
check "both are kept" test -x "$work/my root/the prefix/bin/ggnn-data" -a ! -e "$work/my" -a -f "$work/my root/the prefix/share/ggnn/ggnn-config.cmake"
check "BUILD with blanks is refused with a sentence" sh -c 'make BUILD="a b" show 2>&1 | grep -q "BUILD=a b: make knows no folder with blanks in its name"'

# ==== make dist =======================================================================================================
if ! command -v git >/dev/null; then echo "  skipped install: make dist: git is not installed"; exit; fi
check "make dist" make -s dist BUILD="$work/build"
dist=$work/build/dist
check "SHA256SUMS is right" sh -c 'cd "$1" && sha256sum -c --quiet SHA256SUMS' - "$dist"
check "and names each file" test "$(cd "$dist" && LC_ALL=C ls | grep -v SHA256SUMS)" = "$(awk '{ print $2 }' "$dist/SHA256SUMS")"
check "each header of the release compiles" compiles "$dist"
cp -r "$dist" "$work/first"
check "make dist gives the same bytes again" sh -c 'make -s dist BUILD="$1" && diff -r "$1/dist" "$2"' - "$work/build" "$work/first"
