"""Many seeds of many scenarios: verdicts, figures, and the command that replays each failed seed."""

from pipeline.simulation.play import RunOptions, SimulationCase
from pipeline.simulation.run import SimulationRun, simulate

__all__ = ["RunOptions", "SimulationCase", "SimulationRun", "simulate"]
