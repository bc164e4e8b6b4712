"""The coordinator's storage: `__consumer_offsets` records in a broker's files."""
