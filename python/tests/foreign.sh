#!/usr/bin/env bash
# foreign.sh - PyG's own tests of its neighbour loaders, unmodified, from a checkout that you have, over libggnn.pyg.install().
#   python/tests/foreign.sh DIR      DIR: of pytorch_geometric, at the version that is installed; pytest, torch, PyG and libggnn
#                                    are those of python3. Without DIR: skipped, and counted so
set -u
files="test/loader/test_neighbor_loader.py test/loader/test_link_neighbor_loader.py test/sampler/test_sampler_neighbor_sampler.py"
if [ $# -eq 0 ]; then
    echo "  skipped PyG's tests: no checkout was named"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
cd "$1" || exit 2
for file in $files; do [ -f "$file" ] || { echo "foreign.sh: $1/$file is not there" >&2; exit 2; }; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'import libggnn.pyg\nprint(libggnn.pyg.install())\n' >"$work/libggnn_installed.py" # a plugin of pytest's: before any test is read
folder=$PWD
cd "$work" || exit 2 # the checkout's own torch_geometric is not what is tested
PYTHONPATH=$work${PYTHONPATH:+:$PYTHONPATH} python3 -m pytest -q -p libggnn_installed -p no:cacheprovider $(printf "$folder/%s " $files)
