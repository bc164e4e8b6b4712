"""The member's side of both protocols, without I/O: the work of a Java or librdkafka consumer in and around `poll`.

Theory of operation. Every input of a member contains the time; the member answers with outputs, which the driver
takes (`ClientMember.take`) and handles. It has two threads, like Java's consumer: the application's, which is in
`poll`, in a callback of the rebalance listener, or elsewhere (`enter_poll`, `leave_poll`, `called_back`), and a
background thread that heartbeats (`wake`, as soon as `next_deadline` has come). Answers are passed to `answered`,
requests that timed out or whose connection was lost to `failed`. Nothing here has a clock, a socket or randomness.

    classic_member      a consumer of the classic protocol (KIP-568): `poll` and `close`
    classic_rebalance   a rebalance between two generations: JoinGroup, SyncGroup, callbacks (KIP-429)
    classic_preparation whether a rebalance is due, and what is committed and revoked before it
    classic_membership  Heartbeat, max.poll.interval.ms, and involuntary loss of membership
    consumer_member     ConsumerGroupHeartbeat (KIP-848): joining and staying, and assigning on the client's side
    departing_member    leaving: `unsubscribe`, `close`, max.poll.interval.ms
    reconciling_member  reconciliation of its assignment, step by step, in `poll`
    committing_member   offsets in both protocols: OffsetCommit, OffsetFetch
    member              what both protocols share: inputs, requests and their answers, the coordinator, callbacks
    heartbeat_fields    the target assignment, the part of it that is reconciled, and what heartbeats report
    local_assignor      client-side assignors, which Kafka never shipped
    leader              the leader's computations between JoinGroup and SyncGroup
    library             the differences between client libraries

Requests and answers are those of `coordinator.engine`: see docs/decisions/shared-request-classes.md.
"""
