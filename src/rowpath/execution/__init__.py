"""A plan becomes a journal: engines, the verification pass, sets, warm-up and blocks."""
