"""`kohort offsets reset` and `import`: their requests, checked as far as possible without a source, and their plans."""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cli.changing import carry_out
from cli.consent import EmptyGroupConsent
from cli.errors import CommandError, UsageError
from cli.options import InternalTopicOptions, OffsetsSelection, OutputOptions, SourceOptions
from cli.output import notice
from cli.selection import choose_groups, group_filter, opened_for_change
from cli.sources.positions import positions_of
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter
from cli.times import moment
from cli.usage_errors import pattern_hint
from cli.verbs.internal_topics import with_internal_topics
from cli.verbs.offsets import facts as group_facts
from cli.verbs.offsets.change import OffsetsChange
from cli.waiting import wait_until_empty
from groups.model import Group, GroupType, Problem, TopicPartition
from groups.offsets import scenarios as targets
from groups.offsets.model import TopicScope, committed_in, committed_places
from groups.offsets.offsets_csv import MOST_BYTES, MalformedOffsets, OffsetFile, read_offsets
from groups.offsets.plan import plan_reset
from groups.times import format_moment, read_duration
from wire.files import read_bounded


def reset_offsets(
    selection: OffsetsSelection,
    topics: Sequence[str] | None,
    scenario: Mapping[str, object],
    internal_topics: InternalTopicOptions,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
    *,
    all_topics: bool,
) -> None:
    """Reset the offsets of the selected groups; `scenario` is the new offset, by option."""
    options = {name.replace("_", "-"): value for name, value in scenario.items()}
    request = reset_request(options, group_facts.parse_scopes(topics), all_topics=all_topics)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        types = group_filter(selection).types
        chosen, problems = group_facts.with_new_share_groups(*choose_groups(groups, selection), types)
        named = bool(selection.groups)
        wait_until_empty(groups, chosen, consent, leaving_out=group_facts.left_out(types, named=named))
        change = plan_resets(
            groups,
            request,
            chosen,
            named=named,
            writer=writer,
            problems=problems,
            types=types,
            internal_topics=internal_topics,
        )
        carry_out(change, consent, output, groups)


def import_offsets(
    file: Path, names: Sequence[str], consent: EmptyGroupConsent, source: SourceOptions, output: OutputOptions
) -> None:
    """Set the offsets in a file, of the named groups, or of the groups in the file."""
    offsets = read_offsets_file(file)
    request, groups = ResetRequest(name="from-file", file=offsets), _groups_of(offsets, names)
    with opened_for_change(source, execute=consent.execute) as (cluster, writer):
        wait_until_empty(cluster, groups, consent)
        facts = {"file": str(file)}
        change = plan_resets(
            cluster, request, groups, named=True, writer=writer, command="offsets import", facts=facts
        )
        carry_out(change, consent, output, cluster)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRequest:
    """The request of a reset: exactly one of `scenario`, `file` and `group` is set."""

    name: str  # The option's name without its dashes
    scenario: targets.Scenario | None = None
    file: OffsetFile | None = None
    group: str | None = None
    scopes: tuple[TopicScope, ...] = ()
    all_topics: bool = False


def reset_request(
    options: Mapping[str, object], scopes: tuple[TopicScope, ...], *, all_topics: bool
) -> ResetRequest:
    """Check the options of a reset, by name; options that were not given are False or None."""
    chosen = [name for name, value in options.items() if value is not None and value is not False]
    if len(chosen) != 1:
        names = [f"--{name}" for name in options]
        both = " and ".join(f"--{name}" for name in chosen)
        why = f"{both} cannot be used together:" if chosen else "the new offset is missing:"
        raise UsageError(f"{why} give one of {', '.join(names[:-1])} and {names[-1]}")
    (name,) = chosen
    if scopes and all_topics:
        raise UsageError("--topic and --all-topics cannot be used together")
    if name == "from-file" and (scopes or all_topics):
        raise UsageError("--from-file names the partitions itself; leave --topic and --all-topics out")
    if name not in ("from-file", "to-group") and not scopes and not all_topics:
        raise UsageError(
            "no partitions are selected: add --topic TOPIC[:0,1] (repeatable), or --all-topics for every topic "
            "with committed offsets"
        )
    made = _MAKERS[name](options[name])
    field = "file" if isinstance(made, OffsetFile) else "group" if isinstance(made, str) else "scenario"
    of_kind: dict[str, Any] = {field: made}
    return ResetRequest(name=name, scopes=scopes, all_topics=all_topics, **of_kind)


def _groups_of(file: OffsetFile, named: Sequence[str]) -> list[str]:
    if file.by_group is None:
        if len(named) != 1:
            raise UsageError("the file names no groups (topic,partition,offset); name the one it is for")
        return list(named)
    strangers = [name for name in named if name not in file.by_group]
    if strangers:
        raise UsageError(f"the file has no offsets for {strangers[0]}")
    return list(dict.fromkeys(named)) or sorted(file.by_group)


