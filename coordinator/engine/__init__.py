"""A group coordinator without I/O.

Inputs are requests, each with the time and a fresh id; outputs are answers, records and deadlines. Nothing here has a
clock, a socket or randomness. Hard state, which must survive a restart, changes only when a record is replayed: running
and recovering use the same code.

    engine.handle(call) -> CoordinatorResult      the records to append, and the answers to send
    engine.replay(record)              the only way hard state changes
    engine.next_deadline() -> ms       when to call expire
    engine.expire(now_ms) -> Result
"""
