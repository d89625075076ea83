#!/bin/sh
# test-import-htsim.sh - 'trainshed import htsim' as its user runs it: every complete connection matrix at hand runs to the end
#
# The table pairs each file with a tree it fits, a .topo file or the rate of a generated tree (1 us a link), and says
# when the last byte arrives in the fluid model: worked out by hand, from and to. All bytes must arrive. Then the packet
# model runs those marked "p"; with HTSIM_FULL set (make htsim-full) all of them, and within the same time and 1.5 of it.
n=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
data=${SHARED:-$SRCDIR/../shared}/data

ok() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/# /' "$work/out" "$work/err"
    fi
}

# import FILE.cm ARGUMENTS: into $work/x.yaml
import() {
    "$TRAINSHED" import htsim "$@" -o "$work/x.yaml" >"$work/out" 2>"$work/err"
}

refused() {
    name=$1 message=$2
    shift 2
    "$TRAINSHED" import "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(cat "$work/err")" = "trainshed: $message" ] && [ ! -e "$work/x.yaml" ]
    ok $? "$name"
}

# run [OPTION ...]: $work/x.yaml; "bytes flows end_ps" of its messages (acknowledgements have no bytes)
run() {
    rm -f "$work/x.db"
    "$TRAINSHED" run "$work/x.yaml" -q -o "$work/x.db" "$@" >"$work/out" 2>"$work/err" &&
        "$TRAINSHED" query --csv "$work/x.db" \
            'select sum(bytes), sum(bytes > 0), max(end_ps) from flow' 2>>"$work/err" | tail -n +2 | tr ',' ' '
}

# matrix TEXT: a connection matrix of that text
matrix() {
    printf '%b' "$1" >"$work/m.cm"
    rm -f "$work/x.yaml"
}

# ends NAME "SRC->DST@END_US ..." TREE: where each message of $work/m.cm ends
ends() {
    rm -f "$work/x.db"
    import "$work/m.cm" --rate '100 Gb/s' --latency '1 us' && run >/dev/null &&
        "$TRAINSHED" query --csv "$work/x.db" "select src_rank || '->' || dst_rank || '@' || (end_ps / 1e6) from flow
            where bytes > 0 order by end_ps, src_rank, dst_rank" 2>>"$work/err" | tail -n +2 | tr '\n' ' ' >"$work/out"
    [ "$(cat "$work/out")" = "$2 " ]
    ok $? "$1"
}

# 16 hosts in leaves of two and pods of four: 100 kB is 8 us, one way 2 us within a leaf, 4 in a pod, 6 beyond.
head='Nodes 16\nConnections'
matrix "$head 3\nTriggers 1\n0->1 id 1 start 0 size 100000 recv_done_trigger 7\n\n4->5 id 2 trigger 7 size 100000\n\
1->0 id 3 trigger 7 size 100000\ntrigger id 7 oneshot\n"
ends 'a oneshot starts all its flows when the receiver has the last byte, at no cost' '0->1@10.0 1->0@20.0 4->5@20.0'
matrix "$head 2\nTriggers 1\n0->1 id 1 start 1e6 size 100000 send_done_trigger 1\n0->8 id 2 trigger 1 size 100000\n\
trigger id 1 oneshot\n"
ends 'send_done waits for the acknowledgement: 1 + 8 + 2 + 2, then 8 + 6' '0->1@11.0 0->8@27.0'
matrix "$head 3\nTriggers 1\n0->1 id 1 start 0 size 100000 recv_done_trigger 1\n2->3 id 2 start 5000000 size 200000 \
recv_done_trigger 1\n4->5 id 3 trigger 1 size 100000\ntrigger id 1 barrier count 2\n"
ends 'a barrier waits for its count: 5 + 16 + 2, then 8 + 2' '0->1@10.0 2->3@23.0 4->5@33.0'
matrix "$head 4\nTriggers 1\n0->1 start 0 size 100000 send_done_trigger 1\n2->3 start 0 size 200000 \
recv_done_trigger 1\n8->9 trigger 1 size 100000\n10->11 trigger 1 size 200000\ntrigger id 1 barrier count 2\n"
ends 'a barrier starts all its flows, of other hosts too: at 18' '0->1@10.0 2->3@18.0 8->9@28.0 10->11@36.0'
matrix "$head 5\nTriggers 1\n0->1 id 1 start 0 size 200000 recv_done_trigger 1\n2->3 id 2 start 0 size 100000 \
recv_done_trigger 1\n4->5 id 3 trigger 1 size 100000\n6->7 id 4 trigger 1 size 100000 recv_done_trigger 1\n\
8->9 id 5 trigger 1 size 100000\ntrigger id 1 multishot\n"
ends 'a multishot starts the next flow each time: at 10, 18 and 28' '2->3@10.0 0->1@18.0 4->5@20.0 6->7@28.0 8->9@38.0'
matrix "$head 2\n0->1 id 1 msg start 0 size 100000\n0->1 id 1 msg start 0 size 200000\n"
ends 'messages of a connection go one after the other: 8 + 2, 8 + 16 + 2' '0->1@10.0 0->1@26.0'
matrix "$head 2\n0->1 start 0 size 100000\n0->1 start 0 size 100000\n"
ends 'connections of one pair share the way: both at 16 + 2' '0->1@18.0 0->1@18.0'

