"""The cost of a group's past, as its log shows it."""

from collections.abc import Iterable
from dataclasses import dataclass

from groups.history.events import Holding, PastRebalance, Protocol

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCost:
    """The cost of a period. `without_owner_s` is the sum over all partitions."""

    rebalances: int
    moved: int
    without_owner_s: float


def rebalanced_at(rebalance: PastRebalance) -> int:
    """When the record of a rebalance was written, in µs: at its end in a classic group, at its start in a consumer
    group."""
    times = (rebalance.end, rebalance.start)
    return next(
        (time for time in times[:: 1 if rebalance.protocol is Protocol.CLASSIC else -1] if time is not None),
        0,
    )


def cost_of(
    rebalances: Iterable[PastRebalance], holdings: Iterable[Holding], since: int, until: int
) -> PastCost:
    """The cost from `since` until `until`, in µs since 1970. A partition without an owner at the end waits until it."""
    counted = [rebalance for rebalance in rebalances if since <= rebalanced_at(rebalance) <= until]
    waited = sum(
        max(0, min(until, until if holding.until is None else holding.until) - max(since, holding.since))
        for holding in holdings
        if holding.member is None
    )
    return PastCost(
        rebalances=len(counted),
        moved=sum(rebalance.moved for rebalance in counted),
        without_owner_s=waited / _SECOND_US,
    )
