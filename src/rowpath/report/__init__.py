"""From an analysis to what a person or a program reads: terminal, page, tables, exports; and the live view of a run.

One `Analysis` flows in; what flows out is text, HTML, JSON, CSV, Parquet, Markdown. Nothing here computes a figure.

`view` is first: everything that a report shows, in reading order, as finished text. It asks `ranking` for tables and
pictures of rankings, whose rows open to a `path_panel`, the chapters of `rowpath.analysis` for their sections,
`time_parts` (with `hops` and `explanation`) for where time goes, and `choose` for the matrix that a reader makes.
From the view `html` writes the page, as one `self_contained` file, `terminal_tables` prints everything, and `markdown`
writes the same. The answer on one screen is `terminal`, with the bars of `bars` and `size_bars` on the
`console`.

Programs get `json` (`json_export` has what its forms share), `long_table` (CSV and Parquet) and `tracked` (services
that follow benchmarks); `exports` opens the files and calls the writers. Two runs beside each other are `comparison`
and `comparison_page`, a run as matrices is `projection`, call stacks are `flame_graph` and `speedscope`.
`live` shows a run while it goes on, and how long it still will.
"""