matrix "$head 1\n0->1 start 0 size 1\n"
cm=$work/m.cm
refused 'where to is asked for' 'import htsim: where to? Give -o FILE.yaml' htsim "$cm"
refused 'the rate is asked for' "import htsim: a connection matrix does not say how fast links are; give --topology \
FILE.topo, or --rate such as --rate '100 Gb/s'" htsim "$cm" -o "$work/x.yaml"
refused 'the latency is asked for' "import htsim: a connection matrix does not say how long links are; give --topology \
FILE.topo, or --latency of each link such as --latency '1 us'" htsim "$cm" -o "$work/x.yaml" --rate '100 Gb/s'
refused 'a rate has a unit' '--rate: rate "100" has no unit; write for example "100 Gb/s"' htsim "$cm" \
    -o "$work/x.yaml" --rate 100 --latency '1 us'
refused 'a tree says its own rates' 'import htsim: --topology says the rates and latencies; leave out --rate' htsim \
    "$cm" -o "$work/x.yaml" --rate '100 Gb/s' --topology x
refused 'a format that is not known' "there is no \"import htsimm\"; did you mean \"htsim\"; see 'trainshed \
import --help'" htsimm "$cm"
tier='Downlink_speed_Gbps 1\nDownlink_Latency_ns 1\nRadix_Down'
printf '%b' "Nodes 8\nTiers 2\nPodsize 8\nTier 0\nRadix_Up 4\n$tier 4\nTier 1\n$tier 2\n" >"$work/small.topo"
refused 'a tree that is too small' "$work/small.topo has 8 hosts, but $cm needs 16" htsim "$cm" -o "$work/x.yaml" \
    --topology "$work/small.topo"
"$TRAINSHED" import --help >"$work/out" 2>"$work/err" && grep -q '^  htsim  *FILE.cm -o OUT.yaml' "$work/out"
ok $? 'help lists the importers'

if [ ! -d "$data/htsim" ]; then
    echo "ok $((n + 1)) - real files # SKIP no ../shared"
    echo "1..$((n + 1))"
    exit 0
fi
# The ring of 8,064 chained flows as program text: it reads back equal, and runs alike.
ring=$data/peers/htsim/ring_allreduce_64of128_500kB.cm.gz
for from in "$ring" "$work/a.program"; do
    to=$work/a.program
    [ "$from" = "$ring" ] || to=$work/b.program
    "$TRAINSHED" trace convert "$from" -o "$to" >"$work/out" 2>"$work/err"
done
cmp "$work/a.program" "$work/b.program" >>"$work/out" 2>&1
ok $? 'signals survive program text'
import "$ring" --topology "$data/htsim/uet_fat_tree_128_1os.topo" &&
    sed -i "s|trace: .*format: htsim|program: \"$work/a.program\"|" "$work/x.yaml"
seen=$(run)
[ "$seen" = '4032000000 8064 5702000000' ]
ok $? "a matrix as a program runs alike: $seen"
rm -f "$work/x.yaml"

refused 'a file that is cut short' "$data/htsim/uet_a2a.cm: 3600 connections and 3360 triggers are announced, 240 and \
0 found" htsim "$data/htsim/uet_a2a.cm" -o "$work/x.yaml" --rate '100 Gb/s' --latency '1 us'

