#!/bin/sh
# test-models.sh - fluid and packet end the clean scenarios of scenarios/models within 5 % of each other
rows=$("$SRCDIR/scripts/models" --check ./trainshed)
status=$?
echo "$rows" | awk -F' *[|] *' '{ print ($0 ~ /[*]bad[*]/ ? "not ok " : "ok ") NR " - " $2 ": " $6 }'
echo "1..14"
exit $status
