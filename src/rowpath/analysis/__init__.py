"""From a journal to everything that is said about a run: cells, rankings, findings, verdict.

A run directory flows in, read by `journal`; what flows out is one `Analysis` (`model`), from which every report is made
without a look at the journal. `analyse` is the way through, in this order:

`cells` gathers the samples of a path, a workload phase and a regime, leaves out disturbed ones and compares two cells
with the functions of `statistics`. `evidence` holds the cells with all else that was derived of the journal, `metrics`
makes their figures by set. `path_status` says which paths delivered the right rows, `rankings` puts those in order, and
`floors` tells how far each is from the least that is possible. `long_form` writes every figure as one record, which
`lookup` finds again.

On these stand the topics, each made of the same evidence: `chapters` (tables with their sentences and charts),
`findings` (what a reader should know before believing a figure), `claims` (what others published). `verdict` and
`core_users` put the run into sentences, `diagnostics` lists what they rest on, and `answer` chooses what is read first.
Beside these stand `size_choice` (by which a sizing decides), `comparison` (of several runs) and `projection` (a run as
matrices).
"""
