"""What both sticky assignors share: settle the claims, then the algorithm that fits the subscriptions.

Static members are dynamic ones here: Java's sticky assignors do not look at instance ids. A real leader's assignor
remembers the highest generation that it ever saw; this one is fresh.

Source: AbstractStickyAssignor.assignPartitions (Kafka 4.3.1).
"""

from __future__ import annotations

import numpy as np

from assignors.java.sticky_claims import settle
from assignors.java.sticky_equal import assign_equal
from assignors.java.sticky_general import assign_general
from assignors.java.sticky_group import StickyGroup
from assignors.java.sticky_holdings import Holdings, Outcome
from assignors.java.sticky_racks import racks_of


def assign_sticky(question: StickyGroup) -> Outcome:
    """`withheld` is set where the subscriptions are equal."""
    if not question.member_count:
        return Outcome(Holdings(np.full(question.id_count, -1, dtype=np.int64)))
    settled, racks = settle(question), racks_of(question)
    if question.all_equal:
        return Outcome(assign_equal(question, settled, racks))
    return assign_general(question, settled, racks)
