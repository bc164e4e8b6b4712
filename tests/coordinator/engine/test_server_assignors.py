"""`group.consumer.assignors`: Kafka's own by name or class, installed ones (KIP-848 "Server Side Mode"), and ties."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.configs.settings import Config
from coordinator.engine.consumer.target_assignment import chosen_assignor, shown_assignor
from coordinator.errors import InvalidSetting
from tests.coordinator.engine.consumer import Consumer, described_group, images, joined, settled
from tests.coordinator.engine.driver import Driver
from tests.support.installed_assignor import install_assignor
from wire.errors import ErrorCode

KAFKA = "org.apache.kafka.coordinator.group.assignor."
OWN = "first-takes-all"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(install_assignor(tmp_path)))


def named(text: str) -> tuple[str, ...]:
    return Config.parse({"group.consumer.assignors": text}).group_consumer_assignors


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"{KAFKA}UniformAssignor", ("uniform",)),
        (f"{KAFKA}RangeAssignor, {KAFKA}UniformAssignor", ("range", "uniform")),
        (f"range,{KAFKA}UniformAssignor", ("range", "uniform")),
    ],
)
def test_kafkas_assignors_by_the_names_of_their_classes(text: str, names: tuple[str, ...]) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{KAFKA}SimpleAssignor", "there is no assignor 'org.apache.kafka"),
        (f"uniform,{KAFKA}UniformAssignor", "must list at least one assignor, each once"),
        ("cooperative-sticky", "there is no assignor 'cooperative-sticky'"),
        (OWN, f"there is no assignor '{OWN}'"),
    ],
)
def test_assignors_that_a_broker_would_not_start_with(text: str, why: str) -> None:
    with pytest.raises(InvalidSetting, match=r"group\.consumer\.assignors") as caught:
        named(text)
    assert why in str(caught.value)


@pytest.mark.usefixtures("installed")
def test_an_installed_assignor_computes() -> None:
    driver = Driver(images(("foo", 4)), group_consumer_assignors=f"{OWN},uniform")
    a, b = joined(driver, "a"), joined(driver, "b")
    settled(a, b)
    assert (a.owned, b.owned, described_group(driver).protocol) == ({"foo": [0, 1, 2, 3]}, {}, OWN)
    refused = Consumer(driver, "c").join(assignor="range")
    assert refused.error is ErrorCode.UNSUPPORTED_ASSIGNOR
    c = joined(driver, "c", assignor="uniform")
    settled(a, b, c)
    assert sorted(len(member.owned["foo"]) for member in (a, b, c)) == [1, 1, 2]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ("refused", "this topic cannot be assigned"),
        ("twice", f"assignor '{OWN}': a partition is assigned twice: foo-0"),
        (
            "broken",
            f"assignor '{OWN}': a partition is assigned to a member that is not in the group: stranger",
        ),
    ],
)
def test_an_assignor_that_fails_refuses_the_heartbeat(topic: str, why: str) -> None:
    driver = Driver(images((topic, 2), ("foo", 2)), group_consumer_assignors=OWN)
    a = joined(driver, "a", topics=("foo",))
    records = len(driver.records)
    assert a.refused(topics=(topic,)) == (
        ErrorCode.UNKNOWN_SERVER_ERROR,
        f"Failed to compute a new target assignment for epoch 3: {why}",
    )
    assert len(driver.records) == records
    assert (a.beat().epoch, a.owned) == (2, {"foo": [0, 1]})


BOTH = ("uniform", "range")


@pytest.mark.parametrize(
    ("requested_assignors", "old", "new", "expected"),
    [
        ({}, None, None, "uniform"),
        ({}, None, "range", "range"),
        ({"uniform": 1}, None, "range", "range"),
        ({"range": 1}, None, "uniform", "uniform"),
        ({"uniform": 1, "range": 1}, "uniform", "uniform", "uniform"),
        ({"uniform": 1, "range": 1}, "range", "range", "range"),
        ({"uniform": 1, "range": 1}, None, None, "uniform"),
        ({"uniform": 1, "range": 2}, None, None, "range"),
        ({"uniform": 2, "range": 1}, "uniform", "range", "range"),
        ({"uniform": 1, "range": 1}, None, "range", "range"),
        ({"uniform": 1}, "uniform", None, "uniform"),
    ],
)
def test_what_is_computed_with(
    requested_assignors: dict[str, int], old: str | None, new: str | None, expected: str
) -> None:
    assert chosen_assignor(requested_assignors, old, new, BOTH) == expected


def test_an_assignor_that_is_not_configured_any_more_is_not_used() -> None:
    assert chosen_assignor({"range": 3}, None, None, ("uniform",)) == "uniform"


def test_describe_shows_uniform_for_a_tie() -> None:
    assert shown_assignor({"uniform": 1, "range": 1}, "range") == "uniform"
    assert shown_assignor({}, "range") == "range"
