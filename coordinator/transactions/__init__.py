"""The transaction coordinator (KIP-98, KIP-360, KIP-890): `coordinator` decides, without I/O and with the time as
an argument; `log` stores its decisions in `__transaction_state-N`, in Kafka's records."""
