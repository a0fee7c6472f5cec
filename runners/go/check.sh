#!/bin/sh
# Checks the Go sources: gofmt, go vet, and the checksums of the modules. `check.sh --fix` formats them.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here"
PATH=$PATH:/usr/local/go/bin
case ${1-} in
    --fix) gofmt -w . ;;
    *) [ -z "$(gofmt -l .)" ] || { gofmt -d . && exit 1; } ;;
esac
# The tags of every adapter's `build.tags`.
go vet -tags duckdb_arrow ./core ./families/... ./pools/...
# Each file is a program of its own.
for program in adapters/*.go tests/*.go tools/*.go; do
    go vet -tags duckdb_arrow "$program"
done
