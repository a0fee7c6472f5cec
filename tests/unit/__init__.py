"""Pure tests, in folders as src/rowpath has them; house/ is about the whole tree, bench/ about bench/."""
