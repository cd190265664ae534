#!/usr/bin/env bash
# check.sh - do package managers find ggnn? Projects of users, built by CMake, pkg-config and Conan, from an install that was
# moved to another folder, from the sources, and from the archive of `make dist`. One line a check: "ok ...", "  FAILED ..."
# or "  skipped ...". The tools are installed first; then all runs without a network, where the machine lets it.
#   packaging/check.sh [GROUP ...]                 all groups, or these: same pkgconfig find source targets emulated conan vcpkg archive
#   packaging/check.sh --broken FOLDER [GROUP ...] with FOLDER's files in place of the project's: tests/mutate.sh breaks one
set -u
conan_version=2.34.0
groups="same pkgconfig find source targets emulated conan vcpkg archive"
project=$(cd "$(dirname "$0")/.." && pwd)
cd "$project" || exit 1
unset MAKEFLAGS MAKELEVEL
conan=${XDG_CACHE_HOME:-$HOME/.cache}/ggnn-packaging/conan-$conan_version # outside the project: it is kept

# ==== what is printed =================================================================================================
check() { # check NAME COMMAND...
    local name=$1
    shift
    [ ! -f "$work/$group.log" ] || mv "$work/$group.log" "$work/$group.before" # what the last command said
    if "$@" >"$work/$group.log" 2>&1; then echo "ok packaging: $name"; else echo "  FAILED packaging: $name"; grep -v '^--' "$work/$group.log" | tail -n 6; fi
}
refuse() { check "$1" not "${@:2}"; } # must fail
not() { ! "$@"; }
prints() { # prints NAME TEXT COMMAND...
    local text
    text=$("${@:3}" 2>&1)
    if [ "$text" = "$2" ]; then echo "ok packaging: $1"; else printf '  FAILED packaging: %s: "%s", not "%s"\n' "$1" "$text" "$2"; fi
}
# lacks TOOL WHAT: says that it is not there, if so. Where CI=true that is a failure.
lacks() {
    command -v "$1" >/dev/null && return 1
    if [ "${CI:-}" = true ]; then echo "  FAILED packaging: $2: $1 is not installed"; else echo "  skipped packaging: $2: $1 is not installed"; fi
}

# ==== projects of users ===============================================================================================
# project NAME LANGUAGES: the folder $work/NAME, with a CMakeLists.txt that ends with standard input
project() {
    mkdir -p "$work/$1"
    { printf 'cmake_minimum_required(VERSION 3.20)\nproject(app LANGUAGES %s)\n' "$2"; cat; } >"$work/$1/CMakeLists.txt"
}
configured() { cmake -S "$work/$1" -B "$work/$1/build" -DCMAKE_PREFIX_PATH="$moved" -DTREE="$tree" "${@:2}"; } # configured NAME OPTION...
built() { configured "$@" && cmake --build "$work/$1/build" -j2; }                                              # built NAME OPTION...
block() { sed -n '/^```cmake$/,/^```$/p' "$1" | awk -v n="$2" '/^```cmake/ { k++; next } /^```/ { next } k == n'; } # block PAGE N: its N-th of CMake
no_user_has() { ! grep -rlF "$work" "$1"; } # of a folder: no file names one of this machine

group_same() { # both installers; another version's header lies where an install of the tree's own would have one
    local version header
    mkdir -p "$work/include" && echo '#define GGNN_VERSION "0.0.1"' >"$work/include/ggnn.h"
    check "CMake installs" sh -c 'cmake -S "$1" -B "$2-build" -DCMAKE_INSTALL_PREFIX="$2" && cmake --install "$2-build"' - "$tree" "$work/cmake"
    check "make and CMake install the same bytes" diff -r "$moved" "$work/cmake"
    check "with the same modes" diff <(modes "$moved") <(modes "$work/cmake")
    check "no file names a folder of this machine" no_user_has "$work/cmake"
    for header in ggnn*.h ggnn*.cuh datasets/ggnn_file.h; do check "$header is installed" cmp "$tree/$header" "$moved/include/${header#*/}"; done
    version=$(sed -n 's/^#define GGNN_VERSION "\(.*\)"/\1/p' "$tree/ggnn.h")
    project versions NONE <<'END'
foreach(wanted IN LISTS TAKEN REFUSED)
    find_package(ggnn ${wanted} QUIET)
    message("${wanted}: ${ggnn_FOUND}")
    if((wanted IN_LIST TAKEN AND NOT ggnn_FOUND) OR (wanted IN_LIST REFUSED AND ggnn_FOUND))
        message(SEND_ERROR "find_package(ggnn ${wanted}), of version ${ggnn_VERSION}: ${ggnn_FOUND}")
    endif()
endforeach()
find_package(ggnn ${IS} EXACT REQUIRED)
END
    check "find_package takes this minor version alone, or a range with it" configured versions -DIS="$version" $(versions_around "$version")
}
modes() { (cd "$1" && find . -type f -printf '%p %m\n' | sort); }
# versions_around M.N.P: as options, what a project may ask for and gets, and what is refused
versions_around() {
    local major minor patch
    IFS=. read -r major minor patch <<<"$1"
    echo "-DTAKEN=$major.$minor;$1;$major.0...$major.$((minor + 1));$major.$minor...$1"
    echo "-DREFUSED=$major.$((minor + 1));$major.$minor.$((patch + 1));$((major + 1)).$minor;$major.0...<$1;$major.0;$major.$((minor + 1))...$((major + 1)).0"
}

