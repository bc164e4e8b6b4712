"""A plan played on a real broker with real consumers, by the same hands as in a rehearsal."""

import re
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import SimpleNamespace

from cli.verbs.plan.files import read_client_config, read_plan
from cli.verbs.rehearse.action import find
from coordinator.simulation.result import MemberMetrics, Violation
from coordinator.simulation.scenario import MemberScript
from groups.model import Group
from migration.model import Plan
from migration.rehearsal.faults import PlanFaults
from migration.rehearsal.plan_run import simulated_for_plan
from migration.rehearsal.simulated_members import FoundGroup, MemberAction, SimulatedMembers, StepRound
from migration.rehearsal.simulation import Refusal, RehearsalCosts
from tests.cli.sources.live_source import live_source
from tests.migration.end_to_end.application import Application
from tests.migration.end_to_end.deployment import PARTITIONS, Deployment
from tests.migration.end_to_end.fleets import CLASSIC, JAVA
from tests.migration.end_to_end.follower import PLAN_FILE, Follower
from tests.migration.end_to_end.measured import costs_of

KEPT = ("auto.commit.interval.ms", "group.instance.id")  # Of a configuration, what no script says
_WORDS = re.compile(r"(?<!^)(?=[A-Z])")


class RealGroup:
    """What `PlanRun` requires of a `Simulation`, of a deployment."""

    def __init__(self, group: FoundGroup, simulated: SimulatedMembers, deployment: Deployment) -> None:
        self.found, self._simulated, self._deployment = group, simulated, deployment
        self.world = SimpleNamespace(story=SimpleNamespace(last_lines=lambda: ()))
        self.violations: tuple[Violation, ...] = ()
        self.answers = True
        self.scripts = {name: member.script for name, member in simulated.members.items()}
        self._applications = dict(deployment.applications)
        self._lives = list(deployment.applications.values())  # All that have run
        self._stopped: set[str] = set()
        self._starting: list[tuple[float, Application]] = []
        self._ending: list[tuple[float, Application]] = []  # Predecessors to stop, and when

    # What is done to it.

    def begin(self, *, leader: str | None = None) -> None:
        """The group, under any leader."""
        self._has_leader = leader is not None
        self._deployment.wait_rest()
        self._began_ns = time.monotonic_ns()

    def wait(self, seconds: float) -> None:
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            self._do_what_is_due()
            time.sleep(min(left_s, 0.1))
        self._do_what_is_due()

    def wait_for_change(self, step_s: float, _longest_s: float) -> None:
        self.wait(step_s)

    def perform(self, action: MemberAction) -> None:
        name = self.name_of(action.member)
        one = self._applications[name]
        if action.script is None:
            self._stopped.add(action.member)
            one.stop()
            return
        self._stopped.discard(action.member)
        self.scripts[action.member] = action.script
        config = _config(one, action.script)
        if action.away_s < 0:
            old, one = one, self._successor(one)
            self._applications[name] = one
            self._ending.append((time.monotonic() - action.away_s, old))
            one.config = config
            one.start()
            return
        if one.running is not None:
            one.stop()
        one.config = config
        self._starting.append((time.monotonic() + action.away_s, one))
        self._do_what_is_due()

    def inject(self, faults: PlanFaults, position: StepRound | None) -> None:
        """Nothing befalls it."""

    def settles(self) -> bool:
        return True

    def result(self) -> None:
        """There is nothing simulated."""

    def _successor(self, one: Application) -> Application:
        """In the unused process."""
        members, lives = self._deployment.stranger.members, one.lives + 10
        made = replace(one, members=members, running=None, lives=lives, _past=[], _journals={})
        self._lives.append(made)
        return made

    def _do_what_is_due(self) -> None:
        now_s = time.monotonic()
        for planned_actions, act in ((self._starting, Application.start), (self._ending, Application.stop)):
            for due_s, one in list(planned_actions):
                if due_s <= now_s:
                    planned_actions.remove((due_s, one))
                    act(one)

    # Observable state.

    @property
    def now_s(self) -> float:
        return time.monotonic()

    @property
    def costs(self) -> RehearsalCosts:
        """Up to now, as the consumers wrote it down and the broker's log has it."""
        return costs_of(self._deployment, self._began_ns)

    @property
    def metrics(self) -> MemberMetrics:
        """Unknown: a broker does not have its consumers' metrics."""
        return {}

    def misplaced(self) -> int:
        return 0

    def name_of(self, member: str) -> str:
        return self._simulated.members[member].name

    def runs_as(self, member: str, script: MemberScript | None) -> bool:
        return script == (None if member in self._stopped else self.scripts[member])

    def missing(self, stopped: Collection[str]) -> str:
        for member in self._simulated.members:
            name = self.name_of(member)
            if member not in stopped and self._applications[name].running is None:
                return f"{name} has not rejoined"
        return ""

    def unsettled(self) -> str:
        """By the members' own view: two processes of one member, or a partition without one owner."""
        if self._ending:
            return f"two processes are {self._ending[0][1].name}"
        running = [one.running for one in self._applications.values() if one.running is not None]
        assignments = [pair for member in running for pair in member.assignment().items()]
        held = Counter((topic, number) for topic, numbers in assignments for number in numbers)
        if running and (len(held) != PARTITIONS or held.total() != PARTITIONS):
            return f"of {PARTITIONS} partitions {len(held)} have an owner, {held.total() - len(held)} two"
        return ""

    def group(self) -> Group | None:
        with live_source(self._deployment.broker) as source:
            items = source.describe([self._deployment.group], offsets=False).items
            if self._has_leader:
                items = source.with_leaders(items)
        return items[0] if items else None

    def origin_of(self, member_id: str) -> str:
        names = {name: member.name for name, member in self._simulated.members.items()}
        return next(origin for origin, name in names.items() if member_id.startswith(f"{name}-"))

    def refusals(self) -> tuple[Refusal, ...]:
        """Exceptions that named an error of the protocol, by their names there."""
        return tuple(
            Refusal(at_s=event.heard_at, member=one.name, error=error_name(event.reason or ""))
            for one in self._lives
            for event in one.thrown()
        )


