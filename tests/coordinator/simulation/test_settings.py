"""A scenario under other settings: whose they become, and what is refused."""

from __future__ import annotations

import pytest

from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import Restart, Variant
from coordinator.simulation.scenario_file import shipped_scenario
from coordinator.simulation.variants import NAMES, check_playable, with_settings, with_variant


def test_an_interval_is_that_of_both_protocols() -> None:
    played = with_settings(shipped_scenario("upgrade"), {"heartbeat.interval.ms": "700"})
    scripts = [
        *played.members.values(),
        *(event.script for event in played.events if isinstance(event, Restart)),
    ]
    assert {script.protocol for script in scripts} == {"classic", "consumer"}
    for script in scripts:
        assert ("heartbeat.interval.ms" in script.config) == (script.protocol == "classic")
    assert played.settings["group.consumer.heartbeat.interval.ms"] == "700"
    for variant in Variant:
        check_playable(played, variant)
    as_consumers = with_variant(played, Variant.CONSUMER)
    assert as_consumers.settings["group.consumer.heartbeat.interval.ms"] == "700"


def test_what_else_can_be_set() -> None:
    options = {
        "library": "librdkafka", "loss": "0.25", "max.poll.interval.ms": "7000",
        "group.initial.rebalance.delay.ms": "0",
    }  # fmt: skip
    played = with_settings(shipped_scenario("scale-out"), options)
    assert {script.library for script in played.members.values()} == {"librdkafka"}
    assert {script.config["max.poll.interval.ms"] for script in played.members.values()} == {"7000"}
    assert (played.faults.loss, played.settings["group.initial.rebalance.delay.ms"]) == (0.25, "0")
    assert set(options) <= set(NAMES)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("hearbeat.interval.ms", "1", "did you mean heartbeat.interval.ms"),
        ("heartbeat.interval.ms", "soon", "number of ms"),
        ("session.timeout.ms", "2000", "heartbeat"),
        ("loss", "2", "from 0 to 1"),
        ("loss", "much", "from 0 to 1"),
        ("library", "no-such-library", "there is no library"),
        ("group.max.size", "none", "must be an integer"),
    ],
)
def test_what_cannot_be_played_is_refused(name: str, value: str, why: str) -> None:
    with pytest.raises(InvalidSetting, match=why):
        with_settings(shipped_scenario("scale-out"), {name: value})
