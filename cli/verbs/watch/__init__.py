"""Repeated observation: a command with --watch, and `kohort watch`."""
