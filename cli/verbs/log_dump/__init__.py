"""Records read by `kohort log dump`, and its output formats."""
