"""Applications of Kafka Streams that are moved between eager and cooperative (A04, A38): what a real broker and real
releases show after each restart is what the rehearsal of the same plan shows. Recorded: `KOHORT_LONG=1
KOHORT_WRITE_GOLDEN=1`; again if the machine was so busy that a session ended before a JVM had started."""

import json
import os
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from cli.options import SourceOptions
from cli.selection import opened
from cli.verbs.plan.files import read_plan
from cli.verbs.rehearse.action import find
from coordinator.engine.records import ClassicGroupRecord
from migration.client_config import ClientConfig, kept
from migration.rehearsal.plan_run import PlanRun, as_planned, places, simulated_for_plan
from migration.rehearsal.rehearsed import Rehearsed
from migration.rehearsal.simulated_members import StepRound
from migration.rehearsal.simulation import Simulation
from tests.cli.command import Kohort
from tests.kafka import jars
from tests.kafka.broker import Broker
from tests.kafka.classic_streams import ClassicStreams
from tests.kafka.coordinator import running_broker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.golden import GOLDEN
from tests.support.long import LONG
from wire.messages.embedded_protocol import read_assignment, read_subscription
from wire.messages.streams_assignor import read_streams_assignment, read_streams_subscription

WALKS = GOLDEN / "classic_streams" / "walks.yaml"
BOUNCE_S = 2.0  # About as long as a JVM takes to start
CONFIG = {"session.timeout.ms": "6000", "heartbeat.interval.ms": "500"}  # of `ClassicStreams`
INSTANCES = (1, 2, 3)
EAGER = {"upgrade.from": "2.3"}
Versions = list[str]
"""Of the threads of a generation, sorted: the version that one sent and the newest that it knows; those of its
assignment, and the newest that all know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    first: tuple[str, Mapping[str, str]]  # The release and the settings of all instances
    steps: tuple[tuple[str, Mapping[str, str]], ...]
    to: str
    settings: Mapping[str, str] = field(default_factory=dict)


COPIES = {"num.standby.replicas": "1", "num.stream.threads": "2"}
MADE = {
    "two-bounces": Walk(first=("2.3.1", {}), steps=(("3.9.1", EAGER), ("3.9.1", {})), to="cooperative"),
    "two-bounces-of-copies": Walk(
        first=("2.3.1", {}), steps=(("3.9.1", EAGER), ("3.9.1", {})), to="cooperative", settings=COPIES
    ),
    "only-bounce": Walk(first=("2.8.2", EAGER), steps=(("2.8.2", {}),), to="cooperative"),
    "back-to-eager": Walk(first=("3.9.1", {}), steps=(("3.9.1", EAGER),), to="eager"),
}


@pytest.fixture
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(jars.fetch(), tmp_path_factory.mktemp("broker")) as broker:
        create_topics(broker, {"orders": 4, "clicks": 2})
        yield broker


def plan_in(kohort: Kohort, file: Path, group: str, to: str, *source: str | Path) -> None:
    words = ("plan", group, "--to", to, "--output", "yaml", "--bounce-seconds", str(BOUNCE_S), *source)
    file.write_text(kohort.quick(*words).succeeded().stdout)


def versions(shares: Iterable[tuple[bytes, bytes]]) -> Versions:
    read = [(read_streams_subscription(sent), read_streams_assignment(given)) for sent, given in shares]
    return sorted(
        f"{sent.version}/{sent.newest_known} gets {given.version}/{given.commonly_known}"
        for sent, given in read
    )


@pytest.mark.kafka
@LONG
@pytest.mark.parametrize("name", MADE)
def test_a_real_application_is_moved_as_its_plan_says(
    kohort: Kohort, broker: Broker, tmp_path: Path, name: str
) -> None:
    """A04: with stores that count as persistent from 2.8 on; those of 2.3.1 would checkpoint wrong offsets."""
    walk, plan, server = MADE[name], tmp_path / "plan.yaml", ("-b", broker.bootstrap)
    with ExitStack() as stack:
        running: dict[int, ClassicStreams] = {}

        def start(number: int, release: str, settings: Mapping[str, str]) -> None:
            all_settings = {**CONFIG, **walk.settings, **settings}
            instance = f"{name}-{number}"
            running[number] = ClassicStreams(
                broker,
                tmp_path,
                release,
                name,
                "orders,clicks",
                instance,
                all_settings,
                persistent=release != "2.3.1",
            )
            stack.callback(running[number].kill)

        def settles() -> None:
            def settled() -> list[str] | None:
                generations = _generations(kohort, broker, name)
                answer = kohort.quick("describe", name, "--members", "--output", "json", *server)
                group = answer.document["groups"][0] if answer.status == 0 else {}
                threads = len(running) * int(walk.settings.get("num.stream.threads", 1))
                is_whole = group.get("state") == "Stable" and len(group["members"]) == threads
                runs = all(instance.state == "RUNNING" for instance in running.values())
                return [str(len(generations))] if is_whole and runs else None

            wait_until(settled, "the application settles", timeout_s=90, every_s=0.5)
            quiet = 0
            while quiet < 4:
                before = settled()
                quiet = (
                    quiet + 1 if wait_until(settled, "it settles", timeout_s=90, every_s=1) == before else 0
                )

        for number in INSTANCES:
            start(number, *walk.first)
            settles()
        plan_in(kohort, plan, name, walk.to, *server)
        found = yaml.safe_load(kohort.quick("snapshot", name, *server).succeeded().stdout)
        seen, rounds = len(_generations(kohort, broker, name)), []
        for step, (release, settings) in enumerate(walk.steps, 1):
            for round_, number in enumerate(INSTANCES, 1):
                running[number].close()
                start(number, release, settings)
                settles()
                kohort.quick("gate", plan, "--step", str(step), "--round", str(round_), *server).succeeded()
                gate = kohort.quick("gate", plan, "--step", str(step), "--output", "json", *server).document
                generations = _generations(kohort, broker, name)
                rounds.append(
                    {
                        "round": f"{step}.{round_}",
                        "rebalances": len(generations) - seen,
                        "closed_by": [one["check"] for one in gate["checks"] if one["holds"] is not True],
                        "versions": generations[seen:],
                    }
                )
                seen = len(generations)
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        walks = yaml.safe_load(WALKS.read_text()) if WALKS.exists() else {}
        topics = {topic: found["topics"][topic] for topic in found["topics"] if not topic.startswith("__")}
        walks[name] = {"topics": topics, "group": found["groups"][name], "rounds": rounds}
        WALKS.write_text(yaml.safe_dump(walks, width=500))
    assert rounds == yaml.safe_load(WALKS.read_text())[name]["rounds"]


def _generations(kohort: Kohort, broker: Broker, group: str) -> list[Versions]:
    """The generations of the group that have been Stable, from the broker's log."""
    logs = broker.data.glob("__consumer_offsets-*")
    answer = kohort.quick("log", "dump", "--group", group, "--key-type", "2", "--output", "ndjson", *logs)
    made: dict[int, Versions] = {}
    for line in answer.stdout.splitlines():
        value = json.loads(line)["payload"]["data"]
        shares = [
            (b64decode(one["subscription"]["userData"]), b64decode(one["assignment"]["userData"]))
            for one in value["members"]
        ]
        if shares:
            made[value["generation"]] = versions(shares)
    return [made[generation] for generation in sorted(made)]