def planned(follower: Follower, options: str) -> tuple[Plan, FoundGroup, SimulatedMembers]:
    """The plan of its group, made on the broker, and what a rehearsal of it needs: the members have the settings that
    they run with, and will have as classic ones."""
    deployment = follower.deployment
    follower.make_plan(*options.split())
    plan = read_plan(follower.shell.directory / PLAN_FILE)
    with live_source(deployment.broker) as source:
        group = find(plan, source)
    one = next(iter(deployment.applications.values()))
    file = one.directory / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in (CLASSIC | one.config).items()))
    return plan, group, simulated_for_plan(plan, group, [read_client_config(f"{one.library}={file}")])


def error_name(reason: str) -> str:
    """Of what was thrown: `FencedInstanceIdException: …` is FENCED_INSTANCE_ID; librdkafka's names stay."""
    name = reason.split(":")[0]
    if not name.endswith("Exception"):
        return name
    return _WORDS.sub("_", name.removesuffix("Exception")).upper()


def _config(one: Application, script: MemberScript) -> dict[str, str]:
    """What the script says, with what no script changes."""
    kept = {key: value for key, value in one.config.items() if key in KEPT}
    if script.protocol == "consumer":
        remote = {"group.remote.assignor": script.remote_assignor} if script.remote_assignor else {}
        return {**kept, "group.protocol": "consumer", **remote}
    names: Mapping[str, str] = JAVA if one.library == "java" else {}
    strategy = ",".join(names.get(name, name) for name in script.assignors)
    return {**kept, **CLASSIC, "partition.assignment.strategy": strategy}
