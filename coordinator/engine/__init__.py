"""A group coordinator without I/O.
Inputs are requests, each with the time and a fresh id; outputs are answers, records and deadlines. Nothing here has a
clock, a socket or randomness. Hard state, which must survive a restart, changes only when a record is replayed:
running and recovering use the same code."""
