"""The requests of `kohort offsets reset` and `import`, checked as far as possible without a source."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.times import moment
from groups.offsets.model import TopicScope
from groups.offsets.offsets_csv import MOST_BYTES, MalformedOffsets, OffsetFile, read_offsets
from groups.offsets.scenarios import (
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)
from groups.times import format_moment, read_duration
from wire.files import read_bounded


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequest:
    """The request of a reset: exactly one of `scenario`, `file` and `group` is set."""

    name: str
    """The option's name without its dashes."""
    scenario: Scenario | None = None
    file: OffsetFile | None = None
    group: str | None = None
    scopes: tuple[TopicScope, ...] = ()
    all_topics: bool = False


def reset_request(
    options: Mapping[str, object], scopes: tuple[TopicScope, ...], *, all_topics: bool
) -> ResetRequest:
    """Check the options of a reset, by name; options that were not given are False or None.

    :raises UsageError: no or several scenarios or scopes :raises CommandError: an unreadable file
    """
    given = [name for name, value in options.items() if value is not None and value is not False]
    if len(given) != 1:
        names = [f"--{name}" for name in options]
        why = (
            f"{' and '.join(f'--{name}' for name in given)} cannot be used together:"
            if given
            else "the new offset is missing:"
        )
        raise UsageError(f"{why} give one of {', '.join(names[:-1])} and {names[-1]}")
    (name,) = given
    _check_scope(name, scopes, all_topics=all_topics)
    made = _MAKERS[name](options[name])
    return ResetRequest(
        name=name,
        scenario=made if not isinstance(made, OffsetFile | str) else None,
        file=made if isinstance(made, OffsetFile) else None,
        group=made if isinstance(made, str) else None,
        scopes=scopes,
        all_topics=all_topics,
    )


def import_request(path: Path, named: Sequence[str]) -> tuple[ResetRequest, list[str]]:
    """The request of an import, and its groups: the named groups, or the groups in the file."""
    file = read_offsets_file(path)
    return ResetRequest(name="from-file", file=file), _groups_of(file, named)


def _groups_of(file: OffsetFile, named: Sequence[str]) -> list[str]:
    if file.by_group is None:
        if len(named) != 1:
            raise UsageError("the file names no groups (topic,partition,offset); name the one it is for")
        return list(named)
    strangers = [name for name in named if name not in file.by_group]
    if strangers:
        raise UsageError(f"the file has no offsets for {strangers[0]}")
    return list(dict.fromkeys(named)) or sorted(file.by_group)


def _check_scope(name: str, scopes: Sequence[TopicScope], *, all_topics: bool) -> None:
    if scopes and all_topics:
        raise UsageError("--topic and --all-topics cannot be used together")
    if name == "from-file" and (scopes or all_topics):
        raise UsageError("--from-file names the partitions itself; leave --topic and --all-topics out")
    if name not in ("from-file", "to-group") and not scopes and not all_topics:
        raise UsageError(
            "no partitions are selected: add --topic TOPIC[:0,1] (repeatable), or --all-topics for every topic "
            "with committed offsets"
        )


def _ago(text: str) -> ToTime:
    try:
        seconds = read_duration(text, "s", signed=True)
    except ValueError as error:
        raise UsageError(f"--by-duration: {error}") from None
    return _to_time(time.time_ns() // 1_000_000 - math.ceil(seconds * 1000))


def _to_time(at_ms: int) -> ToTime:
    notice(f"to the first record at or after {format_moment(at_ms)}")
    return ToTime(at_ms)


def read_offsets_file(path: Path) -> OffsetFile:
    """A CSV file of offsets; CommandError names the file, the line and the problem."""
    try:
        file = read_offsets(read_bounded(path, MOST_BYTES).decode())
    except MalformedOffsets as error:
        raise CommandError(f"{path}, {error}") from None
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not file.by_group and not file.of_one_group:
        raise CommandError(f"{path}: contains no offsets")
    if not file.has_end:
        notice(f"{path}: check that it is complete: it does not end with an empty line, as exports do")
    return file


_MAKERS: Mapping[str, Callable[[Any], Scenario | OffsetFile | str]] = {
    "to-earliest": lambda _: ToEarliest(),
    "to-latest": lambda _: ToLatest(),
    "to-current": lambda _: ToCurrent(),
    "to-offset": ToOffset,
    "shift-by": ShiftBy,
    "to-datetime": lambda text: _to_time(moment(text, "--to-datetime")),
    "by-duration": _ago,
    "from-file": read_offsets_file,
    "to-group": str,
}
"""By option, a function that makes the scenario from the option's value."""
