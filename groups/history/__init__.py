"""What happened to a group: its rebalances with their causes, and owners over time, from its records."""
