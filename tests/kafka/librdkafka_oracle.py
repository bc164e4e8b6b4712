"""librdkafka's own assignors as the oracle of ours: a real consumer computes as the leader of groups of our making, in
a separate process: some groups end it (LeaderDiedError), and so do changes of the metadata, after which it is asked
again.
What ends librdkafka 2.16 between rounds, and is avoided: a leader without `client.rack` in a group where somebody has a
rack; one with it whose own topics have partitions without racks; a broker that leaves the cluster."""

import json
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty
from typing import Any

from kio.schema.join_group.v5.request import JoinGroupRequest

from assignors.model import NO_GENERATION, Claim, GroupSpec, MemberSpec
from tests.kafka.librdkafka_coordinator import Coordinator, Lead, Round, Seat
from tests.kafka.ports import HOST
from wire.messages.embedded_protocol import (
    EmbeddedSubscription,
    read_assignment,
    read_subscription,
    write_subscription,
)

ROOT = Path(__file__).parents[2]
SILENCE_S = 30.0
"""A leader that says nothing for so long is stuck. The longest assignments that the tests ask for take seconds."""
GLANCE_S = 0.05
ATTEMPTS = 3

Named = dict[str, dict[str, list[int]]]


class LeaderDiedError(Exception):
    """The leader's process ended over `spec`, each time it was asked."""

    def __init__(self, spec: GroupSpec) -> None:
        super().__init__(f"librdkafka did not survive {spec}")
        self.spec = spec


