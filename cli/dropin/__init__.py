"""`kohort-consumer-groups`: the command line of kafka-consumer-groups.sh. Every flag, column, blank and message is
the same as in the tool of Kafka 4.3.1; docs/kafka-consumer-groups.md has a table of the intentional differences.
`parse` turns arguments into `Options`, `main` opens the cluster, and each action has a module with `run(options,
source) -> exit status`, which prints like the tool: answers and errors on stdout, remarks on stderr."""
