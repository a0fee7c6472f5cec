"""Rowpath measures every path that rows can take from where they are kept to the program that uses them.

An experiment flows in, and figures flow out; each room of this package is a step on that way, and says in its own first
text what flows through it.

`cli` reads the command line. `planning` turns an experiment, with the paths that `runners` and `engines` offer and the
rows that `workloads` define, into a plan: which path does what, in which order, and how long that takes. `execution`
carries the plan out: it starts engines and runners, hands each path its blocks in turn, and writes what came back into
a journal. `machine` is the computer under it (processes, CPUs, counters), `hosts` are several of them.

From here on nothing touches a database. `journal` writes and reads the lines, `analysis` makes figures, rankings,
chapters and findings of them, `drawing` tables and pictures, `report` what is read, `site` pages over many runs.

Four applications use the same steps: `probe` (the fastest path to the rows of one's own query) and `explain` (where
the time goes), both on `own_database`; `recording` (a conversation as a `tape`, and experiments from it); `checks`
(adapters and Rowpath itself, against known answers). The nouns that stand in files are in `model`.

For programs and notebooks: `import rowpath; rowpath.open("DIR")`; `api` has the names.
"""

__all__ = [
    "API_VERSION", "Comparison", "Finding", "RankedPath", "Ranking", "Result", "RowpathError", "Run", "compare", "open",
]  # fmt: skip
__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """A name of the API, loaded when it is used first: the command line does not wait for it."""
    if name in __all__:
        import importlib

        return getattr(importlib.import_module("rowpath.api"), name)
    raise AttributeError(f"module 'rowpath' has no attribute '{name}'")
