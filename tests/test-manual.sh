#!/bin/sh
# test-manual.sh - every manual page is clean to mandoc, and what it refers to exists
pages=$(cd "$SRCDIR/doc" && echo *.[15])
# shellcheck disable=SC2086 # a list of words
set -- $pages
echo "1..$(($# * 2))"
n=0
for page in "$@"; do
    n=$((n + 1))
    if ! command -v mandoc >/dev/null; then
        echo "ok $n - $page is clean # SKIP no mandoc"
    else
        # Pages not installed yet are not found: the next test looks for them in this tree.
        said=$(mandoc -T lint "$SRCDIR/doc/$page" | grep -v 'referenced manual not found')
        [ -z "$said" ] && echo "ok $n - $page is clean" || echo "not ok $n - $page is clean"
        [ -z "$said" ] || echo "$said" | sed 's/^/# /'
    fi
    n=$((n + 1))
    missing=
    for reference in $(sed -n 's/^\.Xr \(trainshed[^ ]*\) \([0-9]\).*/\1.\2/p' "$SRCDIR/doc/$page" | sort -u); do
        [ -f "$SRCDIR/doc/$reference" ] || missing="$missing $reference"
    done
    [ -z "$missing" ] && echo "ok $n - $page refers to pages that exist" ||
        echo "not ok $n - $page refers to pages that exist: no$missing"
done
