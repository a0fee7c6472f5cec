#!/bin/sh
# Checks the C sources, those of the tests too: clang-format, and each compiler that is here with every warning an error
# (the build of a user warns only: a newer compiler must not stop it). `check.sh --fix` formats them.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)
include=$(PYTHONPATH="$root/src" "$root/.venv/bin/python" -c \
    'from rowpath.machine.postgresql_programs import install; print(install() / "include")')

cd "$here"
case ${1-} in
    --fix) mode=-i ;;
    *) mode='--dry-run -Werror' ;;
esac
# The lists are split into words on purpose: no name of ours holds a blank.
# shellcheck disable=SC2046,SC2086
"$root/.venv/bin/clang-format" $mode --style=file:.clang-format $(find . ../../tests/hosts -name '*.[ch]')

# shellcheck disable=SC2046
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    set -- "$compiler" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fsyntax-only -DRP_COMPILER_FLAGS='""' \
        -DRP_CALLS='"../tests/calls.h"' -Icore -Itools $(printf -- '-I%s ' families/*) -I"$include"
    "$@" $(find . ../../tests/hosts -name '*.c' ! -name libmariadbd.c)
    "$@" -DEMBEDDED_LIBRARY adapters/libmariadbd.c families/mysql/*.c families/mysql_connection/*.c
done
