"""Every group of a fleet's snapshots planned and rehearsed: which are safe, their costs, and the order to migrate."""

from pipeline.rehearsal.play import RehearsalTerms, Variation
from pipeline.rehearsal.run import RehearsalRun, rehearse_fleet

__all__ = ["RehearsalRun", "RehearsalTerms", "Variation", "rehearse_fleet"]
