"""The costs of a plan's steps: rebalances, partitions moved, partition-seconds without an owner.

Computed: rebalances and owners, by the group's assignors (`migration.walk`). Assumed: how long a member takes to
notice (`migration.rebalancing`) and to restart.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assignors.assignor import Leader, Side
from assignors.errors import AssignorFailedError, BrokenAssignorError, NoCommonProtocolError
from groups.client_library import assignors_of
from groups.counts import counted
from groups.dry_run import BROKERS_DEFAULT, DryRun
from groups.group_spec import current_of
from groups.model import Group, GroupType, MemberProtocol, Topic
from groups.times import seconds_text
from migration import model
from migration.paths.path import PathContext
from migration.rebalancing import CLASSIC_HEARTBEAT_S, CONSUMER_HEARTBEAT_S
from migration.rules.case import Case
from migration.walk import Walk, partitions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    steps: tuple[model.Step, ...]
    settled_groups: tuple[model.SettledGroup, ...]
    """The group as it was found, and after each round that was walked; empty if it cannot be walked."""


def forecast(
    case: Case,
    steps: Sequence[model.Step],
    *,
    topics: Mapping[str, Topic],
    bounce_s: float,
    most_rounds: int | None = None,
) -> Forecast:
    """The steps, with an expectation for each that has a rollout; each starts from the result of the previous one.
    At most `most_rounds` of a step are walked; None: as many as take little time. If a step cannot be computed (its
    assignor is not known here, the source does not show the owners), this step and the following ones have no
    expectation."""
    if not _is_known(case, topics):
        return Forecast(steps=tuple(steps), settled_groups=())
    leader, assumed = _leader(case)
    walk = Walk(case.group, topics, leader, bounce_s, most_rounds)
    settled_groups = [walk.now()]
    seen: list[model.Step] = []
    for position, step in enumerate(steps):
        if step.rollout is None:
            seen.append(step)
            continue
        try:
            walked = list(walk.walk(step.rollout))
        except (LookupError, NoCommonProtocolError, AssignorFailedError, BrokenAssignorError):
            seen += steps[position:]
            break
        settled_groups += walked
        expectation = _summed(step.rollout, walked, bounce_s, assumed)
        seen.append(replace(step, expectation=expectation))
    return Forecast(steps=tuple(seen), settled_groups=tuple(settled_groups))


def _is_known(case: Case, topics: Mapping[str, Topic]) -> bool:
    """Whether the source shows members, their partitions, and the partition counts of their topics."""
    members = case.group.members
    if not members or any(member.owned is None and member.target is None for member in members):
        return False
    return all(topic in topics for member in members for topic in current_of(case.group, member))


def _leader(case: Case) -> tuple[Leader, str | None]:
    """The library whose assignors are used, and the assumption about it, if any."""
    known = library_of_all(case)
    if known is not None:
        return known, None
    libraries = [client.library for client in case.clients.values()]
    names = sorted({library.name if library else "an unknown library" for library in libraries})
    libraries_text = " and ".join(names)
    return Leader.JAVA, f"the members run {libraries_text}; the assignors are assumed to decide as Java's do"


def library_of_all(case: Case) -> Leader | None:
    """The library whose version of Kafka's assignors all members are known to use; None if unknown."""
    libraries = [client.library for client in case.clients.values()]
    names = {assignors_of(library.name) if library else None for library in libraries}
    return next((leader for leader in Leader if names == {leader.value}), None)


