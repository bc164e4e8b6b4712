"""No verdict on a departed member is wrong, whatever happened to its group; a group that is followed gets the same."""

from __future__ import annotations

from collections import Counter

import pytest

from groups.history.causes import RebalanceCause
from groups.history.course import GroupHistory
from groups.history.departures import NOTHING
from groups.history.events import GroupEvent
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
    assert counts["with its settings", "unknown"] < counts.total() / 4


@pytest.mark.parametrize("seed", SEEDS[:10])
def test_a_group_that_is_followed_has_the_same_course(seed: int) -> None:
    group = SimulatedGroup(seed)
    followed = GroupHistory(GROUP, group.knowledge)
    settled = []
    for item in group.log:
        if isinstance(item, GroupEvent):
            followed.add(item)
            settled.append(followed.settled(item.time))
        else:
            place, time, offset, _ = item
            followed.commit(place, time, offset)
    settled.append(followed.finish())
    course = group.course(group.knowledge)
    rebalances = [rebalance for part in settled for rebalance in part.rebalances]
    assert sorted(rebalances, key=lambda rebalance: rebalance.offset) == list(course.rebalances)
    holdings = [holding for part in settled for holding in part.holdings]
    assert sorted(holdings, key=lambda holding: (holding.since, holding.place)) == list(course.holdings)
