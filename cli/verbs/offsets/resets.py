"""From the options of `kohort offsets reset` to what it would do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.sources.permissions import ending
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.times import format_moment, parse_moment
from cli.verbs.offsets.plans import Found, OffsetsChange, Topics, find_groups, say_what_is_new
from groups.model import Group, Problem
from groups.offsets.model import Place, TopicScope, committed_in, committed_places
from groups.offsets.offsets_csv import MalformedOffsets, OffsetFile, read_offsets
from groups.offsets.plan import plan_reset
from groups.offsets.scenarios import (
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToGroup,
    ToLatest,
    ToListed,
    ToMoment,
    ToOffset,
    ago_ms,
    parse_datetime,
    parse_duration_ns,
)

LARGEST_OFFSET = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The scenarios of the command line; exactly one is to be given."""

    to_earliest: bool = False
    to_latest: bool = False
    to_current: bool = False
    to_offset: int | None = None
    shift_by: int | None = None
    to_datetime: str | None = None
    by_duration: str | None = None
    from_file: Path | None = None
    to_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked for, checked as far as it can be without a source. One of `scenario`, `file`, `group` is set."""

    name: str
    """The option's name without its dashes."""
    scenario: Scenario | None = None
    file: OffsetFile | None = None
    group: str | None = None
    scopes: tuple[TopicScope, ...] = ()
    all_topics: bool = False


def wish_of(asked: Asked, scopes: tuple[TopicScope, ...], *, all_topics: bool) -> Wish:
    """Check the options. UsageError for none or several scenarios or scopes; CommandError for an unreadable file."""
    now_ms = time.time_ns() // 1_000_000
    makers: Mapping[str, tuple[bool, Callable[[], Scenario | OffsetFile | str]]] = {
        "to-earliest": (asked.to_earliest, ToEarliest),
        "to-latest": (asked.to_latest, ToLatest),
        "to-current": (asked.to_current, ToCurrent),
        "to-offset": (asked.to_offset is not None, lambda: ToOffset(asked.to_offset or 0)),
        "shift-by": (asked.shift_by is not None, lambda: ShiftBy(asked.shift_by or 0)),
        "to-datetime": (asked.to_datetime is not None, lambda: _moment(asked.to_datetime or "", now_ms)),
        "by-duration": (asked.by_duration is not None, lambda: _ago(asked.by_duration or "", now_ms)),
        "from-file": (asked.from_file is not None, lambda: read_offsets_file(asked.from_file or Path())),
        "to-group": (asked.to_group is not None, lambda: asked.to_group or ""),
    }
    given = [name for name, (is_given, _) in makers.items() if is_given]
    options = [f"--{name}" for name in makers]
    if len(given) != 1:
        those = " and ".join(f"--{name}" for name in given)
        why = f"{those} contradict each other;" if given else "where to?"
        raise UsageError(f"{why} give one of {', '.join(options[:-1])} and {options[-1]}")
    (name,) = given
    _check_scope(name, scopes, all_topics=all_topics)
    made = makers[name][1]()
    return Wish(
        name=name,
        scenario=made if not isinstance(made, OffsetFile | str) else None,
        file=made if isinstance(made, OffsetFile) else None,
        group=made if isinstance(made, str) else None,
        scopes=scopes,
        all_topics=all_topics,
    )


def _check_scope(name: str, scopes: Sequence[TopicScope], *, all_topics: bool) -> None:
    if scopes and all_topics:
        raise UsageError("--topic and --all-topics contradict each other; give one")
    if name == "from-file" and (scopes or all_topics):
        raise UsageError("--from-file names the partitions itself; leave --topic and --all-topics out")
    if name not in ("from-file", "to-group") and not scopes and not all_topics:
        raise UsageError(
            "which partitions? --topic TOPIC[:0,1] (repeatable), or --all-topics for all with a committed offset"
        )


def _moment(text: str, now_ms: int) -> ToMoment:
    try:
        at_ms = parse_datetime(text)
    except ValueError:
        try:
            at_ms = parse_moment(text, now_ms)
        except ValueError as error:
            raise UsageError(f"--to-datetime: {error}") from None
    return _told(at_ms)


def _ago(text: str, now_ms: int) -> ToMoment:
    try:
        return _told(ago_ms(parse_duration_ns(text), now_ms))
    except ValueError as error:
        raise UsageError(f"--by-duration: {error}") from None


