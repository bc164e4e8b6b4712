"""`kohort serve --faults FILE` and `--scenario`: what goes wrong at which time."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from cli.verbs.serve.timeline import read_timeline, timeline_of
from coordinator.faults import ChangeTopic, CoordinatorFault, Delay, Drop, Dropped, FailCoordinator
from coordinator.server.faults.reading import VERBS, read_faults
from coordinator.server.served import apis_with_faults
from coordinator.simulation.scenario_file import parse_scenario
from tests.cli.command import Kohort
from tests.cli.schemas import load
from tests.cli.served_data import serving
from tests.conformance.cluster import Cluster
from tests.docs.pages import DOCS, blocks
from tests.kafka.wait import wait_until

PAGE = DOCS / "faults.md"
SCHEMA = load("faults")


def _example() -> str:
    (block,) = blocks(PAGE, "yaml")
    return block.text


def test_the_example_of_the_page_is_read_and_fits_the_schema(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(_example())
    assert len(read_faults(file, {*apis_with_faults(), "TxnOffsetCommit"})) == 12
    assert not list(Draft202012Validator(SCHEMA).iter_errors(yaml.safe_load(_example())))


def test_schema_and_reader_have_the_same_verbs_and_keys() -> None:
    by_verb: dict[str, set[str]] = {verb: set() for verb in VERBS}
    for event in SCHEMA["$defs"]["event"]["oneOf"]:
        keys = set(event["properties"]) - {"at"}
        verb = next(name for name in VERBS if name in keys and name in event["required"])
        by_verb[verb] |= keys
    expected = {
        verb: {str(field.metadata.get("named", field.name)) for field in kind.__dataclass_fields__.values()}
        - {"at", "compacted"}
        for verb, kind in VERBS.items()
    }
    assert by_verb == expected


@pytest.mark.parametrize(
    "event",
    [
        {"at": 1, "delay": -1},
        {"at": 1, "delay": 1, "drop": "answer"},
        {"at": 1, "error": "NONE"},
        {"delay": 1},
        {"at": 1, "topic": "orders"},
        {"at": 1, "expire": "m-1"},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(event: dict[str, Any]) -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors({"kohort": 1, "events": [event]}))


SCENARIO = """
kohort: 1
topics: {orders: 6}
settings: {group.initial.rebalance.delay.ms: 0}
members: {a: {topics: [orders]}}
events:
  - {at: 0, start: a}
  - {at: 5, topic: orders, partitions: 8}
  - {at: 6, topic: late, create: 2}
  - {at: 7, topic: late, recreate: 3}
  - {at: 8, topic: late, delete: true}
  - {at: 9, coordinator: crash, for: 3}
  - {at: 10, coordinator: zombie, for: 3}
  - {at: 11, close: a}
faults: {loss: 0.5, delay_ms: [10, 20], duplicate: 0.1}
"""


def test_of_a_scenario_topics_coordinators_and_network_are_played() -> None:
    timeline = timeline_of(parse_scenario(Path("mine.yaml"), SCENARIO))
    assert (timeline.topics, timeline.settings) == (["orders:6"], {"group.initial.rebalance.delay.ms": "0"})
    assert list(timeline.events) == [
        Delay(at=0, bounds_s=(0.02, 0.04)),
        Drop(at=0, what=Dropped.CONNECTION, chance=0.75),
        ChangeTopic(at=5, topic="orders", partitions=8),
        ChangeTopic(at=6, topic="late", create=2),
        ChangeTopic(at=7, topic="late", recreate=3),
        ChangeTopic(at=8, topic="late", delete=True),
        FailCoordinator(at=9, fault=CoordinatorFault.CRASH, for_s=3),
        FailCoordinator(at=10, fault=CoordinatorFault.MOVE),
    ]
    assert list(timeline.remarks) == [
        "mine: 2 events of members are skipped, which your own clients must play: a",
        "mine: only a simulation has duplicate",
        "mine: a coordinator: zombie moves at once here; the old one does not linger",
    ]


def test_a_faults_file_comes_on_top_of_a_scenario(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("kohort: 1\nevents: [{at: 10, topic: orders, partitions: 7}]\n")
    timeline = read_timeline(file, "topic-growth")
    assert [event.at for event in timeline.events] == [10, 40]


def test_the_server_plays_its_events_and_says_so(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(
        "kohort: 1\nevents:\n"
        "  - {at: 0.1, topic: orders, partitions: 4}\n"
        "  - {at: 0.2, expire: m-1, group: billing}\n"
        "  - {at: 0.3, delay: 0, api: Heartbeat}\n"
    )

    async def partitions(cluster: Cluster) -> int:
        metadata = await cluster.ask("Metadata", 12, topics=None)
        return sum(len(topic["partitions"]) for topic in metadata["topics"])

    with serving(None, "--topic", "orders:3", "--faults", str(file)) as served:
        wait_until(lambda: served.ask(partitions) == 4, "the topic has grown")
        time.sleep(0.4)  # what follows is not seen from outside
        assert served.stop() == 0
    assert "at 0.1 s: orders has 4 partitions" in served.stderr
    assert "at 0.2 s: expire m-1, group billing: not done: there is no group billing" in served.stderr


def test_a_file_that_is_wrong_is_refused_with_line_and_field(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("kohort: 1\nevents:\n  - {at: 1, delay: soon}\n")
    answer = kohort.quick("serve --listen 127.0.0.1:0 --faults", file)
    answer.assert_refused(
        f"{file}:3: events[0].delay: expected 5s, 1.5m, 2h, 7d, 1500ms, PT2H or a number of ",
        "'soon'",
        status=3,
    )
