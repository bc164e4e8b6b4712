"""Many seeds of many scenarios: verdicts, figures, and the command that replays each failed seed."""

from pipeline.simulation.play import Case, RunOptions
from pipeline.simulation.run import SimulationRun, simulate

__all__ = ["Case", "RunOptions", "SimulationRun", "simulate"]
