"""One row per seed: its result, and for a failure the command that replays it."""

import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from coordinator.simulation.result import RunResult, Violation
from coordinator.simulation.run import LIMIT, replay_command, run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.scenario_text import scenario_text
from coordinator.simulation.seeds import ScenarioOf, costs_of
from coordinator.simulation.variants import with_settings
from pipeline.tables.schemas import DOUBLE, INT, LONG, STRING, STRINGS, TableRow, table

CASE = (
    ("scenario", STRING, False),
    ("protocol", STRING, False),  # as-written, eager, cooperative or consumer
    ("libraries", STRING, False),  # the members' libraries, by name: java, librdkafka
    ("settings", STRING, False),  # that replace the scenario's: NAME=VALUE, separated by spaces; empty: none
)
"""The scenario, protocol and settings that are played: these columns start every table."""
KEY = tuple(name for name, _, _ in CASE)

FIGURES = (
    ("rebalances", LONG),
    ("moved", LONG),
    ("without_owner_s", DOUBLE),
    ("read_twice", LONG),
    ("converged_s", DOUBLE),  # null: the group did not settle within the scenario's time
    ("callbacks", LONG),
    ("thrown", LONG),
    ("zombie_overlap_s", DOUBLE),
)
"""The figures of `coordinator.simulation.seeds.Costs`."""

RUNS = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),  # held, known, fallen, stopped or threw
    ("invariant", STRING, True),  # the violated one; of several, one that no known weakness explains
    ("known", STRING, True),  # the weakness of Kafka's rules that explains the violation
    ("error", STRING, True),  # the exception that the code threw
    *((name, kind, True) for name, kind in FIGURES),  # null if the code threw
    ("violations", INT, True),
    ("known_violations", INT, True),
    ("requests", LONG, True),  # requests that the coordinator answered
)

FAILURES = table(
    *CASE,
    ("seed", LONG, False),
    ("verdict", STRING, False),
    ("invariant", STRING, True),
    ("at_s", DOUBLE, True),
    ("message", STRING, False),
    ("known", STRING, True),
    ("story", STRINGS, True),  # one event per line; null if a known weakness explains it: `command` prints it
    ("command", STRING, False),  # plays the seed again on one machine
    ("file", STRING, True),  # the scenario as it was played, for another machine; null if `story` is null
)

VERDICTS = ("held", "known", "fallen", "stopped", "threw")
OF_FIGURES = ("median", "p95", "worst")

COSTS = table(
    *CASE,
    ("seeds", LONG, False),
    *((verdict, LONG, False) for verdict in VERDICTS),
    *((f"{name}_{of}", kind, True) for name, kind in FIGURES for of in OF_FIGURES),
    ("requests", LONG, False),
)

SPREAD = ("rebalances", "without_owner_s", "read_twice", "converged_s")  # their distribution is in `spans`
LIMITS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)

SPANS = table(
    *CASE,
    ("figure", STRING, False),
    ("up_to", LONG, True),  # the largest value in the span; null: more than any of LIMITS, or never
    ("seeds", LONG, False),
)

TABLES = {"runs": RUNS, "failures": FAILURES, "costs": COSTS, "spans": SPANS}
"""Versioned with the others. `runs` has a row for every scenario, protocol, settings and seed; `failures` for each
that did not hold. `costs` sums up their seeds, and `spans` is the distribution of their figures."""

PLAYED = table(("run", RUNS, False), ("failure", FAILURES, True))
MOST_LINES = 200  # the largest number of lines of a story, of which the last ones are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationCase:
    """A scenario, protocol and settings to play with many seeds. Sent to workers."""

    called: str  # the scenario as the argument of `kohort simulate`
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


def play_row(case: SimulationCase, seed: int, run_options: RunOptions) -> TableRow:
    """A row of PLAYED. An exception of the code becomes a row: it must not end all other runs."""
    scenario: Scenario | None = None
    try:
        scenario = with_settings(case.scenario_of(seed), case.settings)
        return _row(case, scenario, seed, run_options)
    except Exception as error:
        head = _head(case, scenario, seed, "threw")
        message = f"{type(error).__name__}: {error}"
        failure = _failure(case, scenario, seed, run_options, head)
        failure |= {"message": message, "story": error_location(error)}
        return {"run": {**head, "error": message}, "failure": failure}


def error_location(error: Exception) -> list[str]:
    """The origin of an error, instead of a story."""
    frames = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]


def _row(case: SimulationCase, scenario: Scenario, seed: int, run_options: RunOptions) -> TableRow:
    settings = {"variant": case.variant, **asdict(run_options)}
    result = run(scenario, seed, **settings, with_story=False)
    costs = asdict(costs_of(result))
    fallen = _shown(result)
    verdict = "held" if fallen is None else "known"
    if fallen is not None and not fallen.known:
        verdict = "fallen"
    elif result.is_cut:
        verdict = "stopped"
    head = _head(case, scenario, seed, verdict)
    row = {**head, **costs, "known_violations": costs["known"], "requests": result.requests}
    row |= {
        "invariant": None if fallen is None else fallen.invariant,
        "known": None if fallen is None else fallen.known or None,
    }
    if verdict == "held":
        return {"run": row, "failure": None}
    failure = _failure(case, scenario, seed, run_options, head)
    if fallen is None:
        failure |= {"message": f"stopped after {run_options.limit:,} steps, before its end"}
    else:
        failure |= {"invariant": fallen.invariant, "at_s": fallen.at_s, "message": fallen.message}
        failure |= {"known": fallen.known or None}
    if verdict == "known":
        failure |= {"file": None}
    else:
        failure |= {"story": _story(run(scenario, seed, **settings))}
    return {"run": row, "failure": failure}


def _shown(result: RunResult) -> Violation | None:
    """The first violation that no known weakness explains, otherwise the first violation."""
    violations = result.violations
    return next((violation for violation in violations if not violation.known), next(iter(violations), None))


def _head(case: SimulationCase, scenario: Scenario | None, seed: int, verdict: str) -> TableRow:
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
    case: SimulationCase, scenario: Scenario | None, seed: int, run_options: RunOptions, head: TableRow
) -> TableRow:
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
        lines = [f"{event.at_s:9.3f} s  {event.who}  {event.what}" for event in result.story]
    return lines[-MOST_LINES:]
