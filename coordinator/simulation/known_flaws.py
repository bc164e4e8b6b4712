"""Weaknesses of Kafka's own rules that break an invariant: what the simulation has found, and keeps apart by name."""

from __future__ import annotations

LATE_COMMIT = "late-commit"
"""A commit whose connection was lost is handled after a later one of the same member, or after the member has given the
partition up: nothing in OffsetCommit orders the commits of one generation or epoch, so the offset goes back, or another
member's is overwritten (I7)."""

CREATED_ANEW = "created-anew"
"""A topic is deleted and created anew. KIP-848 gives its partitions on by the new id, at once, while the former owner
still has those of the old one, which have the same names (I1, I2); offsets that were committed late for the old
one are beyond the end of the new one, and go back (I7)."""

ASSIGNED_AFTER_REPORT = "assigned-after-report"
"""A member of the consumer protocol is about to take over partitions (it commits first, or its listener has its time)
when a lost connection makes it report in full what it owns: not those. The coordinator, whose target has moved on,
takes them back as if they were released and gives them on; the member completes what it has begun, and owns them until
it reconciles with the answer (I1, I2)."""

STRAY_CLAIM = "stray-claim"
"""A member claims a partition that does not exist any more, as its topic was created anew with fewer. Java's sticky
assignors do not compare claims with the metadata, and where the members subscribe to different topics the claimant
keeps it (I4), and other partitions are given to two members, or twice to one (I5; then I1, I2, I4, I7), for as long as
the claims are kept. The claimant cannot commit what does not exist, and tries to before each rebalance until its group
puts it out (I4, I10); where the members subscribe to the same topics, the leader's assignor may fail, and the group
puts the leader out (I10). So it is with a sticky claim of a topic that the member has left: it is given what it does
not subscribe to (I5), and joins again at once, and again (I10, I4). librdkafka's keeps a claim of a topic that was
deleted. Real consumers show the first in the stories topic-recreated and gone-committed, Java's own class the other."""

RETURNED_LEADER = "returned-leader"
"""A static leader comes back to a Stable group: the assignment stays, and the leader watches the topics from then on
(KIP-814). What had changed of them since the assignment nobody notices: new partitions have no owner, and those that
are gone stay assigned, until the next rebalance (I4). Real consumers show it in the story static-leader-returns."""

DOWNGRADED_WITHOUT_LEADER = "downgraded-without-leader"
"""A consumer group becomes a classic one as a static member takes its own place: it is Stable at once, and no member is
told that it leads. Nobody notices that topics change until the next rebalance: new partitions have no owner, and those
that are gone stay assigned (I4). Real consumers show it in the story downgrade-static."""

DOWNGRADED_WHILE_RECONCILING = "downgraded-while-reconciling"
"""A consumer group becomes a classic one as a static member takes its own place, and it is Stable at once, with the
target for its assignment. A classic member that was to get partitions of the target as soon as others had given them
up is not told: it would have to synchronize, and its heartbeats are answered without an error. Those partitions have no
owner until the next rebalance (I4)."""

DOWNGRADE_FORGOTTEN = "downgrade-forgotten"
"""A consumer group becomes a classic one as the last member of the consumer protocol leaves. The group is to rebalance
at once, but only its coordinator knows that: another one that loads the group before finds it Stable. What the member
that left had has no owner until the next rebalance (I4)."""

RESTARTED_WHILE_REVOKING = "restarted-while-revoking"
"""A static member of a cooperative group is told to give partitions up, and its process ends before it joins again. It
comes back to a Stable group with the assignment of before: the second rebalance, which would give those partitions to
others, was to begin with it. They have no owner until the next rebalance (I4). It is the same where the group puts the
member out, and another coordinator loads the group before it has rebalanced: the member has lost everything, and comes
back to the Stable group of before. Real consumers show the former in the story static-killed-while-revoking."""

RESUBSCRIBED_UNNOTICED = "resubscribed-unnoticed"
"""A static member comes back to a Stable classic group within its session and subscribes to a topic that no member did
before. The group does not rebalance where the assignor stays the same, so the topic has no consumer until the next
rebalance (I4). Real consumers show it in the story static-resubscribed."""

MISSED_REBALANCE = "missed-rebalance"
"""A static member does not join in time: the group goes on, and keeps it as a member with the claims of its last
JoinGroup, so that what it got since is given to others. It is not told: it joins the next generation as if it had
missed nothing, and owns those partitions until it is assigned (I1, I2, I7). Real consumers show it in the story
static-misses-rebalance."""

LATE_REPORT = "late-report"
"""A heartbeat of the consumer protocol that joined, or reported in full what the member owned, is handled late:
it is at the member's epoch, or at 0, and so the coordinator takes for given up what the member has by now (I1, I2, I7).
"""

UNHEARD_ASSIGNMENT = "unheard-assignment"
"""A plain heartbeat of the consumer protocol is handled late, after the full one of the next connection, and takes an
assignment along that nobody hears of. Further plain ones are answered that nothing has changed: the member never
learns of it, until the group changes or a connection is lost again (I4)."""

LATE_JOIN = "late-join"
"""A JoinGroup is handled late, or once more: it joins the next generation for its member, with the claims that it had
then, so that a cooperative leader gives away what the member has got since (I1, I2, I7)."""

UPGRADED_WHILE_REBALANCING = "upgraded-while-rebalancing"
"""A classic group is upgraded while its members own more than the group knows of; the upgrade takes what the group
knows for all that they have, and the rest is given on at once (I1, I2). The classic protocol would have waited for them
to join again. It is so between the two rebalances of the cooperative protocol, as the leader's assignment no longer has
what a member is to give up; and in a rebalance that began before the leader had assigned anything in the one before, as
that clears the assignments of all members."""

UPGRADED_WITHOUT_TARGET = "upgraded-without-target"
"""A classic group is upgraded by a static member that takes its predecessor's place. No subscription changes, so the
group epoch stays, and the target is what the classic leader had assigned. Members that had joined since are assigned
nothing, partitions of members that had left have no owner, and nobody is told to give up those of topics that had been
deleted, which the upgrade leaves out, until something else moves the group epoch or, where the group is downgraded
again, until the next rebalance (I4). Real consumers show the deleted topics in the story upgrade-topic-deleted."""

GONE_TAKEN_OVER = "gone-taken-over"
"""A classic group is upgraded after a topic was created anew with fewer partitions and before its leader has assigned
those that there are. The upgrade takes over partitions that do not exist. The uniform assignor counts them as their
owner's share and fails: whoever needs a new target is answered UNKNOWN_SERVER_ERROR (I9). Where none is needed, they
stay assigned (I4)."""

ASSIGNED_TOO_LATE = "assigned-too-late"
"""An `assigned` of Java's consumer of the new protocol waits for `poll` while the member leaves, or is fenced: it is
called nevertheless, of partitions that are another's by then, and `lost`, which was worked out before, does not name
them. The listener is assigned them and never learns that they are gone (I6). Real consumers show it in the stories
assigned-late and lost-not-all."""

REJOINED_UNNOTICED = "rejoined-unnoticed"
"""A member of the classic protocol was removed from a consumer group and has not heard of it. Its next JoinGroup is
taken as a newcomer's, under its old id and without an error: it keeps what others were given meanwhile until its next
assignment (I1, I2, I7). Where the group was empty meanwhile, and began anew, its epoch goes back (I3)."""
