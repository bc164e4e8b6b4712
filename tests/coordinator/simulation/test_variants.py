"""A scenario under another protocol, or under other settings: whose they become, and what is refused."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.configs.settings import Config
from coordinator.errors import InvalidSetting
from coordinator.simulation.scenario import Variant
from coordinator.simulation.scenario_file import parse_scenario, shipped_scenario
from coordinator.simulation.scenario_text import scenario_text
from coordinator.simulation.variants import NAMES, check_playable, with_settings, with_variant
from tests.support.golden import assert_recorded
from tests.support.long import cases

SCENARIO = parse_scenario(
    Path("a.yaml"),
    """\
kohort: 1
topics: {t: 3}
settings: {group.consumer.session.timeout.ms: 50000}
members:
  a: {topics: [t], library: librdkafka, instance: i, config: {heartbeat.interval.ms: 1000}}
  b: {topics: [t], protocol: consumer, remote_assignor: range, rack: r}
events:
  - {at: 0, start: a}
  - {at: 9, restart: a, with: {protocol: consumer, instance: j, config: {max.poll.interval.ms: 9000}}}
""",
)
SETTINGS = {
    "library": "librdkafka",
    "loss": "0.25",
    "max.poll.interval.ms": "7000",
    "heartbeat.interval.ms": "700",
    "group.initial.rebalance.delay.ms": "0",
}


def test_variants_and_settings_give_the_recorded_scenarios() -> None:
    assert with_variant(SCENARIO, Variant.AS_WRITTEN) is SCENARIO
    assert set(SETTINGS) <= set(NAMES)
    upgrade = with_settings(shipped_scenario("upgrade"), SETTINGS)
    for variant in Variant:
        check_playable(upgrade, variant)
    scenarios = {variant.value: with_variant(SCENARIO, variant) for variant in Variant}
    scenarios |= {"settings": upgrade, "settings, consumer": with_variant(upgrade, Variant.CONSUMER)}
    assert_recorded("simulate/variants.txt", {name: scenario_text(one) for name, one in scenarios.items()})


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


milliseconds = st.integers(1, 100_000)


@given(members=st.lists(st.tuples(milliseconds, milliseconds), min_size=1, max_size=3), broker=st.booleans())
@settings(max_examples=cases("KOHORT_EXAMPLES", 50, many=2_000), deadline=None)
def test_a_broker_starts_with_the_settings_of_any_members(
    members: list[tuple[int, int]], broker: bool
) -> None:
    text = "kohort: 1\ntopics: {t: 1}\n"
    text += "settings: {group.consumer.heartbeat.interval.ms: 14000}\n" if broker else ""
    text += "members:\n"
    for number, (session, heartbeat) in enumerate(members):
        config = f"{{session.timeout.ms: {session}, heartbeat.interval.ms: {heartbeat}}}"
        text += f"  m{number}: {{topics: [t], config: {config}}}\n"
    made = with_variant(parse_scenario(Path("a.yaml"), text), Variant.CONSUMER)
    assert Config.parse(made.settings).group_consumer_session_timeout_ms == max(
        2, *(one for one, _ in members)
    )
