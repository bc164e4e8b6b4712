"""Rules about the progress of a group: stalled consumers, growing lag, partitions without progress.

They use `groups.progress`, which defines when a partition is STALLED, STOPPED, WARN or REWIND.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from groups.diagnosis.case import Case, Need, Symptom, error, note, rule, warning
from groups.diagnosis.places import Place, all_names, count, names, records, waits_for_transaction
from groups.diagnosis.rebalances import is_unsettled
from groups.findings import Evidence
from groups.model import Group, GroupType, Member
from groups.progress import NEVER, STILL_INTERVALS, Progress, Verdict
from groups.times import about, format_moment

BURROW = "Burrow, Consumer Lag Evaluation Rules (groups.progress says where it differs)"
DAY_MS = 24 * 3_600_000
SELDOM_MS = 60_000
"""The longest commit interval of a healthy group: once a minute. Kafka Streams commits every 30 seconds."""
ABANDONED_MS = 7 * DAY_MS
"""A group without members that has not committed for this long was abandoned, not stopped."""


def has_offsets(group: Group) -> bool:
    """Whether the group commits offsets. Share groups do not: a broker tracks the records that they deliver."""
    return group.type is not GroupType.SHARE


def is_consuming(group: Group) -> bool:
    """Whether the group commits offsets, has members, and its state shows no rebalance."""
    return has_offsets(group) and bool(group.members) and not is_unsettled(group)


def is_alone(group: Group) -> bool:
    """Whether the group commits offsets and has no members."""
    return has_offsets(group) and not group.members


def stalled_by_member(case: Case) -> Iterator[tuple[Member, dict[Place, Progress], bool]]:
    """Members with stalled partitions, these partitions, and whether the member advances in any of its partitions.

    Partitions that wait for an open transaction are not included; nor are those that were not searched for a record if
    no other partition of the member has one. A member is skipped if it did not own its stalled
    partitions at every observation.
    """
    for member in case.group.members:
        owned = _owned(member)
        stalled: dict[Place, Progress] = {}
        moves = False
        for place in owned:
            one = case.progress.partitions.get(place)
            if one is None:
                continue
            moves |= bool(one.committed_per_s)
            waits = place in case.pending or waits_for_transaction(case, place)
            if one.verdict is Verdict.STALLED and not waits:
                stalled[place] = one
        if (
            stalled
            and _is_certain(case, owned, stalled)
            and all(_had(group, member.id, stalled) for _, group in case.seen)
        ):
            yield member, stalled, moves


def _is_certain(case: Case, owned: Iterable[Place], stalled: Mapping[Place, Progress]) -> bool:
    """Whether a record is known to be unread, or no partition was searched for one."""
    searched = [place for place in owned if place in case.last.next_records]
    return not searched or any(place in stalled for place in searched)


def _owned(member: Member) -> list[Place]:
    return [(topic, number) for topic, numbers in (member.owned or {}).items() for number in numbers]


def _had(group: Group, member_id: str, places: Mapping[Place, Progress]) -> bool:
    member = next((each for each in group.members if each.id == member_id), None)
    return member is not None and not is_unsettled(group) and set(places) <= set(_owned(member))


def _evidence(case: Case, found: Mapping[Place, Progress]) -> Evidence:
    produced = [one.produced_per_s for one in found.values() if one.produced_per_s is not None]
    commits = [
        each.timestamp
        for topic, number in found
        if (each := case.offsets.get(topic, {}).get(number)) is not None and each.timestamp is not None
    ]
    return {
        "partitions": all_names(found),
        "lag": sum(one.lag or 0 for one in found.values()),
        "still_for_s": max(one.still_ms for one in found.values()) / 1000,
        "produced_per_s": round(sum(produced), 2) if produced else None,
        "last_commit": format_moment(max(commits)) if commits else None,
    }


def _commits_seldom(case: Case, still_ms: int, evidence: Evidence) -> str:
    """A sentence if the group may commit less often than assumed; empty otherwise."""
    gap_ms = case.group.commit_gap_ms
    if evidence["last_commit"] is None and still_ms < SELDOM_MS:
        return " Its last commit could not be read: it may be healthy and commit less often."
    if gap_ms is None or still_ms >= STILL_INTERVALS * gap_ms:
        return ""
    return f" Its last two commits were {about(gap_ms / 1000)} apart: it may be healthy and commit no more often."


def _since_ms(case: Case, found: Mapping[Place, Progress]) -> int:
    return case.last.at_ms - max(one.still_ms for one in found.values())


@rule(
    "stalled-member",
    "a member that sends heartbeats and owns partitions, but commits nothing",
    source=f"{BURROW}; confluentinc/librdkafka#4723",
    needs=(Need.MEMBERS, Need.OFFSETS, Need.END_OFFSETS),
    applies=is_consuming,
)
def stalled_member(case: Case) -> Iterator[Symptom]:
    """None of the member's partitions advances, and some have unread records."""
    found = [(member, places) for member, places, moves in stalled_by_member(case) if not moves]
    if not found:
        return
    places = {place: one for _, each in found for place, one in each.items()}
    members = [member.id for member, _ in found]
    evidence = _evidence(case, places)
    one = len(members) == 1
    still_ms = max(each.still_ms for each in places.values())
    seldom = _commits_seldom(case, still_ms, evidence)
    host = found[0][0].client.host
    where = f" ({host.removeprefix('/')})" if host else ""
    yield (warning if seldom else error)(
        message=(
            f"{case.named(members)} {'is' if one else 'are'} in the group and {'has' if one else 'have'} committed "
            f"nothing for at least {about(still_ms / 1000)}, with "
            f"{records(sum(each.lag or 0 for each in places.values()))} to read in {names(places)}.{seldom}"
        ),
        remedy=(
            f"Take a thread dump of {case.named(members[:1])}{where}: it is blocked between two polls, has paused its "
            "partitions, or does not commit. Restart it. If it commits less often than every "
            f"{about(case.thresholds.commit_interval_ms / 1000)}, set --commit-interval."
        ),
        members=tuple(members),
        since_ms=_since_ms(case, places),
        evidence=evidence,
    )


