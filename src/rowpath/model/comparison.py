"""What two runs may differ in, by the words that `rowpath compare --despite` takes."""

from __future__ import annotations

# What a comparison may be about, as long as a path has only one such difference.
QUESTIONS = ("driver", "engine", "library", "runtime", "system", "rowpath")
# Differences that make figures incomparable, each refused until it is named.
REFUSED = ("machine", "measure", "scale", "data", "rows", "durability", "placement")
DIFFERENCES = (*QUESTIONS, *REFUSED)
