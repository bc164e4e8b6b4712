"""`kohort-consumer-groups`: the command line of kafka-consumer-groups.sh.
Every flag, column, blank and message is the same as in the tool of Kafka 4.4.0; docs/kafka-consumer-groups.md has the
intentional differences. `parse` turns arguments into `Options`, `main` opens the cluster, and each action has a
module with a function of options and source that prints like the tool and returns the exit status."""
