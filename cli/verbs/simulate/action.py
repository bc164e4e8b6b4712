"""Run the simulations that the options of `kohort simulate` request: scenario, protocols and seeds."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from cli.errors import ExitStatus, UsageError
from cli.progress import Progress
from coordinator.errors import InvalidSetting
from coordinator.simulation import random_scenario
from coordinator.simulation.broken_rules import BROKEN_RULES
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Scenario, Variant
from coordinator.simulation.scenario_checks import unknown
from coordinator.simulation.scenario_file import (
    parse_scenario,
    read_scenario,
    shipped_names,
    shipped_scenario,
)
from coordinator.simulation.seeds import RunSummary, ScenarioOf, always, play_seeds, set_for_all, summary_of
from coordinator.simulation.shrink import shrink
from coordinator.simulation.variants import check_playable, with_settings
from groups.yaml_files import read_text
from wire.suggestion import did_you_mean

ALL = "all"
_COMPARED = (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER)
STDIN = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioSource:
    """The source of the command line: one scenario, or one for each seed."""

    called: str  # The scenario as the command line names it
    name: str
    description: str
    scenario_of: ScenarioOf
    is_random: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayRequest:
    """A request for simulations."""

    source: ScenarioSource
    variants: tuple[Variant, ...]
    seeds: range
    limit: int
    processes: int
    settings: Mapping[str, str] = field(default_factory=dict)  # Settings that override those of the scenario
    break_rule: str | None = None  # The safety rule that is disabled

    @property
    def scenario_of(self) -> ScenarioOf:
        """The scenario of a seed."""
        return set_for_all(self.source.scenario_of, self.settings)


@dataclass(slots=True, kw_only=True)
class ProtocolRuns:
    """The runs of a scenario under one protocol."""

    variant: Variant
    played: list[RunSummary] = field(default_factory=list)  # Summaries of the runs, in the order of the seeds
    shown: RunResult | None = None  # The result of `shown_seed`; None if no run was completed
    shrunk: RunResult | None = None  # The result of the shrunk scenario, if the scenario broke an invariant

    @property
    def failing(self) -> list[int]:
        """Seeds that broke an invariant."""
        return [run.seed for run in self.played if run.costs.violations]

    @property
    def unexplained(self) -> list[int]:
        """Seeds that broke an invariant in a way that is not a known weakness of Kafka's rules."""
        return [run.seed for run in self.played if run.costs.violations > run.costs.known]

    @property
    def shown_seed(self) -> int | None:
        """The first seed with a new violation, else with a known one, else that was stopped, else the first."""
        first = [played.seed for played in self.played[:1]]
        return next(iter([*self.unexplained, *self.failing, *self.cut, *first]), None)

    @property
    def cut(self) -> list[int]:
        """Seeds whose runs were stopped before their end."""
        return [run.seed for run in self.played if run.is_cut]


@dataclass(slots=True, kw_only=True)
class SimulationResult:
    """The results of a request; after an interruption, the results so far."""

    request: PlayRequest
    runs: list[ProtocolRuns] = field(default_factory=list)
    is_interrupted: bool = False


RANDOM = ScenarioSource(
    called=random_scenario.NAME,
    name=random_scenario.NAME,
    description="A small group with events and faults, all from the seed.",
    scenario_of=random_scenario.random_scenario,
    is_random=True,
)


def read(called: str) -> ScenarioSource:
    """The scenario of this name, in this file or on standard input."""
    if called == STDIN:
        file = Path("<stdin>")
        return _single_source(called, parse_scenario(file, read_text(file, sys.stdin.buffer), name="stdin"))
    file = Path(called)
    if file.exists() or file.suffix or file.name != called:
        return _single_source(called, read_scenario(file))
    if called == RANDOM.called:
        return RANDOM
    try:
        return _single_source(called, shipped_scenario(called))
    except LookupError:
        hint = did_you_mean(called, (*shipped_names(), RANDOM.called))
        raise UsageError(
            f"there is no scenario {called!r} and no such file{hint}\n`kohort simulate --list` lists the scenarios"
        ) from None


