#!/bin/sh
# test-train.sh - training jobs by description, as their user has them: what crosses a cut, how long a pipeline takes,
# trace generate, and what is refused
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out
err=$folder/err
n=0
failed=0

result() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# out: /' "$out"
        sed 's/^/# err: /' "$err"
        failed=1
    fi
}

# equal FOUND EXPECTED NAME
equal() {
    [ "$1" = "$2" ]
    status=$?
    [ $status -eq 0 ] || echo "found $1, expected $2" >"$out"
    result $status "$3"
}

# Two buildings of 16 GPUs.
cat >"$folder/two.yaml" <<'END'
name: two
fabric:
  generate:
    server: {gpus: 8, gpu: {name: h100, peak: 989 TFLOP/s, memory: 80 GiB, memory_bandwidth: 3350 GB/s}, nvlink: {rate: 450 GB/s, latency: 300 ns}, nics: 8, nic: {rate: 400 Gb/s}}
    zone: {servers: 2, network: rail, link: {rate: 400 Gb/s, latency: 600 ns}}
    buildings: [{name: A, zones: 1}, {name: B, zones: 1}]
    cuts: [{between: buildings, links: 4, rate: 400 Gb/s, length: 2 km}]
baseline: false
jobs:
  - name: job
    model: {preset: llama-3-8b, layers: 4, sequence: 2048}
    layout: {tp: 4, dp: 4, pp: 2}
    global_batch: 16
    fused_attention: true
    placement: {policy: axis, axis: pp, over: building}
    iterations: 2
END

# crossed ARGUMENT...: bytes from A to B and from B to A over the cut in one iteration, into $crossed.
crossed() {
    rm -f "$folder/run.db"
    "$TRAINSHED" run "$folder/two.yaml" -q -o "$folder/run.db" "$@" >"$out" 2>"$err"
    crossed=$("$TRAINSHED" query --csv "$folder/run.db" "SELECT group_concat(b, ' ') FROM (SELECT sum(bytes) / 2 AS b
        FROM link_usage JOIN link ON link.id = link_id WHERE kind = 'interbuilding' AND src_building <> '' GROUP BY
        src_building ORDER BY src_building)" 2>>"$err" | tail -n 1)
}

# PP: 16 sequences x 2,048 tokens x 4,096 values x 2 bytes, forward out of A, gradients out of B; every rank of tp sends
# all of it, or a quarter with sequence parallelism or scatter-gather.
bytes=$((16 * 2048 * 4096 * 2))
crossed
equal "$crossed" "$((4 * bytes)) $((4 * bytes))" "pp over the cut: each of tp's four ranks sends what goes on"
crossed --set 'jobs[0].layout.sequence_parallel=true'
equal "$crossed" "$bytes $bytes" "pp over the cut, sequence parallel: 268,435,456 bytes a way"
crossed --set 'jobs[0].layout.scatter_gather=true'
equal "$crossed" "$bytes $bytes" "pp over the cut, scattered and gathered: the same"

# DP: rings of 4, half of each in a building: two links cross, one a way, and carry 2 (n - 1) / n of the gradients; with
# ZeRO-1 as reduce-scatter and all-gather. Parameters: embedding and head 128,256 x 4,096 each, 4 layers of
# 218,103,808 in matrices (a fourth of it on a rank), norms whole on all four ranks of tp.
cut=$((2 * 128256 * 4096 + 4 * 218103808))
whole=$((4 * 2 * 4096 + 4096))
gradients=$((2 * (cut + 4 * whole)))
for zero in 0 1; do
    crossed --set 'jobs[0].placement.axis=dp' --set "jobs[0].layout.zero=$zero"
    equal "$crossed" "$((gradients * 3 / 2)) $((gradients * 3 / 2))" "dp over the cut, ZeRO-$zero: 3/2 of the gradients a way"
done
# ZeRO-3: 4 micro-batches, 2 all-gathers and a reduce-scatter each: 3/4 of the parameters 12 times.
crossed --set 'jobs[0].placement.axis=dp' --set 'jobs[0].layout.zero=3'
equal "$crossed" "$((gradients * 9)) $((gradients * 9))" "dp over the cut, ZeRO-3: 9 times the parameters a way"

