"""No verdict on a departed member is wrong, whatever happened to its group; a group that is followed gets the same."""

from collections import Counter, defaultdict, deque
from collections.abc import Sequence

import pytest

from groups.history.causes import RebalanceCause
from groups.history.commits import RECENT, Commits, PlaceCommit
from groups.history.course import GroupHistory
from groups.history.departures import NOTHING, judge
from groups.history.events import Departure, GroupEvent, MemberRecord, Place, Protocol
from tests.groups.history.simulated import GROUP, SimulatedGroup
from tests.support.long import cases

SEEDS = range(cases("KOHORT_DEPARTURES", 40, many=4000))


def test_no_verdict_is_wrong() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for seed in SEEDS:
        group = SimulatedGroup(seed)
        for source, knowledge in (("log", NOTHING), ("with its settings", group.knowledge)):
            for rebalance in group.course(knowledge).rebalances:
                for departure, verdict in zip(rebalance.departures, rebalance.verdicts, strict=True):
                    truth = group.truth(departure)
                    assert verdict.cause in (truth, RebalanceCause.UNKNOWN), (seed, source, verdict)
                    counts[source, verdict.cause.value] += 1
    print(", ".join(f"{source}: {count} {cause}" for (source, cause), count in sorted(counts.items())))
    assert counts["with its settings", "unknown"] < counts.total() / 3


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_a_group_that_is_followed_has_the_same_course(seed: int) -> None:
    group = SimulatedGroup(seed)
    recent = defaultdict[Place, deque[PlaceCommit]](lambda: deque(maxlen=RECENT))
    followed = GroupHistory(GROUP, recent.__getitem__, group.knowledge)
    settled = []
    for item in group.log:
        if isinstance(item, GroupEvent):
            followed.add(item)
            settled.append(followed.settled(item.time))
        else:
            place, time, offset, _ = item
            recent[place].append(PlaceCommit(time, offset))
            followed.commit(place, time, offset)
    settled.append(followed.finish())
    course = group.course(group.knowledge)
    rebalances = [rebalance for part in settled for rebalance in part.rebalances]
    assert sorted(rebalances, key=lambda rebalance: rebalance.offset) == list(course.rebalances)
    holdings = [holding for part in settled for holding in part.holdings]
    assert sorted(holdings, key=lambda holding: (holding.since, holding.place)) == list(course.holdings)


CLASSIC, CONSUMER, PLACE, OTHER = Protocol.CLASSIC, Protocol.CONSUMER, ("orders", 0), ("orders", 1)
KNOWN = MemberRecord(member="b", session_timeout_ms=20_000, rebalance_timeout_ms=300_000)
STATIC = MemberRecord(member="b", instance="b-1", rebalance_timeout_ms=300_000)
EVERY_FIVE = [(at, at * 100) for at in range(5, 60, 5)]
UNCHANGED = [(at, 7) for at, _ in EVERY_FIVE]
SILENCES: dict[str, tuple[MemberRecord, Protocol, Sequence[tuple[float, int]], int, str]] = {
    "three commits, one interval after the assignment": (KNOWN, CONSUMER, EVERY_FIVE[:3], 3400, "expiry"),
    "three that are less equal": (KNOWN, CONSUMER, [(5, 0), (10, 10), (15.2, 20)], 100, "unknown"),
    "a rhythm that begins late": (KNOWN, CONSUMER, EVERY_FIVE[3:9], 6000, "unknown"),
    "what its successor read came later": (KNOWN, CONSUMER, EVERY_FIVE, 5500 + 1100, "unknown"),
    "commits of what did not change": (KNOWN, CLASSIC, UNCHANGED, 7, "expiry"),
    "the group waited for one that was busy": (KNOWN, CLASSIC, EVERY_FIVE, 5500 + 2300, "unknown"),
    "a live static member is removed": (STATIC, CONSUMER, UNCHANGED, 7, "unknown"),
}


@pytest.mark.parametrize("name", SILENCES)
def test_a_rhythm_proves_an_expiry_but_what_resembles_one_does_not(name: str) -> None:
    record, protocol, times, then, verdict = SILENCES[name]
    at = times[-1][0] + (3 if record is STATIC else 20.2)
    gone = Departure(
        record=record,
        protocol=protocol,
        seen=0,
        earliest=0 if protocol is CLASSIC else round(at * 1e6),
        at=round(at * 1e6),
        waited_for=protocol is CLASSIC,
        places={PLACE: 0},
        others=(OTHER,) if protocol is CLASSIC else (),
    )
    commits = [(PLACE, time, offset) for time, offset in [*times, (at + 2, then)]]
    commits += [(OTHER, time, 0) for time in range(3, 55 if "busy" in name else round(at), 5)]
    view = Commits.of((place, round(time * 1e6), offset, offset) for place, time, offset in commits)
    assert judge(gone, view).cause.value == verdict
