"""`kohort-consumer-groups` and the stand-ins for other tools of Kafka 4.4.0: their command lines only.
Every flag, column, blank and message is the same as in the tool; docs/kafka-consumer-groups.md has the intentional
differences. `flags` reads arguments as joptsimple does, `parse` and a module for each other tool check them, `main`
opens the cluster and runs an action: a function of options and source that prints like the tool and returns the exit
status."""
