#!/bin/sh
# Prints the Python that Rowpath is set up with: $ROWPATH_PYTHON, python3, or a newer one; nothing where there is none.
set -eu
for candidate in "${ROWPATH_PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$candidate"
        exit 0
    fi
done
