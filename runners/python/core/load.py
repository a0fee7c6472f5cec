"""Storing rows: the operations of kind `load`, and the engines' own loading, which is never measured."""

import copy

from core.adapter import Unsupported


def load_operation(adapter, phase, rows, bulk):
    """(operation, transaction) of a phase of kind `load`: operation i stores rows [i·n, (i+1)·n) in one transaction.

    `bulk` is the bulk way, used when `phase.way` is `bulk`. Unsupported when the driver has no such way.
    """
    size = phase.rows_per_operation
    if phase.way == "bulk":
        if bulk not in adapter.bulk_ways:
            known = ", ".join(adapter.bulk_ways) or "none at all"
            raise Unsupported(f"this driver has no bulk way {bulk!r} here; it has {known}")
        operation = adapter.bulk(phase, bulk)
        operation.arguments = _batches(rows, size)
        return operation, None
    single = copy.copy(phase)
    single.kind = "execute"
    operation = adapter.prepare(single, rows)
    return operation.batches(_batches(operation.arguments, size)), adapter.transaction(phase)


def _batches(rows, size):
    batches = [rows[start : start + size] for start in range(0, len(rows) - size + 1, size)]
    if not batches:
        raise ValueError(f"{len(rows)} rows make no operation of {size}")
    return batches


def store(adapter, phase, rows):
    """Store these rows by a phase of kind `execute`, in one transaction, the driver's quickest way."""
    if not rows:
        return
    whole = copy.copy(phase)
    whole.kind, whole.columns, whole.transaction = "load", [], True
    whole.rows_per_operation = len(rows)
    bulk = adapter.bulk_ways[0] if adapter.bulk_ways and phase.table else ""
    whole.way = "bulk" if bulk else "transaction"
    operation, transaction = load_operation(adapter, whole, rows, bulk)
    failure = operation.sampler("load", [], False, transaction).by_count(0, 0, 1)[2]
    if failure:
        raise failure
