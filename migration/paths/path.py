"""The parts of every path: the case and how its steps are carried out (`PathContext`), the rounds, the risks.

The texts that risks quote are from a running 4.3.1 broker and the clients of the field study.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from groups.counts import first_names
from groups.model import GroupState, GroupType, Member, MemberProtocol
from migration import model
from migration.bridge import BRIDGE
from migration.clients import LIBRARIES, MemberClient, version_text
from migration.paths import configuration
from migration.rules.assignors import offered_assignors
from migration.rules.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    name: str
    steps: tuple[model.Step, ...] = ()
    alternatives: tuple[model.Alternative, ...] = ()


EAGER = ("range", "roundrobin", "sticky")  # Kafka's own eager assignors, as the protocol names them
POLICY = "group.consumer.migration.policy"


@dataclass(frozen=True, kw_only=True)
class PathContext:
    case: Case

    @property
    def group(self) -> str:
        return self.case.group.id

    @property
    def is_empty(self) -> bool:
        return self.case.group.state is GroupState.EMPTY or not self.members

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The members to migrate: all but a bridge that is already in the group."""
        return tuple(member for member in self.case.group.members if member.client.id != BRIDGE)

    @cached_property
    def names(self) -> Mapping[str, str]:
        return model.round_names(planned_members(self.case))

    @cached_property
    def libraries(self) -> tuple[str, ...]:
        return tuple(sorted(self.case.libraries))

    @cached_property
    def outdated(self) -> Mapping[str | None, MemberClient]:
        """Clients without a cooperative assignor, which get a newer release in the first restart."""
        if self.case.destination is not model.Destination.COOPERATIVE:
            return {}
        clients = self.case.clients.items()
        return {member: client for member, client in clients if client.is_replaced_in_first_bounce}

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def connector(self) -> str | None:
        """The sink connector if all members are its tasks, which start and stop together; else None."""
        if self.libraries != ("connect",):
            return None
        return self.group.removeprefix("connect-")

    @property
    def has_static(self) -> bool:
        return any(member.instance for member in self.members)

    @property
    def has_regex(self) -> bool:
        """Whether members are known to subscribe by a regex; a classic group does not show it."""
        shown = any(member.subscription and member.subscription.regex for member in self.members)
        return shown or bool(self.case.request.regexes)

    @property
    def has_bridge(self) -> bool:
        return any(member.client.id == BRIDGE for member in self.case.group.members)

    @property
    def policy(self) -> str | None:
        """The brokers' migration policy in lower case; None if unknown."""
        settings = self.case.cluster.settings
        return settings[POLICY].lower() if settings and POLICY in settings else None

    @property
    def remote_assignor(self) -> str | None:
        """The broker's assignor to request; None if the closest one is unknown, or not offered."""
        nearest = configuration.nearest_of_broker(self.old_assignor)
        return nearest if self.offered is None or nearest in self.offered else None

    @property
    def offered(self) -> tuple[str, ...] | None:
        return offered_assignors(self.case)

    @property
    def old_assignor(self) -> str | None:
        return self.case.group.protocol or None

    @property
    def plain_assignor(self) -> str:
        """The first assignor of the first library: KafkaJS has only its own round robin."""
        return next((name for library in self.libraries for name in LIBRARIES[library].assignors), "range")

    def all_have(self, assignor: str) -> bool:
        """Whether every library has the assignor; also True for one that no library has, a custom assignor."""
        having = [name for name, library in LIBRARIES.items() if assignor in library.assignors]
        return not having or all(name in having for name in self.libraries)

    def speaking(self, protocol: MemberProtocol) -> tuple[Member, ...]:
        """The members that speak this protocol; if a member's is unknown, the protocol of the group's type counts."""
        mixed = self.case.group.type is GroupType.CONSUMER
        usual = MemberProtocol.CONSUMER if mixed else MemberProtocol.CLASSIC
        return tuple(member for member in self.members if (member.protocol or usual) is protocol)

    def ordered(self, members: Iterable[Member]) -> list[Member]:
        if self.case.request.reverse:
            return sorted(
                members, key=lambda member: (_by_number(self.names[member.id]), member.id), reverse=True
            )
        return sorted(members, key=lambda member: (self.names[member.id], member.id))

    def name(self, members: Iterable[Member]) -> tuple[str, ...]:
        return tuple(self.names[member.id] for member in members)


