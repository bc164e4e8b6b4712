"""The readiness of a whole fleet: what keeps each group from migrating, what it would gain, and who goes first."""

from pipeline.audit.judge import AuditSettings
from pipeline.audit.run import AuditRun, MigrationRank, Snapshots, audit

__all__ = ["AuditRun", "AuditSettings", "MigrationRank", "Snapshots", "audit"]
