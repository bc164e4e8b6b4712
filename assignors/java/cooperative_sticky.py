"""Java's cooperative-sticky assignor: the sticky one, withholding what somebody else has yet to give up.

Members say what they own in the subscription: `DenseGroup.owned`. Without a generation there (subscriptions before
version 2) it comes from the user data, where a cooperative member sends nothing else. A withheld partition belongs to
nobody until the next rebalance, when its old owner no longer claims it.

Which partitions are withheld: with equal subscriptions those handed to another member than the one they were cut from,
or claimed twice in one generation; otherwise those given to a member that does not claim them while a claimant does
not keep them, whatever its generation and subscription.

Source: org.apache.kafka.clients.consumer.CooperativeStickyAssignor (Kafka 4.3.1); KIP-429.
"""

from __future__ import annotations

import numpy as np

from assignors.java.sticky import assign_sticky
from assignors.java.sticky_claims import Holdings
from assignors.java.sticky_question import StickyQuestion
from assignors.model import DenseGroup, Ints, Result


def assign(group: DenseGroup) -> Result:
    """Assign; raises AssignorFailedError with Java's message where Java throws."""
    sent = group.owned.generations
    since = np.where(sent >= 0, sent, group.user_data.generations)
    question = StickyQuestion(group=group, claims=group.owned.partitions, since=since)
    outcome = assign_sticky(question)
    held = outcome.held
    withheld = _still_claimed(question, held) if held.withheld is None else held.withheld
    held.owner[withheld] = -1
    return Result(assignment=held.assignment(question), undetermined=outcome.undetermined)


def _still_claimed(question: StickyQuestion, held: Holdings) -> Ints:
    """Partitions whose new owner does not claim them while a claimant does not keep them."""
    ids, claimants = question.claims.values, question.claims.row_of
    by_owner = held.owner[ids] == claimants
    kept = by_owner if held.first_copy is None else by_owner | (held.first_copy[ids] == claimants)
    lost = np.zeros(len(held.owner), dtype=bool)
    lost[ids[~kept]] = True
    lost[ids[by_owner]] = False
    return np.flatnonzero(lost)
