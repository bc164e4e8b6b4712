"""Kafka's bytes, and a client; no groups."""
