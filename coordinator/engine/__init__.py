"""A group coordinator without I/O.

Requests come in with the time and with an id to use; answers, records and deadlines come out. Nothing in here has a
clock, a socket or randomness of its own. Hard state, what a restart must bring back, changes only when a record
is replayed: running and recovering are one path.

    engine.handle(call) -> Result      what to append, and whom to answer
    engine.replay(record)              the only way hard state changes
    engine.next_deadline() -> ms       when to call expire
    engine.expire(now_ms) -> Result
"""
