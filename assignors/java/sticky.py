"""Java's sticky assignor: balanced first, then as few moves as possible; eager.

Members say what they own in the user data of their subscription: `DenseGroup.user_data`, V1 with a generation, V0
without. The generation of the subscription itself (`DenseGroup.owned.generations`) judges the rivals of a claim; what
stands in `owned` otherwise is not looked at.

Source: org.apache.kafka.clients.consumer.StickyAssignor (Kafka 4.3.1); KIP-54.
"""

from __future__ import annotations

from assignors.assignor import Assignor, Leader, RebalanceProtocol, Side
from assignors.java.sticky_core import assign_sticky
from assignors.java.sticky_group import StickyGroup
from assignors.model import DenseGroup, Result


def assign(group: DenseGroup) -> Result:
    """Assign; raises AssignorFailedError with Java's message where Java throws."""
    question = StickyGroup.of(group, group.user_data.partitions, group.user_data.generations)
    outcome = assign_sticky(question)
    return Result(assignment=outcome.held.assignment(question), undetermined=outcome.undetermined)


ASSIGNORS = (
    Assignor(
        name="sticky",
        side=Side.CLIENT,
        leader=Leader.JAVA,
        protocols=frozenset({RebalanceProtocol.EAGER}),
        assign=assign,
    ),
)
