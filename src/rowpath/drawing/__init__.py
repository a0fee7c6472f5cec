"""Tables and pictures as finished text: grids, bars and curves on an axis, sections of a report.

Figures and names flow in, formatted by `rowpath.text`; what flows out is text, or SVG that needs no script and fits
every screen, because its lengths are shares of the width. Nothing here knows what a path, a phase or a run is: the
chapters of `rowpath.analysis` and the rooms above it do, and pass names and figures.

`grid` comes first: cells, each with its column, become lines, lines of equal columns a table. `scale` is where numbers
become places: a logarithmic axis, its round ticks, and the primitive shapes on it. `picture` draws rows of bars with
it, and holds the nouns of a ranking's picture; `line_chart` draws curves over names or over values. `section` joins
them: a table, begun with one sentence that answers and a picture, which is what every report prints.
"""