def _single_source(called: str, scenario: Scenario) -> ScenarioSource:
    return ScenarioSource(
        called=called, name=scenario.name, description=scenario.description, scenario_of=always(scenario)
    )


def variants_of(protocol: str) -> tuple[Variant, ...]:
    """The variants of `--protocol`."""
    return _COMPARED if protocol == ALL else (Variant(protocol),)


def check_rule(name: str | None) -> None:
    """Raises UsageError: there is no safety rule of that name."""
    if name is not None and name not in BROKEN_RULES:
        raise UsageError(f"--break: {unknown('rule', name, BROKEN_RULES)}")


def settings_of(texts: Sequence[str]) -> Mapping[str, str]:
    """The settings of `--set`, with the last value of each name. Raises UsageError: one has no name or no value."""
    return dict(pairs_of(texts))


def pairs_of(texts: Sequence[str], option: str = "--set") -> list[tuple[str, str]]:
    """Names and values in order. Raises UsageError: one is missing."""
    pairs: list[tuple[str, str]] = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value:
            raise UsageError(f"{option} {text}: expected NAME=VALUE, such as session.timeout.ms=10000")
        pairs.append((name, value))
    return pairs


def check_settings(source: ScenarioSource, settings: Mapping[str, str], variant: Variant, seed: int) -> None:
    """Raises UsageError: the scenario cannot be played with these."""
    try:
        check_playable(with_settings(source.scenario_of(seed), settings), variant)
    except InvalidSetting as error:
        text = " ".join(f"{name}={value}" for name, value in settings.items())
        raise UsageError(f"{source.name} with {text}, {variant.value}: {error}") from None


def carry_out(request: PlayRequest) -> SimulationResult:
    """Play all runs; the first run that breaks an invariant is shrunk. Ctrl-C stops with the results so far."""
    simulated = SimulationResult(request=request)
    total = len(request.seeds) * len(request.variants)
    with _interrupts() as interrupts, Progress("simulating", total=total, before_data=True) as progress:
        try:
            for variant in request.variants:
                runs = ProtocolRuns(variant=variant)
                simulated.runs.append(runs)
                if len(request.seeds) == 1:
                    runs.shown = _run(request, variant, request.seeds[0])
                    runs.played.append(summary_of(runs.shown))
                    progress.advance(1)
                else:
                    for played in play_seeds(
                        request.scenario_of,
                        variant,
                        request.seeds,
                        limit=request.limit,
                        processes=request.processes,
                        break_rule=request.break_rule,
                    ):
                        runs.played.append(played)
                        progress.advance(1)
                    _show_one(request, runs)
                if runs.shown is not None and runs.shown.violations:
                    seed = runs.shown.seed
                    runs.shrunk = shrink(
                        request.scenario_of(seed),
                        seed,
                        variant=variant,
                        limit=request.limit,
                        break_rule=request.break_rule,
                    )
                if interrupts:  # Ctrl-C has stopped the run itself
                    break
        except KeyboardInterrupt:
            for runs in simulated.runs:
                _show_one(request, runs)
        simulated.is_interrupted = bool(interrupts)
        return simulated


def _show_one(request: PlayRequest, runs: ProtocolRuns) -> None:
    """Play the seed to show, if there is one, again with its story."""
    if runs.shown_seed is not None and runs.shown is None:
        runs.shown = _run(request, runs.variant, runs.shown_seed)


def _run(request: PlayRequest, variant: Variant, seed: int) -> RunResult:
    return run(
        request.scenario_of(seed), seed, variant=variant, limit=request.limit, break_rule=request.break_rule
    )


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Handle Ctrl-C as Python does, and record its signals."""
    noted: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        signal.default_int_handler(number, frame)

    former = signal.getsignal(signal.SIGINT)
    if former is not signal.SIG_IGN:  # a background job ignores Ctrl-C
        signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, former)


def status_of(simulated: SimulationResult) -> ExitStatus:
    """INTERRUPTED; FALSE if an invariant does not hold or a run was stopped at the limit; else DONE."""
    if simulated.is_interrupted:
        return ExitStatus.INTERRUPTED
    failed = any(runs.failing or runs.cut for runs in simulated.runs)
    return ExitStatus.FALSE if failed else ExitStatus.DONE
