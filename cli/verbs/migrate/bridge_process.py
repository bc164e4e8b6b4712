"""`kohort bridge` as a separate process, which a run starts and stops. Its output goes into the log of the run, and
what it asks for is read from its lines. It ends with the run, also when that is killed: then the pipe that is its
standard input is closed, and it leaves the group."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cli.options import SourceOptions
from cli.verbs.plan.action import connection_of
from migration.bridge import MemberRestart, Move, RestartMode

OUTPUT = "bridge.log"
LAST_LINES = 3  # Of its output in a message
LONGEST_S = 15.0  # From SIGTERM to SIGKILL: leaving a group takes a request


@dataclass(slots=True)
class BridgeProcess:
    """`tell` gets each line that says what it does; it is called in a thread of the bridge."""

    group: str
    source: SourceOptions
    directory: Path
    tell: Callable[[str], None]
    asks: MemberRestart | None = None  # The restart that it asks for now
    leader: str | None = None  # Of the group, as the bridge learned when it last joined
    _process: subprocess.Popen[str] | None = None
    _reader: threading.Thread | None = None
    _is_ending: bool = False
    _last: list[str] = field(default_factory=list)

    @property
    def problem(self) -> str:
        """Why it has ended, unless it was stopped, or has led until the group was converted."""
        status = None if self._process is None else self._process.poll()
        if status is None or status == 0 or self._is_ending:
            return ""
        return f"exit status {status}; {self.directory / OUTPUT} ends with: {' / '.join(self._last) or 'nothing'}"

    def start(self) -> None:
        """Raises OSError. One that is running stays."""
        if self._process is not None and self._process.poll() is None:
            return
        self._is_ending, self.asks, self.leader, self._last = False, None, None, []
        self._process = subprocess.Popen(  # noqa: S603  (Kohort itself)
            [sys.executable, "-P", "-m", __name__, *self._arguments()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        name = f"bridge of {self.group}"
        self._reader = threading.Thread(target=self._read, args=(self._process,), name=name)
        self._reader.start()

    def stop(self) -> None:
        """Have it leave the group."""
        process, self._is_ending, self.asks, self.leader = self._process, True, None, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()
        if self._reader is not None:
            self._reader.join()

    def _arguments(self) -> list[str]:
        place = self.source.place
        consent = ["--confirm", place.name] if place and place.is_protected and place.name else ["--yes"]
        timeout = ["--timeout", str(self.source.timeout_ms)]
        connection = shlex.split(connection_of(self.source).kohort)
        options = [
            *connection,
            *timeout,
            "--execute",
            *consent,
            "--no-journal",
            "--watch",
            "--output",
            "json",
        ]
        return ["bridge", *options, "--", self.group]

    def _read(self, process: subprocess.Popen[str]) -> None:
        path = self.directory / OUTPUT
        with open(path, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as log:
            for line in process.stdout or ():
                log.write(line)
                log.flush()
                self._hear(line.strip())

    def _hear(self, line: str) -> None:
        move = None
        try:
            document = json.loads(line)
            step = document.get("step")
            if step is None:  # The document of the whole command, whose errors are also lines
                return
            restarts = [
                MemberRestart(member=one["id"], mode=RestartMode(one["manner"]), why=one["why"])
                for one in step["restart"]
            ]
            move, text = Move(step["move"]), f"{step['move']}: {step['why']}"
        except (ValueError, KeyError, TypeError, AttributeError):
            text = line.removeprefix("kohort: ")
        else:
            self.leader = document.get("leader")
            self.asks = restarts[0] if move is Move.RESTART and restarts else None
        self._last = [*self._last, text][-LAST_LINES:]
        if move is not Move.WAIT:
            self.tell(text)


def main() -> None:
    """The bridge's process: `kohort bridge`, which a closed standard input stops as SIGTERM does."""
    from cli.app import main as kohort

    threading.Thread(target=_stop_when_closed, daemon=True).start()
    kohort()


def _stop_when_closed() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
