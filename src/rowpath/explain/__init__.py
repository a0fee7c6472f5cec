"""Where the time of an operation goes: the sum of its parts, its hops between client and server, its call stacks.

In comes a plan, or a query on a database of the user's; out comes an `Explanation` for each path and phase, which names
what it could not find out instead of spreading it.

`blocks` takes long blocks of a warm path on one core, with the core's own clocks around them, and short ones whose
calls are stamped. `explain` takes bare blocks in turn with those that `perf` samples, and makes parts of both;
`own_query` does so on a server of others. `parts` says which library or package an address belongs to. `hops` makes
round trips of stamped calls, then the steps of each. `flames` samples whole stacks in blocks of their own, by `perf`,
by `async_profiler` for Java, or by `py_spy` for Python. What is shown of it is drawn by `report`.
"""
