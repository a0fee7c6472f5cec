"""Cancel and statement timeout: whether a driver stops a long statement when asked to; never measured."""

import contextlib
from concurrent.futures import ThreadPoolExecutor, wait
from time import perf_counter_ns

from core.adapter import Adapter, Unsupported

FIRST_QUERY_S = 10.0
CLOSE_S = 1.0


def try_interruption(adapter, behaviour, sql, after_ms, most_ms):
    """The reply to `interrupt`, tried on a connection of its own, in autocommit, in a thread of its own.

    `sql` runs until it is stopped or `most_ms` have passed. Errors: Unsupported when the driver has no such thing; the
    query's own error when it fails long before it was to be stopped.
    """
    if behaviour not in ("cancel", "timeout"):
        raise Unsupported(f"unknown behaviour {behaviour!r}")
    probed = type(adapter)({**adapter.options, "profile": "tuned", "clients": "1"})
    if type(probed).cancel is Adapter.cancel and behaviour == "cancel":
        probed.cancel()  # its Unsupported has the reason
    thread = ThreadPoolExecutor(1)
    try:
        thread.submit(probed.connect).result()
        return _tried(thread, probed, behaviour, sql, after_ms, most_ms)
    finally:
        wait([thread.submit(probed.close)], CLOSE_S)  # behind a query that was given up it comes later
        thread.shutdown(wait=False)


def _tried(thread, probed, behaviour, sql, after_ms, most_ms):
    if behaviour == "timeout":
        thread.submit(probed.set_timeout, after_ms).result()
    started = perf_counter_ns()
    query = thread.submit(probed.run, sql)
    if behaviour == "cancel" and not wait([query], after_ms / 1000).done:
        probed.cancel()
    passed_ms = (perf_counter_ns() - started) / 1e6
    wait([query], max(0.0, most_ms - passed_ms) / 1000)
    took_ns = perf_counter_ns() - started
    if not query.done():
        with contextlib.suppress(Exception):
            probed.cancel()  # what is given up should not go on working
        text = f"the query was still running after {most_ms} ms"
        return {"honoured": False, "took_ns": took_ns, "usable": False, "text": text}
    error = query.exception()
    if error is not None and took_ns < after_ms * 500_000:
        raise error
    first = thread.submit(probed.run, "SELECT 1")
    usable = bool(wait([first], FIRST_QUERY_S).done) and first.exception() is None
    text = f"{type(error).__name__}: {error}".strip(": ") if error is not None else "the query ended by itself"
    return {
        "honoured": error is not None,
        "took_ns": took_ns,
        "usable": usable,
        "text": "".join(c if c.isprintable() else " " for c in text)[:2000],
    }