def _by_number(name: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def planned_members(case: Case) -> tuple[model.PlannedMember, ...]:
    """The members as they are now, in the group's order."""
    members = []
    for member in case.group.members:
        client = case.clients.get(member.id)
        library = client.library.name if client and client.library else None
        partitions = sum(map(len, (member.owned or {}).values()))
        members.append(replace(model.PlannedMember.of(member), library=library, partitions=partitions))
    return tuple(members)


STABLE = model.StateIn(states=(GroupState.STABLE,))
GONE = model.StateIn(states=(GroupState.EMPTY, GroupState.DEAD))
"""The group has no members; some brokers call a group Dead at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """The rounds of a step, with the members' names for the runbook and their ids for a rehearsal."""

    names: tuple[tuple[str, ...], ...]
    ids: tuple[tuple[str, ...], ...]

    def rollout(self, action: model.RoundAction, start: model.MemberStart | None) -> model.Rollout:
        return model.Rollout(action=action, rounds=self.ids, start=start)


def in_rounds(context: PathContext, members: Sequence[Member], size: int | None = None) -> Rounds:
    """The members in rounds of a size, by default the plan's, in the order of their names."""
    ordered = context.ordered(members)
    size = context.case.request.concurrency if size is None else size
    cut = [ordered[start : start + size] for start in range(0, len(ordered), size or 1)]
    return Rounds(
        names=tuple(context.name(some) for some in cut),
        ids=tuple(tuple(member.id for member in some) for some in cut),
    )


def all_back(context: PathContext) -> tuple[model.Condition, ...]:
    """The group is Stable with all its members, and the members of the rounds so far have been replaced."""
    return (STABLE, model.MemberCount(at_least=max(context.size, 1)), model.Replaced())


def restart_actions(context: PathContext, rounds: Rounds) -> tuple[str, ...]:
    actions = []
    if context.has_static:
        static = _few(member.instance for member in context.members if member.instance)
        actions.append(f"Never start a static member before its predecessor has exited: {static}.")
    several = len(rounds.names) > 1
    if not several and rounds.names and len(rounds.names[0]) == 1:
        member = _few(rounds.names[0])
        actions.append(f"Stop {member}, wait until it has exited, then start it with the lines below.")
    else:
        whose = "the members of a round" if several else "the members"
        actions.append(
            f"Stop {whose}, wait until their processes have exited, then start them with the lines below."
        )
    if several:
        actions.append("Start the next round only after the check of this one has exited with status 0.")
    return tuple(actions)


def new_release(context: PathContext) -> tuple[str, ...]:
    """Actions in addition to the new list, if the members' client is too old for it."""
    if not context.outdated:
        return ()
    libraries = {client.library for client in context.outdated.values()}
    names = [f"{library.name} {version_text(library.cooperative or ())}" for library in libraries if library]
    newer, whose = " and ".join(sorted(names)), "the members"
    if len(context.outdated) < len(context.case.clients):
        whose = _few(context.names[member] for member in context.outdated if member is not None)
    restart = (
        f"Start {whose} with a newer client ({newer} or later) and the list below in the same restart: an older "
        "client has no cooperative assignor, and does not start with this list."
    )
    compiled = "Compile its rebalance listeners against the newer Java client first: onPartitionsLost is new."
    is_java = any(library and library.name == "java" for library in libraries)
    return (restart, compiled) if is_java else (restart,)


READ_LISTENERS = (
    "Read every rebalance listener again before the first restart: a cooperative member's gets only the partitions "
    "that change, and lost partitions have a separate callback."
)
"""Source: KIP-429, Public Interfaces: a listener "recompiled", and reviewed for changed semantics."""


OLD_CLIENT_WITH_NEW_LIST = model.Risk(
    what="An old client gets the new list.",
    symptom="It does not start: `KafkaException: …CooperativeStickyAssignor ClassNotFoundException exception "
    "occurred`. The check reports that a member is missing.",
    then="Start it with the newer client.",
)
"""Source: kafka-clients 2.3.1, tried."""


def _few(names: Iterable[str]) -> str:
    return first_names(sorted(names), 8)


INCONSISTENT = "INCONSISTENT_GROUP_PROTOCOL"


def skipped_bounce(old: str, new: str) -> model.Risk:
    """A member is started with the new list alone, too early."""
    return model.Risk(
        what=f"A member is started with {new} alone while another member does not list it.",
        symptom=f"It cannot join and fails with {INCONSISTENT} (Java: InconsistentGroupProtocolException); its "
        "partitions go to the others. The check of the round does not open: a member is missing.",
        then=f"Start it with the list of this step, which still contains {old}.",
    )


def read_while_rebalancing(context: PathContext) -> tuple[model.Risk, ...]:
    """Tried on 4.3.1: when a third member joined, 14 records of the two partitions that moved were read twice.
    Java's classic consumer commits before it joins (ConsumerCoordinator.onJoinPrepare). A cooperative one continues
    to read until it knows which partitions it loses; an eager one has revoked everything by then."""
    twice = model.Risk(
        what="Some records are consumed twice.",
        symptom="A cooperative Java member keeps reading during a rebalance. The new owner of a partition that moves "
        "reads the records since the commit at the start of the rebalance again, with auto-commit too.",
        then="Commit in onPartitionsRevoked, or make processing idempotent.",
    )
    return (twice,) if "java" in context.libraries else ()


def of_statics(context: PathContext) -> tuple[model.Risk, ...]:
    """Source: the field study, section 5."""
    fenced = model.Risk(
        what="A static member is started before its predecessor has exited.",
        symptom="FENCED_INSTANCE_ID or UNRELEASED_INSTANCE_ID at one of the two; both may consume the same partitions "
        "for seconds, and a fenced librdkafka member keeps delivering records.",
        then="Stop both, wait until the processes have exited, start one.",
    )
    return (fenced,) if context.has_static else ()


def between_rounds(rounds: Rounds) -> tuple[model.Risk, ...]:
    """Source: the field study, section 4 (aiokafka's stall)."""
    early = model.Risk(
        what="The next round starts before the group is Stable.",
        symptom="ILLEGAL_GENERATION and UNKNOWN_MEMBER_ID at members, and records that are consumed twice; a group "
        "with aiokafka members stalls until a session expires.",
        then="Wait until the group is Stable; it becomes so by itself when the old session expires.",
    )
    return (early,) if len(rounds.names) > 1 else ()


def refused_upgrade(context: PathContext) -> model.Risk:
    """Every refusal has the same code; the reason is only in the broker's log and in the response's message."""
    looks = {
        "java": "Java fails with GroupIdNotFoundException",
        "librdkafka": "librdkafka returns `Fatal error: Broker: The group id does not exist` once, and the process "
        "keeps running without consuming",
    }
    return model.Risk(
        what="The broker refuses to convert the group.",
        symptom=f"The first member gets GROUP_ID_NOT_FOUND ({_of_libraries(context, looks)}). The broker's log "
        "contains the reason: `Cannot upgrade classic group …`. The group itself is unchanged.",
        then="Start the member with its old configuration. Resolve the reason in the broker's log. Start this step "
        "again.",
    )


def leftovers(context: PathContext) -> model.Risk:
    """Settings of the old protocol were left in the configuration."""
    looks = {
        "java": "Java throws ConfigException for partition.assignment.strategy, session.timeout.ms and "
        "heartbeat.interval.ms",
        "librdkafka": "librdkafka refuses to construct the consumer",
        "franz-go": "franz-go silently stays on the classic protocol if its first balancer is roundrobin",
    }
    return model.Risk(
        what="A line that the consumer protocol does not allow is still in the configuration.",
        symptom=f"{_of_libraries(context, looks)}. The check reports that a member is missing, or that it speaks the "
        "classic protocol.",
        then="Remove the lines that this step of the plan marks `# remove`, and start the member again.",
    )


def _of_libraries(context: PathContext, looks: Mapping[str, str]) -> str:
    """The symptoms in the members' libraries; in all known libraries if the members' are unknown."""
    return "; ".join([looks[name] for name in context.libraries if name in looks] or looks.values())
