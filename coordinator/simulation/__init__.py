"""A group, its consumers, the network and the coordinator in simulated time, from a seed.

scenario     topics, members, events and faults: read from a file (`scenario_file`), changed for a protocol
variants     the same scenario under another protocol, or with other settings
schedule     simulated time
world        the state at a moment, and the effect of events on it
topics       the topics and the ends of their logs, and the state that a run starts with
network      delivery of requests and answers: delays, losses, duplicates, partitions
compacted_log  the records that a compaction may have left in the log
node         a coordinator: the engine with the log that it is replayed from
process      a consumer's process: the member (`coordinator.consumer`), its application and the records it reads
polling      the application: when it polls, and what waits for it
read_positions  the positions up to which it has read
consumers    creates a member from its script
watcher      observers of a run: rules, measures, the story
zombies      which members consume a partition, and which of these the coordinator has removed
invariants   conditions that must hold after every step, and the file that checks each
random_scenario  a scenario drawn from a seed
known_flaws  weaknesses of Kafka's own rules that the simulation has found
broken_rules safety rules that can be switched off
measures     the cost of a run: rebalances, partitions moved, time without an owner
story        the events of a run as text
run          plays a scenario: `run(scenario, seed)` returns a `Result`
shrink       reduces a failing scenario
"""
