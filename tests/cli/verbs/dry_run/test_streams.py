"""Dry runs of classic groups of Kafka Streams, from what their threads sent (A38)."""

import time
from base64 import b64encode
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import yaml

from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.kafka.classic_streams import ClassicStreams
from tests.kafka.coordinator import running_broker
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.support.golden import GOLDEN
from tests.support.long import LONG
from wire.messages.streams_assignor import (
    IS_ACTIVE,
    NEWEST_VERSION,
    NO_REBALANCE,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    write_streams_assignment,
    write_streams_subscription,
)

TOPOLOGY = """\
Topologies:
   Sub-topology: 0
    Source: orders-source (topics: [orders])
      --> count
    Processor: count (stores: [counts])
      --> none
      <-- orders-source
"""
ENDS = 50_000
PARTITIONS = 4
TASKS = tuple(TaskId(0, number) for number in range(PARTITIONS))
LEFT, RIGHT = UUID(int=1), UUID(int=2)


def thread(
    name: str,
    process: UUID,
    active: tuple[TaskId, ...],
    sums: Mapping[TaskId, int],
    standby: tuple[TaskId, ...] = (),
    probes_ms: int = NO_REBALANCE,
) -> dict[str, Any]:
    subscription = StreamsSubscription(
        version=NEWEST_VERSION, newest_known=NEWEST_VERSION, process=process, offset_sums=dict(sums)
    )
    assignment = StreamsAssignment(
        version=NEWEST_VERSION,
        commonly_known=NEWEST_VERSION,
        active=active,
        standby={task: (("orders", task.partition),) for task in standby},
        by_host={},
        standby_by_host={},
        error=0,
        next_rebalance_ms=probes_ms,
    )
    return {
        "id": name,
        "subscription": {"topics": ["orders"]},
        "owned": {"orders": [task.partition for task in active]} if active else {},
        "user_data": {
            "subscription": b64encode(write_streams_subscription(subscription)).decode(),
            "assignment": b64encode(write_streams_assignment(assignment)).decode(),
        },
    }


GROWN = (
    thread("left", LEFT, TASKS, dict.fromkeys(TASKS, IS_ACTIVE), probes_ms=1_700_000_000_000),
    thread("right", RIGHT, (), {TASKS[1]: 100}, standby=TASKS[1:2]),
)
"""A second process has joined, and its first warm-up is under way."""
SPARED = (
    thread("left", LEFT, TASKS[::2], dict.fromkeys(TASKS[::2], IS_ACTIVE), standby=TASKS[1::2]),
    thread("right", RIGHT, TASKS[1::2], dict.fromkeys(TASKS[1::2], IS_ACTIVE), standby=TASKS[::2]),
)
"""Each process has standby tasks of the other's."""


@pytest.fixture
def run(kohort: Kohort, tmp_path: Path) -> Any:
    def answer(threads: object, *options: str) -> Any:
        group = {"type": "classic", "state": "Stable", "protocol_type": "consumer", "protocol": "stream"}
        topics = {
            "orders": {"partitions": PARTITIONS},
            "app-counts-changelog": {
                "partitions": PARTITIONS,
                "end_offsets": dict.fromkeys(range(PARTITIONS), ENDS),
            },
        }
        snapshot = {
            "kohort": 1,
            "groups": {"app": {**group, "leader": "left", "members": threads}},
            "topics": topics,
        }
        file = tmp_path / "snapshot.yaml"
        file.write_text(yaml.safe_dump(snapshot))
        return kohort.quick("dry-run", "app", "--snapshot", file, *options)

    return answer


def shown(tasks: Mapping[str, Any]) -> str:
    """A rebalance in short: `left 0_0 (0_1) +0_2`, with standby tasks in brackets and warm-ups after a plus sign."""
    members = []
    for member, held in tasks["members"].items():
        standby = [task for task in held["standby"] if task not in held["warmup"]]
        members.append(
            " ".join(
                [
                    member,
                    *held["active"],
                    *(f"({task})" for task in standby),
                    *(f"+{t}" for t in held["warmup"]),
                ]
            )
        )
    return f"{tasks['kind']}: {'; '.join(members)}"