# EP: 8 experts on 4 ranks, half of them over there: 4 all-to-alls a layer and micro-batch, 2,048 x 2 rows of 4,096
# values from each rank; with tp 1 and pp 2, 16 replicas, ranks of ep half and half.
# 2 stages x 2 ranks of ep in A send half of their rows; 4 micro-batches; 2 layers of experts a stage. The dense part of
# the gradients goes in rings over the same four ranks.
rows=$((2048 * 2 * 4096 * 2))
dense=$((2 * (2 * 32000 * 4096 + 4096 + 4 * (41943040 + 2 * 4096 + 8 * 4096))))
crossed --set 'jobs[0].model={preset: mixtral-8x7b, layers: 4, sequence: 2048}' \
    --set 'jobs[0].layout={ep: 4, dp: 4, pp: 2}' --set 'jobs[0].placement.axis=ep'
equal "$crossed" "$((4 * 4 * 4 * 2 * rows / 2 + dense * 3 / 2)) $((4 * 4 * 4 * 2 * rows / 2 + dense * 3 / 2))" \
    "ep over the cut: half of all rows a way, four times a layer, and the dense gradients"

# A pipeline of four equal stages without communication to speak of: 10 us forward, 20 us backward.
cat >"$folder/four.csv" <<'END'
name,forward_time,backward_time,parameters,activation_bytes
a,10 us,20 us,0,1
b,10 us,20 us,0,1
c,10 us,20 us,0,1
d,10 us,20 us,0,1
END
cat >"$folder/four.yaml" <<'END'
fabric:
  generate:
    server: {gpus: 4, gpu: {name: any, peak: 1 TFLOP/s, memory: 80 GiB, memory_bandwidth: 1 TB/s}, nvlink: {rate: 1 TB/s, latency: 0 ns}, nics: 1, nic: {rate: 400 Gb/s}}
    zone: {servers: 1, network: rail, link: {rate: 400 Gb/s, latency: 0 ns}}
    buildings: [{name: A, zones: 1}]
baseline: false
jobs:
  - {name: job, model: {table: four.csv}, layout: {pp: 4}, global_batch: 8, iterations: 5, warmup: 2}
END

# lasts NAME PS ARGUMENT...: the mean iteration; messages of one byte take a picosecond each.
lasts() {
    name=$1
    expected=$2
    shift 2
    rm -f "$folder/run.db"
    "$TRAINSHED" run "$folder/four.yaml" -q -o "$folder/run.db" "$@" >"$out" 2>"$err"
    length=$("$TRAINSHED" query --csv "$folder/run.db" "SELECT CAST(shared_ps AS INTEGER) FROM v_job" 2>>"$err" | tail -n 1)
    echo "length: $length" >>"$out"
    [ "$length" -ge "$expected" ] 2>/dev/null && [ "$length" -le $((expected + 100)) ]
    result $? "$name"
}
lasts "GPipe: (m + p - 1)(t_f + t_b)" 330000000 --set 'jobs[0].schedule=gpipe'
lasts "1F1B: the same" 330000000 --set 'jobs[0].schedule=1f1b'
lasts "zero-bubble H1: m and a third of the bubble" 270000000 --set 'jobs[0].schedule=zb-h1'
lasts "zero-bubble H2: no bubble" 240000000 --set 'jobs[0].schedule=zb-h2'
printf 'a,5 us,10 us,0,1\n' >"$folder/row"
{
    head -n 1 "$folder/four.csv"
    cat "$folder/row" "$folder/row" "$folder/row" "$folder/row" "$folder/row" "$folder/row" "$folder/row" "$folder/row"
} >"$folder/eight.csv"
lasts "interleaved over two chunks: half of the bubble" 285000000 --set 'jobs[0].model.table=eight.csv' \
    --set 'jobs[0].layout.virtual_stages=2'
printf 'F0 F1 F2 F3 F4 F5 F6 F7 B0 B1 B2 B3 B4 B5 B6 B7\n%.0s' 1 2 3 4 >"$folder/own"
lasts "a schedule of one's own" 330000000 --set 'jobs[0].schedule={file: own}'

