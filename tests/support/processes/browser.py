"""A headless Chromium that opens one page and reports what happened there.

It is controlled over a pair of pipes, in the protocol of its developer tools, without a driver program.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

COMMANDS = ("chromium", "chromium-browser", "google-chrome")

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
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)

TIMEOUT_S = 60.0


class BrowserError(AssertionError):
    """The browser is missing, ended, or did not answer; or a script in the page failed."""


@dataclass
class Seen:
    """What a page did since it was opened."""

    requests: list[str] = field(default_factory=list)
    """Addresses, the page's own among them."""
    errors: list[str] = field(default_factory=list)
    """Errors and warnings in the console, uncaught exceptions, violations of the page's policy."""


class Browser:
    """One browser with one page, ended by force when the `with` block is left."""

    def __init__(self, profile: Path, width: int = 1366, height: int = 900) -> None:
        """`profile` is an empty directory for the browser's own files."""
        self.seen = Seen()
        self._width, self._height = width, height
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        # The browser reads commands from its descriptor 3 and answers on 4, whatever the numbers are here.
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser}'
        command = [_command(), *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", script, "browser", *command, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._number = 0
        self._unread = b""
        self._events: list[str] = []
        self._session: str | None = None

    def __enter__(self) -> Browser:
        try:
            targets = self._call("Target.getTargets")["targetInfos"]
            page = next(target["targetId"] for target in targets if target["type"] == "page")
            attached = self._call("Target.attachToTarget", targetId=page, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                self._call(f"{domain}.enable")
            self._resize(self._height)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def open(self, address: str) -> None:
        """Returns when the page and all its scripts have been loaded."""
        self.seen = Seen()
        self._events.clear()
        self._call("Page.navigate", url=address)
        deadline = time.monotonic() + TIMEOUT_S
        while "Page.loadEventFired" not in self._events:
            self._receive(deadline)

    def evaluate(self, expression: str) -> object:
        """The value of an expression in the page, awaited if it is a promise."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {_description(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def move_mouse(self, x: float, y: float) -> None:
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def prefer(self, scheme: str) -> None:
        """`light` or `dark` colors, as a user's system does."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self._call("Emulation.setEmulatedMedia", features=[feature])

    def screenshot(self, path: Path, whole_page: bool = True) -> None:
        """A PNG."""
        if whole_page:
            self._resize(int(str(self.evaluate("document.documentElement.scrollHeight"))))
        answer = self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(answer["data"]))

    def _resize(self, height: int) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=self._width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def _call(self, method: str, **parameters: object) -> dict:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                return answer["result"]

    def _receive(self, deadline: float) -> dict:
        """The next message; events of the page are recorded."""
        while b"\0" not in self._unread:
            readable, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not readable:
                raise BrowserError(f"the browser has said nothing for {TIMEOUT_S:g} s")
            chunk = os.read(self._from, 1 << 20)
            if not chunk:
                raise BrowserError(f"the browser has ended with {self._process.wait(10)}")
            self._unread += chunk
        message, _, self._unread = self._unread.partition(b"\0")
        answer: dict = json.loads(message)
        if "method" in answer:
            self._note(answer["method"], answer["params"])
        return answer

    def _note(self, method: str, event: dict) -> None:
        self._events.append(method)
        match method:
            case "Network.requestWillBeSent":
                self.seen.requests.append(event["request"]["url"])
            case "Runtime.consoleAPICalled" if event["type"] in ("error", "warning", "assert"):
                texts = [str(value.get("value", value.get("description"))) for value in event["args"]]
                self.seen.errors.append(" ".join(texts))
            case "Runtime.exceptionThrown":
                self.seen.errors.append(_description(event["exceptionDetails"]))
            case "Log.entryAdded" if event["entry"]["level"] in ("error", "warning"):
                self.seen.errors.append(event["entry"]["text"])

    def _end(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait(30)
        os.close(self._to)
        os.close(self._from)


def _description(details: dict) -> str:
    return str(details.get("exception", {}).get("description") or details.get("text"))


def _command() -> str:
    for name in COMMANDS:
        if found := shutil.which(name):
            return found
    raise BrowserError(f"none of {', '.join(COMMANDS)} is installed: apt-get install chromium")
