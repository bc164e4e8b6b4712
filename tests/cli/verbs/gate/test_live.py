"""`kohort gate` on the real broker, with real members: it opens and stays shut as the plan says."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cli.command import Answer, Kohort
from tests.kafka.broker import Broker
from tests.kafka.groups import wait_group
from tests.kafka.member import Member
from tests.kafka.members import Members, Setting, fresh_name
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until

PREFIX = "org.apache.kafka.clients.consumer."
RANGE, COOPERATIVE = f"{PREFIX}RangeAssignor", f"{PREFIX}CooperativeStickyAssignor"
OLD: dict[str, Setting] = {"partition_assignment_strategy": "range"}
NEW: dict[str, Setting] = {"group_protocol": "consumer"}
NAMES = ("m1", "m2", "m3")


@dataclass(slots=True, kw_only=True)
class Scene:
    """A group of three, and its plan."""

    kohort: Kohort
    broker: Broker
    start: Callable[..., Member]
    directory: Path
    group: str = field(default_factory=lambda: fresh_name("gated"))
    topic: str = field(default_factory=lambda: fresh_name("orders"))
    running: dict[str, Member] = field(default_factory=dict)

    @property
    def plan_file(self) -> Path:
        """Where the plan is."""
        return self.directory / "PLAN.yaml"

    def begin(self, *plan: str, **settings: Setting) -> None:
        """Start the members and make the plan."""
        create_topics(self.broker, {self.topic: 6})
        for name in NAMES:
            self.run(name, **settings)
        self.rest(3)
        answer = self.kohort.quick("plan", self.group, "-b", self.broker.bootstrap, *plan, "--output", "yaml")
        assert answer.status == 0, answer
        self.plan_file.write_text(answer.stdout)

    def run(self, name: str, **settings: Setting) -> Member:
        """Start a member."""
        self.running[name] = self.start(self.broker, self.group, [self.topic], name, **settings)
        return self.running[name]

    def restart(self, name: str, **settings: Setting) -> None:
        """Stop it, start it, and wait for the rest."""
        self.running.pop(name).stop()
        self.run(name, **settings)
        self.rest(len(self.running))

    def rest(self, members: int) -> None:
        """Wait until the group is at rest with so many."""
        wait_group(self.broker, self.group, members=members)

    def gate(self, step: int, *options: str) -> Answer:
        """Ask; the document fits the schema and agrees with the exit status."""
        source = () if "--log-dir" in options else ("-b", self.broker.bootstrap)
        asked = ["gate", str(self.plan_file), "--step", str(step), *source, *options, "--output", "json"]
        answer = self.kohort.quick(*asked)
        assert not answer.traceback, answer.stderr
        assert {True: 0, False: 1, None: 3}[answer.document["open"]] == answer.status
        return answer

    def awaited(self, step: int, *options: str) -> list[str]:
        """Who is missing, at a gate that is shut."""
        answer = self.gate(step, *options)
        assert answer.status == 1, answer
        return sorted({one["label"] for one in answer.document["waiting_for"]})

    def is_open(self, step: int, *options: str) -> bool:
        """Whether it opens within a time in which it must."""
        return self.gate(step, "--wait", "20", *options).status == 0


@pytest.fixture
def java(kohort: Kohort, broker: Broker, members: Members, tmp_path: Path) -> Scene:
    """Give a group of Java's consumers."""
    return Scene(kohort=kohort, broker=broker, start=members.java, directory=tmp_path)


@pytest.fixture
def librdkafka(kohort: Kohort, broker: Broker, members: Members, tmp_path: Path) -> Scene:
    """Give a group of librdkafka's consumers."""
    return Scene(kohort=kohort, broker=broker, start=members.confluent, directory=tmp_path)


@pytest.mark.kafka
def test_two_bounces_of_java(java: Scene) -> None:
    old: dict[str, Setting] = {"partition_assignment_strategy": RANGE}
    both: dict[str, Setting] = {"partition_assignment_strategy": f"{COOPERATIVE},{RANGE}"}
    new: dict[str, Setting] = {"partition_assignment_strategy": COOPERATIVE}
    java.begin("--to", "cooperative", "--client", "java:4.1.0", **old)
    assert java.is_open(0)
    assert java.awaited(1) == list(NAMES)
    for number, name in enumerate(NAMES, 1):
        assert java.awaited(1, "--round", str(number)) == [name]
        assert name in java.awaited(1), "the forgotten member is named"
        java.restart(name, **both)
        assert java.is_open(1, "--round", str(number))
    assert java.is_open(1)
    assert java.awaited(2) == list(NAMES)
    java.restart("m1", **old)
    strayed = java.gate(2, "--wait").document
    assert (strayed["strayed"], strayed["back_to"]["step"]) == (True, 1)
    java.restart("m1", **both)
    assert java.is_open(1)
    for number, name in enumerate(NAMES, 1):
        java.restart(name, **new)
        assert java.is_open(2, "--round", str(number))
    assert java.is_open(2)


