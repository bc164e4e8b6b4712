"""Calls of tools: each is the command of Kohort as a separate process, so that there is one code and one consent, with
limits of time and size. It ends with its call."""

import json
import math
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import IO

import anyio
from anyio.abc import Process

from cli.consent import EXPECTED_VARIABLE
from cli.errors import ExitStatus
from cli.stopping import GRACE_S
from cli.verbs.mcp.tools import CallFailed
from cli.verbs.top.words import KOHORT
from groups.times import seconds_text

AT_ONCE, WAITING = 4, 32  # Calls that run, and that may wait for one of these
MOST_OUTPUT = 64 * 1024 * 1024  # Bytes of a document
MOST_NOTICES = 4_000  # Characters of what a command says next to its document
_POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandAnswer:
    status: int
    document: Mapping[str, object] | None  # None: the command has printed none
    notices: str  # What it printed for people


@dataclass(slots=True)
class CommandRunner:
    """Runs commands, not too many at once."""

    limit_s: float
    _running: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(AT_ONCE))

    async def run(self, words: Sequence[str], variables: Mapping[str, str]) -> CommandAnswer:
        """Run a command that prints JSON, in this environment. Raises CallFailed."""
        waiting = self._running.statistics().tasks_waiting
        if waiting >= WAITING:
            raise CallFailed(
                f"{AT_ONCE + waiting} calls are running or waiting already: wait for their answers"
            )
        async with self._running:
            return await self._run(words, variables)

    async def _run(self, words: Sequence[str], variables: Mapping[str, str]) -> CommandAnswer:
        environment = {**os.environ, **variables}
        environment.pop("KOHORT_DEBUG", None)  # A traceback is no answer
        with TemporaryFile() as stdout, TemporaryFile() as stderr:
            try:
                process = await anyio.open_process(
                    [*KOHORT, *words], env=environment, start_new_session=True,
                    stdin=DEVNULL, stdout=stdout, stderr=stderr,
                )  # fmt: skip
            except (OSError, ValueError) as error:
                raise CallFailed(f"the arguments cannot be passed to a command: {error}") from None
            with anyio.move_on_after(self.limit_s) as limit:
                try:
                    await _ended(process, stdout)
                finally:
                    with anyio.CancelScope(shield=True):
                        await _stop(process)
            document = _document(_content(stdout, MOST_OUTPUT))
            notices = _content(stderr, MOST_NOTICES)
        if document is None and limit.cancelled_caught:
            after = f"no answer within {seconds_text(self.limit_s)} (--time-limit)"
            if EXPECTED_VARIABLE in variables:
                raise CallFailed(f"{after}: the tool journal shows whether the change was made")
            raise CallFailed(f"{after}: ask for less at once")
        status = ExitStatus.UNREADABLE if process.returncode is None else process.returncode
        notices = notices.removeprefix("kohort: ").replace("\nkohort: ", "\n").strip()
        return CommandAnswer(status=status, document=document, notices=notices)


async def _ended(process: Process, stdout: IO[bytes]) -> None:
    """Wait for the end of a command that does not print too much."""
    while process.returncode is None:
        with anyio.move_on_after(_POLL_S):
            await process.wait()
        if os.fstat(stdout.fileno()).st_size > MOST_OUTPUT:
            raise CallFailed(f"the answer is longer than {MOST_OUTPUT // 2**20} MiB: ask for fewer groups")


async def _stop(process: Process) -> None:
    """End a command that still runs, and its own processes. A change waits for the answers of what it has sent."""
    if process.returncode is not None:
        return
    for number, seconds in ((signal.SIGTERM, GRACE_S + 1), (signal.SIGKILL, math.inf)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with anyio.move_on_after(seconds):
            await process.wait()


def _content(file: IO[bytes], most: int) -> str:
    file.seek(0)
    return file.read(most).decode(errors="replace")


def _document(printed: str) -> Mapping[str, object] | None:
    document: object = None
    with suppress(ValueError, RecursionError):
        document = json.loads(printed)
    return document if isinstance(document, dict) else None
