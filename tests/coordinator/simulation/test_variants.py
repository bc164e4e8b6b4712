"""A scenario under another protocol."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.configs.settings import Config
from coordinator.simulation.scenario import Restart, Variant
from coordinator.simulation.scenario_file import parse_scenario
from coordinator.simulation.variants import with_variant
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


def test_as_written_is_the_scenario_itself() -> None:
    assert with_variant(SCENARIO, Variant.AS_WRITTEN) is SCENARIO


def test_eager_members_have_range_and_the_brokers_session_timeout() -> None:
    made = with_variant(SCENARIO, Variant.EAGER)
    a, b = made.members.values()
    assert (a.protocol, a.assignors, a.library, a.instance) == ("classic", ("range",), "librdkafka", "i")
    assert a.config == {"heartbeat.interval.ms": "1000"}
    assert (b.protocol, b.assignors, b.remote_assignor, b.rack) == ("classic", ("range",), None, "r")
    assert b.config == {"session.timeout.ms": "50000"}


def test_cooperative_members_have_no_eager_assignor() -> None:
    made = with_variant(SCENARIO, Variant.COOPERATIVE)
    assert {script.assignors for script in made.members.values()} == {("cooperative-sticky",)}


def test_the_consumer_variant_has_the_classic_members_intervals() -> None:
    made = with_variant(SCENARIO, Variant.CONSUMER)
    a, b = made.members.values()
    assert (a.protocol, a.assignors, a.config) == ("consumer", (), {})
    assert b == SCENARIO.members["b"]
    assert made.settings == {
        "group.consumer.session.timeout.ms": "50000",
        "group.consumer.heartbeat.interval.ms": "1000",
        "group.consumer.min.heartbeat.interval.ms": "1000",
    }


def test_a_restart_keeps_what_is_not_of_the_protocol() -> None:
    for variant in (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER):
        made = with_variant(SCENARIO, variant)
        (restart,) = (event for event in made.events if isinstance(event, Restart))
        assert restart.script.protocol == made.members["a"].protocol
        assert restart.script.assignors == made.members["a"].assignors
        assert restart.script.instance == "j"
        assert restart.script.config["max.poll.interval.ms"] == "9000"


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
    config_made = Config.parse(made.settings)
    assert config_made.group_consumer_session_timeout_ms == max(2, *(session for session, _ in members))
