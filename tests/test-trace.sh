#!/bin/bash
# test-trace.sh - trainshed trace as its user runs it: output, files and exit status. TAP.
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

has()
{
    grep -qF -- "$1" "$work/$2"
}

llama=(traces/llama/llama.*.et)

run 0 formats && [ "$(awk '{ print $1 }' "$work/out" | sort | tr '\n' ' ')" = " astra-sim chakra chakra chakra-json dumpi goal goal htsim kineto layers liballprof nsys otf2 program program read simai simgrid-ti written " ]
ok $? "formats lists both tables"

run 0 convert "${llama[@]}" --groups traces/llama/llama.json --to chakra -o "$work/again.*.et" &&
    has "chakra: its groups are in $work/again.groups.et.json, to be read with --groups" out &&
    run 0 check "$work/again.[0-9].et" --groups "$work/again.groups.et.json" &&
    has "chakra: 8 ranks, no problems" out
ok $? "a trace is written as Chakra, and that is sound"
if [ -r "$SHARED/data/chakra/astra-sim/microbenchmarks" ]; then
    one=$SHARED/data/chakra/astra-sim/microbenchmarks/all_gather-8npus_1MB/all_gather.0.et
    # each of 16 contributes 1 MiB
    run 0 info "$one" --replicate 16 && grep -qE '^all_gather +16 +16777216 +16 +all' "$work/out" &&
        has "note: the trace of one rank is replicated over 16 ranks" out
    ok $? "one rank's trace is replicated"
    ring=$SHARED/data/chakra/astra-sim/custom_ring_allreduce_8npus_1MB/custom_allreduce.0.et
    run 2 convert "$ring" --replicate 8 -o "$work/no.program" &&
        has "names its peer, so that this rank's trace cannot be replicated" err &&
        run 2 check "$ring" --replicate 8 && [ "$(wc -l <"$work/out")" -eq 28 ] && # 14 sends, 14 receives
        run 0 info "$ring" --replicate 8 && has "cannot be replayed: $ring: byte 26717: node 0" out
    ok $? "a trace with messages is not"
    # Each of 2 ranks sends its 1 MiB to the other, 2 iterations: 4 MiB.
    cat >"$work/two.yaml" <<END
name: two
seed: 1
fabric:
  generate:
    server: {gpus: 2, nics: 2, nic: {rate: 400 Gb/s}}
    zone: {servers: 1, network: switch, link: {rate: 400 Gb/s, latency: 0 s}}
    buildings: [{name: A, zones: 1}]
network: {model: fluid}
jobs:
  - {name: one, trace: [$one], replicate: 2, gpus: 2, iterations: 2, warmup: 0}
baseline: false
END
    "$TRAINSHED" run "$work/two.yaml" -o "$work/two.db" >"$work/out" 2>"$work/err" && has "Moved 4 MiB in" out
    ok $? "a scenario replicates a trace"
else
    echo "ok $((number += 1)) - a scenario replicates a trace # SKIP no ../shared"
    echo "ok $((number += 1)) - one rank's trace is replicated # SKIP no ../shared"
    echo "ok $((number += 1)) - a trace with messages is not # SKIP no ../shared"
fi
run 2 check "${llama[@]}" --groups traces/llama/llama.json --replicate 8 &&
    has "one rank's file is replicated; 8 files are given" err &&
    run 2 info traces/dlrm-two-streams.program --replicate 8 &&
    has "traces of format program cannot be replicated; chakra and chakra-json can" err &&
    run 2 info traces/llama/llama.0.et --replicate -1 && has "--replicate -1 is below 1" err &&
    run 2 check traces/llama/llama.0.et --replicate 2000000 && has "replicated 2000000 times; expected at most" err
ok $? "what cannot be replicated is refused by name"
run 2 convert traces/dlrm-two-streams.program --to chakra -o "$work/one.et" &&
    has "a Chakra trace is a file a rank; write * where the rank goes" err
ok $? "a Chakra trace cannot be one file"

