#!/bin/sh
# test-topology.sh - 'trainshed topology' as its user runs it: numbers worked out by hand, messages, exit status
n=0
top=$SRCDIR/topologies
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# is NAME WANT GOT
is() {
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf 'want: %s\ngot: %s\n' "$2" "$3" | sed 's/^/# /'
    fi
}

# has NAME LINE FILE: FILE has that line; runs of blanks count as one
has() {
    n=$((n + 1))
    if sed 's/  */ /g; s/^ //' "$3" | grep -qxF -e "$2"; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        sed 's/^/# /' "$3"
    fi
}

# topology ARGUMENTS: output in $work/out, messages in $work/err, status in $status
topology() {
    "$TRAINSHED" topology "$@" >"$work/out" 2>"$work/err"
    status=$?
}

# refused NAME MESSAGE ARGUMENTS: exit 2, one message, nothing on standard output
refused() {
    name=$1 message=$2
    shift 2
    topology "$@"
    is "$name" "2 trainshed: $message" "$status $(cat "$work/err")$(cat "$work/out")"
}

# Two buildings: 96 servers of 8; A has 64 of them, 512 NICs of 400 Gb/s = 204.8 Tb/s, a quarter of it up.
topology generate "$top/two-buildings.yaml" -o "$work/two.graphml"
is 'generate says what it wrote' "0 $work/two.graphml: 768 GPUs in 96 servers, 1754 nodes, 6400 links" \
    "$status $(cat "$work/out")"
topology show "$work/two.graphml"
has 'show counts GPUs' 'gpu 768' "$work/out"
has 'show counts leaves: 3 zones of 8 rails' 'leaf 24' "$work/out"
has 'show tells NICs to leaves' 'ethernet nic - leaf 400 Gb/s 600 ns 768 768 307.2 Tb/s' "$work/out"
has 'show tells the uplinks of B' 'interbuilding spine - dci 800 Gb/s 5 us 32 32 25.6 Tb/s' "$work/out"
has 'show tells the oversubscription of A' 'building north/A 64 512 204.8 Tb/s 32 51.2 Tb/s 4' "$work/out"
has 'and of a zone' 'zone north/A/1 32 256 102.4 Tb/s 32 102.4 Tb/s 1' "$work/out"
cp "$work/out" "$work/from-graphml"
topology show "$top/two-buildings.yaml"
sed 1d "$work/out" >"$work/a"
sed 1d "$work/from-graphml" >"$work/b"
is 'a fabric is the same from YAML and from GraphML' "0 " "$status $(diff "$work/a" "$work/b")"

topology import "$work/two.graphml" -o "$work/again.graphml"
is 'import writes the same file again' "0 " "$status $(cmp "$work/two.graphml" "$work/again.graphml" 2>&1)"
gzip -c "$work/two.graphml" >"$work/two.gz"
topology import "$work/two.gz" -o "$work/again.graphml"
is 'import knows GraphML by its content, gzipped too' "0 " "$status $(cmp "$work/two.graphml" "$work/again.graphml" 2>&1)"
printf '\357\273\277' | cat - "$top/dumbbell.graphml" >"$work/bom"
topology import "$work/bom" -o "$work/bom.graphml"
is 'and behind a byte order mark' "0 $work/bom.graphml: 4 hosts in 4 servers, 6 nodes, 10 links" \
    "$status $(head -n 1 "$work/out")"

topology show "$work/two.graphml" north/B/0/31/gpu7
has 'show of a node: its attributes' 'memory bandwidth 3350 GB/s' "$work/out"
has 'its NICs, nearest first' 'NICs, nearest north/B/0/31/nic7' "$work/out"
topology show "$work/two.graphml" north/B/0/spine3 north/router
is 'show of two nodes: the links both ways' '0 3' "$status $(wc -l <"$work/out" | tr -d ' ')"
topology show "$work/two.graphml" north/B/0/spine3 north/B/0/spine4
is 'show of two nodes apart' \
    "no link joins north/B/0/spine3 and north/B/0/spine4; 'trainshed topology paths' tells their routes" "$(cat "$work/out")"

