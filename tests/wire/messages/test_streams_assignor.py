"""User data of Kafka Streams' assignor (A04, A05) against bytes that the library of six releases wrote and read."""

import json
import random
import subprocess
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

import pytest
import yaml

from tests.kafka import jars
from tests.kafka.java import java
from tests.kafka.programs import compiled
from tests.support.golden import GOLDEN, assert_recorded
from tests.support.long import LONG, cases
from wire.messages.reader import DecodeError
from wire.messages.streams_assignor import (
    NO_REBALANCE,
    HostInfo,
    Partitions,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    read_streams_assignment,
    read_streams_subscription,
    write_streams_assignment,
    write_streams_subscription,
)

RELEASES = ("2.3.1", "2.4.1", "2.8.2", "3.9.1", "4.3.1", "4.4.0")
RECORDED = "streams_assignor.txt"
Info = TypeVar("Info", StreamsSubscription, StreamsAssignment)
CASES = cases("KOHORT_FUZZ_CASES", 2_000, many=1_000_000)


def recorded() -> Iterator[tuple[str, dict[str, Any]]]:
    release = ""
    for line in (GOLDEN / RECORDED).read_text().splitlines():
        if line.startswith("== "):
            release = line[3:]
        elif line:
            yield release, json.loads(line)


@LONG
def test_every_release_writes_what_is_recorded() -> None:
    """A04 A05"""
    by_answer: dict[str, list[str]] = {}
    for release in RELEASES:
        command = java(jars.fetch_streams(release), "StreamsBytes", classes=compiled(jars.fetch()))
        answer = subprocess.run(
            [command[0], "-Dstdout.encoding=UTF-8", *command[1:]],
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        by_answer.setdefault(answer.stdout, []).append(release)
    assert_recorded(RECORDED, {", ".join(releases): answer for answer, releases in by_answer.items()})


@pytest.mark.parametrize(
    ("release", "case"),
    [
        pytest.param(
            release, case, id=f"{release.split(',')[0]} {case['kind']} {case['version']} {case['content']}"
        )
        for release, case in recorded()
    ],
)
def test_bytes_are_read_as_java_reads_them_and_written_again(release: str, case: dict[str, Any]) -> None:
    """A04 A05"""
    data = bytes.fromhex(case["bytes"])
    if case["kind"] == "subscription":
        subscription = read_streams_subscription(data)
        assert _as_java_reads(subscription, case["read"]) == case["read"]
        assert subscription.unique == (None if case["version"] < 8 else 0 if case["content"] == "bare" else 5)
        assert write_streams_subscription(subscription) == data
    else:
        assignment = read_streams_assignment(data)
        assert _assignment_as_java(assignment, case["read"]) == case["read"]
        assert write_streams_assignment(assignment) == data
        # An assignment without numbers of topics gets its own: they mean the same.
        numbered = read_streams_assignment(write_streams_assignment(replace(assignment, topics={})))
        assert replace(numbered, topics=assignment.topics) == assignment


def _as_java_reads(subscription: StreamsSubscription, getters: dict[str, Any]) -> dict[str, Any]:
    known = {
        "version": subscription.version,
        "latestSupportedVersion": subscription.newest_known or -1,
        "processId": str(subscription.process),
        "prevTasks": sorted(map(str, subscription.active)),
        "standbyTasks": sorted(map(str, subscription.standby)),
        "taskOffsetSums": {str(task): offsets for task, offsets in subscription.offset_sums.items()},
        "userEndPoint": subscription.end_point,
        "errorCode": subscription.error or 0,
        "clientTags": subscription.tags or {},
    }
    return {name: known[name] for name in getters}


def _assignment_as_java(assignment: StreamsAssignment, getters: dict[str, Any]) -> dict[str, Any]:
    next_rebalance_ms = assignment.next_rebalance_ms
    known = {
        "version": assignment.version,
        "commonlySupportedVersion": assignment.commonly_known or -1,
        "activeTasks": [str(task) for task in assignment.active],
        "standbyTasks": {str(task): _sorted(value) for task, value in assignment.standby.items()},
        "partitionsByHost": _hosts(assignment.by_host),
        "standbyPartitionByHost": _hosts(assignment.standby_by_host),
        "errCode": assignment.error or 0,
        "nextRebalanceMs": NO_REBALANCE if next_rebalance_ms is None else next_rebalance_ms,
    }
    return {name: known[name] for name in getters}


def _sorted(partitions: Partitions) -> list[str]:
    return sorted(f"{topic}-{number}" for topic, number in partitions)


def _hosts(hosts: dict[HostInfo, Partitions] | None) -> dict[str, list[str]]:
    return {str(host): _sorted(partitions) for host, partitions in (hosts or {}).items()}


def test_bytes_of_real_applications_are_written_again() -> None:
    """A04 A05: what threads of 2.3.1 to 4.4.0 and their leaders sent on a broker."""
    saved = yaml.safe_load((GOLDEN / "classic_streams" / "groups.yaml").read_text())
    members = [member for group in saved["groups"].values() for member in group["members"]]
    versions = set()
    for member in members:
        subscription, assignment = (
            b64decode(member["user_data"][part]) for part in ("subscription", "assignment")
        )
        assert write_streams_subscription(read_streams_subscription(subscription)) == subscription
        assert write_streams_assignment(read_streams_assignment(assignment)) == assignment
        versions.add(read_streams_subscription(subscription).version)
    assert versions == {2, 4, 9, 11}


def test_all_versions_are_recorded() -> None:
    versions = {(case["kind"], case["version"]) for _, case in recorded()}
    assert versions == {
        (kind, version) for kind in ("subscription", "assignment") for version in range(1, 12)
    }


def test_of_a_newer_subscription_only_the_versions_are_read() -> None:
    newer = read_streams_subscription(bytes.fromhex("0000000d0000000effffff"))
    assert newer == StreamsSubscription(version=13, newest_known=14)


UNREADABLE = {
    "": "SubscriptionInfo has 0 bytes, too few for a version",
    "00000000": "SubscriptionInfo has no version 0",
    "0000000c0000": "SubscriptionInfo of version 12 has only 6 bytes",
    "00000001" + "00" * 10: "SubscriptionInfo.processId is cut off: it begins at byte 4",
    "00000001" + "01" * 16 + "00000002": "a length of 2 does not fit the 0 bytes left at byte 24",
    "0000000b0000000b" + "01" * 16 + "ffffffff": "SubscriptionInfo.userEndPoint at byte 24 is null",
}
UNREADABLE_ASSIGNMENTS = {
    "0000000c": "AssignmentInfo has version 12; the newest known is 11",
    "0000000100000001": "a length of 1 does not fit the 0 bytes left at byte 8",
    "0000000500000005"
    + "00000000" * 3
    + "00000001"
    + "0001680000000100000001"
    + "00000007"
    + "00000000" * 2: ("AssignmentInfo.topics has no number 7"),
}


@pytest.mark.parametrize(("data", "message"), UNREADABLE.items())
def test_an_unreadable_subscription_names_field_and_byte(data: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_streams_subscription(bytes.fromhex(data))
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(("data", "message"), UNREADABLE_ASSIGNMENTS.items())
def test_an_unreadable_assignment_names_field_and_byte(data: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read_streams_assignment(bytes.fromhex(data))
    assert str(caught.value).endswith(message)


NAMED = TaskId(0, 0, "orders")


@pytest.mark.parametrize(
    ("subscription", "message"),
    [
        (StreamsSubscription(version=12), "SubscriptionInfo has no version 12"),
        (StreamsSubscription(version=9, offset_sums={NAMED: 1}), "version 9 has no names of topologies"),
        (StreamsSubscription(version=8, unique=128), "SubscriptionInfo"),
        (StreamsSubscription(version=11, offset_sums={TaskId(2**31, 0): 1}), "SubscriptionInfo"),
    ],
)
def test_a_subscription_that_does_not_fit_is_not_written(
    subscription: StreamsSubscription, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write_streams_subscription(subscription)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (StreamsAssignment(version=0), "AssignmentInfo has no version 0"),
        (StreamsAssignment(version=3, active=(NAMED,)), "version 3 has no names of topologies"),
        (
            StreamsAssignment(version=6, by_host={HostInfo("h", 1): (("a", 0),)}, topics={"b": 0}),
            "topic 'a' has no number",
        ),
    ],
)
def test_an_assignment_that_does_not_fit_is_not_written(assignment: StreamsAssignment, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_streams_assignment(assignment)


def test_any_bytes_are_read_or_malformed() -> None:
    """A04 A05: nothing but DecodeError, and what was read is written and read as the same."""
    rng = random.Random(39)
    pool = [(case["kind"], bytes.fromhex(case["bytes"])) for _, case in recorded()]
    read = 0
    for _ in range(CASES):
        kind, data = rng.choice(pool)
        with suppress(DecodeError):
            if kind == "subscription":
                _is_stable(read_streams_subscription, write_streams_subscription, _damaged(rng, data))
            else:
                _is_stable(read_streams_assignment, write_streams_assignment, _damaged(rng, data))
            read += 1
    assert CASES // 20 < read < CASES


def _is_stable(read: Callable[[bytes], Info], write: Callable[[Info], bytes], data: bytes) -> None:
    info = read(data)
    try:
        written = write(info)
    except ValueError:
        return  # a newer version, or broken text that grew when it was replaced
    assert read(written) == info


def _damaged(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(changed)) if changed else 0
        match rng.randrange(4):
            case 0 if changed:
                changed[at] = rng.randrange(256)
            case 1:
                del changed[at:]
            case 2:
                changed[at:at] = rng.randbytes(rng.randint(1, 8))
            case _:
                changed[at : at + 4] = rng.choice((b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\1"))
    return bytes(changed)