run 0 info "${llama[@]}" --groups traces/llama/llama.json
ok $? "info reads the Llama step"
grep -qE '^compute +250 +258 +2032 ' "$work/out" && grep -qE '^send +4 +4 +32 ' "$work/out"
ok $? "info counts ops a rank: 250 to 258 computes, 4 sends"
grep -qE '^all_gather +2 +524288 +384' "$work/out" && grep -qE '^reduce_scatter +2 +524288 +256' "$work/out" &&
    grep -qE '^all_reduce +2 +4980736 +64' "$work/out" && grep -qE '^all_reduce +2 +32768000 +16' "$work/out"
ok $? "info counts collectives by kind and size"

run 0 info 'traces/llama/llama.*.et' --groups traces/llama/llama.json --format chakra
ok $? "a quoted pattern is expanded, a format may be named"

run 0 info traces/dlrm-two-streams.program
grep -qE '^compute +42 +42 +5376 +18.01 ms' "$work/out" && grep -qE '^collective +22 +22 +2816 +47.67 ms' "$work/out"
ok $? "info sums recorded times of a program"

run 0 check "${llama[@]}" --groups traces/llama/llama.json && has "chakra: 8 ranks, no problems" out
ok $? "check says that there are no problems"

# 90 collectives of each of 8 ranks
run 2 check "${llama[@]}" && [ "$(wc -l <"$work/out")" -eq 720 ] &&
    has "traces/llama/llama.7.et: byte 1515: node 731 \"mb0.transformer.2.mha.qkv@0_X1COMM\": pg_name is \"8\", and no group file is given" out &&
    [ "$(cat "$work/err")" = "trainshed: traces/llama/llama.0.et: 720 problems in 8 files" ]
ok $? "check tells every problem of each file and exits 2"

run 0 convert "${llama[@]}" --groups traces/llama/llama.json -o "$work/llama.program" && [ ! -s "$work/out" ]
ok $? "convert writes a program"
run 0 convert "$work/llama.program" -o "$work/again.program" && cmp -s "$work/llama.program" "$work/again.program"
ok $? "a program converts to itself"
run 0 info "${llama[@]}" --groups traces/llama/llama.json && grep -v '^format' "$work/out" >"$work/one"
run 0 info "$work/llama.program" && grep -v '^format' "$work/out" >"$work/two" && cmp -s "$work/one" "$work/two"
ok $? "info of the program equals that of the trace"

run 2 convert "${llama[@]}" --groups traces/llama/llama.json -o "$work/no/such/folder" &&
    has "no/such/folder: cannot be written: No such file or directory" err
ok $? "a place that cannot be written is named"

head -c 50000 traces/llama/llama.0.et >"$work/cut.0.et"
run 2 info "$work/cut.0.et" && grep -qE 'cut\.0\.et: byte [0-9]+: record [0-9]+ is cut' "$work/err"
ok $? "a cut file is refused with its place"
gzip -c traces/llama/llama.0.et | head -c 5000 >"$work/cut.0.et"
run 2 info "$work/cut.0.et" && has "cut.0.et" err
ok $? "a gzip stream cut short is refused"
: >"$work/empty.et"
run 2 info "$work/empty.et" && has "empty.et" err && run 2 info "$work" && run 2 info "$work/none.et" &&
    has "there is no such file" err
ok $? "empty, missing and a folder are refused"
run 2 info README.md && has "which no known trace format does" err
ok $? "a file of another kind is refused"
run 2 info "${llama[@]:0:3}" "${llama[@]:5}" && has "no file of rank 3, 4" err
ok $? "missing ranks are named"
run 2 info "${llama[@]}" --format chacra && has 'did you mean "chakra"' err
ok $? "a mistyped format is answered with the nearest"
run 2 && has "a subcommand is missing" err && run 2 inf && has 'did you mean "info"' err && run 2 info &&
    has "no files are given" err && run 2 convert traces/dlrm-two-streams.program && has "write -o FILE" err
ok $? "wrong usage is refused"

