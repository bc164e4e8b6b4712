"""One row per seed: its result, and for a failure the command that replays it."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coordinator.simulation.result import RunResult, Violation
from coordinator.simulation.run import LIMIT, replay_command, run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.scenario_text import scenario_text
from coordinator.simulation.seeds import ScenarioOf, costs_of
from coordinator.simulation.variants import with_settings
from pipeline.simulation.schemas import FAILURES, RUNS
from pipeline.tables.schemas import table

PLAYED = table(("run", RUNS, False), ("failure", FAILURES, True))
MOST_LINES = 200
"""The largest number of lines of a story, of which the last ones are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationCase:
    """A scenario, protocol and settings to play with many seeds. Sent to workers."""

    called: str
    """The scenario as the argument of `kohort simulate`."""
    name: str
    scenario_of: ScenarioOf
    variant: Variant = Variant.AS_WRITTEN
    settings: Mapping[str, str]

    @property
    def setting(self) -> str:
        """The settings in one line; empty: none."""
        return " ".join(f"{name}={value}" for name, value in self.settings.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Settings of all seeds, for `coordinator.simulation.run.run`."""

    limit: int = LIMIT
    break_rule: str | None = None


def play_row(case: SimulationCase, seed: int, run_options: RunOptions) -> dict[str, Any]:
    """A row of PLAYED. An exception of the code becomes a row: it must not end all other runs."""
    scenario: Scenario | None = None
    try:
        scenario = with_settings(case.scenario_of(seed), case.settings)
        return _row(case, scenario, seed, run_options)
    except Exception as error:
        head = _head(case, scenario, seed, "threw")
        message = f"{type(error).__name__}: {error}"
        failure = {
            **_failure(case, scenario, seed, run_options, head),
            "message": message,
            "story": error_location(error),
        }
        return {"run": {**head, "error": message}, "failure": failure}


def error_location(error: Exception) -> list[str]:
    """The origin of an error, instead of a story."""
    return [
        f"{Path(frame.filename).name}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]


def _row(case: SimulationCase, scenario: Scenario, seed: int, run_options: RunOptions) -> dict[str, Any]:
    result = _run(case, scenario, seed, run_options, with_story=False)
    costs = asdict(costs_of(result))
    fallen = _shown(result)
    head = _head(case, scenario, seed, _verdict(result, fallen))
    run = {**head, **costs, "known_violations": costs["known"], "requests": result.requests}
    run |= {
        "invariant": None if fallen is None else fallen.invariant,
        "known": None if fallen is None else fallen.known or None,
    }
    if head["verdict"] == "held":
        return {"run": run, "failure": None}
    failure = _failure(case, scenario, seed, run_options, head)
    if fallen is None:
        failure |= {"message": f"stopped after {run_options.limit:,} steps, before its end"}
    else:
        failure |= {"invariant": fallen.invariant, "at_s": fallen.at_s, "message": fallen.message}
        failure |= {"known": fallen.known or None}
    if head["verdict"] == "known":
        failure |= {"file": None}
    else:
        failure |= {"story": _story(_run(case, scenario, seed, run_options, with_story=True))}
    return {"run": run, "failure": failure}


def _run(
    case: SimulationCase, scenario: Scenario, seed: int, run_options: RunOptions, *, with_story: bool
) -> RunResult:
    return run(
        scenario,
        seed,
        variant=case.variant,
        limit=run_options.limit,
        break_rule=run_options.break_rule,
        with_story=with_story,
    )


def _shown(result: RunResult) -> Violation | None:
    """The first violation that no known weakness explains, otherwise the first violation."""
    violations = result.violations
    return next((each for each in violations if not each.known), next(iter(violations), None))


def _verdict(result: RunResult, fallen: Violation | None) -> str:
    if fallen is not None and not fallen.known:
        return "fallen"
    if result.is_cut:
        return "stopped"
    return "held" if fallen is None else "known"


def _head(case: SimulationCase, scenario: Scenario | None, seed: int, verdict: str) -> dict[str, Any]:
    libraries = sorted({script.library for script in scenario.members.values()}) if scenario else []
    return {
        "scenario": case.name,
        "protocol": case.variant.value,
        "libraries": ", ".join(libraries),
        "settings": case.setting,
        "seed": seed,
        "verdict": verdict,
    }


def _failure(
    case: SimulationCase,
    scenario: Scenario | None,
    seed: int,
    run_options: RunOptions,
    head: Mapping[str, Any],
) -> dict[str, Any]:
    text = None
    with suppress(Exception):  # the scenario may be invalid
        text = None if scenario is None else scenario_text(scenario)
    command = replay_command(
        case.called,
        seed,
        variant=case.variant,
        limit=run_options.limit if head["verdict"] == "stopped" else LIMIT,
        settings=case.settings,
        break_rule=run_options.break_rule,
    )
    return {**head, "command": command, "file": text}


def _story(result: RunResult) -> list[str]:
    """The story of the violation if it has one, otherwise of the whole run."""
    fallen = _shown(result)
    lines = list(fallen.story) if fallen is not None else []
    if not lines:
        lines = [f"{each.at_s:9.3f} s  {each.who}  {each.what}" for each in result.story]
    return lines[-MOST_LINES:]
