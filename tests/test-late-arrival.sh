#!/bin/sh
# test-late-arrival.sh - scenarios/late-arrival.yaml: a tenant that comes and goes costs the other something while it is
# there, and nothing before or after
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

is() {
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf 'expected: %s\nfound: %s\n' "$2" "$3" | sed 's/^/# /'
        sed 's/^/# /' "$work/err"
    fi
}

sql() {
    "$TRAINSHED" query --csv "$work/late.db" "$1" 2>>"$work/err" | tail -n +2 | tr '\n' ' '
}

"$TRAINSHED" run "$SRCDIR/scenarios/late-arrival.yaml" -q -o "$work/late.db" >"$work/out" 2>"$work/err"
is "it runs" 0 $?
alone=$(sql "select distinct end_ps - start_ps from v_iteration join run on run.id = run_id where role = 'alone' and job_id = 0 and idx > 0")
is "alone every iteration of alpha but the first is alike" 1 "$(echo "$alone" | wc -w)"
is "so are those in which beta is not there" "$alone" "$(sql "select distinct i.end_ps - i.start_ps from v_iteration i join job b on b.run_id = 1 and b.id = 1
    where i.run_id = 1 and i.job_id = 0 and i.idx > 0 and (i.end_ps <= b.start_ps or i.start_ps >= b.end_ps)")"
is "and beta holds up those in which it is" "6 7 8 9 " "$(sql "select idx from v_iteration where run_id = 1 and job_id = 0 and idx > 0 and end_ps - start_ps > $alone order by idx")"
is "contention is booked while both are there, and then alone" "0 " "$(sql "select count(*) from contention c join job b on b.run_id = 1 and b.id = 1
    where c.run_id = 1 and c.kind = 'contention' and (c.bucket_start_ps + 1000000000 <= b.start_ps or c.bucket_start_ps >= b.end_ps)")"
is "each costs the other" "1 1 " "$(sql "select sum(lost_transfer_ps) > 0 from contention where run_id = 1 and kind = 'contention' and culprit_job_id = 1 - victim_job_id group by victim_job_id")"
# Golden: as printed once all above held.
is "golden lengths of those iterations" "23564303423 22099559559 24267707367 18046602471 " "$(sql "select end_ps - start_ps from v_iteration where run_id = 1 and job_id = 0 and idx between 6 and 9 order by idx")"
echo "1..$n"
