#!/bin/sh
# Every C source without a warning, with each compiler that is here (the build of a user warns only: a newer compiler must not stop it).
set -eu
here=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
include=$(PYTHONPATH="$here/src" "$here/.venv/bin/python" -c \
    'from rowpath.machine.postgresql_programs import install; print(install() / "include")')
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    set -- "$compiler" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fsyntax-only -DRP_COMPILER_FLAGS='""' \
        -I"$here/runners/c/core" -I"$include"
    find "$here/runners/c" -name '*.c' -exec "$@" {} +
    "$@" -DEMBEDDED_LIBRARY "$here/runners/c/adapters/mysql.c"
done