# From A to B each of 32 spines leads to A's router, whose 32 cables lead on, and 32 from there to B's spines:
# 32^3 paths; 2 x 5 us on the cut, 4 links of the zones and one of A's router at 600 ns.
topology paths "$work/two.graphml" north/A/0/0/gpu3 north/B/0/5/gpu3
has 'paths between buildings' 'equal-cost paths 32768 of 9 hops' "$work/out"
has 'their latency' 'one of them 400 Gb/s at least on each link, 13 us' "$work/out"
has 'the path: over the cut' 'north/A/router north/router interbuilding 1.6 Tb/s 5 us 1 km' "$work/out"
topology paths "$work/two.graphml" north/A/0/0/gpu3 north/A/0/0/gpu4
has 'paths in a server: NVLink alone' 'equal-cost paths 1 of 2 hops' "$work/out"
topology paths "$work/two.graphml" north/A/0/0/gpu3 north/A/0/1/gpu3
has 'paths on a rail: one leaf' 'equal-cost paths 1 of 4 hops' "$work/out"
topology paths --nic 0 "$work/two.graphml" north/A/0/0/gpu3 north/A/0/1/gpu3
has 'paths over another NIC start over NVLink' 'north/A/0/0/gpu3 north/A/0/0/nvswitch nvlink 3.6 Tb/s 300 ns -' "$work/out"

topology cut "$work/two.graphml" A B
has 'cut: the uplinks of B, the narrower' 'north/A north/B 512 256 25.6 Tb/s 25.6 Tb/s 4' "$work/out"
topology cut "$work/two.graphml"
has 'cut of zones of one building' 'north/A/0 north/A/1 256 256 102.4 Tb/s 102.4 Tb/s 1' "$work/out"
has 'bisection: 128 GPUs of A/1 with B, over 25.6 of the cut and 51.2 of the zone' \
    'first half second half 384 384 76.8 Tb/s 76.8 Tb/s 2' "$work/out"

topology check "$work/two.graphml"
is 'check finds nothing wrong' 0 $status
has 'check: routes' 'ok: routes lead from "north/A/0/0/gpu0" to each of 767 others and back' "$work/out"
topology check "$top/dumbbell.graphml"
has 'check names the bridge' 'bridge: "A/leaf" - "B/leaf", 10 Gb/s: without it the fabric falls apart' "$work/out"
topology generate --set 'fabric.generate.cuts[0].links=4' "$top/two-buildings.yaml" -o "$work/four.graphml"
topology check "$work/four.graphml"
has 'check tells uplinks that cannot be filled: 4 of 32 spines, 8 cables of 400 Gb/s each' \
    'note: building north/B: its uplinks carry 25.6 Tb/s, but the links below can bring only 12.8 Tb/s to them' "$work/out"
topology cut "$work/four.graphml" A B
has 'and so is the cut' 'north/A north/B 512 256 12.8 Tb/s 12.8 Tb/s 8' "$work/out"

