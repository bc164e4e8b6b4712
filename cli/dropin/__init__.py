"""`kohort-consumer-groups`: the command line of kafka-consumer-groups.sh.

Every flag, column, blank and message is that of the tool of Kafka 4.3.1; docs/kafka-consumer-groups.md has the table of
what differs on purpose. `parse` turns arguments into `Options`, `main` opens the cluster, and each action has a module
with `run(options, source) -> exit status`, which prints as the tool does: answers and errors on stdout, remarks on
stderr.
"""
