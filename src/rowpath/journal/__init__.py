"""`samples.jsonl`: the record types, the writer, the reader and the run directory."""

FILE = "samples.jsonl"
