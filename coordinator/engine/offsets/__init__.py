"""Committed offsets: commit, fetch, delete, expire, and those of open transactions."""
