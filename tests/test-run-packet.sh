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

run "$folder/dead.db" --set 'faults=[{at: 50 us, from: A/0/7/nic0, to: A/0/leaf0, rate: 0 Gb/s}]'
[ $? -eq 1 ] && grep -q 'transfers' "$err"
result $? "transfers that never arrive: exit 1, and said so"
run "$folder/bad.db" --set network.transport.timr=1us
[ $? -eq 2 ] && grep -q 'network.transport.timr: transport dcqcn has no "timr"; do you mean "timer"' "$err"
result $? "a parameter that the transport lacks: exit 2 with the nearest"

echo "1..$n"
exit $failed
