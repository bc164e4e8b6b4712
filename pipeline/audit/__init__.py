"""The readiness of a whole fleet: what blocks each group's migration, what it would gain, and the order to
migrate."""

from pipeline.audit.judge import AuditSettings
from pipeline.audit.run import AuditRun, MigrationRank, Snapshots, audit

__all__ = ["AuditRun", "AuditSettings", "MigrationRank", "Snapshots", "audit"]
