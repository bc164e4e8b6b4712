"""Classic members whose subscription or assignment cannot be read: each is read apart, and what is not is named."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Answer, Kohort
from tests.cli.dropin.harness import run_here, run_tool
from tests.cli.verbs.exporter.scrapes import Figures
from tests.kafka.broker import RunningBroker
from tests.kafka.commits import commit_request, send_commits
from tests.kafka.connect import join_group
from tests.kafka.members import fresh_name
from tests.kafka.tool_host import ToolHost
from tests.kafka.topics import create_topics
from wire.client.cluster import KafkaClient
from wire.client.groups import LeavingMember, delete_groups, remove_members
from wire.client.security import ConnectionSettings
from wire.messages.embedded_protocol import (
    EmbeddedAssignment,
    EmbeddedSubscription,
    write_assignment,
    write_subscription,
)

TOPIC, LEFT = fresh_name("orders"), fresh_name("refunds")
ASSIGNMENT = write_assignment(EmbeddedAssignment(version=1, partitions={TOPIC: (0, 1)}))


def subscription(version: int) -> bytes:
    return write_subscription(
        EmbeddedSubscription(version=version, topics=(TOPIC,), owned={TOPIC: (0,)}, generation=1, rack="a")
    )


def as_version(version: int, data: bytes) -> bytes:
    return version.to_bytes(2, "big", signed=True) + data[2:]


SUBSCRIPTIONS: Mapping[str, tuple[bytes, bool]] = {
    "v0": (subscription(0), True),
    "v0-without-user-data": (subscription(0)[:-4], False),
    "v1-without-owned-partitions": (as_version(1, subscription(0)), False),
    "v2-cut-short": (subscription(2)[:-1], False),
    "v3-cut-short": (subscription(3)[:-1], False),
    "v99": (as_version(99, subscription(3)) + b"more", True),
    "v99-as-v1": (as_version(99, subscription(1)), False),
    "v-1": (as_version(-1, subscription(3)), False),
    "one-byte": (b"\0", False),
    "none": (b"", False),
}
"""Metadata of a member with a valid assignment, and whether Java's ConsumerProtocol reads it."""

ASSIGNMENTS: Mapping[str, tuple[bytes, str | None]] = {
    "v99": (as_version(99, ASSIGNMENT) + b"more", None),
    "none": (b"", None),
    "cut-short": (ASSIGNMENT[:-6], "Malformed consumer protocol assignment"),
    "without-user-data": (ASSIGNMENT[:-4], "Malformed consumer protocol assignment"),
    "version-only": (ASSIGNMENT[:2], "Malformed consumer protocol assignment"),
    "one-byte": (ASSIGNMENT[:1], "Buffer underflow while parsing consumer protocol's header"),
    "v-1": (as_version(-1, ASSIGNMENT), "Unsupported assignment version: -1"),
}
"""Assignments of a member with valid metadata, and the message of Java's SchemaException."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A group with one member for each of the texts, and the member's id."""

    broker: RunningBroker
    kohort: Kohort
    prefix: str
    members: Mapping[str, str]

    def group(self, name: str) -> str:
        return f"{self.prefix}-{name}"

    def ask(self, command: str, *args: str | Path) -> Answer:
        return self.kohort.quick(command, *args, "-b", self.broker.bootstrap)

    def described(self, group: str, mode: str = "--members") -> tuple[Answer, dict[str, Any]]:
        answer = self.ask(f"describe {mode} --output json", group)
        (described,) = answer.document["groups"]
        return answer, described

    def tool_line(self, group: str, *flags: str) -> list[str]:
        return ["--bootstrap-server", self.broker.bootstrap, "--describe", "--group", group, *flags]


