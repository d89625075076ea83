#!/bin/sh
# test-run.sh - trainshed run as its user runs it: the first scenarios with their golden values, and the ways a run ends
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out
err=$folder/err
scenarios=$SRCDIR/scenarios
n=0
failed=0

# result STATUS NAME: one TAP line; what was seen, where it fails.
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

# run SCENARIO DB ARGUMENT...
run() {
    scenario=$1
    db=$2
    shift 2
    "$TRAINSHED" run "$scenarios/$scenario.yaml" -o "$db" "$@" >"$out" 2>"$err"
}

# ask DB SQL: the rows, a line each, without the header.
ask() {
    "$TRAINSHED" query --csv "$1" "$(echo "$2" | tr '\n' ' ')" 2>>"$err" | tail -n +2
}

# holds DB SQL NAME: the statement gives 1.
holds() {
    answer=$(ask "$1" "$2")
    echo "answer: $answer" >>"$out"
    [ "$answer" = 1 ]
    result $? "$3"
}

# golden DB SQL NAME: the rows equal standard input. The values were printed by this program when its parts had been checked each
# for itself; a change of one is a change of the model, to be explained in its commit.
golden() {
    cat >"$folder/expected"
    ask "$1" "$2" >"$folder/found"
    diff "$folder/expected" "$folder/found" >>"$out"
    result $? "$3"
}

# content DB: every row that a run of the same scenario must repeat.
content() {
    for table in node link job placement iteration collective link_usage contention rank_traffic event; do
        echo "$table"
        ask "$1" "SELECT * FROM $table ORDER BY 1, 2, 3, 4, 5, 6"
    done
    ask "$1" "SELECT id, name, role, parent_run_id, scenario, scenario_sha256, seed, model, status, sim_ps, events FROM run"
}

# --- two tenants over two buildings
two=$folder/two.db
run two-buildings-two-tenants "$two"
result $? "two-buildings-two-tenants: exit 0"
grep -q '^alpha .*x ' "$out" && grep -q '^beta .*x ' "$out" && grep -q 'router' "$out"
result $? "two-buildings-two-tenants: the closing table names both jobs and the links of the cut"
holds "$two" "SELECT count(*) = 3 AND sum(status = 'done') = 3 FROM run" "one shared run and one alone for each job, all done"
holds "$two" "SELECT count(*) = 2 AND min(slowdown) >= 1.05 FROM v_job WHERE alone_ps > 0" "both slow down by at least 5 %"
holds "$two" "SELECT count(*) = 0 FROM (
    SELECT n.run_id, n.id,
        coalesce((SELECT sum(u.bytes) FROM link_usage u JOIN link l ON l.run_id = u.run_id AND l.id = u.link_id
                  WHERE u.run_id = n.run_id AND l.src = n.id), 0)
      - coalesce((SELECT sum(u.bytes) FROM link_usage u JOIN link l ON l.run_id = u.run_id AND l.id = u.link_id
                  WHERE u.run_id = n.run_id AND l.dst = n.id), 0) AS moved,
        coalesce((SELECT sum(t.bytes) FROM rank_traffic t JOIN placement p
                  ON p.run_id = t.run_id AND p.job_id = t.job_id AND p.rank = t.src_rank
                  WHERE t.run_id = n.run_id AND p.node_id = n.id), 0)
      - coalesce((SELECT sum(t.bytes) FROM rank_traffic t JOIN placement p
                  ON p.run_id = t.run_id AND p.job_id = t.job_id AND p.rank = t.dst_rank
                  WHERE t.run_id = n.run_id AND p.node_id = n.id), 0) AS sent
    FROM node n) WHERE moved <> sent" "bytes are conserved at every node, to the byte"
holds "$two" "SELECT count(*) = 0 FROM iteration i WHERE compute_ps + exposed_wait_ps + exposed_transfer_ps + idle_ps > end_ps - start_ps" \
    "no rank does more than its iteration lasts"
holds "$two" "SELECT count(*) = 0 FROM link_usage u JOIN link l ON l.run_id = u.run_id AND l.id = u.link_id
    WHERE u.busy_ps > u.bucket_ps OR u.bytes > l.capacity_Bps * u.bucket_ps / 1e12 + 2" "no link carries more than its capacity"
