#!/bin/sh
# test-import-goal.sh - 'trainshed import goal' as its user runs it: every schedule at hand ends when LogGOPSim says
#
# Finish times in ns: ../shared/data/goal/README.md and ../shared/data/peers/README.md.
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

# ends ARGUMENTS: imported and run; "job:ns" of each job, in order
ends() {
    rm -f "$work/x.db" "$work/x.yaml"
    "$TRAINSHED" import goal "$@" -o "$work/x.yaml" >"$work/out" 2>"$work/err" &&
        "$TRAINSHED" run "$work/x.yaml" -q -o "$work/x.db" >>"$work/out" 2>>"$work/err" &&
        "$TRAINSHED" query --csv "$work/x.db" "select name || ':' || ((end_ps - start_ps) / 1000.0) from job order by id" \
            2>>"$work/err" | tail -n +2 | tr '\n' ' '
}

refused() {
    name=$1 message=$2
    shift 2
    rm -f "$work/x.yaml"
    "$TRAINSHED" import goal "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && [ ! -s "$work/out" ] && [ "$(cat "$work/err")" = "trainshed: $message" ] && [ ! -e "$work/x.yaml" ]
    ok $? "$name"
}

# Node 0 has two GPUs, each with a stream: 100 ns of calc on GPU 1, then a message of it to GPU 1 of node 1, after which
# GPU 0 of node 1 computes 50 ns. o = 10, L = 20, G = 0: calc to 100, the message comes at 130, is in at 140 and met, calc
# to 190.
cat >"$work/nodes.goal" <<'EOF'
num_ranks 2
rank 0 {
a: calc 100 cpu 1
b: send 1b to 1 tag 3 cpu 1 nic 1
b requires a
}
rank 1 {
c: recv 1b from 0 tag 3 cpu 1 nic 1
d: calc 50
d requires c
}
EOF
cost="--L 20 --o 10 --g 0 --G 0.001 --S 0"

# shellcheck disable=SC2086
told=$(ends $cost "$work/nodes.goal")
[ "$told" = "nodes:190.0 " ] && grep -q '4 ranks' "$work/out"
ok $? "a rank with two NICs is a node with two GPUs"

# shellcheck disable=SC2086
told=$(ends $cost --rank-is gpu "$work/nodes.goal")
[ "$told" = "nodes:190.0 " ] && grep -q '2 ranks' "$work/out"
ok $? "or a GPU, if so asked"

"$TRAINSHED" trace info "$work/nodes.goal" >"$work/out" 2>"$work/err" &&
    grep -qxF 'note: a rank is a node: its 2 NICs are GPUs, NIC k of rank r is rank 2 r + k; 1 dependencies between them became signals' "$work/out"
ok $? "which it is is told"

# shellcheck disable=SC2086
told=$(ends $cost --rank-is gpu "$work/nodes.goal" "$work/nodes.goal")
[ "$told" = "nodes:190.0 nodes-2:190.0 " ]
ok $? "several files are several jobs"

refused "a rank is one of two things" 'import goal: --rank-is: a rank is "host"; expected gpu, node or guessed' \
    "$work/nodes.goal" -o "$work/x.yaml" --rank-is host
refused "where to is asked for" 'import goal: where to? Give -o FILE.yaml' "$work/nodes.goal"
refused "costs are not negative" '--L is -1; 0 to 1e+12 ns expected' "$work/nodes.goal" -o "$work/x.yaml" --L -1
refused "a schedule is needed" "import goal: no schedule given; see 'trainshed import goal --help'" -o "$work/x.yaml"
printf 'num_ranks 1\nrank 0 {\njump\n}\n' >"$work/bad.goal"
refused "a bad schedule is refused with its place" \
    "$work/bad.goal:3: \"jump\" found; send, recv, calc, \"LABEL requires LABEL\" or } expected" "$work/bad.goal" -o "$work/x.yaml"

while read -r file name end; do
    if [ -r "$data/$file" ]; then
        told=$(ends "$data/$file")
        [ "$told" = "$name:$end.0 " ]
        ok $? "$file ends at $end ns"
    else
        n=$((n + 1))
        echo "ok $n - $file # SKIP ../shared is absent"
    fi
done <<'EOF'
goal/binary_tree_32.goal binary_tree_32 27500
goal/binary_tree_32.bin binary_tree_32 27500
goal/schedgen_linear_alltoall_16r_1MiB.goal schedgen_linear_alltoall_16r_1MiB 94454250
goal/schedgen_linear_alltoall_16r_1MiB.bin schedgen_linear_alltoall_16r_1MiB 94454250
goal/schedgen_dissemination_16r_1MiB.goal schedgen_dissemination_16r_1MiB 25187800
goal/schedgen_allreduce_recdoub_16r_1MiB.bin schedgen_allreduce_recdoub_16r_1MiB 11840432
goal/schedgen_allreduce_ring_16r_1MiB.goal schedgen_allreduce_ring_16r_1MiB 11961300
goal/htsim_comp.goal htsim_comp 480013494
goal/htsim_comp1.goal htsim_comp1 8000
goal/htsim_incast_8_1_2MiB.goal htsim_incast_8_1_2MiB 960010988
goal/htsim_one_send.goal htsim_one_send 480005494
peers/loggopsim/dissemination_1024r_32KiB.goal.gz dissemination_1024r_32KiB 2021020
EOF
echo "1..$n"
