"""The journal of changes: its files and their lines."""
