#!/bin/sh
# Makes .venv and brings it up to date with each lock file named; silent when nothing is to do. What apart-*.lock lists
# goes into .venv/apart, which nothing imports by itself: Ray, which finds a part of OpenTelemetry, wants all of it.
set -eu
here=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
venv=$here/.venv

fail() {
    printf 'error: %s\n\nhint: %s\n' "$1" "$2" >&2
    exit 3
}

# Two may be started at once in one clone: the second one waits and then finds everything done.
exec 9<"$here/requirements.lock"
if command -v flock >/dev/null; then flock 9; fi

if [ ! -x "$venv/bin/python" ]; then
    python=$("$here/scripts/find-python.sh")
    [ -n "$python" ] || fail "Rowpath needs Python 3.11 or newer, and there is none on PATH" \
        "apt-get install python3 python3-venv, or ROWPATH_PYTHON=/path/to/python3.11 $here/rowpath"
    echo "rowpath: making $venv with $("$python" --version)" >&2
    "$python" -m venv --clear "$venv" >&2 || fail "$python could not make $venv" \
        "apt-get install python3-venv; the clone must be writable"
fi

for lock in "$@"; do
    if cmp -s "$here/$lock" "$venv/$lock"; then continue; fi
    count=$(grep -c '^[a-z].*==' "$here/$lock")
    apart=
    case $lock in apart-*) apart=--target=$venv/apart ;; esac
    echo "rowpath: installing $count Python packages of $lock into $venv, from the package index; nothing else changes" >&2
    # Without compiling every module of every package: Python compiles what it imports.
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
        --only-binary=:all: --require-hashes ${apart:+--upgrade "$apart"} --requirement "$here/$lock" >&2 || \
        fail "the packages of $lock could not be installed" \
        "is the package index reachable? $venv/bin/python -m pip config list"
    cp "$here/$lock" "$venv/$lock"
done
