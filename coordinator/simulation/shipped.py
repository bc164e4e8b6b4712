"""The scenarios that ship with Kohort, by name."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from coordinator.simulation.scenario import Scenario
from coordinator.simulation.scenario_file import parse_scenario

_SUFFIX = ".yaml"


def shipped_names() -> tuple[str, ...]:
    """The names in alphabetical order."""
    names = (file.name for file in (files(__package__) / "scenarios").iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)))


def shipped_scenario(name: str) -> Scenario:
    """:raises LookupError: unknown name"""
    if name not in shipped_names():
        raise LookupError(name)
    return parse_scenario(Path(f"{name}{_SUFFIX}"), shipped_text(name))


def shipped_text(name: str) -> str:
    """The file of the scenario, as a starting point for another one."""
    return (files(__package__) / "scenarios" / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
