"""Compute the dry runs that the options of `kohort dry-run` request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from assignors.assignor import Leader, Side
from assignors.errors import UnknownAssignorError
from assignors.registry import find, known
from cli.errors import UsageError
from cli.output import notice
from cli.progress import each_shown
from cli.selection import split_list
from cli.verbs.dry_run.options import WhatIfOptions
from groups.dry_run import (
    BROKERS_DEFAULT,
    DryRun,
    DryRunRequest,
    assumed_leader,
    compare,
    dry_run_all,
    inapplicable,
    uses_default_assignor,
)
from groups.group_spec import WhatIf, unknown_names
from groups.listing import shown_id
from groups.model import Group, Problem, Topic


def what_if_of(options: WhatIfOptions) -> WhatIf:
    """The change that the options describe; UsageError for one that is not `NAME=VALUE` or has an invalid value."""
    wanted = _pairs("--subscribe", options.subscribe, "MEMBER=TOPIC,…")
    sizes = _pairs("--topic-partitions", options.topic_partitions, "TOPIC=N")
    return WhatIf(
        add=options.add,
        remove=frozenset(options.remove or ()),
        subscribe={member: tuple(split_list([topics])) for member, topics in wanted},
        topic_partitions={topic: _count(topic, text) for topic, text in sizes},
        rack=dict(_pairs("--rack", options.rack, "MEMBER=RACK")),
        fail_rack=frozenset(split_list(options.fail_rack)),
    )


def carry_out(
    groups: Sequence[Group],
    topics: Mapping[str, Topic],
    request: DryRunRequest,
    *,
    side_by_side: bool,
    named: bool,
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    """Dry-run the groups. Groups without a usable assignor are problems if they were named, else notices."""
    _check(groups, request)
    meant: list[Group] = []
    for group in groups:
        why_not = inapplicable(group, request) if not side_by_side else _why_inapplicable(group, request)
        if why_not and not named:
            notice(f"{shown_id(group.id)} is skipped: {why_not}")
        else:
            meant.append(group)
            if uses_default_assignor(group, request) and not side_by_side:
                notice(
                    f"{group.id}: no member requests an assignor, so the broker uses its own, assumed to be "
                    f"{BROKERS_DEFAULT}, the brokers' default; --assignor sets another"
                )
    try:
        if side_by_side:
            return _compare(meant, topics, request)
        return dry_run_all(meant, topics, request)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _why_inapplicable(group: Group, request: DryRunRequest) -> str | None:
    """Like `inapplicable`, for a group that is tried with its own assignor and with others."""
    return inapplicable(group, replace(request, assignor=request.assignor or "range"))


def _compare(
    groups: Sequence[Group], topics: Mapping[str, Topic], request: DryRunRequest
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    runs: list[DryRun] = []
    problems: list[Problem] = []
    for group in each_shown(groups, "computing the assignment of group"):
        leader = assumed_leader(group, request).library
        sides = [request.side] if request.side else list(Side)
        assignors = [find(name, side, leader) for side in sides for name in known(side, leader)]
        found, failed = compare(group, topics, request, assignors)
        runs += found
        problems += failed
    return tuple(runs), tuple(problems)


def _check(groups: Sequence[Group], request: DryRunRequest) -> None:
    """UsageError for an unknown assignor, or a member that no group has."""
    if request.assignor is not None:
        places = [
            (side, leader)
            for side in ([request.side] if request.side else Side)
            for leader in ([request.leader] if request.leader else Leader)
        ]
        refusals = [refusal for place in places if (refusal := _refusal(request.assignor, *place))]
        if len(refusals) == len(places):
            raise UsageError(f"--assignor: {refusals[0]}")
    unknown = unknown_names(request.what_if, groups)
    if unknown and groups:
        raise UsageError(f"{unknown[0]!r} is not a member, instance or client id of {_names(groups)}")


def _refusal(assignor: str, side: Side, leader: Leader) -> str | None:
    try:
        find(assignor, side, leader)
    except UnknownAssignorError as error:
        return str(error)
    return None


def _names(groups: Sequence[Group]) -> str:
    return groups[0].id if len(groups) == 1 else f"any of the {len(groups)} groups"


def _pairs(option: str, values: Iterable[str] | None, form: str) -> Iterator[tuple[str, str]]:
    for value in values or ():
        name, equals, text = value.rpartition("=")
        if not equals or not name or not text:
            raise UsageError(f"{option} {value!r} is not {form}")
        yield name.strip(), text.strip()


def _count(topic: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**31:
        raise UsageError(f"--topic-partitions {topic}={text}: expected a number of partitions")
    return int(text)
