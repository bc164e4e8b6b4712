"""Where groups come from: a cluster, a snapshot, a log, embedded data."""
