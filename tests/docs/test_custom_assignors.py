"""B17, B18, B19, B20, B23: assignors of docs/custom-assignors.md do what the page says, in dry runs and scenarios."""

import json
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from tests.cli.command import Kohort
from tests.docs.pages import DOCS, blocks
from tests.support.installed_assignor import install, of_the_page

Owned: TypeAlias = Mapping[str, Mapping[str, list[int]]]
"""Partitions by member and topic."""

TRIAL, ELECTION = (block.text for block in blocks(DOCS / "custom-assignors.md", "yaml"))
ALL = list(range(6))
OWNED = {"a": {"orders": ALL}, "b": {"payments": ALL}, "c": {}}


def counts(owned: Owned) -> dict[str, int]:
    return {member: sum(map(len, topics.values())) for member, topics in owned.items()}


def owners(owned: Owned) -> set[int]:
    """How many members own a partition."""
    pairs = [(topic, n) for topics in owned.values() for topic, numbers in topics.items() for n in numbers]
    return set(Counter(pairs).values())


USES: Mapping[str, tuple[Mapping[str, object], Callable[[Owned], object], object]] = {
    "co-partitioned": (
        {}, lambda owned: [topics["orders"] == topics["payments"] for topics in owned.values()], [True] * 3,
    ),
    "remembering": (
        {member: json.dumps(topics) for member, topics in OWNED.items()},
        lambda owned: (owned["a"], owned["b"], counts(owned)["c"]),
        ({"orders": ALL[:4]}, {"payments": ALL[:4]}, 4),
    ),
    "by-load": ({"a": 0, "b": 4, "c": 0}, counts, {"a": 6, "b": 1, "c": 5}),
    "redundant": ({}, owners, {2}),
    "single-writer": ({"b": "writer"}, counts, {"a": 0, "b": 12, "c": 0}),
}  # fmt: skip
"""For each assignor of the page: the members' user data, and what is true of its result."""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kohort:
    monkeypatch.syspath_prepend(str(install(tmp_path, of_the_page())))
    return Kohort(tmp_path)


def test_the_page_has_an_example_of_each_use() -> None:
    assert of_the_page().keys() == USES.keys()


@pytest.mark.parametrize("name", USES)
def test_a_dry_run_passes_user_data_and_shows_what_is_returned(
    installed: Kohort, tmp_path: Path, name: str
) -> None:
    user_data, fact, expected = USES[name]
    members = [
        {
            "id": member,
            "subscription": {"topics": ["orders", "payments"]},
            "owned": owned,
            "user_data": {"subscription": b64encode(str(user_data.get(member, "")).encode()).decode()},
        }
        for member, owned in OWNED.items()
    ]
    group = {"type": "classic", "state": "Stable", "protocol_type": "consumer", "protocol": name}
    topics = {topic: {"partitions": 6} for topic in ("orders", "payments")}
    snapshot = {
        "kohort": 1,
        "topics": topics,
        "groups": {"g": {**group, "generation": 3, "members": members}},
    }
    file = tmp_path / "snapshot.yaml"
    file.write_text(yaml.safe_dump(snapshot))
    (run,) = installed.quick("dry-run g --output json --snapshot", file).succeeded().document["groups"]
    (rebalance,) = run["rebalances"]
    assert fact(rebalance["assignment"]) == expected
    returned = {member: b64decode(data) for member, data in rebalance["user_data"].items()}
    assert returned == ({"b": b"writer"} if name == "single-writer" else {})
    shown = installed.quick("dry-run g --snapshot", file).succeeded().stdout
    assert ("USER-DATA" in shown) == bool(returned)
    assert run["undetermined"] == []


def test_user_data_of_another_assignor_is_not_passed(installed: Kohort, tmp_path: Path) -> None:
    member = {
        "id": "a",
        "subscription": {"topics": ["orders"]},
        "user_data": {"subscription": "bm90IGEgbnVtYmVy"},
    }
    group = {"type": "classic", "state": "Stable", "protocol_type": "consumer", "protocol": "range"}
    file = tmp_path / "snapshot.yaml"
    snapshot = {
        "kohort": 1,
        "topics": {"orders": {"partitions": 6}},
        "groups": {"g": {**group, "members": [member]}},
    }
    file.write_text(yaml.safe_dump(snapshot))
    compared = installed.quick("dry-run g --compare --output csv --snapshot", file).succeeded().rows
    assert {row["SIDE"] for row in compared if row["ASSIGNOR"] == "by-load"} == {"client"}
    installed.quick("dry-run g --assignor by-load --side broker --snapshot", file).assert_refused(
        "the broker has no assignor 'by-load'; it has range, uniform"
    )
    answer = installed.quick("dry-run g --assignor by-load --output json --snapshot", file).succeeded()
    why = "the bytes that by-load would send at this member are not known"
    assert answer.document["groups"][0]["undetermined"] == [{"member": "a", "why": why}]


def simulated(installed: Kohort, file: Path, text: str) -> dict[str, Any]:
    file.write_text(text)
    (run,) = installed.quick("simulate --output json", file).succeeded().document["runs"]
    assert (run["violations"], run["converged_s"] is None) == ([], False)
    result: dict[str, Any] = run
    return result


