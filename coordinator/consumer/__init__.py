"""The member's side of both protocols, without I/O: the work of a Java or librdkafka consumer in and around `poll`.
Every input of a member contains the time; the member answers with outputs, which the driver takes
(`ClientMember.take`) and handles. It has two threads, like Java's consumer: the application's, which is in `poll`, in
a callback of the rebalance listener, or elsewhere (`enter_poll`, `leave_poll`, `called_back`), and a background
thread that heartbeats (`wake`, as soon as `next_deadline` has come). Answers are passed to `answered`, requests that
timed out or whose connection was lost to `failed`. Requests and answers are those of `coordinator.engine`: see
docs/decisions/shared-request-classes.md."""
