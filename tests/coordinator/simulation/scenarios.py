"""Scenarios that tests share."""

from pathlib import Path

from coordinator.simulation.scenario_file import read_scenario

SHARED = {file.stem: read_scenario(file) for file in Path(__file__).with_name("shared").glob("*.yaml")}
STORM, MIXED, TWO_BOUNCES, DUPLICATES = (
    SHARED[name] for name in ("storm", "mixed", "two-bounces", "duplicates")
)
