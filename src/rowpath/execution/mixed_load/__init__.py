"""Client groups at work at once on one engine: stages, backups, kills and durability checks.

In flows an experiment whose engines are up and whose paths are verified. Out flow, for each path in each set, records
of its stages: a second at a time while groups work, and one of each group at the end.

`schedule` has the order: sets, in each every path once, of each path every stage, at the end the rate search. A path in
a set is a `path_context`, which also checks what its clients were promised. Its groups have connections of
`client_processes`, which tell what they use. A `stage` makes clients ready, lets them begin and end by words in shared
memory (`shared_counters`) and looks at them each second; runners count there by themselves, so nothing is asked of them
meanwhile. `group_totals` makes the group's record of what runners and counters say, and knows what was due in an open
loop.

Beside the groups a stage may make `backups` and kill the engine. `durability` reads back what was acknowledged: at the
end, after a kill, and from a restored backup. `directory_copies` moves databases before the first set.
"""
