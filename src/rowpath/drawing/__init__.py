"""Tables and pictures as finished text: grids, bars and curves on an axis, sections of a report."""
