"""Texts about what Kafka's groups are and do: `kohort help TOPIC`."""
