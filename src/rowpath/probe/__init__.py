"""The fastest path to the rows of a user's own query: tried, compared in rounds, measured in full sets.

In come the options; out come a run directory with a journal as every run has one, and a program for the fastest path of
each language. What the database itself needs is in `own_database`.

`command` goes from options to report. `run` is one probe on an open access: it describes the query, lets `search` work,
measures the best by `full_sets` and journals all of it. The search takes candidates in the order of `tries`, borrows
processes from `worker_pool`, and lets `successive_halving` say who goes on; how much time each step may take is counted
in `full_sets`. `agreement` says whose rows are right, as far as independent implementations confirm each other, by
their values, some less exact (`rounded_floats`, `text_forms`, `nul_in_text`), and by their order (`row_order`). Where
paths disagree, `differences` says in which column or in which type of a parameter. `snippets`
writes the programs. `from_host` asks another host to do all this, and is the program that it starts there.

`sizing` answers another question, how many connections callers need: `sizes` says which numbers are tried next, and
`sentinel` when the load ends.
"""
