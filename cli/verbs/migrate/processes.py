"""Processes of this machine, as Linux shows them below /proc. Elsewhere no process has a mark, and a session is its
first process group."""

import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

GRACE_S = 10.0  # Between SIGTERM and SIGKILL
_LAST_S = 5.0  # From SIGKILL until a process is given up: one that waits for a disk cannot be ended
_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")


def mark_of(process: int) -> str:
    """When the machine and the process started: another process with this number, here or on another machine, has
    another mark. Empty if it does not run, or is not known."""
    stat = _stat(process)
    with suppress(OSError):
        return f"{(_PROC / 'sys/kernel/random/boot_id').read_text().strip()} {stat[19]}" if stat else ""
    return ""


def age_s(process: int) -> float:
    """How long a process has been running; 0 if it does not run, or is not known."""
    stat = _stat(process)
    with suppress(OSError):
        uptime_s = float((_PROC / "uptime").read_text().split()[0])
        return uptime_s - int(stat[19]) / _TICKS if stat else 0.0
    return 0.0


@dataclass(slots=True)
class ProcessSession:
    """A session of processes (setsid), and its end. Its number can be that of another session only when all of its
    processes have ended."""

    leader: int
    _marks: dict[int, str] = field(default_factory=dict)  # The processes that were there at the last look
    _killed_s: float | None = None  # When they are sent SIGKILL

    @property
    def is_ending(self) -> bool:
        return self._killed_s is not None

    def end(self, now_s: float) -> None:
        """Ask its processes to end."""
        if self._killed_s is None:
            self._killed_s = now_s + GRACE_S
            self._marks = _members(self.leader)
            self._signal(signal.SIGTERM)

    def is_gone(self, now_s: float, *, leader_has_ended: bool) -> bool:
        """Whether all processes have ended since `end`; those that have not in time are killed."""
        self._marks = {process: mark for process, mark in self._marks.items() if mark_of(process) == mark}
        if self._killed_s is None or (leader_has_ended and not self._marks):
            return True
        if self._marks:
            self._marks |= _members(self.leader)
        if now_s >= self._killed_s:
            self._signal(signal.SIGKILL)
        return now_s >= self._killed_s + _LAST_S

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.leader, number)
        for process in self._marks:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, number)


def _members(session: int) -> dict[int, str]:
    numbers = [int(path.name) for path in _PROC.glob("[1-9]*")]
    of_session = [number for number in numbers if _stat(number)[3:4] == [str(session)]]
    return {number: mark for number in of_session if (mark := mark_of(number))}


def _stat(process: int) -> list[str]:
    """The fields after the name, of a process that runs; empty for one that has ended and was not waited for."""
    with suppress(OSError):
        fields = (_PROC / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return [] if fields[:1] == ["Z"] else fields
    return []
