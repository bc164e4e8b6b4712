"""Scenario files: what each key becomes, and what is refused, with line and column."""

import json
from contextlib import suppress
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.simulation.consumers import subscription_of
from coordinator.simulation.scenario import MemberScript, Restart, Scenario, Start, Variant
from coordinator.simulation.scenario_checks import missing_topics
from coordinator.simulation.scenario_file import (
    parse_scenario,
    read_scenario,
    shipped_names,
    shipped_scenario,
)
from coordinator.simulation.scenario_text import scenario_text, scenario_tree
from coordinator.simulation.variants import with_variant
from groups.yaml_files import TreeError, load_tree
from tests.support.golden import assert_recorded
from tests.support.long import cases

FILE = Path("a.yaml")
YAML = """\
kohort: 1
description: Two members and a bit of everything.
topics: {orders: 6}
settings: {group.consumer.heartbeat.interval.ms: 5000}
members:
  a: {library: java, protocol: classic, assignors: [range], topics: [orders, later], instance: null,
      config: {session.timeout.ms: 45000, enable.auto.commit: false}, state: {load: 3, spare: true}}
  b: {protocol: consumer, remote_assignor: uniform, regex: "^ord.*",
      listener: {revoked: throws, assigned: {takes: 2}, lost: {takes: never}}}
events:
  - {at: 0, start: a}
  - {at: 5, start: b}
  - {at: 7, unsubscribe: b}
  - {at: 8, assign: b, partitions: {orders: [3, 1], never: [0]}}
  - {at: 9, unsubscribe: b}
  - {at: 10, subscribe: b, regex: "^l.*"}
  - {at: 20, close: b}
  - {at: 10, change_state: a, state: {load: 9.5}}
  - {at: 15.5, pause: b, for: 3}
  - {at: 30, topic: orders, partitions: 8}
  - {at: 31, topic: later, create: 2}
  - {at: 32, topic: later, delete: true}
  - {at: 33, topic: orders, recreate: 4}
  - {at: 40, coordinator: crash, for: 3, compacted: true}
  - {at: 45, restart: a, with: {protocol: consumer, config: {max.poll.interval.ms: 9000}}, after: 2, kill: true}
faults: {loss: 0.01, delay_ms: [1, 80], partition: {members: [a], from: 50, to: 60, direction: answers}}
until: 100
"""
READ = parse_scenario(FILE, YAML)


def test_a_file_becomes_the_recorded_scenario() -> None:
    assert_recorded("simulate/read.txt", {"a.yaml": pformat(READ, width=120)})


def test_a_scenario_s_times_may_have_units() -> None:
    text = (
        YAML.replace("at: 5,", "at: PT5S,")
        .replace("for: 3}", "for: 3s}")
        .replace("takes: 2", "takes: 2000ms")
    )
    text = text.replace("from: 50, to: 60", "from: 50 s, to: 1m").replace("[1, 80]", "[0.001s, 80ms]")
    assert parse_scenario(FILE, text.replace("until: 100", "until: 1m40s")) == READ


def test_json_reads_as_yaml_does() -> None:
    def typed(value: Any) -> Any:
        match value:
            case dict():
                return {name: typed(element) for name, element in value.items()}
            case list():
                return [typed(element) for element in value]
            case "true" | "false":
                return value == "true"
            case str():
                with suppress(ValueError):
                    return int(value)
        return value

    assert parse_scenario(FILE, json.dumps(typed(load_tree(FILE, YAML)))) == READ