@pytest.mark.parametrize("name", USES)
def test_the_page_s_scenario_runs_with_each_of_them(installed: Kohort, tmp_path: Path, name: str) -> None:
    text = TRIAL.replace("by-load", name)
    final = simulated(installed, tmp_path / "trial.yaml", text)["final"]
    match name:
        case "redundant":
            assert owners(final) == {2}
        case "single-writer":
            assert sorted(counts(final).values()) == [0, 12]
        case _:
            assert counts(final) == {"b": 6, "c": 6}
    if name != "redundant":  # a broker assigns a partition to one member
        assert simulated(installed, tmp_path / "local.yaml", local(name))["final"] == final


def test_one_writer_is_elected_without_partitions(installed: Kohort, tmp_path: Path) -> None:
    """B23: it stays the writer when another member joins, and is replaced when its session has ended."""
    run = simulated(installed, tmp_path / "election.yaml", ELECTION)
    notices = [call for call in run["assignor_calls"] if call["call"] == "on_assignment"]
    roles = [(call["group"]["generation"], call["member"], call["user_data"]) for call in notices]
    writer = b64encode(b"writer").decode()
    assert roles == [(1, "a", writer), (2, "a", writer), (2, "b", None), (3, "b", writer)]


def local(name: str) -> str:
    """The page's scenario in KIP-848's client side."""
    text = TRIAL.replace("by-load", name).replace("{assignors:", "{protocol: consumer, local_assignors:")
    return f"{text}settings: {{group.consumer.client.assignors.enable: true}}\n"


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_a_classic_assignor_computes_targets_that_withhold_nothing(
    installed: Kohort, tmp_path: Path, name: str
) -> None:
    """C17: cooperative-sticky, too, as the coordinator itself waits for former owners."""
    run = simulated(installed, tmp_path / "local.yaml", local(name))
    assert (counts(run["final"]), run["thrown"]) == ({"b": 6, "c": 6}, [])


STATE = """\
kohort: 1
settings: {group.consumer.client.assignors.enable: true}
topics: {orders: 6}
members:
  a: {%s: [by-load], topics: [orders], state: {load: 0}}
  b: {%s: [by-load], topics: [orders]}
events:
  - {at: 0, start: a}
  - {at: 10, start: b}
  - {at: 30, change_state: a, state: {load: 4}}
  - {at: 31, enforce_rebalance: a}
until: 60
"""


@pytest.mark.parametrize(
    ("key", "method"),
    [("assignors", "subscription_user_data"), ("protocol: consumer, local_assignors", "metadata")],
)
def test_changed_state_leads_to_another_assignment(
    installed: Kohort, tmp_path: Path, key: str, method: str
) -> None:
    """D06: under KIP-848 a change of the metadata alone does (C17)."""
    run = simulated(installed, tmp_path / "state.yaml", STATE % (key, key))
    assert counts(run["final"]) == {"a": 1, "b": 5}
    calls = [call for call in run["assignor_calls"] if call["at"] >= 30]
    sent = [(call["member"], b64decode(call["user_data"])) for call in calls if call["call"] == method]
    assert ("a", b"4") in sent
    (assign,) = (call for call in calls if call["call"] == "assign")
    loads = {member["member"]: b64decode(member["sent"]) for member in assign["members"]}
    assert loads == {"a": b"4", "b": b"0"}
    notified = [
        (call["member"], call["group"]["generation"]) for call in calls if call["call"] == "on_assignment"
    ]
    assert sorted(notified) == [("a", notified[0][1]), ("b", notified[0][1])]


FAULTY = """
from dataclasses import replace

from by_load import ASSIGNOR
from assignors.model import Result
from assignors.rules import from_named


def assign(group):
    if group.spec.topics[0].partitions == 6:
        raise ValueError("six")
    if group.spec.topics[0].partitions == 4:
        first = group.spec.members[0].id
        return Result(assignment=from_named("faulty", group, {first: {"orders": [0, 1, 3]}}))
    return Result(assignment=from_named("faulty", group, {"a": {"orders": [0, 0]}}))


FAULTY = replace(ASSIGNOR, name="faulty", assign=assign)
"""


@pytest.mark.parametrize(
    ("name", "partitions", "reason"),
    [
        ("faulty", 6, "assignor 'faulty': assign raised ValueError: six (faulty.py, line"),
        ("faulty", 5, "assignor 'faulty': a partition is assigned"),
        (
            "faulty",
            4,
            "assignor 'faulty': a partition is assigned to no member (KIP-848: INVALID_ASSIGNMENT): orders-2",
        ),
        ("unknown", 6, "members.a.local_assignors[0]: a java leader has no assignor 'unknown'"),
        ("redundant", 6, "members.a.local_assignors[0]: redundant assigns a partition to several members"),
    ],
)
def test_a_faulty_local_assignor_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, partitions: int, reason: str
) -> None:
    directory = install(tmp_path, {**of_the_page(), "faulty": ("faulty:FAULTY", FAULTY)})
    monkeypatch.syspath_prepend(str(directory))
    key = "protocol: consumer, local_assignors"
    file = tmp_path / "faulty.yaml"
    file.write_text(
        (STATE % (key, key)).replace("by-load", name).replace("orders: 6", f"orders: {partitions}")
    )
    Kohort(tmp_path).quick("simulate", file).assert_refused(reason, status=3)
