"""Plans of the six journeys that rehearsals were measured on, carried out by `kohort migrate` without anybody: many
groups at once, on one broker, each with its own run."""

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import pytest

from migration.execution.stops import StopRule
from migration.rehearsal.mistakes import OF_STREAMS, Mistake
from tests.kafka.broker import Broker
from tests.kafka.coordinator import running_broker, wait_for_coordinator
from tests.kafka.java_host import JavaHost
from tests.migration.end_to_end.consumption import lost, repeated
from tests.migration.end_to_end.deployment import MEMBERS, deployed
from tests.migration.end_to_end.step_costs import StepCost, step_costs
from tests.migration.end_to_end.supervisor import Supervisor, supervised
from tests.migration.end_to_end.troubles import INSTEAD, RULES, CommandTrouble, Death, Trouble, placed
from tests.migration.end_to_end.unattended import AWAY_S, BROKER, JOURNEYS, Unattended, fleet_of
from tests.support.long import LONG, cases

pytestmark = [pytest.mark.kafka, LONG]

AT_ONCE = cases("KOHORT_GROUPS_AT_ONCE", 10)
TROUBLES: tuple[Trouble, ...] = (*(one for one in Mistake if one not in OF_STREAMS), *CommandTrouble, *Death)
OVERLAPPING: frozenset[Trouble] = frozenset((Mistake.EARLY_SUCCESSOR, *Death))
"""Two processes have the id of one, or a member reads again what one that was killed had not committed."""
ROLLED_BACK: tuple[Trouble, ...] = (
    Mistake.WRONG_JAR,
    *(one for one in CommandTrouble if one is not CommandTrouble.KILLED),
)
DIES_S = 25.0  # When a process dies, at the latest
LIFE_S = 30.0  # How long a run lives that is killed, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """Where groups are deployed, each with a separate directory."""

    broker: Broker
    jars: Path
    directory: Path

    @contextmanager
    def prepared(self, journey: str, name: str, broker: Broker | None = None) -> Iterator[Unattended]:
        """The group of a journey, at work, and the plan of it."""
        directory = self.directory / name.replace(" ", "-")
        directory.mkdir()
        hosts = [JavaHost(self.jars) for _ in range(MEMBERS + 1)]  # none is started
        with (
            deployed(fleet_of(journey), broker or self.broker, self.jars, hosts, directory) as deployment,
            supervised(deployment, away_s=AWAY_S) as supervisor,
        ):
            unattended = Unattended(
                journey=journey, deployment=deployment, supervisor=supervisor, directory=directory
            )
            unattended.make_plan()
            yield unattended


@pytest.fixture
def rig(kafka_jars: Path, tmp_path: Path) -> Iterator[Rig]:
    with running_broker(kafka_jars, tmp_path / "broker", BROKER) as broker:
        yield Rig(broker=broker, jars=kafka_jars, directory=tmp_path)


def many(
    run: Callable[[int], str], numbers: Sequence[int], table: Callable[[], Iterable[str]] = tuple
) -> None:
    """Make all these runs, some at once; print a line for each, and the table. AssertionError: some did not end as they
    must."""
    failed: list[str] = []

    def attempt(number: int) -> None:
        try:
            line = run(number)
        except (AssertionError, OSError, TimeoutError, ValueError) as error:
            failed.append(f"{number}: {type(error).__name__}: {error}")
            line = f"FAILED {failed[-1]}"
        print(line, flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(attempt, numbers))
    print("", *table(), sep="\n")
    assert not failed, f"{len(failed)} of {len(numbers)} failed:\n" + "\n".join(failed)


def numbers(variable: str, most: int) -> Sequence[int]:
    """The numbers of the runs: as many as the variable says, or those that it names (`3,17`)."""
    text = os.environ.get(variable, str(most))
    return [int(word) for word in text.strip(",").split(",")] if "," in text else range(int(text))


