"""Experiments on tapes: recorded once on a real server, run again without one.

In comes a plan whose paths share one server of ours. `experiment` starts that server behind a recording proxy, lets
each path do everything that a run has it do with each phase that reads, and keeps the digest of the rows. Out come the
header and the content of a tape.

`replayed` turns a tape back into an experiment file with its filters: the tape stands in for its engine from then on.
It refuses a tape whose rows are not those that this Rowpath generates, and names the paths of another experiment of the
same phases where that is asked for. What is measured then is an ordinary run.

The tape itself, its proxy and its replay server are in `rowpath.tape`.
"""
