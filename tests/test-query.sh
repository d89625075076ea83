#!/bin/sh
# test-query.sh - trainshed query as its user runs it, on the story that test-recorder records
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
db=$folder/results.db
out=$folder/out
err=$folder/err
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

# prints NAME ARGUMENT...: exit 0, nothing on standard error, and standard output equals standard input.
prints() {
    name=$1
    shift
    cat >"$folder/expected"
    "$TRAINSHED" query "$@" >"$out" 2>"$err" && [ ! -s "$err" ] && cmp -s "$out" "$folder/expected"
    result $? "$name"
}

# refuses NAME MESSAGE ARGUMENT...: exit 2, the message alone on standard error, nothing on standard output.
refuses() {
    name=$1
    printf 'trainshed: %s\n' "$2" >"$folder/expected"
    shift 2
    "$TRAINSHED" query "$@" >"$out" 2>"$err"
    [ $? -eq 2 ] && [ ! -s "$out" ] && cmp -s "$err" "$folder/expected"
    result $? "$name"
}

"$(dirname "$TRAINSHED")/tests/test-recorder" "$db" >"$out" 2>"$err"
result $? "the story is recorded"
cp "$db" "$folder/before.db"

prints "jobs: numbers to the right, null empty" "$db" jobs <<'END'
job_id  job    gpus  status  iterations  counted  queue_ps  alone_ps  shared_ps  slowdown  compute_share  exposed_wait_share  exposed_transfer_share  idle_share
------  -----  ----  ------  ----------  -------  --------  --------  ---------  --------  -------------  ------------------  ----------------------  ----------
     0  alpha     2  done             4        3         0        60         80    1.3333            0.5               0.125                    0.25       0.125
     1  beta      1  done             2        2        20                  115                   0.7273                 0.0                  0.2727         0.0
END

prints "iterations of a given run, expanded" "$db" iterations --run 2 --csv <<'END'
job,idx,start_ps,end_ps,iteration_ps,compute_ps,exposed_wait_ps,exposed_transfer_ps,idle_ps,counted
alpha,0,0,90,90,45,11,22,11,0
alpha,1,90,150,60,30,7,15,7,1
alpha,2,150,210,60,30,7,15,7,1
alpha,3,210,270,60,30,7,15,7,1
END

prints "hot-links" "$db" hot-links --csv <<'END'
link_id,src,dst,kind,capacity_Bps,bytes,utilisation,busiest_utilisation,lost_transfer_ps,n_jobs,jobs
0,north/A/s/gpu0,north/B/gpu0,interbuilding,10000000000.0,4,1.0,1.0,24,2,alpha beta
1,north/B/gpu0,north/A/s/gpu0,interbuilding,10000000000.0,1,0.25,0.5,0,1,alpha
END

prints "contention" "$db" contention --csv <<'END'
victim,culprit,link_id,src,dst,contention_ps,collision_ps,fault_ps,indirect_ps,lost_transfer_ps,bytes
alpha,beta,0,north/A/s/gpu0,north/B/gpu0,20,0,0,0,20,2
beta,,,,,0,0,0,7,7,0
alpha,alpha,0,north/A/s/gpu0,north/B/gpu0,0,4,0,0,4,1
END

# all_reduce: 4096 B in 30 ps are 136,533 GB/s; the barrier moves nothing, and its time alone is not known.
prints "collectives" "$db" collectives --csv <<'END'
job,grp,kind,algorithm,ranks,bytes,n,wait_ps,transfer_ps,alone_ps,slowdown,algbw_GBps
alpha,dp,all_reduce,ring,2,4096,1,10,30,24,1.25,136533.333
alpha,dp,barrier,ring,2,0,1,0,2,,,0.0
END

prints "slowest-collectives" "$db" slowest-collectives --csv <<'END'
id,job,iteration,grp,seq,kind,algorithm,ranks,bytes,ready_ps,wait_ps,transfer_ps,alone_ps,slowdown
0,alpha,1,dp,0,all_reduce,ring,2,4096,120,10,30,24,1.25
1,alpha,1,dp,1,barrier,ring,2,0,150,0,2,,
END

prints "traffic" "$db" traffic <<'END'
job    src_rank  dst_rank  src             dst             bytes  transfers
-----  --------  --------  --------------  --------------  -----  ---------
alpha         0         1  north/A/s/gpu0  north/B/gpu0        3          2
alpha         1         0  north/B/gpu0    north/A/s/gpu0      1          1
END

prints "cut" "$db" cut <<'END'
job    from     to       links  bytes
-----  -------  -------  -----  -----
alpha  north/A  north/B      1      3
alpha  north/B  north/A      1      1
beta   north/A  north/B      1      1
END

prints "events as JSON, quotes escaped" "$db" events --json <<'END'
[
  {"at_ps": 7, "kind": "warning", "subject": "link 0", "text": "it's \"full\""}
]
END

