"""The partitions of topics: the records that clients write and read.

    partition.append(records, now_ms=…)     validates, assigns offsets, and notifies waiting readers
    partition.read(offset, …)               whole batches, as they were sent

Batches stay as a producer made them, compressed or not: only their base offset and leader epoch are set. No event loop,
no socket, and the clock is an argument.
"""
