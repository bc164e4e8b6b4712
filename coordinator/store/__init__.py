"""What the coordinator knows, as `__consumer_offsets` records in a broker's files."""