# pair MARK FILE TREE FROM_PS TO_PS
pair() {
    case $3 in
    *.topo) import "$data/$2" --topology "$data/htsim/$3" ;;
    *) import "$data/$2" --rate "$3" --latency '1 us' ;;
    esac
    ok $? "$2 on $3 becomes a scenario"
    announced=$(zcat -f "$data/$2" | awk '/^[0-9]+->/ { for (i = 2; i < NF; i++) if ($i == "size") s += $(i + 1); c++ }
        END { printf "%.0f %d", s, c }')
    seen=$(run)
    [ "${seen% *}" = "$announced" ]
    ok $? "$2: all $announced bytes and flows arrive, found $seen"
    end=${seen##* }
    [ "${end:-0}" -ge "$4" ] && [ "${end:-0}" -le "$5" ]
    ok $? "$2: the last byte arrives at $end ps, from $4 to $5"
    [ "$1" = p ] || [ -n "$HTSIM_FULL" ] || return 0
    seen=$(run --model packet)
    [ "${seen% *}" = "$announced" ]
    ok $? "$2: all bytes and flows arrive as packets"
    end=${seen##* }
    [ "${end:-0}" -ge "$4" ] && [ "$((${end:-0} * 2))" -le "$(($5 * 3))" ]
    ok $? "$2: the last packet arrives at $end ps"
}

# A 2 MB flow alone is 160 us at 100 Gb/s, 80 at 200, 40 at 400; the longest way is 6 us in three tiers and 4 in two.
# Incasts of k flows keep the last link busy from the first to the last byte, k times as long; a rate of 1/k is rounded
# down to 40 bits, which may cost a picosecond. The ring is the longest of its 64 chains, of 126 times 40 us, the ways of
# its flows and those of the acknowledgements between them; the all-to-all 127 times 5 us and the ways of 3 flows within
# a leaf, 12 in a pod and 112 beyond, there and back: 2081 us, and 2 % for flows that meet.
while read -r mark file from to tree; do
    pair "$mark" "$file" "$tree" "$from" "$to"
done <<'END'
p htsim/csg_one.cm 166000000 166000000 100 Gb/s
- htsim/csg_bidir.cm 166000000 166000000 100 Gb/s
p htsim/csg_incast.cm 2406000000 2406000001 100 Gb/s
- htsim/csg_incast_128.cm 20326000000 20326000001 uet_fat_tree_128_1os.topo
- htsim/csg_outcast_incast.cm 1606000000 1606000000 uet_fat_tree_128_1os.topo
p htsim/csg_perm_16n_16c_2MB.cm 166000000 166000000 100 Gb/s
- htsim/csg_perm_32n_32c_2MB.cm 166000000 166000000 100 Gb/s
- htsim/csg_perm_1024n_1024c_0u_2000000b.cm 166000000 166000000 csg_fat_tree_1024.topo
p htsim/uet_alltoall_serial_16n.cm 2558000000 2570000000 100 Gb/s
- htsim/uet_gen_random_incast_8192n_64c_16us_1Ms.cm 5374709120 5374709122 uet_fat_tree_8192_1os.topo
- htsim/uet_gen_remote_incast_8192n_32c_0us_1Ms.cm 675088640 675088641 uet_leaf_spine_8192_400g_4_to_1.topo
- htsim/uet_incast_2-1.tm 326000000 326000000 100 Gb/s
- htsim/uet_incast_2to1_size4194304B.cm 677088640 677088641 uet_fat_tree_128_1os.topo
p htsim/uet_incast_3-1_overlapped.tm 206000000 206000040 uet_fat_tree_128_4os.topo
- htsim/uet_incast_collateral_128.cm 20166000000 20166000001 uet_fat_tree_128_1os.topo
- htsim/uet_perm_128n_128c_2MB.cm 166000000 166000000 uet_fat_tree_128_1os.topo
- htsim/uet_test_cr_1f10m10p.cm 38688000 38688010 100 Gb/s
- htsim/uet_test_cr_1f10m1p.cm 9268800 9268810 100 Gb/s
- peers/htsim/incast_1024n_64to1_2MB.cm 2566000000 2566000000 400 Gb/s
p peers/htsim/incast_127to1_2MB.cm 20326000000 20326000001 uet_fat_tree_128_1os.topo
- peers/htsim/perm_1024_2MB.cm 86000000 86000000 uet_fat_tree_1024_1os.topo
p peers/htsim/perm_128_2MB.cm 166000000 166000000 uet_fat_tree_128_1os.topo
- peers/htsim/ring_allreduce_64of128_500kB.cm.gz 5702000000 5702000000 uet_fat_tree_128_1os.topo
- peers/htsim/a2a_128_par1_62500B.cm.gz 2081000000 2122000000 uet_fat_tree_128_1os.topo
END

# Nothing was forgotten.
listed=$(sed -n 's/^[p-] \([a-z/]*htsim\/[^ ]*\) .*/\1/p' "$0" | sort)
there=$(cd "$data" && printf "%s\n" htsim/*.[ct]m peers/htsim/*.cm* | grep -v uet_a2a.cm | sort)
[ "$listed" = "$there" ]
ok $? 'the table has every complete file'
echo "1..$n"
