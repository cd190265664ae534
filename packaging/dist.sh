#!/usr/bin/env bash
# dist.sh FOLDER VERSION - what a release has, into FOLDER: each public header alone, the sources as ggnn-VERSION.tar.gz, and
# SHA256SUMS of these. The same files give the same bytes, in a clone and where the archive was unpacked. `make dist` runs it.
# It needs git, which tells the project's files from others, and GNU tar.
set -euo pipefail
folder=$1 version=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v git >/dev/null || { echo "make dist: git is not installed, which tells the project's files from others" >&2; exit 1; }
tar --version | grep -q 'GNU tar' || { echo "make dist: tar is not GNU's, which sorts and dates files" >&2; exit 1; }

if [ -e .git ]; then
    date=$(git log -1 --format=%ct)
    git ls-files -z >"$work/files"
    git diff --quiet HEAD || echo "make dist: it has changes that are not committed: $(git diff --name-only HEAD | paste -sd' ')" >&2
else # where the archive was unpacked: all files that .gitignore does not name
    date=$(stat -c %Y ggnn.h)
    git init -q --bare "$work/git"
    git --git-dir="$work/git" --work-tree=. ls-files -z -o --exclude-per-directory=.gitignore >"$work/files"
fi
mkdir "$work/dist"
LC_ALL=C sort -z "$work/files" | tar -c --no-recursion --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$date" \
    --mode=a+rX,u+w,go-w --transform="flags=r;s,^,ggnn-$version/," --null -T - | gzip -9n >"$work/dist/ggnn-$version.tar.gz"
cp $(awk '$2 == "include" { print $1 }' packaging/files) "$work/dist"
(cd "$work/dist" && LC_ALL=C sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS && cat SHA256SUMS)
rm -rf "$folder"
mkdir -p "$(dirname "$folder")"
mv "$work/dist" "$folder"
