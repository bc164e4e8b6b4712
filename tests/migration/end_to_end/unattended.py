"""Plans that `kohort migrate` carries out by itself, on a real broker with real processes under a supervisor."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from cli.verbs.plan.files import read_plan
from migration.execution.stops import StopRule
from migration.model import Plan
from tests.cli.command import Kohort
from tests.cli.verbs.watch.running import Running, in_pipe
from tests.migration.end_to_end.deployment import Deployment, Fleet
from tests.migration.end_to_end.fleets import CLASSIC, java, librdkafka
from tests.migration.end_to_end.supervisor import Supervisor

SESSION_S = 10  # Of members of both protocols
BROKER: Mapping[str, str] = {"group.consumer.session.timeout.ms": str(SESSION_S * 1000)}
BOUNCE_S = 5  # As the plan has it
AWAY_S = 1.0  # As the supervisor takes; the start of a process comes on top
EVERY_S = 0.2  # Between two records of a partition
SEEDS = 10
LONGEST_S = 600.0

LIMITS = ("--restart-timeout=20", "--return-timeout=20", "--gate-timeout=60", f"--watch={SESSION_S + 4}")

LIBRDKAFKA, JAVA = "--client librdkafka:2.16.0", "--client java:4.3.1"
CONSUMER = {"group.protocol": "consumer"}
JOURNEYS: Mapping[str, tuple[Fleet, str]] = {
    "java two bounces": (java("range"), f"--to cooperative {JAVA}"),
    "java stop and start": (java("range"), f"--to consumer --offline {JAVA}"),
    "java rolling upgrade": (java("cooperative-sticky"), f"--to consumer {JAVA}"),
    "java static": (java("range", static=True), f"--to consumer {JAVA}"),
    "java downgrade": (Fleet(library="java", config=CONSUMER), f"--to classic {JAVA}"),
    "librdkafka stop and start": (librdkafka("range"), f"--to cooperative {LIBRDKAFKA}"),
    "librdkafka rolling upgrade": (librdkafka("range"), f"--to consumer {LIBRDKAFKA}"),
    "librdkafka static": (librdkafka("range", static=True), f"--to consumer {LIBRDKAFKA}"),
    "librdkafka downgrade": (Fleet(library="librdkafka", config=CONSUMER), f"--to classic {LIBRDKAFKA}"),
    "librdkafka bridge": (librdkafka("cooperative-sticky"), f"--to consumer {LIBRDKAFKA}"),
}


def fleet_of(journey: str) -> Fleet:
    """Each of its members in a separate process, with a session that is not long."""
    fleet, _ = JOURNEYS[journey]
    short = {"session.timeout.ms": str(SESSION_S * 1000)} if "session.timeout.ms" in fleet.config else {}
    return replace(fleet, own_process=True, every_s=EVERY_S, config={**fleet.config, **short})


@dataclass(slots=True, kw_only=True)
class Unattended:
    """A deployment, the plan for it, and the runs of `kohort migrate`."""

    journey: str
    deployment: Deployment
    supervisor: Supervisor
    directory: Path
    plan_file: Path = field(init=False)
    runs: int = 0

    def __post_init__(self) -> None:
        self.plan_file = self.directory / "plan.yaml"
        (self.directory / "home").mkdir(parents=True)

    @property
    def kohort(self) -> Kohort:
        return Kohort(self.directory / "home")

    @property
    def plan(self) -> Plan:
        return read_plan(self.plan_file)

    def make_plan(self) -> None:
        """Have the plan of the settled group written, with the rehearsed costs of its steps."""
        self.deployment.wait_rest()
        one = next(iter(self.deployment.applications.values()))
        file = self.directory / "client.properties"
        settings = {**CLASSIC, "session.timeout.ms": str(SESSION_S * 1000), **one.config}
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        group, broker = self.deployment.group, self.deployment.broker.bootstrap
        answer = self.kohort(
            f"plan {group} {JOURNEYS[self.journey][1]} -b {broker} --output yaml",
            f"--bounce-seconds={BOUNCE_S}",
            "--rehearse",
            f"--seeds={SEEDS}",
            f"--client-config={one.library}={file}",
        )
        self.plan_file.write_text(answer.succeeded().stdout)

    @contextmanager
    def migrate(self, *options: str) -> Iterator[Running]:
        """`kohort migrate` at work; killed with the context."""
        self.runs += 1
        words = ("migrate", self.plan_file, "-b", self.deployment.broker.bootstrap, "--execute", "--yes")
        restart = ("--restart", f"{self.supervisor.command} {{action}}")
        name = f"migrate{self.runs}"
        with in_pipe(self.kohort, self.directory, *words, *restart, *LIMITS, *options, name=name) as running:
            yield running

    @property
    def events(self) -> list[dict[str, Any]]:
        file = self.plan_file.with_name(f"{self.plan_file.name}.run") / "events.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()]

    def run(self, *options: str) -> int:
        """Carry the plan out; the exit status."""
        with self.migrate(*options) as running:
            return running.process.wait(LONGEST_S)

    def finish(self) -> None:
        """Carry it out. AssertionError: it did not finish."""
        status = self.run()
        rule, message = self.stop()
        if status:
            raise AssertionError(
                f"exit status {status}, {rule.value if rule else rule}: {message} {self.complaints()}"
            )

    def run_and_kill(self, after_s: float) -> bool:
        """Carry it out, and kill it after a while; its commands continue. False: it had ended before."""
        with self.migrate() as running:
            try:
                running.process.wait(after_s)
            except TimeoutExpired:
                return True
        return False

    def complaints(self) -> str:
        """The errors that the last run printed."""
        return (self.directory / f"migrate{self.runs}.err").read_text()

    def stop(self) -> tuple[StopRule | None, str]:
        """The rule that stopped the last run, and what it said."""
        ends = [event for event in self.events if event["event"] in ("stopped", "finished")]
        if not ends or ends[-1]["event"] == "finished":
            return None, ""
        return StopRule(ends[-1]["rule"]), ends[-1]["message"]

    @property
    def most_twice(self) -> float:
        """How many records are consumed twice in the worst rehearsals of all steps."""
        return sum(step.rehearsed.worst.read_twice for step in self.plan.steps if step.rehearsed)

    def check_end(self, *, is_back: bool = False) -> None:
        """All consumers run as last called for, in a settled group of the planned type, or after a rollback of the
        former one; and no more calls were made at once than a round has members."""
        supervisor, (fleet, options) = self.supervisor, JOURNEYS[self.journey]
        for name, application in supervisor.by_name.items():
            due = supervisor.original(name) if is_back else supervisor.due(name)
            if due is None:  # It was stopped, and then started by a mistake, rightly
                due = supervisor.for_other(supervisor.calls[-1], name)
            if not application.running or application.config != due:
                running = "it runs" if application.running else "it does not run"
                raise AssertionError(f"{name}: {running} with {application.config}, not {due}")
        is_consumer = fleet.config == CONSUMER if is_back else "--to consumer" in options
        view, type_ = self.deployment.view(), "consumer" if is_consumer else "classic"
        shown = view.kind, view.state, len(view.members)
        if shown != (type_, "Stable", len(supervisor.by_name)):
            raise AssertionError(f"the group is {shown}, not {type_}")
        most = max(len(members) for step in self.plan.steps for members in step.rounds)
        if supervisor.most_at_once > most:
            raise AssertionError(f"{supervisor.most_at_once} calls at once, and a round has {most} members")

    def correct(self, *, besides: str | None = None) -> None:
        """What an operator does about consumers that do not run as they were last asked to, but for one."""
        for name, application in self.supervisor.by_name.items():
            due = self.supervisor.due(name)
            is_right = application.running and not application.errors() and application.config == due
            if due is None or name == besides or is_right:
                continue
            self.supervisor.restart(name, due)
        for application in self.supervisor.by_name.values():
            if application.running is not None:
                with suppress(TimeoutError):  # it may have failed
                    application.running.wait_event("assigned", SESSION_S)
