#!/bin/bash
# htsim.sh - CPU time of whole runs on the connection matrices that SPEED.md times other simulators on
#
#   bench/htsim.sh [BUILD]     BUILD: the folder of the program, default build
#
# Each case is imported and run RUNS times by 'trainshed run --record iterations' on the packet model (fixed window,
# sprayed packets) and on the fluid model. One JSON line a case and model: tree, rate, latency, flows, bytes, simulated
# end, CPU seconds of the process (user and system, median), and those of the peer on the reference machine.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
program=$(cd "${1:-$tree/build}" && pwd)/trainshed
data=${SHARED:-$tree/../shared}/data
runs=${RUNS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# once MODEL: CPU seconds of one run of $work/x.yaml
once() {
    rm -f "$work/x.db"
    { time "$program" run "$work/x.yaml" -q --model "$1" --record iterations -o "$work/x.db"; } 2>&1 |
        awk '{ print $1 + $2 }'
}

# bench NAME FILE TREE GBPS PEER PEER_CPU_S: on this tree with all links at that rate
bench() {
    local name=$1 file=$2 topo=$3 gbps=$4 peer=$5 peer_s=$6 model
    sed "s/^Downlink_speed_Gbps .*/Downlink_speed_Gbps $gbps/" "$data/htsim/$topo" >"$work/x.topo"
    "$program" import htsim "$data/$file" --topology "$work/x.topo" -o "$work/x.yaml" >/dev/null
    read -r flows bytes <<<"$(zcat -f "$data/$file" |
        awk '/^[0-9]+->/ { for (i = 2; i < NF; i++) if ($i == "size") s += $(i + 1); c++ } END { printf "%d %.0f", c, s }')"
    for model in packet fluid; do
        cpu=$(for ((i = 0; i < runs; i++)); do once "$model"; done | sort -n | sed -n "$(((runs + 1) / 2))p")
        end=$("$program" query --csv "$work/x.db" 'select max(end_ps) / 1e6 from iteration' | tail -n 1)
        printf '{"case": "%s", "model": "%s", "tree": "%s", "rate": "%s Gb/s", "latency": "1 us", "flows": %s, "bytes": %s, ' \
            "$name" "$model" "$topo" "$gbps" "$flows" "$bytes"
        printf '"end_us": %s, "cpu_s": %s, "runs": %s, "peer": "%s", "peer_cpu_s": %s}\n' "$end" "$cpu" "$runs" \
            "$peer" "$peer_s"
    done
}

small=uet_fat_tree_128_1os.topo
bench permutation-128 peers/htsim/perm_128_2MB.cm $small 100 'htsim EQDS' 0.83
bench permutation-1024 peers/htsim/perm_1024_2MB.cm csg_fat_tree_1024.topo 400 'htsim EQDS' 22.1
bench incast-127-to-1 peers/htsim/incast_127to1_2MB.cm $small 100 'htsim EQDS' 0.60
bench ring-64 peers/htsim/ring_allreduce_64of128_500kB.cm.gz $small 100 'htsim UEC' 5.75
bench all-to-all-128 peers/htsim/a2a_128_par1_62500B.cm.gz $small 100 'htsim EQDS' 87
