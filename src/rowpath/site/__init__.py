"""A static site over many runs: which path for which work, histories of drivers, machines side by side.

Run directories flow in, of anyone who contributes one; a folder of HTML files flows out, which needs no server and
loads nothing from elsewhere. The data meets the files in this order:

- `read` analyses every journal once, several side by side, and keeps of each what pages need: its answer, its paths
  with their versions, the median of every set. A run's own report is written on the way.
- `requirements` says why a run is refused: incomplete, inconsistent, unproven, disturbed, or silent about its machine.
- `build` leaves out what is refused, and runs whose rows are not those of most runs of the same data. It fills
  the templates, writes the pages, and removes those of an earlier build that are gone.
- `standings` chooses the run that each ranking is from, and sets machines side by side as ratios within one run.
- `histories` follows a path over versions and dates, as ratios to a path that did not change, and finds the shifts.
- `contents` makes pictures, tables, charts and links of all that. Rankings are drawn by the report's own rows.
"""