if [ -r "$SHARED/data/chakra/astra-sim/resnet50_dp_64npus.tar.gz" ]; then
    tar -xzf "$SHARED/data/chakra/astra-sim/resnet50_dp_64npus.tar.gz" -C "$work"
    message='Resnet50_DataParallel.0.et: byte 2387: node 55 "COMM_COLL_NODE_fc1000_ALLREDUCE": COMM_COLL_NODE has no attribute comm_size'
    run 2 convert "$work/Resnet50_DataParallel.*.et" -o "$work/no.program" && has "$message" err &&
        [ ! -e "$work/no.program" ]
    ok $? "ResNet collectives without a size are refused, naming node and attribute"
    run 0 info "$work/Resnet50_DataParallel.*.et" && has "missing: 3456 collectives without comm_size" out &&
        has "cannot be replayed: $work/" out && has "$message" out
    ok $? "info tells what they hold and what is missing"
    run 2 check "$work/Resnet50_DataParallel.*.et" && [ "$(wc -l <"$work/out")" -eq 3456 ] # 54 of each of 64 ranks
    ok $? "check tells of all collectives of all 64 ranks"
else
    echo "ok $((number += 1)) - ResNet is refused # SKIP no ../shared"
    echo "ok $((number += 1)) - info tells what is missing # SKIP no ../shared"
    echo "ok $((number += 1)) - check tells of all 64 ranks # SKIP no ../shared"
fi

printf 'call,bytes\nall_to_all,16 MiB\n' >"$work/sizes.csv"
run 0 info tests/data/nsys-two-ranks.sqlite && grep -qE '^barrier +2 +0 +2 +[a-z]+ *$' "$work/out" &&
    has "note: communicators are not recorded: every call of NCCL is taken as of all 2 ranks" out
ok $? "info of an Nsight Systems export counts calls and says what is missing"
nsys=$SHARED/data/nsys/mfu_2gpu_before.sqlite.gz
apr=$SHARED/data/chakra/hta/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz
if [ -r "$nsys" ]; then
    run 0 info "$nsys" && grep -qE 'device 0 +all_to_all +32 +0 +0$' "$work/out" &&
        has "the bytes of all_to_all (64 on all ranks) are not known: give a file of them" out
    ok $? "info of an export without sizes tells its calls and that bytes are missing"
    run 2 check "$nsys" && run 0 check "$nsys" --sizes "$work/sizes.csv" && has "nsys: 2 ranks, no problems" out
    ok $? "--sizes gives the bytes"
    run 0 info "$nsys" --sizes "$work/sizes.csv" && grep -qE '^all_to_all +2 +16777216 +64' "$work/out"
    ok $? "info counts collectives with the bytes given"
    # 32 calls, 2 ranks, each sends half of 16 MiB to the other, 2 iterations: 1 GiB.
    cat >"$work/nsys.yaml" <<END
name: nsys
seed: 1
fabric:
  generate:
    server: {gpus: 2, nics: 2, nic: {rate: 400 Gb/s}}
    zone: {servers: 1, network: switch, link: {rate: 400 Gb/s, latency: 0 s}}
    buildings: [{name: A, zones: 1}]
network: {model: fluid}
jobs:
  - {name: exported, trace: [$nsys], sizes: sizes.csv, gpus: 2, iterations: 2, warmup: 0}
baseline: false
END
    "$TRAINSHED" run "$work/nsys.yaml" -o "$work/nsys.db" >"$work/out" 2>"$work/err" &&
        has "Moved 1 GiB in 128 transfers" out
    ok $? "a scenario runs an export with the bytes of its job's sizes"
    run 0 check "$apr" && has "kineto: 1 ranks, no problems" out && run 0 info "$apr" &&
        grep -qE '^compute +4350 +4350 +4350 +468.2 ms' "$work/out"
    ok $? "a single rank of nanosecond times is read"
    gzip -dc "$SHARED/data/chakra/param/resnet_et.json.gz" >"$work/et.json"
    run 2 info "$work/et.json" && has "an execution trace has no times, and goes beside its Kineto file" err
    ok $? "an execution trace alone is told where it belongs"
else
    for name in "calls of an export" "--sizes" "bytes given" "sizes of a job" "nanosecond times" "execution trace alone"; do
        echo "ok $((number += 1)) - $name # SKIP no ../shared"
    done
fi
echo "1..$number"
