"""The dry runs that the options of `kohort dry-run` request, and their document."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from assignors.assignor import Leader, Side
from assignors.diff import Balance, MemberDiff
from assignors.errors import BrokenAssignorError, UnknownAssignorError
from assignors.model import Partitions
from assignors.rebalance import Procedure
from assignors.registry import find, known
from cli.errors import UsageError
from cli.output import notice
from cli.progress import each_shown
from cli.render.cells import partitions_text
from cli.render.document import Block, Document, Heading, Table, Text, columns, fields, table_of
from cli.selection import split_list
from cli.verbs.dry_run.options import HypotheticalOptions
from cli.verbs.dry_run.tasks import tasks_blocks, tasks_data, tasks_sentences
from groups.counts import counted, first_names, share
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


def what_if_of(options: HypotheticalOptions) -> WhatIf:
    """The change that the options describe; UsageError for one that is not `NAME=VALUE` or has an invalid value."""
    subscriptions = _pairs("--subscribe", options.subscribe, "MEMBER=TOPIC,…")
    sizes = _pairs("--topic-partitions", options.topic_partitions, "TOPIC=N")
    return WhatIf(
        add=options.add,
        remove=frozenset(options.remove or ()),
        subscribe={member: tuple(split_list([topics])) for member, topics in subscriptions},
        topic_partitions={topic: _partition_count(topic, text) for topic, text in sizes},
        rack=dict(_pairs("--rack", options.rack, "MEMBER=RACK")),
        fail_rack=frozenset(split_list(options.fail_rack)),
    )


def carry_out(
    groups: Sequence[Group],
    described: Sequence[Topic],
    request: DryRunRequest,
    *,
    side_by_side: bool,
    named: bool,
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    """Dry-run the groups. Groups without a usable assignor are problems if they were named, else notices."""
    topics = {topic.name: topic for topic in described}
    if request.assignor is not None:
        refusals = [
            _refusal(request.assignor, side, leader)
            for side in ([request.side] if request.side else Side)
            for leader in ([request.leader] if request.leader else Leader)
        ]
        if all(refusals):
            raise UsageError(f"--assignor: {refusals[0]}")
    unknown = unknown_names(request.what_if, groups)
    if unknown and groups:
        all_of = groups[0].id if len(groups) == 1 else f"any of the {len(groups)} groups"
        raise UsageError(f"{unknown[0]!r} is not a member, instance or client id of {all_of}")
    tried = replace(request, assignor=request.assignor or "range") if side_by_side else request
    meant: list[Group] = []
    for group in groups:
        why_not = inapplicable(group, tried)
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


def _compare(
    groups: Sequence[Group], topics: Mapping[str, Topic], request: DryRunRequest
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    runs: list[DryRun] = []
    problems: list[Problem] = []
    for group in each_shown(groups, "computing the assignment of group"):
        leader = assumed_leader(group, request).library
        sides = [request.side] if request.side else list(Side)
        assignors = []
        for side in sides:
            for name in known(side, leader):
                try:
                    assignors.append(find(name, side, leader))
                except UnknownAssignorError:  # a custom one of the other side
                    continue
                except BrokenAssignorError as error:
                    problems.append(Problem(subject=f"{group.id}, {name}", message=str(error)))
        compared, failed = compare(group, topics, request, assignors)
        runs += compared
        problems += failed
    return tuple(runs), tuple(problems)


def _refusal(assignor: str, side: Side, leader: Leader) -> str | None:
    try:
        find(assignor, side, leader)
    except UnknownAssignorError as error:
        return str(error)
    return None


def _pairs(option: str, values: Iterable[str] | None, form: str) -> Iterator[tuple[str, str]]:
    for value in values or ():
        name, equals, text = value.rpartition("=")
        if not equals or not name or not text:
            raise UsageError(f"{option} {value!r} is not {form}")
        yield name.strip(), text.strip()


def _partition_count(topic: str, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**31:
        raise UsageError(f"--topic-partitions {topic}={text}: expected a number of partitions")
    return int(text)


MOST_NAMED = 5  # maximum number of members named in a sentence


def dry_run_document(
    runs: Sequence[DryRun], problems: tuple[Problem, ...], *, side_by_side: bool = False
) -> Document:
    """For each group a sentence, the rebalances, and the changes for each member; or a row per assignor."""
    comparison = table_of(
        runs,
        *("GROUP", "ASSIGNOR"),
        ("SIDE", lambda run: run.side.value),
        ("#ROUNDS", lambda run: len(run.rebalances)),
        ("#MOVED", lambda run: f"{run.moved}{_share(run)}"),
        ("#FEWEST", "minimum_moved"),
        ("#REVOKED", lambda run: sum(rebalance.revoked for rebalance in run.rebalances)),
        ("#UNOWNED", lambda run: max(rebalance.without_owner for rebalance in run.rebalances)),
        ("#SPREAD", lambda run: run.after.spread),
        ("#STD-DEV", lambda run: run.after.standard_deviation),
    )
    blocks = [comparison] if side_by_side else [block for run in runs for block in _blocks(run)]
    data = {"groups": [_data(run) for run in runs]}
    return Document(command="dry-run", data=data, blocks=blocks, errors=problems)


def _data(run: DryRun) -> dict[str, object]:
    members = {member.id for member in run.members}
    return {
        **fields(run, "group", "assignor"),
        "side": run.side.value,
        "leader": run.leader and {"library": run.leader.library.value, "known_by": run.leader.known_by},
        "procedure": run.procedure.value,
        "eager_members": list(run.eager_members),
        "unknown_lists": list(run.unknown_lists),
        "rebalances": [
            {
                "assignment": {member: _plain(owned) for member, owned in rebalance.assignment.items()},
                **fields(rebalance, "moved", "revoked", "without_owner"),
                "user_data": {
                    member: base64.b64encode(data).decode() for member, data in rebalance.user_data.items()
                },
            }
            for rebalance in run.rebalances
        ],
        **fields(run, "rests", "failure", "moved", "minimum_moved"),
        "balance": {
            "before": _balance_data(run.before),
            "after": _balance_data(run.after),
            "topics": {topic: _balance_data(balance) for topic, balance in sorted(run.topics.items())},
        },
        "members": [_member_data(member) for member in run.members],
        "undetermined": [
            {_kind_of(item.subject, members, run): item.subject, "why": item.why} for item in run.undetermined
        ],
        "oddities": [fields(item, "subject", "message") for item in run.oddities],
        "tasks": run.tasks and tasks_data(run.tasks),
    }


def _kind_of(subject: str, members: set[str], run: DryRun) -> str:
    if subject in members:
        return "member"
    return "partition" if run.tasks is None else "subject"


def _balance_data(balance: Balance) -> dict[str, object]:
    deviation = round(balance.standard_deviation, 4)
    return {**fields(balance, "least", "most", "spread"), "standard_deviation": deviation}


def _member_data(member: MemberDiff) -> dict[str, object]:
    partitions = fields(member, "before", "after", "kept", "gained", "lost")
    return {"id": member.id, **{name: _plain(owned) for name, owned in partitions.items()}}


def _plain(partitions: Partitions) -> dict[str, list[int]]:
    return {topic: list(numbers) for topic, numbers in partitions.items() if len(numbers)}


def _blocks(run: DryRun) -> Iterator[Block]:
    where = "on the broker" if run.leader is None else f"at a {run.leader.library.value} leader"
    yield Heading(f"{run.group}: {run.assignor} {where}")
    yield Text(_summary(run))
    if run.tasks is not None:
        yield from tasks_blocks(run, run.tasks)
        yield from _remarks(run)
        return
    rows = [
        (number, rebalance.moved, rebalance.revoked, rebalance.without_owner)
        for number, rebalance in enumerate(run.rebalances, 1)
    ]
    yield Table(columns=columns("#REBALANCE", "#MOVED", "#REVOKED", "#UNOWNED"), rows=rows)
    user_data = run.rebalances[-1].user_data
    sizes = [("#USER-DATA", lambda member: len(user_data.get(member.id, b"")))] if user_data else []
    yield table_of(
        run.members,
        ("MEMBER", "id"),
        ("#BEFORE", lambda member: _count(member.before)),
        ("#AFTER", lambda member: _count(member.after)),
        ("#KEPT", lambda member: _count(member.kept)),
        ("GAINED", lambda member: partitions_text(member.gained)),
        ("LOST", lambda member: partitions_text(member.lost)),
        *sizes,
    )
    yield from _remarks(run)


def _remarks(run: DryRun) -> Iterator[Block]:
    if run.oddities:
        yield table_of(run.oddities, ("SUBJECT", "subject"), ("PROBLEM", "message"))
    if run.undetermined:
        yield table_of(run.undetermined, ("SUBJECT", "subject"), "WHY")


def _summary(run: DryRun) -> str:
    fewest = "" if run.minimum_moved is None else f"; no even assignment moves fewer than {run.minimum_moved}"
    sentences = [
        f"{share(run.moved, run.owned, 'partition', ('moves', 'move'))}{_share(run)}{fewest}.",
        f"Partitions per member: {_spread(run.before)} before, {_spread(run.after)} after.",
    ]
    if run.leader is not None and run.tasks is None and run.leader.known_by != "asked for":
        sentences.append(f"The leader is assumed to be {run.leader.library.value} ({run.leader.known_by}).")
    if run.tasks is not None:
        sentences += tasks_sentences(run, run.tasks)
        return " ".join(sentences)
    if run.leader is not None:
        sentences += _procedure_lines(run)
    if run.failure:
        sentences.append(f"Then the real assignor would fail: {run.failure}.")
    elif not run.rests:
        sentences.append(f"The group does not settle within {len(run.rebalances)} rebalances.")
    return " ".join(sentences)


def _procedure_lines(run: DryRun) -> Iterator[str]:
    """How partitions change owners, and the assumptions about members whose lists of assignors are not known."""
    if run.procedure is Procedure.EAGER:
        yield "Every member revokes all its partitions first."
        return
    yield "Members keep the partitions that do not move."
    if run.eager_members:
        named = first_names(run.eager_members, MOST_NAMED)
        yield f"Members that also list an eager assignor revoke all their partitions first: {named}."
    if run.unknown_lists:
        yield (
            f"The other assignors in the lists of {counted(len(run.unknown_lists), 'member')} are unknown: a broker "
            f"shows only the one in use. Members are assumed to list {run.assignor} alone; a member that also lists "
            "an eager assignor, as after the first of two bounces, revokes all its partitions first."
        )


def _spread(balance: Balance) -> str:
    return f"{balance.least} to {balance.most} (standard deviation {balance.standard_deviation:.2f})"


def _share(run: DryRun) -> str:
    return f" ({100 * run.moved / run.owned:.0f} %)" if run.owned else ""


def _count(partitions: Mapping[str, Sequence[int]]) -> int:
    return sum(map(len, partitions.values()))
