"""Workload files, the rows they stand for, and what each phase must deliver.

In flows a name, a file or a scale; out come tables and phases, rows and parameters, and the right answers.

- `workload_file` reads a TOML file, checks it, brings it to a scale and spells its SQL for an engine.
- `generators` makes any row by its index; `tpch` reads those of TPC-H from files that it makes once for the cache.
- `codec` turns values into bytes: of parameter files, of the digest and of the touch sum that a runner reports.
- `expected` adds up what the operations of a phase must deliver, `expected_scan` what a scan of a whole table must.
- `partitions` splits one retrieval among several clients.
- `load_progress` tells any watcher how far the making and loading of tables has come.
"""
