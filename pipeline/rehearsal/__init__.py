"""Every group of a fleet's snapshots planned and rehearsed: which are safe, their costs, and the order to migrate."""

from pipeline.rehearsal.play import RehearsalSettings, Variation
from pipeline.rehearsal.run import RehearsalRun, rehearse_fleet

__all__ = ["RehearsalRun", "RehearsalSettings", "Variation", "rehearse_fleet"]
