"""A group, its consumers, the network and the coordinator in simulated time: `run.run(scenario, seed)` plays a run."""
