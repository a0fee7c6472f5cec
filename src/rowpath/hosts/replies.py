"""What crosses between hosts: calls of methods by name; what they came to as values, never as exceptions."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

from rowpath import errors
from rowpath.errors import InternalError, RowpathError
from rowpath.execution.several_hosts import HostLost
from rowpath.runners.process import RunnerFailure

Reply = tuple[str, Any]
Ask = Callable[..., Any]  # (method, *arguments) of another host's agent
Class = TypeVar("Class", bound=type[Any])


def reply_of(call: Callable[[], Any]) -> Reply:
    """What a call came to. An exception may not survive the way."""
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


def has_method(kind: type, name: str) -> bool:
    """Whether a class has a public method of that name: what other hosts may ask of its instances."""
    return name[0] != "_" and inspect.isfunction(getattr(kind, name, None))


def called(what: str, thing: object, method: str, *arguments: Any, **named: Any) -> Any:
    """What a method of a thing here returned that another host asks for; `what` names it. Errors: as it has them."""
    if not has_method(type(thing), method):
        raise InternalError(f"unknown method '{method}' of {what}", "run the same Rowpath on every host")
    return getattr(thing, method)(*arguments, **named)


def forwarding(*names: str) -> Callable[[Class], Class]:
    """Let a class ask for these methods (without names: every one that it only inherits) where the thing itself is.

    It asks by its `_there(method, *arguments, **named)`; the class that it inherits from says what a method promises.
    """

    def added(far: Class) -> Class:
        for name in names or [name for name in dir(far) if has_method(far, name) and name not in vars(far)]:
            setattr(far, name, functools.partialmethod(far._there, name))
        return far

    return added