@rule(
    "stalled-partition",
    "a stalled partition of a member that commits others",
    source=BURROW,
    needs=(Need.MEMBERS, Need.TWO_OFFSETS, Need.END_OFFSETS),
    applies=is_consuming,
)
def stalled_partition(case: Case) -> Iterator[Symptom]:
    """Often caused by a record on which the consumer fails again and again."""
    found = [(member, places) for member, places, moves in stalled_by_member(case) if moves]
    places = {place: one for _, each in found for place, one in each.items()}
    if not places:
        return
    topic, number = min(places)
    at = case.offsets[topic][number].offset
    yield error(
        message=(
            f"The committed offset of {names(places)} has not moved for at least "
            f"{about(max(each.still_ms for each in places.values()) / 1000)}, while the same "
            f"{'member commits' if len(found) == 1 else 'members commit'} other partitions: "
            f"{case.named(member.id for member, _ in found)}."
        ),
        remedy=(
            f"Inspect the next record of {topic}-{number}: kafka-console-consumer.sh --topic {topic} "
            f"--partition {number} --offset {at} --max-messages 1. If the consumer cannot process it, stop the group "
            f"and skip it: kohort offsets reset {case.in_shell} --topic {topic}:{number} --shift-by 1."
        ),
        members=tuple(member.id for member, _ in found),
        since_ms=_since_ms(case, places),
        evidence={**_evidence(case, places), "offset": at},
    )


