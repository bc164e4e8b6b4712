"""The consumer protocol (KIP-848): ConsumerGroupHeartbeat, and what the coordinator works out for it."""
