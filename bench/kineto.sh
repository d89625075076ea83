#!/bin/bash
# kineto.sh - a Kineto file of about 100 MB: the events of a real one three times over, read by `trace info`
#
# usage: bench/kineto.sh [TRAINSHED [FILE.json.gz]]
# Prints JSON lines: CPU seconds and peak memory of the whole process, the best of three runs, plain and gzipped.
set -eu
trainshed=$(realpath "${1:-./trainshed}")
file=$(realpath "${2:-../../shared/data/chakra/hta/control.json.gz}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# Everything up to the '[' of traceEvents, the events three times, and what follows the last ']'.
gzip -dc "$file" > one.json
first=$(($(grep -abo '"traceEvents"' one.json | head -1 | cut -d: -f1) + 1))
first=$((first + $(tail -c +"$first" one.json | grep -abo -m1 '\[' | head -1 | cut -d: -f1)))
last=$(tail -c 100000 one.json | grep -abo '\]' | tail -1 | cut -d: -f1)
size=$(stat -c %s one.json)
last=$((size > 100000 ? size - 100000 + last : last))
head -c "$last" one.json | tail -c +$((first + 1)) > events
{
    head -c "$first" one.json
    cat events
    echo ,
    cat events
    echo ,
    cat events
    tail -c +$((last + 1)) one.json
} > three.json
gzip -1 -k three.json

for input in three.json three.json.gz; do
    for _ in 1 2 3; do
        # shellcheck disable=SC2016
        bash -c 'TIMEFORMAT="%U %S"; time "$0" trace info "$1" >out 2>err && true' "$trainshed" "$input" 2>times
        LC_ALL=C awk '{ print $1 + $2 }' times >>"cpu.$input"
    done
    peak=-1
    if [ -x /usr/bin/time ]; then
        peak=$(/usr/bin/time -f %M "$trainshed" trace info "$input" 2>&1 >/dev/null | tail -1)
    fi
    events=$(awk '/three/ { print $4; exit }' out)
    printf '{"bench": "kineto", "file": "%s", "bytes": %d, "events": %d, "cpu_s": %s, "peak_rss_KiB": %d}\n' \
        "$input" "$(stat -c %s "$input")" "$events" "$(sort -g "cpu.$input" | head -1)" "$peak"
done