@pytest.mark.kafka
def test_a_skipped_bounce_of_java(java: Scene) -> None:
    """The member dies with INCONSISTENT_GROUP_PROTOCOL: the gate says who is missing."""
    java.begin("--to", "cooperative", "--client", "java:4.1.0", partition_assignment_strategy=RANGE)
    java.running.pop("m2").stop()
    hasty = java.run("m2", partition_assignment_strategy=COOPERATIVE)
    hasty.wait_event("error")
    java.rest(2)
    assert java.awaited(1, "--round", "1") == ["m2"]


@pytest.mark.kafka
def test_up_to_the_consumer_protocol_and_down_again(librdkafka: Scene, tmp_path: Path) -> None:
    scene = librdkafka
    scene.begin("--to", "consumer", "--client", "librdkafka:2.12.0", **OLD)
    assert scene.awaited(1) == ["m1"]
    scene.restart("m1", **NEW)
    assert scene.is_open(1)
    scene.restart("m2", **NEW)
    assert scene.is_open(2, "--round", "1")
    assert scene.awaited(2) == ["m3"]
    scene.restart("m3", **OLD)
    mixed = scene.gate(2, "--wait", "20").document
    assert (mixed["strayed"], mixed["back_to"]["step"]) == (True, 2)
    assert "m3" in " ".join(mixed["reasons"]) + str(mixed["waiting_for"])
    scene.restart("m3", **NEW)
    assert scene.is_open(2)
    # Who was there when the first gate opened is in the file beside the plan, whatever the source.
    wait_until(
        lambda: scene.gate(2, "--log-dir", str(scene.broker.data)).status == 0, "the broker's log says so too"
    )

    source = ["-b", scene.broker.bootstrap, "--client", "librdkafka:2.12.0", "--output", "yaml"]
    down = scene.kohort.quick("plan", scene.group, "--to", "classic", *source).succeeded()
    (tmp_path / "back").mkdir()
    scene.directory = tmp_path / "back"
    scene.plan_file.write_text(down.stdout)
    assert scene.awaited(1) == ["m1", "m2"]
    scene.restart("m1", **OLD)
    assert scene.is_open(1, "--round", "1")
    scene.restart("m2", **OLD)
    assert scene.is_open(1)
    assert scene.gate(2).status == 1
    scene.restart("m3", **OLD)
    assert scene.is_open(2)


@pytest.mark.kafka
def test_a_stranger_and_an_old_member_after_the_end(librdkafka: Scene) -> None:
    scene = librdkafka
    scene.begin("--to", "consumer", "--client", "librdkafka:2.12.0", **OLD)
    for name in NAMES:
        scene.restart(name, **NEW)
        if name == "m1":
            assert scene.is_open(1)
    assert scene.is_open(2)
    scene.run("other", **OLD)
    scene.rest(4)
    found = scene.gate(2).document
    assert found["strayed"]
    assert "other" in " ".join(found["reasons"])
    scene.running.pop("other").stop()
    scene.rest(3)
    assert scene.is_open(2)


@pytest.mark.kafka
def test_a_group_of_another_cluster(librdkafka: Scene) -> None:
    scene = librdkafka
    scene.begin("--to", "consumer", "--client", "librdkafka:2.12.0", **OLD)
    text = scene.plan_file.read_text()
    (line,) = [one for one in text.splitlines() if one.strip().startswith("cluster:")]
    scene.plan_file.write_text(text.replace(line, "  cluster: other"))
    answer = scene.kohort.quick("gate", scene.plan_file, "--step", "1", "-b", scene.broker.bootstrap)
    assert answer.status == 2
    assert "cluster id  other" in answer.stdout


@pytest.mark.kafka
def test_a_cluster_that_does_not_answer_is_asked_again(librdkafka: Scene) -> None:
    scene = librdkafka
    scene.begin("--to", "consumer", "--client", "librdkafka:2.12.0", **OLD)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"127.0.0.1:{taken.getsockname()[1]}"
        wait = ["--wait", "5", "-b", nobody, "--output", "json"]
        answer = scene.kohort.quick("gate", scene.plan_file, "--step", "1", *wait)
    assert answer.status == 3
    assert answer.document["open"] is None
    assert answer.stderr.count("trying again") == 1
