"""Weaknesses of Kafka's own rules that violate an invariant, found by the simulation; each is reported by its name."""

from __future__ import annotations

LATE_COMMIT = "late-commit"
"""A commit whose connection was lost is handled after a later one of the same member, or after the member has revoked
the partition: OffsetCommit does not order the commits of one generation or epoch, so the offset decreases, or another
member's is overwritten (I7)."""

TOPIC_RECREATED = "created-anew"
"""A topic is deleted and recreated. KIP-848 assigns its partitions by the new id, at once, while the former owner
still has the partitions of the old topic, which have the same names (I1, I2). Offsets that were committed late for
the old topic are beyond the end of the new one, and decrease (I7)."""

ASSIGNED_AFTER_REPORT = "assigned-after-report"
"""A consumer member is about to acquire partitions (it commits first, or its listener is running) when a lost
connection makes it report in full what it owns, without these partitions. The coordinator, whose target has changed,
treats them as released and assigns them to others. The member completes what it has started, and owns them until it
reconciles with the answer (I1, I2)."""

STRAY_CLAIM = "stray-claim"
"""A member claims a partition that does not exist any more, as its topic was recreated with fewer partitions. Java's
sticky assignors do not compare claims with the metadata: if the members subscribe to different topics, the claimant
keeps it (I4), and other partitions are assigned to two members, or twice to one (I5; then I1, I2, I4, I7), as long as
the claims are kept. The claimant cannot commit the offset of a deleted partition, and retries before each rebalance
until its group removes it (I4, I10); if the members subscribe to the same topics, the leader's assignor may fail, and
the group removes the leader (I10). The same happens with a sticky claim of a topic that the member no longer
subscribes to: the member is assigned that topic (I5), and rejoins at once, repeatedly (I10, I4). librdkafka's
assignor keeps a claim of a deleted topic. Real consumers show the first case in the stories topic-recreated and
gone-committed, Java's own class shows the second."""

RETURNED_LEADER = "returned-leader"
"""A static leader rejoins a Stable group: the assignment stays, and the leader watches the topics from then on
(KIP-814). Changes of topics since the assignment go unnoticed: new partitions have no owner, and deleted ones stay
assigned, until the next rebalance (I4). Real consumers show it in the story static-leader-returns."""

DOWNGRADED_WITHOUT_LEADER = "downgraded-without-leader"
"""A consumer group becomes a classic one when a static member is replaced: it is Stable at once, and no member learns
that it is the leader. Topic changes go unnoticed until the next rebalance: new partitions have no owner, and deleted
ones stay assigned (I4). Real consumers show it in the story downgrade-static."""

DOWNGRADED_WHILE_RECONCILING = "downgraded-while-reconciling"
"""A consumer group becomes a classic one when a static member is replaced, and it is Stable at once, with the target
as its assignment. A classic member that would have received partitions of the target once others had released them is
not notified: it would have to sync, but its heartbeats are answered without an error. These partitions have no owner
until the next rebalance (I4)."""

DOWNGRADE_FORGOTTEN = "downgrade-forgotten"
"""A consumer group becomes a classic one when the last consumer member leaves. The group must rebalance at once, but
only its coordinator knows that: another one that loads the group first finds it Stable. The partitions of the member
that left have no owner until the next rebalance (I4)."""

RESTARTED_WHILE_REVOKING = "restarted-while-revoking"
"""A static member of a cooperative group is asked to revoke partitions, and its process stops before it rejoins. It
returns to a Stable group with the previous assignment: its JoinGroup would have started the second rebalance, which
would have assigned these partitions to others. They have no owner until the next rebalance (I4). The same happens if
the group removes the member, and another coordinator loads the group before it has rebalanced: the member has lost
everything, and returns to the former Stable group. Real consumers show the first case in the story
static-killed-while-revoking."""

RESUBSCRIBED_UNNOTICED = "resubscribed-unnoticed"
"""A static member rejoins a Stable classic group within its session and subscribes to a topic that no member subscribed
to before. The group does not rebalance if the assignor stays the same, so the topic has no consumer until the next
rebalance (I4). Real consumers show it in the story static-resubscribed."""

MISSED_REBALANCE = "missed-rebalance"
"""A static member does not rejoin in time: the group continues, and keeps it as a member with the claims of its last
JoinGroup, so that partitions it received since are assigned to others. The member is not notified: it joins the next
generation as if it had missed nothing, and owns these partitions until it gets its assignment (I1, I2, I7). Real
consumers show it in the story static-misses-rebalance."""

LATE_REPORT = "late-report"
"""A consumer heartbeat that joined, or reported in full what the member owned, is handled late: it has the member's
epoch, or 0, so the coordinator treats the member's current partitions as released (I1, I2, I7)."""

UNHEARD_ASSIGNMENT = "unheard-assignment"
"""A plain consumer heartbeat is handled late, after the full heartbeat of the next connection, and its answer, which
contains an assignment, is lost. Further plain heartbeats are answered without an assignment: the member never
receives it, until the group changes or a connection is lost again (I4)."""

LATE_JOIN = "late-join"
"""A JoinGroup is handled late, or twice: it joins the next generation for its member, with outdated claims, so that a
cooperative leader assigns what the member has received since to others (I1, I2, I7)."""

UPGRADED_WHILE_REBALANCING = "upgraded-while-rebalancing"
"""A classic group is upgraded while its members own more than the group knows of. The upgrade converts only what the
group knows, and the rest is assigned to others at once (I1, I2). The classic protocol would have waited for the
members to rejoin. This happens between the two rebalances of the cooperative protocol, as the leader's assignment no
longer contains what a member must revoke; and in a rebalance that started before the leader had assigned anything in
the previous one, as its start clears the assignments of all members."""

UPGRADED_WITHOUT_TARGET = "upgraded-without-target"
"""A classic group is upgraded by a static member that replaces its predecessor. No subscription changes, so the group
epoch stays, and the target is the classic leader's assignment. Members that had joined since are assigned nothing,
partitions of members that had left have no owner, and no member is asked to revoke partitions of deleted topics,
which the upgrade omits. This lasts until something else bumps the group epoch or, if the group is downgraded again,
until the next rebalance (I4). Real consumers show the deleted topics in the story upgrade-topic-deleted."""

GONE_TAKEN_OVER = "gone-taken-over"
"""A classic group is upgraded after a topic was recreated with fewer partitions and before its leader has assigned
the existing ones. The upgrade converts partitions that do not exist. The uniform assignor counts them in their
owner's share and fails: a member that needs a new target is answered UNKNOWN_SERVER_ERROR (I9). If no member needs
one, they stay assigned (I4)."""

ASSIGNED_TOO_LATE = "assigned-too-late"
"""An `assigned` of Java's consumer of the new protocol waits for `poll` while the member leaves, or is fenced. It is
still called, with partitions that belong to another member by then, and `lost`, which was computed before, does not
name them. The listener is assigned them and never learns that they are lost (I6). Real consumers show it in the
stories assigned-late and lost-not-all."""

REJOINED_UNNOTICED = "rejoined-unnoticed"
"""A classic member was removed from a consumer group and does not know it. Its next JoinGroup is accepted as a new
member's, with its old id and without an error: it keeps partitions that were meanwhile assigned to others until its
next assignment (I1, I2, I7). If the group was empty meanwhile, and started over, its epoch decreases (I3)."""
