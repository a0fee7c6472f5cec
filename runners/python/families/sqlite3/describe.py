"""What a query's columns hold in SQLite: it declares none, so the result is looked at, as far as the bounds go.

Source: SQLite's documentation, "Datatypes In SQLite" (a value's storage class).
"""

import sqlite3
from contextlib import closing
from time import monotonic

from core.describe import described

MOST_ROWS = 100_000
MOST_S = 2.0
CLASSES = {int: "integer", float: "real", str: "text", bytes: "blob"}
TYPES = {
    frozenset(): ("text", {}),
    frozenset(("integer",)): ("integer", {"bits": 64}),
    frozenset(("real",)): ("float64", {}),
    frozenset(("text",)): ("text", {}),
    frozenset(("blob",)): ("binary", {}),
}


def columns(path, sql, most_rows=MOST_ROWS, most_s=MOST_S):
    """The columns of `sql` by the storage classes of the first `most_rows` rows, or of those that came in `most_s`."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda _: ""  # it need not be decoded to be known as text
        cursor = connection.execute(sql)
        names = [one[0] for one in cursor.description or ()]
        classes = [set() for _ in names]
        until, rows, ended = monotonic() + most_s, 0, True
        for row in cursor:
            if rows == most_rows or monotonic() > until:
                ended = False
                break
            rows += 1
            for seen, value in zip(classes, row, strict=True):
                if value is not None:
                    seen.add(CLASSES[type(value)])
    looked_at = f"in all {rows} rows" if ended else f"in the first {rows} rows, no further looked at"
    return [column(name, frozenset(seen), looked_at) for name, seen in zip(names, classes, strict=True)]


def column(name, seen, looked_at):
    """One column by the classes of its values."""
    engine_type = f"{' and '.join(sorted(seen)) or 'nothing but NULL'}, {looked_at}"
    kind, size = TYPES.get(seen, ("any", {}))
    return described(name, kind, engine_type, **size)
