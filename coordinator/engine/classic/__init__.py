"""The classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, for groups of either type."""
