"""Many seeds of many scenarios: verdicts, figures, and what replays each seed that failed."""

from pipeline.simulation.play import Case, Terms
from pipeline.simulation.run import SimulationRun, simulate

__all__ = ["Case", "SimulationRun", "Terms", "simulate"]
