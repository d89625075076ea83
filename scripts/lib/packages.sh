# packages.sh - Debian packages, installed where they are missing; to be sourced
#
# Nothing is done, and neither root nor the network is needed, where all are there already.

packages_build="build-essential autoconf automake libtool pkg-config git ca-certificates xz-utils
    libglib2.0-dev libigraph-dev libsqlite3-dev sqlite3 check libyaml-dev libyajl-dev
    libprotobuf-c-dev protobuf-c-compiler libxml2-dev libcsv-dev libotf2-trace-dev zlib1g-dev mandoc"
packages_fuzz="clang libclang-rt-14-dev"

# Of the packages named, those that are not installed.
packages_missing()
{
    for package in "$@"; do
        case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
        *" installed") ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# packages_need PACKAGE...: all of them are there afterwards, or a message and status 1.
packages_need()
{
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        echo "no apt here: these Debian 12 packages, or what they hold, are taken for granted:" "$@" >&2
        return 0
    fi
    missing=$(packages_missing "$@")
    [ -n "$missing" ] || return 0
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        sudo="sudo"
        command -v sudo >/dev/null || { echo "neither root nor sudo, and not installed: $missing" >&2; return 1; }
    fi
    echo "installing: $missing" >&2
    $sudo apt-get update -q >&2 &&
        # shellcheck disable=SC2086 # a list of words
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
}