holds "$two" "SELECT count(*) = 0 FROM collective WHERE first_ps = ready_ps AND end_ps - ready_ps < alone_ps - 10" \
    "no collective whose members arrive together is faster than alone"
holds "$two" "SELECT count(*) > 0 AND min(lost_transfer_ps) >= 0 FROM contention
    WHERE kind = 'contention' AND culprit_job_id <> victim_job_id" "each tenant's losses to the other are booked"
holds "$two" "SELECT count(DISTINCT victim_job_id) = 2 FROM contention c JOIN run r ON r.id = c.run_id
    WHERE r.role = 'shared' AND kind = 'contention'" "both are victims"
holds "$two" "SELECT count(*) = 0 FROM contention c JOIN run r ON r.id = c.run_id
    WHERE r.role = 'alone' AND kind = 'contention'" "alone there is nobody to contend with"
golden "$two" "SELECT job, CAST(alone_ps AS INTEGER), CAST(shared_ps AS INTEGER) FROM v_job WHERE alone_ps > 0 ORDER BY job" \
    "two-buildings-two-tenants: golden iteration times" <<'END'
alpha,15228376888,22657693935
beta,6062758555,6792510648
END
golden "$two" "SELECT victim, culprit, sum(contention_ps) / 1000000000 FROM v_contention WHERE run_id = 1 AND culprit <> victim
    GROUP BY victim, culprit" "two-buildings-two-tenants: golden losses, ms" <<'END'
alpha,beta,96
beta,alpha,274
END
run two-buildings-two-tenants "$folder/again.db"
content "$two" >"$folder/first"
content "$folder/again.db" >"$folder/second"
[ "$(wc -l <"$folder/first")" -gt 1000 ] && cmp "$folder/first" "$folder/second" >"$out"
result $? "the same scenario gives equal rows"

# --- as recorded
run unscaled-two-tenants "$folder/unscaled.db"
holds "$folder/unscaled.db" "SELECT count(*) = 2 AND max(slowdown) < 1.01 AND min(slowdown) > 0.99 FROM v_job WHERE alone_ps > 0" \
    "unscaled-two-tenants: 1.0x within 1 %"
golden "$folder/unscaled.db" "SELECT job, CAST(alone_ps AS INTEGER), CAST(shared_ps AS INTEGER) FROM v_job WHERE alone_ps > 0
    ORDER BY job" "unscaled-two-tenants: golden iteration times" <<'END'
alpha,13733155768,13733155768
beta,6062758555,6082325778
END
run recorded-alone "$folder/recorded.db"
holds "$folder/recorded.db" "SELECT end_ps - start_ps BETWEEN 20.82e9 * 0.995 AND 20.82e9 * 1.005 FROM iteration" \
    "recorded-alone: 20.82 ms from first start to last end, within 0.5 %"

# --- MAD-Max, arXiv 2310.02784: end 54.0024 ms, exposed communication 35.99, compute 18.01
run dlrm-two-streams "$folder/streams.db"
holds "$folder/streams.db" "SELECT abs(end_ps - 54.0024e9) <= 0.001e9 AND abs(exposed_wait_ps + exposed_transfer_ps - 35.99e9) <= 0.01e9
    AND abs(compute_ps - 18.01e9) <= 0.01e9 FROM iteration" "dlrm-two-streams: 54.0024 ms, 35.99 exposed, 18.01 compute"

