#!/bin/sh
# Checks the C# sources: everything compiled with every warning an error.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$here"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# The lists are split into words on purpose: no name here holds a blank.
# shellcheck disable=SC2046
mcs -warnaserror -warn:4 -unsafe -main:Rowpath.Program -r:System.Data,System.Core,Mono.Data.Sqlite -out:"$scratch/all.exe" \
    $(find core families adapters tests -name '*.cs' | sort)
