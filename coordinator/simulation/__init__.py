"""A group, its consumers, the network between them and its coordinator, played in simulated time from a seed.

scenario     what is to happen: read from a file (`scenario_file`), changed for a protocol
variants     the same scenario under another protocol
schedule     simulated time
beginning    what a world begins with, where it does not begin with nothing
world        everything that there is at a moment, and what events do to it
topics       what is written to the topics
network      how requests and answers travel: delays, losses, duplicates, partitions
compacted_log  what compaction may have left of the log
node         a coordinator: the engine with the log that it is replayed from
process      a consumer's process: the member (`coordinator.consumer`), its application and what it reads
consumers    makes a member from its script
zombies      who consumes what, and whom of them the coordinator has put out
invariants   what must hold after every step: which file has which; `violations` are kept
random_scenario  a scenario drawn from a seed
upgrades     what an online upgrade takes over
known_flaws  weaknesses of Kafka's own rules that the simulation has found
broken_rules safety rules that can be switched off
measures     what a run costs: rebalances, partitions moved, time without an owner
story        what happened, in words
run          plays a scenario: `run(scenario, seed)` gives a `Result`
shrink       makes a failing scenario smaller
"""
