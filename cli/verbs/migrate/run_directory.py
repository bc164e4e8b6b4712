"""The directory of a run, next to the plan (`PLAN.yaml.run`): its events, one JSON document a line, the plan as it is
carried out, the output of hooks, and the files of settings that they got. Locks keep a second run away; they go with
the process that holds them."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import IO, Any, Self

from cli.errors import CommandError, UsageError
from cli.verbs.migrate.event_documents import EventDocument
from cli.verbs.migrate.hook import FormerHook
from migration.execution.events import RollbackBegan
from migration.execution.memory import ExecutionMemory, Resumed
from migration.execution.stops import ExecutionStop, StopRule
from migration.gate.notes import fingerprint
from migration.model import Plan, PlannedMember, RoundAction

EVENTS = "events.jsonl"
SUFFIX = ".run"
_LOCK = "lock"
_ENDS = ("finished", "rolled-back", "stopped")
_TEXTS = {
    "hook-began": ("name",),
    "hook-runs": ("name", "started"),
    "hook-ended": ("name",),
    "stopped": ("message",),
    "member-returned": ("member", "id"),
    "member-rejoined": ("member", "id"),
    "rolling-back": ("rule", "message"),
}
_LISTS = {"hook-began": ("members",), "rolling-back": ("absent", "ids")}


@dataclass(frozen=True, kw_only=True)
class FormerRuns:
    """What the log of a plan's runs says. A line that was cut off, or is damaged, is as if it had not been written:
    then a member may be restarted once more, but is never left out."""

    events: tuple[Mapping[str, Any], ...] = ()
    damaged: int = 0  # Lines that cannot be read, without a last one that was cut off
    others: int = 0  # Events of another plan

    def resumed(self, opened: Mapping[int, Sequence[PlannedMember]], plan: Plan) -> Resumed:
        """What an execution is given that continues; `opened`: the members when the gate of each step opened."""
        if not self.events:
            return Resumed(opened=opened, hooks=None if opened else {})
        memory = ExecutionMemory()
        members = {member.id: member for member in plan.baseline.members} if plan.baseline else {}
        for event in self.events:
            _remember(memory, event, members)
        return memory.resumed(opened)

    @property
    def hooks(self) -> frozenset[tuple[int, str]] | None:
        """Steps and members of the hooks of former runs, since the last rollback; None if there was no run."""
        if not self.events:
            return None
        hooks: set[tuple[int, str]] = set()
        for event in self.events:
            if event["event"] == "rolled-back":
                hooks.clear()
            elif event["event"] == "hook-began":
                hooks |= {(event["step"], member) for member in event["members"]}
        return frozenset(hooks)

    @property
    def running(self) -> tuple[FormerHook, ...]:
        """The hooks of former runs that are still running."""
        hooks = (
            FormerHook(member=event["name"], process=event["process"], started=event["started"])
            for event in self.events
            if event["event"] == "hook-runs"
        )
        return tuple(hook for hook in hooks if hook.is_running)

    @property
    def end(self) -> Mapping[str, Any] | None:
        """How the last run ended; None if it was killed, or there was none."""
        last = next(
            (event for event in reversed(self.events) if event["event"] in ("run-began", *_ENDS)), None
        )
        return None if last is None or last["event"] == "run-began" else last


def _remember(
    memory: ExecutionMemory, event: Mapping[str, Any], members: Mapping[str, PlannedMember]
) -> None:
    """`members`: those of the plan."""
    match event["event"]:
        case "hook-began":
            stops = event.get("action") == RoundAction.STOP.value
            members_, ids = event["members"], _texts(event, "ids")
            are_known = len(ids) == len(members_)
            memory.hook_began(
                event["step"], members_, ids if are_known else [""] * len(members_), stops=stops
            )
        case "hook-ended" if event.get("problem"):
            memory.hook_failed(_texts(event, "members"))
        case "member-returned" | "member-rejoined" if event["member"] in members:
            memory.returned(event["member"], replace(members[event["member"]], id=event["id"]))
        case "rolling-back":
            memory.rollback_began(_rollback(event))
        case "step-ended" if event.get("rollback"):
            memory.step_undone(event["step"], [PlannedMember(id=id_) for id_ in _texts(event, "ids")])
        case "rolled-back":
            memory.rolled_back()
        case "stopped" | "finished":
            memory.run_ended()


def _rollback(event: Mapping[str, Any]) -> RollbackBegan:
    rule = next((rule for rule in StopRule if rule.value == event["rule"]), StopRule.BACK)
    return RollbackBegan(
        at_s=0.0,
        stop=ExecutionStop(rule=rule, message=event["message"], at_s=0.0),
        begun={int(step): tuple(map(str, seats)) for step, seats in event["begun"].items()},
        absent=_texts(event, "absent"),
        members=tuple(PlannedMember(id=id_) for id_ in _texts(event, "ids")),
    )


def _texts(event: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = event.get(name)
    return tuple(map(str, values)) if isinstance(values, list) else ()


def directory_of(plan_file: Path) -> Path:
    return plan_file.with_name(plan_file.name + SUFFIX)


def read_former_runs(directory: Path, plan: Plan) -> FormerRuns:
    """Raises CommandError: the log exists, and cannot be read."""
    file, plan_id = directory / EVENTS, fingerprint(plan)
    try:
        lines = file.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return FormerRuns()
    except OSError as error:
        raise CommandError(f"{file}: cannot be read: {error.strerror or error}") from None
    events: list[Mapping[str, Any]] = []
    damaged = others = 0
    for number, line in enumerate(lines, 1):
        event = _event(line)
        if event is None:
            damaged += number < len(lines) or line.endswith(b"\n")
        elif event["plan"] != plan_id:
            others += 1
        else:
            events.append(event)
    return FormerRuns(events=tuple(events), damaged=damaged, others=others)


def _event(line: bytes) -> Mapping[str, Any] | None:
    """The event of a line; None if it is damaged."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(event, dict) or not all(
        isinstance(event.get(name), str) for name in ("event", "plan", "at")
    ):
        return None
    kind = event["event"]
    is_whole = all(isinstance(event.get(name), str) for name in _TEXTS.get(kind, ()))
    for name in _LISTS.get(kind, ()):
        values = event.get(name)
        is_whole &= isinstance(values, list) and all(isinstance(value, str) for value in values)
    if kind in ("hook-began", "step-ended"):
        is_whole &= isinstance(event.get("step"), int)
    if kind == "rolling-back":
        begun = event.get("begun")
        is_whole &= isinstance(begun, dict) and all(
            step.isdecimal() and isinstance(seats, list) for step, seats in begun.items()
        )
    if kind == "hook-runs":
        is_whole &= isinstance(event.get("process"), int)
    return event if is_whole else None