def _simulated_generations(simulation: Simulation) -> list[Versions]:
    made: dict[int, Versions] = {}
    for record in simulation.world.log:
        if isinstance(record, ClassicGroupRecord) and record.value is not None and record.value.members:
            made[record.value.generation] = versions(
                (
                    read_subscription(member.subscription).user_data or b"",
                    read_assignment(member.assignment).user_data or b"",
                )
                for member in record.value.members
            )
    return [made[generation] for generation in sorted(made)]


class Observed(PlanRun):
    """A rehearsal that also checks the gate of the whole step after each round."""

    closed_by: dict[str, list[str]]

    def _play_round(self, step_round: StepRound) -> bool:
        opened = super()._play_round(step_round)
        judged = self._judge(step_round, None, self._simulation.group())
        place = "{}.{}".format(*step_round)
        self.closed_by[place] = [check.check for check in judged.checks if check.holds is not True]
        return opened


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", MADE)
def test_a_rehearsal_has_the_rebalances_gates_and_versions_of_the_real_walk(
    kohort: Kohort, tmp_path: Path, name: str, seed: int
) -> None:
    """A38"""
    recorded = yaml.safe_load(WALKS.read_text())[name]
    snapshot, file = tmp_path / "found.yaml", tmp_path / "plan.yaml"
    tree = {"kohort": 1, "topics": recorded["topics"], "groups": {name: recorded["group"]}}
    snapshot.write_text(yaml.safe_dump(tree))
    plan_in(kohort, file, name, MADE[name].to, "--snapshot", snapshot)
    plan = read_plan(file)
    with opened(SourceOptions(snapshot=snapshot)) as source:
        found = find(plan, source)
    entries = [(key, value, number) for number, (key, value) in enumerate(CONFIG.items(), 1)]
    simulated = simulated_for_plan(plan, found, (ClientConfig(name="x", settings=tuple(kept(entries))),))
    simulation = Simulation(found, simulated, seed, with_story=True)
    run = Observed(plan, simulation, seed, as_planned)
    run.closed_by = {}
    rehearsed: Rehearsed = run.run(None, None)
    assert rehearsed.unsafe == ()
    generations = _simulated_generations(simulation)
    rounds = recorded["rounds"]
    assert [played.costs.rebalances for played in rehearsed.rounds] == [one["rebalances"] for one in rounds]
    assert run.closed_by == {one["round"]: one["closed_by"] for one in rounds}
    expected = [of_generation for one in rounds for of_generation in one["versions"]]
    assert generations[-len(expected) :] == expected
    assert len(places(plan)) == len(rounds)


