"""Weaknesses of Kafka's own rules that violate an invariant, each reported by its name; docs/kafka-weaknesses.md
describes them. After each name: the invariants that it violates, and what that page omits."""

LATE_COMMIT = "late-commit"
"""I7: a commit is handled after a later one, or after a revocation; a lost connection does not order them."""

TOPIC_RECREATED = "created-anew"
"""I1, I2 by the new id; I7: offsets that were committed late for the old topic decrease."""

ASSIGNED_AFTER_REPORT = "assigned-after-report"
"""I1, I2, until the member reconciles with the answer; a lost connection makes it report in full."""

STRAY_CLAIM = "stray-claim"
"""I4 and, as long as claims are kept, I5 and then I1, I2, I7, with different subscriptions; I10 if the leader fails, or
retries the commit of a deleted partition (I4) until it is removed. Stories topic-recreated and gone-committed."""

RETURNED_LEADER = "returned-leader"
"""I4, for changes of topics since the assignment (KIP-814); story static-leader-returns."""

DOWNGRADED_WITHOUT_LEADER = "downgraded-without-leader"
"""I4, for changes of topics until the next rebalance; story downgrade-static."""

DOWNGRADED_WHILE_RECONCILING = "downgraded-while-reconciling"
"""I4: members of the target would have to sync, but their heartbeats are answered without an error."""

DOWNGRADE_FORGOTTEN = "downgrade-forgotten"
"""I4: that the group must rebalance is known only to its coordinator."""

RESTARTED_WHILE_REVOKING = "restarted-while-revoking"
"""I4: the second rebalance does not start; likewise if the group removes the member and another coordinator loads it
before it has rebalanced. Story static-killed-while-revoking."""

RESUBSCRIBED_UNNOTICED = "resubscribed-unnoticed"
"""I4: no rebalance if the assignor stays the same; story static-resubscribed."""

MISSED_REBALANCE = "missed-rebalance"
"""I1, I2, I7 until the member gets its assignment; story static-misses-rebalance."""

LATE_REPORT = "late-report"  # I1, I2, I7: the member's current partitions count as released
UNHEARD_ASSIGNMENT = "unheard-assignment"  # I4, until the group changes or a connection is lost again
LATE_JOIN = "late-join"  # I1, I2, I7: also if it is handled twice
UPGRADED_WHILE_REBALANCING = "upgraded-while-rebalancing"
"""I1, I2: between the two cooperative rebalances, or in one that started before the leader of the previous generation
had assigned anything, as its start clears all assignments."""

UPGRADED_WITHOUT_TARGET = "upgraded-without-target"
"""I4: the target is the classic leader's assignment until the group epoch increases; story upgrade-topic-deleted."""

GONE_TAKEN_OVER = "gone-taken-over"
"""I9: the uniform assignor counts deleted partitions in their owner's share, and fails; I4 if no target is needed."""

ASSIGNED_TOO_LATE = "assigned-too-late"
"""I6: `lost` was computed before, and does not name the partitions; stories assigned-late and lost-not-all."""

REJOINED_UNNOTICED = "rejoined-unnoticed"
"""I1, I2, I7, until the member's next assignment; I3 if the group was empty meanwhile, and started over."""

LOST_AGAIN = "lost-again"
"""I6: `close` calls `lost` with what `unsubscribe` has revoked; story unsubscribe-all."""

ASSIGNED_BY_HAND = "assigned-by-hand"
"""I7: its commits count as the member's; story assign-while-subscribed."""
