"""The partitions of topics: the records that clients write and read. Batches stay as a producer made them: only
their base offset and leader epoch are set. No event loop, no socket, and the clock is an argument."""
