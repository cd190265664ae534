#!/usr/bin/env bash
# accuracy.sh - trains on public graphs and prints a table of test scores, with the command of each row; minutes to an
# hour, so not part of `make test`.
#   tests/accuracy.sh FOLDER [row ...]   FOLDER: cora.npz, citeseer.npz, minesweeper.npz (docs/DATA.md says what is in them)
#   rows: cora-gcn cora-sage cora-gat cora-gcn-sampled cora-sage-sampled citeseer-gcn citeseer-gat
#         minesweeper-gcn minesweeper-sage minesweeper-gat; all by default
#   SEEDS=10 SPLITS=3 BUILD=build THREADS=0    from the environment
# A score is the mean and standard deviation over the seeds (minesweeper: splits) of the test score at the epoch of the
# least validation loss: accuracy, on minesweeper ROC-AUC, in percent.
set -u
[ $# -ge 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$1
shift
build=${BUILD:-build} seeds=${SEEDS:-10} splits=${SPLITS:-3} threads=${THREADS:-0}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# convert NAME OPTION...: once
convert() {
    [ -f "$work/$1.ggnn" ] || "$build/ggnn-data" convert "$folder/$1.npz" "$work/$1.ggnn" "${@:2}" >"$work/log" 2>&1 \
        || { cat "$work/log"; exit 1; }
}

# row DATA MODEL GOAL SCORE RUNS OPTION...: a line of the table. RUNS: "seed" or "split", the option that varies
row() {
    local data=$1 model=$2 goal=$3 score=$4 runs=$5 first=1 last=$seeds i
    shift 5
    [ "$runs" = seed ] || { first=0 last=$((splits - 1)); }
    : >"$work/scores"
    for i in $(seq $first "$last"); do
        "$build/ggnn-train" --data "$work/$data.ggnn" "$@" "--$runs" "$i" --threads "$threads" --log "$work/log" \
            >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
        sed -n "s/.*\"event\":\"final\".*\"test_$score\":\([0-9.e+-]*\).*/\1/p" "$work/log" >>"$work/scores"
    done
    awk -v data="$data" -v model="$model" -v goal="$goal" -v last="$last" -v first="$first" -v runs="$runs" \
        -v command="ggnn-train --data $data.ggnn $*" '
        { n++; sum += 100 * $1; squares += 1e4 * $1 * $1 }
        END { mean = sum / n; d = squares / n - mean * mean
              printf "| %s | %s | %.1f ± %.1f | %s | `%s --%s %d` .. `%d` |\n", data, model, mean, sqrt(d > 0 ? d : 0),
                     goal, command, runs, first, last }' "$work/scores"
}

cora() { convert cora --row-normalise; row cora "$@"; }
citeseer() { convert citeseer --row-normalise; row citeseer "$@"; }
minesweeper() { convert minesweeper; row minesweeper "$@"; }

kipf="--layers 2 --lr .01 --weight-decay 5e-4 --epochs 200" # Kipf & Welling 2017
half="--dropout .5 --input-dropout .5"
most="--dropout .6 --input-dropout .6 --attention-dropout .6" # Velickovic et al. 2018
deep="--layers 5 --fanout full --residual --norm layer --optimizer adamw --dropout .2 --epochs 200 --eval-every 5"
[ $# -gt 0 ] || set -- cora-gcn cora-sage cora-gat cora-gcn-sampled cora-sage-sampled citeseer-gcn citeseer-gat \
    minesweeper-gcn minesweeper-sage minesweeper-gat
echo "| data | model | test, % | published | command |"
echo "|---|---|---|---|---|"
for name in "$@"; do
    case $name in
    cora-gcn) cora GCN "81.5 ± 0.6" accuracy seed --model gcn --hidden 16 --fanout full $kipf $half ;;
    cora-sage) cora GraphSAGE "80-83" accuracy seed --model sage --hidden 64 --fanout full $kipf $half ;;
    cora-gat) cora GAT "83.0 ± 0.7" accuracy seed --model gat --hidden 64 --heads 8 --fanout full $kipf $most ;;
    cora-gcn-sampled) cora "GCN, sampled" "" accuracy seed --model gcn --hidden 16 --fanout 10,10 $kipf $half ;;
    cora-sage-sampled) cora "GraphSAGE, sampled" "" accuracy seed --model sage --hidden 64 --fanout 10,10 $kipf $half ;;
    citeseer-gcn) citeseer GCN "71.1 ± 0.7" accuracy seed --model gcn --hidden 16 --fanout full $kipf --dropout .5 ;;
    citeseer-gat) citeseer GAT "72.5 ± 0.7" accuracy seed --model gat --hidden 64 --heads 8 --fanout full $kipf $most \
        --epochs 300 ;;
    minesweeper-gcn) minesweeper GCN "89.8 ± 0.5" roc_auc split --model gcn --hidden 64 $deep --lr 3e-3 ;;
    minesweeper-sage) minesweeper GraphSAGE "93.5 ± 0.6" roc_auc split --model sage --hidden 64 $deep --lr 3e-3 ;;
    minesweeper-gat) minesweeper GAT "92.0 ± 0.7" roc_auc split --model gat --hidden 64 --heads 8 $deep --lr 3e-3 ;;
    *) echo "accuracy.sh: no row $name" >&2; exit 2 ;;
    esac
done