def _summed(
    rollout: model.Rollout, settled_groups: Sequence[model.SettledGroup], bounce_s: float, assumed: str | None
) -> model.Expectation:
    """The expectation of one step. A round that was not walked is assumed to cost the average of the inner ones."""
    walked = sorted({settled.round for settled in settled_groups})
    inner = set(walked[1:-1] or walked)
    skipped = len(rollout.rounds) - len(walked)
    more = skipped / len(inner) if inner else 0.0
    weighted = [(settled, 1.0 + more * (settled.round in inner)) for settled in settled_groups]
    waits = _merged(weighted)
    lines = [*_rounds(rollout, len(walked)), *_counts(weighted), *_waits(waits)]
    lines += _assumptions(settled_groups, bounce_s)
    lines += [f"Assumed: {assumed}."] if assumed else []
    return model.Expectation(
        rebalances=round(sum(settled.rebalances * weight for settled, weight in weighted)),
        moved=round(sum(settled.moved * weight for settled, weight in weighted)),
        without_owner_s=round(sum(wait.mean_s * partitions for wait, partitions in waits), 1),
        arithmetic=tuple(lines),
    )


def _merged(weighted: Iterable[tuple[model.SettledGroup, float]]) -> list[tuple[model.OwnerGap, float]]:
    """Waits without duplicates, each with the number of partitions that wait, over all rounds."""
    gaps: dict[tuple[str, float, float], tuple[model.OwnerGap, float]] = {}
    for settled, weight in weighted:
        for wait in settled.waits:
            key = (wait.why, wait.mean_s, wait.most_s)
            gaps[key] = (wait, wait.partitions * weight + gaps.get(key, (wait, 0.0))[1])
    return list(gaps.values())


def _rounds(rollout: model.Rollout, walked: int) -> Iterator[str]:
    sizes = sorted({len(members) for members in rollout.rounds})
    size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    members = "member" if sizes == [1] else "members"
    yield f"{counted(len(rollout.rounds), 'round')} of {size} {members}, {_ROUND_ACTIONS[rollout.action]}."
    if walked < len(rollout.rounds):
        which = "the first and the last among them, spread evenly" if walked > 1 else "in the middle"
        those = "those between" if walked > 2 else "walked ones"
        yield f"Walked: {walked} of them, {which}; the others are assumed to cost what {those} cost on average."


_ROUND_ACTIONS = {
    model.RoundAction.RESTART: "each stopped and started again",
    model.RoundAction.STOP: "each stopped",
    model.RoundAction.START: "each started",
}


def _counts(weighted: Sequence[tuple[model.SettledGroup, float]]) -> Iterator[str]:
    for what, one in (("rebalances", "rebalance"), ("moved", "partition")):
        parts = [
            (round(sum(getattr(m, what) * weight for m, weight in weighted if getattr(m, done))), done)
            for done in ("stopped", "started")
        ]
        total = sum(count for count, _ in parts)
        named = " + ".join(f"{count} when members are {done}" for count, done in parts if count)
        noun = counted(total, one) + (" moved" if what == "moved" else "")
        yield f"{noun}: {named}." if named else f"No {one} {'moves' if what == 'moved' else 'occurs'}."


def _waits(waits: Sequence[tuple[model.OwnerGap, float]]) -> Iterator[str]:
    for wait, partitions in waits:
        total, count = partitions * wait.mean_s, round(partitions)
        most = f" (at worst {wait.most_s:g} s)" if wait.most_s > wait.mean_s else ""
        what = f"{counted(count, 'partition')} {wait.why}: {count} × {wait.mean_s:.2f} s{most}"
        yield f"{what} = {total:.1f} partition-seconds."
    if not waits:
        yield "No partition is without an owner."


def _assumptions(settled_groups: Sequence[model.SettledGroup], bounce_s: float) -> Iterator[str]:
    spoken = {member.protocol for settled in settled_groups for member in settled.members if not member.away}
    if MemberProtocol.CLASSIC in spoken:
        yield (
            f"Assumed: classic members notice a rebalance at their next heartbeat, every {CLASSIC_HEARTBEAT_S:g} s "
            "(heartbeat.interval.ms by default): spread evenly at first, together after a common rebalance."
        )
    if MemberProtocol.CONSUMER in spoken:
        yield (
            "Assumed: members of the consumer protocol get their assignment at their next heartbeat, every "
            f"{CONSUMER_HEARTBEAT_S:g} s (group.consumer.heartbeat.interval.ms by default)."
        )
    if spoken:
        yield (
            "Assumed: brokers and clients answer at once, and no application rejoins late because it is busy with "
            "records: an eager group waits for its slowest member."
        )
    if any(settled.rebalances for settled in settled_groups if settled.started):
        yield (
            "Assumed: the group settles between stop and start. A classic member that rejoins before the others have "
            "noticed saves one rebalance."
        )
    if any("restart" in wait.why for settled in settled_groups for wait in settled.waits):
        yield f"Assumed: a restart takes {seconds_text(bounce_s)} (--bounce-seconds)."
    yield "Assumed: the assignment depends on member ids, which are random when members join; these are invented."


