"""`samples.jsonl`: the record types, the writer, the reader and the run directory.

In flow records, one for each thing that happened: execution, hosts, probe and explain write them while they measure.
Out flow `Records`, all that a run's journal holds, for whoever reads it: analysis, site, a run that is resumed. The
file is the only source of a run's figures; docs/journal.md is its format.

The data meets the files in this order:

records             one type for each kind of line; record_base: what they have in common
mixed_load_records  those of client groups at work at once
writer              the run directory, its lock, and the journal that appends a line at a time
reader              the lines again, without what was left of a set that was restarted
"""

FILE = "samples.jsonl"
