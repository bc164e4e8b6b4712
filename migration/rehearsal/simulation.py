"""The group in its simulated world, as its members see it and as a broker would describe it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from operator import is_
from uuid import NAMESPACE_URL, uuid5

from coordinator.configs.release import RELEASE, Release
from coordinator.configs.settings import Config
from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import STATIC_LEAVE_EPOCH, ConsumerMember
from coordinator.engine.consumer.target_assignment import shown_assignor
from coordinator.engine.context import Group as EngineGroup
from coordinator.engine.groups import Names, consumer_group, consumer_member
from coordinator.engine.records import ClassicMemberValue, Record
from coordinator.engine.topics import TopicImage, TopicInfo
from coordinator.faults import FailCoordinator
from coordinator.simulation import idle_time
from coordinator.simulation.consumers import GROUP
from coordinator.simulation.node import NodeStatus
from coordinator.simulation.result import MemberMetrics, RunResult, Violation
from coordinator.simulation.run import LIMIT, metrics_of, result_of, run_until_settled
from coordinator.simulation.scenario import Close, MemberScript, Restart, Scenario, Start, StreamsScript
from coordinator.simulation.topics import InitialState
from coordinator.simulation.world import World
from coordinator.store.described_groups import classic_member
from coordinator.store.group_records import NoRecords, group_records
from groups import described
from groups.group_spec import current_of
from groups.model import Group, GroupState, GroupType, Member, MemberProtocol
from groups.regex.broker import InvalidRegexError
from migration.rehearsal.faults import Fault, PlanFaults, from_now
from migration.rehearsal.simulated_members import (
    CannotRehearseError,
    FoundGroup,
    MemberAction,
    SimulatedMembers,
    StepRound,
)

REST_S = 5.0
"""How long the group must be unchanged before the rehearsal starts: longer than a heartbeat interval."""
PATIENCE_S = 600.0  # The longest time to wait for such an unchanged group
STOP_S = 30.0  # How long to wait for a stopped process to exit, and (POLL_S) how often to check
POLL_S = 0.1
BETWEEN_MS = 300
"""Members are also observed this long before, as a settled one may have a request in flight at a full second."""
HEAD_START_S = 1.0  # The head start of a leader: enough to join first


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalCosts:
    rebalances: int = 0
    moved: int = 0  # Partitions assigned to another member than their last owner
    without_owner_s: float = 0.0  # Partition-seconds
    read_twice: int = 0
    commits_refused: int = 0

    def __add__(self, more: RehearsalCosts) -> RehearsalCosts:
        return self - (RehearsalCosts() - more)

    def __sub__(self, before: RehearsalCosts) -> RehearsalCosts:
        names = (figure.name for figure in fields(self))
        changes = {name: round(getattr(self, name) - getattr(before, name), 3) for name in names}
        return RehearsalCosts(**changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    at_s: float
    member: str
    error: str  # By its name in Kafka's protocol


class Simulation:
    """The group in its simulated world. Members are named by the ids that they had when the plan was made."""

    def __init__(
        self, found_group: FoundGroup, simulated: SimulatedMembers, seed: int, *, with_story: bool
    ) -> None:
        """Raises InvalidSetting: a setting of the brokers cannot be played."""
        self.found, self._simulated, self._seed, self._with_story = found_group, simulated, seed, with_story
        group, members = found_group.group, simulated.members.values()
        clients = {member.name: member.client for member in members}
        settings, topics = _settings(found_group), _topics(found_group)
        self._description = Description(group.id, Config.parse(settings).group_consumer_assignors[0])
        application = simulated.application
        scenario = Scenario(
            name=group.id,
            topics={topic.name: topic.partitions for topic in found_group.topics.values()},
            settings=settings,
            members={member.name: member.script for member in members},
            streams=None if application is None else _with_successors(application.script),
        )
        self.world = World(
            scenario,
            seed,
            member_ids={member.name: [member.id] for member in members if member.id is not None},
            with_story=with_story,
            initial=InitialState(
                clients=clients | {_successor(name): client for name, client in clients.items()},
                topic_ids={name: topic.id for name, topic in topics.topics.items()},
                log=_log_of(group, topics),
                histories=self._owned(),
                streams=None if application is None else application.observed,
            ),
        )
        self.scripts = {member: one.script for member, one in simulated.members.items()}  # As started last
        self._stopped: set[str] = set()
        self._names = {member: one.name for member, one in simulated.members.items()}  # Of its process

    # Actions

    def begin(self, *, leader: str | None = None) -> None:
        """Start all members, classic ones and `leader` first. Raises CannotRehearseError: they do not settle."""
        if leader in self._names:
            self.world.play(Start(at=0, member=self._names[leader]))
            self.wait(HEAD_START_S)
        members = self._simulated.members.values()
        for protocol in ("classic", "consumer"):
            names = [member.name for member in members if member.script.protocol == protocol]
            for name in names:
                self.world.play(Start(at=0, member=name))
            if names and not self.wait_until_settled():
                raise CannotRehearseError(f"the group does not settle as it was found: {self.unsettled()}")

    def wait_until_settled(self) -> bool:
        """Let time pass until the group has been unchanged for `REST_S`; False if that takes too long."""
        world = self.world
        end_ms = world.schedule.now_ms + int(PATIENCE_S * 1000)
        while world.schedule.now_ms < end_ms:
            self.wait(1.0)
            quiet_ms = world.schedule.now_ms - world.measures.changed_ms
            if not self.unsettled() and quiet_ms >= REST_S * 1000:
                return True
        return False

    def wait(self, seconds: float) -> None:
        schedule = self.world.schedule
        end_ms = schedule.now_ms + int(seconds * 1000)
        while schedule.now_ms < end_ms:
            self._leap(end_ms)
            schedule.play(min(schedule.now_ms + 1_000, end_ms), LIMIT)

    def _leap(self, before_ms: int) -> None:
        if idle_time.skip_idle(self.world, before_ms) and not self._with_story:
            self.world.forget()

    def wait_for_change(self, step_s: float, longest_s: float) -> None:
        """Wait `step_s`; if the group has settled, a multiple of it until its description may change."""
        schedule, step_ms = self.world.schedule, int(step_s * 1000)
        began_ms = schedule.now_ms
        self._leap(began_ms + int(longest_s * 1000))
        end_ms = schedule.now_ms + (-(schedule.now_ms - began_ms) % step_ms or step_ms)
        schedule.play(max(schedule.now_ms, end_ms - BETWEEN_MS), LIMIT)
        self.unsettled()  # records since when each member has been settled
        schedule.play(end_ms, LIMIT)

    def perform(self, action: MemberAction) -> None:
        """Stop a member's process and wait for its exit, or replace it with another process."""
        member, name = action.member, self._names[action.member]
        if action.script is None:
            self._stopped.add(member)
            self.world.play(Close(at=0, member=name))
            end_s = self.now_s + STOP_S
            while self.world.processes[name].is_running and self.now_s < end_s:
                self.wait(POLL_S)
            return
        self._stopped.discard(member)
        self.scripts[member] = action.script
        if action.away_s >= 0:
            self.world.play(Restart(at=0, member=name, script=action.script, after_s=action.away_s))
            return
        self._names[member] = _successor(name)
        self.world.play(Restart(at=0, member=self._names[member], script=action.script))
        stops_ms = self.world.schedule.now_ms + int(-action.away_s * 1000)
        self.world.schedule.at(stops_ms, self.world.play, Close(at=0, member=name))

    def inject(self, faults: PlanFaults, step_round: StepRound | None) -> None:
        """Inject the faults of this round, which starts now; None: those of the first round that is played."""
        world, now_s = self.world, self.now_s
        partitions = tuple(from_now(partition, now_s) for partition in faults.partitions.get(step_round, ()))
        world.network.set_faults(replace(faults.network, partitions=partitions))
        for event in faults.events.get(step_round, ()):
            world.schedule.at(world.schedule.now_ms + int(event.at * 1000), self._inject_fault, event)

    def _inject_fault(self, event: Fault) -> None:
        if isinstance(event, FailCoordinator):
            self.world.play(event)
            return
        member = next(key for key, one in self._simulated.members.items() if one.name == event.member)
        event = replace(event, member=self._names[member])
        if isinstance(event, Restart):
            event = replace(event, script=self.scripts[member])
        if self.world.processes[event.member].is_running:
            self.world.play(event)

    def settles(self) -> bool:
        return run_until_settled(self.world, LIMIT)

    # Observable state

    @property
    def now_s(self) -> float:
        return self.world.schedule.now_ms / 1000

    @property
    def costs(self) -> RehearsalCosts:
        for process in self.world.processes.values():
            process.count_reading()
        names = (figure.name for figure in fields(RehearsalCosts))
        return RehearsalCosts(**{name: getattr(self.world.measures, name) for name in names})

    @property
    def violations(self) -> tuple[Violation, ...]:
        return tuple(self.world.violations.all)

    @property
    def metrics(self) -> MemberMetrics:
        return metrics_of(self.world)

    def result(self) -> RunResult | None:
        """Everything that has happened up to now, for a picture; None without a story."""
        return result_of(self.world, self._seed) if self._with_story else None

    @property
    def answers(self) -> bool:
        return self.world.coordinator.status is NodeStatus.COORDINATING

    def unsettled(self) -> str:
        """Describes what has not settled in the members' own view; empty if everything has."""
        return self._doubled() or self.world.settling.unsettled()

    def unsettled_group(self) -> str:
        """The same, without reasons that concern single members: one is paused, or waits for a response."""
        return self._doubled() or self.world.settling.unsettled_group()

    def _doubled(self) -> str:
        """Names a member with two running processes; empty if there is none."""
        for member, name in self._names.items():
            first = self._simulated.members[member].name
            if name != first and self.world.processes[first].is_running:
                return f"{first} and {name} run at the same time"
        return ""

    def missing(self, stopped: Collection[str]) -> str:
        """Names a member that should run and does not, except for the `stopped` ones; empty if there is none."""
        for member, name in self._names.items():
            if member not in stopped and not self.world.processes[name].is_running:
                return f"{name} has not rejoined"
        return ""

    def runs_as(self, member: str, script: MemberScript | None) -> bool:
        """Whether the member was last started with this script, or, if it is None, was stopped."""
        return script == (None if member in self._stopped else self.scripts[member])

    def name_of(self, member: str) -> str:
        return self._names[member]

    def instance_of(self, member: str) -> str:
        return self._simulated.instance_of(member)

    def origin_of(self, member_id: str) -> str:
        """The id that a member, now `member_id`, had when the plan was made. Raises StopIteration."""
        name = self.world.name_of(member_id)
        return next(member for member, member_name in self._names.items() if member_name == name)

    def refusals(self) -> tuple[Refusal, ...]:
        errors = self.world.story.errors()
        return tuple(Refusal(at_s=ms / 1000, member=name, error=error.name) for ms, name, error in errors)

    def misplaced(self) -> int:
        """The number of partitions whose owner is not the member that had them in the group as found."""
        owned = self._owned()
        processes = self.world.processes.items()
        return sum(len(process.owned - owned.get(name, frozenset())) for name, process in processes)

    def _owned(self) -> dict[str, Partitions]:
        group = self.found.group
        return {self._simulated.members[one.id].name: _places(group, one) for one in group.members}

    def group(self) -> Group | None:
        """The group as a broker describes it, with its leader, or None. The same object while it does not change."""
        world = self.world
        return self._description.of(world.engine.state.groups.get(GROUP), world.topics.image.names)


