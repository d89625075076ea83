#!/bin/bash
# astra-sim.sh - every answer of ASTRA-sim at hand beside its arithmetic as we know it, and beside our default
#
#   bench/astra-sim.sh [BUILD]     BUILD: the folder of the program, default build
#
# One line a row of ../shared/data/peers/README.md: its answer in ns; --as astra-sim and the difference ("-": no form is
# known); ours (fluid, the same algorithm; hierarchical where there are several dimensions) on the same network and its difference in per cent.
set -eu
tree=$(cd "$(dirname "$0")/.." && pwd)
program=$(cd "${1:-$tree/build}" && pwd)/trainshed
peers=${SHARED:-$tree/../shared}/data/peers

last() { tail -n 1 | awk -v k="$1" '{ print $k }'; }

printf '%-8s %-10s %5s %-5s %-28s %-22s %11s %11s %5s %11s %7s\n' back-end collective ranks bytes system network \
    answer as diff ours percent
grep -E '^\| (Una|A)ware ' "$peers/README.md" | tr -d '|' | sed 's/\([0-9]\) \(MiB\|GiB\)/\1\2/' |
    while read -r back collective ranks bytes system network rest; do
        answer=$(grep -oE '^([0-9]{1,3} )+' <<<"$(sed -E 's/^ *//; s/  +.*/ /; s/([a-z]).*//' <<<"$rest")" | tr -d ' ')
        [ -n "$answer" ] || continue
        case $system in
        *-[23]d-*) algorithm=hierarchical ;;
        ring-*) algorithm=ring ;;
        direct-*) algorithm=direct ;;
        *) algorithm=halving_doubling ;;
        esac
        [ "$collective" != all_to_all ] || algorithm=direct
        net=$peers/astra-sim/network/$network.yml
        as=$("$program" collective "$collective" -f "$net" -b "$bytes" --as astra-sim --back-end "${back,,}" \
            --system "$peers/astra-sim/system/$system.json" 2>/dev/null | last 2) || as=
        ours=$("$program" collective "$collective" -f "$net" -b "$bytes" -a "$algorithm" -g bundle | last 2)
        awk -v b="$back" -v c="$collective" -v r="$ranks" -v s="$bytes" -v y="$system" -v n="$network" -v w="$answer" \
            -v a="${as:--}" -v o="$ours" 'BEGIN {
                printf "%-8s %-10s %5s %-5s %-28s %-22s %11d %11s %5s %11.0f %+7.1f\n", b, c, r, s, y, n, w, a,
                    a == "-" ? "-" : a - w, o * 1000, (o * 1000 / w - 1) * 100 }'
    done