prints "no rows as JSON are an empty list" "$db" events --json --run 2 <<'END'
[]
END

prints "events as CSV, quotes doubled" "$db" events --csv <<'END'
at_ps,kind,subject,text
7,warning,link 0,"it's ""full"""
END

prints "SQL, with the run in :run" "$db" "SELECT name, :run AS run FROM job WHERE run_id = :run ORDER BY id" --run 1 <<'END'
name   run
-----  ---
alpha    1
beta     1
END

prints "numbers and texts as JSON" "$db" "VALUES (9007199254740993, 0.1, 9e999, NULL, x'00fe', char(10, 92))" --json <<'END'
[
  {"column1": 9007199254740993, "column2": 0.1, "column3": null, "column4": null, "column5": "X'00FE'", "column6": "\u000a\\"}
]
END

prints "one column is shown as it is" "$db" "SELECT scenario FROM run WHERE id = 1;" <<'END'
scenario
name: two

END

prints "a line break in a table stays on its line" "$db" "SELECT id, scenario FROM run WHERE id = 1" <<'END'
id  scenario
--  -----------
 1  name: two\n
END

"$TRAINSHED" query "$db" >"$out" 2>"$err" && grep -q '^ 1  two   shared          fluid  flows  done    20' "$out" &&
    grep -q '^ 2  two   alone        1  fluid  flows  done    20' "$out" && grep -q '^  slowest-collectives  the twenty' "$out"
result $? "without a name: the runs and what can be asked"

# Every name in the list can be asked.
status=0
for name in $(sed -n '/^Queries:/,$ s/^  \([a-z-]*\) .*/\1/p' "$out"); do
    echo "$name"
    "$TRAINSHED" query "$db" "$name" >"$folder/one" 2>"$err" || status=1
    [ "$(wc -l <"$folder/one")" -ge 2 ] || status=1
done >"$folder/names"
[ "$(wc -l <"$folder/names")" -eq 11 ] || status=1
result $status "each of the eleven queries that are listed can be asked"

"$TRAINSHED" query "$db" schema >"$out" 2>"$err" && grep -q 'lost_transfer_ps INTEGER NOT NULL, -- transfer time' "$out" &&
    grep -q '^CREATE VIEW v_hot_link AS' "$out"
result $? "schema shows the comments"

refuses "a mistyped name" "there is no query \"hot_links\"; did you mean \"hot-links\"; 'trainshed query DB' lists them, and SQL is taken too" \
    "$db" hot_links
refuses "a word like nothing" "there is no query \"x\"; 'trainshed query DB' lists them, and SQL is taken too" "$db" x
refuses "a run that is not there" "$db: holds no run 9; its runs are 1 to 2" "$db" jobs --run 9
refuses "wrong SQL" "SELECT * FROM jobs: no such table: jobs" "$db" "SELECT * FROM jobs"
refuses "a parameter without a value" "the parameter ? has no value; only :run has one" "$db" "SELECT ?"
refuses "two statements" "one statement at a time; after the first comes \" SELECT 2\"" "$db" "SELECT 1; SELECT 2"
refuses "no statement" "there is no statement in \" -- nothing\"" "$db" " -- nothing"
for sql in "DELETE FROM run" "DROP TABLE flow" "INSERT INTO event VALUES (1, 1, '', '', '')" "PRAGMA user_version = 9" \
    "ATTACH '$folder/new.db' AS new" "VACUUM INTO '$folder/new.db'" "BEGIN IMMEDIATE" "CREATE TEMP TABLE t (a)"; do
    refuses "a write: ${sql%% *}" "only statements that read are allowed: $sql" "$db" "$sql"
done
cmp -s "$db" "$folder/before.db" && [ ! -e "$folder/new.db" ]
result $? "the file is unchanged, and none was made"

refuses "no file named" "query: the results file is missing; write for example trainshed query results.db jobs"
refuses "a word too many" "query: \"1\" is one word too many; write SQL in quotes" "$db" SELECT 1
refuses "two forms" "query: --csv and --json exclude each other" "$db" jobs --csv --json
refuses "a missing file" "$folder/none.db: there is no such file, expected a results file" "$folder/none.db" jobs
echo "name: two" >"$folder/two.yaml"
refuses "a file of another kind" "$folder/two.yaml: is not an SQLite database, expected a results file" "$folder/two.yaml"
head -c 6000 "$db" >"$folder/short.db"
"$TRAINSHED" query "$folder/short.db" jobs >"$out" 2>"$err"
[ $? -eq 2 ] && [ ! -s "$out" ] && grep -q "^trainshed: $folder/short.db: .*database disk image is malformed" "$err"
result $? "a file cut short"

"$TRAINSHED" query "$db" runs >/dev/full 2>"$err"
[ $? -eq 1 ] && grep -q '^trainshed: the rows cannot be written out: ' "$err"
result $? "a full disk under the output"

echo "1..$n"
exit $failed
