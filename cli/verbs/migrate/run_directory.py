"""The directory of a run, next to the plan (`PLAN.yaml.run`): its events, one JSON document a line, the output of
hooks, and the files of settings that they got. A lock keeps a second run away, as long as its process runs."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from cli.errors import CommandError, ExitStatus, UsageError
from cli.verbs.migrate.event_documents import EventDocument
from cli.verbs.migrate.processes import mark_of as started

EVENTS = "events.jsonl"
SUFFIX = ".run"
_LOCK = "lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedHook:
    """A hook that had not ended when the former run did, and may still be running."""

    member: str
    process: int
    started: str
    """When its process started, as the kernel counts: another process can have the same number later."""


class RunDirectory:
    """Use it in a `with` block. UsageError: another process carries out this plan, or carries one out for its group."""

    def __init__(self, plan_file: Path, plan_id: str) -> None:
        self.path = plan_file.with_name(plan_file.name + SUFFIX)
        try:
            self.path.mkdir(exist_ok=True)
            self._lock = _locked(self.path / _LOCK)
        except OSError as error:
            why = f"{error.strerror or error}: keep the plan in a writable directory"
            raise CommandError(f"{self.path}: {why}", ExitStatus.UNREADABLE) from None
        self._plan_id = plan_id
        self.former = list(_events(self.path / EVENTS, plan_id))
        self._file = (self.path / EVENTS).open("a", encoding="utf-8")

    def __enter__(self) -> "RunDirectory":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._lock.close()

    def write(self, document: EventDocument) -> None:
        """Append an event; it is on disk when this returns. OSError."""
        self._file.write(json.dumps(document, ensure_ascii=False) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def hooks(self) -> frozenset[tuple[int, str]] | None:
        """Steps and members of the hooks of former runs, since the last rollback; None if there was no run."""
        if not self.former:
            return None
        hooks: set[tuple[int, str]] = set()
        for event in self.former:
            if event["event"] == "rolled-back":
                hooks.clear()
            elif event["event"] == "hook-began":
                hooks |= {(event["step"], member) for member in event["members"]}
        return frozenset(hooks)

    def unfinished(self) -> tuple[UnfinishedHook, ...]:
        """Hooks of former runs that are still running."""
        running: dict[str, UnfinishedHook] = {}
        for event in self.former:
            if event["event"] == "hook-runs":
                running[event["name"]] = UnfinishedHook(
                    member=event["name"], process=event["process"], started=event["started"]
                )
            elif event["event"] == "hook-ended":
                running.pop(event["name"], None)
        return tuple(hook for hook in running.values() if started(hook.process) == hook.started)


def _locked(path: Path) -> IO[str]:
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise UsageError(f"{path.parent}: process {holder or 'unknown'} is carrying out this plan") from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


def _events(path: Path, plan_id: str) -> Iterator[Mapping[str, Any]]:
    """The events of a plan's former runs; a line that was cut off is left out."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            with suppress(ValueError):
                event = json.loads(line)
                if isinstance(event, dict) and event.get("plan") == plan_id and "event" in event:
                    yield event
