"""Every group of a fleet's snapshots planned and rehearsed: which are safe, what they cost, in which order to go."""

from pipeline.rehearsal.play import Terms, Variation
from pipeline.rehearsal.run import RehearsalRun, rehearse_fleet

__all__ = ["RehearsalRun", "Terms", "Variation", "rehearse_fleet"]
