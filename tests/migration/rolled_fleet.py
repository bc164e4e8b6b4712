"""Three members on a real broker that are restarted one by one, and what is counted meanwhile.

Rebalances are counted by the broker: a classic group's generation becomes the group epoch when the group is converted,
and each rebalance adds one. Moves are counted by who owns each partition whenever the group has settled.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

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

NAMES = ("m1", "m2", "m3")
PARTITIONS = 13  # Not the same number for each member, with three as with two
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
    group: str = field(default_factory=lambda: fresh_name("payments"))
    topic: str = field(default_factory=lambda: fresh_name("orders"))
    running: dict[str, Member] = field(default_factory=dict)
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
        for name in NAMES:
            self.running.pop(name).stop()
            if not self.way.static:
                self.settle(len(NAMES) - 1)
            self.start(name, start)
            self.settle(len(NAMES))
        return self.epoch() - epoch, self.moved - moved

    def start(self, name: str, start: MemberStart) -> None:
        """Start a member, under the same client id each time."""
        is_java = self.way.library == "java"
        run: Callable[..., Member] = self.members.java if is_java else self.members.confluent
        settings: dict[str, Setting] = {"client_id": name}
        if self.way.static:
            settings["group_instance_id"] = name
        if start.protocol is MemberProtocol.CONSUMER:
            settings["group_protocol"] = "consumer"
        else:
            names = [JAVA[assignor] if is_java else assignor for assignor in start.assignors]
            settings["partition_assignment_strategy"] = ",".join(names)
            settings["heartbeat_interval_ms"] = HEARTBEAT_MS
        self.running[name] = run(self.broker, self.group, [self.topic], fresh_name(name), **settings)

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
        owned = {one.instance or one.member_id: one.assignment.get(self.topic, ()) for one in view.members}
        pairs = [(partition, owner) for owner, partitions in owned.items() for partition in partitions]
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
