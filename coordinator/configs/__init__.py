"""Settings of the broker, of topics and of groups: which Kafka knows, what was set, and what counts.

`definitions`   every setting of Kafka 4.3.1, from `kafka.tsv`: its type, its default, which values are valid
`dynamic`       what was set while the server runs, kept beside the topics
`topics`        what counts for a topic: its own settings over the broker's
"""
