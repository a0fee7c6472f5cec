#!/bin/sh
# page-picture.sh REPORT.html PICTURE.png: the first screen of a run's page, as the README shows it.
set -eu
[ $# -eq 2 ] || { echo "usage: scripts/page-picture.sh REPORT.html PICTURE.png" >&2; exit 2; }
report=$(readlink -f -- "$1")
profile=$(mktemp -d)
trap 'rm -r -- "$profile"' EXIT
for browser in chromium chromium-browser google-chrome; do
    if command -v "$browser" >/dev/null; then break; fi
done
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --user-data-dir="$profile" --window-size=1000,640 --screenshot="$2" "file://$report" 2>/dev/null
