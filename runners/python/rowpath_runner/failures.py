"""An error of any kind as the protocol tells it."""

import errno

from rowpath_runner.adapter import Unsupported


class Refused(Exception):
    """A request that cannot be served, or an error told by another process: `kind` and `code` are the protocol's."""

    def __init__(self, kind, text, code=""):
        super().__init__(kind, text, code)
        self.kind, self.text, self.code = kind, text, code

    def __str__(self):
        return self.text


def told(error, adapter, request):
    """Kind, code and text of an error of this adapter (or None) that the request met."""
    kind, code = "internal", type(error).__name__
    if isinstance(error, Refused):
        kind, code = error.kind, error.code
    elif isinstance(error, Unsupported):
        kind, code = "unsupported", ""
    elif adapter is not None and isinstance(error, adapter.errors):
        kind, code = "connect" if request == "open" else "sql", adapter.code(error)
    elif isinstance(error, (OSError, EOFError)):
        kind, code = "connect", errno.errorcode.get(getattr(error, "errno", None), code)
    elif request == "verify":
        kind = "verify"
    text = "".join(c if c.isprintable() else " " for c in str(error))
    if kind == "internal" and not isinstance(error, Refused):
        text = f"{code}: {text}"
    return {"kind": kind, "code": str(code), "text": text[:2000]}