class _GoneError(Exception):
    """The leader's process ended, or had to be ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    spec: GroupSpec  # the group in the order of the JoinGroup response, the leader in it
    assigned: Named  # members that the leader left out are not in it; those without partitions are
    user_data: dict[str, bytes | None]
    sent_user_data: dict[str, bytes | None]


class LibrdkafkaLeader:
    def __init__(self, assignor: str, *, instance: str | None = None, rack: str = "") -> None:
        self.assignor, self._instance, self._rack = assignor, instance, rack
        self._coordinator = Coordinator()
        self._round = Round()
        self._coordinator.rounds["leader"] = self._round
        self._generation = 0
        self._seen = GroupSpec(topics=(), members=())
        self._asked: list[tuple[GroupSpec, Sequence[str], str, int]] = []
        self._process = self._start()

    def ask(self, spec: GroupSpec, topics: Sequence[str], member_id: str, at: int) -> Led:
        """Lead `spec`, with the leader's id and at its place among the members. What the leader is assigned it owns in
        the next round, if it is the same process. Raises LeaderDiedError."""
        self._seen = spec
        ends = 0
        while ends < ATTEMPTS:
            try:
                led = self._ask(spec, topics, member_id, at)
            except _GoneError:
                ends += 1
                self._replace()
            else:
                if led is not None:
                    # Not what was sent: it may have joined before it stdout of other topics.
                    self._asked.append((spec, led.spec.members[at].topics, member_id, at))
                    return led
        raise LeaderDiedError(self._seen)

    def again(self) -> Led:
        """The last round once more, in a new process that was asked all that this one was: the group is the same; what
        it reads in freed memory may not be."""
        asked, seen = self._asked, self._seen
        for _ in range(ATTEMPTS):
            self._replace()
            led = [self.ask(*arguments) for arguments in asked][-1]
            if led.spec == seen:
                return led
        raise AssertionError(f"no new leader could be brought to where the old one was: {seen}")

    def _replace(self) -> None:
        self._end()
        self._asked, self._generation = [], 0
        self._process = self._start()

    def _ask(self, spec: GroupSpec, topics: Sequence[str], member_id: str, at: int) -> Led | None:
        """None where the leader joined twice: it may have assigned with the topics of its first attempt."""
        self._round.topics = spec.topics
        joined = self._round.joins
        self._send(topics)
        # A subscription without changes makes no member rejoin: a heartbeat must, though not before librdkafka has
        # the new topics.
        self._round.outdated = joined
        lead: Lead | None = None
        joins = 0
        while True:
            event = self._next()
            if isinstance(event, JoinGroupRequest):
                self._seen, lead = self._lead(spec, event, member_id, at)
                self._round.answer.put(lead)
                joins += 1
            elif lead is None or event.generation_id != lead.generation:
                self._round.keep.put(b"")
            else:
                led = self._read(self._seen, lead, event)
                return led if joins == 1 else None

    def close(self) -> None:
        self._end()
        self._coordinator.close()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def _start(self) -> subprocess.Popen[str]:
        config = {
            "bootstrap.servers": f"{HOST}:{self._coordinator.port}",
            "group.id": "oracle",
            "client.id": "leader",
            "client.rack": self._rack,
            "partition.assignment.strategy": self.assignor,
            "topic.metadata.refresh.interval.ms": 100,
            "heartbeat.interval.ms": 5,
            "session.timeout.ms": 60000,
            "log_level": 0,
        }
        if self._instance is not None:
            config["group.instance.id"] = self._instance
        self._round = Round()
        self._coordinator.rounds["leader"] = self._round
        return subprocess.Popen(
            [sys.executable, "-m", "tests.kafka.librdkafka_leader", json.dumps(config)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
        )

    def _send(self, topics: Sequence[str]) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the leader has no pipes")
        try:
            stdin.write(json.dumps(list(topics)) + "\n")
            stdin.flush()
        except BrokenPipeError:
            raise _GoneError from None
        ready, _, _ = select.select([stdout], [], [], SILENCE_S)
        if not ready or not stdout.readline():
            raise _GoneError

    def _next(self) -> Any:
        deadline = time.monotonic() + SILENCE_S
        while time.monotonic() < deadline:
            try:
                return self._round.events.get(timeout=GLANCE_S)
            except Empty:
                if self._process.poll() is not None:
                    break
        raise _GoneError

    def _lead(self, spec: GroupSpec, request: Any, member_id: str, at: int) -> tuple[GroupSpec, Lead]:
        self._generation += 1
        metadata = request.protocols[0].metadata
        leader = _as_member(member_id, request.group_instance_id, read_subscription(metadata))
        members = (*spec.members[:at], leader, *spec.members[at:])
        racks = any(member.rack for member in members)
        seats = [
            Seat(
                member_id=member.id,
                instance=member.instance,
                metadata=metadata
                if member is leader
                else write_subscription(as_subscription(member, racks=racks)),
            )
            for member in members
        ]
        lead = Lead(
            generation=self._generation, protocol=self.assignor, member_id=member_id, seats=tuple(seats)
        )
        return replace(spec, members=members), lead

    def _read(self, spec: GroupSpec, lead: Lead, request: Any) -> Led:
        assignments = {one.member_id: one.assignment for one in request.assignments}
        self._round.keep.put(assignments[lead.member_id])
        read = {member: read_assignment(data) for member, data in assignments.items()}
        sent = {seat.member_id: read_subscription(seat.metadata).user_data for seat in lead.seats}
        return Led(
            spec=spec,
            assigned={
                member: {topic: sorted(numbers) for topic, numbers in sorted(one.partitions.items())}
                for member, one in read.items()
            },
            user_data={member: one.user_data for member, one in read.items()},
            sent_user_data=sent,
        )


def as_subscription(member: MemberSpec, *, racks: bool) -> EmbeddedSubscription:
    """The member's subscription. Without racks in the group, old versions occur too: librdkafka wants them with."""
    version = 3
    if not racks and member.rack is None:
        version = 1 if member.owned.generation == NO_GENERATION else 2
    return EmbeddedSubscription(
        version=version,
        topics=member.topics,
        user_data=member.user_data,
        owned={topic: tuple(numbers) for topic, numbers in member.owned.partitions.items()},
        generation=member.owned.generation,
        rack=member.rack,
    )


def _as_member(member_id: str, instance: str | None, subscription: EmbeddedSubscription) -> MemberSpec:
    return MemberSpec(
        id=member_id,
        topics=subscription.topics,
        instance=instance,
        rack=subscription.rack,
        owned=Claim(partitions=subscription.owned, generation=subscription.generation),
    )
