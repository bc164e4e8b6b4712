"""Kafka's assignors, exactly: pure functions on numpy."""
