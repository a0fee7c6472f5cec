#!/bin/sh
# Checks the Node sources: syntax, format, lint. The tools are those of package-lock.json, installed in build/.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tools=$here/../../build/node-check
command -v npm >/dev/null || { echo "no npm: the Node sources are not checked"; exit 0; }
mkdir -p "$tools"
if ! cmp -s "$here/package-lock.json" "$tools/installed.json"; then
    cp "$here/package.json" "$here/package-lock.json" "$tools/"
    (cd "$tools" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    cp "$here/package-lock.json" "$tools/installed.json"
fi
cd "$here"
find core families adapters pools tests -name '*.js' | sort | while read -r file; do node --check "$file"; done
"$tools/node_modules/.bin/prettier" --config "$here/prettier.json" --check core families adapters pools tests
cp "$here/eslint.config.js" "$tools/"
for folder in core families adapters pools tests; do
    rm -rf "${tools:?}/$folder"
    cp -R "$here/$folder" "$tools/"
done
cd "$tools"
node_modules/.bin/eslint --max-warnings 0 core families adapters pools tests
