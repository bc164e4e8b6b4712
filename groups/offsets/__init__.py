"""Changes of committed offsets, computed before anything is sent: the current and the new offsets.

Pure, by the rules of kafka-consumer-groups.sh of Kafka 4.3 (`ConsumerGroupCommand`, `OffsetsUtils`).
"""
