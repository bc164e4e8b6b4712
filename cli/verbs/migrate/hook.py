"""The operator's command, run for one member: without a shell, in its own process group, with its output in a file.
Its contract: docs/migrate."""

import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cli.errors import UsageError
from groups.times import seconds_text
from migration.execution.events import HookResult, RunHook
from migration.execution.settings import SettingsChange

GRACE_S = 10.0  # Between SIGTERM and SIGKILL
MOST_OUTPUT = 64 * 1024 * 1024  # Bytes of one hook's output, after which it is ended
LAST_LINES = 3  # Of its output in a message
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
NAMES = (
    "group",
    "member",
    "client_id",
    "instance",
    "host",
    "step",
    "round",
    "action",
    "config",
    "remove",
    "rollback",
)
"""What a hook gets, as placeholders of its arguments, and in capitals after KOHORT_ in its environment."""


def command_of(text: str) -> tuple[str, ...]:
    """The words of `--restart`. UsageError: it cannot be run, or has an unknown placeholder."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--restart: {error}") from None
    if not words:
        raise UsageError("--restart: the command is empty")
    unknown = [name for word in words for name in _PLACEHOLDER.findall(word) if name not in NAMES]
    if unknown:
        raise UsageError(f"--restart: unknown placeholder {{{unknown[0]}}}; known: {', '.join(NAMES)}")
    if not _PLACEHOLDER.search(words[0]) and shutil.which(words[0]) is None:
        path = Path(words[0])
        why = "is not executable" if path.exists() else "does not exist"
        raise UsageError(f"--restart: {words[0]} {why}")
    return tuple(words)


@dataclass(slots=True, kw_only=True)
class Hook:
    """A hook that is running."""

    order: RunHook
    process: subprocess.Popen[bytes]
    output: Path
    ends_s: float  # When it is ended, by the caller's clock
    timeout_s: float
    was_ended: str = ""  # Why it was sent SIGTERM
    _killed_s: float | None = None

    def poll(self, now_s: float) -> HookResult | None:
        """The result if it has ended. One that is late, or prints without end, is ended."""
        status = self.process.poll()
        if status is not None:
            return HookResult(
                at_s=now_s,
                member=self.order.member,
                problem=self._problem(status),
                timed_out=self.was_ended.startswith("it did not end"),
            )
        if self._killed_s is not None:
            if now_s >= self._killed_s:
                self._signal(signal.SIGKILL)
        elif now_s >= self.ends_s:
            self.end(now_s, f"it did not end within {seconds_text(self.timeout_s)}")
        elif _size(self.output) > MOST_OUTPUT:
            self.end(now_s, f"it printed more than {MOST_OUTPUT // 1024**2} MiB")
        return None

    def end(self, now_s: float, why: str) -> None:
        """Ask the hook and what it started to end; `poll` kills them if they do not."""
        if self._killed_s is None:
            self.was_ended, self._killed_s = why, now_s + GRACE_S
            self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def _problem(self, status: int) -> str:
        if self.was_ended:
            return self.was_ended
        if status == 0:
            return ""
        how = f"exit status {status}" if status > 0 else f"it was killed by {signal.Signals(-status).name}"
        lines = last_lines(self.output)
        return f"{how}: {lines}" if lines else how


def start_hook(
    command: Sequence[str], order: RunHook, group: str, directory: Path, now_s: float, timeout_s: float
) -> Hook:
    """Run the command for one member. OSError: it cannot be started, or the files cannot be written."""
    name = f"{order.place[0]}-{order.place[1]}-{_file_name(order.seat.label)}"
    config = directory / f"{name}.properties"
    config.write_text(properties_text(order.change))
    facts = facts_of(order, group, config)
    words = [_PLACEHOLDER.sub(lambda match: facts[match[1]], word) for word in command]
    environment = {**os.environ, **{f"KOHORT_{key.upper()}": value for key, value in facts.items()}}
    output = directory / f"{name}.log"
    with output.open("ab") as file:
        process = subprocess.Popen(  # noqa: S603 the operator's own command
            words,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,
        )
    return Hook(order=order, process=process, output=output, ends_s=now_s + timeout_s, timeout_s=timeout_s)


def facts_of(order: RunHook, group: str, config: Path) -> Mapping[str, str]:
    seat = order.seat
    return {
        "group": group,
        "member": seat.id,
        "client_id": seat.client_id or "",
        "instance": seat.instance or "",
        "host": (seat.host or "").removeprefix("/"),
        "step": str(order.place[0]),
        "round": str(order.place[1]),
        "action": order.action.value,
        "config": str(config.absolute()),
        "remove": ",".join(order.change.removed),
        "rollback": "1" if order.is_rollback else "",
    }


def properties_text(change: SettingsChange) -> str:
    """The lines to set, as a file of Java properties."""
    remarks = [
        line if line.startswith("#") else f"# in the program's code: {line}" for line in change.remarks
    ]
    return "".join(
        f"{line}\n" for line in (*remarks, *(f"{key}={value}" for key, value in change.lines.items()))
    )


def last_lines(output: Path) -> str:
    """The last lines that a hook has printed, in one."""
    with suppress(OSError), output.open("rb") as file:
        file.seek(max(0, _size(output) - 4096))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        return " / ".join(lines[-LAST_LINES:])
    return ""


def _size(file: Path) -> int:
    with suppress(OSError):
        return file.stat().st_size
    return 0


def _file_name(label: str) -> str:
    return re.sub(r"[^\w.-]", "_", label)[:80]
