"""Products that only look like Kafka: every command ends in its own words, and says what the product lacks. What each
leaves out is written down from its documents, which docs/look-alikes.md names; the products themselves are not run
here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.cli.command import Answer, Kohort
from tests.cli.offset_rig import join
from tests.cli.served_data import serving
from tests.docs.pages import DOCS
from tests.kafka.look_alike import LookAlike, Product
from wire.errors import ErrorCode

TOPIC, PARTITIONS = "orders", 3
CONSUMER_GROUPS = frozenset({68, 69})
NEW_GROUPS = CONSUMER_GROUPS | {*range(76, 81), *range(88, 93)}
"""Heartbeats and descriptions of consumer, share and streams groups, and offsets of share groups."""
GROUP_RESOURCE = 32


def _no_group_settings(answer: dict[str, Any]) -> None:
    for result in answer["results"]:
        if result["resourceType"] == GROUP_RESOURCE:
            result |= {"errorCode": ErrorCode.INVALID_REQUEST, "errorMessage": "no such type", "configs": []}


def _no_offsets_topic(answer: dict[str, Any]) -> None:
    for topic in answer["topics"]:
        if topic["name"].startswith("__"):
            topic |= {"errorCode": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "partitions": []}


def _dead_without_members(answer: dict[str, Any]) -> None:
    for group in answer["groups"]:
        if not group["members"]:
            group |= {"groupState": "Dead", "protocolType": ""}


def _only_with_members(answer: dict[str, Any]) -> None:
    answer["groups"] = [group for group in answer["groups"] if group["groupId"] == "live"]


PRODUCTS: Mapping[str, Product] = {
    "Redpanda": Product(
        hidden=NEW_GROUPS | {60, 66, 75},
        newest={2: 4, 3: 8, 9: 7, 10: 3, 15: 5, 16: 3, 32: 4, 42: 2},
        changes={32: _no_group_settings},
    ),
    "Azure Event Hubs": Product(
        hidden=NEW_GROUPS | {32, 33, 44, 47, 60, 61, 65, 66, 75},
        newest={1: 6, 2: 2, 3: 5, 8: 3, 9: 3, 10: 1, 15: 1, 16: 1, 18: 1, 42: 0},
        changes={3: _no_offsets_topic, 15: _dead_without_members, 16: _only_with_members},
    ),
    "Conduktor Gateway": Product(hidden=CONSUMER_GROUPS),
}
"""The APIs and versions that documents name; for Event Hubs, which names none, those of the Kafka 1.0 it speaks of."""

QUESTIONS = (
    "list", "list --state Stable --type consumer", "describe live", "describe live --members --verbose",
    "describe idle --state", "describe kip", "describe --all-groups", "describe live --last-commit",
    "describe live --lag-time", "describe idle --migration", "describe live --authorized-operations",
    f"offsets reset idle --to-earliest --topic {TOPIC}", f"offsets reset live --to-latest --topic {TOPIC}",
    f"offsets reset idle --to-datetime 2026-01-01T00:00:00Z --topic {TOPIC}", "delete idle", "config get idle",
    "plan live --to consumer --client java:4.1.0", "dry-run live", "snapshot live", "diagnose live idle --for 1s",
    "exporter --once",
)  # fmt: skip
"""Of a classic group with a member, one without, and a group of the consumer protocol."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What every product is asked."""

    port: int
    kohort: Kohort

    def ask(self, product: str, *questions: str) -> list[Answer]:
        with LookAlike(self.port, PRODUCTS[product]) as cluster:
            return [self.kohort.quick(question, "-b", cluster.bootstrap) for question in questions]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with serving(None, "--topic", f"{TOPIC}:{PARTITIONS}") as served:
        producer = Producer({"bootstrap.servers": served.bootstrap})
        for number in range(5 * PARTITIONS):
            producer.produce(TOPIC, b"", partition=number % PARTITIONS)
        producer.flush()
        common = {"bootstrap.servers": served.bootstrap, "auto.offset.reset": "earliest"}
        idle = Consumer({**common, "group.id": "idle"})
        idle.commit(offsets=[TopicPartition(TOPIC, 0, 4)], asynchronous=False)
        idle.close()
        members = [
            Consumer({**common, "group.id": name, "group.protocol": protocol})
            for name, protocol in {"live": "classic", "kip": "consumer"}.items()
        ]
        for member in members:
            join(member, TOPIC)
        home = tmp_path_factory.mktemp("home")
        yield Scene(served.port, Kohort(home))
        for member in members:
            member.close()


@pytest.mark.parametrize("product", PRODUCTS)
def test_no_command_is_at_a_loss(scene: Scene, product: str) -> None:
    assert f"| {product} |" in (DOCS / "look-alikes.md").read_text(encoding="utf-8")
    for question, answer in zip(QUESTIONS, scene.ask(product, *QUESTIONS), strict=True):
        assert not answer.traceback, (question, answer)
        assert answer.status in (0, 1, 3, 4), (question, answer)
        # What could not be read is said; a table without a word would look whole.
        assert answer.status != 3 or "kohort: " in answer.stderr, (question, answer)


@pytest.mark.parametrize("product", PRODUCTS)
def test_classic_groups_are_whole(scene: Scene, product: str) -> None:
    members, offsets, reset = scene.ask(
        product, "describe live --members --output json", "describe idle --output json",
        f"offsets reset idle --to-earliest --topic {TOPIC}",
    )  # fmt: skip
    (live,) = members.succeeded().document["groups"]
    assert live["members"][0]["owned"] == {TOPIC: [0, 1, 2]}
    (idle,) = offsets.document["groups"]
    assert [(row["partition"], row["committed"], row["lag"]) for row in idle["offsets"]] == [(0, 4, 1)]
    assert reset.status == 0, reset


def test_a_group_whose_protocol_is_hidden_is_not_just_dead(scene: Scene) -> None:
    (listed, described) = scene.ask("Redpanda", "list", "describe kip")
    for answer in (listed, described):
        answer.succeeded()
        assert "kip: listed, but described as Dead" in answer.stderr
        assert "does not answer ConsumerGroupDescribe" in answer.stderr
        assert answer.stderr.count("ConsumerGroupDescribe") == 1
    (answer,) = scene.ask("Conduktor Gateway", "describe kip")
    answer.assert_said(3, "does not answer ConsumerGroupDescribe", "unless a gateway hides it")
    # Its brokers filter neither by type nor by state.
    by_state = [f"list --state {state} --output csv" for state in ("Stable", "Empty")]
    of_type, *of_state = scene.ask("Redpanda", "list --type consumer", *by_state)
    assert "does not report group types" in of_type.succeeded().stderr
    assert [{row["GROUP"] for row in answer.rows} for answer in of_state] == [{"live"}, {"idle"}]


def test_dead_counts_as_empty_if_the_service_has_no_empty(scene: Scene) -> None:
    state, reset, waited = scene.ask(
        "Azure Event Hubs", "describe idle --state --output json", f"offsets reset idle --to-latest --topic {TOPIC}",
        f"offsets reset idle --to-offset 4 --topic {TOPIC}:0 --wait-empty 60s --execute --yes",
    )  # fmt: skip
    assert state.succeeded().document["groups"][0]["state"] == "Dead"
    dead = "not listed, and described as Dead: no such group, or the cluster does not list groups without members"
    assert f"idle: {dead}" in state.stderr
    assert "nothing was changed. Add --execute to make the change" in reset.succeeded().stderr
    assert "set 1 offset of idle" in waited.succeeded().stderr
    assert "waiting" not in waited.stderr
