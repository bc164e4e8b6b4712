"""The server: it accepts connections of real Kafka clients to the embedded coordinator."""
