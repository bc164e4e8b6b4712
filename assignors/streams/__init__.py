"""The tasks of Kafka Streams on the classic protocol: what StreamsPartitionAssignor computes at the leader (4.3.1)."""

STREAMS = "stream"
"""The name of StreamsPartitionAssignor in the classic protocol. It assigns tasks, not partitions."""