# --- one port down. A ring of 32 over 16 x 25 GB/s: 62 steps of S / 32 / 400 GB/s = 314,572,800 ps each.
iteration="SELECT (max(end_ps) - min(end_ps)) / 2 FROM v_iteration"
run one-port-down "$folder/up.db" --set 'faults=[]'
run one-port-down "$folder/down.db"
up=$(ask "$folder/up.db" "$iteration")
down=$(ask "$folder/down.db" "$iteration")
echo "up $up, down $down" >>"$out"
[ "$up" = $((62 * 314572800)) ]
result $? "one-port-down: with all ports the closed form to the picosecond"
awk -v a="$up" -v b="$down" 'BEGIN { d = a / b - 15 / 16; exit !(d < 1e-9 && d > -1e-9) }'
result $? "one-port-down: iterations per second fall by exactly 1/16"
run one-port-down-channels "$folder/cup.db" --set 'faults=[]'
run one-port-down-channels "$folder/cdown.db"
run one-port-down-channels "$folder/cnic.db" --set collectives.channel_weights=nic
up=$(ask "$folder/cup.db" "$iteration")
down=$(ask "$folder/cdown.db" "$iteration")
nic=$(ask "$folder/cnic.db" "$iteration")
echo "up $up, down $down, nic $nic" >>"$out"
awk -v a="$up" -v b="$down" -v c="$nic" 'BEGIN { d = a / b - 1 / 2; e = a / c - 15 / 16; exit !(d < 1e-9 && d > -1e-9 && e < 1e-9 && e > -1e-9) }'
result $? "one-port-down-channels: by half in equal parts, by 1/16 with channel_weights nic"

# --- the ways a run ends
refused() {
    name=$1
    expected=$2
    shift 2
    rm -f "$folder/none.db"
    "$TRAINSHED" run -o "$folder/none.db" "$@" >"$out" 2>"$err"
    [ $? -eq 2 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -qF "$expected" "$err" && [ ! -e "$folder/none.db" ]
    result $? "$name"
}
refused "a scenario that is not there" "absent.yaml" "$folder/absent.yaml"
refused "an unknown key, with the nearest" 'baselin' --set baselin=true "$scenarios/recorded-alone.yaml"
refused "an unknown model, with the nearest" 'did you mean "fluid"' --model fluit "$scenarios/recorded-alone.yaml"
refused "more GPUs than the trace has ranks" 'jobs[0].gpus: 9 asked for, but its trace has 8 ranks' \
    --set 'jobs[0].gpus=9' "$scenarios/recorded-alone.yaml"
refused "no room in the fabric" '8 asked for, the fabric has 4 free' \
    --set fabric.generate.server.gpus=4 "$scenarios/recorded-alone.yaml"
refused "a trace that is not there" 'jobs[0].trace' --set 'jobs[0].trace=[absent.*.et]' \
    "$scenarios/recorded-alone.yaml"
refused "compute without figures" 'jobs[1]: job beta: op "' --set 'fabric.generate.server={gpus: 4, nvlink: {rate: 450 GB/s, latency: 300 ns}, nics: 4, nic: {rate: 400 Gb/s}}' \
    "$scenarios/two-buildings-two-tenants.yaml"
refused "scaled bytes beyond an EiB" 'times scale_bytes 1e+30 is more than 1 EiB' --set 'jobs[0].scale_bytes=1e30' \
    "$scenarios/two-buildings-two-tenants.yaml"
refused "no recorded times" 'has no recorded time, which the model recorded needs' --model recorded \
    "$scenarios/one-port-down.yaml"
refused "two scenarios" "one scenario is wanted, found 2" "$scenarios/recorded-alone.yaml" "$scenarios/recorded-alone.yaml"
refused "a fault on a cable that is not there" 'cable 16 asked for' --set 'faults[0].cable=16' "$scenarios/one-port-down.yaml"

cat >"$folder/deadlock.program" <<'END'
program 1
ranks 2
role left ranks 0
stream s
  recv a from 1 bytes 8 tag 1
  send b to 1 bytes 8 tag 2
role right ranks 1
stream s
  recv c from 0 bytes 8 tag 2
  send d to 0 bytes 8 tag 1
END
cat >"$folder/deadlock.yaml" <<'END'
name: deadlock
fabric: {generate: {server: {gpus: 2, nvlink: {rate: 10 GB/s, latency: 1 us}, nics: 1, nic: {rate: 1 GB/s}}, zone: {servers: 1, network: switch, link: {rate: 1 GB/s, latency: 1 us}}}}
jobs: [{name: stuck, program: deadlock.program, iterations: 1, warmup: 0}]
END
"$TRAINSHED" run "$folder/deadlock.yaml" -o "$folder/deadlock.db" >"$out" 2>"$err"
[ $? -eq 1 ] && grep -q 'rank 0 waits in "a", iteration 0, for a message from rank 1' "$err"
result $? "a deadlock: exit 1, and who waits for what"
holds "$folder/deadlock.db" "SELECT count(*) = 1 AND min(status) = 'failed' FROM run" "a deadlock: the run says failed"

cat >"$folder/dead-link.program" <<'END'
program 1
ranks 2
role left ranks 0
stream s
  send weights to 1 bytes 1 GB
role right ranks 1
stream s
  recv a from 0 bytes 1 GB
END
cat >"$folder/dead-link.yaml" <<'END'
name: dead-link
fabric: {generate: {server: {gpus: 1, nics: 1, nic: {rate: 1 GB/s}}, zone: {servers: 2, network: switch, link: {rate: 1 GB/s, latency: 1 us}}}}
jobs: [{name: stuck, program: dead-link.program, iterations: 1, warmup: 0}]
faults: [{at: 1 ms, from: A/0/0/nic0, to: A/0/leaf0, rate: 0 B/s}]
END
"$TRAINSHED" run "$folder/dead-link.yaml" -o "$folder/dead-link.db" >"$out" 2>"$err"
[ $? -eq 1 ] && grep -q 'job stuck: "weights" of rank 0, iteration 0, to rank 1 is in flight, but nothing moves it' "$err"
result $? "a link that dies under a message, without another way: exit 1, and which message"

# --- packets sent again, which stand in queues yet when the run ends: 164 B at 10 B/s take 16.4 s a link, a timeout 1 s
cat >"$folder/slow.program" <<'END'
program 1
ranks 2
role left ranks 0
stream s
  send a to 1 bytes 100
role right ranks 1
stream s
  recv a from 0 bytes 100
END
cat >"$folder/slow.yaml" <<'END'
name: slow
fabric: {generate: {server: {gpus: 1, nics: 1, nic: {rate: 80 b/s}}, zone: {servers: 2, network: switch, link: {rate: 80 b/s, latency: 1 us}}}}
network: {model: packet, transport: {name: window, timeout: 1 s}}
record: {bucket: 1 s}
jobs: [{name: one, program: slow.program, iterations: 1, warmup: 0}]
baseline: false
END
"$TRAINSHED" run "$folder/slow.yaml" -o "$folder/slow.db" >"$out" 2>"$err"
result $? "packets in queues when the run ends"
holds "$folder/slow.db" "SELECT (SELECT sim_ps = 65600002000000 FROM run) AND (SELECT min(bucket_ps) > 0 AND min(bytes) >= 0 AND
    max(busy_ps * 1.0 / bucket_ps) <= 1 AND max(bucket_start_ps) > 65600002000000 FROM link_usage)" "packets in queues when the run ends: whole buckets"