group_pkgconfig() {
    local version by
    lacks pkg-config "pkg-config" && return
    export PKG_CONFIG_PATH=$moved/share/pkgconfig
    version=$(sed -n 's/^#define GGNN_VERSION "\(.*\)"/\1/p' "$tree/ggnn.h")
    prints "pkg-config says the version" "$version" pkg-config --modversion ggnn
    check "the .pc file has no folder of its own" no_user_has "$moved/share/pkgconfig"
    for by in "gcc -x c" "g++ -x c++"; do
        check "pkg-config: $by" sh -c "eval \"$by $tree/examples/vendor.c -x none -o $work/vendor \$(pkg-config --cflags --libs ggnn)\""
        prints "pkg-config: $by: the means" "3 4.5" "$work/vendor"
    done
}

group_find() { # projects of one language alone, C or C++, by two compilers
    local by
    for by in C:gcc C:clang CXX:g++ CXX:clang++; do
        lacks "${by#*:}" "find_package by ${by#*:}" && continue
        check "find_package by ${by#*:}" sh -c 'cmake -S "$1" -B "$2" "$3" "$4" "$5" && cmake --build "$2"' - "$tree/packaging/test_package" "$work/find-$by" \
            -DCMAKE_PREFIX_PATH="$moved" "-DLANGUAGE=${by%:*}" "-DCMAKE_${by%:*}_COMPILER=${by#*:}"
        prints "find_package by ${by#*:}: the means" "3 4.5" "$work/find-$by/vendor"
    done
    { block README.md 1; } | project readme C
    cp "$tree/examples/vendor.c" "$work/readme/app.c"
    check "README's lines of CMake" built readme
    prints "README's lines of CMake: the means" "3 4.5" "$work/readme/build/app"
}

group_source() { # without an install
    { echo 'set(ggnn_sources "${TREE}")'; block docs/RECIPES.md 1; } | project fetch C
    cp "$tree/examples/vendor.c" "$work/fetch/app.c"
    check "FetchContent, as docs/RECIPES.md has it" built fetch
    prints "FetchContent: the means" "3 4.5" "$work/fetch/build/app"
    check "a project with ggnn inside installs" cmake --install "$work/fetch/build" --prefix "$work/fetch/installed"
    check "and has none of ggnn's files by that" not test -e "$work/fetch/installed/include"
    project twice NONE <<'END'
add_subdirectory("${TREE}" ggnn)
find_package(ggnn REQUIRED)
get_target_property(include ggnn::ggnn INTERFACE_INCLUDE_DIRECTORIES)
file(GLOB headers RELATIVE "${include}" "${include}/*")
message("${ggnn_VERSION} ${headers}")
END
    check "add_subdirectory, and find_package besides" configured twice
    check "its headers are those of an install" grep -q "$(ls "$moved/include" | sort | paste -sd';')" "$work/$group.before"
}

