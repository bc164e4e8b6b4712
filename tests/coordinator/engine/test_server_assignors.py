"""`group.consumer.assignors`: Kafka's own by name or class, installed ones (KIP-848 "Server Side Mode"), and ties."""

from pathlib import Path

import pytest

from coordinator.configs.settings import Config
from coordinator.errors import InvalidSetting
from tests.coordinator.engine.consumer import Consumer, described_group, group_of, images, joined, settled
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
    [(f"{KAFKA}UniformAssignor", ("uniform",)), (f"range,{KAFKA}UniformAssignor", ("range", "uniform"))],
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


@pytest.mark.parametrize(("release", "epochs"), [("4.4.0", (2, 2, 3)), ("4.3.1", (2, 2, 2))])
def test_another_assignor_in_use_moves_the_epoch(release: str, epochs: tuple[int, ...]) -> None:
    """KAFKA-20434; a request that leaves the same assignor in use does not, unlike on a broker (a tie)."""
    driver = Driver(images(("foo", 4)), kohort_release=release)
    a = joined(driver, "a")
    seen = [a.beat(assignor=assignor).epoch for assignor in (None, "uniform", "range")]
    assert tuple(seen) == epochs
    b, before = joined(driver, "b", assignor="uniform"), group_of(driver).epoch
    for member in (a, b, a, b):
        member.beat()
    assert group_of(driver).epoch == before


@pytest.mark.parametrize(("release", "assigned"), [("4.4.0", 3), ("4.3.1", 2)])
def test_the_last_leave_moves_the_assignment_epoch(release: str, assigned: int) -> None:
    driver = Driver(images(("foo", 4)), kohort_release=release)
    joined(driver, "a").leave()
    group = group_of(driver)
    assert (group.epoch, group.assignment_epoch) == (3, assigned)


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
            "raises",
            f"assignor '{OWN}': assign raised KeyError: 'orders' (installed_assignor_package.py, line 12)",
        ),
        ("hangs", f"assignor '{OWN}': assign did not return within 0.2 s"),
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
