"""The member's side of both protocols, without I/O. Every input (`ClientMember`'s methods) contains the time; outputs
are taken with `take`. Like Java's consumer it has the application's thread, in or outside `poll`, and a background
thread that heartbeats (`wake`). Requests are those of `coordinator.engine`:
docs/decisions/shared-request-classes.md."""
