#!/bin/bash
# test-trace-kineto.sh - trainshed trace on recorded PyTorch files, as its user runs it. TAP.
set -u
cd "$SRCDIR" || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0

# ok CONDITION NAME: one line of TAP.
ok()
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/out" "$work/err"
    fi
}

# run STATUS ARGUMENT...: output in out and err; 0 where the exit status is STATUS.
run()
{
    local expected=$1
    shift
    "$TRAINSHED" trace "$@" >"$work/out" 2>"$work/err"
    [ $? -eq "$expected" ]
}

kineto='traces/dlrm-w8/dlrm-w8-kineto-rank*.json.gz'
execution='traces/dlrm-w8/dlrm-w8-et-rank*.json.gz'

# The counts are those of ../shared/data/kineto/README.md.
run 0 info "$kineto" --execution-trace "$execution" &&
    grep -qE '^dlrm-w8-kineto-rank3.json.gz +3 +8 +3474 +315 +11.01 ms +8 +9.774 ms +64 +273 of 605 +13 ' "$work/out"
ok $? "info counts what each file holds"
grep -qE '^collective +8 +8 +64 +217 us' "$work/out" && grep -qE '^all_reduce +8 +1576964 +8 ' "$work/out" &&
    grep -qE '^all_to_all +8 +13568 +8 +world +uneven' "$work/out" && grep -qE '^latest start +7.513 ms' "$work/out"
ok $? "info counts the collectives and their transfers"

run 0 info traces/dlrm-w8/dlrm-w8-kineto-rank5.json.gz &&
    grep -qE '^dlrm-w8-kineto-rank5.json.gz +5 +8 +3250 +245 ' "$work/out" &&
    grep -qF 'cannot be replayed: traces/dlrm-w8/dlrm-w8-kineto-rank5.json.gz is of a job of 8 ranks, but only 1 of' "$work/out"
ok $? "info counts one rank alone, and says why it cannot be replayed"

run 0 check "$kineto" --execution-trace "$execution" && grep -qxF 'kineto: 8 ranks, no problems' "$work/out" &&
    grep -qF 'note: 128 of 2244 kernels, copies and fills were launched before the recorded window' "$work/out"
ok $? "check finds no problems in the recorded step"

run 2 check "$kineto" && [ "$(grep -c 'carries no collective arguments' "$work/out")" -eq 8 ] &&
    [ "$(cat "$work/err")" = "trainshed: traces/dlrm-w8/dlrm-w8-kineto-rank0.json.gz: 8 problems in 8 files" ]
ok $? "check names each file without sizes"

run 2 check "$kineto" --execution-trace traces/dlrm-w8/dlrm-w8-et-rank0.json.gz &&
    grep -qxF '8 Kineto files, but 1 execution traces: there must be one for each rank or none' "$work/out"
ok $? "check counts the execution traces"

run 0 convert "$kineto" --execution-trace "$execution" -o "$work/dlrm.program" && run 0 info "$work/dlrm.program" &&
    grep -qE '^collective +8 +8 +64 +217 us' "$work/out" && grep -qE '^compute +237 +307 +2040 ' "$work/out"
ok $? "convert writes a program that holds the same"

echo "1..$number"
