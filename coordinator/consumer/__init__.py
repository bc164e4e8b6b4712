"""The member's side of both protocols, without I/O.

Every input contains the time, outputs are taken with `take`. As in Java's consumer, the application's thread polls and
a background thread heartbeats (`wake`). Requests are shared: docs/decisions/shared-request-classes.md."""
