"""Rules about subscriptions and ownership: missing topics, partitions without an owner, skew, targets not reached."""

from collections.abc import Callable, Iterator

from groups.classic_streams import is_classic_streams
from groups.counts import counted, first_names, share
from groups.diagnosis.case import DiagnosisCase, Least, Need, error, note, rule, warning
from groups.diagnosis.rebalances import assigned_ms, is_unsettled, partitions_text
from groups.findings import Finding
from groups.model import Group, GroupType, Member, Partitions, each_partition
from groups.regex.broker import compile_broker_regex, judge
from groups.times import duration_text

METADATA_MAX_AGE_MS = 300_000  # a member may not know new partitions this long (`metadata.max.age.ms`)


def is_settled(group: Group) -> bool:
    """Whether the members are consumers and the group's state shows no rebalance: each should own its partitions."""
    return bool(group.members) and not is_unsettled(group) and group.protocol_type in (None, "", "consumer")


def _is_changing(case: DiagnosisCase) -> bool:
    """A cooperative rebalance of a classic group has two parts, between which partitions have no owner."""
    return assigned_ms(case) < min(case.seen_ms, case.thresholds.rebalance_ms)


UNCHANGED = Least(ms=lambda limits: limits.rebalance_ms, may_hide=_is_changing, observed_ms=assigned_ms)


def owned_count(member: Member) -> int:
    return sum(map(len, (member.owned or {}).values()))


def unowned(case: DiagnosisCase, group: Group) -> Partitions:
    """Partitions without an owner, of the known topics that a member subscribes to by name or owns a partition of."""
    owned: dict[str, set[int]] = {}
    subscribed_topics: set[str] = set()
    for member in group.members:
        subscribed_topics.update(member.subscription.topics if member.subscription else ())
        for name, numbers in (member.owned or {}).items():
            owned.setdefault(name, set()).update(numbers)
    without: dict[str, tuple[int, ...]] = {}
    for name in sorted(subscribed_topics | owned.keys()):
        topic = case.topics.get(name)
        left = () if topic is None else set(range(topic.partitions)) - owned.get(name, set())
        if left:
            without[name] = tuple(sorted(left))
    return without


@rule(
    "partition-without-owner",
    source="ConsumerPartitionAssignor; KIP-848, Assignors",
    needs=(Need.MEMBERS, Need.TOPICS),
    least=UNCHANGED,
    applies=is_settled,
)
def without_owner(case: DiagnosisCase) -> Iterator[Finding]:
    """A warning for one observation, else an error; after five minutes if others of the topic have commits."""
    left = unowned(case, case.group)
    if not left or _is_changing(case):
        return
    lost = set(each_partition(left))
    since = case.since_ms(lambda one: is_settled(one) and lost <= set(each_partition(unowned(case, one))))
    lasted_ms = case.lasted_ms(since)
    committed = {(topic, number) for topic, offsets in case.offsets.items() for number in offsets}
    is_new = not lost & committed and any(topic in left for topic, _ in committed)
    is_sure = lasted_ms >= METADATA_MAX_AGE_MS if is_new else lasted_ms > 0
    yield (error if is_sure else warning)(
        message=f"No member owns {partitions_text(left)}, though the group is {case.group.state.value} and subscribes "
        "to the topic: it is not read.",
        remedy="New partitions are found within metadata.max.age.ms (5 minutes). Otherwise restart a member, and "
        f"compare with what the assignor would do: kohort dry-run {case.in_shell}.",
        since_ms=since,
        evidence={"partitions": len(lost), "topics": tuple(left), "observed_for_s": lasted_ms / 1000},
    )


@rule(
    "idle-members",
    source="ConsumerPartitionAssignor; KIP-848, Assignors",
    needs=(Need.MEMBERS,),
    applies=is_settled,
)
def idle_members(case: DiagnosisCase) -> Iterator[Finding]:
    """There are more members than partitions, maybe as a reserve. With enough partitions, the rule is `skew`."""
    group = case.group
    idle = [member.id for member in group.members if not owned_count(member)]
    partitions = sum(map(owned_count, group.members))
    if not idle or group.type is GroupType.SHARE:
        return
    yield note(
        message=f"{share(len(idle), len(group.members), 'member', ('owns', 'own'))} no partition "
        f"(of {partitions} owned in total): {case.named(idle)}.",
        remedy="Add partitions to the topics, or stop these members unless they are standbys.",
        members=tuple(idle),
        evidence={"members": len(group.members), "without_partitions": len(idle), "partitions": partitions},
    )


