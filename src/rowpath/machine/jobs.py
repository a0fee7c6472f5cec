"""Jobs beside each other, each in a thread; what only the main thread may do it does for them.

The kernel binds a child process to the thread that started it, and the progress is drawn by one thread.
"""

from __future__ import annotations

import contextlib
import contextvars
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from rowpath.errors import InternalError

Result = TypeVar("Result")
Announce = Callable[[str], None]

GIVEN_UP_S = 10.0  # a job that waits for another program's lock is left behind


class GivenUp(BaseException):
    """Ends a job, because another one has failed or the user has interrupted them all."""


class _Group:
    """Jobs that one call of the main thread began, with all that they began."""

    def __init__(self) -> None:
        self.errands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self.given_up = False


_group: contextvars.ContextVar[_Group | None] = contextvars.ContextVar("group", default=None)
_announce: contextvars.ContextVar[Announce | None] = contextvars.ContextVar("announce", default=None)


def side_by_side(todo: Iterable[Callable[[], object]], give_up: Callable[[], None], at_most: int = 0) -> None:
    """Do these jobs, `at_most` (0: all) at once; a job may call it too.

    `give_up` ends the jobs' processes when one has failed, or at Ctrl-C. Errors: that of the first that failed.
    """
    jobs = list(todo)
    if len(jobs) < 2:
        for job in jobs:
            job()
        return
    waiting: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    outer, group = _group.get(), _group.get() or _Group()
    ended: queue.SimpleQueue[Callable[[], None]] = group.errands if outer is None else queue.SimpleQueue()
    outcomes: list[BaseException | None] = []

    def carry_out() -> None:
        _group.set(group)
        error: BaseException | None = None
        try:
            while not any(outcomes):
                waiting.get_nowait()()
        except queue.Empty:
            pass
        except BaseException as raised:
            error = raised
        ended.put(lambda: outcomes.append(error))

    count = min(len(jobs), at_most or len(jobs))
    for _ in range(count):
        # Left behind, it must not keep the program from ending.
        threading.Thread(target=contextvars.copy_context().run, args=(carry_out,), daemon=True).start()
    try:
        while len(outcomes) < count:
            ended.get()()
            # That one was given up comes with another job's reason.
            if error := next((error for error in outcomes if error and not isinstance(error, GivenUp)), None):
                raise error
    except BaseException:
        group.given_up = True
        give_up()
        until = time.monotonic() + GIVEN_UP_S
        while len(outcomes) < count and (left_s := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                ended.get(timeout=left_s)()
        raise
    check(group)


def in_main_thread(call: Callable[[], Result]) -> Result:
    """What the call returns, done by the main thread. Errors: its own; GivenUp; InternalError outside a job."""
    if threading.current_thread() is threading.main_thread():
        return call()
    group = _group.get()
    if group is None:
        raise InternalError("a child process must be started from the main thread", "call processes.start there")
    answer: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()

    def errand() -> None:
        try:
            check(group)
            done = call()
            check(group)  # a process that was started while all was given up is ended by the main thread
            answer.put((done, None))
        except (Exception, GivenUp) as error:
            answer.put((None, error))
        except BaseException:
            answer.put((None, GivenUp()))
            raise

    group.errands.put(errand)
    result, error = answer.get()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def check(group: _Group | None = None) -> None:
    """GivenUp in a job that is not wanted any more."""
    group = group or _group.get()
    if group is not None and group.given_up:
        raise GivenUp


@contextlib.contextmanager
def announcing(announce: Announce) -> Iterator[None]:
    """Within, the main thread calls `announce` with what really begins, once each (empty: something is built)."""
    said: set[str] = set()

    def once(what: str) -> None:
        if what not in said:
            said.add(what)
            in_main_thread(lambda: announce(what))

    token = _announce.set(once)
    try:
        yield
    finally:
        _announce.reset(token)


def begins(what: str = "") -> None:
    """Say that something is built or fetched that was not there."""
    announce = _announce.get()
    if announce is not None:
        announce(what)
