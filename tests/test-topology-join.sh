#!/bin/sh
# test-topology-join.sh - an ibnetdiscover fabric, an NCCL topology in each host and a WAN between two: one command, one
# valid fabric that collectives run over
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
data=${SHARED:-$SRCDIR/../shared}/data
ib=$data/fabric/ibnetdiscover-dgx-ndr.txt
server=$data/nccl-topo/azure_ndv5-topo.xml

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

# topology ARGUMENTS: output in $work/out, messages in $work/err, status in $status
topology() {
    "$TRAINSHED" topology "$@" >"$work/out" 2>"$work/err"
    status=$?
}

# refused NAME MESSAGE ARGUMENTS
refused() {
    name=$1 message=$2
    shift 2
    topology join "$@" -o "$work/x"
    is "$name" "2 trainshed: $message" "$status $(cat "$work/err")"
}

# A site of two hosts on a leaf, and a server of two GPUs with a NIC each: both made here.
cat >"$work/site.txt" <<'TEXT'
Switch 8 "S-1" # "MF0;leaf:MQM9700/U1" base port 0 lid 1 lmc 0
[1] "H-1"[1] # "h0 mlx5_0" lid 2 4xNDR
[2] "H-2"[1] # "h1 mlx5_0" lid 3 4xNDR
Ca 1 "H-1" # "h0 mlx5_0"
[1] "S-1"[1] # lid 2 lmc 0 "MF0;leaf:MQM9700/U1" lid 1 4xNDR
Ca 1 "H-2" # "h1 mlx5_0"
[1] "S-1"[2] # lid 3 lmc 0 "MF0;leaf:MQM9700/U1" lid 1 4xNDR
TEXT
cat >"$work/server.xml" <<'XML'
<system version="1"><cpu numaid="0">
<pci busid="0:1" class="0x060400" link_speed="16 GT/s" link_width="16">
<pci busid="0:2" class="0x030200" link_speed="16 GT/s" link_width="16"/>
<pci busid="0:3" class="0x020700" link_speed="32 GT/s" link_width="16"/></pci>
</cpu></system>
XML
topology join "$work/site.txt" --inside "$work/server.xml" --and "$work/site.txt" \
    --wan 'rate=100 Gb/s, length=10 km, links=2' --names east,west --level region \
    --default-latency 600ns --inside-latency 200ns -o "$work/small.graphml"
# Each site: 1 leaf, 2 NICs, 2 x (GPU, PCIe switch, CPU); cables: 2 + 2 x 3, and 2 between the sites.
is 'two small sites' "0 $work/small.graphml: 4 GPUs in 4 servers, 18 nodes, 36 links" "$status $(tail -1 "$work/out")"
topology check "$work/small.graphml"
is 'are one valid fabric' '0 0' "$status $(grep -c '^problem' "$work/out")"
# By hand: 4 x 200 ns in the servers, 2 x 600 ns, 50 us of fibre = 52 us; 12.5 MB at 100 Gb/s (less than 24 GB/s of PCIe)
# = 1 ms.
"$TRAINSHED" collective broadcast -f "$work/small.graphml" --ranks 0,2 --bytes 12.5MB --slice none --channels 1 \
    --model analytic >"$work/out" 2>"$work/err"
is 'and a broadcast takes the time worked out by hand' 1 "$(grep -c '12500000  *1052\.000 ' "$work/out")"

refused 'nothing to join' 'topology join: with what? Give --inside FILE, --and FABRIC, or both' "$work/site.txt"
refused 'no WAN' "topology join: what joins the fabrics? Give --wan 'rate=400 Gb/s,length=80 km'" "$work/site.txt" \
    --and "$work/site.txt"
refused 'a WAN to nowhere' 'topology join: --wan is between two fabrics; give the other with --and' "$work/site.txt" \
    --wan rate=1Gb/s --inside "$work/server.xml"
refused 'a WAN without a rate' '--wan: the rate of a link is not given; add rate=400 Gb/s' "$work/site.txt" \
    --and "$work/site.txt" --wan 'length=1 km'
refused 'a WAN without a length' '--wan: how long is a link? Add length=80 km, or latency=400 us' "$work/site.txt" \
    --and "$work/site.txt" --wan 'rate=1 Gb/s'
refused 'an unknown word of a WAN' '--wan: found "hops", expected rate=, length=, latency= or links=' \
    "$work/site.txt" --and "$work/site.txt" --wan 'hops=1'
refused 'no links of a WAN' '--wan: links: found "0", expected a number from 1 to 1000000' "$work/site.txt" \
    --and "$work/site.txt" --wan 'links=0'
refused 'one name for two' '--names: 1 names for 2 fabrics' "$work/site.txt" --and "$work/site.txt" \
    --wan 'rate=1Gb/s,length=1km' --names a
refused 'one name twice' '--names: "a,a": each name is there once, not empty and without /' "$work/site.txt" \
    --and "$work/site.txt" --wan 'rate=1Gb/s,length=1km' --names a,a
refused 'no length of links' "$work/site.txt: says no length of any link: give --default-latency" "$work/site.txt" \
    --inside "$work/server.xml"
is 'nothing was written where it was refused' '' "$(ls "$work" | grep '^x')"

if [ ! -f "$ib" ] || [ ! -f "$server" ]; then
    for name in 'two real sites' 'are one valid fabric' 'with the capacity asked for' 'and a broadcast takes the time worked out by hand'; do
        n=$((n + 1))
        echo "ok $n - $name # SKIP ../shared is absent"
    done
    echo "1..$n"
    exit 0
fi
topology join "$ib" --inside "$server" --and "$ib" --wan 'rate=400 Gb/s,length=80 km,links=18' \
    --default-latency 600ns --inside-latency 300ns -o "$work/two.graphml"
# A site: 40 switches, 582 NICs, 191 hosts of 8 GPUs, 8 PCIe switches and 2 CPUs. Cables: 1114 of the network; in a host 8
# of GPUs, 8 of switches, 1 between CPUs, and one of each of the 542 NICs that are not of aggregation nodes.
is 'two real sites' "0 $work/two.graphml: $((2 * 191 * 8)) GPUs in $((2 * 191)) servers, $((2 * (40 + 582 + 191 * 18))) \
nodes, $((2 * (2 * (1114 + 191 * 17 + 542) + 18))) links" "$status $(tail -1 "$work/out")"
topology check "$work/two.graphml"
is 'are one valid fabric' '0 0' "$status $(grep -c '^problem' "$work/out")"
topology cut "$work/two.graphml" A B
is 'with the capacity asked for' 1 "$(grep -c '7\.2 Tb/s  7\.2 Tb/s' "$work/out")"
# From the first GPU of A to that of B: 4 x 300 ns, 4 x 600 ns, 400 us; 48 MB at PCIe's 48 GB/s = 1 ms.
"$TRAINSHED" collective broadcast -f "$work/two.graphml" --ranks 0,1528 --bytes 48MB --slice none --channels 1 \
    --model analytic >"$work/out" 2>"$work/err"
is 'and a broadcast takes the time worked out by hand' 1 "$(grep -c '48000000  *1403\.600 ' "$work/out")"
echo "1..$n"
