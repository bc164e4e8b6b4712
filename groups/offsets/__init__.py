"""Changes of committed offsets, computed before anything is sent: the current and the new offsets."""
