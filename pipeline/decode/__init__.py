"""Records of `__consumer_offsets` to rows of the table of events: the decoders of `coordinator.store`, as columns."""
