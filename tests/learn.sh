#!/usr/bin/env bash
# learn.sh - is every number of docs/LEARN.md made by its commands? One line a check: "ok ..." or "  FAILED ...".
#   tests/learn.sh [BUILD]   BUILD: where ggnn-data and ggnn-train are (build)
# The page's ```sh blocks are run in order, in a folder of their own. Each block without a language is a part of what the last command
# block printed: its lines stand there one below the other, and "..." stands for lines left out. A number of the text stands in a block.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/run"
ln -s "$(cd "${1:-build}" && pwd)" "$work/run/build"

# The blocks of a page as files: FOLDER/001.sh, 002.quote, .. and the rest, FOLDER/text
split_page() { # split_page PAGE FOLDER
    mkdir "$2"
    awk -v folder="$2" '
        /^```/ && file { close(file); file = ""; next }
        /^```/ { file = sprintf("%s/%03d.%s", folder, ++n, $0 == "```sh" ? "sh" : $0 == "```" ? "quote" : "other"); printf "" >file; next }
        file { print >file; next }
        { print >(folder "/text") }' "$1"
}
# Does FILE say what QUOTE says? Prints the first line that is not where it should be.
says() { # says FILE QUOTE
    awk '
        function chunk_is_there(  at) {
            if (chunk == "") return 1
            at = index(rest, "\n" chunk)
            if (!at) return 0
            rest = substr(rest, at + length(chunk)) # begins with the newline that ends the chunk
            chunk = ""
            return 1
        }
        BEGIN { rest = "\n" }
        NR == FNR { rest = rest $0 "\n"; next }
        $0 == "..." { if (!chunk_is_there()) exit; next }
        { chunk = chunk $0 "\n" }
        END { if (!chunk_is_there()) { print chunk; exit 1 } }' "$1" "$2"
}
# Every number of the text that stands in no block
unknown_numbers() { # unknown_numbers FOLDER
    number='(^|[^A-Za-z0-9_.])[0-9]+(\.[0-9]+)?'
    cat "$1"/*.sh "$1"/*.quote | grep -oE "$number" | grep -oE '[0-9.]+$' | sort -u >"$1/known"
    sed -E 's/\]\([^)]*\)//g; s/^[0-9]+\. //' "$1/text" | grep -oE "$number" | grep -oE '[0-9.]+$' | sort -u | grep -vxF -f "$1/known"
}
holds() { # holds PAGE FOLDER: runs the page; prints what is wrong
    local block printed="$work/printed" wrong=0 unknown
    split_page "$1" "$2"
    for block in "$2"/*.sh "$2"/*.quote; do echo "$block"; done | sort >"$2/order"
    while read -r block; do
        case $block in
        *.sh) (cd "$work/run" && bash -e "$block") >"$printed" 2>&1 || { echo "fails: $(cat "$block")"; tail -n 3 "$printed"; wrong=1; } ;;
        *.quote) says "$printed" "$block" || wrong=1 ;;
        esac
    done <"$2/order"
    unknown=$(unknown_numbers "$2")
    [ -z "$unknown" ] || { echo "numbers of the text that no command has made:" $unknown; wrong=1; }
    return $wrong
}

if holds docs/LEARN.md "$work/page" >"$work/log"; then echo "ok the lesson's commands print what it quotes"
else echo "  FAILED the lesson's commands print something else than it quotes:"; sed 's/^/  /' "$work/log"; fi
quoted=$(cat "$work"/page/*.quote | grep -cv '^\.\.\.$')
if [ "$quoted" -gt 80 ]; then echo "ok the lesson quotes $quoted lines"; else echo "  FAILED the lesson quotes $quoted lines"; fi
sed 's/29            0           0     0.64438/29            0           0     0.64439/' docs/LEARN.md >"$work/wrong.md"
if holds "$work/wrong.md" "$work/wrong" >"$work/log"; then echo "  FAILED learn.sh: a wrong digit in a quotation is not noticed"; else echo "ok a wrong digit in a quotation is noticed"; fi
sed 's/^Node 29 has four neighbours/Node 29 has 0.123 neighbours/' docs/LEARN.md >"$work/text.md"
if holds "$work/text.md" "$work/text" >"$work/log"; then echo "  FAILED learn.sh: a number that no command has made is not noticed"; else echo "ok a number that no command has made is noticed"; fi