def test_plans_are_carried_out_by_themselves(rig: Rig) -> None:
    """At the stated cost; no record is lost, or consumed twice more often than rehearsed."""

    measured: dict[tuple[str, int], list[StepCost]] = defaultdict(list)

    def run(number: int) -> str:
        journey = list(JOURNEYS)[number % len(JOURNEYS)]
        with rig.prepared(journey, f"{number} {journey}") as unattended:
            unattended.finish()
            ended_ns = time.monotonic_ns()
            unattended.check_end()
            outcome = unattended.deployment.finish()
            costs = list(step_costs(unattended.plan, unattended.supervisor.calls, outcome.journals, ended_ns))
            twice = sum(len(readers) - 1 for *_, readers in repeated(outcome.journals))
            outcome.check(repeats=True)
            assert twice <= unattended.most_twice, (twice, unattended.most_twice)
            assert all(cost.is_tolerable for cost in costs), "; ".join(map(str, costs))
            for position, cost in enumerate(costs):
                measured[journey, position].append(cost)
            return f"{number} {journey}: {twice} read twice; {'; '.join(map(str, costs))}"

    def table() -> Iterator[str]:
        for (journey, _), costs in sorted(measured.items()):
            lasted = (min(cost.lasted_s for cost in costs), max(cost.lasted_s for cost in costs))
            seconds = sorted(cost.measured_s for cost in costs)
            median_s, worst_s = median(cost.median_s for cost in costs), max(cost.worst_s for cost in costs)
            yield (
                f"| {journey} | {costs[0].name} | {len(costs)} | {median_s:.1f}, {worst_s:.1f} | "
                f"{median(seconds):.1f}, {seconds[-1]:.1f} | {lasted[0]:.0f} to {lasted[1]:.0f} |"
            )

    many(run, numbers("KOHORT_UNATTENDED", 10 * len(JOURNEYS)), table)


def test_what_goes_wrong_stops_a_run_by_the_right_rule_or_does_no_harm(rig: Rig) -> None:
    """Nothing is restarted afterwards, and no record is lost; once it is corrected, the same command finishes."""
    stops: Counter[tuple[str, str]] = Counter()

    def run(number: int) -> str:
        rng = Random(number)
        trouble = TROUBLES[number % len(TROUBLES)]
        journey, call = placed(trouble, rng)
        name = f"{number} {trouble.value.replace(',', '')} {journey}"
        with ExitStack() as stack:
            broker = None
            if trouble is Death.BROKER:
                directory = rig.directory / f"broker-{number}"
                broker = stack.enter_context(running_broker(rig.jars, directory, BROKER))
            unattended = stack.enter_context(rig.prepared(journey, name, broker))
            rule, message = _troubled(unattended, trouble, call, rng)
            stops[trouble.value, rule.value if rule else "finished"] += 1
            return f"{name} at {call}: {message or 'finished'}"

    def table() -> Iterator[str]:
        for trouble in TROUBLES:
            rules = sorted((rule, times) for (what, rule), times in stops.items() if what == trouble.value)
            yield f"| {trouble.value} | {', '.join(f'{times} `{rule}`' for rule, times in rules)} |"

    many(run, numbers("KOHORT_TROUBLES", 102), table)