def _ago(text: str) -> targets.ToTime:
    try:
        seconds = read_duration(text, "s", signed=True)
    except ValueError as error:
        raise UsageError(f"--by-duration: {error}") from None
    return _to_time(time.time_ns() // 1_000_000 - math.ceil(seconds * 1000))


def _to_time(at_ms: int) -> targets.ToTime:
    notice(f"to the first record at or after {format_moment(at_ms)}")
    return targets.ToTime(at_ms)


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


_MAKERS: Mapping[str, Callable[[Any], targets.Scenario | OffsetFile | str]] = {
    "to-earliest": lambda _: targets.ToEarliest(),
    "to-latest": lambda _: targets.ToLatest(),
    "to-current": lambda _: targets.ToCurrent(),
    "to-offset": targets.ToOffset,
    "shift-by": targets.ShiftBy,
    "to-datetime": lambda text: _to_time(moment(text, "--to-datetime")),
    "by-duration": _ago,
    "from-file": read_offsets_file,
    "to-group": str,
}
"""By option, a function that makes the scenario from the option's value."""


def plan_resets(
    source: Source,
    request: ResetRequest,
    names: Sequence[str],
    *,
    named: bool,
    writer: ClusterWriter | None,
    problems: tuple[Problem, ...] = (),
    command: str = "offsets reset",
    facts: Mapping[str, object] | None = None,
    types: Collection[GroupType] = (),
    internal_topics: InternalTopicOptions | None = None,
) -> OffsetsChange:
    """Plan a reset of groups; `problems` are problems of selecting them, `facts` are fields of the document."""
    read = group_facts.find_groups(source, names, named=named, types=types)
    scenario = request.scenario or _resolved(source, request, read)
    topics = group_facts.PartitionCounts(source)
    scoped = [(group, *_places(request, scenario, group, topics)) for group in read.groups]
    union = sorted({partition for _, places, _ in scoped for partition in places})
    # Also read offsets in open transactions of partitions for which nothing was committed before.
    bare = {
        group.id: set(places) - set(committed_places(group.offsets or {}))
        for group, places, _ in scoped
        if group.pending is not None
    }
    asked = [group for group in read.groups if bare.get(group.id)]
    pending = {group.id: group for group in source.with_pending_offsets(asked, bare)} if asked else {}
    positions = positions_of(source, union, scenario.at_ms if isinstance(scenario, targets.ToTime) else None)
    plans = tuple(
        plan_reset(pending.get(group.id, group), scenario, places, positions, **read.facts(group, missing))
        for group, places, missing in scoped
    )
    if internal_topics is not None:
        plans = with_internal_topics(source, plans, internal_topics)
    group_facts.notify_new_groups(plans)
    group_facts.notify_redelivery(plans)
    group_facts.notify_irreversible(plans)
    group_facts.notify_pending(plans, time.time_ns() // 1_000_000)
    problems = (*problems, *read.others, *topics.problems)
    facts = {"scenario": request.name} if facts is None else facts
    return OffsetsChange(
        command=command, plans=plans, problems=problems, facts=facts, writer=writer, topic_ids=topics.ids
    )


def _places(
    request: ResetRequest, scenario: targets.Scenario, group: Group, topics: group_facts.PartitionCounts
) -> tuple[Sequence[TopicPartition], tuple[Problem, ...]]:
    if isinstance(scenario, targets.ToListed):
        listed = scenario.offsets.get(group.id)
        if listed is None:
            return (), (Problem(subject=group.id, message="the file has no offsets for it"),)
        return topics.existing(listed)
    if isinstance(scenario, targets.ToGroup) and not request.all_topics:
        places, problems = topics.existing(committed_in(request.scopes, scenario.offsets))
        if not places and not problems:
            problems = (Problem(subject=scenario.group, message="has no committed offsets in these topics"),)
        return places, problems
    if request.all_topics:
        places, problems = topics.existing(group_facts.all_places(group))
        if not places and not problems:
            message = f"shows no committed offsets; name topics (--topic){pattern_hint(group.id)}"
            problems = (Problem(subject=group.id, message=message),)
        return places, problems
    return topics.of(request.scopes)


def _resolved(source: Source, request: ResetRequest, read: group_facts.FoundGroups) -> targets.Scenario:
    """The scenario; resolves scenarios that depend on more than the groups themselves."""
    file, groups = request.file, [group.id for group in read.groups]
    if file is None:
        return targets.ToGroup(
            request.group or "", group_facts.committed_of(source, request.group or "").offsets or {}
        )
    if file.by_group is None and len(groups) > 1:
        raise UsageError(
            f"the file names no groups (topic,partition,offset), so it is for one group, not for {len(groups)}"
        )
    return targets.ToListed(
        dict.fromkeys(groups, file.of_one_group or {}) if file.by_group is None else file.by_group
    )
