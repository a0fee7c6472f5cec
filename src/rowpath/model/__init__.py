"""The nouns that stand in files: access paths, workloads, experiments, claims, metrics; frozen, without I/O.

Nothing flows through this room; everything that flows elsewhere has its form here. Every room may import it, and it
imports none. What is read from a file forbids unknown fields (`base`), so that a misspelt key is an error.

The data meets the files in this order:

path          a point in the space of coordinates, from `list` to the page
workload      tables, columns, phases, and the SQL of a phase; experiment: workloads × paths × how to measure
claims        what an experiment says that its figures show; hosts: the machines of a run
choices       what options choose among; of the standard library only, as help is shown without any package
availability  whether something can run here; progress: what a run reports while it goes on
histogram     durations of client groups; metrics: every figure that comes of all this, one record each
explanation   where the time of an operation goes, its hops and stacks; probe: what a probe found
core_user     who had a core that was being measured; grouping: lists of items by key
"""
