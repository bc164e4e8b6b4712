"""Completion on the command line: scripts for the shells, and the names that they request."""
