"""A headless Chromium that is asked over its debugging pipe: what a page shows, says and fetches. Nothing but the
browser is needed. Messages of the Chrome DevTools Protocol are JSON, each ended by a zero byte, on the browser's
file descriptors 3 (to it) and 4 (from it)."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import F_DUPFD_CLOEXEC, fcntl
from pathlib import Path
from typing import Any, Literal, NoReturn

import pytest

NAMES = ("chromium", "google-chrome", "google-chrome-stable")
REQUIRE = "KOHORT_REQUIRE_BROWSER"
TIMEOUT_S = 60.0
BINARY = 2  # The opcode of a web socket's binary message
ARGUMENTS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # pages of ours alone; a container may have no namespaces for the sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--password-store=basic",
    "--use-mock-keychain",
)
_LAUNCHER = """\
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_browser() -> str:
    """Its path; without it the test skips, or fails where the browser is required."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    return _missing()


def _missing() -> NoReturn:
    reason = "no Chromium on this machine: `make browser` installs it"
    if os.environ.get(REQUIRE) == "1":
        pytest.fail(reason, pytrace=False)
    pytest.skip(f"{reason} ({REQUIRE}=1 makes that a failure)")


@dataclass(slots=True, kw_only=True)
class Page:
    """A page that is loaded, and what the browser said and asked for until now."""

    browser: Chromium
    session: str
    messages: list[str] = field(default_factory=list)
    """Errors of the console, of the browser's log, and uncaught exceptions."""
    requests: list[str] = field(default_factory=list)  # URLs, the page itself first
    received: list[bytes] = field(default_factory=list)  # Binary messages of its web sockets

    def evaluate(self, expression: str) -> Any:
        """The value of JavaScript, as JSON carries it."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def look(
        self, *, width: int = 1280, scheme: Literal["light", "dark"] = "light", media: str = "screen"
    ) -> None:
        """Set the window's width in pixels, and make the page light, dark or printed."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        self.ask(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def type(self, text: str) -> None:
        """Press keys, those of characters; `\\r` is Enter."""
        for character in text:
            for kind in ("keyDown", "keyUp"):
                named: dict[str, Any] = (
                    {"key": "Enter", "windowsVirtualKeyCode": 13} if character == "\r" else {}
                )
                typed = {"text": character} if kind == "keyDown" else {}
                self.ask("Input.dispatchKeyEvent", type=kind, **(named or {"key": character}), **typed)

    def screenshot(self) -> bytes:
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        answer = self.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, printBackground=True)
        return base64.b64decode(answer["data"])

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.ask(method, session=self.session, **params)

    def heard(self, method: str, params: Mapping[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(value.get("value")) for value in params["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(params["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.messages.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Network.webSocketFrameReceived" and params["response"]["opcode"] == BINARY:
            self.received.append(base64.b64decode(params["response"]["payloadData"]))


class Chromium:
    def __init__(self, program: str, profile: Path) -> None:
        to_read, self._to = _pipe()
        self._from, to_write = _pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _LAUNCHER, str(to_read), str(to_write)),
                *(program, *ARGUMENTS, f"--user-data-dir={profile}", "about:blank"),
            ],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "HOME": str(profile), "XDG_CONFIG_HOME": str(profile)},
        )
        os.close(to_read)
        os.close(to_write)
        self._rest = b""
        self._last = 0
        self._pages: dict[str, Page] = {}
        self._loaded: set[str] = set()

    def open(self, url: str) -> Page:
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(browser=self, session=session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.look()
        self._loaded.discard(session)
        page.ask("Page.navigate", url=url)
        deadline = time.monotonic() + TIMEOUT_S
        while session not in self._loaded:
            self._hear(self._receive(deadline))
        return page

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """The answer to a command of the protocol; events that come before it are noted."""
        self._last += 1
        message: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while (answer := self._receive(deadline)).get("id") != self._last:
            self._hear(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> None:
        """End it, and all processes that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _hear(self, event: Mapping[str, Any]) -> None:
        session = event.get("sessionId", "")
        if event.get("method") == "Page.loadEventFired":
            self._loaded.add(session)
        elif session in self._pages and "method" in event:
            self._pages[session].heard(event["method"], event["params"])

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"not within {TIMEOUT_S:.0f} s: an answer of the browser")
            chunk = os.read(self._from, 1 << 20)
            if not chunk:
                raise AssertionError(f"the browser ended: {self._process.poll()}")
            self._rest += chunk
        text, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(text)
        return message


def _pipe() -> tuple[int, int]:
    """Its ends, above the numbers that the browser wants them at."""
    ends = os.pipe()
    above = fcntl(ends[0], F_DUPFD_CLOEXEC, 10), fcntl(ends[1], F_DUPFD_CLOEXEC, 10)
    for end in ends:
        os.close(end)
    return above


@contextmanager
def chromium() -> Iterator[Chromium]:
    """A browser with its own profile; both are removed afterwards."""
    program = find_browser()
    with tempfile.TemporaryDirectory(prefix="kohort-browser-", ignore_cleanup_errors=True) as profile:
        browser = Chromium(program, Path(profile))
        try:
            yield browser
        finally:
            browser.close()
