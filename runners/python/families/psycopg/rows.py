"""The coordinate `rows` of psycopg 3: its row factories."""

from dataclasses import make_dataclass

from psycopg.rows import class_row, dict_row, namedtuple_row

from families.sql.rows import row_class

FACTORIES = {"dict": dict_row, "namedtuple": namedtuple_row}


def row_factory(options, phase):
    """What `cursor()` takes so that rows are of the class that `rows` names; nothing where it names none, or tuples."""
    form = row_class(options, phase)
    if form == "object":
        return {"row_factory": class_row(make_dataclass("Row", [column.name.lower() for column in phase.columns]))}
    return {"row_factory": FACTORIES[form]} if form in FACTORIES else {}
