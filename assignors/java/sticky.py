"""Java's sticky assignor: balanced first, then as few moves as possible; eager.

Members say what they own in the user data of their subscription: `DenseGroup.user_data`, V1 with a generation, V0
without. The generation of the subscription itself (`DenseGroup.owned.generations`) judges the rivals of a claim; what
stands in `owned` otherwise is ignored.

`assign_sticky` is what both sticky assignors share: grant the claims, then run the algorithm that fits the
subscriptions. Static members are treated as dynamic ones: Java's sticky assignors ignore instance ids. A real leader's
assignor remembers the highest generation that it ever saw; this one is fresh.

Source: org.apache.kafka.clients.consumer.StickyAssignor, AbstractStickyAssignor.assignPartitions (Kafka 4.3.1); KIP-54.
"""

from __future__ import annotations

import numpy as np

from assignors.java.sticky_claims import Holdings, StickyOutcome, grant_claims
from assignors.java.sticky_equal import assign_equal
from assignors.java.sticky_general import assign_general
from assignors.java.sticky_question import StickyQuestion, racks_of
from assignors.model import DenseGroup, Result


def assign(group: DenseGroup) -> Result:
    """Assign; raises AssignorFailedError with Java's message where Java throws."""
    question = StickyQuestion(
        group=group, claims=group.user_data.partitions, since=group.user_data.generations
    )
    outcome = assign_sticky(question)
    return Result(assignment=outcome.held.assignment(question), undetermined=outcome.undetermined)


def assign_sticky(question: StickyQuestion) -> StickyOutcome:
    """`withheld` is set where the subscriptions are equal."""
    if not question.member_count:
        return StickyOutcome(Holdings(np.full(question.id_count, -1, dtype=np.int64)))
    settled, racks = grant_claims(question), racks_of(question)
    if question.all_equal:
        return StickyOutcome(assign_equal(question, settled, racks))
    return assign_general(question, settled, racks)
