"""Java's sticky assignor: balanced first, then as few moves as possible; eager.

Members report their partitions in the user data of their subscription: `DenseGroup.user_data`, V1 with a generation, V0
without. The generation of the subscription itself (`DenseGroup.owned.generations`) decides between rivals of a claim;
the rest of `owned` is ignored.

`assign_sticky` is the part that both sticky assignors share: grant the claims, then run the algorithm for the
subscriptions. Static members are treated as dynamic ones: Java's sticky assignors ignore instance ids. A real leader's
assignor remembers the highest generation that it ever saw; this one has no memory.

Source: org.apache.kafka.clients.consumer.StickyAssignor, AbstractStickyAssignor.assignPartitions (Kafka 4.3.1); KIP-54.
"""

from __future__ import annotations

import numpy as np

from assignors.java.sticky_claims import Holdings, StickyOutcome, grant_claims
from assignors.java.sticky_different_subscriptions import assign_general
from assignors.java.sticky_equal_subscriptions import assign_equal
from assignors.java.sticky_input import StickyInput, racks_of
from assignors.model import DenseGroup, Result


def assign(group: DenseGroup) -> Result:
    """Assign; raises AssignorFailedError with Java's message if Java would throw."""
    inputs = StickyInput(group=group, claims=group.user_data.partitions, since=group.user_data.generations)
    outcome = assign_sticky(inputs)
    return Result(assignment=outcome.held.assignment(inputs), undetermined=outcome.undetermined)


def assign_sticky(inputs: StickyInput) -> StickyOutcome:
    """Assign; `held.withheld` is set if the subscriptions are equal."""
    if not inputs.member_count:
        return StickyOutcome(Holdings(np.full(inputs.id_count, -1, dtype=np.int64)))
    granted, racks = grant_claims(inputs), racks_of(inputs)
    if inputs.all_equal:
        return StickyOutcome(assign_equal(inputs, granted, racks))
    return assign_general(inputs, granted, racks)
