"""An experiment becomes a plan: paths, order, estimate.

In flows an experiment's name or file, the filters and options of the command line, and the hosts of a run where there
are any. Out flows a `Plan`: paths with their adapters, phases and names, the sets that they share, what was dropped
and why. Nothing is started here; the same words and seed make the same plan on the same machine.

The data meets the files in this order:

experiment_file  the TOML file is read; every mistake is named with its line
overrides        what options such as `-r`, `--scale` and `-R` change in it; later `--within`, which makes a plan fit
selection        what a selection or a filter means: points of the lattice of all adapters and engines
hosts            on which hosts client and server of such a point are
availability     which points exist, can run on this machine and serve a phase
client_groups    which paths and stages have a place where groups of clients are at work at once
make_plan        all of it: names, comparisons, batches, or why nothing is left
plan             what came of it
estimate         how long it takes, step by step; disk_estimate: what its tables take of disk and time
"""
