"""The command line: one module per command; prints, wires, sets exit codes.

In flow the words of a command line; out flow an exit code, what is printed, and the files that options name. A command
wires rooms together and decides nothing that another room could.

The words meet the files in this order:

main       calls the command; every error becomes a message and an exit code
arguments  lists the commands and parses their words in any order; without packages it answers help and usage errors
options    options of several commands, and what the words of a command name
run, probe, explain, …  a module per command, imported when it is named: `add` says which options it takes, `run` does
           it. Those that share a module have `add_NAME` and `run_NAME`: record and replay in tape, report in show
plan       from an experiment's name and its options to a plan, and the plan as text; used by run, verify, explain
output     what a command shows and writes of a finished run
"""