def _troubled(
    unattended: Unattended, trouble: Trouble, call: int, rng: Random
) -> tuple[StopRule | None, str]:
    """The rule that stopped it, if any, and its message."""
    supervisor = unattended.supervisor
    if trouble in INSTEAD:
        supervisor.instead[call] = INSTEAD[trouble]
        status = unattended.run()
    else:
        with dying(trouble, rng, supervisor):
            status = unattended.run()
    rule, message = unattended.stop()
    if status != (0 if rule is None else 1):
        raise AssertionError(f"exit status {status}, {rule}: {message} {unattended.complaints()}")
    if rule not in RULES[trouble]:
        raise AssertionError(f"stopped by {rule}: {message}")
    if rule is not None:
        last = supervisor.calls[-1]
        # A broker shows neither the list of a classic member nor a process that starts while all are stopped: what is
        # wrong about them shows in a later round.
        is_hidden = unattended.journey.endswith(("two bounces", "stop and start"))
        is_visible = not (isinstance(trouble, Mistake) and is_hidden)
        if trouble in INSTEAD and is_visible:
            troubled = supervisor.calls[call - 1]
            if (last.step, last.round) != (troubled.step, troubled.round):
                raise AssertionError(f"it continued, and stopped by {rule}: {message}")
        supervisor.instead.clear()
        unattended.correct(besides=last.name if trouble in INSTEAD else None)
        try:
            unattended.finish()
        except AssertionError as error:
            raise AssertionError(f"after {rule.value} ({message}), it was corrected: {error}") from error
    unattended.check_end()
    outcome = unattended.deployment.finish()
    if trouble in OVERLAPPING:
        assert not lost(outcome.produced, outcome.journals)
    else:
        outcome.check(repeats=True)
    return rule, message


def test_a_run_that_stops_is_rolled_back(rig: Rig) -> None:
    """By the same machine; then all run as before the migration, and no record is lost."""

    def run(number: int) -> str:
        rng = Random(f"back {number}")
        trouble = ROLLED_BACK[number % len(ROLLED_BACK)]
        journey, call = placed(trouble, rng)
        name = f"{number} {trouble.value.replace(',', '')} {journey}"
        with rig.prepared(journey, name) as unattended:
            supervisor = unattended.supervisor
            supervisor.instead[call] = INSTEAD[trouble]
            unattended.run("--on-stop=rollback")
            last = unattended.events[-1]
            if last["event"] != "rolled-back":
                raise AssertionError(f"{last['event']}: {last.get('message')} {unattended.complaints()}")
            unattended.check_end(is_back=True)
            outcome = unattended.deployment.finish()
            assert not lost(outcome.produced, outcome.journals)
            return f"{name} at {call}: {unattended.events[-1]['lasted_s']} s"

    many(run, numbers("KOHORT_ROLLBACKS", 20))


@contextmanager
def dying(trouble: Trouble, rng: Random, supervisor: Supervisor) -> Iterator[None]:
    """A process dies at a random moment of the block, if that lasts so long."""
    broker, after_s = supervisor.deployment.broker, rng.uniform(1, DIES_S)
    ended = threading.Event()

    def die() -> None:
        if ended.wait(after_s):
            return
        if trouble is Death.BROKER:
            broker.crash()
            time.sleep(rng.uniform(0, 5))
            broker.start()
            wait_for_coordinator(broker)
            return
        name = rng.choice(list(supervisor.by_name))
        if supervisor.kill(name) and trouble is Death.RESTARTED:
            time.sleep(AWAY_S)
            supervisor.start(name, supervisor.by_name[name].config)

    thread = threading.Thread(target=die)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_killed_and_started_again_a_run_finishes_and_restarts_no_member_twice(rig: Rig) -> None:
    """Killed at a random moment of each life, once to three times."""
    killed: list[str] = []

    def run(number: int) -> str:
        rng = Random(f"kill {number}")
        journey = list(JOURNEYS)[number % len(JOURNEYS)]
        kills = [rng.uniform(0.5, LIFE_S) for _ in range(1 + number % 3)]
        with rig.prepared(journey, f"{number} {journey}") as unattended:
            lives = [f"{life_s:.1f}" for life_s in kills if unattended.run_and_kill(life_s)]
            unattended.finish()
            if repeated_calls := unattended.supervisor.repeated_calls():
                raise AssertionError(f"called again: {[(call.step, call.name) for call in repeated_calls]}")
            unattended.check_end()
            unattended.deployment.finish().check(repeats=True)
            killed.extend(lives)
            calls = len(unattended.supervisor.calls)
            return f"{number} {journey}: {len(lives)} kills ({', '.join(lives)} s), {calls} calls"

    many(run, numbers("KOHORT_MIGRATE_KILLS", 100), lambda: [f"{len(killed)} kills"])