@rule(
    "skew",
    source="KIP-54 (sticky), KIP-848 (uniform); RangeAssignor",
    needs=(Need.MEMBERS,),
    least=UNCHANGED,
    applies=lambda group: is_settled(group) and group.type is not GroupType.SHARE,
)
def skew(case: DiagnosisCase) -> Iterator[Finding]:
    """Compares members of the same subscription: uneven totals are a warning, one uneven topic alone is a note."""
    members = case.group.members
    if len({member.subscription for member in members}) != 1 or _is_changing(case):
        return
    counts = {member.id: owned_count(member) for member in members}
    per_topic = {
        topic: {member.id: len((member.owned or {}).get(topic, ())) for member in members}
        for topic in sorted({topic for member in members for topic in member.owned or ()})
    }
    uneven = [topic for topic, owned in per_topic.items() if _is_uneven(case, owned)]
    in_all = _is_uneven(case, counts)
    if not (in_all or uneven):
        return
    shown = counts if in_all else per_topic[uneven[0]]
    most, least = max(shown, key=shown.__getitem__), min(shown, key=shown.__getitem__)
    what = "" if in_all else f" of {uneven[0]}"
    yield (warning if in_all else note)(
        message=f"{case.labels[most]} owns {shown[most]} partitions{what}, {case.labels[least]} {shown[least]}, of "
        f"{sum(shown.values())} for {len(members)} members.",
        remedy="Kafka Streams leaves a task with its state where it is until a warm-up elsewhere has caught up "
        f"(KIP-441). See warm-ups and the next probing rebalance: kohort describe {case.in_shell} --members."
        if is_classic_streams(case.group)
        else f"{case.group.protocol or 'The assignor'} assigns unevenly: compare other assignors with "
        f"kohort dry-run {case.in_shell} --compare.",
        members=(most,),
        evidence={
            "most": shown[most],
            "least": shown[least],
            "members": len(members),
            "partitions": sum(shown.values()),
            "uneven_topics": tuple(uneven),
        },
    )


def _is_uneven(case: DiagnosisCase, owned: dict[str, int]) -> bool:
    """Whether the most is at least `skew` times the least, and 2 more: a difference of one may be unavoidable."""
    most, least = max(owned.values()), min(owned.values())
    return most - least >= 2 and most >= case.thresholds.skew * max(least, 1)


@rule(
    "target-not-reached",
    source="KIP-932, KIP-1071: member epochs",
    needs=(Need.TWO_OBSERVATIONS,),
    least=Least(ms=lambda limits: limits.rebalance_ms, may_hide=lambda case: bool(late_members(case.group))),
    applies=lambda group: group.type in (GroupType.SHARE, GroupType.STREAMS) and not is_unsettled(group),
)
def target_not_reached(case: DiagnosisCase) -> Iterator[Finding]:
    """For groups whose state does not show a rebalance; if it does, the rule is `rebalance-stuck`."""
    since = case.since_ms(lambda group: bool(late_members(group)))
    late = late_members(case.group)
    lasted_ms = case.lasted_ms(since)
    if not late or lasted_ms < case.thresholds.rebalance_ms:
        return
    yield error(
        message=f"{case.named(late)} has not reached epoch {case.group.assignment_epoch} of the target assignment for "
        f"at least {duration_text(lasted_ms)}.",
        remedy="It does not send heartbeats, or is blocked: take a thread dump and restart it.",
        members=tuple(late),
        since_ms=since,
        evidence={"assignment_epoch": case.group.assignment_epoch, "observed_for_s": lasted_ms / 1000},
    )


def late_members(group: Group) -> list[str]:
    epoch = group.assignment_epoch
    return [
        member.id
        for member in group.members
        if epoch is not None and member.epoch is not None and 0 <= member.epoch < epoch
    ]


def subscribed(group: Group, of: Callable[[Member], tuple[str, ...]]) -> dict[str, list[str]]:
    """Ids of members by each subscribed name or regex, in the group's order."""
    members: dict[str, list[str]] = {}
    for member in group.members:
        for name in of(member):
            members.setdefault(name, []).append(member.id)
    return members


def _topics(member: Member) -> tuple[str, ...]:
    return member.subscription.topics if member.subscription else ()


def _regexes(member: Member) -> tuple[str, ...]:
    return (member.subscription.regex,) if member.subscription and member.subscription.regex else ()


def has_regexes(group: Group) -> bool:
    return any(map(_regexes, group.members))


@rule(
    "topic-missing",
    source="Metadata (UNKNOWN_TOPIC_OR_PARTITION)",
    needs=(Need.MISSING_TOPICS,),
    applies=lambda group: any(map(_topics, group.members)),
)
def topic_missing(case: DiagnosisCase) -> Iterator[Finding]:
    """No partitions are assigned for such a topic, and the members get no error."""
    subscribers = subscribed(case.group, _topics)
    gone = sorted(subscribers.keys() & (case.missing_topics or frozenset()))
    if not gone:
        return
    members = tuple(dict.fromkeys(member for topic in gone for member in subscribers[topic]))
    yield warning(
        message=f"{case.named(members)} subscribe{'s' if len(members) == 1 else ''} to {first_names(gone)}, which "
        f"do{'es' if len(gone) == 1 else ''} not exist.",
        remedy="Create the topic, or correct its name in the client's configuration.",
        members=members,
        evidence={"topics": tuple(gone), "members": len(members)},
    )


@rule(
    "regex-matches-nothing",
    source="KIP-848, Regular Expressions (RE2/J)",
    needs=(Need.TOPIC_NAMES,),
    applies=has_regexes,
)
def regex_matches_nothing(case: DiagnosisCase) -> Iterator[Finding]:
    """The broker matches the whole name of a topic, with RE2/J."""
    names = case.topic_names or frozenset()
    for pattern, members in subscribed(case.group, _regexes).items():
        verdict, whose = judge(pattern), f"regex {pattern!r} of {case.named(members)}"
        none = (
            f"The {whose} matches none of {counted(len(names), 'topic')}: the broker matches the whole name."
        )
        if not verdict.valid or not compile_broker_regex(pattern).matches(names):
            yield (warning if verdict.valid else error)(
                message=none if verdict.valid else f"The broker refuses the {whose}: {verdict.reason}.",
                remedy=f"Check a new regex before clients use it: kohort validate-regex '{pattern}'.",
                members=tuple(members),
                evidence={"regex": pattern, "matches": 0, "topics": len(names)},
            )
