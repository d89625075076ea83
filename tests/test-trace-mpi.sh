#!/bin/sh
# test-trace-mpi.sh - traces of MPI programs as their users run them: info, check, convert, and a run with times by hand
number=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

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

run()
{
    expected=$1
    shift
    "$TRAINSHED" trace "$@" >"$work/out" 2>"$work/err"
    [ $? -eq "$expected" ]
}

has()
{
    grep -qF -- "$1" "$work/$2"
}

# scenario TRACE: 3 hosts of 1 GFLOP/s on 1 GB/s and no latency, one iteration alone
scenario()
{
    cat >"$work/run.yaml" <<END
name: mpi
seed: 1
fabric:
  generate:
    server: {gpus: 1, gpu: {name: cpu, peak: 1 GFLOP/s}, nics: 1, nic: {rate: 1 GB/s}}
    zone: {servers: 3, network: switch, link: {rate: 1 GB/s, latency: 0 s}}
jobs: [{name: replay, trace: $1, iterations: 1, warmup: 0}]
baseline: false
END
}

# ring.txt: 0 computes 1 s, sends 1 MB (1 ms), computes 1 s, then waits for 2's message. 1 posts its receive at 0,
# computes 1 s, waits 1 ms more, sends 1 ms. 2 computes 2.5 s, begins its send and computes 0.5 s beside it: the end is
# at 3 s. Exposed: 0 sends 1 ms, waits from 2.001 s to 2.5 s, receives 1 ms; 1 receives and sends 1 ms each.
cat >"$work/ring.txt" <<'END'
0 init
1 init
2 init
0 compute 1e9
0 send 1 5 1e6
0 compute 1e9
0 recv 2 7 -1
1 irecv 0 5 1e6
1 compute 1e9
1 wait 0 1 5
1 send 2 6 1e6
2 irecv 1 6 1e6
2 compute 2.5e9
2 wait 1 2 6
2 isend 0 7 1e6
2 compute 5e8
0 finalize
1 finalize
2 finalize
END
scenario ring.txt
"$TRAINSHED" run "$work/run.yaml" -q -o "$work/run.db" >"$work/out" 2>"$work/err" &&
    "$TRAINSHED" query --csv "$work/run.db" iterations >"$work/out" 2>>"$work/err" &&
    has "replay,0,0,3000000000000,3000000000000,2000000000000,166333333333,1333333333," out
ok $? "a time-independent trace runs as worked out by hand"

run 0 check "$work/ring.txt" && has "simgrid-ti: 3 ranks, no problems" out &&
    has "note: computes 6000000000 operations in all: the job's or the node's peak says how fast" out
ok $? "check says that operations need a peak"

run 0 convert "$work/ring.txt" -o "$work/ring.program" && run 0 info "$work/ring.program" &&
    grep -qE '^compute +1 +2 +5 ' "$work/out" && grep -qE '^send +1 +1 +3 ' "$work/out"
ok $? "it is written as a program"

sed 's/ peak: 1 GFLOP.s/ memory: 1 GB/' "$work/run.yaml" >"$work/bare.yaml"
"$TRAINSHED" run "$work/bare.yaml" -q -o "$work/bare.db" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && has 'op "compute" has no recorded time and its GPU "A/0/0/gpu0" no peak; give it in the job' err
ok $? "without a peak it is refused, which is asked for by name"

printf '0 init\n0 hop\n0 send 1 2 3\n' >"$work/bad.txt"
run 2 check "$work/bad.txt" && has 'bad.txt:2: there is no action "hop" in time-independent traces' out &&
    has 'bad.txt:3: send: peer is "1"; a whole number up to 0 is expected' out && has ": 2 problems in 1 file" err
ok $? "check tells all problems with their lines"

# 1 MB each way at once over 1 MB/s: SPLITDUPLEX 1 s, SHARED 2 s; then both compute 1 GFLOP at the host's own speed.
printf '0 sendRecv 1e6 1 1e6 1\n1 sendRecv 1e6 0 1e6 0\n0 barrier\n1 barrier\n0 compute 1e9\n1 compute 1e9\n' >"$work/both.txt"
for pair in SPLITDUPLEX=1500 SHARED=2500; do
    cat >"$work/platform.xml" <<END
<platform version="4.1"><zone id="z" routing="Full">
  <host id="a" speed="2Gf"/><host id="b" speed="4Gf"/>
  <link id="l" bandwidth="1MBps" sharing_policy="${pair%=*}"/>
  <route src="a" dst="b"><link_ctn id="l"/></route>
</zone></platform>
END
    printf 'name: both\nseed: 1\nfabric: {file: platform.xml}\n%s\n%s\n' \
        'jobs: [{name: replay, trace: both.txt, iterations: 1, warmup: 0}]' 'baseline: false' >"$work/both.yaml"
    rm -f "$work/both.db"
    "$TRAINSHED" run "$work/both.yaml" -q -o "$work/both.db" >"$work/out" 2>"$work/err" &&
        "$TRAINSHED" query --csv "$work/both.db" iterations >"$work/out" 2>>"$work/err" &&
        has "replay,0,0,${pair#*=}000000000,${pair#*=}000000000," out
    ok $? "a trace runs on a platform of SimGrid whose link is ${pair%=*}"
done

echo "1..$number"
