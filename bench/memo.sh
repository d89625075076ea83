#!/bin/sh
# memo.sh - the iteration memo: 20 against 1000 iterations, and what it costs where nothing recurs
#
# usage: bench/memo.sh [TRAINSHED [ROUNDS]]
# Prints JSON lines: wall seconds of whole processes, medians of ROUNDS (5) taken in turn. "wide" has one bucket for
# the run and rows of iterations; "default" has the default record, whose rows grow with the iterations, memo or not:
# further_rows is by how many, rows_per_s what of them is written in a second more. What the memo costs is counted in
# instructions as well, by valgrind where there is one: seconds vary by more.
set -eu
trainshed=$(realpath "${1:-./trainshed}")
rounds=${2:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# A step: compute, then a ring over all ranks while the next layer computes, then an all-to-all.
program() # NAME COMPUTE_US BYTES
{
    cat > "$1.program" <<END
program 1
ranks 16
description "a step of 16 ranks"
group world 0-15

role all ranks all
stream compute
  compute forward time $2 us
  compute backward time $2 us
  compute update time 50 us after gradient,exchange
stream communication
  all_reduce gradient group world bytes $3 after forward
  all_to_all exchange group world bytes 1048576 after backward
END
}

# Tenants of 16 GPUs on 4 servers of 8.
scenario() # NAME JOB...
{
    name=$1
    shift
    cat > "$name.yaml" <<END
seed: 3
fabric:
  generate:
    server: {gpus: 8, gpu: {name: h100, peak: 989 TFLOP/s, memory: 80 GiB, memory_bandwidth: 3350 GB/s}, nvlink: {rate: 450 GB/s, latency: 300 ns}, nics: 1, nic: {rate: 400 Gb/s}, forward: none}
    zone: {servers: 4, network: clos2, link: {rate: 400 Gb/s, latency: 600 ns}, oversubscription: 2}
network: {model: fluid}
baseline: false
jobs:
END
    for job in "$@"; do
        echo "  - {gpus: 16, $job}" >> "$name.yaml"
    done
}

program long 1500 16000000
program short 1108.11424 16000000 # periods of 3.13508608 ms and three quarters of it
program odd 433 8000000
scenario one 'name: long, program: long.program, iterations: 20'
scenario two 'name: long, program: long.program, iterations: 20' \
    'name: short, program: short.program, until: long'
scenario never 'name: long, program: long.program, iterations: 1000' 'name: odd, program: odd.program, until: long'

# Wall seconds of one run.
run() # SCENARIO ARGUMENT...
{
    file=$1
    shift
    rm -f run.db
    began=$(date +%s%N)
    "$trainshed" run -q -o run.db "$file.yaml" "$@"
    awk "BEGIN { printf \"%.4f\\n\", ($(date +%s%N) - $began) / 1e9 }"
}

# Rows of the last run that grow with its iterations.
count_rows()
{
    "$trainshed" query --csv run.db 'SELECT (SELECT count(*) FROM link_usage) + (SELECT count(*) FROM collective)
        + (SELECT count(*) FROM contention) + (SELECT count(*) FROM iteration)' | tail -n 1
}

median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }

# Two ways of one scenario in turn: medians and their ratio (the second over the first).
compare() # CASE RECORD SCENARIO FIRST_NAME FIRST_SET SECOND_NAME SECOND_SET RECORD_SET...
{
    case=$1 record=$2 file=$3 first=$4 first_set=$5 second=$6 second_set=$7
    shift 7
    : > first.txt
    : > second.txt
    for round in $(seq "$rounds"); do
        run "$file" --set "$first_set" "$@" >> first.txt
        first_rows=$(count_rows)
        run "$file" --set "$second_set" "$@" >> second.txt
        further_rows=$(($(count_rows) - first_rows))
    done
    a=$(median first.txt) b=$(median second.txt)
    printf '{"bench": "memo", "case": "%s", "record": "%s", "%s_s": %s, "%s_s": %s, "ratio": %s, "further_rows": %d, "rows_per_s": %s}\n' \
        "$case" "$record" "$first" "$a" "$second" "$b" "$(awk "BEGIN { printf \"%.3f\", $b / $a }")" "$further_rows" \
        "$(awk "BEGIN { printf \"%.0f\", ($further_rows > 0 && $b > $a) ? $further_rows / ($b - $a) : 0 }")"
}

wide="--set record.level=iterations --set record.bucket=1000s"
for file in one two; do
    # shellcheck disable=SC2086
    compare "$file" wide "$file" iterations_20 'jobs[0].iterations=20' iterations_1000 'jobs[0].iterations=1000' $wide
    compare "$file" default "$file" iterations_20 'jobs[0].iterations=20' iterations_1000 'jobs[0].iterations=1000'
done
for file in one two; do
    # shellcheck disable=SC2086
    compare "${file}_1000" wide "$file" memo memo=true no_memo memo=false $wide --set 'jobs[0].iterations=1000'
done
# shellcheck disable=SC2086
compare never wide never no_memo memo=false memo memo=true $wide

# Instructions of one run.
instructions() # SCENARIO ARGUMENT...
{
    file=$1
    shift
    rm -f run.db
    valgrind --tool=callgrind --callgrind-out-file=counts.txt "$trainshed" run -q -o run.db "$file.yaml" "$@" 2> /dev/null
    sed -n 's/^\(summary\|totals\): *//p' counts.txt | head -n 1
}

if command -v valgrind > /dev/null; then
    # shellcheck disable=SC2086
    off=$(instructions never $wide --set 'jobs[0].iterations=100' --set memo=false)
    # shellcheck disable=SC2086
    on=$(instructions never $wide --set 'jobs[0].iterations=100' --set memo=true)
    printf '{"bench": "memo", "case": "never_100", "record": "wide", "no_memo_instructions": %s, "memo_instructions": %s, "ratio": %s}\n' \
        "$off" "$on" "$(awk "BEGIN { printf \"%.4f\", $on / $off }")"
fi