@pytest.fixture(scope="module")
def scene(session_broker: RunningBroker, kohort: Kohort) -> Iterator[Scene]:
    prefix = fresh_name("bytes")
    create_topics(session_broker, {TOPIC: 4, LEFT: 1})
    send_commits(session_broker, [commit_request(f"{prefix}-s-{name}", LEFT, [0]) for name in ("v0", "none")])
    sent = {f"s-{name}": (data, ASSIGNMENT) for name, (data, _) in SUBSCRIPTIONS.items()}
    sent |= {f"a-{name}": (subscription(3), data) for name, (data, _) in ASSIGNMENTS.items()}
    members = {
        name: join_group(session_broker, f"{prefix}-{name}", "consumer", metadata, assignment)
        for name, (metadata, assignment) in sent.items()
    }
    yield Scene(broker=session_broker, kohort=kohort, prefix=prefix, members=members)
    # Where they stay, Kafka's tool describes no group of the broker.
    leaving = {
        f"{prefix}-{name}": [LeavingMember(member_id=id_, instance_id=None)] for name, id_ in members.items()
    }
    with KafkaClient(ConnectionSettings(bootstrap_servers=(session_broker.bootstrap,))) as client:
        remove_members(client, leaving, "the test ends")
        assert not delete_groups(client, leaving).failed


def test_a_broken_subscription_does_not_void_the_assignment(scene: Scene, tools: ToolHost) -> None:
    for name, (_, is_readable) in SUBSCRIPTIONS.items():
        group = scene.group(f"s-{name}")
        for flags in (["--members", "--verbose"], []):
            line = scene.tool_line(group, *flags)
            assert run_here(line) == run_tool(tools, line)
        shown, described = scene.described(group)
        assert shown.status == (0 if is_readable else 3), shown
        (member,) = described["members"]
        assert (member["owned"], member["subscription"] is not None) == ({TOPIC: [0, 1]}, is_readable)
        subject = f"{group}, member {member['id']}"
        assert [error["subject"] for error in shown.document["errors"]] == [subject] * (not is_readable)


def test_a_broken_assignment_is_the_tools_error(scene: Scene, tools: ToolHost) -> None:
    for name, (_, reason) in ASSIGNMENTS.items():
        group = scene.group(f"a-{name}")
        line = scene.tool_line(group)
        ours, theirs = run_here(line), run_tool(tools, line)
        assert (ours.stdout, ours.status) == (theirs.stdout, 0 if reason is None else 3)
        members = run_here([*line, "--members"])
        shown, described = scene.described(group)
        (member,) = described["members"]
        if reason is not None:
            exception = f"org.apache.kafka.common.protocol.types.SchemaException: {reason}"
            error = f"\nError: Executing consumer group command failed due to {exception}\n"
            assert ours.stdout == error
            assert members.stdout.endswith(error)
            assert members.stdout.split("\n")[2].split()[4] == "-"
            assert f"{group}, member {member['id']}" in ours.stderr
            assert (shown.status, member["owned"]) == (3, None)
            assert member["subscription"] == {"topics": [TOPIC], "regex": None}
        else:
            assert (members.status, shown.status) == (0, 0)


def test_figures_of_what_cannot_be_read_are_absent(scene: Scene) -> None:
    shown = scene.ask(f"exporter --once --match ^{scene.prefix}-")
    assert shown.status == 3
    figures = Figures.read(shown.stdout)
    for name, (_, is_readable) in SUBSCRIPTIONS.items():
        group = scene.group(f"s-{name}")
        assert figures("kohort_group_readable", group=group) == int(is_readable)
        assert figures("kohort_group_partitions_owned", group=group) == 2
        assert figures("kohort_group_partitions_without_owner", group=group) == (2 if is_readable else None)
        assert figures("kohort_group_unread", group=group, error="MALFORMED") == (None if is_readable else 1)
    for name, (data, reason) in ASSIGNMENTS.items():
        owned = None if reason else 2 if data else 0
        assert figures("kohort_group_partitions_owned", group=scene.group(f"a-{name}")) == owned


def test_lag_that_no_member_reads_is_unknown_without_a_subscription(scene: Scene) -> None:
    for name, lag in (("v0", 0), ("none", None)):
        group = scene.group(f"s-{name}")
        assert scene.described(group, "--totals")[1]["totals"]["lag_unsubscribed"] == lag
        shown = scene.ask(f"exporter --once --match ^{group}$").stdout
        assert Figures.read(shown)("kohort_group_lag_unsubscribed_records", group=group) == lag
        reply = scene.ask("diagnose --for 1s --output json --verbose", group)
        rules = {finding["rule"] for of_group in reply.document["groups"] for finding in of_group["findings"]}
        assert ("left-over-offsets" in rules) is (lag is not None), reply