# Every settings file of topologies/ is sound.
for file in "$top"/*.yaml "$top"/*.graphml; do
    topology check "$file"
    is "check of $(basename "$file")" 0 $status
done

# A fabric in two pieces: two hosts, each on a switch of its own.
cat >"$work/apart.graphml" <<'XML'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="k" for="node" attr.name="kind" attr.type="string"/>
  <key id="t" for="edge" attr.name="kind" attr.type="string"><default>ethernet</default></key>
  <key id="c" for="edge" attr.name="capacity_Bps" attr.type="double"><default>1e9</default></key>
  <key id="x" for="node" attr.name="colour" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="h0"><data key="k">host</data><data key="x">red</data></node>
    <node id="s0"><data key="k">leaf</data></node>
    <node id="h1"><data key="k">host</data></node>
    <node id="s1"><data key="k">leaf</data></node>
    <edge source="h0" target="s0"/>
    <edge source="h1" target="s1"/>
  </graph>
</graphml>
XML
topology check "$work/apart.graphml"
is 'check of a fabric in two pieces fails' "2 trainshed: $work/apart.graphml: 2 problems" "$status $(cat "$work/err")"
is 'and names two nodes' 2 "$(grep -c '^problem: .*"h0".*"h1"' "$work/out")"
is 'and the attribute that is ignored' 1 "$(grep -c '^note: .*colour' "$work/out")"

# All problems of a file are told, each with its line.
printf 'Switch 8 "S-1"\n[1] "a"[2]\nhello\n' >"$work/broken.txt"
topology check "$work/broken.txt"
is 'check of a broken file fails' "2 trainshed: $work/broken.txt: 2 problems" "$status $(cat "$work/err")"
is 'and names both lines' "problem: $work/broken.txt:3: problem: $work/broken.txt:2:" \
    "$(grep -o '^problem: [^ ]*' "$work/out" | paste -sd' ')"
printf 'Switch 8 "S-1"\n[1] "S-2"[2]\n' >"$work/short.txt"
topology check --default-rate '400 Gb/s' --default-latency 600ns "$work/short.txt"
is 'what the file leaves open can be given' 1 "$(grep -c '^note: 2 switches, 0 CAs, 1 cables, 1 of them' "$work/out")"

topology formats
is 'the formats are listed' '0 9' \
    "$status $(grep -cE '^  (graphml|htsim|iblinkinfo|ibnetdiscover|nccl|nvidia-smi|slurm) ' "$work/out")"

refused 'a misspelt verb' "there is no \"topology chek\"; did you mean \"check\"; see 'trainshed topology --help'" chek
refused 'too few arguments' "0 arguments given, 1 to 3 expected; see 'trainshed topology show --help'" show
refused 'no output' 'topology generate: where to? Give -o FILE' generate "$top/two-buildings.yaml"
refused 'a missing file' "$work/none: cannot be opened: No such file or directory" show "$work/none"
refused 'a node that is not there' 'there is no node "A/host7"; did you mean "A/host0"?' show "$top/dumbbell.graphml" A/host7
refused 'a route from a switch' '"A/leaf" is of kind leaf; routes lead from GPUs and hosts to GPUs and hosts' \
    paths "$top/dumbbell.graphml" A/leaf B/host0
refused 'a NIC that is not there' '--nic 8: the server of "north/A/0/0/gpu0" has 8 NICs, counted from 0' \
    paths --nic 8 "$work/two.graphml" north/A/0/0/gpu0 north/A/0/1/gpu0
refused 'a cut with itself' 'north/A and north/A: one lies in the other' cut "$work/two.graphml" A north/A
refused 'a cut with half of itself' 'north/A and north/A/0: one lies in the other' cut "$work/two.graphml" A north/A/0
refused 'an unknown place' 'no region, building, zone or rack is named "C"; there are A, B' cut "$top/dumbbell.graphml" C A
refused 'an ambiguous place' "more than one region, building, zone or rack is named \"0\"; there are north, north/A, \
north/B, north/A/0, north/A/1, north/B/0" cut "$work/two.graphml" 0 B
refused 'an unknown format' "there is no topology format \"graphmll\"; did you mean \"graphml\"; 'trainshed topology --help' lists them" \
    import -f graphmll "$top/dumbbell.graphml" -o "$work/x"
refused 'what is no fabric' "$SRCDIR/configure.ac: this is no fabric in a format that is known; 'trainshed topology --help' lists them" \
    import "$SRCDIR/configure.ac" -o "$work/x"
is 'NVL72 racks: 8 x 72 GPUs, a leaf a rail, 8 x 72 uplinks over 8 spines' \
    '576 GPUs in 8 servers, 1240 nodes, 4608 links' \
    "$("$TRAINSHED" topology generate "$top/nvl72-racks.yaml" -o "$work/nvl72.graphml" | cut -d' ' -f2-)"
is 'and half of them can send the others 4 x 72 x 400 Gb/s' '115.2 Tb/s 115.2 Tb/s' \
    "$("$TRAINSHED" topology cut "$work/nvl72.graphml" | tail -n 1 | grep -o '[0-9.]* Tb/s' | tr '\n' ' ' | sed 's/ $//')"
refused 'oversubscription of a torus' "$top/two-buildings.yaml: --set: fabric.generate.zone.oversubscription: means nothing for a torus" \
    generate --set fabric.generate.zone.network=torus --set 'fabric.generate.zone.torus=[2, 2]' \
    --set fabric.generate.zone.oversubscription=2 "$top/two-buildings.yaml" -o "$work/x"
is 'nothing was written where it was refused' '' "$(ls "$work" | grep '^x')"

echo "1..$n"