group_targets() { # ggnn::node64, ggnn::cuda
    project node64 C <<'END'
find_package(ggnn REQUIRED)
add_executable(app app.c)
target_link_libraries(app ggnn::node64)
END
    printf '#define GGNN_IMPLEMENTATION\n#include "ggnn.h"\nint main(void) { return 10 * (int)sizeof(ggnn_node) + ggnn_status_string(GGNN_OK)[0] - 111; }\n' >"$work/node64/app.c"
    check "ggnn::node64" built node64
    "$work/node64/build/app"
    check "ggnn::node64: ids have 8 bytes" test $? = 80
    project cuda CXX <<'END'
find_package(ggnn REQUIRED)
add_library(app OBJECT app.cpp)
target_link_libraries(app ggnn::cuda ggnn::node64)
END
    echo 'int main() { return 0; }' >"$work/cuda/app.cpp"
    check "ggnn::cuda configures where no CUDA is looked for" configured cuda
    if ! command -v nvcc >/dev/null; then echo "  skipped packaging: ggnn::cuda by nvcc: nvcc is not installed"; return; fi
    project nvcc "CXX CUDA" <<'END'
find_package(ggnn REQUIRED)
find_package(CUDAToolkit REQUIRED)
add_library(kernels OBJECT kernels.cu)
add_executable(app app.cpp)
target_link_libraries(kernels ggnn::cuda)
target_link_libraries(app ggnn::cuda)
END
    printf '#include "ggnn_cuda.cuh"\nstatic_assert(__cplusplus == 201703L, "C++17");\ncudaError_t use(ggnn_cuda_batch* b) { return ggnn_cuda_batch_init(b, nullptr, nullptr); }\n' >"$work/nvcc/kernels.cu"
    printf '#include <cuda_runtime.h>\nint main() { int n; return cudaGetDeviceCount(&n) == cudaErrorInvalidValue; }\n' >"$work/nvcc/app.cpp"
    check "ggnn::cuda: C++17 by nvcc, and CUDA's runtime for a program in C++" built nvcc -DCMAKE_CUDA_ARCHITECTURES=80 -DCMAKE_CUDA_STANDARD=14
    check "which runs" "$work/nvcc/build/app"
}

group_emulated() { # kernels on the CPU
    { block docs/RECIPES.md 2; } | project emulated "C CXX"
    cp "$tree/examples/vendor.cu" "$work/emulated"
    printf '#define GGNN_IMPLEMENTATION\n#include "ggnn.h"\n' >"$work/emulated/ggnn.c"
    check "ggnn::emulated, as docs/RECIPES.md has it" built emulated -DCMAKE_CXX_STANDARD=14 \
        -DCMAKE_CXX_FLAGS="-Wall -Wextra -Werror -Wno-unknown-pragmas"
    prints "ggnn::emulated runs kernels" "3 4.5, as the CPU" "$work/emulated/build/vendor"
}

group_conan() {
    local id version
    lacks "$conan/bin/conan" "conan $conan_version" && return
    export CONAN_HOME=$work/conan PATH=$conan/bin:$PATH
    version=$(sed -n 's/^#define GGNN_VERSION "\(.*\)"/\1/p' "$tree/ggnn.h")
    conan profile detect >"$work/$group.log" 2>&1
    check "conan create, and its test_package" conan create "$tree"
    check "a program of the package prints the means" grep -qx "3 4.5" "$work/$group.before"
    id=$(conan list "ggnn/$version:*" 2>"$work/$group.log" | grep -oE '^ +[0-9a-f]{40}$' | head -n 1 | tr -d ' ')
    check "its package has the files of make install" diff -r -x 'conan*' -x licenses "$moved" "$(conan cache path "ggnn/$version:$id" 2>"$work/$group.log")"
    check "and is the same for every compiler and build" conan install --requires="ggnn/$version" -s build_type=Debug -s compiler.cppstd=20 --build=never \
        -g PkgConfigDeps -g CMakeDeps -of "$work/conan-user"
    check "Conan's file for pkg-config has libm" grep -q '^Libs:.* -lm' "$work/conan-user/ggnn.pc"
    check "Conan writes no targets of its own" not sh -c 'ls "$1" | grep -i "^ggnn.*cmake$\|^findggnn"' - "$work/conan-user"
}

group_vcpkg() {
    lacks pkg-config "vcpkg's port" && return
    check "vcpkg's port" cmake -D OUT="$work/vcpkg" -P "$tree/packaging/vcpkg/check.cmake"
    moved=$work/vcpkg
    sed -n 's/^    //p' "$moved/share/ggnn/usage" | sed 's/main/app/' | (echo 'add_executable(app app.c)'; cat) | project vcpkg-user C
    cp "$tree/examples/vendor.c" "$work/vcpkg-user/app.c"
    check "the lines of the port's usage" built vcpkg-user
    prints "the port: the means" "3 4.5" "$work/vcpkg-user/build/app"
}

