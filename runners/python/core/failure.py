"""Errors of any kind, as the protocol has them."""

import errno

from core.adapter import Unsupported


class Failure(Exception):
    """A request that cannot be served, or an error of another process: `kind` and `code` are the protocol's."""

    def __init__(self, kind, text, code=""):
        super().__init__(kind, text, code)
        self.kind, self.text, self.code = kind, text, code

    def __str__(self):
        return self.text


def failure_of(error, adapter, request):
    """The protocol's kind, code and text of an error that this request met; `adapter` is None before `open`."""
    kind, code = "internal", type(error).__name__
    if isinstance(error, Failure):
        kind, code = error.kind, error.code
    elif isinstance(error, Unsupported):
        kind, code = "unsupported", ""
    elif adapter is not None and isinstance(error, adapter.errors):
        connects = request == "open" or isinstance(error, adapter.no_connection)
        kind, code = "connect" if connects else "sql", adapter.code(error)
    elif isinstance(error, (OSError, EOFError)):
        kind, code = "connect", errno.errorcode.get(getattr(error, "errno", None), code)
    elif request in ("sample", "verify"):
        kind = "sql"  # the driver's own too: Python's words for a value that its types have no room for
    text = "".join(c if c.isprintable() else " " for c in str(error))
    if kind == "internal" and not isinstance(error, Failure):
        text = f"{code}: {text}"
    return {"kind": kind, "code": str(code), "text": text[:2000]}
