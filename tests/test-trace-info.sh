#!/bin/bash
# test-trace-info.sh - trainshed trace info of a file of every format: the whole output, and its numbers counted again
# from the files by other means or taken from the READMEs of ../shared/data. TAP.
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
        sed 's/^/# /' "$work/difference"
    fi
}

# golden NAME ARGUMENT...: `trace info` says what tests/data/trace-info/NAME.txt says. Folders are taken off.
golden()
{
    local name=$1
    shift
    "$TRAINSHED" trace info "$@" 2>&1 | sed -E "s:(^|[ ,\"])[^ ,\"]*/([^/ ,\"]+):\1\2:g; s/ +\$//" >"$work/$name.txt"
    diff "tests/data/trace-info/$name.txt" "$work/$name.txt" >"$work/difference"
    ok $? "info of $name is as it was"
}

# says NAME LINE...: each of these lines is in the output, blanks being one.
says()
{
    local name=$1 line bad=0
    shift
    : >"$work/difference"
    for line in "$@"; do
        sed -E 's/ +/ /g; s/^ //' "$work/$name.txt" | grep -qxF -- "$line" || {
            echo "no line: $line" >>"$work/difference"
            bad=1
        }
    done
    ok $bad "info of $name has the numbers of its source"
}

skip()
{
    echo "ok $((number += 1)) - $1 # SKIP ../shared is absent"
}

# In the tree. The times of the DLRM step are those of arXiv 2310.02784: 18.01 ms and 47.67 ms of 54 ms.
golden program traces/dlrm-two-streams.program
says program "time span of a rank 54 ms" "computing 33.4 %" "communicating 88.3 %" "missing: nothing"
golden chakra 'traces/llama/llama.*.et' --groups traces/llama/llama.json
says chakra "ranks 8" "missing: recorded times of 2032 of 2032 compute ops: the GPU's rates give them"
# ../shared/data/kineto/README.md: 245 kernels of 6832 us, 8 of NCCL of 5798 us, from 1694128201426674 to ...41178 us;
# all-to-all of 192 B, all-reduces of 1576964, 448 and 907840 B.
golden kineto 'traces/dlrm-w8/dlrm-w8-kineto-rank*.json.gz' --execution-trace 'traces/dlrm-w8/dlrm-w8-et-rank*.json.gz'
says kineto "dlrm-w8-kineto-rank0.json.gz 0 8 3290 245 6.832 ms 8 5.798 ms 0 261 of 525 13 1 14.5 ms 7.1 % 40.0 %" \
    "all_to_all 8 192 8 $(awk '/^all_to_all +8 +192 / { print $5 }' "$work/kineto.txt")" \
    "all_reduce 8 1576964 8 $(awk '/^all_reduce +8 +1576964 / { print $5 }' "$work/kineto.txt")"
cat >"$work/two.csv" <<'END'
name,forward_time,backward_time,parameters
a,1 us,2 us,1000
b,3 us,4 us,500
END
# 10 us of computing; gradients of 2 B a parameter.
golden layers "$work/two.csv" --ranks 4
says layers "time span of a rank 10 us" "computing 100.0 %" "all_reduce 2 3000 1 -" \
    "missing: recorded times of 8 of 8 collective ops: the network gives them"
