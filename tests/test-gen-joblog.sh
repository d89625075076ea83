#!/bin/sh
# test-gen-joblog.sh - the made-up job log has what it is to have, and is the same again
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
generate=$SRCDIR/scripts/gen-joblog

ok() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$work/out"
    fi
}

"$generate" >"$work/one.csv" 2>"$work/out"
ok $? "a log"
"$TRAINSHED" jobs info "$work/one.csv" >"$work/out" 2>&1 && grep -q '^jobs  *5000$' "$work/out" &&
    grep -q '^GPUs .*most of a job 512$' "$work/out" && grep -q '^format  *jobs$' "$work/out"
ok $? "trainshed reads 5000 jobs, the largest of 512 GPUs"
awk -F, 'NR > 1 { large += $10 >= 128; time += $9; work += $9 * $10; late += $6 >= 14 * 86400; back += $6 < last; last = $6 }
    END { print large, time, work, late, back; exit !(large > 500 && time > 30 * 14 * 86400 && work < 2000 * 14 * 86400 && late + back == 0) }' \
    "$work/one.csv" >"$work/out"
ok $? "more than 10 % have 128 GPUs or more, more than 30 at once on average, no more GPU time than there is, in order of time"
"$generate" 1 | cmp - "$work/one.csv" >"$work/out" 2>&1
ok $? "the same seed, the same log"
! "$generate" 2 | cmp -s - "$work/one.csv"
ok $? "another seed, another log"
[ "$(tail -n +2 "$work/one.csv" | head -1)" = "423,u11,,,completed,15,,,35172,128,,,,," ]
ok $? "golden first row"
"$generate" 3 100 64 2 >"$work/small.csv" &&
    awk -F, 'NR > 1 { n++; bad += $10 > 64 || $6 >= 172800 } END { exit !(n == 100 && bad == 0) }' "$work/small.csv"
ok $? "a smaller cluster"
"$generate" 0 >"$work/out" 2>&1
[ $? -eq 2 ] && [ "$(cat "$work/out")" = 'gen-joblog: found "0", expected whole numbers above 0: SEED JOBS GPUS DAYS' ]
ok $? "refused: a seed of 0"
echo "1..$n"
