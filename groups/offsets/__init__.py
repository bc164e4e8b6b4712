"""Changes of committed offsets, computed first, by the rules of kafka-consumer-groups.sh (`OffsetsUtils` of 4.3)."""
