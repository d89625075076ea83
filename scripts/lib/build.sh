# build.sh - an out-of-tree build of this tree; to be sourced from the top of the tree
#
# build_in FOLDER [CONFIGURE ARGUMENT...]: configures FOLDER where it is new, then builds.

build_jobs=$(nproc 2>/dev/null || echo 2)

build_in()
{
    folder=$1
    shift
    if [ ! -x configure ] || [ configure.ac -nt configure ]; then
        autoreconf -i || return 1
    fi
    mkdir -p "$folder" || return 1
    if [ ! -f "$folder/config.status" ]; then
        (cd "$folder" && ../configure --silent "$@") || return 1
    fi
    make -C "$folder" --no-print-directory -s -j"$build_jobs" all
}
