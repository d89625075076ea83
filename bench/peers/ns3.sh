#!/bin/bash
# ns3.sh - ns-3 (Debian's) and our packet model on the same permutation of 64 hosts, run by run in turn
#
#   bench/peers/ns3.sh [--quick] [BUILD]     BUILD: of this tree, default build; --quick: once
#
# bench/peers/packet writes down the tree and the flows; ns3.cc sends them as UDP in ns-3, bench/peers/packet with a
# window of a whole flow in ours. Compared are packet-hops (a packet, data or control, leaves a port) a second of CPU,
# of the run alone without set-up (getrusage, inside), medians of 5: ours has ACKs, UDP none; the ratio by data packets
# alone is printed beside. One JSON line, then a table. Exit 1: the bar of 50 x is missed; 2: not measured.
. "$(dirname "$0")/common.sh"
bar=50
bytes=2048000 # a whole number of packets of 4096 bytes
need g++ libns3-dev
make_ours bench/peers/packet
${CXX:-g++} -O2 -std=c++17 -o "$work/ns3" "$tree/bench/peers/ns3.cc" -lns3-applications -lns3-point-to-point \
    -lns3-internet -lns3-network -lns3-core || give_up "cannot compile ns3.cc"
"$build/bench/peers/packet" $bytes "$work/plan"
for ((i = 0; i < runs; i++)); do
    "$work/ns3" "$work/plan" >>"$work/theirs" || give_up "ns-3 failed"
    "$build/bench/peers/packet" $bytes >>"$work/ours"
done

# last NAME FILE: of the last run; all are alike
last() {
    field "$1" <"$work/$2" | tail -n 1
}

awk -v their_s="$(field cpu_s <"$work/theirs" | median)" -v our_s="$(field cpu_s <"$work/ours" | median)" \
    -v their_data="$(last data_hops theirs)" -v our_data="$(last data_hops ours)" \
    -v our_control="$(last control_hops ours)" -v their_end="$(last simulated_us theirs)" \
    -v our_end="$(last simulated_us ours)" -v their_MiB="$(last peak_MiB theirs)" -v our_MiB="$(last peak_MiB ours)" \
    -v runs="$runs" -v bytes="$bytes" -v bar="$bar" -v machine="$(machine "ns-3 $(package_version libns3-dev)")" '
    BEGIN {
        theirs = their_data / their_s / 1e6
        ours = (our_data + our_control) / our_s / 1e6
        met = ours / theirs >= bar
        printf "{\"bench\": \"peers/ns3\", \"case\": \"permutation\", \"hosts\": 64, \"bytes\": %d, \"mtu_B\": 4096, " \
            "\"rate\": \"100 Gb/s\", \"latency\": \"1 us\", \"runs\": %d, \"ns3_cpu_s\": %.6f, \"trainshed_cpu_s\": %.6f, " \
            "\"ns3_Mhops_per_s\": %.4f, \"trainshed_Mhops_per_s\": %.3f, \"ratio\": %.1f, \"ratio_data\": %.1f, " \
            "\"bar\": %d, \"met\": %s}\n\n%s\n", bytes, runs, their_s, our_s, theirs, ours, ours / theirs,
            our_data / our_s / 1e6 / theirs, bar, met ? "true" : "false", machine
        form = "%-10s %10s %13s %9s %14s %16s %9s\n"
        printf form, "", "data hops", "control hops", "CPU s", "M hops/CPU s", "simulated us", "peak MiB"
        printf form, "ns-3", their_data, 0, their_s, sprintf("%.3f", theirs), their_end, their_MiB
        printf form, "Trainshed", our_data, our_control, our_s, sprintf("%.3f", ours), our_end, our_MiB
        printf "%.1f x, by data packets alone %.1f x; bar %d x%s\n", ours / theirs, our_data / our_s / 1e6 / theirs, bar,
            met ? "" : "  MISSED"
        exit !met
    }'
