#!/bin/sh
# Runs tests beside each other: beside.sh PYTHON pytest's words. Up to three that failed run once more, each by itself:
# what fails again fails; what passes then is named, because it depends on what else the machine does.
set -u
MOST=3
python=$1
shift
failed=.pytest_cache/v/cache/lastfailed
rm -f "$failed"
"$python" -m pytest "$@"
status=$?
[ "$status" = 1 ] && [ -f "$failed" ] || exit "$status"
count=$("$python" -c "import json, sys; print(len(json.load(open(sys.argv[1]))))" "$failed")
[ "$count" -gt 0 ] && [ "$count" -le "$MOST" ] || exit "$status"
cp "$failed" "$failed.beside"
echo "Failed beside others, now by themselves ($count):"
"$python" -m pytest "$@" -n 0 --last-failed --and-before || exit
echo "Passed by themselves only; what they wait for needs a look:"
"$python" -c "import json, sys; print(*json.load(open(sys.argv[1])), sep='\n')" "$failed.beside"
