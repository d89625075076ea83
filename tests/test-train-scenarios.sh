#!/bin/sh
# test-train-scenarios.sh - the scenarios of described training jobs, at a size of seconds, with what they show
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

# run SCENARIO ARGUMENT...: the mean iteration in ps, into $length.
run() {
    scenario=$SRCDIR/scenarios/$1
    shift
    rm -f "$folder/run.db"
    "$TRAINSHED" run "$scenario" -q -o "$folder/run.db" "$@" >"$out" 2>"$err"
    length=$(query "SELECT CAST(shared_ps AS INTEGER) FROM v_job")
    echo "length: $length" >>"$out"
}

query() {
    "$TRAINSHED" query --csv "$folder/run.db" "$1" 2>>"$err" | tail -n 1
}

# equal FOUND EXPECTED NAME
equal() {
    [ "$1" = "$2" ]
    status=$?
    [ $status -eq 0 ] || echo "found $1, expected $2" >>"$out"
    result $status "$3"
}

# A way over the cut in an iteration: what the scenario's comment reckons.
routed=$((64 * 8 * 8 * 4 * (4096 / 2 * 2 * 4096 * 2) / 2))
experts=$((2 * 32 * 8 * 3 * 4096 * 14336))
dense=$((2 * (2 * 32000 * 4096 + 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024) + 2 * (32 * (2 * 4096 + 4096 * 8) + 4096))))
set -- $((128 * 4096 * 4096 * 2)) $((experts + 2 * dense * 15 / 16)) $((routed + 2 * 2 * dense * 15 / 16))
which=two-buildings-which-axis-crosses.yaml
lengths=
for axis in pp dp ep; do
    run $which --set "jobs[0].placement.map[0].axis=$axis" --set 'fabric.generate.cuts[0].oversubscription=16'
    lengths="$lengths $length"
    bytes=$(query "SELECT group_concat(b, ' ') FROM (SELECT sum(bytes) / 2 AS b FROM link_usage JOIN link ON link.id = link_id
        WHERE kind = 'interbuilding' AND src_building <> '' GROUP BY src_building)")
    equal "$bytes" "$1 $1" "$axis over the cut: $1 bytes a way"
    shift
done
# Golden: printed by this program once the bytes above, the bubble (tests/test-train.sh) and the order had been checked.
equal "$lengths" " 713937022896 1018437271232 1643330686444" "at 1:16: pp before dp before ep"
run $which --set 'jobs[0].placement.map[0].axis=ep'
near=$length
run $which --set 'jobs[0].placement.map[0].axis=ep' --set 'fabric.generate.cuts[0].length=1000 km'
# 999 km of fibre are 4.995 ms a way: two ways a layer forward, two backward, in 8 layers a stage, for 8 micro-batches and
# the 3 that fill and drain: 11 x 8 x 4 x 4.995 = 1,758 ms on top; rings of dense gradients and stages add and hide some.
[ "$length" -gt $((near + 1700000000000)) ] && [ "$length" -lt $((near + 1800000000000)) ]
result $? "ep over 1,000 km: the distance four times a layer and micro-batch"

llama=llama3-405b-16k.yaml
small='--set fabric.generate.zone.servers=16 --set fabric.generate.buildings[0].zones=2 --set jobs[0].layout.dp=2'
# shellcheck disable=SC2086 # words
run $llama $small --set 'jobs[0].global_batch=32'
equal "$length" "3926161400902" "llama3-405b-16k, two replicas: golden iteration"
# Gradients and parameters over the cut of pods: two replicas, one a pod: half of 405,853,388,800 x 2 bytes each, as
# reduce-scatter and all-gather, and the norms (2 x 126 + 1 of 16,384) on all 8 ranks of tp.
bytes=$(query "SELECT sum(bytes) / 2 FROM link_usage JOIN link ON link.id = link_id JOIN node AS s ON s.id = link.src
    JOIN node AS d ON d.id = link.dst WHERE s.zone = '0' AND d.zone IS NULL")
equal "$bytes" "$((2 * (405853388800 + 7 * 253 * 16384)))" "dp over the cut of pods"
echo "1..$n"
exit $failed
