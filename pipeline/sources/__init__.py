"""Where records come from: files of a log, the live topic, snapshots."""
