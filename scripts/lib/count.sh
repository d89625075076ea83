# count.sh - sums what test programs said; to be sourced
#
# A failing Check program counts as FAIL for each failed test and once more as ERROR for its exit status:
# ERROR counts only where a program has no FAIL.

# count_trs FOLDER: "passed failed skipped" of automake's .trs files below FOLDER.
count_trs()
{
    find "$1" -name '*.trs' -print | LC_ALL=C sort | xargs -r awk '
        function close_file() { failed += fails ? fails : errors; fails = errors = 0 }
        FNR == 1 { close_file() }
        $1 == ":test-result:" {
            if ($2 == "PASS" || $2 == "XFAIL") passed++
            else if ($2 == "SKIP") skipped++
            else if ($2 == "FAIL" || $2 == "XPASS") fails++
            else errors++
        }
        END { close_file(); print passed + 0, failed + 0, skipped + 0 }'
}

# count_add "passed failed skipped": onto the sums passed, failed, skipped.
passed=0 failed=0 skipped=0
count_add()
{
    # shellcheck disable=SC2086 # three words
    set -- $1
    passed=$((passed + ${1:-0})) failed=$((failed + ${2:-0})) skipped=$((skipped + ${3:-0}))
}

# The plain closing line; status 1 where something failed or nothing ran.
count_close()
{
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
