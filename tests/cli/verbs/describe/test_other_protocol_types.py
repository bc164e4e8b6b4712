"""Groups without partitions: workers of Kafka Connect (B22), and groups that elect a leader (B23)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Kohort
from tests.cli.served_data import Served, serving
from tests.kafka.connect import WORKER, join_group, write_worker_assignment, write_worker_state
from tests.kafka.members import fresh_name
from tests.migration.raw_group import RawGroup
from wire.messages.connect_protocol import (
    CONNECTOR,
    ConnectAssignment,
    ConnectWorkerState,
)

DELAY_MS = 3000


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("served") / "data"


@pytest.fixture(scope="module")
def served(data: Path) -> Iterator[Served]:
    with serving(data) as served:
        yield served


def incremental_workers(served: Served, version: int = 2) -> RawGroup:
    """The leader runs a connector and gets a task; the other one keeps its connector and must give its task back."""
    ids: list[str] = []

    def from_leader(**tasks: Any) -> ConnectAssignment:
        return ConnectAssignment(
            version=version, leader=ids[0], leader_url="http://w0:8083/", config_offset=9, **tasks
        )

    def state(member: str) -> bytes:
        ids.extend({member} - {"", *ids})
        number = ids.index(member) if member else 0
        runs = ({"files": (CONNECTOR,)}, {"files": (0,), "sink": (CONNECTOR,)})[number] if member else {}
        url, allocation = f"http://w{number}:8083/", from_leader(assigned=runs) if member else None
        return write_worker_state(
            ConnectWorkerState(version=version, url=url, config_offset=7 + number, allocation=allocation)
        )

    group = RawGroup(broker=served, protocol_type="connect", assignor="sessioned", metadata=state)
    group.grow(2)
    group.joined(group.start_joining(group.members))
    assert group.leader == ids[0]
    assigned = from_leader(assigned={"sink": (1, 0)})
    revoked = from_leader(revoked={"files": (0,)}, delay_ms=DELAY_MS)
    group.send({ids[0]: write_worker_assignment(assigned), ids[1]: write_worker_assignment(revoked)})
    return group


def test_workers_have_what_they_kept_and_what_the_leader_added(kohort: Kohort, served: Served) -> None:
    group = incremental_workers(served)
    answer = kohort.quick("describe --members --verbose --output csv", group.id, "-b", served.bootstrap)
    rows = {row["URL"]: row for row in answer.succeeded().rows}
    plain = kohort.quick("describe", group.id, "-b", served.bootstrap).succeeded()
    assert f"{group.id}: its members share no partitions (protocol type connect); --members" in plain.stderr
    names = ("LEADS", "CONNECTORS", "CONNECTOR-TASKS", "CONFIG-OFFSET", "LEADER-OFFSET", "REVOKED", "DELAY-S")
    assert {url: [row[name] for name in names] for url, row in rows.items()} == {
        "http://w0:8083/": ["leader", "files", "sink:0,1", "7", "9", "", "0.000"],
        "http://w1:8083/": ["", "sink", "", "8", "9", "files:0", "3.000"],
    }
    assert {(row["LEADER-URL"], row["ERROR"], row["#PARTITIONS"]) for row in rows.values()} == {
        ("http://w0:8083/", "0", "")
    }


def test_a_snapshot_and_a_log_show_the_workers_of_the_cluster(
    kohort: Kohort, served: Served, data: Path, tmp_path: Path
) -> None:
    group = incremental_workers(served)
    file = tmp_path / "groups.yaml"
    kohort.quick(f"snapshot -b {served.bootstrap} --file {file}", group.id).succeeded()

    def described(*source: str | Path) -> Any:
        answer = kohort.quick("describe --members --output json", group.id, *source).succeeded()
        (shown,) = answer.document["groups"]
        return (
            shown["protocol_type"],
            shown["leader"],
            {one["id"]: one["connect"] for one in shown["members"]},
        )

    live = described("-b", served.bootstrap)
    assert live[:2] == ("connect", group.leader)
    assert live[2][group.leader]["runs"] == {"connectors": ["files"], "tasks": {"sink": [0, 1]}}
    assert described("--snapshot", file) == live
    assert described("--log-dir", data) == live


def test_an_eager_worker_runs_what_the_leader_sent(kohort: Kohort, served: Served) -> None:
    group = fresh_name("eager")
    assignment = ConnectAssignment(
        version=0, error=1, leader="w", leader_url="http://w/", config_offset=2, assigned={"files": (1, 0)}
    )
    state = write_worker_state(WORKER)
    join_group(served, group, "connect", state, write_worker_assignment(assignment))
    answer = kohort.quick("describe --members --output json", group, "-b", served.bootstrap).succeeded()
    (worker,) = answer.document["groups"][0]["members"]
    shown = worker["connect"]
    assert (shown["runs"], shown["error"]) == ({"connectors": [], "tasks": {"files": [0, 1]}}, 1)


@pytest.mark.parametrize(
    ("state", "assignment", "reason"),
    [
        (b"\0", b"", "its state cannot be read: ConnectWorkerState has 1 bytes, too few for a version"),
        (
            write_worker_state(WORKER),
            b"\0\1",
            "its assignment cannot be read: ConnectAssignment.error is cut",
        ),
    ],
)
def test_an_unreadable_worker_is_a_separate_problem(
    kohort: Kohort, served: Served, state: bytes, assignment: bytes, reason: str
) -> None:
    group = fresh_name("broken")
    member = join_group(served, group, "connect", state, assignment)
    answer = kohort.quick("describe --members --output json", group, "-b", served.bootstrap)
    (problem,) = answer.document["errors"]
    assert answer.status == 3
    assert problem["subject"] == f"{group}, member {member}"
    assert problem["message"].startswith(reason)


def identity(host: str, *, eligible: bool) -> bytes:
    fields = {"version": 1, "host": host, "port": 8081, "master_eligibility": eligible, "scheme": "https"}
    return json.dumps(fields).encode()


def test_an_election_shows_the_elected_candidate(kohort: Kohort, served: Served) -> None:
    """The group's leader counts the votes: here it is not eligible, and the other candidate is elected."""
    group = RawGroup(
        broker=served, protocol_type="sr", assignor="v0", metadata=lambda _: identity("a", eligible=False)
    )
    group.grow(1)
    group.metadata = lambda member: identity(
        "a" if member == group.leader else "b", eligible=member != group.leader
    )
    group.joined(group.start_joining([*group.members, group.new_id()]))
    (elected,) = set(group.members) - {group.leader}
    outcome = json.dumps({"version": 1, "error": 0, "master": elected}).encode()
    group.send(dict.fromkeys(group.members, outcome))
    describe = ("describe", group.id, "-b", served.bootstrap, "--output")
    (state,) = kohort.quick(*describe, "csv", "--state").succeeded().rows
    assert (state["PROTOCOL-TYPE"], state["ASSIGNOR"], state["LEADER"]) == ("sr", "v0", elected)
    rows = kohort.quick(*describe, "csv", "--members").succeeded().rows
    columns = ("URL", "LEADS", "#PARTITIONS")
    assert sorted(tuple(row[name] for name in columns) for row in rows) == [
        ("https://a:8081", "", ""),
        ("https://b:8081", "leader", ""),
    ]
    (shown,) = kohort.quick(*describe, "json").succeeded().document["groups"]
    candidates = {member["candidate"]["url"]: member["candidate"] for member in shown["members"]}
    assert candidates["https://a:8081"] == {
        "url": "https://a:8081",
        "eligible": False,
        "elected": elected,
        "error": 0,
    }
    assert {(member["owned"], member["subscription"]) for member in shown["members"]} == {(None, None)}


def test_the_leader_of_an_unknown_protocol_type_is_in_the_log(kohort: Kohort, served: Served) -> None:
    """A single writer with a separate protocol: no answer of a broker says who leads."""
    group = RawGroup(broker=served, protocol_type="lock", assignor="v1", metadata=lambda _: b"\xff{not json")
    group.grow(2)
    described = kohort.quick("describe --state --output csv", group.id, "-b", served.bootstrap)
    (state,) = described.succeeded().rows
    assert (state["PROTOCOL-TYPE"], state["LEADER"], state["#MEMBERS"]) == ("lock", group.leader, "2")
    rows = kohort.quick("describe --members --output csv", group.id, "-b", served.bootstrap).rows
    assert {row["CONSUMER-ID"]: row["LEADS"] for row in rows} == {
        member: "leader" if member == group.leader else "" for member in group.members
    }
