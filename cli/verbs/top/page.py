"""A page of `kohort top --web`: a process that draws for a browser. Textual's web driver writes packets to its standard
output, each a letter, a length of four bytes and the payload, after a line that says it has started; and reads such
packets from its standard input, whose end ends it."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from tempfile import TemporaryFile
from typing import BinaryIO

from textual.drivers.web_driver import WebDriver
from textual.messages import ExitApp

STARTED = b"__GANGLION__\n"
TYPED, META = b"D", b"M"
GRACE_S = 3.0  # Until a page that does not end is killed
WIDTHS, HEIGHTS = (20, 500), (5, 200)  # In cells; a browser could claim any
MOST_NOTICES = 65536  # Bytes
OF_A_TERMINAL = (
    *("TERM", "COLORTERM", "COLUMNS", "LINES", "ROWS", "TMUX", "STY", "SSH_TTY", "NO_COLOR", "FORCE_COLOR"),
    *("TEXTUAL_", "KITTY_", "ITERM_", "WT_", "VTE_", "KOHORT_COLOR"),
)
"""The beginnings of variables that describe the terminal of the server, which is not where a page is shown."""
KEPT = ("TEXTUAL_THEME",)


class PageDriver(WebDriver):
    """Ends the application with its input: neither a browser that has left nor a server that was killed leaves a
    process that continues to read the cluster."""

    def run_input_thread(self) -> None:
        super().run_input_thread()
        with suppress(RuntimeError):  # The application has ended, and its loop with it
            self._loop.call_soon_threadsafe(self._app.post_message, ExitApp())


class PageProcess:
    def __init__(
        self,
        process: asyncio.subprocess.Process,
        keys: asyncio.StreamWriter,
        drawn: asyncio.StreamReader,
        notices: BinaryIO,
    ) -> None:
        self.process, self._keys, self._drawn, self._notices = process, keys, drawn, notices

    async def output(self) -> AsyncIterator[bytes]:
        """What the page's terminal is to show until the process ends; then its notices, as why it could not start."""
        read = self._drawn.readexactly
        with suppress(asyncio.IncompleteReadError):
            await self._drawn.readuntil(STARTED)
            while True:
                kind, size = await read(1), await read(4)
                payload = await read(int.from_bytes(size, "big"))
                if kind == TYPED:
                    yield payload
        await self.process.wait()
        if notices := self.read_notices():
            yield b"\x1b[2J\x1b[H" + notices.replace(b"\n", b"\r\n")

    def read_notices(self) -> bytes:
        self._notices.seek(0)
        return self._notices.read(MOST_NOTICES)

    async def type(self, text: str) -> None:
        await self._send(TYPED, text.encode(errors="replace"))

    async def resize(self, width: int, height: int) -> None:
        size = {"width": within(width, WIDTHS), "height": within(height, HEIGHTS)}
        await self._send(META, json.dumps({"type": "resize", **size}).encode())

    async def focus(self, kind: str) -> None:
        """`kind`: focus or blur."""
        await self._send(META, json.dumps({"type": kind}).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        with suppress(ConnectionError):  # It has ended; so does its output
            self._keys.write(kind + len(payload).to_bytes(4, "big") + payload)
            await self._keys.drain()

    async def end(self) -> None:
        """Close its input, and wait; what does not end is killed."""
        self._keys.close()
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.communicate(), GRACE_S)
        finally:
            if self.process.returncode is None:
                with suppress(ProcessLookupError):
                    self.process.kill()
                await self.process.wait()


@asynccontextmanager
async def running_page(words: Sequence[str], width: int, height: int) -> AsyncIterator[PageProcess]:
    """Run this command for a window of that many cells. Afterwards its notices are repeated on standard error."""
    with TemporaryFile() as notices:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=notices,
            env=environment(os.environ, width, height),
            start_new_session=True,  # Ctrl-C ends the server, which ends its pages
        )
        if process.stdin is None or process.stdout is None:
            raise BrokenPipeError
        page = PageProcess(process, process.stdin, process.stdout, notices)
        try:
            yield page
        finally:
            await page.end()
            sys.stderr.write(page.read_notices().decode(errors="replace"))


def environment(variables: Mapping[str, str], width: int, height: int) -> dict[str, str]:
    """The environment of a page: that of the server, without what describes its terminal."""
    kept = {
        name: value for name, value in variables.items() if name in KEPT or not name.startswith(OF_A_TERMINAL)
    }
    return kept | {
        "TEXTUAL_DRIVER": f"{PageDriver.__module__}:{PageDriver.__name__}",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLUMNS": str(within(width, WIDTHS)),
        "ROWS": str(within(height, HEIGHTS)),
    }


def within(value: int, bounds: tuple[int, int]) -> int:
    least, most = bounds
    return min(max(value, least), most)
