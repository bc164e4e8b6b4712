"""The journal of changes: its files, and what stands in them."""
