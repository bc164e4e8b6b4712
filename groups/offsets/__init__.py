"""Changes of committed offsets, computed before anything is sent: the current and the new offsets.

Pure: the offsets of the logs and the time are arguments. The rules are those of kafka-consumer-groups.sh of Kafka 4.3
(`ConsumerGroupCommand`, `OffsetsUtils`), so that the same request results in the same offsets.
"""
