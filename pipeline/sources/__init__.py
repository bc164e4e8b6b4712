"""The sources of records: files of a log, the live topic, snapshots."""
