"""A plan becomes a journal: engines, the verification pass, sets, warm-up and blocks.

In flows a `Plan`, with a run directory and what the command line says beside it (`run_options`). Out flow the records
of `samples.jsonl`, one by one, while things happen; nothing here reads a figure to judge it.

`run` begins a run, or resumes one, and writes the journal's head. `schedule` then goes through it: it brings engines up
(`instances`), measures links (`emulated_link`) and syncs, has each path verified (`verification_pass`) and asks for one
set after another. `set_runner` measures a set, phase by phase; its calls to workers go through `in_turn`, which sends
what is for one host as one call. A `worker` is a fresh runner process on one path: it gets phases made ready for its
engine (`prepared_phases`), is warmed up (`warm_up`) and takes samples. `measured` has what the collectors saw around a
sample, and whether it had its cores to itself.

What all of them share is in `run_context`: the plan, the journal, and which paths have failed. Where a path is carried
out is a question to `several_hosts`: usually on this machine, by plain calls; the room `hosts` has the rest. An
experiment with client groups leaves `schedule` for the package `mixed_load`.
"""
