#!/bin/sh
# test-collective-command.sh - 'trainshed collective' as its user runs it: times worked out by hand, messages, exit status
n=0
dumbbell=$SRCDIR/topologies/dumbbell.graphml
servers=$SRCDIR/topologies/two-buildings.yaml
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# is NAME WANT GOT
is() {
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf 'want: %s\ngot: %s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

# collective ARGUMENTS: rows, runs of blanks as one, in $work/out, messages in $work/err, status in $status
collective() {
    "$TRAINSHED" collective "$@" >"$work/raw" 2>"$work/err"
    status=$?
    sed 's/  */ /g; s/^ //' "$work/raw" >"$work/out"
}

# gives NAME ROWS ARGUMENTS: exit 0 and these rows below the head
gives() {
    name=$1 rows=$2
    shift 2
    collective "$@"
    is "$name" "0 $rows" "$status $(sed 1,2d "$work/out")$(cat "$work/err")"
}

# refused NAME MESSAGE ARGUMENTS: exit 2, one message, nothing on standard output
refused() {
    name=$1 message=$2
    shift 2
    collective "$@"
    is "$name" "2 trainshed: $message" "$status $(cat "$work/err")$(cat "$work/out")"
}

# Two pairs of hosts, 1.25 GB/s, hops of 2 and 3 us in turn. A chunk of 1.25 MB takes 1 ms; 6 steps, 6 hops of 15 us in all.
gives 'a ring of hosts over a cable' '5000000 6015.000 0.831 1.247 ring' \
    all_reduce --fabric "$dumbbell" --bytes 5MB --slice none
is 'what was timed' '# all_reduce of 4 ranks, fluid, steps, ecmp; GB is 1e9 bytes' "$(head -n 1 "$work/out")"
is 'columns as of nccl-tests' 'size(B) time(us) algbw(GB/s) busbw(GB/s) algorithm' "$(sed -n 2p "$work/out")"
gives 'the same as one bundle' '5000000 6015.000 0.831 1.247 ring' \
    all_reduce --fabric "$dumbbell" --bytes 5MB --slice none --grain bundle
# 4 of 12 messages cross each way: 5 MB over 1.25 GB/s, and 3 us.
gives 'an all-to-all waits for the cable' '5000000 4003.000 1.249 0.937 direct' all_to_all -f "$dumbbell" -b 5MB
# Without contention each has 1.25 GB/s: 1 ms and 3 us.
gives 'but not where there is no contention' '5000000 1003.000 4.985 3.739 direct' \
    all_to_all -f "$dumbbell" -b 5MB --model analytic
# 2 -> 0 in 1003 us, 0 -> 1 in 1002 us.
gives 'a broadcast from rank 2' '1250000 2005.000 0.623 0.623 binomial' broadcast -f "$dumbbell" -b 1250kB --root 2
# 1 -> 0 2 us, 2 -> 0 3 us, 0 -> 2 3 us, 2 -> 3 2 us.
gives 'a barrier has no bytes' '0 10.000 0.000 0.000 binomial' barrier -f "$dumbbell"
gives 'one rank has nobody to talk to' '1000 0.000 0.000 0.000 none' all_reduce -f "$dumbbell" -r 1 -b 1000B

# 8 GPUs on an NVSwitch, 450 GB/s and 0.6 us a hop: 7 (0.6 + 1 MiB / 450 GB/s) us.
gives 'an all-gather in a server, by a list of ranks' '8388608 20.511 408.977 357.855 ring' \
    all_gather -f "$servers" -r 0-3,4,5-7 -b 8MiB --slice none
collective all_reduce -f "$servers" -r 8 -b 1KiB:1MiB:x32
is 'sizes in a series' '0 1024 32768 1048576' "$status $(sed 1,2d "$work/out" | cut -d' ' -f1 | tr '\n' ' ' | sed 's/ $//')"
# Two servers, 8 NICs of 50 GB/s: in hierarchical 14/8 S / 450 GB/s + S/8 / 50 GB/s, and latencies of 14 x 0.6 + 2 x 1.2 us.
gives 'hierarchical over two servers' '450000000 2885.800 155.936 292.380 hierarchical' \
    all_reduce -f "$servers" -r 16 -b 450MB -a hierarchical --slice none
collective all_reduce -f "$servers" -r 16 -b 64MiB
cp "$work/out" "$work/first"
collective all_reduce -f "$servers" -r 16 -b 64MiB
is 'twice the same' '' "$(diff "$work/first" "$work/out")"

refused 'no fabric' 'collective: on which fabric? Give --fabric FILE' all_reduce
refused 'an unknown collective' "there is no collective \"allreduce\"; did you mean \"all_reduce\"?; known are: all_reduce, \
all_gather, reduce_scatter, all_to_all, broadcast, reduce, barrier" allreduce -f "$dumbbell"
refused 'an unknown algorithm' 'there is no algorithm "rng"; did you mean "ring"?' all_reduce -f "$dumbbell" -b 1kB -a rng
refused 'an algorithm that cannot' \
    'algorithm "pairwise" is not for broadcast; those for it are: auto, binomial, chain, direct' \
    broadcast -f "$dumbbell" -b 1kB -a pairwise
refused 'an unknown grain' 'there is no grain "step"; did you mean "steps"?; known are: steps, bundle' \
    all_reduce -f "$dumbbell" -g step
refused 'sizes without a unit' '--bytes: size "1024" has no unit; write for example "1024 MiB"' all_reduce -f "$dumbbell" -b 1024
refused 'no series' '--bytes "1KiB:1MiB" is no size and no series of sizes; write for example "1GiB" or "1KiB:8GiB:x2"' \
    all_reduce -f "$dumbbell" -b 1KiB:1MiB
refused 'a series that falls' '--bytes "2KiB:1KiB:x2": a series rises from above 0; write for example "1GiB" or "1KiB:8GiB:x2"' \
    all_reduce -f "$dumbbell" -b 2KiB:1KiB:x2
refused 'a rank that is not there' '--ranks "0-4": GPU 4 is not there, the fabric has 4 (from 0)' all_reduce -f "$dumbbell" -r 0-4
refused 'more ranks than there are' '--ranks 5: the fabric has 4 GPUs' all_reduce -f "$dumbbell" -r 5
refused 'a rank twice' '--ranks "0-2,1": GPU 1 is named twice' all_reduce -f "$dumbbell" -r 0-2,1
refused 'ranks that are no list' \
    '--ranks "0-" is no list of GPUs; write for example "all", "8" (the first 8) or "0-3,8-11"' all_reduce -f "$dumbbell" -r 0-
refused 'a root that is no rank' '--root 4: ranks are 0 to 3' broadcast -f "$dumbbell" --root 4
refused 'a model that moves nothing' 'model "recorded" moves no bytes; a collective'\''s time alone needs one that does' \
    all_reduce -f "$dumbbell" -b 1kB -m recorded
refused 'unequal servers' \
    'hierarchical needs the same number of ranks in each server: the server of rank 0 has 8, that of rank 8 4' \
    all_reduce -f "$servers" -r 12 -b 1kB -a hierarchical
refused 'a routing that is none' '--routing "random" is not known; one of ecmp, spray, adaptive, dmodk' \
    all_reduce -f "$dumbbell" --routing random
collective all_reduce -f "$work/absent.graphml"
is 'a file that is not there' '2 0' "$status $(wc -l <"$work/out" | tr -d ' ')"

# 1.75 x bytes / (360 x 2^30 B/s); SimAI prints 76 and 304 us (../shared/data/peers/README.md)
gives "SimAI's arithmetic" '16777216 75.955
67108864 303.819' all_reduce --as simai -r 8 --busbw '360 GiB/s' -b 16MiB:64MiB:x4
refused 'a peer that is not known' '--as "simia" is not known; known are: astra-sim, simai' all_reduce --as simia
refused 'SimAI without busbw' \
    "--as simai needs the bus bandwidth: give --busbw, such as --busbw '360 GiB/s'" all_reduce --as simai -r 8
refused 'busbw without a peer' '--busbw is for --as' all_reduce -f "$dumbbell" --busbw 1GB/s
refused 'ASTRA-sim without a system' '--as astra-sim needs its system file: give --system FILE.json' \
    all_reduce -f "$dumbbell" --as astra-sim

echo "1..$n"
