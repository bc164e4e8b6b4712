"""Committed offsets: commit, fetch, delete, expire, and the offsets of open transactions."""
