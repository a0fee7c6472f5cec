"""Rows of other classes than a driver's usual one: what the coordinate `rows` asks for."""

from core.adapter import Unsupported

READS = {"dict": "[{!r}]", "real-dict": "[{!r}]", "namedtuple": ".{}", "object": ".{}"}


def row_class(options, phase):
    """The class of rows that a phase's result is made of; `none`: the driver's usual one.

    The first query after connecting keeps that one: the engine names its column.
    """
    return options.get("rows", "none") if phase.delivers and phase.kind != "connect" else "none"


def reads(options, phase):
    """How each value of such a row is read: `Operation.reads`; nothing of rows that are read in order.

    Unsupported where two columns have one name: such a row cannot be read.
    """
    form = row_class(options, phase)
    if form not in READS:
        return []
    names = [column.name.lower() for column in phase.columns]
    if len({*names}) < len(names):
        raise Unsupported(f"rows={form} reads values by name, and two columns have one name")
    return [READS[form].format(name) for name in names]
