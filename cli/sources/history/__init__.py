"""Sources of the past of groups: each returns a `GroupHistoryRead` (`read`)."""
