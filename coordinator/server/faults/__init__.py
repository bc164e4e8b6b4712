"""Fault injection: failures that the server causes on request (`coordinator.faults`)."""