class EventDirectory:
    """A directory with a log of events, which one process writes. Use it in a `with` block. Raises UsageError: another
    process does. Raises CommandError: the directory cannot be written."""

    def __init__(self, path: Path, what: str) -> None:
        """`what`: what that other process carries out."""
        self.path = path
        with _writable(path, "keep the plan in a writable directory"):
            path.mkdir(mode=0o700, exist_ok=True)
            self._locks = [_locked(path / _LOCK, what)]
            self._log = _opened(path / EVENTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._log.close()
        for lock in self._locks:
            lock.close()

    def write(self, document: EventDocument) -> None:
        """Append an event; it is on disk when this returns. OSError."""
        line = json.dumps(document, ensure_ascii=False).encode(errors="replace") + b"\n"
        while line:
            line = line[self._log.write(line) :]
        os.fsync(self._log.fileno())


class RunDirectory(EventDirectory):
    """The directory of a plan's runs. Raises UsageError also if another process carries out a plan of its group."""

    def __init__(self, plan_file: Path, plan: Plan, cluster: str | None) -> None:
        super().__init__(directory_of(plan_file), f"{plan_file}")
        try:
            with _writable(lock_directory(), "set XDG_STATE_HOME to a writable directory"):
                lock_directory().mkdir(mode=0o700, parents=True, exist_ok=True)
                name = hashlib.sha256(f"{cluster}\n{plan.group}".encode()).hexdigest()[:32]
                self._locks.append(_locked(lock_directory() / name, f"a plan of the group {plan.group}"))
        except BaseException:
            self.close()
            raise
        self.former = read_former_runs(self.path, plan)


def lock_directory() -> Path:
    """Where the locks of groups are: `$XDG_STATE_HOME/kohort`, by default ~/.local/state/kohort."""
    home = os.environ.get("XDG_STATE_HOME")
    return Path(home or Path.home() / ".local" / "state") / "kohort" / "migrate"


@contextmanager
def _writable(path: Path, step: str) -> Iterator[None]:
    """OSError as a CommandError with the next step."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{error.filename or path}: {error.strerror or error}: {step}") from None


def _opened(file: Path) -> FileIO:
    """The log to append to, without a buffer that would be written when it is closed; a last line that was cut off is
    ended, so that the next one is whole."""
    log = FileIO(file, "ab+", opener=lambda name, flags: os.open(name, flags, 0o600))
    if log.tell():
        log.seek(-1, os.SEEK_END)
        if log.read(1) != b"\n":
            log.write(b"\n")
    return log


def _locked(path: Path, what: str) -> IO[str]:
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise UsageError(
            f"process {holder or 'unknown'} is carrying out {what}: wait for its end, or stop it"
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file
