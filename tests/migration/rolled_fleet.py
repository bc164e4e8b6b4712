"""Three members on a real broker that are restarted one by one, and what is counted meanwhile.

Rebalances are counted by the broker: a classic group's generation becomes the group epoch when the group is converted,
and each rebalance adds one. Moves are counted by who owns each partition whenever the group has settled, and times
without an owner from what the members wrote down.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from cli.sources.replayed import ReplayedSource
from groups.model import Cluster, Group, GroupType, MemberProtocol, Topic
from migration.clients import clients_of, parse_clients
from migration.expectation import forecast
from migration.model import Destination, Expectation, MemberStart, Rollout, Step
from migration.rules.case import Case, PlanRequest
from tests.kafka.broker import Broker
from tests.kafka.groups import describe
from tests.kafka.member import Member
from tests.kafka.members import Members, Setting, fresh_name
from tests.kafka.settings import HEARTBEAT_MS
from tests.kafka.topics import create_topics
from tests.migration.cases import listing
from tests.migration.end_to_end.fleets import JAVA
from tests.migration.end_to_end.journal import Partition, read_journal

NAMES = ("m1", "m2", "m3")
PARTITIONS = 13
"""Not the same number for each member, with three as with two."""
WAIT_S = 150.0
CONSUMER = MemberStart(protocol=MemberProtocol.CONSUMER)
COOPERATIVE = MemberStart(assignors=("cooperative-sticky",))
RANGE = MemberStart(assignors=("range",))
Owners = dict[int, str]


@dataclass(frozen=True, kw_only=True)
class Way:
    """How three members go from bounce to bounce."""

    library: str = "java"
    static: bool = False
    first: MemberStart
    bounces: tuple[MemberStart, ...]


@dataclass
class Fleet:
    """The members; `latest` says who had each partition last."""

    broker: Broker
    members: Members
    way: Way
    scratch: Path
    heartbeat_ms: int = HEARTBEAT_MS
    pauses_s: tuple[float, ...] = (0.0, 0.0, 0.0)
    """Before each member is stopped, and before it is started: members send their heartbeats in step, and somebody
    stops them at any time of the interval."""
    group: str = field(default_factory=lambda: fresh_name("payments"))
    topic: str = field(default_factory=lambda: fresh_name("orders"))
    running: dict[str, Member] = field(default_factory=dict)
    journals: list[Path] = field(default_factory=list)
    latest: Owners = field(default_factory=dict)
    moved: int = 0

    def begin(self) -> list[Expectation | None]:
        create_topics(self.broker, {self.topic: PARTITIONS})
        for count, name in enumerate(NAMES, 1):
            self.start(name, self.way.first)
            self.settle(count)
        group = listing(self.seen(), *self.way.first.assignors)  # a broker keeps only what it chose of a list
        ids = {member.client.id: member.id for member in group.members}
        rounds = tuple((ids[name],) for name in NAMES)
        rollouts = [Rollout(rounds=rounds, start=start) for start in self.way.bounces]
        case = Case(
            group=group,
            cluster=Cluster(),
            request=PlanRequest(destination=Destination.CONSUMER),
            clients=clients_of(group, parse_clients([self.way.library])),
        )
        steps = [Step(title="", actions=(), rollout=rollout) for rollout in rollouts]
        topics = {self.topic: Topic(name=self.topic, partitions=PARTITIONS)}
        return [step.expectation for step in forecast(case, steps, topics=topics, bounce_s=1.0).steps]

    def bounce(self, start: MemberStart) -> tuple[int, int]:
        """Restart all members, one by one; the rebalances that the broker counts, and the partitions that moved."""
        epoch, moved = self.epoch(), self.moved
        for name, pause_s in zip(NAMES, self.pauses_s, strict=True):
            time.sleep(pause_s)
            self.running.pop(name).stop()
            if not self.way.static:
                self.settle(len(NAMES) - 1)
            time.sleep(pause_s)
            self.start(name, start)
            self.settle(len(NAMES))
        return self.epoch() - epoch, self.moved - moved

    def start(self, name: str, start: MemberStart) -> None:
        """Start a member, under the same client id each time."""
        run: Callable[..., Member] = (
            self.members.java if self.way.library == "java" else self.members.confluent
        )
        life = fresh_name(name)
        self.journals.append(self.scratch / life)
        settings = self._settings(name, start)
        self.running[name] = run(
            self.broker, self.group, [self.topic], life, journal=self.journals[-1], **settings
        )

    def _settings(self, name: str, start: MemberStart) -> dict[str, Setting]:
        settings: dict[str, Setting] = {"client_id": name}
        if self.way.static:
            settings["group_instance_id"] = name
        if start.protocol is MemberProtocol.CONSUMER:
            return {**settings, "group_protocol": "consumer"}
        names = [JAVA[assignor] if self.way.library == "java" else assignor for assignor in start.assignors]
        strategy = ",".join(names)
        return {
            **settings,
            "partition_assignment_strategy": strategy,
            "heartbeat_interval_ms": self.heartbeat_ms,
        }

    def settle(self, count: int) -> None:
        """Wait until everything is owned once and the group rests, then count what moved."""
        deadline = time.monotonic() + WAIT_S
        while (owners := self._owners(count)) is None or not self._held(owners):
            assert time.monotonic() < deadline, describe(self.broker, self.group)
            time.sleep(0.2)
        self.moved += sum(1 for index, owner in owners.items() if self.latest.get(index, owner) != owner)
        self.latest = owners

    def _owners(self, count: int) -> Owners | None:
        """Who owns what, by instance or member id; None while the group does not rest."""
        view = describe(self.broker, self.group)
        if view is None or view.state != "Stable" or len(view.members) != count:
            return None
        pairs = [
            (partition, member.instance or member.member_id)
            for member in view.members
            for partition in member.assignment.get(self.topic, ())
        ]
        return dict(pairs) if len(pairs) == len(dict(pairs)) == PARTITIONS else None

    def _held(self, owners: Owners) -> bool:
        """Whether the members themselves hold as many as the broker says."""
        held = sum(len(member.assignment().get(self.topic, ())) for member in self.running.values())
        return held == len(owners)

    def seen(self) -> Group:
        """The group as Kohort reads it from the broker's log."""
        return ReplayedSource.read([self.broker.data]).describe([self.group], offsets=False).items[0]

    def epoch(self) -> int:
        group = self.seen()
        epoch = group.generation if group.type is GroupType.CLASSIC else group.group_epoch
        assert epoch is not None
        return epoch

    def without_owner(self, since_ns: int) -> list[tuple[int, int]]:
        """From when to when partitions had no owner, each time, by the clock of journals; from then on."""
        reported: dict[Partition, list[tuple[int, str]]] = {}
        for journal in self.journals:
            for entry in read_journal(journal.name, journal).entries:
                if entry.kind != "record" and entry.at_ns >= since_ns:
                    reported.setdefault(entry.partition, []).append((entry.at_ns, entry.kind))
        return [
            (before, after)
            for events in map(sorted, reported.values())
            for (before, gave), (after, took) in pairwise(events)
            if gave != "assigned" and took == "assigned"
        ]
