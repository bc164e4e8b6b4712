"""Thousands of groups of mixed types on one real broker: all are listed, in order, with little memory."""

import resource
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cli.sources.live import LiveSource
from groups.listing import GroupFilter, GroupType
from groups.model import listing_of
from tests.cli.command import Kohort
from tests.cli.sources.live_source import live_source
from tests.kafka.broker import Broker
from tests.kafka.commits import (
    QUICK_COORDINATOR,
    make_classic_groups,
    make_consumer_groups,
    make_share_groups,
)
from tests.kafka.coordinator import running_broker
from tests.kafka.topics import create_topics
from tests.support.long import IS_LONG
from wire.messages.definition import Api

pytestmark = pytest.mark.kafka

CLASSIC, CONSUMER, SHARE = (2000, 2000, 1000) if IS_LONG else (1000, 1000, 500)
ODD = [
    *("größe", "two words", "semi;colon", "a/b\\c", "*", "--all-groups", "line\nbreak", "tab\tulator", "🐦"),
    *("'\"", "null"),
]
TOPIC = "orders"
PARTITIONS = 3


@pytest.fixture(scope="module")
def crowded(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with running_broker(kafka_jars, tmp_path_factory.mktemp("crowded"), QUICK_COORDINATOR) as broker:
        create_topics(broker, {TOPIC: PARTITIONS})
        make_classic_groups(broker, [*_names("classic", CLASSIC), *ODD], TOPIC, PARTITIONS)
        make_consumer_groups(broker, _names("consumer", CONSUMER), TOPIC)
        make_share_groups(broker, _names("share", SHARE), TOPIC)
        yield broker


def _names(kind: str, count: int) -> list[str]:
    return [f"{kind}-{number:04}" for number in range(count)]


@pytest.fixture
def source(crowded: Broker) -> Iterator[LiveSource]:
    with live_source(crowded, timeout_ms=60_000) as live:
        yield live


def test_all_are_listed_with_their_types(kohort: Kohort, crowded: Broker) -> None:
    groups = kohort.quick("list --output json -b", crowded.bootstrap).succeeded().document["groups"]
    counts = Counter(group["type"] for group in groups)
    assert counts == {"classic": CLASSIC + len(ODD), "consumer": CONSUMER, "share": SHARE}
    names = [group["group"] for group in groups]
    assert names == sorted(names)
    assert set(ODD) <= set(names)


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_found_by_their_names(kohort: Kohort, crowded: Broker, name: str) -> None:
    answer = kohort.quick("describe --output json -b", crowded.bootstrap, "--", name).succeeded()
    (group,) = answer.document["groups"]
    assert (group["group"], len(group["offsets"])) == (name, PARTITIONS)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many requests were sent, by name."""
    sent: Counter[str] = Counter()
    encoded = Api.encode_request

    def counted(self: Api, *arguments: Any) -> bytes:
        sent[self.name] += 1
        return encoded(self, *arguments)

    monkeypatch.setattr(Api, "encode_request", counted)
    return sent


def test_a_list_describes_no_empty_classic_group(source: LiveSource, sent: Counter[str]) -> None:
    listed = source.select_groups(GroupFilter(), described=True).items
    assert (sent["DescribeGroups"], sent["ConsumerGroupDescribe"]) == (0, CONSUMER // 200)
    classic = [row for row in listed if row.type is GroupType.CLASSIC]
    described = source.describe([row.id for row in classic], offsets=False).items
    assert classic == [listing_of(group) for group in sorted(described, key=lambda group: group.id)]


def test_few_requests_are_sent(source: LiveSource, sent: Counter[str]) -> None:
    source.describe([*_names("classic", CLASSIC), *_names("consumer", CONSUMER)], offsets=True)
    source.topics([TOPIC], end_offsets=True)
    assert sent == {
        "ApiVersions": 1, "ListGroups": 1, "Metadata": 2, "DescribeGroups": CLASSIC // 200, "ListOffsets": 1,
        "ConsumerGroupDescribe": CONSUMER // 200, "OffsetFetch": (CLASSIC + CONSUMER) // 50,
    }  # fmt: skip


@pytest.mark.parametrize("command", ["list", "describe --all-groups", "describe --all-groups --state"])
def test_the_commands_stay_small(kohort: Kohort, crowded: Broker, command: str) -> None:
    limit = 100 * 2**20
    done = subprocess.run(
        [kohort.executable, *command.split(), "-b", crowded.bootstrap],
        capture_output=True, text=True, check=False, env=kohort.env,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_DATA, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) > CLASSIC
