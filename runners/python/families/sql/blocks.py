"""Rows in blocks: fetchmany (fetch=block:n)."""

from itertools import chain, takewhile


def in_blocks(execute, size):
    """`execute(argument)` gives a cursor: the same, giving its rows by `fetchmany(size)`."""

    def blocks(argument):
        fetchmany = execute(argument).fetchmany
        return chain.from_iterable(takewhile(bool, iter(lambda: fetchmany(size), None)))

    return blocks


def block_size(options):
    """The n of `fetch=block:n`; 0 for every other fetch."""
    way, _, size = options.get("fetch", "row").partition(":")
    return int(size) if way == "block" else 0
