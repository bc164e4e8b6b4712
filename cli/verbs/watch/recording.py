"""Recordings: the observations of a watch in a file of JSON documents, one per line, after a header.
The output of `kohort watch --output json` is a recording too: its events are skipped and computed again."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Self, TextIO, TypeAlias

from cli.errors import CommandError, UsageError
from cli.render.document import FORMAT_VERSION, fields
from cli.verbs.watch.event_text import text_of_events
from cli.verbs.watch.state import ObservedEvent, WatchObservation, lags_of
from groups.classic_streams import is_classic_streams
from groups.lag import total_lag
from groups.model import PendingOffsets, Problem
from groups.snapshot import Snapshot, snapshot_from_tree, snapshot_tree
from groups.times import format_moment, read_moment
from groups.trees import Malformed, PartitionNumbers, Trees

COMMAND = "watch"
LONGEST_LINE = 256 * 1024 * 1024  # Maximum size of a line in bytes; no observation is as long


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line of a recording."""

    at_ms: int
    groups: tuple[str, ...]
    source: str
    every_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    header: Header
    observations: tuple[WatchObservation, ...]
    notices: tuple[str, ...] = ()  # Notices of skipped lines


class RecordingError(CommandError):
    """A file is not a recording, or is damaged; the message names the line."""


def header_document(header: Header) -> dict[str, object]:
    return {
        **_begin("header", header.at_ms),
        "groups": list(header.groups),
        **fields(header, "source", "every_ms"),
    }


def observation_document(observation: WatchObservation) -> dict[str, object]:
    """A line for one observation, without user data of assignors, which is not shown, except for Kafka Streams'."""
    there = {
        name: group
        if is_classic_streams(group)
        else replace(group, members=tuple(replace(member, user_data=None) for member in group.members))
        for name, group in observation.groups.items()
        if group is not None
    }
    lags, pending = {}, {}
    for name, group in there.items():
        topics = sorted(group.offsets or {})
        lags[name] = {topic: total_lag(lags_of(observation, group, topic).values()) for topic in topics}
        if group.pending is not None:
            pending[name] = {topic: list(numbers) for topic, numbers in group.pending.partitions.items()}
    tree = snapshot_tree(Snapshot(groups=there, topics=observation.topics))
    return {
        **_begin("observation", observation.at_ms),
        "asked": format_moment(observation.asked_ms),
        "groups": {name: tree["groups"].get(name) for name in observation.groups},
        "topics": tree["topics"],
        "lag": lags,
        "pending": pending,
        "errors": [fields(problem, "subject", "message") for problem in observation.problems],
    }


def event_document(observed: ObservedEvent, labels: Mapping[str, str]) -> dict[str, object]:
    """A line for an event; `cli.verbs.watch.events.EventKind` describes `before` and `after` of each kind."""
    event, span = observed.event, observed.span
    return {
        **_begin("event", observed.at_ms),
        "since": format_moment(observed.since_ms),
        "group": event.group,
        "event": event.kind.value,
        "member": event.member,
        "label": labels.get(event.member or ""),
        "topic": event.topic,
        "partitions": list(event.partitions),
        "before": list(event.before) if isinstance(event.before, tuple) else event.before,
        "after": list(event.after) if isinstance(event.after, tuple) else event.after,
        "epochs": event.epochs,
        "duration_ms": span and {"least": span.least_ms, "most": span.most_ms},
        "text": text_of_events([observed], labels),
    }


