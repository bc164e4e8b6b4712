"""A fault event has one form for the wire, the command line and a file."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordinator.faults import ChangeTopic, Delay, Drop, Dropped
from coordinator.server.faults.reading import VERBS, read_event, read_faults, tree_of
from groups.trees import Malformed
from groups.yaml_files import TreeError

APIS = ("Heartbeat", "OffsetCommit", "Fetch")


@pytest.mark.parametrize(
    "tree",
    [
        {"delay": 2.0, "api": "Heartbeat", "client": "app-1", "for": 30.0},
        {"delay": [0.5, 2.0], "api": ["Heartbeat", "Fetch"], "chance": 0.25, "seed": 7},
        {"error": "NOT_COORDINATOR", "api": "OffsetCommit", "group": "billing", "times": 3},
        {"drop": "answer", "topic": "orders"},
        {"drop": "connection", "member": "m-1"},
        {"expire": "m-1", "group": "billing"},
        {"fence": "instance-1", "group": "billing"},
        {"disconnect": "app-1"},
        {"coordinator": "move", "group": "billing", "to": 2, "for": 2.0},
        {"coordinator": "crash", "for": 3.0},
        {"topic": "orders", "partitions": 12},
        {"topic": "orders", "delete": True},
    ],
)
def test_an_event_is_written_as_it_is_read(tree: dict[str, Any]) -> None:
    assert tree_of(read_event(tree, APIS)) == tree


@pytest.mark.parametrize(
    ("tree", "path", "said"),
    [
        ({"dely": 2}, ("dely",), "did you mean delay?"),
        ({"delay": 2, "drop": "answer"}, ("drop",), "one verb"),
        ({"delay": -1}, ("delay",), "out of range"),
        ({"delay": [2, 1]}, ("delay",), "shortest"),
        ({"delay": 1, "api": "Hartbeat"}, ("api",), "did you mean Heartbeat?"),
        ({"error": "NOT_CORDINATOR"}, ("error",), "did you mean NOT_COORDINATOR?"),
        ({"error": "NONE"}, ("error",), "there is no error"),
        ({"drop": "request"}, ("drop",), "answer, connection"),
        ({"expire": "m-1"}, ("group",), "missing"),
        ({"topic": "a/b", "delete": True}, ("topic",), "not a topic's name"),
        ({"topic": "orders"}, ("topic",), "one of"),
        ({"topic": "orders", "delete": True, "create": 1}, ("topic",), "one of"),
        ({"coordinator": "crash", "to": 2}, ("to",), "can name a broker"),
        ({"delay": 1, "times": 0}, ("times",), "out of range"),
        ({"delay": 1, "chance": 1.5}, ("chance",), "out of range"),
    ],
)
def test_what_is_wrong_in_an_event_is_named(tree: Any, path: tuple[str | int, ...], said: str) -> None:
    with pytest.raises(Malformed) as raised:
        read_event(tree, APIS)
    assert raised.value.path == path
    assert said in raised.value.message


def test_a_file_has_events_in_the_order_of_time(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(
        "kohort: 1\n"
        "faults: {loss: 0.5, delay_ms: [1, 80]}\n"
        "events:\n"
        "  - {at: 20, topic: orders, partitions: 12}\n"
        "  - {at: PT5S, delay: [2s, 2000ms], api: Heartbeat}\n"
    )
    assert read_faults(file, APIS) == (
        Delay(at=0, bounds_s=(0.002, 0.16)),
        Drop(at=0, what=Dropped.CONNECTION, chance=0.75),
        Delay(at=5, bounds_s=(2, 2), api=("Heartbeat",)),
        ChangeTopic(at=20, topic="orders", partitions=12),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("events: []", ":1: kohort: missing"),
        ("kohort: 2", ":1: kohort: format 2 is newer"),
        (
            "kohort: 1\nfaults: {reorder: true}",
            ":2: faults.reorder: a server supports only loss and delay_ms",
        ),
        ("kohort: 1\nevent: []", ":2: event: unknown"),
        ("kohort: 1\nevents:\n- {delay: 1}", ":3: events[0].at: is missing"),
        (
            "kohort: 1\nevents:\n- {at: 1, delay: 1}\n- {at: 2, delay: x}",
            ":4: events[1].delay: expected 5s, 1.5m",
        ),
    ],
)
def test_an_error_in_a_file_has_line_and_field(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text(text)
    with pytest.raises(TreeError) as raised:
        read_faults(file, APIS)
    assert said in str(raised.value)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)
KEYS = sorted(
    {*VERBS, "api", "client", "group", "topic", "member", "times", "for", "chance", "seed", "to", "create"}
)


@given(JUNK | st.dictionaries(st.sampled_from(KEYS), JUNK, max_size=4))
def test_whatever_comes_is_an_event_or_malformed(tree: Any) -> None:
    with suppress(Malformed):
        read_event(tree, APIS)
