"""A group coordinator without I/O: inputs are requests, each with the time and a fresh id; outputs are answers,
records and deadlines. Hard state, which must survive a restart, changes only when a record is replayed."""
