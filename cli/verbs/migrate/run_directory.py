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
from typing import IO, Self

from cli.errors import CommandError, UsageError
from cli.journal.directory import state_directory
from cli.verbs.migrate.event_documents import Event, EventDocument
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
_OF_ALL: Mapping[str, type] = {"event": str, "plan": str, "at": str}
_NEEDED: Mapping[str, Mapping[str, type]] = {
    "hook-began": {"name": str, "members": list, "step": int},
    "hook-runs": {"name": str, "started": str, "process": int},
    "hook-ended": {"name": str},
    "member-returned": {"member": str, "id": str},
    "member-rejoined": {"member": str, "id": str},
    "step-ended": {"step": int},
    "stopped": {"message": str},
    "rolling-back": {"rule": str, "message": str, "begun": dict, "absent": list, "ids": list},
}
"""What an event must have so that a run can continue."""


@dataclass(frozen=True, kw_only=True)
class FormerRuns:
    """What the log of a plan's runs says. A line that was cut off, or is damaged, is as if it had not been written:
    then a member may be restarted once more, but is never left out."""

    events: tuple[Event, ...] = ()
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
            if event.kind == "rolled-back":
                hooks.clear()
            elif event.kind == "hook-began":
                hooks |= {(event.place[0], member) for member in event.texts("members")}
        return frozenset(hooks)

    @property
    def running(self) -> tuple[FormerHook, ...]:
        """The hooks of former runs that are still running."""
        began = [event for event in self.events if event.kind == "hook-runs"]
        hooks = (
            FormerHook(
                member=event.text("name"), process=event.count("process") or 0, started=event.text("started")
            )
            for event in began
        )
        return tuple(hook for hook in hooks if hook.is_running)

    @property
    def end(self) -> Event | None:
        """How the last run ended; None if it was killed, or there was none."""
        ends = (event for event in reversed(self.events) if event.kind in ("run-began", *_ENDS))
        last = next(ends, None)
        return None if last is None or last.kind == "run-began" else last

    @property
    def documents(self) -> Iterator[EventDocument]:
        return (event.document for event in self.events)


def _remember(memory: ExecutionMemory, event: Event, members: Mapping[str, PlannedMember]) -> None:
    """`members`: those of the plan."""
    step, present = event.place[0], tuple(PlannedMember(id=id_) for id_ in event.texts("ids"))
    match event.kind:
        case "hook-began":
            hooked, ids = event.texts("members"), event.texts("ids")
            stops = event.text("action") == RoundAction.STOP.value
            memory.hook_began(
                step, hooked, ids if len(ids) == len(hooked) else [""] * len(hooked), stops=stops
            )
        case "hook-ended" if event.text("problem"):
            memory.hook_failed(event.texts("members"))
        case "member-returned" | "member-rejoined" if (member := event.text("member")) in members:
            memory.returned(member, replace(members[member], id=event.text("id")))
        case "rolling-back":
            rule = next((rule for rule in StopRule if rule.value == event.text("rule")), StopRule.BACK)
            stop = ExecutionStop(rule=rule, message=event.text("message"), at_s=0.0)
            begun, absent = event.part("begun"), event.texts("absent")
            seats = {int(step): begun.texts(step) for step in begun.document}
            began = RollbackBegan(at_s=0.0, stop=stop, begun=seats, absent=absent, members=present)
            memory.rollback_began(began)
        case "step-ended" if event.truth("rollback"):
            memory.step_undone(step, present)
        case "rolled-back":
            memory.rolled_back()
        case "stopped" | "finished":
            memory.run_ended()


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
    events: list[Event] = []
    damaged = others = 0
    for number, line in enumerate(lines, 1):
        event = _event(line)
        if event is None:
            damaged += number < len(lines) or line.endswith(b"\n")
        elif event.text("plan") != plan_id:
            others += 1
        else:
            events.append(event)
    return FormerRuns(events=tuple(events), damaged=damaged, others=others)


def _event(line: bytes) -> Event | None:
    """The event of a line; None if it is damaged."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    event = Event(document)
    needed = {**_OF_ALL, **_NEEDED.get(event.kind, {})}
    if not all(isinstance(document.get(name), kind) for name, kind in needed.items()):
        return None
    begun = event.part("begun") if "begun" in needed else Event({})
    lists = [document[name] for name, kind in needed.items() if kind is list]
    lists += begun.document.values()
    is_whole = all(isinstance(one, list) and all(isinstance(text, str) for text in one) for one in lists)
    return event if is_whole and all(map(str.isdecimal, begun.document)) else None


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


def lock_directory() -> Path:
    """Where the locks of groups are: `$XDG_STATE_HOME/kohort`, by default ~/.local/state/kohort."""
    return state_directory() / "migrate"


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