# None of the real files in JSON says which collectives it has; here one rank computes 2 us, then all-reduces 4 KiB.
cat >"$work/one.0.json" <<'END'
{"workload_graph": [{"Id": 1, "Name": "f", "NodeType": 4, "runtime": 2},
{"Id": 2, "Name": "r", "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 4096}]}
END
golden chakra-json "$work/one.0.json" --replicate 2
says chakra-json "time span of a rank 2 us" "computing 100.0 %" "all_reduce 2 4096 2 all" \
    "missing: recorded times of 2 of 2 collective ops: the network gives them"

if [ -r "$SHARED/data/nsys/README.md" ]; then
    data=$SHARED/data
    # README: 1721 kernels a device, 44829522 ns of both; copies in: 450 of 50950507584 B, within: 450 of 59368472576 B
    gunzip -c "$data/nsys/h100_2gpu_1s.sqlite.gz" >"$work/h100.sqlite"
    golden nsys "$work/h100.sqlite"
    says nsys "compute 1721 1721 3442 22.41 ms" "h100.sqlite, process 111, device 0 Memcpy HtoD 225 25475253792" \
        "h100.sqlite, process 112, device 1 Memcpy DtoD 225 29684236288" "ranks 2"
    # Where sizes are absent, the file is told and the reason why it cannot be replayed.
    gunzip -c "$data/nsys/mfu_2gpu_before.sqlite.gz" >"$work/mfu.sqlite"
    golden nsys-sizes "$work/mfu.sqlite"
    # A rank of two: what it holds by itself (README: 2700 kernels of 162532 us, 21 of NCCL of 46876.5 us, 3 steps).
    golden kineto-one "$data/kineto/hta-nccl-ddp-w2-rank0.json.gz"
    says kineto-one "hta-nccl-ddp-w2-rank0.json.gz 0 2 40573 2700 162.5 ms 21 46.88 ms 0 4317 of 9283 27 3 684.4 ms \
16.9 % 6.8 %"
    # A ring all-reduce of 1 MiB over 16 ranks: 30 sends of 64 KiB a rank.
    golden goal "$data/goal/schedgen_allreduce_ring_16r_1MiB.goal"
    says goal "ranks 16" "send 30 30 480 -" "sent point to point, all ranks: 30 MiB"
    # README of mpi/: 2266760717150 operations computed, 288 bcast, 192 allreduce, 512 barrier of 32 ranks
    golden simgrid-ti "$data/mpi/smpi-ti-32/ti_trace*.txt"
    # README of mpi/: 1440 sends, 32 all-reduces, 4 broadcasts, 3 barriers of 4 ranks
    golden liballprof "$data/mpi/liballprof-sweep3d-4/rank*.txt.gz"
    says liballprof "ranks 4" "send 1440 1440 5760 -" "all_reduce 32 208 1 -" "broadcast 4 116 1 -" "barrier 3 0 1 -"
    # README of mpi/: 8 sends and receives of 2 ranks, 8355840 B
    if "$TRAINSHED" trace formats | grep -q '^otf2 .*left out'; then
        skip "info of otf2, which this build has not"
    else
        golden otf2 "$data/mpi/otf2-pingpong-2/traces.otf2"
        says otf2 "ranks 2" "send 8 8 16 -" "recv 8 8 16 -" "sent point to point, all ranks: 7.969 MiB"
    fi
    # 15 connections of 2,000,000 B.
    golden htsim "$data/htsim/csg_incast.cm"
    says htsim "ranks 16" "send 0 1 15 -" "sent point to point, all ranks: 28.61 MiB"
    # Times and sizes of the rows, added by awk: computing is columns 3, 6 and 9, gradients column 11.
    rows=$data/chakra/astra-sim/text-workloads/Resnet50_DataParallel.txt
    golden astra-sim "$rows" --ranks 8
    bytes=$(awk 'NR > 2 && $10 == "ALLREDUCE" { s += $11; n++ } END { print n, s }' "$rows")
    says astra-sim "all_reduce $bytes 1 -"
    rows=$data/simai/simai_microAllReduce.txt
    golden simai "$rows"
    bytes=$(awk 'NR > 2 { for (i = 4; i <= 10; i += 3) if ($i == "ALLREDUCE") { s += $(i + 1); n++ } }
        END { print n, s }' "$rows")
    says simai "ranks 8" "all_reduce $bytes 1 -"
    golden chakra-all-reduce "$data/chakra/astra-sim/microbenchmarks/all_reduce-8npus_1MB/all_reduce.*.et"
    says chakra-all-reduce "ranks 8" "all_reduce 1 1048576 1 -" "all_reduce 8 1048576 8 all"
    # numprocs=4 of the .meta
    golden dumpi "$data/mpi/dumpi-alltoall-4/dumpi-2019.05.22.11.54.43.meta"
    says dumpi "ranks: 4"
else
    for name in nsys kineto goal simgrid-ti liballprof otf2 htsim astra-sim simai chakra-all-reduce dumpi; do
        skip "info of $name"
    done
fi

# A format that is not here has no golden output.
for format in $("$TRAINSHED" trace formats | awk 'NR > 1 && NF == 0 { exit } NR > 1 { print $1 }'); do
    [ -r "tests/data/trace-info/$format.txt" ] || echo "$format"
done >"$work/difference"
[ ! -s "$work/difference" ]
ok $? "every format is here"
echo "1..$number"
