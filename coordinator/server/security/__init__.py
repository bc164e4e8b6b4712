"""Authentication and authorization: TLS, SASL and ACLs, with the rules of Kafka's broker."""
