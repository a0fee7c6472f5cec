"""A password typed on our own command line is written over, so that a list of processes no longer shows it."""

from __future__ import annotations

import ctypes
import os
import urllib.parse
from collections.abc import Iterable
from pathlib import Path

ARG_START, ARG_END = 47, 48  # fields of /proc/PID/stat, counted from 0


def hide(secrets: Iterable[str]) -> None:
    """Every secret in this process's command line, plain or percent-encoded, becomes asterisks of the same length."""
    fields = _stat_fields()
    begin, end = int(fields[ARG_START]), int(fields[ARG_END])
    if not 0 < begin < end:
        return  # the kernel hides it
    line = ctypes.string_at(begin, end - begin)
    forms = {form for secret in secrets for form in (secret, *_encoded(secret)) if form.strip("*")}
    for form in sorted(map(os.fsencode, forms), key=len, reverse=True):
        while (place := line.find(form)) >= 0:
            ctypes.memset(begin + place, ord("*"), len(form))
            line = ctypes.string_at(begin, end - begin)


def _encoded(secret: str) -> tuple[str, ...]:
    whole = urllib.parse.quote(secret, safe="")
    return urllib.parse.quote(secret), whole, whole.lower(), urllib.parse.quote_plus(secret)


def _stat_fields() -> list[str]:
    text = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
    name_end = text.rindex(")")
    return [text[:name_end].split(" ")[0], "", *text[name_end + 2 :].split()]
