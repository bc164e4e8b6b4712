"""Configs of brokers, topics and groups: definitions, overrides, and effective values.

`settings`      what is configured here: the fields of brokers, the coordinator and groups, with their defaults
`properties`    the reader of a broker's properties file
`definitions`   every config of Kafka 4.4.0, from `kafka.tsv`: type, default and valid values
`effective`     the effective configs of brokers, topics and groups
"""
