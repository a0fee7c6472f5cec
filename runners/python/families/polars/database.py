"""Data frames of a database's rows. Imported after POLARS_MAX_THREADS is set."""

import contextlib

import polars as pl

from families.polars import frames

MOST_DIGITS = 38
# From text to the column's own type; `FROM_EXTENSION` where the text is of a type of Arrow's that polars only keeps.
FROM_TEXT = {
    "decimal": lambda values, column: values.cast(pl.Decimal(column.precision, column.scale)),
    "date": lambda values, _: values.str.to_date("%Y-%m-%d"),
    "time": lambda values, _: values.str.to_time("%H:%M:%S%.f"),
    "timestamp": lambda values, _: values.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us"),
}
FROM_EXTENSION = {
    "decimal": lambda values, column: (
        values.ext.storage() if unbounded(column) else FROM_TEXT["decimal"](values.ext.storage(), column)
    ),
    "json": lambda values, _: values.ext.storage(),
}


class Frames(frames.Frames):
    """Frames of which columns of the types `as_text` arrive as text; `extensions`: as Arrow's types of ADBC's."""

    def __init__(self, columns, as_text=(), extensions=False, readers=()):
        super().__init__(columns, readers)
        self.converted = [column.name for column in columns if column.type in as_text and not unbounded(column)]
        known = FROM_EXTENSION if extensions else {kind: FROM_TEXT[kind] for kind in as_text}
        self._from_text = [
            known[column.type](self.chosen(i, column), column)
            for i, column in enumerate(columns)
            if column.type in known and (extensions or not unbounded(column))
        ]

    def chosen(self, number, _column):
        return pl.nth(number)  # an engine may have made another name of it

    def converted_frame(self, frame):
        """The frame with these columns of their own type; one with a value that has none stays as it is."""
        if not self._from_text:
            return frame
        try:
            return frame.with_columns(self._from_text)
        except pl.exceptions.PolarsError:
            for expression in self._from_text:
                with contextlib.suppress(pl.exceptions.PolarsError):
                    frame = frame.with_columns(expression)
            return frame


def unbounded(column):
    """Whether it is a decimal of no precision that polars has: its text stays."""
    return column.type == "decimal" and not 0 < column.precision <= MOST_DIGITS