def _successor(name: str) -> str:
    return f"{name}'s successor"


def _with_successors(script: StreamsScript) -> StreamsScript:
    processes = {
        process: (*threads, *map(_successor, threads)) for process, threads in script.processes.items()
    }
    return replace(script, processes=processes)


def _places(group: Group, member: Member) -> Partitions:
    current = current_of(group, member).items()
    return frozenset(TopicPartition(topic, number) for topic, numbers in current for number in numbers)


def _topics(source: FoundGroup) -> TopicImage:
    """The topics; a topic with an unknown id gets an id derived from its name."""
    topics = []
    for topic in source.topics.values():
        topic_id = topic.id or uuid5(NAMESPACE_URL, topic.name)
        topics.append(TopicInfo(name=topic.name, id=topic_id, partitions=topic.partitions))
    return TopicImage.of(topics, version=1)


def _log_of(group: Group, topics: TopicImage) -> tuple[Record, ...]:
    """The records of the group's target assignment; classic members send theirs when they join."""
    speaks_it = all(member.protocol is MemberProtocol.CONSUMER for member in group.members)
    if group.type is not GroupType.CONSUMER or not speaks_it:
        return ()
    # A static member can only be replaced while it is away.
    epochs = [one.epoch if one.instance is None else STATIC_LEAVE_EPOCH for one in group.members]
    pairs = zip(group.members, epochs, strict=True)
    members = tuple(replace(member, epoch=epoch) for member, epoch in pairs)
    try:
        return group_records(replace(group, id=GROUP, offsets=None, members=members), topics, 0)
    except (NoRecords, InvalidRegexError):
        return ()


