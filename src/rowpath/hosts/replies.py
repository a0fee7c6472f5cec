"""What crosses between hosts: results and failures as values, never exceptions, which may not survive the way."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

from rowpath import errors
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.several_hosts import HostLost
from rowpath.runners.process import RunnerFailure

Reply = tuple[str, Any]
Ask = Callable[..., Any]  # (method, *arguments) of another host's agent


def reply_of(call: Callable[[], Any]) -> Reply:
    """What a call came to."""
    try:
        return "ok", call()
    except RunnerFailure as failure:
        return "failure", (failure.kind, failure.text, failure.code)
    except HostLost as lost:
        return "lost", (lost.host, lost.text)
    except RowpathError as error:
        return "error", (type(error).__name__, error.message, error.hint)
    except Exception:
        return "broken", traceback.format_exc()


def value_of(host: str, reply: Reply) -> Any:
    """The result. Errors: RunnerFailure, RowpathError, HostLost as they arose there; InternalError for others."""
    kind, value = reply
    if kind == "ok":
        return value
    if kind == "failure":
        raise RunnerFailure(*value)
    if kind == "lost":
        raise HostLost(*value)
    if kind == "error":
        name, message, hint = value
        raise getattr(errors, name)(f"{host}: {message}", hint)
    raise InternalError(f"the agent of host {host} failed:\n{value}", "report it with the lines above")