# Overlap: four layers of a million parameters over two GPUs, ZeRO-3; a gather or a reduce-scatter takes 1 MB / 100 GB/s
# = 10 us, forward 10 us, backward 20 us, nothing shares a link.
cat >"$folder/fsdp.csv" <<'END'
name,forward_time,backward_time,parameters
a,10 us,20 us,1000000
b,10 us,20 us,1000000
c,10 us,20 us,1000000
d,10 us,20 us,1000000
END
sed -e 's/four.csv/fsdp.csv/' -e 's/pp: 4/dp: 2, zero: 3/' -e 's/1 TB.s, latency/100 GB\/s, latency/' \
    -e 's/global_batch: 8/global_batch: 2, optimiser_bytes: 0/' "$folder/four.yaml" >"$folder/fsdp.yaml"
echo 'network: {model: analytic}' >>"$folder/fsdp.yaml"
# hidden NAME PS ARGUMENT...
hidden() {
    mv "$folder/four.yaml" "$folder/kept.yaml"
    cp "$folder/fsdp.yaml" "$folder/four.yaml"
    lasts "$@"
    mv "$folder/kept.yaml" "$folder/four.yaml"
}
hidden "prefetch 0: each layer waits for its gather: 4 x 20 + 4 x 30 + the last reduce-scatter" 210000000 \
    --set 'jobs[0].overlap={prefetch: 0}'
hidden "prefetch 1: all but the first gather is hidden: 10 + 40 + 80 + 10" 140000000
hidden "gradients reduced behind the backward pass: 3 more reduce-scatters" 170000000 --set 'jobs[0].overlap={gradients: false}'
hidden "one stream: gathers behind reduce-scatters: 50 + 4 x 20 + 7 x 10" 200000000 --set 'jobs[0].overlap={streams: one}'
hidden "the same, four in flight" 140000000 --set 'jobs[0].overlap={gradients: false, in_flight: 4}'
hidden "ZeRO-0, one bucket: an all-reduce of 40 + 40 us behind 120 of work" 200000000 --set 'jobs[0].layout.zero=0'
hidden "ZeRO-0 in buckets of a layer: only the last is behind" 140000000 --set 'jobs[0].layout.zero=0' \
    --set 'jobs[0].overlap={bucket: 2 MB}'

# Recorded times of blocks: embedding 1 + 1 us, attention 3 x 10, FFN 3 x 20, head 3 x 5; 4 layers, 2 micro-batches.
sed -e 's/model: .table: four.csv./model: {preset: llama-3-8b, layers: 4, times: {embedding: [1 us, 0 s, 1 us], attention: [10 us, 10 us, 10 us], mlp: [20 us, 20 us, 20 us], head: [5 us, 5 us, 5 us]}}/' \
    -e 's/pp: 4/dp: 2/' -e 's/global_batch: 8/global_batch: 4, optimiser_bytes: 0, overlap: {gradients: false}/' "$folder/four.yaml" >"$folder/times.yaml"
echo 'network: {model: analytic}' >>"$folder/times.yaml"
"$TRAINSHED" run "$folder/times.yaml" -q -o "$folder/times.db" >"$out" 2>"$err"
equal "$("$TRAINSHED" query --csv "$folder/times.db" "SELECT DISTINCT compute_ps FROM iteration" | tail -n 1)" 754000000 \
    "recorded times of blocks: 2 x (2 + 4 x 90 + 15) us"
# stages: {layers, times} is a run of them.
"$TRAINSHED" trace generate "$folder/two.yaml" --set 'jobs[0].layout={pp: 4, dp: 4, virtual_stages: 1, stages: [1, {layers: 1, times: 3}]}' \
    -o "$folder/c.program" >"$out" 2>"$err" &&
    "$TRAINSHED" trace generate "$folder/two.yaml" --set 'jobs[0].layout={pp: 4, dp: 4}' -o "$folder/d.program" >>"$out" 2>>"$err" &&
    cmp "$folder/c.program" "$folder/d.program" >>"$out" 2>&1
result $? "stages as a run of equal ones"
"$TRAINSHED" trace models >"$out" 2>"$err" && grep -q '^llama-3-405b   *405853388800   *405853388800  Grattafiori' "$out" &&
    grep -q '^mixtral-8x7b   *46702792704   *12879925248  Jiang' "$out" && grep -q '^zb-h1  ' "$out"
