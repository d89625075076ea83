#!/bin/sh
# test-queue-run.sh - jobs that wait for GPUs, as their user runs them: rows, baselines, refusals
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

ok() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$work/out" "$work/err"
    fi
}

# is NAME EXPECTED FOUND
is() {
    [ "$2" = "$3" ]
    status=$?
    [ $status -eq 0 ] || echo "found $3, expected $2" >>"$work/out"
    ok $status "$1"
}

# run ARGUMENTS; sql SELECT
run() {
    rm -f "$work/q.db"
    "$TRAINSHED" run "$work/q.yaml" -q -o "$work/q.db" "$@" >"$work/out" 2>"$work/err"
}
sql() {
    "$TRAINSHED" query --csv "$work/q.db" "$1" 2>>"$work/err" | tail -n +2 | tr '\n' ' '
}

# Four hosts on a switch. A step: 1 s of work, then 12.5 MB to both: 2 x (0.5 ms + 2 us).
cat >"$work/two.program" <<END
program 1
ranks 2
group all 0-1
role all ranks all
stream comp
  compute work time 1 s
stream comm
  all_reduce sum group all bytes 12500000 after work
END
cat >"$work/q.yaml" <<END
name: queue
seed: 1
fabric:
  generate:
    server: {gpus: 1, nics: 1, nic: {rate: 100 Gb/s}, forward: none}
    zone: {servers: 4, network: switch, link: {rate: 100 Gb/s, latency: 1 us}}
network: {slice: none}
queue: {policy: fifo}
jobs:
  - {name: a, program: two.program, iterations: 4, warmup: 0, estimate: 5 s}
  - {name: b, program: two.program, iterations: 2, warmup: 0, arrival: 1 s, estimate: 3 s}
  - {name: c, program: two.program, iterations: 3, warmup: 0, arrival: 1500 ms, estimate: 4 s, priority: 1}
END

# An iteration takes 1.001004 s. c waits until b ends at 1 + 2.002008 s.
run
ok $? "three jobs on the GPUs of two"
is "who waits starts when another ends" "0 1000000000000 3002008000000 " "$(sql 'select start_ps from job where run_id = 1 order by id')"
is "and ends as long after as it runs" "4004016000000 3002008000000 6005020000000 " "$(sql 'select end_ps from job where run_id = 1 order by id')"
is "how long it waited is told" "0 0 1502008000000 " "$(sql 'select waited_ps from job where run_id = 1 order by id')"
is "alone each is as fast: nobody meets" "1.0 1.0 1.0 " "$(sql 'select round(slowdown, 9) from v_job where run_id = 1 order by job_id')"
is "alone it has the same GPUs" "0 " "$(sql "select count(*) from placement p join job j using (run_id) join run r on r.id = p.run_id join placement q on q.run_id = 1 and q.job_id = p.job_id and q.rank = p.rank where j.id = p.job_id and r.role = 'alone' and p.node_id <> q.node_id")"
is "arrivals, starts and ends are events" "arrival:3 end:3 start:3 " "$(sql "select kind || ':' || count(*) from event where run_id = 1 and kind in ('arrival', 'start', 'end') group by kind order by kind")"

# c is more urgent: at 1.5 s b, the last of the others, gives way after its first iteration, at 2.001004.
run --set queue.policy=priority --no-baseline
ok $? "the more urgent one goes first"
is "another gives way after its iteration" "0 1 0 " "$(sql 'select stops from job where run_id = 1 order by id')"
is "starts" "0 1000000000000 2001004000000 " "$(sql 'select start_ps from job where run_id = 1 order by id')"
is "and goes on with the next when there is room" "2 5005020000000 " "$(sql "select iterations || ' ' || end_ps from job where run_id = 1 and name = 'b'")"

run --no-baseline && cp "$work/q.db" "$work/one.db" && run --no-baseline --no-memo
ok $? "without the memo"
is "the same ends" "$("$TRAINSHED" query --csv "$work/one.db" 'select end_ps from job order by id' | tail -n +2 | tr '\n' ' ')" "$(sql 'select end_ps from job order by id')"

# refused MESSAGE ARGUMENTS
refused() {
    message=$1
    shift
    run "$@"
    [ $? -eq 2 ] && [ "$(cat "$work/err")" = "trainshed: $work/q.yaml$message" ] && [ ! -e "$work/q.db" ]
    ok $? "refused: $*"
}
refused ': --set: queue.policy: found "fito", expected one of fifo, shortest_first, easy_backfill, least_attained_service, priority; did you mean "fifo"?' --set queue.policy=fito
refused ': --set: queue.quantum: means nothing to policy fifo' --set 'queue.quantum=1 s'
refused ':8:8: queue: policy least_attained_service needs quantum, in time of one GPU' --set queue.policy=least_attained_service
refused ':10:5: jobs[0].gpus: 2 asked for, the fabric has 1 free' --set fabric.generate.zone.servers=1
sed -i 's/, estimate: 3 s//' "$work/q.yaml"
refused ':11:5: jobs[1]: needs estimate, how long it runs: queue.policy is easy_backfill' --set queue.policy=easy_backfill
echo "1..$n"
