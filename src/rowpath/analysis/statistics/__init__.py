"""Pure functions: ratios, intervals, families of comparisons, groups, shapes of warming up. No I/O.

Costs by set and round flow in, as plain mappings; estimates with their uncertainty flow out. The unit of every interval
is the set, never the block: blocks of one set share a process, so they are no independent samples.

`intervals` comes first: the ratio of two paths in each set, then Student's t over the sets. `grouping` ranks with such
intervals, in tiers and with Holm's procedure over a family. `periodic` asks what a median hides of a path's own pauses,
`usl` how a rate grows with the number of clients.
"""