COOPERATIVE = "cooperative-sticky"
RESUME_S = 1.0
"""Seconds lost for a partition that is revoked and assigned again at once: the application commits the last batch, then
fetches the position and the first records, for which a fetch may wait half a second."""


def destinations_assignor(case: Case) -> tuple[str, Side]:
    """The assignor of the group at its destination, and the side that computes it."""
    if case.destination is model.Destination.COOPERATIVE:
        return COOPERATIVE, Side.CLIENT
    if case.group.type is GroupType.CONSUMER:
        return case.group.protocol or BROKERS_DEFAULT, Side.BROKER
    return PathContext(case=case).remote_assignor or BROKERS_DEFAULT, Side.BROKER


def restart_now_s(case: Case, *, topics: Mapping[str, Topic], bounce_s: float) -> float | None:
    """Partition-seconds lost per restart of a member of the group as it is; None if it cannot be computed."""
    return _cost(case, topics, bounce_s) if case.group.members else None


def restart_then_s(
    case: Case, run: DryRun | None, *, topics: Mapping[str, Topic], bounce_s: float
) -> float | None:
    """The same at the destination; also None if the group does not settle there in the dry run `run`."""
    if not case.group.members or run is None or not run.rests or run.failure is not None:
        return None
    return _cost(replace(case, group=_arrived(case, run)), topics, bounce_s)


def _cost(case: Case, topics: Mapping[str, Topic], bounce_s: float) -> float | None:
    group = case.group
    members = sorted(group.members, key=lambda member: partitions_of(group, member))
    member = members[len(members) // 2]
    if member.protocol is None:
        return None
    if member.protocol is MemberProtocol.CONSUMER:
        start = model.MemberStart(protocol=MemberProtocol.CONSUMER, remote_assignor=group.protocol)
    else:
        listed = member.protocols or ((group.protocol,) if group.protocol else ())
        if not listed:
            return None
        start = model.MemberStart(protocol=MemberProtocol.CLASSIC, assignors=listed)
    rollout = model.Rollout(action=model.RoundAction.RESTART, rounds=((member.id,),), start=start)
    step = model.Step(title="", actions=(), rollout=rollout)
    foreseen = forecast(case, [step], topics=topics, bounce_s=bounce_s)
    if foreseen.steps[0].expectation is None:
        return None
    waits = [wait for settled in foreseen.settled_groups for wait in settled.waits]
    return round(sum(wait.total_s + wait.partitions * RESUME_S for wait in waits), 1)


def _arrived(case: Case, run: DryRun) -> Group:
    """The settled group at its destination, with the assignments of the dry run."""
    kind, protocol = GroupType.CLASSIC, MemberProtocol.CLASSIC
    if case.destination is model.Destination.CONSUMER:
        kind, protocol = GroupType.CONSUMER, MemberProtocol.CONSUMER
    listed = (run.assignor,) if protocol is MemberProtocol.CLASSIC else None
    members = []
    for member in case.group.members:
        assigned = run.rebalances[-1].assignment.get(member.id, {})
        owned = {topic: tuple(numbers) for topic, numbers in assigned.items()}
        members.append(replace(member, protocol=protocol, protocols=listed, owned=owned, target=owned))
    return replace(case.group, type=kind, protocol=run.assignor, members=tuple(members))
