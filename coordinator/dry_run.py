"""Dry runs: what a rebalance would do to a group as it is, or as it might be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assignors.assignor import Assignor, Side
from assignors.diff import Balance, MemberDiff, balance, member_diffs, minimum_moved
from assignors.model import AssignorFailedError, Partitions, Undetermined
from assignors.rebalance import Rebalance, procedure_of, run_rebalances
from assignors.registry import UnknownAssignorError, find
from coordinator.group_spec import WhatIf, apply_what_if, ask, current_of
from coordinator.model import Group, GroupType, Problem, Topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to try."""

    assignor: str | None = None
    """By default the group's own."""
    side: Side | None = None
    """By default the client's for classic groups and the broker's for consumer groups."""
    what_if: WhatIf = field(default_factory=WhatIf)


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """What would happen to a group."""

    group: str
    assignor: str
    side: Side
    rebalances: tuple[Rebalance, ...]
    minimum_moved: int | None
    """The fewest partitions that any even assignment must move; None where that has no one meaning."""
    members: tuple[MemberDiff, ...]
    before: Balance
    after: Balance
    undetermined: tuple[Undetermined, ...]

    @property
    def final(self) -> Mapping[str, Partitions]:
        """Where the group comes to rest."""
        return self.rebalances[-1].assignment


def dry_run_all(
    groups: Sequence[Group], topics: Mapping[str, Topic], request: Request
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    """Every group by itself; one that cannot be tried is named with the reason.

    Members to remove need only be in one of the groups.
    """
    runs: list[DryRun] = []
    problems: list[Problem] = []
    for group in groups:
        try:
            runs.append(dry_run(group, topics, request))
        except (LookupError, AssignorFailedError) as error:
            problems.append(Problem(subject=group.id, message=str(error.args[0] if error.args else error)))
    return tuple(runs), tuple(problems)


def dry_run(group: Group, topics: Mapping[str, Topic], request: Request) -> DryRun:
    """LookupError for an assignor or a member that does not exist; AssignorFailedError where Java would throw."""
    why_not = inapplicable(group, request)
    if why_not:
        raise LookupError(why_not)
    assignor = choose_assignor(group, request)
    changed = apply_what_if(group, request.what_if)
    question = ask(changed, topics, assignor)
    before = {member.id: current_of(group, member) for member in group.members}
    course = run_rebalances(question.spec, assignor, before, procedure_of(assignor))
    after = course.rebalances[-1].assignment
    return DryRun(
        group=group.id,
        assignor=assignor.name,
        side=assignor.side,
        rebalances=course.rebalances,
        minimum_moved=minimum_moved(question.spec, before),
        members=member_diffs(before, after),
        before=balance(before),
        after=balance(after),
        undetermined=(*question.undetermined, *course.undetermined),
    )


def inapplicable(group: Group, request: Request) -> str | None:
    """Why there is no assignor to ask for a group; None when there is one."""
    if group.type in (GroupType.SHARE, GroupType.STREAMS):
        return f"a {group.type.value} group is not assigned by a consumer assignor"
    if group.protocol_type not in (None, "", "consumer"):
        return f"its protocol type is {group.protocol_type!r}: only consumers have these assignors"
    if not (request.assignor or group.protocol):
        return "no assignor is in use; name one with --assignor"
    return None


def choose_assignor(group: Group, request: Request) -> Assignor:
    """The assignor that is asked for, or the one in use; UnknownAssignorError lists what there is."""
    side = request.side
    if side is None:
        side = Side.BROKER if group.type is GroupType.CONSUMER else Side.CLIENT
    name = request.assignor or group.protocol or ""
    try:
        return find(name, side)
    except UnknownAssignorError:
        if request.side is not None:
            raise
        other = Side.CLIENT if side is Side.BROKER else Side.BROKER
        try:
            return find(name, other)
        except UnknownAssignorError:
            pass
        raise
