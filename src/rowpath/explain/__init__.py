"""Where the time of an operation goes: the sum of its parts, its hops between client and server, its call stacks.

In comes a plan, or a query on a database of the user's; out comes an `Explanation` for each path and phase, which names
what it could not find out instead of spreading it.

`blocks` takes blocks of a warm path on one core, with the core's own clocks around them. `stamping` has the calls of
some of them stamped. `explain` takes bare blocks in turn with stamped ones and with those that `perf` samples, and
makes parts of all; `own_query` does so on a server of others, whose own figures `server_times` asks for. `parts` says
which library or package an address belongs to, `packages` whose code a path with a layer executes. `round_trips` makes
round trips of stamped calls, `hops` the steps of each. `flames` samples whole stacks in blocks of their own, by `perf`,
by `async_profiler` for Java, or by `py_spy` for Python. What is shown of it is drawn by `report`.
"""