def _settings(found_group: FoundGroup) -> dict[str, str]:
    """The brokers' settings that the engine has, and their release; the group's own settings take precedence."""
    names = {field.name.replace("_", ".") for field in fields(Config)}
    settings = {f"group.{name}": value for name, value in (found_group.group.settings or {}).items()}
    cluster = found_group.cluster
    release = {RELEASE: Release.KAFKA_4_3.value} if cluster.is_before((4, 4)) else {}
    known = {**release, **(cluster.settings or {}), **settings}
    return {name: value for name, value in known.items() if name in names}


class Description:
    """Describes one group repeatedly, the same object if it has not changed: parsing a large group costs time."""

    def __init__(self, name: str, default_assignor: str) -> None:
        """`name` is the group's id; the brokers' `default_assignor` is shown if no member requests an assignor."""
        self._name, self._default_assignor = name, default_assignor
        self._described_by: object = None  # The input of the last description
        self._last: Group | None = None
        self._members: dict[bool, dict[ClassicMemberValue, Member]] = {False: {}, True: {}}
        """Members of a classic group, when it was last Stable and when it was not, by the coordinator's values."""
        self._shown: dict[str, tuple[tuple[object, ...], Member]] = {}
        """The same of a consumer group, by id, with all that a member's description depends on."""

    def of(self, group: EngineGroup | None, names: Names) -> Group | None:
        """The present group with its leader; None if there is no group. `names`: topic names by id."""
        if isinstance(group, ClassicGroup):
            return self._classic(group)
        return self._consumer(group, names) if isinstance(group, ConsumerGroup) else None

    def _classic(self, group: ClassicGroup) -> Group:
        is_stable = group.state is GroupState.STABLE
        protocol = (group.protocol or None) if is_stable else None
        assignments = {member.id: member.assignment for member in group.members.values()}
        values = group.member_values(protocol, assignments)
        bare = Group(
            id=self._name,
            type=GroupType.CLASSIC,
            state=group.state,
            protocol_type=group.protocol_type,
            protocol=protocol,
            generation=group.generation,
            leader=group.leader,
        )
        if self._last is not None and self._described_by == (bare, values):
            return self._last
        known = self._members[is_stable]
        new = [value for value in values if value not in known]
        read = described.classic_group(bare, map(classic_member, new), stable=is_stable)[0].members
        known |= zip(new, read, strict=True)
        self._members[is_stable] = {value: known[value] for value in values}
        members = tuple(self._members[is_stable].values())
        return self._remember((bare, values), replace(bare, members=members))

    def _consumer(self, group: ConsumerGroup, names: Names) -> Group:
        assignor = shown_assignor(group.requested_assignors(), self._default_assignor)
        members, targets = tuple(group.members.values()), tuple(group.targets.items())
        source = (group.epoch, group.assignment_epoch, group.capacity, assignor, members, targets, names)
        if self._last is not None and self._described_by == source:
            return self._last
        shown = consumer_group(group, names, assignor, self._consumer_member)
        return self._remember(source, replace(shown, id=self._name))

    def _consumer_member(self, group: ConsumerGroup, member: ConsumerMember, names: Names) -> Member:
        name = member.id
        source = (member, group.targets.get(name), group.payloads.get(name), names)
        before = self._shown.get(name)
        # Compared by identity: records replace these objects, and never change them.
        if before is not None and all(map(is_, before[0], source)):
            return before[1]
        shown = consumer_member(group, member, names)
        self._shown[name] = source, shown
        return shown

    def _remember(self, source: object, group: Group) -> Group:
        self._described_by, self._last = source, group
        return group