def line_of(document: Mapping[str, object]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


class Recorder:
    """Writes a recording; each line is flushed. Use it in a `with` block."""

    def __init__(self, stream: TextIO, file: Path) -> None:
        self._stream, self._file = stream, file

    @classmethod
    def create(cls, file: Path, *, force: bool) -> Self:
        """A new file that only its owner can read; with `force` an old one is overwritten."""
        how = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
        try:
            handle = os.open(file, how, 0o600)
        except FileExistsError:
            raise UsageError(
                f"{file} exists already: name another file, or overwrite it with --force"
            ) from None
        except OSError as error:
            raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None
        return cls(os.fdopen(handle, "w", encoding="utf-8"), file)

    def write(self, document: Mapping[str, object]) -> None:
        try:
            self._stream.write(line_of(document))
            self._stream.flush()
        except OSError as error:
            raise CommandError(f"{self._file}: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        with suppress(OSError):  # a failed write was already reported
            self._stream.close()


def read_recording(file: Path, groups: Sequence[str] = ()) -> Recording:
    """Read a recording, of the named groups or of all. RecordingError names the file and the line."""
    try:
        with file.open("rb") as stream:
            return _read(file, stream, groups)
    except OSError as error:
        raise RecordingError(f"{file}: cannot be read: {error.strerror or error}") from None


def _read(file: Path, stream: IO[bytes], groups: Sequence[str]) -> Recording:
    header: Header | None = None
    observations: list[WatchObservation] = []
    notices: list[str] = []
    for number, line in _lines(file, stream):
        try:
            try:
                tree = _tree(line, is_first=number == 1)
            except Malformed:
                if header is None or line.endswith(b"\n"):
                    raise
                notices.append(f"{file}:{number}: the last line is incomplete; skipped")
                break
            if header is None:
                header = _header(tree)
            elif tree.get("kind") == "observation":
                observations.append(_observation(tree, groups))
        except Malformed as error:
            raise RecordingError(f"{file}:{number}: {error}") from None
    if header is None:
        raise RecordingError(
            f"{file}: empty; a recording starts with the header that kohort watch --record writes"
        )
    unknown = sorted(set(groups) - {name for observation in observations for name in observation.groups})
    if unknown:
        recorded = ", ".join(header.groups)
        raise RecordingError(f"{file}: the recording does not contain {', '.join(unknown)}, but {recorded}")
    if not observations:
        raise RecordingError(f"{file}: the recording contains no observation")
    return Recording(header=header, observations=tuple(observations), notices=tuple(notices))


def _lines(file: Path, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise RecordingError(f"{file}:{number}: the line is too long; this is not a recording")
        if line.strip():
            yield number, line


_WRITER = "; `kohort watch --record FILE` writes a recording"


def _tree(line: bytes, *, is_first: bool) -> dict[str, object]:
    try:
        tree = json.loads(line.decode("utf-8-sig" if is_first else "utf-8"))
        if b"\\ud" in line.lower():
            json.dumps(tree, ensure_ascii=False).encode()  # half of a surrogate pair is not text
    except UnicodeDecodeError as error:
        raise Malformed(f"not a text in UTF-8 (byte {error.start} of the line)") from None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not a JSON document ({error}){_WRITER}") from None
    if not isinstance(tree, dict) or tree.get("command") != COMMAND or "kohort" not in tree:
        raise Malformed(f"not a line of a recording{_WRITER}")
    version = tree["kohort"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Malformed("expected the format version, a whole number", "kohort")
    if version > FORMAT_VERSION:
        raise Malformed(
            f"format {version} is newer than this Kohort reads ({FORMAT_VERSION}); upgrade Kohort"
        )
    return tree


_TREES = Trees()
_Pending: TypeAlias = Mapping[str, Mapping[str, PartitionNumbers]]
"""Offsets in open transactions by group; recordings of earlier versions have none."""


def _value(tree: Mapping[str, object], name: str, kind: object, missing: object) -> Any:
    try:
        return _TREES.read(kind, tree[name]) if name in tree else missing
    except Malformed as error:
        raise error.below(name) from None


def _header(tree: Mapping[str, object]) -> Header:
    if tree.get("kind") != "header":
        raise Malformed("a recording starts with its header; this is another line")
    return Header(
        at_ms=_moment(tree, "at"),
        groups=_value(tree, "groups", tuple[str, ...], ()),
        source=_value(tree, "source", str, ""),
        every_ms=_value(tree, "every_ms", int, 0),
    )


def _observation(tree: Mapping[str, object], groups: Sequence[str]) -> WatchObservation:
    recorded = tree.get("groups")
    if not isinstance(recorded, dict):
        raise Malformed("expected groups by id", "groups")
    chosen = {name: group for name, group in recorded.items() if not groups or name in groups}
    there = {name: group for name, group in chosen.items() if group is not None}
    snapshot = snapshot_from_tree({"kohort": 1, "groups": there, "topics": tree.get("topics")}, [])
    pending = _value(tree, "pending", _Pending, {})
    observed = {
        name: replace(group, pending=PendingOffsets(partitions=pending[name])) if name in pending else group
        for name, group in snapshot.groups.items()
    }
    return WatchObservation(
        asked_ms=_moment(tree, "asked" if "asked" in tree else "at"),
        at_ms=_moment(tree, "at"),
        groups={name: observed.get(name) for name in chosen},
        topics=snapshot.topics,
        problems=_value(tree, "errors", tuple[Problem, ...], ()),
    )


def _moment(tree: Mapping[str, object], name: str) -> int:
    try:
        return read_moment(str(tree.get(name)), None)
    except (ValueError, OverflowError) as error:
        raise Malformed(str(error), name) from None


def _begin(kind: str, at_ms: int) -> dict[str, object]:
    return {"kohort": FORMAT_VERSION, "command": COMMAND, "kind": kind, "at": format_moment(at_ms)}
