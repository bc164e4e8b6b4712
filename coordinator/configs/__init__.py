"""Configs of brokers, topics and groups: definitions, overrides, and effective values.

`definitions`   every config of Kafka 4.3.1, from `kafka.tsv`: type, default and valid values
`stored`        the configs set while the server runs, stored with the topics
`topics`        the effective configs of a topic: its overrides, then the broker's
"""
