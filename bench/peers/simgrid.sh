#!/bin/bash
# simgrid.sh - SimGrid (Debian's) and our fluid model on the same transfers, run by run in turn
#
#   bench/peers/simgrid.sh [--quick] [BUILD]     BUILD: of this tree, default build; --quick: once each, short cases only
#
# bench/peers/fluid writes down each case's transfers with their links; simgrid.cpp runs them in SimGrid and
# bench/peers/fluid in ours. Compared are CPU seconds of the measured work without set-up (getrusage, inside), medians
# of 5; and the simulated ends, which must agree within 1 %. One JSON line a case, then a table. A case that SimGrid
# does not end in 10 minutes is not compared. Exit 1: a bar is missed or the ends differ; 2: not measured.
. "$(dirname "$0")/common.sh"
need g++ libsimgrid-dev
make_ours bench/peers/fluid
${CXX:-g++} -O2 -std=c++17 -o "$work/simgrid" "$tree/bench/peers/simgrid.cpp" -lsimgrid ||
    give_up "cannot compile simgrid.cpp"
failed=0
printf '%-16s %6s %7s %12s %14s %14s %9s %5s %10s\n' case hosts flows "" 'SimGrid ms' 'Trainshed ms' ratio bar 'ends differ' \
    >"$work/table"

# bench CASE HOSTS FLOWS COMPLETIONS UNITS UNIT RUNS BAR OPTIM: UNITS is how many UNITs the measured work is, BAR the
# least ratio, OPTIM SimGrid's way to keep its system of shares (see README.md)
bench() {
    local name=$1 hosts=$2 flows=$3 units=$5 unit=$6 times=$7 bar=$8 optim=$9 i status
    local arguments=("$name" "$hosts" "$flows" "$4")
    [ "$times" -le "$runs" ] || times=$runs
    "$build/bench/peers/fluid" "${arguments[@]}" "$work/plan"
    : >"$work/theirs"
    : >"$work/ours"
    for ((i = 0; i < times; i++)); do
        status=0
        timeout 600 "$work/simgrid" "$work/plan" "--cfg=network/optim:$optim" >>"$work/theirs" 2>"$work/errors" ||
            status=$?
        if [ $status = 124 ]; then
            echo "$script: $name, $hosts hosts: SimGrid has not ended in 10 minutes" >&2
            return
        elif [ $status != 0 ]; then
            tail -n 5 "$work/errors" >&2
            give_up "$name, $hosts hosts: SimGrid failed"
        fi
        "$build/bench/peers/fluid" "${arguments[@]}" >>"$work/ours"
    done
    awk -v theirs="$(field cpu_s <"$work/theirs" | median)" -v ours="$(field cpu_s <"$work/ours" | median)" \
        -v their_end="$(field simulated_us <"$work/theirs" | tail -n 1)" \
        -v our_end="$(field simulated_us <"$work/ours" | tail -n 1)" -v their_MiB="$(field peak_MiB <"$work/theirs" | median)" \
        -v our_MiB="$(field peak_MiB <"$work/ours" | median)" -v flows="$(field flows <"$work/ours" | tail -n 1)" \
        -v routing="$(field routing <"$work/ours" | tail -n 1)" -v name="$name" -v hosts="$hosts" -v units="$units" \
        -v unit="$unit" -v times="$times" -v bar="$bar" -v optim="$optim" -v table="$work/table" '
        BEGIN {
            ratio = ours > 0 ? theirs / ours : 1e9
            off = (their_end - our_end) / our_end
            met = ratio >= bar && off <= 0.01 && off >= -0.01
            printf "{\"bench\": \"peers/simgrid\", \"case\": \"%s\", \"hosts\": %d, \"flows\": %d, \"routing\": \"%s\", " \
                "\"rate\": \"50 GB/s\", \"latency\": \"500 ns\", \"unit\": \"%s\", \"units\": %d, \"runs\": %d, " \
                "\"simgrid_optim\": \"%s\", \"simgrid_cpu_s\": %.6f, \"trainshed_cpu_s\": %.6f, \"ratio\": %.1f, " \
                "\"bar\": %g, \"simgrid_end_us\": %.3f, \"trainshed_end_us\": %.3f, \"simgrid_peak_MiB\": %d, " \
                "\"trainshed_peak_MiB\": %d, \"met\": %s}\n", name, hosts, flows, routing, unit, units, times, optim, theirs,
                ours, ratio, bar, their_end, our_end, their_MiB, our_MiB, met ? "true" : "false"
            printf "%-16s %6d %7d %12s %14.4f %14.4f %8.1fx %4gx %+9.2f %%%s\n", name, hosts, flows, unit,
                theirs / units * 1e3, ours / units * 1e3, ratio, bar, off * 100, met ? "" : "  MISSED" >>table
            exit !met
        }' || failed=1
}

#     case          hosts flows ends  units unit     runs bar optim
bench random         1024  1024 1000   1000 completion  5  10 Full
bench random         1024  4096  200    200 completion  5  15 Full
bench random         1024 16384   60     60 completion  5  25 Full
[ $quick = yes ] ||
    bench random     1024 65536   50     50 completion  5  50 Full
bench ring             64     0 6400    100 step        5   1 Lazy
bench ring           1024     0 10240    10 step        5   1 Lazy
bench ring           4096     0 40960    10 step        5   1 Lazy
bench all-gather       64     0 4032     63 step        5   1 Lazy
[ $quick = yes ] ||
    bench all-gather 1024     0 1047552 1023 step       5  15 Lazy
bench alltoall        256     0    0      1 whole       5   1 Full
bench alltoall-phase  256     0    0      1 whole       5  15 Full
bench alltoall-sized   64     0    0      1 whole       5   1 Full
echo
machine "SimGrid $(package_version libsimgrid-dev)"
cat "$work/table"
exit $failed
