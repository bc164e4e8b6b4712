"""Scenarios that tests share."""

from pathlib import Path

from coordinator.simulation.scenario_file import read_scenario

FILES = Path(__file__).with_name("shared")
STORM, MIXED, TWO_BOUNCES, DUPLICATES = (
    read_scenario(FILES / f"{name}.yaml") for name in ("storm", "mixed", "two-bounces", "duplicates")
)