MEMBER = "kohort: 1\ntopics: {t: 3}\nmembers:\n  a: {topics: [t]}\n"
FILES = [
    "topics: {t: 1}",
    "kohort: 2",
    "kohort: 1\ntopix: {}",
    "kohort: 1\ntopics: {a b: 1}",
    "kohort: 1\ntopics: {t: 0}",
    "kohort: 1\nuntil: nan",
    "kohort: 1\nsettings:\n  x: 1\n  group.consumer.size: 9",
    "kohort: 1\nwithout: [KIP-1252]",
    "kohort: 1\nsettings:\n  group.max.size: 3\n  group.consumer.heartbeat.intervall.ms: 9",
    "kohort: 1\nsettings: {group.consumer.session.timeout.ms: 3}",
    "kohort: 1\nfaults: {loss: 2}",
    "kohort: 1\nfaults: {delay_ms: [9, 3]}",
    f"{MEMBER}faults: {{partition: {{members: [b], from: 1, to: 2}}}}",
    f"{MEMBER}faults: {{partition: {{members: [a], from: 9, to: 2}}}}",
    "kohort: 1\ntopics: {orders: 1}\nmembers:\n  a: {topics: [or/der]}",
    "kohort: 1\nmembers:\n  a:\n    topics: [t]\n    config:\n      sesion.timeout.ms: 9",
    f"{MEMBER}events:\n  - {{at: 1, start: a}}\n  - at: 2\n    restart: a\n    with:\n      assignors: [x]",
]
MEMBERS = [
    "library: jawa, topics: [t]", "protocol: kip848, topics: [t]", "topics: [t], regex: x", "regex: '('",
    "regex: ''", "library: librdkafka, regex: t", "library: librdkafka, protocol: consumer, regex: '^('",
    "topics: [t], assignors: [rang]", "topics: [t], assignors: [range, range]",
    "library: librdkafka, topics: [t], assignors: [range, cooperative-sticky]",
    "topics: [t], remote_assignor: range", "topics: [t], protocol: consumer, assignors: [range]",
    "topics: [t], protocol: consumer, remote_assignor: sticky",
    "topics: [t], protocol: consumer, config: {session.timeout.ms: 9}",
    "topics: [t], listener: {lots: throws}", "topics: [t], listener: {lost: unsubscribes}",
    "topics: [t], after_error: cry",
]  # fmt: skip
START = "{at: 1, start: a}"
EVENTS = [
    ["{at: 1, strat: a}"], ["{at: 1}"], ["{at: 1, start: a, close: a}"], ["{start: a}"],
    ["{at: -1, start: a}"], ["{at: 121, start: a}"], ["{at: 1, start: c}"], ["{at: 1, close: a}"],
    ["{at: 9, close: a}", "{at: 9, start: a}"], [START, "{at: 2, start: a}"],
    [START, "{at: 2, kill: a}", "{at: 3, commit: a}"],
    [START, "{at: 2, restart: a, after: 5}", "{at: 3, close: a}"], [START, "{at: 2, pause: a, for: 0}"],
    [START, "{at: 2, pause: a}"], [START, "{at: 2, subscribe: a, topics: [a b]}"],
    [START, "{at: 2, subscribe: a, topics: []}"], [START, "{at: 2, subscribe: a}"],
    [START, "{at: 2, subscribe: a, topics: [t], regex: x}"], [START, "{at: 2, subscribe: a, regex: '('}"],
    ["{at: 1, unsubscribe: a}"], [START, "{at: 2, unsubscribe: b}"], [START, "{at: 2, unsubscribe: a, topics: [t]}"],
    [START, "{at: 2, assign: a}"], [START, "{at: 2, assign: a, partitions: [0]}"],
    [START, "{at: 2, assign: a, partitions: {}}"], [START, "{at: 2, assign: a, partitions: {t: []}}"],
    [START, "{at: 2, assign: a, partitions: {t: [0, 0]}}"], [START, "{at: 2, assign: a, partitions: {t: [-1]}}"],
    [START, "{at: 2, assign: a, partitions: {a b: [0]}}"],

    ["{at: 1, topic: q, partitions: 2}"], ["{at: 1, topic: t, partitions: 3}"],
    ["{at: 1, topic: t, create: 3}"], ["{at: 1, topic: t}"],
    ["{at: 1, topic: t, delete: true}", "{at: 2, topic: t, partitions: 9}"],
    ["{at: 1, coordinator: explode}"],
]  # fmt: skip


def test_a_subscription_to_a_topic_that_never_exists_is_a_note() -> None:
    assert list(missing_topics(READ)) == []
    assert list(missing_topics(parse_scenario(FILE, YAML.replace("orders, later]", "ordres, later]")))) == [
        "a subscribes to ordres, which never exists; did you mean orders?"
    ]


@pytest.mark.parametrize(
    ("library", "protocol", "regex", "is_matched"),
    [
        ("java", "classic", "orders", False),
        ("java", "classic", "(?!x)orders.*", True),  # unknown to RE2/J
        ("librdkafka", "classic", "^orders", True),
        ("librdkafka", "consumer", "^orders", False),
        ("java", "consumer", "^(orders.*", False),
    ],
)
def test_a_regex_matches_as_in_its_client(library: str, protocol: str, regex: str, is_matched: bool) -> None:
    """C58"""
    script = MemberScript(library=library, protocol=protocol, regex=regex)
    matches = subscription_of(script).matches
    assert matches is not None
    assert matches("orders-eu") is is_matched


def test_nonsense_is_refused_as_recorded() -> None:
    texts = {text: text for text in FILES}
    texts |= {f"{{{text}}}": f"kohort: 1\nmembers:\n  a: {{{text}}}" for text in MEMBERS}
    texts |= {", ".join(one): f"{MEMBER}events: [\n" + ",\n".join(one) + "]" for one in EVENTS}
    answers = {}
    for name, text in texts.items():
        with pytest.raises(TreeError) as refused:
            parse_scenario(FILE, f"{text}\n")
        answers[name] = str(refused.value)
    assert_recorded("simulate/nonsense.txt", answers)


