"""Java's cooperative-sticky assignor: like sticky, but it withholds partitions that other members must revoke first.

Members report their partitions in the subscription: `DenseGroup.owned`. If there is no generation (subscriptions
before version 2), it is read from the user data, where a cooperative member sends nothing else. A withheld partition
has no owner until the next rebalance, when its old owner no longer claims it.

Withheld with equal subscriptions: partitions that one member must revoke and another gets, and partitions claimed
twice in one generation. Otherwise: partitions assigned to a member that does not claim them while a claimant does not
keep them, whatever its generation and subscription.

Source: org.apache.kafka.clients.consumer.CooperativeStickyAssignor (Kafka 4.3.1); KIP-429.
"""

from __future__ import annotations

import numpy as np

from assignors.java.sticky import assign_sticky
from assignors.java.sticky_claims import Holdings
from assignors.java.sticky_input import StickyInput
from assignors.model import DenseGroup, Ints, Result


def assign(group: DenseGroup) -> Result:
    """Assign; raises AssignorFailedError with Java's message if Java would throw."""
    sent = group.owned.generations
    since = np.where(sent >= 0, sent, group.user_data.generations)
    inputs = StickyInput(group=group, claims=group.owned.partitions, since=since)
    outcome = assign_sticky(inputs)
    held = outcome.held
    withheld = _still_claimed(inputs, held) if held.withheld is None else held.withheld
    held.owner[withheld] = -1
    return Result(assignment=held.assignment(inputs), undetermined=outcome.undetermined)


def _still_claimed(inputs: StickyInput, held: Holdings) -> Ints:
    """Partitions whose new owner does not claim them while a claimant does not keep them."""
    ids, claimants = inputs.claims.values, inputs.claims.row_of
    by_owner = held.owner[ids] == claimants
    kept = by_owner if held.first_copy is None else by_owner | (held.first_copy[ids] == claimants)
    lost = np.zeros(len(held.owner), dtype=bool)
    lost[ids[~kept]] = True
    lost[ids[by_owner]] = False
    return np.flatnonzero(lost)
