"""The member's side of both protocols, without I/O: what a Java or librdkafka consumer does in `poll` and beside it.

Theory of operation. A member is told the time with every input and answers with outputs, which the driver takes
(`Member.take`) and carries out. It has two threads as Java's consumer has: the application's, which is in `poll`, in a
callback of the rebalance listener, or elsewhere (`enter_poll`, `leave_poll`, `called_back`), and one in the background
that heartbeats (`wake`, as soon as `next_deadline` has come). Answers arrive by `answered`; a request whose
connection broke or that timed out ends with `failed`. Nothing here has a clock, a socket or randomness.

    classic_member      a consumer of the classic protocol (KIP-568): `poll` and `close`
    classic_rebalance   what happens between two generations: JoinGroup, SyncGroup, callbacks (KIP-429)
    classic_membership  Heartbeat, max.poll.interval.ms, and how it falls out of the group
    consumer_member     ConsumerGroupHeartbeat (KIP-848): joining, staying, leaving
    reconciling_member  what that assigns, step by step, in `poll`
    committing_member   what members of both protocols do with offsets: OffsetCommit, OffsetFetch
    member              what else they have in common: inputs, requests and their answers, the coordinator, callbacks
    assignments         the target, and what of it is carried out
    heartbeat_fields    what a heartbeat says
    local_assignor      client-side assignors, which Kafka never shipped
    leader              what a leader computes between JoinGroup and SyncGroup
    library             what Java's and librdkafka's consumers do differently

Requests and answers are those of `coordinator.engine`: see docs/decisions/shared-request-classes.md.
"""
