# common.sh - what simgrid.sh and ns3.sh share; sourced
#
# Sets tree (of the sources), build, quick, runs and work (a folder that goes with the script), from the arguments
# [--quick] [BUILD]. Exit status of both scripts: 1 = a bar is missed, 2 = it could not be measured.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
script=$(basename "$0")
. "$tree/scripts/lib/packages.sh"
. "$tree/scripts/lib/build.sh"
build=$tree/build
quick=no
runs=5

give_up() {
    echo "$script: $*" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --quick)
        quick=yes
        runs=1
        ;;
    -*) give_up "usage: bench/peers/$script [--quick] [BUILD]" ;;
    *) build=$(cd "$1" 2>/dev/null && pwd) || give_up "no such folder: $1" ;;
    esac
    shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# need PACKAGE...: of Debian, beside those that our build needs
need() {
    # shellcheck disable=SC2086 # a list of words
    packages_need $packages_build "$@" >"$work/apt" 2>&1 || {
        tail -n 5 "$work/apt" >&2
        give_up "cannot install $*: is there a network, and are you root or allowed sudo?"
    }
}

# make_ours TARGET: in the build folder, which is configured first where it is new
make_ours() {
    { (cd "$tree" && build_in "$build") && make -C "$build" "$1"; } >"$work/make" 2>&1 || {
        tail -n 20 "$work/make" >&2
        give_up "cannot build $1"
    }
}

# field NAME: of the JSON line on standard input
field() {
    sed -n "s/.*\"$1\": \"\\{0,1\\}\\([^,\"}]*\\).*/\\1/p"
}

# median: of the numbers on standard input, a line each
median() {
    sort -g | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# package_version PACKAGE
package_version() {
    dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo unknown
}

# machine: one line that says where and when this was measured
machine() {
    echo "$(date -u +%F), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $1, trainshed" \
        "$(git -C "$tree" describe --always --dirty 2>/dev/null || echo 'without git')"
}