def test_the_text_shows_tasks_warm_ups_and_rebalances(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "topology.txt"
    file.write_text(TOPOLOGY)
    answer = run(GROWN, "--as-joined", "--topology", str(file), "--setting", "max.warmup.replicas=1")
    assert answer.succeeded().stdout == (GOLDEN / "dry-run" / "streams.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("threads", "options", "expected"),
    [
        (
            GROWN,
            "--as-joined",
            [
                "next: left 0_0 0_1 0_2 0_3; right +0_1 +0_3",
                "probing: left 0_0 0_2; right (0_1) (0_3)",
                "follow-up: left 0_0 0_2; right 0_1 0_3",
            ],
        ),
        (SPARED, "", ["next: left 0_0 0_2 (0_1) (0_3); right 0_1 0_3 (0_0) (0_2)"]),
        (SPARED, f"--remove {RIGHT}", ["next: left 0_0 0_1 0_2 0_3"]),
        (SPARED, "--setting num.standby.replicas=0", ["next: left 0_0 0_2; right 0_1 0_3"]),
    ],
)
def test_each_rebalance_shows_the_tasks_of_every_thread(
    run: Any, threads: object, options: str, expected: list[str]
) -> None:
    document = run(threads, *options.split(), "--output", "json").succeeded().document
    assert faults(document) == []
    (group,) = document["groups"]
    assert [shown(each) for each in group["tasks"]["rebalances"]] == expected
    assert len(group["rebalances"]) == len(expected)


def test_what_an_added_process_gets_is_said_to_depend_on_its_id(run: Any) -> None:
    (group,) = run(SPARED, "--add", "1", "--output", "json").succeeded().document["groups"]
    assert set(group["tasks"]["rebalances"][0]["members"]) == {"left", "right", "added-1"}
    assert {item.get("member") for item in group["undetermined"]} == {None, "left", "right", "added-1"}


UNREADABLE = {**SPARED[0], "user_data": {"subscription": b64encode(b"\0\0\0\x0b\0").decode()}}
NAMED = thread("left", LEFT, (TaskId(0, 0, "fraud"),), {})
IDLE = thread("left", LEFT, (), {})


@pytest.mark.parametrize(
    ("threads", "options", "message"),
    [
        (
            SPARED,
            "--assignor range",
            "app: it is a group of Kafka Streams: only its own assignor assigns its tasks",
        ),
        (SPARED, "--compare", "app: it is a group of Kafka Streams: only its own assignor assigns its tasks"),
        (
            SPARED,
            "--setting standbys=1",
            "--setting 'standbys=1' is not NAME=VALUE; the names are acceptable.recovery",
        ),
        (
            SPARED,
            "--setting max.warmup.replicas=-1",
            "--setting max.warmup.replicas=-1: expected a whole number",
        ),
        (SPARED, "--subscribe left=clicks", "app is a group of Kafka Streams: its topology subscribes"),
        ([UNREADABLE], "", "the user data of member left cannot be read: SubscriptionInfo"),
        ([NAMED], "", "member left has named topologies, whose assignment is not known"),
        ([IDLE], "", "no member has a task, so the tasks are not known; --topology names them"),
        ([{"id": "left"}], "", "what Kafka Streams sent for member left is not known from this source"),
    ],
)
def test_what_cannot_be_computed_is_named(run: Any, threads: Any, options: str, message: str) -> None:
    answer = run(list(threads), *options.split())
    assert answer.status in (1, 2, 3)
    assert message in " ".join(answer.stderr.split())


def test_a_wrong_topology_is_named_with_line_and_reason(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "topology.txt"
    file.write_text(TOPOLOGY.replace("--> count", "~~> count"))
    answer = run(SPARED, "--topology", str(file))
    assert answer.status == 2
    assert f"{file}, line 4: '~~> count' is no source, processor, sink or edge" in " ".join(
        answer.stderr.split()
    )


@pytest.mark.parametrize(
    ("group", "options"),
    [
        ("held-back", ""),
        ("r2.8.2-eager", ""),
        ("r3.9.1", ""),
        ("r4.4.0", ""),
        ("warming-up", "--as-joined --setting acceptable.recovery.lag=0"),
    ],
)
def test_an_assignment_that_kafka_streams_made_is_computed_again(
    kohort: Kohort, group: str, options: str
) -> None:
    """Recorded from applications of these releases: nothing moves, and warm-ups are those that there are."""
    snapshot = GOLDEN / "classic_streams" / "groups.yaml"
    answer = kohort("dry-run", group, "--snapshot", snapshot, *options.split(), "--output", "json")
    (run,) = answer.succeeded().document["groups"]
    tasks = run["tasks"]
    now, before = (
        {member: (held["active"], held["standby"]) for member, held in tasks_of.items()}
        for tasks_of in (tasks["rebalances"][0]["members"], tasks["before"])
    )
    if group == "r2.8.2-eager":  # its leader spread standby tasks otherwise over the threads of a process
        now, before = (_by_process(held, tasks["processes"]) for held in (now, before))
    assert now == before
    assert run["rebalances"][0]["moved"] == 0
    warming = [task for held in tasks["rebalances"][0]["members"].values() for task in held["warmup"]]
    assert warming == (["0_0", "0_2"] if group == "warming-up" else [])
    assert ("a release before 3.2" in str(run["undetermined"])) == (group == "r2.8.2-eager")


def _by_process(held: Mapping[str, Any], processes: Mapping[str, str]) -> dict[str, Any]:
    return {
        process: sorted(
            (kind, task)
            for member, kinds in held.items()
            if processes[member] == process
            for kind, ids in enumerate(kinds)
            for task in ids
        )
        for process in processes.values()
    }


@pytest.mark.kafka
@LONG
def test_a_real_application_assigns_what_the_dry_run_said(
    kohort: Kohort, kafka_jars: Path, tmp_path: Path
) -> None:
    """Three instances of two threads with a standby task each; one is killed."""
    settings = {"num.standby.replicas": "1", "num.stream.threads": "2"}
    with ExitStack() as stack:
        broker = stack.enter_context(running_broker(kafka_jars, tmp_path / "broker"))
        create_topics(broker, {"orders": 7, "clicks": 3})
        instances = []
        for number in range(3):
            instance = ClassicStreams(
                broker, tmp_path, "4.4.0", "app", "orders,clicks", f"app-{number}", settings
            )
            stack.callback(instance.kill)
            instances.append(instance)
        before = _settled(kohort, broker.bootstrap, 6)
        (process,) = {process for member, (process, _) in before.items() if member.startswith("app-2-")}
        run = kohort("dry-run", "app", "-b", broker.bootstrap, "--remove", process, "--output", "json")
        (group,) = run.succeeded().document["groups"]
        instances[2].kill()
        after = _settled(kohort, broker.bootstrap, 4)
    rounds = group["tasks"]["rebalances"]
    assert {each["kind"] for each in rounds} <= {"next", "follow-up"}
    assert {member: tasks for member, (_, tasks) in after.items()} == {
        member: (held["active"], held["standby"]) for member, held in rounds[-1]["members"].items()
    }


Settled = dict[str, tuple[str, tuple[list[str], list[str]]]]
"""By member: its process, its active tasks and its copies."""


def _settled(kohort: Kohort, bootstrap: str, threads: int) -> Settled:
    """The tasks of the group once it has this many threads and no rebalance is due."""

    def settled() -> Settled | None:
        answer = kohort.quick("describe app --members --output json -b", bootstrap)
        if answer.status != 0 or answer.document["groups"][0]["state"] != "Stable":
            return None
        members = answer.document["groups"][0]["members"]
        shares = [member["streams"]["assignment"] for member in members]
        if len(members) != threads or sum(len(share["active"]) for share in shares) != 10:
            return None
        if any(share["standby"] == [] and share["active"] == [] for share in shares):
            return None
        return {
            member["id"]: (member["streams"]["subscription"]["process"], (share["active"], share["standby"]))
            for member, share in zip(members, shares, strict=True)
        }

    wait_until(settled, "the application settles", timeout_s=90, every_s=1)
    time.sleep(8)  # a follow-up rebalance comes at once
    return wait_until(settled, "the application settles", timeout_s=90, every_s=1)


def test_a_long_series_of_probing_rebalances_is_cut(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assignors.streams.rounds.MOST_ROUNDS", 3)
    monkeypatch.setattr("assignors.streams.rounds.LEAST_ROUNDS", 3)
    answer = run(GROWN, "--as-joined", "--setting", "max.warmup.replicas=1").succeeded()
    assert "More than 1 probing rebalances follow; the first 1 are shown." in " ".join(answer.stdout.split())