result $? "trace models: presets with their parameters, schedules"

# Weights of groups: two collectives at once on the same links, each alone T; side by side both end at 2 T, with 3 to 1
# the one at 4/3 T and the other at 2 T. N ranks of one GPU each on a switch.
weighed() {
    name=$1
    ranks=$2
    grain=$3
    op=$4
    alone=$5
    {
        printf 'program 1\nranks %s\ngroup a 0-%s\ngroup b 0-%s\nrole all ranks all\nstream one\n' "$ranks" $((ranks - 1)) $((ranks - 1))
        printf '%s a group a %s\nstream two\n%s b group b %s\n' "$op" "$6" "$op" "$6"
    } >"$folder/w.program"
    cat >"$folder/w.yaml" <<END
fabric:
  generate:
    server: {gpus: 1, nics: 1, nic: {rate: 800 Gb/s}}
    zone: {servers: $ranks, network: switch, link: {rate: 800 Gb/s, latency: 0 s}}
network: {slice: none}
collectives: {grain: $grain}
baseline: false
jobs: [{name: job, program: w.program, iterations: 1, warmup: 0, weights: {a: 3}}]
END
    rm -f "$folder/run.db"
    "$TRAINSHED" run "$folder/w.yaml" -q -o "$folder/run.db" >"$out" 2>"$err"
    ends=$("$TRAINSHED" query --csv "$folder/run.db" "SELECT group_concat(end_ps, ' ') FROM (SELECT end_ps FROM collective ORDER BY grp)" 2>>"$err" | tail -n 1)
    echo "ends: $ends" >>"$out"
    # within a few ps of rounding up
    # shellcheck disable=SC2086 # words
    set -- $ends
    [ "$1" -ge $((alone * 4 / 3)) ] 2>/dev/null && [ "$1" -le $((alone * 4 / 3 + 1000)) ] && [ "$2" -ge $((alone * 2)) ] &&
        [ "$2" -le $((alone * 2 + 1000)) ]
    result $? "$name"
}
weighed "weights: rings of two, step by step" 2 steps all_gather 1000000000 'bytes 200000000'
weighed "weights: rings in a bundle" 8 bundle all_gather 1750000000 'bytes 200000000'
weighed "weights: all-to-alls of 260 ranks, not listed" 260 bundle all_to_all 2590000000 'bytes 260000000'
refused_weight="$folder/w.yaml:8:79: jobs[0].weights: the job has no group \"c\""
sed -i 's/weights: .a: 3./weights: {c: 3}/' "$folder/w.yaml"
"$TRAINSHED" run "$folder/w.yaml" -q -o "$folder/no.db" >"$out" 2>"$err"
[ $? -eq 2 ] && [ "$(cat "$err")" = "trainshed: $refused_weight" ]
result $? "a weight of a group that is not there"

# generate: the same text from a scenario's job and from a file of its keys; it runs like the description.
"$TRAINSHED" trace generate "$folder/two.yaml" -o "$folder/a.program" >"$out" 2>"$err" &&
    printf 'model: {preset: llama-3-8b, layers: 4, sequence: 2048}\nlayout: {tp: 4, dp: 4, pp: 2}\nglobal_batch: 16\nfused_attention: true\n' >"$folder/alone.yaml" &&
    "$TRAINSHED" trace generate "$folder/alone.yaml" -o "$folder/b.program" >>"$out" 2>>"$err" &&
    cmp "$folder/a.program" "$folder/b.program" >>"$out" 2>&1
result $? "trace generate of a scenario's job and of its keys alone"
"$TRAINSHED" trace check "$folder/a.program" >"$out" 2>"$err" && grep -q '^program: 32 ranks, no problems$' "$out"
result $? "what it writes is read again"
"$TRAINSHED" trace generate "$folder/alone.yaml" --set layout.dp=8 >"$out" 2>"$err" && grep -q '^ranks  *64$' "$out"
result $? "without -o it is told; --set changes a value"

