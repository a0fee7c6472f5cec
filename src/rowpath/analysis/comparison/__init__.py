"""Two sides of runs: what changed from base to head, and whether that fails a gate.

Run directories of two sides flow in, or one run that measured two versions of a driver in the same sets; a comparison
flows out, a row for every path, phase, regime and metric. The data meets the files in this order:

- `side` holds the runs of a side, and what a path measured there.
- `pairs` finds which path of head is which path of base, and what else the two do not share: one difference is the
  question, a second one leaves no answer.
- `compare` also estimates a ratio between runs that are not paired in time, from sets and from unchanged paths.
- `compare` makes the rows and judges them as families of tests.
- `gate` says which rows fail a threshold, and which deserve to be measured again in the same sets.
- `model` has the nouns.
"""
