#!/bin/sh
# test-run-packet.sh - trainshed run --model packet as its user runs it: rows, the same again, what goes wrong
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out
err=$folder/err
scenario=$SRCDIR/scenarios/packets-incast.yaml
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

# run DB ARGUMENT...
run() {
    db=$1
    shift
    "$TRAINSHED" run "$scenario" -q -o "$db" "$@" >"$out" 2>"$err"
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

content() {
    for table in link_usage packet_link rank_traffic iteration collective event; do
        ask "$1" "SELECT * FROM $table ORDER BY 1, 2, 3, 4, 5"
    done
    ask "$1" "SELECT sim_ps, events FROM run"
}

one=$folder/one.db
run "$one"
result $? "packets-incast: exit 0"
holds "$one" "SELECT count(*) > 0 AND sum(dropped) = 0 AND sum(resent_B) = 0 AND sum(marked) > 0 FROM packet_link" \
    "packets are marked, none is lost"
# 31 x 512 KiB leave and reach each host, in 128 full packets for each pair: 3968 packets on the link of a NIC either way.
holds "$one" "SELECT count(*) = 64 AND min(data_packets) = 3968 AND max(data_packets) = 3968 AND min(header_B) = 3968 * 64
    FROM packet_link p JOIN link l ON l.run_id = p.run_id AND l.id = p.link_id
    JOIN node s ON s.run_id = l.run_id AND s.id = l.src JOIN node d ON d.run_id = l.run_id AND d.id = l.dst
    WHERE 'nic' IN (s.kind, d.kind) AND 'leaf' IN (s.kind, d.kind)" "each NIC sends and gets its packets, neither more nor fewer"
holds "$one" "SELECT (SELECT sum(bytes) FROM link_usage u JOIN link l ON l.run_id = u.run_id AND l.id = u.link_id
    JOIN node s ON s.run_id = l.run_id AND s.id = l.src WHERE s.kind = 'gpu') = (SELECT sum(bytes) FROM rank_traffic)" \
    "the payload that left GPUs is what ranks sent"
run "$folder/two.db"
content "$one" >"$folder/first"
content "$folder/two.db" >"$folder/second"
diff "$folder/first" "$folder/second" >>"$out" && [ -s "$folder/first" ]
result $? "a second run has the same rows"

# Each transport by changing one word; alone the wires need 31 x 128 x 4160 B at 50 GB/s = 330.2 us.
for transport in window dcqcn swift timely hpcc ndp; do
    db=$folder/$transport.db
    run "$db" --set "network.transport=$transport" && holds "$db" "SELECT min(end_ps - start_ps) >= 330137600
        AND max(end_ps - start_ps) < 4 * 330137600 FROM iteration" "$transport: above the time of the wires, below four times it"
done

# What was in force is in the file: what the scenario gave, and the defaults of the paper (Zhu 2015: 50 us, 1/256, 5).
run "$folder/set.db" --set network.transport.timer='60 us' --set network.transport.timeout='2 ms'
holds "$folder/set.db" "SELECT group_concat(substr(subject, 19) || '=' || text) = 'name=dcqcn,recovery=go_back_n,reorder=3,timeout=2 ms,cnp_interval=50 us,alpha_interval=55 us,timer=60 us,byte_counter=10 MB,g=0.00390625,fast_recovery=5,additive=0 b/s,hyper=0 b/s,least_rate=10 Mb/s'
    FROM (SELECT * FROM event WHERE kind = 'setting' AND subject LIKE 'network.transport.%' AND at_ps = 0 ORDER BY rowid)" \
    "each parameter of the transport is stored with the run"
for transport in window swift timely hpcc ndp; do
    holds "$folder/$transport.db" "SELECT sum(subject = 'network.transport.name' AND text = '$transport') = 1 AND count(*) >= 5
        AND count(DISTINCT subject) = count(*) AND min(text) <> '' FROM event WHERE kind = 'setting'" \
        "$transport: stored with the run"
done

run "$folder/dead.db" --set 'faults=[{at: 50 us, from: A/0/7/nic0, to: A/0/leaf0, rate: 0 Gb/s}]'
[ $? -eq 1 ] && grep -q 'transfers' "$err"
result $? "transfers that never arrive: exit 1, and said so"
# Two of three transfers lose their only way at 100 us: exit 1, both are listed, the third is not; the run says failed.
cat >"$folder/three.program" <<'END'
program 1
ranks 3
role left ranks 0
stream s
  send weights to 2 bytes 1 MB tag 1
stream t
  send gradients to 2 bytes 1 MB tag 2
role middle ranks 1
stream s
  send fine to 2 bytes 1 MB tag 3
role right ranks 2
stream s
  recv a from 0 bytes 1 MB tag 1
stream t
  recv b from 0 bytes 1 MB tag 2
stream u
  recv c from 1 bytes 1 MB tag 3
END
cat >"$folder/three.yaml" <<'END'
name: three
fabric: {generate: {server: {gpus: 1, nics: 1, nic: {rate: 10 Gb/s}}, zone: {servers: 3, network: switch, link: {rate: 10 Gb/s, latency: 1 us}}}}
network: {model: packet}
jobs: [{name: stuck, program: three.program, iterations: 1, warmup: 0}]
faults: [{at: 100 us, from: A/0/0/nic0, to: A/0/leaf0, rate: 0 B/s}]
END
"$TRAINSHED" run "$folder/three.yaml" -q -o "$folder/three.db" >"$out" 2>"$err"
[ $? -eq 1 ] && grep -q '2 ranks are not done (2 transfers in flight)' "$err" &&
    grep -q '"weights" of rank 0, iteration 0, to rank 2 is in flight' "$err" &&
    grep -q '"gradients" of rank 0, iteration 0, to rank 2 is in flight' "$err" && ! grep -q fine "$err"
result $? "unfinished transfers at the end: exit 1, each is listed, and no other"
holds "$folder/three.db" "SELECT (SELECT status = 'failed' FROM run) AND count(*) = 1 FROM event WHERE kind = 'error' AND
    text LIKE '%weights%' AND text LIKE '%gradients%'" "they are in the file, and the run says failed"

run "$folder/bad.db" --set network.transport.timr=1us
[ $? -eq 2 ] && grep -q 'network.transport.timr: transport dcqcn has no "timr"; do you mean "timer"' "$err"
result $? "a parameter that the transport lacks: exit 2 with the nearest"

echo "1..$n"
exit $failed