group_archive() { # of make dist: the same bytes from a clone and from itself, and README's first command builds it
    local sources sum
    lacks git "make dist" && return
    (cd "$tree" && git init -q && git add -A && git -c user.name=a -c user.email=a commit -qm a) >"$work/$group.log" 2>&1
    check "make dist" make -s -C "$tree" dist
    cp -r "$tree/build/dist" "$work/dist"
    check "SHA256SUMS is right" sh -c 'cd "$1" && sha256sum -c --quiet SHA256SUMS && [ "$(wc -l <SHA256SUMS)" = "$(ls | grep -vc SHA256SUMS)" ]' - "$work/dist"
    find "$tree" -name '*.h' -exec touch {} + -exec chmod g+w {} +
    check "make dist gives the same bytes again" sh -c 'make -s -C "$1" dist && diff -r "$1/build/dist" "$2"' - "$tree" "$work/dist"
    project url NONE <<'END'
include(FetchContent)
FetchContent_Declare(ggnn URL "${ARCHIVE}" URL_HASH SHA256=${SUM})
FetchContent_MakeAvailable(ggnn)
get_target_property(include ggnn::ggnn INTERFACE_INCLUDE_DIRECTORIES)
END
    sum=$(awk '/tar.gz$/ { print $1 }' "$work/dist/SHA256SUMS")
    check "FetchContent takes the archive by its sum" configured url -DARCHIVE="$(echo "$work"/dist/*.tar.gz)" -DSUM="$sum"
    check "the archive unpacks" tar -xzf "$work"/dist/*.tar.gz -C "$work"
    sources=$(echo "$work"/ggnn-*)
    check "make builds it" make -s -j2 -C "$sources" OPT=-O0
    check "its ggnn-data says the version" test "$("$sources/build/ggnn-data" --version | head -n 1)" = "ggnn-data ${sources##*/ggnn-}"
    check "make dist gives the same bytes there" sh -c 'make -s -C "$1" dist && diff -r "$1/build/dist" "$2"' - "$sources" "$work/dist"
}

# ==== running them ====================================================================================================
install_conan() {
    [ -x "$conan/bin/conan" ] && return
    python3 -m venv "$conan" && "$conan/bin/python" -m pip install -q --disable-pip-version-check "conan==$conan_version" || rm -rf "$conan"
}
nothing_can_be_reached() { ! grep : /proc/net/dev | grep -qv '^ *lo:'; }

# A copy of the project's files, in which what is broken replaces them, and an install that was moved.
prepare() {
    tree=$work/tree moved="$work/moved here"
    mkdir "$tree"
    if [ -e .git ]; then git ls-files -z -co --exclude-standard; else find . -path ./build -prune -o -type f -print0; fi | xargs -0 cp --parents -t "$tree"
    [ -z "$broken" ] || (cd "$broken" && find . -path ./tests -prune -o -type f ! -name '*log' -print0 | xargs -0 cp --parents -t "$tree")
    cd "$tree" || exit 1
    check "make install-headers" make -s install-headers DESTDIR="$work/first" PREFIX=/usr
    mv "$work/first/usr" "$moved"
}
run_group() { # run_group NAME: its checks, and its seconds
    local begin=$SECONDS
    group=$1
    "group_$group" >"$work/$group.out" 2>&1
    echo "$group: $((SECONDS - begin)) s" >"$work/$group.seconds"
}
run_groups() { # run_groups NAME...
    local name
    group=prepare
    prepare
    if [ -n "$offline" ]; then check "nothing but this machine can be reached" nothing_can_be_reached
    else echo "  skipped packaging: that nothing is downloaded: namespaces are not allowed"; fi
    lacks cmake "all by CMake" && return
    for name in "$@"; do run_group "$name" & done
    wait
    for name in "$@"; do cat "$work/$name.out"; done
    cat "$work"/*.seconds | paste -sd' ' | sed 's/^/   /'
}

broken='' offline=${GGNN_OFFLINE:-}
if [ "${1:-}" = --broken ]; then broken=$(cd "$2" && pwd); shift 2; fi
[ $# -gt 0 ] || set -- $groups
if [ -z "$offline" ]; then
    case " $* " in *" conan "*) install_conan >&2 ;; esac
    for offline in "unshare -n" "unshare -rn" ""; do $offline true 2>/dev/null && break; done
    [ -z "$offline" ] || GGNN_OFFLINE=$offline exec $offline bash "$0" ${broken:+--broken "$broken"} "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run_groups "$@" | tee "$work/all"
failed=$(grep -c '^  FAILED' "$work/all")
echo "$(grep -c '^ok' "$work/all") passed, $failed failed, $(grep -c '^  skipped' "$work/all") skipped; $SECONDS s"
[ "$failed" = 0 ]
