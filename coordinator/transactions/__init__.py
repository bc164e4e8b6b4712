"""The transaction coordinator (KIP-98, KIP-360, KIP-890): who may write under a transactional id, and how it ends.

`coordinator` decides, without I/O and with the time as an argument; `log` keeps what it decided in
`__transaction_state-N`, in Kafka's records.
"""
