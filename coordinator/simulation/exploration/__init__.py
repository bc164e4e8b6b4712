"""The exploration (model checking) of a small group: every interleaving of the real engine and the real members.
Time does not pass: a heartbeat can be sent at any moment, and a session expires in a separate step."""
