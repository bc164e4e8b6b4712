"""The parts of a plan: findings, steps with their rounds (`Rollout`), and the conditions of their gates.

A condition is a requirement of a gate, as data, about facts that a broker shows. It does not show restarts: a
restarted member has a new member id, and `Replaced` compares with the ids that the group had when the step started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum
from typing import Annotated, TypeAlias

from groups.classic_streams import Rebalancing
from groups.findings import Finding, Level
from groups.model import GroupState, GroupType, Member, MemberProtocol
from groups.trees import UNWRITTEN, Tagged, named
from wire.values import dataclass

LIBRARY_RULE = "client-library"  # The rule about members whose library is unknown

SESSION_S = 45.0
"""Default of `session.timeout.ms` and `group.consumer.session.timeout.ms`: how long a static member may be away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeIs:
    type: GroupType


@dataclass(frozen=True, slots=True, kw_only=True)
class StateIn:
    states: tuple[GroupState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolIs:
    """The group uses this assignor (the classic group's protocol, or the assignor of a consumer group)."""

    protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberCount:
    at_least: int | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaking:
    """At least this many members, or all if None, speak this protocol."""

    protocol: MemberProtocol
    at_least: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """Members of the completed rounds, or of the whole step, have left or rejoined under new ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoUserData:
    """No member's assignment carries user data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsRelease:
    """Every thread of a classic Streams group knows this version of its assignor's data (5: release 2.4)."""

    knows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsRebalancing:
    """No thread of a classic Streams group has shown another rebalance protocol than this one."""

    protocol: Rebalancing


@dataclass(frozen=True, slots=True, kw_only=True)
class OfClient:
    client_id: str


class Precedes(OfClient):
    """A member with this client id is next after the leader in the broker's order of succession."""


class Leads(OfClient):
    """A member with this client id leads the group: observed if the source shows the leader, else by succession."""


class Absent(OfClient):
    """No member has this client id."""


class Present(OfClient):
    """A member has this client id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OthersAlso:
    """The group has a member that is neither in the plan nor a replacement of a member in the plan."""


Condition: TypeAlias = Annotated[
    TypeIs
    | StateIn
    | ProtocolIs
    | MemberCount
    | Speaking
    | Replaced
    | NoUserData
    | StreamsRelease
    | StreamsRebalancing
    | Precedes
    | Leads
    | Absent
    | Present
    | OthersAlso,
    Tagged("check"),
]


class Destination(Enum):
    COOPERATIVE = "cooperative"  # The classic protocol with cooperative rebalancing (KIP-429)
    CONSUMER = "consumer"  # The consumer protocol (KIP-848)
    EAGER = "eager"  # The classic protocol with eager rebalancing: the rollback from cooperative
    CLASSIC = "classic"
    """The classic protocol, with the assignor that the members had: the rollback from consumer."""


class PlanVerdict(Enum):
    READY = "ready"
    WARNINGS = "warnings"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"  # Only that the library of some members is unknown prevents the plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    what: str
    symptom: str
    """How to recognize it: a line of a log, a message, an error code by its name in Kafka's protocol."""
    then: str  # What to do about it


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The costs of a step, from dry runs of the assignors round by round."""

    rebalances: int
    moved: int  # Partitions that change owners, in all rebalances together
    without_owner_s: float  # Partition-seconds without an owner: seconds, summed over partitions
    arithmetic: tuple[str, ...]  # The calculation of the figures, one line each, with the assumptions


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFigures:
    rebalances: float
    moved: float
    without_owner_s: float  # Partition-seconds
    read_twice: float
    commits_refused: float
    lasted_s: float | None
    """Sum over the rounds, from the first stop until the gate opened; None if a gate stayed closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsedStep:
    median: StepFigures
    worst: StepFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRehearsal:
    at: str  # When, in UTC: `2026-03-01T12:00:00Z`
    seed: int  # The first of the seeds
    seeds: int
    safe: bool
    unsafe: tuple[str, ...] = ()  # Why it is not safe, each reason once
    story: tuple[str, ...] = ()  # The last events of the first seed that was not safe, one line each


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A way in which a group leaves the plan, recognized by its state."""

    conditions: tuple[Condition, ...]  # The group is off plan when all of them hold
    message: str
    back_to: str  # Id of the step to return to


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    id: str = ""  # A name that does not depend on the step's number: `first-bounce`
    title: str
    actions: tuple[str, ...]
    round_action: RoundAction | None = field(default=None, metadata=named("manner"))
    """What happens to the members of each round; None if the step concerns no member of the group."""
    rounds: tuple[tuple[str, ...], ...] = ()
    """Members that are restarted (or started, or stopped) together, in order, as `round_names` calls them."""
    config: tuple[str, ...] = ()  # The required lines of client configuration after the step
    expect: str = ""  # How the group behaves during the step
    expectation: Expectation | None = None  # None if it cannot be computed, as for an empty group
    rehearsed: RehearsedStep | None = None  # None if the plan was not rehearsed
    rollout: Rollout | None = field(default=None, compare=False, metadata=named("course"))
    """Its rounds, for the expectation, the picture and the rehearsal; None if the group is not affected."""
    shell: tuple[str, ...] = ()  # Commands that carry out the step, or parts of it
    commands: tuple[str, ...] = ()
    """Commands that show whether the step is complete; the first one does so by its exit status."""
    round_command: str = ""
    """The command whose exit status shows whether round `"$K"` is complete; empty for a step in one round."""
    complete_when: str = ""
    between: tuple[Condition, ...] = ()  # Conditions before the next round can start
    gate: tuple[Condition, ...] = ()  # Conditions of a complete step
    strays: tuple[Deviation, ...] = ()
    dangers: tuple[Risk, ...] = ()
    rollback: str = field(default="", metadata=named("way_back"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    title: str
    why_not: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMember:
    id: str
    instance: str | None = None
    client_id: str | None = None
    host: str | None = None
    library: str | None = None
    partitions: int = 0

    @classmethod
    def of(cls, member: Member) -> PlannedMember:
        client = member.client
        return cls(id=member.id, instance=member.instance, client_id=client.id, host=client.host)

    @property
    def label(self) -> str:
        """Its name in a runbook, which survives a restart if the member has an instance id or a client id."""
        return self.instance or self.client_id or self.id

    @property
    def called(self) -> tuple[str, ...]:
        """Its possible names, the best first: members of one program often share a client id, seldom a host too."""
        placed = [f"{self.label}@{self.host.removeprefix('/')}"] if self.host else []
        return tuple(dict.fromkeys((self.label, *placed, self.id)))


def round_names(members: Sequence[PlannedMember]) -> dict[str, str]:
    """The name of each member in rounds, by id: the best of its names that no other member shares."""
    called = {member.id: member.called for member in members}
    meant = Counter(name for names in called.values() for name in names)
    return {id_: next((name for name in names if meant[name] == 1), id_) for id_, names in called.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The group that a plan was made for, to recognize a plan for another group and an outdated plan."""

    cluster: str | None  # The cluster's id; None if the source does not know it
    type: GroupType
    state: GroupState
    protocol: str | None
    epoch: int | None
    members: tuple[PlannedMember, ...]
    topics: tuple[str, ...] = ()  # Topics that the members own or subscribe to, sorted
    partitions: Mapping[str, int] = field(default_factory=dict)
    """Partition counts of these topics, as far as known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    group: str
    origin: str = field(metadata=named("from"))
    destination: Destination = field(metadata=named("to"))
    clients: tuple[str, ...]
    findings: tuple[Finding, ...]
    steps: tuple[Step, ...]
    path: str = ""  # The path, in a few words: `two bounces`, `bridge leader`
    baseline: Baseline | None = None
    alternatives: tuple[Alternative, ...] = ()
    concurrency: int = 1
    bounce_s: float = 0.0  # The assumed duration of a member's restart
    rehearsal: PlanRehearsal | None = None
    settled_groups: tuple[SettledGroup, ...] = field(default=(), compare=False, metadata=UNWRITTEN)
    """The states of the group, as `forecast` walked them, for the picture."""

    @property
    def has_blocker(self) -> bool:
        """Whether it has no steps because of a finding."""
        return any(finding.level is Level.BLOCKER for finding in self.findings)

    @property
    def verdict(self) -> PlanVerdict:
        levels = {finding.level for finding in self.findings}
        if Level.BLOCKER in levels:
            blocking = {finding.rule for finding in self.findings if finding.level is Level.BLOCKER}
            return PlanVerdict.UNKNOWN if blocking == {LIBRARY_RULE} else PlanVerdict.BLOCKED
        return PlanVerdict.WARNINGS if Level.WARNING in levels else PlanVerdict.READY


class RoundAction(Enum):
    RESTART = "restart"  # They are stopped, and started again after `Plan.bounce_s`
    STOP = "stop"  # They are stopped, and stay away
    START = "start"  # They are started: members that an earlier step stopped, and temporary ones


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberStart:
    protocol: MemberProtocol = MemberProtocol.CLASSIC
    assignors: tuple[str, ...] = ()
    """Its list under the classic protocol, preferred first, by the assignors' own names (`range`)."""
    remote_assignor: str | None = None
    """The assignor that it requests under the consumer protocol; None: the broker's first (`uniform`)."""
    release: str | None = None  # Of Kafka Streams; None: unchanged
    upgrade_from: str | None = None  # Kafka Streams' `upgrade.from`


@dataclass(frozen=True, slots=True, kw_only=True)
class TemporaryMember:
    """A temporary member without partitions, such as a bridge leader."""

    id: str  # Its client id, which is also its name in rounds
    topics: tuple[str, ...]  # Its subscription: topics that have no partitions for it


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The rounds of a step, in order. `rounds` contains the ids that members had when the plan was made
    (`Member.id`), and ids of temporary members: a restarted member has a new id in the group, and keeps its old one
    here."""

    action: RoundAction = field(default=RoundAction.RESTART, metadata=named("manner"))
    rounds: tuple[tuple[str, ...], ...]
    start: MemberStart | None = None  # None if members are only stopped
    temporary_members: tuple[TemporaryMember, ...] = field(default=(), metadata=named("guests"))
    """Temporary members that this step starts; they are in its rounds too."""
    leaving: tuple[str, ...] = ()  # Temporary members that leave by themselves when the rounds are done


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerGap:
    why: str
    partitions: int
    mean_s: float  # Average seconds of one partition without an owner
    most_s: float

    @property
    def total_s(self) -> float:
        return self.partitions * self.mean_s


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledMember:
    """A member at a moment."""

    origin: str  # Its id when the plan was made; of a temporary member, its client id
    away: bool
    protocol: MemberProtocol | None
    assignors: tuple[str, ...]  # Its list of assignors, preferred first; empty under the consumer protocol
    partitions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledGroup:
    """The group when it has settled after an action."""

    step: int  # From 1; 0 for the group as it was found
    round: int  # From 1, within its step; 0 for the group as it was found
    stopped: tuple[str, ...] = ()  # Origins of the members that the action stopped
    started: tuple[str, ...] = ()
    type: GroupType
    protocol: str | None  # The assignor in use; None if the group has no members
    rebalances: int = 0
    moved: int = 0  # Partitions that have another owner than their last one
    waits: tuple[OwnerGap, ...] = ()
    members: tuple[SettledMember, ...] = ()
    """In the order of the group's members when the plan was made; temporary members follow."""
