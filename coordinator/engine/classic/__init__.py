"""The classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup, to groups of either type."""
