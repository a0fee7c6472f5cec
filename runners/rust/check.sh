#!/bin/sh
# Checks the Rust sources: cargo fmt and clippy. `check.sh --fix` formats them.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
target=${ROWPATH_CACHE:-${TMPDIR:-/tmp}/rowpath}/clippy-rust
for package in . sqlx; do
    cd "$here/$package"
    case ${1-} in
        --fix) cargo fmt ;;
        *) cargo fmt --check ;;
    esac
    cargo clippy --quiet --locked --all-features --all-targets --target-dir "$target" -- -D warnings
done
