"""Scenes of a group with their near misses, and all that a diagnosis reports of them (golden/diagnose/scenes.txt)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from uuid import UUID

from groups.diagnosis.case import Need, Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.lag import NextRecord
from groups.model import (
    Client,
    Cluster,
    CommittedOffset,
    Group,
    GroupState,
    GroupType,
    OpenTransaction,
    PendingOffsets,
    Problem,
    Subscription,
    Topic,
)
from groups.progress import NEVER
from tests.groups.diagnosis.groups import (
    START_MS,
    classic_group,
    classic_member,
    group,
    member,
    observations,
    topics,
)
from tests.support.golden import assert_recorded

Scene = tuple[str, Sequence[Observation]] | tuple[str, Sequence[Observation], dict[str, object]]
EVERY_MS, DAY_MS = 6_000, 86_400_000
NAME, PLACE = "orders", ("orders", 0)
EMPTY = group(state=GroupState.EMPTY)
REST = {1: 5, 2: 5, 3: 5}


def look(
    position: int,
    committed: Mapping[int, int],
    ends: Mapping[int, int],
    *,
    starts: Mapping[int, int] | None = None,
    stable: Mapping[int, int] | None = None,
    of: Group | None = None,
    commit_ms: int | None = START_MS,
    **more: object,
) -> Observation:
    """A look at the group, whose two members own partitions 0 and 1, 2 and 3 unless it is another one."""
    seen = group(member("a", [0, 1]), member("b", [2, 3])) if of is None else of
    commits = {number: CommittedOffset(offset=at, timestamp=commit_ms) for number, at in committed.items()}
    kept = dict.fromkeys(range(4), 0) if starts is None else dict(starts)
    ended: dict[str, Any] = {"end_offsets": dict(ends), "stable_offsets": dict(stable or ends)}
    topic = Topic(name=NAME, partitions=4, start_offsets=kept, **ended)
    return Observation(
        at_ms=START_MS + position * EVERY_MS,
        group=replace(seen, offsets={NAME: commits}),
        topics={NAME: topic},
        topic_names=frozenset({NAME}),
        **more,  # type: ignore[arg-type]
    )


def transaction(begun_ms: int) -> OpenTransaction:
    return OpenTransaction(
        start_offset=50,
        producer_id=4,
        producer_epoch=0,
        coordinator_epoch=0,
        last_write_ms=begun_ms,
        transactional_id="till",
        begun_ms=begun_ms,
    )


def ownership() -> Iterator[Scene]:
    def seen(*groups: Group | None, **more: object) -> list[Observation]:
        return observations(*groups, **more)  # type: ignore[arg-type]

    offsets = {NAME: {number: CommittedOffset(offset=0) for number in range(6)}}
    even = group(member("a", (0, 1, 2)), member("b", (3, 4, 5)), offsets=offsets)
    yield "a healthy group", seen(even, even, missing_topics=frozenset(), every_ms=60_000)
    partial = group(member("a", (0, 1, 2)), member("b", (3, 4)))
    moving = replace(partial, state=GroupState.RECONCILING)
    yield "a partition without an owner, seen once", seen(partial)
    yield "a partition without an owner", seen(partial, partial)
    yield "a partition without an owner in a rebalance", seen(moving, moving)
    before = classic_group(classic_member("a", (0, 1, 2, 3, 4, 5)))
    between = classic_group(classic_member("a", (0, 1, 2)), classic_member("b"))
    yield "between two parts of a rebalance", seen(before, between, between, every_ms=1_000)
    yield "between two parts of a rebalance for long", seen(before, *[between] * 4)
    four = {NAME: {at: offsets[NAME][at] for at in range(4)}}
    two = group(member("a", (0, 1)), member("b", (2, 3)), offsets=four)
    for every_s in (6, 300):
        yield f"partitions that may be new, {every_s} s", seen(two, two, every_ms=every_s * 1000)
    old = replace(two, members=two.members[:1])
    yield "partitions that were committed have no owner", seen(old, old)
    yield "a group of Connect", seen(classic_group(classic_member("a"), protocol_type="connect"))
    spare = group(member("a", (0,)), member("b", (1,)), member("c"))
    yield "more members than partitions", seen(spare, topics=topics(orders=2))
    most = member("a", (0, 1, 2, 3, 4))
    yield "uneven", seen(group(most, member("b", (5,))))
    yield "uneven, within the limit", seen(group(most, member("b", (5,)))), {"skew": 6.0}
    other = member("b", (5,), subscription=Subscription(topics=(NAME, "other")))
    yield "uneven, with other subscriptions", seen(group(most, other))
    late = group(member("a", epoch=4), type=GroupType.SHARE)
    yield "a share group that does not reach its target", seen(*[late] * 4)
    reached = group(member("a"), type=GroupType.SHARE)
    yield "a share group that has reached its target", seen(*[late] * 3, reached)
    all_owned = (0, 1, 2, 3, 4, 5)
    wanting = group(member("a", all_owned, subscription=Subscription(topics=(NAME, "gone"))))
    yield "a missing topic", seen(wanting, missing_topics=frozenset({"gone"}))
    for regex in ("order", "order.*"):
        reader = group(member("a", all_owned, subscription=Subscription(regex=regex)))
        yield f"the regex {regex}", seen(reader)
    problem = Problem(subject="payments", message="no", group="payments", error="COORDINATOR_NOT_AVAILABLE")
    yield "no coordinator", seen(None, None, problem=problem)
    yield "no authorization", seen(None, problem=replace(problem, error="GROUP_AUTHORIZATION_FAILED"))


def membership() -> Iterator[Scene]:
    a, b, c, d = (member(name, (at, at + 1)) for name, at in (("a", 0), ("b", 2), ("c", 0), ("d", 2)))

    def restarted(at: int) -> Group:
        crashing = classic_member(f"a{at}", (0,), client=Client(id="a", host="/10.0.0.7"))
        return classic_group(classic_member("b", (1,)), *([crashing] if at % 2 else []))

    yield "restarts of one host", observations(*map(restarted, range(8)), every_ms=1_000)
    crowd = [member(f"m{at}", (at,)) for at in range(6)]
    joining = [group(*crowd[:count], group_epoch=count) for count in range(1, 7)]
    yield "members that only join", observations(*joining)
    yield "epochs without changed members", observations(group(a, b), group(a, b, group_epoch=11))
    rolling = [group(*left, group_epoch=6 + at) for at, left in enumerate(((b,), (b, c), (c,), (c, d)))]
    yield "a rolling restart", observations(group(a, b), *rolling)
    names = [("a1", "b1", "c1"), ("a2", "b1", "c1"), ("a2", "b2", "c1"), ("a2", "b2", "c2")]
    static = [
        classic_group(*(classic_member(name, (at, at + 3), instance=name[0]) for at, name in enumerate(ids)))
        for ids in names
    ]
    yield "static members restart one by one", observations(*static)
    yield "a member that returns with its id", observations(group(a, b), group(a), group(a, b))
    yield "a member that left twice", observations(group(a, b), group(a), group(a, b), group(a))
    awaiting = member("b", (), target={NAME: (1,)}, client=Client(id="b", host="/10.0.0.9"))
    waiting = group(member("a", (0, 1), target={NAME: (0,)}), awaiting, state=GroupState.RECONCILING)
    after = group(member("b", (0, 1), client=awaiting.client))
    yield "a member that was waited for is gone", observations(waiting, waiting, after)
    yield "a member is gone", observations(group(a, b), group(a))
    again = member("a2", (0, 1), client=a.client)
    yield "a restarted client", observations(group(a, b), group(b), group(again, b))
    hands = [classic_group(classic_member(f"s{position}", (0,), instance="one")) for position in range(4)]
    yield "an instance that changes hands", observations(*hands)
    yield "an instance that changed hands once", observations(*hands[:2], hands[1])
    away = member("b", (2, 3), instance="two", epoch=-2)
    yield "a static member that is away", observations(group(a, b), group(a, away))


def rebalances() -> Iterator[Scene]:
    settled = group(member("a", (0, 1, 2)), member("b", (3, 4, 5)))
    giving, getting = member("a", (0, 1, 2), target={NAME: (0, 1)}), member("b", (), target={NAME: (2,)})
    moving = group(giving, getting, state=GroupState.RECONCILING)
    joined = (classic_member("a", (0,), is_new=False), classic_member("b", is_new=True))
    preparing = classic_group(*joined, state=GroupState.PREPARING_REBALANCE)
    yield "a rebalance that does not end", observations(settled, *[moving] * 4)
    yield "a rebalance", observations(moving, moving)
    yield "a rebalance that has ended", observations(*[moving] * 4, settled)
    yield "a classic rebalance that does not end", observations(*[preparing] * 4)

    def waiting(epoch: int) -> Group:
        late = member("a" if epoch % 2 else "b", (0, 1), target={NAME: (0,)})
        return group(late, state=GroupState.RECONCILING, group_epoch=epoch)

    yield "rebalances that each wait for another", observations(*map(waiting, range(5, 10)))
    yield "rebalances that all wait for one", observations(*map(waiting, (5, 7, 9, 11)))
    even = classic_group(classic_member("a", (0,)), classic_member("b", (1,)))
    yield "rebalances most of the time", observations(*([preparing] * 3 + [even]) * 4)
    yield "rebalances some of the time", observations(*([preparing] + [even] * 2) * 4)


def stalls() -> Iterator[Scene]:
    at_10, ends = {0: 10, 1: 10, 2: 70, 3: 10}, {0: 110, 1: 10, 2: 70, 3: 10}
    short = [look(at, {**at_10, 0: 10 + at}, {**ends, 0: 110 + at}) for at in (0, 1)]
    yield "six seconds of steady lag", short
    yield "ten minutes of steady lag", [*short, look(100, {**at_10, 0: 110}, {**ends, 0: 210})]
    yield "six seconds without a commit", [look(at, at_10, ends) for at in (0, 1)]
    ends = {0: 500, 1: 10, 2: 70, 3: 10}
    often = group(member("a", [0, 1]), member("b", [2, 3]), commit_gap_ms=5_000)
    seen = [look(at, {0: 10, 1: 10, 2: 20 + at, 3: 10}, ends, of=often) for at in range(4)]
    yield "a member that does not consume", seen
    yield "a member that does not consume, for 12 s", seen[:3]
    yield "a member that commits every 10 s", seen, {"commit_interval_ms": 10_000}
    before = look(0, {0: 10, 1: 10, 2: 20, 3: 10}, ends, of=group(member("a", [1]), member("b", [0, 2, 3])))
    yield "a member that has just got the partition", [before, *seen[1:]]
    since = {PLACE: START_MS - 600_000}
    yield "records that have waited", [seen[0], replace(seen[1], waiting_since_ms=since)]
    yield "only a marker is left", [seen[0], replace(seen[3], waiting_since_ms={PLACE: None})], {"hot": NEVER}
    for about, position, other in (
        ("for less than a minute", 3, 100),
        ("with no other backlog", 10, 100),
        ("with another backlog", 100, 100_000),
    ):
        rest = {2: 5, 3: 5}
        stuck = [
            look(at, {0: 10, 1: 10 + at, **rest}, {0: 50, 1: 10 + at if other == 100 else other, **rest})
            for at in (0, position)
        ]
        yield f"a partition behind others, {about}", stuck
    ends, since = {0: 50, 1: 50, 2: 5, 3: 5}, {PLACE: START_MS - 700_000, (NAME, 1): START_MS - 100_000}
    still = [look(at, {0: 10, 1: 10, 2: 5, 3: 5}, ends, waiting_since_ms=since) for at in (0, 1)]
    yield "partitions that are still since different times", still
    before = look(0, {0: 10, 1: 5, 2: 5, 3: 5}, ends, of=group(member("a", [1]), member("b", [0, 2, 3])))
    since = {PLACE: START_MS - 700_000}
    got = [look(at, {0: 10, 1: 5 + at, 2: 5, 3: 5}, ends, waiting_since_ms=since) for at in range(1, 5)]
    yield "a partition that its member got since", [before, *got]
    yield "a partition that its member has just got", [before, *got[:-1]]
    later = [replace(one.group or EMPTY, generation=7 + (at > 1)) for at, one in enumerate(got)]
    again = [replace(one, group=of) for one, of in zip(got, later, strict=True)]
    yield "a partition of another generation", again
    for gap_ms, position, commit_ms in (
        (60_000, 5, START_MS),
        (60_000, 29, START_MS),
        (60_000, 30, START_MS),
        (5_000, 3, START_MS),
        (None, 9, START_MS),
        (None, 10, START_MS),
        (60_000, 3, None),
        (None, 10, None),
    ):
        for of in (group(member("a", [0, 1])), replace(EMPTY, protocol_type="")):
            about = f"{'members' if of.members else 'no member'}, gap {gap_ms}, {position} looks"
            seldom = replace(of, commit_gap_ms=gap_ms)
            facts: Any = {"of": seldom, "commit_ms": commit_ms}
            seen = [look(at, {0: 10, 1: 10}, {0: 60, 1: 60}, **facts) for at in (0, position)]
            yield f"commits stop: {about}{'' if commit_ms else ', unread'}", seen
    for position, rebalanced_s in ((5, 60), (5, 180), (10, 60)):
        at_ms = START_MS + position * EVERY_MS
        of = group(member("a", [0, 1]), commit_gap_ms=100, rebalanced_ms=at_ms - rebalanced_s * 1000)
        seen = [look(at, {0: 10, 1: 10}, {0: 60, 1: 60}, of=of) for at in (0, position)]
        yield f"a stall of {position} looks, rebalanced {rebalanced_s} s ago", seen
        yield f"the same with a set interval, {position}, {rebalanced_s}", seen, {"commit_interval_ms": 4_000}
    stopped = [look(at, {0: 10, 1: 10}, {0: 10 + at, 1: 10}, of=EMPTY) for at in range(1, 6)]
    yield "a group that stopped", stopped
    yield "a group that stopped, seen once", stopped[-1:]
    long_ago = {NAME: {0: CommittedOffset(offset=10, timestamp=START_MS - 30 * DAY_MS)}}
    yield "an abandoned group", [*stopped[:-1], replace(stopped[-1], group=replace(EMPTY, offsets=long_ago))]
    yield "one unread record", [look(at, {0: 10}, {0: 11}, of=EMPTY) for at in range(1, 6)]
    for offset, end in ((5, 9), (1, 1)):
        alone = [look(at, {0: committed}, {0: end}, of=EMPTY) for at, committed in ((0, 1), (9, offset))]
        yield f"no members, committed {offset} of {end}", alone
    left = look(5, {0: 40}, {0: 60}, of=EMPTY)
    yield "the last member left", [look(0, {0: 10}, {0: 10}), left]
    yield "consumers without membership", [look(0, {0: 10}, {0: 10}, of=EMPTY), left]


def lag() -> Iterator[Scene]:
    rest = {1: 0, 2: 0, 3: 0}
    grows = ((0, 0, 1000), (5, 300, 4000))
    yield "lag that grows", [look(at, {0: read, **rest}, {0: end, **rest}) for at, read, end in grows]
    shrinks = [look(at, {0: 6_000 * at, **rest}, {0: 90_000, **rest}) for at in (0, 5)]
    yield "lag that shrinks", shrinks, {"hot": NEVER}
    yield "lag that shrinks slowly", shrinks, {"hot": NEVER, "catch_up_ms": 10_000}
    ends = dict.fromkeys(range(4), 100_000)
    hot = [look(at, {0: 10 * at, **dict.fromkeys(range(1, 4), 99_000 + 10 * at)}, ends) for at in (1, 2)]
    yield "a hot partition", hot
    yield "a hot partition, within the limit", hot, {"hot": 1000}
    quiet = [look(0, {0: 10, 1: 10, 2: 10, 3: 10}, {0: 12, 1: 10, 2: 12, 3: 10})]
    quiet += [look(at, {0: 60, 1: 10, 2: 70, 3: 10}, {0: 62, 1: 10, 2: 70, 3: 10}) for at in (1, 5)]
    yield "a group that reads", quiet[:2]
    yield "offsets that went back", [quiet[1], quiet[0]]
    yield "two consumers that commit in turn", [quiet[1], quiet[0], quiet[2]]
    ends, committed = dict.fromkeys(range(4), 1000), {0: 500, 1: 1000, 2: 1000, 3: 1000}
    yield "records that were deleted", [look(at, committed, ends, starts={0: 600}) for at in (0, 1)]
    moves = [look(0, committed, ends, starts={0: 400}), look(1, {**committed, 0: 550}, ends, starts={0: 600})]
    yield "records that were deleted during the observation", moves
    soon = [look(at, committed, {**ends, 0: 1000 + 90 * at}, starts={0: 60 * at}) for at in (1, 2)]
    yield "records that will be deleted", soon
    step = [look(at, committed, ends, starts={0: 60 * at}) for at in (1, 2)]
    yield "a log start that moves in steps", step
    ends = {0: 300, **REST}
    for about, starts, of in (
        ("alone", (50, 250), EMPTY),
        ("with members", (50, 250), None),
        ("nothing left", (300, 300), EMPTY),
    ):
        at_100 = {0: 100, **REST}
        seen = [look(5 * at, at_100, ends, starts={0: start}, of=of) for at, start in enumerate(starts)]
        yield f"retention passes an offset, {about}", seen
    ends, committed = dict.fromkeys(range(4), 7), {0: 500, 1: 7, 2: 7, 3: 7}
    yield "an offset beyond the end", [look(at, committed, ends) for at in (0, 1)]
    now = look(1, committed, ends)
    first, second = (replace((now.topics or {})[NAME], id=UUID(int=number)) for number in (1, 2))
    mine = {at: CommittedOffset(offset=read, topic_id=UUID(int=at + 1)) for at, read in ((0, 500), (1, 7))}
    of = replace(EMPTY, offsets={NAME: mine})
    yield "a commit of another topic", [replace(now, topics={NAME: second}, group=of)]
    yield "a topic with a new id", [replace(now, topics={NAME: topic}) for topic in (first, second)]
    ends, committed = {0: 5, 1: 5, 2: 5, 3: 40}, {0: 5, 1: 5, 2: 5}
    for about, end in (("a", 40), ("an empty", 0)):
        seen = [look(at, committed, {**ends, 3: end}) for at in (0, 1)]
        yield f"{about} partition that was never committed", seen
    yield "a group that commits nothing", [look(at, {}, ends) for at in (0, 100)]
    cluster = Cluster(settings={"offsets.retention.minutes": str(7 * 24 * 60)})
    for days, expiry_ms in ((6.5, DAY_MS), (5, DAY_MS), (5, 3 * DAY_MS)):
        commit = CommittedOffset(offset=9, timestamp=round(START_MS - days * DAY_MS))
        empty = replace(EMPTY, offsets={NAME: {0: commit}})
        idle = replace(look(0, {}, {0: 9}), group=empty, cluster=cluster)
        yield f"idle for {days} days, expiry within {expiry_ms // DAY_MS}", [idle], {"expiry_ms": expiry_ms}
    last = look(0, {0: 5, **REST}, dict.fromkeys(range(4), 5))
    others = {name: {0: CommittedOffset(offset=3)} for name in ("bills", "refunds")}
    logs = {name: Topic(name=name, partitions=1, end_offsets={0: 10}) for name in others}
    of = last.group or EMPTY
    reads = replace(of, offsets={**others, **(of.offsets or {})})
    yield "offsets that no member reads", [replace(last, group=reads, topics={**(last.topics or {}), **logs})]


def transactions() -> Iterator[Scene]:
    def held(position: int, end: int, stable: int = 50, begun_ms: int = START_MS) -> Observation:
        return look(
            position,
            {0: 50, **REST},
            {0: end, **REST},
            stable={0: stable, **REST},
            transactions={PLACE: (transaction(begun_ms),)},
        )

    yield "an open transaction with new records", [held(0, 60), held(5, 90)]
    yield "an open transaction without new records", [held(0, 60), held(5, 60)]
    yield "an earlier transaction has ended", [held(0, 60, stable=40), held(5, 90)]
    yield "a transaction that is open for a minute", [held(0, 60), held(11, 90)]
    yield "consumers have passed the transaction", [held(0, 60, stable=60), held(5, 60, stable=60)]
    held_at: Any = {"stable": {0: 50, **REST}, "transactions": {PLACE: (transaction(START_MS),)}}
    aborts = [look(at, {0: 40, **REST}, {0: 60, **REST}, **held_at) for at in (0, 5)]
    aborted, readable = NextRecord(51, START_MS, aborted=9), NextRecord(45, START_MS)
    for about, record in (("aborted", aborted), ("readable", readable)):
        seen = [aborts[0], replace(aborts[1], next_records={PLACE: record})]
        yield f"{about} records before an open transaction", seen

    def pending(position: int, *partitions: int, begun_ms: int | None = START_MS - 1_000) -> Observation:
        offsets = PendingOffsets(
            partitions={NAME: partitions} if partitions else {},
            transactions={} if begun_ms is None else {("__consumer_offsets", 7): (transaction(begun_ms),)},
        )
        return look(position, {0: 10}, {0: 60}, of=replace(group(member("a", [0])), pending=offsets))

    late = START_MS + 29_000
    yield "pending offsets", [pending(0, 0), pending(5, 0)]
    yield "pending offsets for a minute", [pending(0, 0), pending(11, 0)]
    yield "pending offsets, no transaction known", [pending(at, 0, begun_ms=None) for at in (0, 5)]
    yield "new pending offsets", [pending(0), pending(5, 0, begun_ms=late)]
    yield "pending offsets of the next transaction", [pending(0, 0), pending(5, 0, begun_ms=late)]
    yield "offsets that are no longer pending", [pending(0, 0), pending(5)]
    one = [look(at, {0: 10}, {0: 60}, of=group(member("a", [0]))) for at in (0, 5)]
    for about, next_record in {
        "aborted records": NextRecord(None, aborted=5, searched_to=60),
        "markers and gaps": NextRecord(None, searched_to=60),
        "aborted records, and the search ended": NextRecord(None, aborted=5, searched_to=40, is_unknown=True),
        "a record": NextRecord(12, START_MS),
    }.items():
        yield f"what follows: {about}", [one[0], replace(one[1], next_records={PLACE: next_record})]
    both = [look(at, dict.fromkeys(range(4), 10), dict.fromkeys(range(4), 60)) for at in (0, 5)]
    none, some = NextRecord(None, searched_to=60), NextRecord(12, START_MS)
    for about, third in (("nothing", none), ("a record", some)):
        records = {PLACE: none, (NAME, 2): third}
        yield f"two members, of which one has {about}", [both[0], replace(both[1], next_records=records)]


def shown(seen: Sequence[Observation], limits: Mapping[str, Any] = MappingProxyType({})) -> str:
    result = diagnose("payments", seen, replace(Thresholds(), **limits))
    assert len({finding.rule for finding in result.findings}) == len(result.findings)
    lines = []
    for one in result.findings:
        since = "" if one.since_ms is None else f" since {(one.since_ms - START_MS) / 1000:g} s"
        who = ",".join(one.members or filter(None, [one.member]))
        lines += [f"{one.level.value} {one.rule} {who}{since}", f"  {one.message}", f"  {dict(one.evidence)}"]
        lines += [f"  {one.remedy}"]
    lines += [f"not checked: {', '.join(check.rules)} ({check.why})" for check in result.not_checked]
    return "\n".join(lines) or "healthy"


PARTS: tuple[Callable[[], Iterator[Scene]], ...] = (
    ownership,
    membership,
    rebalances,
    stalls,
    lag,
    transactions,
)


def test_each_scene_has_the_recorded_findings() -> None:
    scenes = [scene for part in PARTS for scene in part()]
    answers = {name: shown(*rest) for name, *rest in scenes}
    assert len(answers) == len(scenes)
    assert_recorded("diagnose/scenes.txt", answers)
    assert len({need.value for need in Need}) == len(Need)