@rule(
    "stopped",
    "records that no member reads",
    source=BURROW,
    needs=(Need.OFFSETS, Need.END_OFFSETS),
    applies=is_alone,
)
def stopped(case: Case) -> Iterator[Symptom]:
    """The group has no members, its offsets do not move, and there are unread records."""
    lagging = {place: one for place, one in case.progress.partitions.items() if (one.lag or 0) > 0}
    had_members = any(group.members for _, group in case.seen)
    if not lagging or (not had_members and any(one.committed_per_s for one in lagging.values())):
        return  # consumers may read and commit without being members
    evidence = _evidence(case, lagging)
    commits = [
        each.timestamp
        for offsets in case.offsets.values()
        for each in offsets.values()
        if each.timestamp is not None
    ]
    idle_ms = case.last.at_ms - max(commits) if commits else None
    # A snapshot without a time is as old as its newest commit.
    last_commit = f" The last commit was {about(idle_ms / 1000)} ago." if idle_ms and idle_ms > 0 else ""
    has_stopped = any(one.verdict is Verdict.STOPPED for one in lagging.values())
    abandoned = idle_ms is not None and idle_ms > ABANDONED_MS
    seldom = (
        _commits_seldom(case, max(one.still_ms for one in lagging.values()), evidence)
        if has_stopped and case.group.protocol_type == ""
        else ""
    )
    is_sure = _is_certain(case, case.last.next_records, lagging)
    level = error if has_stopped and is_sure and not abandoned and not seldom else warning
    yield level(
        message=(
            f"The group has no members, and {records(sum(one.lag or 0 for one in lagging.values()))} are unread in "
            f"{count(lagging)}: {names(lagging)}.{last_commit}{seldom}"
        ),
        remedy=(
            f"Restart its consumers. If the group is no longer needed, delete it: kohort delete {case.in_shell}."
        ),
        since_ms=_since_ms(case, lagging) if has_stopped else None,
        evidence=evidence,
    )


@rule(
    "overtaken",
    "records that retention deletes before they are read",
    source="LogManager, deleteOldSegments; KIP-405",
    needs=(Need.TWO_OFFSETS, Need.START_OFFSETS),
    applies=has_offsets,
)
def overtaken(case: Case) -> Iterator[Symptom]:
    """The log start approaches the committed offset and will reach it before the group has caught up."""
    found = {
        place: one.overtaken_s
        for place, one in case.progress.partitions.items()
        if one.overtaken_s is not None
        and 0 < one.overtaken_s < min(DAY_MS / 1000, NEVER if one.catch_up_s is None else one.catch_up_s)
    }
    if not found:
        return
    soonest = min(found.values())
    yield error(
        message=(
            f"Retention deletes records of {names(found)} before the group reads them: at current rates the "
            f"first are deleted in {about(soonest)}."
        ),
        remedy=(
            "Raise retention.ms (or retention.bytes) of the topic until the group has caught up: kafka-configs.sh "
            "--alter --entity-type topics --entity-name "
            f"{min(found)[0]} --add-config retention.ms=…. Then add consumers, or make them faster."
        ),
        evidence={"partitions": all_names(found), "lost_in_s": round(soonest, 1)},
    )


@rule(
    "falling-behind",
    "lag that grows",
    source=BURROW,
    needs=(Need.TWO_OFFSETS, Need.END_OFFSETS),
    applies=lambda group: bool(group.members),
)
def falling_behind(case: Case) -> Iterator[Symptom]:
    """Lag grows although offsets move, or have not moved for a short time only."""
    found = {place: one for place, one in case.progress.partitions.items() if one.verdict is Verdict.WARN}
    if not found:
        return
    produced = sum(one.produced_per_s or 0 for one in found.values())
    read = sum(one.committed_per_s or 0 for one in found.values())
    grown = sum(one.lag_change or 0 for one in found.values())
    yield warning(
        message=(
            f"Lag grows in {count(found)} of {len(case.progress.partitions):,}: {names(found)}. {produced:,.1f} "
            f"records per second are produced there and {read:,.1f} consumed: at these rates the group never "
            "catches up."
        ),
        remedy=(
            "Add members, up to the number of partitions, or make processing faster. To follow it: "
            f"kohort watch {case.in_shell}."
        ),
        evidence={
            "partitions": all_names(found),
            "lag": sum(one.lag or 0 for one in found.values()),
            "lag_grown_by": grown,
            "produced_per_s": round(produced, 2),
            "committed_per_s": round(read, 2),
            "observed_for_s": case.seen_ms / 1000,
        },
    )


