"""The consumer protocol (KIP-848): ConsumerGroupHeartbeat, and the coordinator's computations for it."""