# --- a window over a long link: 100 windows take 100 round trips of 0.8 ms; sixteen queue pairs fill the link (both by hand)
run long-link "$folder/long.db"
holds "$folder/long.db" "SELECT (SELECT end_ps - start_ps = 80400000000 FROM v_iteration WHERE idx = 0) AND
    (SELECT shared_ps = 80000000000 FROM v_job)" "long-link: 4 MiB a round trip"
run long-link "$folder/pairs.db" --set network.limits.buildings.queue_pairs=16
holds "$folder/pairs.db" "SELECT abs(shared_ps - 8388608000) <= 1 FROM v_job" "long-link: sixteen queue pairs fill the link"

run one-port-down "$folder/late.db" --set 'jobs[0].iterations=1000000' --time-limit '300 ms'
[ $? -eq 3 ]
result $? "out of time: exit 3"
holds "$folder/late.db" "SELECT min(status) = 'interrupted' FROM run" "out of time: the run says interrupted"
"$TRAINSHED" run "$scenarios/one-port-down.yaml" -o "$folder/killed.db" --set 'jobs[0].iterations=1000000' >"$out" 2>"$err" &
victim=$!
sleep 1
kill -9 $victim
wait $victim 2>/dev/null
holds "$folder/killed.db" "SELECT min(status) = 'running' FROM run" "killed: the file opens and the run says running"

echo "1..$n"
exit $failed