def test_restarts_build_on_each_other_and_keep_what_they_do_not_name() -> None:
    text = MEMBER.replace("[t]}", "[t], config: {session.timeout.ms: 9000, max.poll.interval.ms: 7000}}") + (
        "events:\n"
        "  - {at: 1, start: a}\n"
        "  - {at: 2, restart: a, with: {assignors: [cooperative-sticky, range]}}\n"
        "  - {at: 3, restart: a, with: {config: {session.timeout.ms: 8000}, instance: i}}\n"
        "  - {at: 4, restart: a, with: {protocol: consumer, regex: t.*, instance: null}}\n"
    )
    _, first, second, third = parse_scenario(FILE, text).events
    assert isinstance(first, Restart)
    assert isinstance(second, Restart)
    assert isinstance(third, Restart)
    assert first.script.assignors == second.script.assignors == ("cooperative-sticky", "range")
    assert second.script.config == {"session.timeout.ms": "8000", "max.poll.interval.ms": "7000"}
    assert second.script.instance == "i"
    assert third.script == MemberScript(
        protocol="consumer", regex="t.*", config={"max.poll.interval.ms": "7000"}
    )


BOMB = "kohort: 1\nx0: &x0 [a, a]\n" + "".join(f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}]\n" for n in range(1, 31))


def test_a_file_whose_aliases_multiply_is_refused_at_once() -> None:
    with pytest.raises(TreeError, match="a scenario has at most"):
        parse_scenario(FILE, BOMB)


def _again(scenario: Scenario) -> Scenario:
    return parse_scenario(FILE, scenario_text(scenario), name=scenario.name)


def test_every_kind_of_event_survives() -> None:
    assert _again(READ) == READ


@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_scenario_survives_under_each_protocol(name: str, variant: Variant) -> None:
    shipped = shipped_scenario(name)
    assert {event.member for event in shipped.events if isinstance(event, Start)} == set(shipped.members)
    scenario = with_variant(shipped, variant)
    assert _again(scenario) == scenario


def test_a_restart_writes_what_it_changes_and_takes_away() -> None:
    member = "{topics: [t], instance: i, listener: {lost: throws, revoked: {takes: never}}}"
    changes = "{protocol: consumer, regex: x, instance: null, listener: {lost: null}}"
    scenario = parse_scenario(
        FILE,
        f"kohort: 1\ntopics: {{t: 1}}\nmembers:\n  a: {member}\n"
        f"events: [{{at: 0, start: a}}, {{at: 1.5, restart: a, with: {changes}, after: 2, kill: true}}]\n",
    )
    assert _again(scenario) == scenario
    _, restart = scenario_tree(scenario)["events"]
    with_ = {
        "protocol": "consumer",
        "regex": "x",
        "topics": None,
        "instance": None,
        "listener": {"lost": None},
    }
    assert restart == {"at": 1.5, "restart": "a", "with": with_, "after": 2, "kill": True}


WORDS = (
    "kohort topics settings members events faults until a b orders later at start close restart with kill pause for "
    "topic create delete partitions subscribe commit coordinator crash zombie protocol classic consumer assignors "
    "range regex library java config listener revoked throws takes never partition from to loss delay_ms"
)
words = st.sampled_from(WORDS.split())
scalars = words | st.sampled_from([0, 1, 5, -1, 1e9, True, False, None, "", "nan", "1e400", "(", "\x00"])
trees: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changed(draw: st.DrawFn) -> str:
    """The file above, with some of its values replaced, taken out or put in elsewhere."""
    tree: Any = load_tree(FILE, YAML)
    for _ in range(draw(st.integers(1, 3))):
        node = tree
        while True:
            keys = list(node) if isinstance(node, dict) else range(len(node))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            inner = node[key]
            if isinstance(inner, dict | list) and inner and draw(st.booleans()):
                node = inner
                continue
            if draw(st.booleans()):
                node[key] = draw(trees)
            elif isinstance(node, dict):
                node[draw(words)] = node.pop(key)
            else:
                node.append(node.pop(key))
            break
    return json.dumps(tree)


@given(text=changed())
@settings(max_examples=cases("KOHORT_EXAMPLES", 75, many=5_000), deadline=None)
def test_a_changed_file_is_read_or_refused(text: str) -> None:
    with suppress(TreeError):
        scenario = parse_scenario(FILE, text)
        assert [event.at for event in scenario.events] == sorted(event.at for event in scenario.events)
        assert all(0 <= event.at <= scenario.until_s for event in scenario.events)


@given(data=st.binary(max_size=100), index=st.integers(0, len(YAML)), length=st.integers(0, 60))
@settings(max_examples=cases("KOHORT_EXAMPLES", 50, many=5_000), deadline=None)
def test_broken_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, index: int, length: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "broken.yaml"
    text = YAML.encode()
    file.write_bytes(text[:index] + data + text[index + length :])
    with suppress(TreeError):
        read_scenario(file)
