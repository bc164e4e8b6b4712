"""Records of `__consumer_offsets` as rows of the table of events: the decoders of `coordinator.store`, as columns."""