@rule(
    "slow-catch-up",
    "lag that takes long to catch up with",
    source="groups.progress",
    needs=(Need.TWO_OFFSETS, Need.END_OFFSETS),
    applies=lambda group: bool(group.members),
)
def slow_catch_up(case: Case) -> Iterator[Symptom]:
    """Lag shrinks; reports the partition that takes longest to catch up at the present rates."""
    found = {
        place: one.catch_up_s
        for place, one in case.progress.partitions.items()
        if one.catch_up_s is not None and 0 < one.catch_up_s < NEVER and one.verdict is Verdict.OK
    }
    if not found:
        return
    place = max(found, key=lambda each: found[each])
    longest = found[place]
    level = warning if longest * 1000 > case.thresholds.catch_up_ms else note
    yield level(
        message=(
            f"The group is catching up: {records(case.progress.lag or 0)} are unread; at current rates "
            f"{names([place])} takes longest, {about(longest)}."
        ),
        remedy="None if that is soon enough; otherwise add members, up to the number of partitions.",
        evidence={
            "lag": case.progress.lag,
            "produced_per_s": _rounded(case.progress.produced_per_s),
            "committed_per_s": _rounded(case.progress.committed_per_s),
            "catch_up_s": round(longest, 1),
        },
    )


@rule(
    "rewound",
    "committed offsets that moved backwards",
    source="linkedin/Burrow#716",
    needs=(Need.TWO_OFFSETS,),
    applies=has_offsets,
)
def rewound(case: Case) -> Iterator[Symptom]:
    """Caused by a reset, a consumer that seeks back, or one that commits in the wrong order."""
    found = {place: one for place, one in case.progress.partitions.items() if one.verdict is Verdict.REWIND}
    if not found:
        return
    yield warning(
        message=f"Committed offsets moved backwards in {count(found)}: {names(found)}; records are read again.",
        remedy=(
            "If the group was not reset, check for two consumers that commit the same partition, one of them evicted "
            "or assigned manually."
        ),
        evidence={"partitions": all_names(found), "lag": sum(one.lag or 0 for one in found.values())},
    )


@rule(
    "hot-partition",
    "a partition that lags far more than the others of its topic",
    source="linkedin/Burrow#170",
    needs=(Need.TWO_OFFSETS, Need.END_OFFSETS),
    applies=is_consuming,
)
def hot_partition(case: Case) -> Iterator[Symptom]:
    """Partitions that advance but lag far more than the topic's others: a too frequent key, or a slow member."""
    found = dict(_hottest(case))
    if not found:
        return
    yield warning(
        message=(
            f"{names(found)} {'lags' if len(found) == 1 else 'lag'} far more than the other partitions of the topic: "
            f"{records(sum(one.lag or 0 for one in found.values()))}."
        ),
        remedy=(
            "Check whether one key has most of the records there; if so, split the key. Otherwise compare the member "
            "that owns the partition with the others."
        ),
        evidence={"partitions": all_names(found), "lag": sum(one.lag or 0 for one in found.values())},
    )


def _hottest(case: Case) -> Iterator[tuple[Place, Progress]]:
    by_topic: dict[str, list[tuple[Place, Progress]]] = {}
    for place, one in case.progress.partitions.items():
        if one.lag is not None:
            by_topic.setdefault(place[0], []).append((place, one))
    for rows in by_topic.values():
        if len(rows) < 3:
            continue
        usual = median(max(one.lag or 0, 0) for _, one in rows)
        for place, one in rows:
            late = one.catch_up_s is not None and one.catch_up_s * 1000 > _HOT_AFTER_MS
            if late and (one.lag or 0) > case.thresholds.hot * max(usual, 1) and one.verdict in _GETS_ON:
                yield place, one


_HOT_AFTER_MS = 60_000
_GETS_ON: Sequence[Verdict] = (Verdict.OK, Verdict.WARN)


def _rounded(rate: float | None) -> float | None:
    return None if rate is None else round(rate, 2)
