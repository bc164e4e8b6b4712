"""Looking again and again: a command repeated, and groups watched while they rebalance."""