# refused MESSAGE ARGUMENT...: of trace generate, exit 2 with this message behind the file's name.
refused() {
    message=$1
    shift
    "$TRAINSHED" trace generate "$folder/two.yaml" "$@" >"$out" 2>"$err"
    [ $? -eq 2 ] && [ "$(cat "$err")" = "trainshed: $folder/two.yaml$message" ]
    result $? "refused: $*"
}
refused ':12:13: jobs[0].layout: tp 4 x cp 1 x dp 4 x pp 2 is 32 ranks, but gpus is 64' --set 'jobs[0].gpus=64'
refused ': --set: jobs[0].layout.tp: found 0, expected 1 to 16777216' --set 'jobs[0].layout.tp=0'
refused ': --set: jobs[0].layout: model llama-3-8b: tp 3 does not divide the heads, 32' --set 'jobs[0].layout={tp: 3}'
refused ':12:13: jobs[0].layout: global_batch 18 does not divide by dp 4 x micro_batch 1' --set 'jobs[0].global_batch=18'
refused ': --set: jobs[0].model: there is no model "llama-3-405"; did you mean "llama-3-405b"' --set 'jobs[0].model=llama-3-405'
refused ': --set: jobs[0].model: model model: vocabulary is 0, expected 1 to 16777216' --set 'jobs[0].model={layers: 4, hidden: 64, heads: 4}'
refused ': --set: jobs[0].schedule: found "2f2b", expected one of gpipe, 1f1b, interleaved, zb-h1, zb-h2; did you mean "1f1b"?' --set 'jobs[0].schedule=2f2b'
refused ': --set: jobs[0].layout: expert_tp 1 with tp 4 needs sequence_parallel: each rank routes its own tokens' --set 'jobs[0].layout={tp: 4, ep: 8, dp: 4, expert_tp: 1}'
refused ': --set: jobs[0].layout: tp 4 does not divide ep 6, which counts its ranks with expert_tp 1' --set 'jobs[0].layout={tp: 4, ep: 6, dp: 6, expert_tp: 1, sequence_parallel: true}'
refused ': --set: jobs[0].layout: expert_tp is 2, expected 1 or tp, 4' --set 'jobs[0].layout={tp: 4, ep: 4, dp: 4, expert_tp: 2}'
refused ': --set: jobs[0].model.times.mlp: found 2 times, expected 3: forward, input gradient, weight gradient' --set 'jobs[0].model={preset: llama-3-8b, times: {mlp: [1 us, 1 us]}}'
refused ': --set: jobs[0].layout: cp 4 with cp_exchange ulysses does not divide the 2 KV heads of a rank' --set 'jobs[0].layout={tp: 4, cp: 4, dp: 2, cp_exchange: ulysses}'
refused ': there is no job "beta"' --job beta
"$TRAINSHED" trace generate "$folder/two.yaml" --check-memory '80 GiB' >"$out" 2>"$err" && [ "$(grep -c '^ *[01] ' "$out")" -eq 2 ]
result $? "--check-memory tells what each of two stages holds"
"$TRAINSHED" trace generate "$folder/two.yaml" --check-memory '4 GiB' >"$out" 2>"$err"
[ $? -eq 2 ] && grep -q ' (stage 1) needs 5.9 GiB of memory, a GPU has 4.0; in GiB: weights ' "$err" && grep -q '; what would fit: \|; no single change' "$err"
result $? "what 4 GiB cannot hold is refused"
"$TRAINSHED" trace generate "$folder/two.yaml" --check-memory 80 >"$out" 2>"$err"
[ $? -eq 2 ] && grep -q '^trainshed: trace generate: --check-memory: size "80" has no unit' "$err"
result $? "a size without a unit is refused"
"$TRAINSHED" run "$folder/two.yaml" --set 'fabric.generate.server.gpu.memory=4 GiB' -q -o "$folder/x.db" >"$out" 2>"$err"
[ $? -eq 2 ] && grep -q 'jobs\[0\]: rank 16 (stage 1) needs ' "$err" && [ ! -e "$folder/x.db" ]
result $? "a run of what does not fit is refused"
refused ': --set: jobs[0].trace: model is given too; a job has one of them' --set 'jobs[0].trace=[a]'
echo "1..$n"
exit $failed
