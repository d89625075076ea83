#!/bin/sh
# test-import-layers.sh - 'trainshed import astra-sim' and 'import simai' as their user runs them: the scenarios run
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
data=${SHARED:-$SRCDIR/../shared}/data

ok() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$work/out" "$work/err"
    fi
}

import() {
    rm -f "$work/x.yaml" "$work/x.db"
    "$TRAINSHED" import "$@" -o "$work/x.yaml" >"$work/out" 2>"$work/err"
}

# ends SQL: what the run of $work/x.yaml answers to it
ends() {
    "$TRAINSHED" run "$work/x.yaml" -q -o "$work/x.db" >"$work/out" 2>"$work/err" &&
        "$TRAINSHED" query --csv "$work/x.db" "$1" 2>>"$work/err" | tail -n +2
}

refused() {
    name=$1 message=$2
    shift 2
    rm -f "$work/x.yaml"
    "$TRAINSHED" import "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ "$(cat "$work/err")" = "trainshed: $message" ] && [ ! -e "$work/x.yaml" ]
    ok $? "$name"
}

refused "no workload" "import astra-sim: no workload given; see 'trainshed import astra-sim --help'" astra-sim
refused "no output" "import simai: where to? Give -o FILE.yaml" simai x.txt
refused "no network" "import astra-sim: on what? Give --network FILE" astra-sim x.txt -o "$work/x.yaml"

# One all-reduce of 8 x 131072 bytes, a ring of 8: 14 steps of 131072 B at 50 x 2^30 B/s (2441.406250 ns) and 1 us;
# 7 of them reduce 131072 B at 3 / 1600 ns a byte (245.760 ns): 34179.6875 + 14000 + 1720.32 ns.
# Each of the 21 ends at a whole ps, rounded up.
printf 'MICRO\n1\nconv1 -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 1048576 5\n' >"$work/w.txt"
printf 'topology: [ Switch ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\nlatency: [ 500.0 ]\n' >"$work/n.yml"
printf '{"preferred-dataset-splits": 1, "local-mem-bw": 1600, "all-reduce-implementation": ["ring"]}' >"$work/s.json"
import astra-sim "$work/w.txt" --network "$work/n.yml" --system "$work/s.json" &&
    grep -q 'collectives: {all_reduce: ring, reduce_cost: 1.875 ps/B}' "$work/x.yaml"
ok $? "a text workload on network.yml with its system.json becomes a scenario"
end=$(ends 'select max(end_ps) from iteration')
[ "$end" -ge 49900007 ] && [ "$end" -le 49900029 ]
ok $? "which ends when a ring of 8 does: $end ps"

if [ -d "$data" ]; then
    text=$data/chakra/astra-sim/text-workloads peers=$data/peers/astra-sim
    for file in DLRM_HybridParallel MLP_HybridParallel_Data_Model MLP_ModelParallel Resnet50_DataParallel \
        Transformer_HybridParallel microAllToAll sample_per_layer_parallel_HybridCustomized; do
        for net in switch-8 node8-fabric-64 node8-fabric-2bldg-64; do
            import astra-sim "$text/$file.txt" --network "$peers/network/$net.yml" \
                --system "$peers/system/ring-1d-1split.json" && [ "$(ends 'select count(*) > 0 from iteration')" = 1 ]
            ok $? "$file on $net"
        done
    done
    micro=$data/chakra/astra-sim/microbenchmarks/all_reduce-8npus_1MB
    import astra-sim "$micro/*.et" --network "$peers/network/switch-8.yml" &&
        [ "$(ends 'select count(*) > 0 from iteration')" = 1 ]
    ok $? "Chakra traces on switch-8"
    printf 'topology: [ Switch, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 25.0 ]\nlatency: [ 500.0, 500.0 ]\n' \
        >"$work/n2.yml"
    import astra-sim "$micro/*.et" --network "$work/n2.yml" && grep -q ', dimensions: 4x2' "$work/x.yaml" &&
        [ "$(ends 'select count(*) > 0 from iteration')" = 1 ]
    ok $? "Chakra traces on two dimensions, which the scenario names"
    # The trace of one rank: 1 MiB to all 64, as the text workload of the same name has it.
    one=$peers/workload/all_reduce-1048576.et
    refused "one rank's trace on a network of 64" "$one is the trace of one rank, and $peers/network/switch-64.yml has 64; --replicate 64 lets all do what it says" \
        astra-sim "$one" --network "$peers/network/switch-64.yml" -o "$work/x.yaml"
    system=$peers/system/ring-1d-1split.json
    import astra-sim "$text/microAllReduce.txt" --network "$peers/network/switch-64.yml" --system "$system"
    end=$(ends 'select max(end_ps) from iteration')
    import astra-sim "$one" --network "$peers/network/switch-64.yml" --system "$system" --replicate 64
    [ "$end" -gt 0 ] && [ "$(ends 'select max(end_ps) from iteration')" = "$end" ]
    ok $? "one rank's trace, 64 times over, ends as the text workload of it does: $end ps"
    # Llama of symbolic_tensor_graph: operations without times, on the roofline of system.json or as given.
    mkdir "$work/stg" && tar xzf "$data/chakra/stg/llama-dp2-tp2-pp2-8npus.tar.gz" -C "$work/stg"
    refused "operations without a time nor a roofline" "op \"mb0.transformer.0.input_norm.y@0_COMP\" has operations but no time, and there is no system.json with roofline-enabled 1, peak-perf and local-mem-bw; give for example --peak '989 TFLOP/s' --memory-bandwidth '3350 GB/s'" \
        astra-sim "$work/stg/llama.*.et" -g "$work/stg/llama.json" -n "$peers/network/switch-8.yml" -s "$system" -o "$work/x.yaml"
    import astra-sim "$work/stg/llama.*.et" -g "$work/stg/llama.json" -n "$peers/network/switch-8.yml" \
        -s "$peers/system/ring-1d-1split-roofline.json"
    end=$(ends 'select max(end_ps) from iteration')
    import astra-sim "$work/stg/llama.*.et" -g "$work/stg/llama.json" -n "$peers/network/switch-8.yml" \
        -s "$peers/system/ring-1d-1split.json" --peak '989 TFLOP/s' --memory-bandwidth '3350 GB/s'
    sed -i 's/, reduce_cost: [^}]*//' "$work/x.yaml" && end2=$(ends 'select max(end_ps) from iteration') &&
        [ "$end2" -gt 0 ] && [ "$end" -ge "$end2" ]
    ok $? "operations are on the roofline of system.json, or on the one given: $end and, without reductions, $end2 ps"
    import simai "$data/simai/simai_microAllReduce.txt" --topology \
        "$data/simai/topo/gen_Spectrum-X_8g_8gps_400Gbps_H100.txt" && [ "$(ends 'select count(*) > 0 from iteration')" = 1 ]
    ok $? "SimAI's example on its topology"
else
    echo "ok $((n = n + 1)) - real files # SKIP ../shared is absent"
fi
echo "1..$n"
