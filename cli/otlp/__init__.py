"""Metrics that Kohort pushes over OTLP/HTTP, with the extra `otlp`."""