def _told(at_ms: int) -> ToMoment:
    notice(f"to the first record at or after {format_moment(at_ms)}")
    return ToMoment(at_ms)


def read_offsets_file(path: Path) -> OffsetFile:
    """A CSV file of offsets; CommandError names the file, the line and what is wrong with it."""
    try:
        file = read_offsets(path.read_bytes().decode())
    except MalformedOffsets as error:
        raise CommandError(f"{path}, {error}") from None
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: byte {error.start} is not UTF-8") from None
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    if not file.by_group and not file.of_one_group:
        raise CommandError(f"{path}: holds no offsets")
    return file


def plan_resets(
    source: Source,
    wish: Wish,
    names: Sequence[str],
    *,
    named: bool,
    writer: ClusterWriter | None,
    problems: tuple[Problem, ...] = (),
    command: str = "offsets reset",
    facts: Mapping[str, Any] | None = None,
) -> OffsetsChange:
    """What a reset of groups would do; `problems` are those of choosing them, `facts` fields of the document.

    :raises CommandError: nothing is known of what it depends on
    """
    found = find_groups(source, names, named=named)
    scenario = wish.scenario or _resolved(source, wish, found)
    topics = Topics(source)
    scopes: dict[str, tuple[Sequence[Place], tuple[Problem, ...]]] = {}
    for group in found.groups:
        places, missing = _places(wish, scenario, group, topics)
        scopes[group.id] = places, (*found.problems.get(group.id, ()), *missing)
    union = sorted({place for places, _ in scopes.values() for place in places})
    positions = positions_of(source, union, scenario.at_ms if isinstance(scenario, ToMoment) else None)
    plans = tuple(
        plan_reset(
            group,
            scenario,
            scopes[group.id][0],
            positions,
            exists=found.exists(group),
            problems=scopes[group.id][1],
        )
        for group in found.groups
    )
    say_what_is_new(plans)
    return OffsetsChange(
        command=command,
        plans=plans,
        problems=(*problems, *found.others, *topics.problems),
        facts={"scenario": wish.name} if facts is None else facts,
        writer=writer,
    )


def _places(
    wish: Wish, scenario: Scenario, group: Group, topics: Topics
) -> tuple[Sequence[Place], tuple[Problem, ...]]:
    if isinstance(scenario, ToListed):
        listed = scenario.offsets.get(group.id)
        if listed is None:
            return (), (Problem(subject=group.id, message="the file has no offsets for it"),)
        return topics.existing(listed)
    if isinstance(scenario, ToGroup) and not wish.all_topics:
        places, problems = topics.existing(committed_in(wish.scopes, scenario.offsets))
        if not places and not problems:
            problems = (Problem(subject=scenario.group, message="has committed nothing in these topics"),)
        return places, problems
    if wish.all_topics:
        places, problems = topics.existing(committed_places(group.offsets or {}))
        if not places and not problems:
            problems = (
                Problem(subject=group.id, message="shows no committed offsets; name topics (--topic)"),
            )
        return places, problems
    return topics.of(wish.scopes)


def _resolved(source: Source, wish: Wish, found: Found) -> Scenario:
    """The scenarios that depend on more than the groups themselves."""
    if wish.file is not None:
        return ToListed(_by_group(wish.file, [group.id for group in found.groups]))
    return ToGroup(wish.group or "", committed_of(source, wish.group or "").offsets or {})


def _by_group(file: OffsetFile, groups: Sequence[str]) -> Mapping[str, Mapping[Place, int]]:
    if file.by_group is not None:
        return file.by_group
    if len(groups) > 1:
        raise UsageError(
            f"the file names no groups (topic,partition,offset), so it is for one group, not for {len(groups)}"
        )
    return dict.fromkeys(groups, file.of_one_group or {})


def committed_of(source: Source, name: str) -> Group:
    """A group whose offsets are to be taken; CommandError when there are none to take."""
    read = source.describe([name], offsets=True)
    if not read.items:
        raise ending(read.problems[0])
    (group,) = read.items
    if not group.offsets:
        told = next((problem.message for problem in read.problems), "it has no committed offsets")
        raise CommandError(f"{name}: {told}")
    return group
