#!/bin/sh
# The toy language is Python, with this repository's packages.
exec env PYTHONPATH="$TOY_PATH" "$TOY_PYTHON" "$@"
