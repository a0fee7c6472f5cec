"""SQLite's values through Arrow: what it has no types for is kept, and arrives, as text."""

from families.arrow.batches import from_text
from families.text.values import FROM_TEXT

KEPT_AS_TEXT = ("decimal", "date", "time", "timestamp")


class SqliteTexts:
    """The converters that an ADBC adapter of SQLite needs."""

    def columns_from_text(self, column):
        return from_text(column) if column.type in KEPT_AS_TEXT else None

    def rows_from_text(self, column):
        return FROM_TEXT[column.type] if column.type in KEPT_AS_TEXT else None