TOPOLOGY = """Topologies:
   Sub-topology: 0
    Source: clicks-source (topics: [clicks])
      --> count
    Processor: count (stores: [clicks-counts])
      --> none
      <-- clicks-source

  Sub-topology: 1
    Source: orders-source (topics: [orders])
      --> other
    Processor: other (stores: [orders-counts])
      --> none
      <-- orders-source
"""


def test_a_rehearsal_takes_a_topology_and_settings(kohort: Kohort, tmp_path: Path) -> None:
    """A38: what they say is not assumed; mistakes and the plan's own rehearsal know them, too."""
    snapshot, plan, topology = tmp_path / "found.yaml", tmp_path / "plan.yaml", tmp_path / "topology.txt"
    recorded = yaml.safe_load(WALKS.read_text())["back-to-eager"]
    tree = {"kohort": 1, "topics": recorded["topics"], "groups": {"back-to-eager": recorded["group"]}}
    snapshot.write_text(yaml.safe_dump(tree))
    topology.write_text(TOPOLOGY)
    plan_in(kohort, plan, "back-to-eager", "eager", "--snapshot", snapshot)
    rehearse = ("rehearse", plan, "--snapshot", snapshot)
    bare = kohort.quick(*rehearse).succeeded()
    assert "num.standby.replicas=0, probing.rebalance.interval.ms=600000; --setting changes" in bare.stderr
    answer = kohort.quick(
        *rehearse,
        "--topology",
        topology,
        "--setting",
        "num.standby.replicas=1",
        "--mistakes",
        "--output",
        "json",
    )
    assert answer.document["safe"], answer.stderr
    assert "num.standby.replicas" not in answer.stderr
    kinds = {mistake["mistake"]: mistake["why_not"] for mistake in answer.document["mistakes"]}
    assert kinds["upgrade-from-kept"] == "no step removes the upgrade.from of an earlier one"
    assert kinds["upgrade-from-refused"] is None
    topology.write_text("Topology")
    kohort.quick(*rehearse, "--topology", topology).assert_refused("line 1", "Sub-topology: 0")
    planned = kohort.quick(
        "plan", "back-to-eager", "--to", "eager", "--rehearse", "--seeds", "1", "--snapshot", snapshot
    )
    assert "rehearsed" in planned.succeeded().stdout.lower()
    assert "was not rehearsed" not in planned.stdout
