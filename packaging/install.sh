#!/bin/sh
# install.sh PREFIX VERSION - puts the files of packaging/files under PREFIX: what `make install-headers` runs in the
# project's folder. CMakeLists.txt installs the same bytes.
set -eu
prefix=$1 version=$2
grep -v '^#' packaging/files | while read -r pattern folder; do
    install -d "$prefix/$folder"
    for file in $pattern; do # a pattern that finds nothing is a file that is not there
        case $file in
        *.in)
            name=$(basename "$file" .in)
            sed "s/@PACKAGE_VERSION@/$version/" "$file" >"$prefix/$folder/$name"
            chmod 644 "$prefix/$folder/$name"
            ;;
        *) install -m 644 "$file" "$prefix/$folder" ;;
        esac
    done
done
