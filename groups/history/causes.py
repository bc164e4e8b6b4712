"""The causes of a rebalance, from the records of its group."""

from collections.abc import Collection
from enum import StrEnum


class RebalanceCause(StrEnum):
    """Why there is a new generation or group epoch; of several causes, the first in this order is the cause.
    CONVERSION: to the other protocol, or the rebalance after converting back. UNKNOWN: a member departed, and nothing
    proves whether it left or its session expired; or nothing changed, or the first row of a group that is older than
    its log. METADATA: other partitions than before."""

    CONVERSION = "conversion"
    EXPIRY = "expiry"
    LEAVE = "leave"
    UNKNOWN = "unknown"
    JOIN = "join"
    ASSIGNOR = "assignor"
    SUBSCRIPTION = "subscription"
    METADATA = "metadata"


Causes = tuple[RebalanceCause, ...]  # at least one cause, in the order of `RebalanceCause`


def of_generation(
    changes: Collection[RebalanceCause], *, before: Causes, hands_out_withheld: bool, other_partitions: bool
) -> Causes:
    """The causes of a classic group's generation, whose predecessor had the causes `before`. `changes`: of members,
    their topics and the assignor; UNKNOWN for departures, which `groups.history.departures` judges later.
    `hands_out_withheld`: only partitions that the generation before withheld are newly assigned. `other_partitions`:
    others are assigned than before."""
    if changes:
        return in_order(changes)
    if RebalanceCause.CONVERSION in before:
        # A group that is converted back because a member left rebalances right afterwards.
        return (RebalanceCause.CONVERSION,)
    if hands_out_withheld:
        return before
    return (RebalanceCause.METADATA if other_partitions else RebalanceCause.UNKNOWN,)


def of_epoch(changes: Collection[RebalanceCause], *, gap: bool) -> Causes:
    """The causes of a consumer group's epoch. `changes`: since the epoch before; incomplete after a `gap`."""
    if set(changes) - {RebalanceCause.METADATA, RebalanceCause.ASSIGNOR}:
        # Regexes are resolved for the members that join with them.
        changes = set(changes) - {RebalanceCause.METADATA}
    # An epoch without changes of members is caused by a change of topics or partitions.
    return in_order(changes) or (RebalanceCause.UNKNOWN if gap else RebalanceCause.METADATA,)


def in_order(causes: Collection[RebalanceCause]) -> Causes:
    return tuple(cause for cause in RebalanceCause if cause in causes)
