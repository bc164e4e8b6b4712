"""Whether a subscription regex means the same to the client and to the broker, for every name a topic may have."""
