"""The journal of changes: what Kohort changed in a cluster, and what it replaced."""
