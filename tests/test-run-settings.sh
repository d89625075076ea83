#!/bin/sh
# test-run-settings.sh - settings of long ways, headers and reroute delays as the user of trainshed run has them
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out
err=$folder/err
axes=$SRCDIR/scenarios/two-buildings-axes.yaml
long=$SRCDIR/scenarios/long-link.yaml
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

# ends SCENARIO ARGUMENT...: the length of the first iteration in ps, into $length.
ends() {
    scenario=$1
    shift
    rm -f "$folder/run.db"
    "$TRAINSHED" run "$scenario" -q -o "$folder/run.db" "$@" >"$out" 2>"$err" || length=failed
    length=$("$TRAINSHED" query --csv "$folder/run.db" "SELECT end_ps - start_ps FROM iteration WHERE idx = 0" 2>>"$err" | tail -n 1)
    echo "length: $length" >>"$out"
}

# within LOW HIGH NAME
within() {
    [ "$length" -ge "$1" ] 2>/dev/null && [ "$length" -le "$2" ]
    result $? "$3"
}

# refused MESSAGE NAME ARGUMENT...: exit 2 with this message after the file's name.
refused() {
    message=$1
    name=$2
    shift 2
    "$TRAINSHED" run "$axes" -q -o "$folder/no.db" "$@" >"$out" 2>"$err"
    [ $? -eq 2 ] && [ "$(cat "$err")" = "trainshed: $axes$message" ]
    result $? "$name"
}

# The numbers of the scenario's comment, worked out there.
ends "$axes"
within 8880000000 8880000010 "each axis has its settings: 8.88 ms"
ends "$axes" --model analytic
within 8880000000 8880000010 "the same in the analytic model"
ends "$axes" --set 'network.settings[1].ramp_up=1 MB'
within 10580000000 10580000010 "pp ramps up: 10.58 ms"
ends "$axes" --model analytic --set 'network.settings[1].ramp_up=1 MB'
within 10580000000 10580000010 "the same in the analytic model"
# The entry that names the job counts before that of the axis: 4 MB in flight, 12.8 ms instead of 6.4.
ends "$axes" --set 'network.settings[2]={job: step, window: 4 MB, queue_pairs: 1}' --set 'network.settings[0].job=step'
within 15280000000 15280000010 "a job comes before an axis, and with one before it alone: 15.28 ms"
# 16 whole messages of 1 MB a queue pair are held for 0.8 ms + 20 us: 8 MB / 0.82 ms for pp, 6.56 ms.
ends "$axes" --set 'network.settings[1].message=1 MB'
within 9040000000 9040000010 "messages of 1 MB hold their places: 9.04 ms"
# Headers: 4160 B for 4096; two windows' ends and packets' ways on top: at most 3 % in all.
ends "$axes" --model packet --set 'network.settings[0].queue_pairs=1' --set 'network.settings[0].window=64 MB' --set network.transport.name=window --set network.transport.bdp=4
within 8880000000 9146400000 "packets: within 3 % above"
ends "$axes" --model packet --set 'network.settings=[]' --set network.routing=spray
within 3760000000 3900000000 "packets without settings: 3.76 ms and headers"

# With its place, where the file says it.
sed -e "s|\.\./traces|$(cd "$SRCDIR" && pwd)/traces|" -e 's/axis: dp,/axis: dpp,/' "$axes" >"$folder/slip.yaml"
line=$(grep -n 'axis: dpp' "$folder/slip.yaml" | cut -d : -f 1)
"$TRAINSHED" run "$folder/slip.yaml" -q -o "$folder/no.db" >"$out" 2>"$err"
[ $? -eq 2 ] && [ "$(cat "$err")" = "trainshed: $folder/slip.yaml:$line:32: network.settings[0].axis: no job has an axis or group \"dpp\"; did you mean \"dp\"?" ]
result $? "an axis that is not there, with line and column"
refused ": --set: network.settings[0].axis: no job has an axis or group \"tp\"; did you mean \"dp\"?" "no such axis" \
    --set 'network.settings[0].axis=tp'
refused ": --set: network.settings[0].job: there is no job \"stepp\"; did you mean \"step\"?" "no such job" \
    --set 'network.settings[0].job=stepp'
refused ": --set: network.settings[1]: selects the same transfers as network.settings[0]" "two entries for the same" \
    --set 'network.settings[1]={level: buildings, axis: dp, window: 1 MB}'
refused ": --set: network.settings[0].level: found \"building\", expected one of network, buildings, regions; did you mean \"buildings\"?" \
    "no such level" --set 'network.settings[0].level=building'
refused ": --set: network.settings[0].traffic_class: found 7, expected 0 to 6" "no such class" \
    --set 'network.settings[0].traffic_class=7'
refused ": --set: network.settings: found a map, expected a list" "settings are a list" --set 'network.settings={window: 1 MB}'

# Half of what goes over the links is headers: 400 MiB at 25 GB/s and 0.4 ms.
ends "$long" --set 'network.limits={}' --set network.payload_fraction=0.5
within 17177216000 17177216010 "fluid: payload_fraction 0.5 doubles the time"
ends "$long" --set 'network.limits={}' --model packet --set 'network.packet.header=4096 B'
within 17177216000 17194393216 "packet: as many header bytes as payload, within 0.1 %"

# Two cables; one of them is taken. It dies at 2 ms, and 3 ms later routes know of it.
longest=0
shortest=999999999999
for cable in 0 1; do
    ends "$long" --set 'network.limits={}' --set 'fabric.generate.cuts[0].links=2' --set 'network.reroute_delay=3 ms' \
        --set "faults=[{at: 2 ms, from: A/0/leaf0, to: B/0/leaf0, cable: $cable, rate: 0 b/s}]"
    [ "$length" -gt "$longest" ] && longest=$length
    [ "$length" -lt "$shortest" ] && shortest=$length
done
length=$shortest
within 8788608000 8788608000 "a cable that nobody uses costs nothing"
length=$longest
within 11788608000 11788608000 "the one in use costs exactly the reroute delay"

echo "1..$n"
exit $failed
