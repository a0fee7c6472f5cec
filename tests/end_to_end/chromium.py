"""A headless Chromium driven over a pipe by its DevTools protocol: no port, no driver, no other package."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
DEADLINE_S = 60.0


def program() -> str | None:
    """The browser's program, None when none is installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Chromium:
    """One browser with one page. `events` holds what it reported since the last `open`."""

    def __init__(self, profile: Path) -> None:
        self._to_browser, self._from_us = os.pipe()
        self._from_browser, self._to_us = os.pipe()
        command = [str(program()), *FLAGS, f"--user-data-dir={profile}", "about:blank"]

        # The browser reads on 3 and writes on 4; a test has no threads that a fork could leave half-way.
        def give_pipes() -> None:
            kept = os.dup(self._to_browser), os.dup(self._to_us)
            os.dup2(kept[0], 3)
            os.dup2(kept[1], 4)

        self._process = subprocess.Popen(
            command,
            preexec_fn=give_pipes,  # noqa: PLW1509
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(self._to_browser)
        os.close(self._to_us)
        self._buffer = b""
        self._id = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session = ""
        with contextlib.suppress(OSError, EOFError, TimeoutError):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from_us)
        os.close(self._from_browser)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer to one command; events that come before it are kept."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._from_us, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])
            self.events.append(answer)

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + DEADLINE_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from_browser], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self._from_browser, 1 << 20)
            if not piece:
                raise EOFError("the browser is gone")
            self._buffer += piece
        first, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(first))

    def open(
        self, file: Path, width: int, *, height: int = 900, at: str = "", dark: bool = False, scripts: bool = True
    ) -> None:
        """Loads a file from disk, `at` a place in it, in a window of that size and waits until it is loaded."""
        self.events.clear()
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        self.call("Page.navigate", url="about:blank")  # another place in the same file would be no load
        self._loaded()
        self.events.clear()
        self.call("Page.navigate", url=file.resolve().as_uri() + (f"#{at}" if at else ""))
        self._loaded()

    def _loaded(self) -> None:
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def press(self, key: str, code: int, text: str = "") -> None:
        """One key, down and up; `text`: the character that it writes."""
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait in the page until an expression is true. Errors: TimeoutError."""
        self.evaluate(
            f"new Promise(done => {{ const look = () => ({condition}) ? done() : setTimeout(look, 10); look(); }})"
        )

    def complaints(self) -> list[str]:
        """What went wrong or was written to the console since the file was opened."""
        kinds = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [str(event["params"]) for event in self.events if event.get("method") in kinds]

    def screenshot(self, file: Path) -> None:
        """A picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        answer = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(answer["data"]))
