"""Dry runs: the effect of a rebalance on a group as it is or after changes, and oddities in its ownership."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from assignors.assignor import Assignor, Leader, Side
from assignors.diff import Balance, MemberDiff, balance, member_diffs, minimum_moved, topic_balance
from assignors.errors import AssignorFailedError, BrokenAssignorError, NoCommonProtocolError
from assignors.model import GroupSpec, MemberSpec, TopicSpec, Undetermined
from assignors.rebalance import (
    Procedure,
    Rebalance,
    owners_in,
    procedure_of,
    rebalances_between,
    run_rebalances,
)
from assignors.registry import find, known, rebalance_protocol
from assignors.streams import STREAMS
from assignors.streams.assignor import ThreadTasks
from assignors.streams.model import TaskSettings
from assignors.streams.rounds import TaskRound, run_rounds
from groups.classic_streams import is_classic_streams
from groups.client_library import assignors_of, library_of_all
from groups.counts import counted
from groups.group_spec import (
    WhatIf,
    ask,
    change_group,
    change_topics,
    current_of,
    eager_members,
    members_of_unknown_lists,
)
from groups.model import Group, GroupType, Problem, Topic, each_partition, partition_name
from groups.streams_tasks import StreamsRequest, partitions_of, tasks_input

ITS_OWN_ASSIGNOR = "it is a group of Kafka Streams: only its own assignor assigns its tasks"
BROKERS_DEFAULT = "uniform"  # the first assignor in the default value of `group.consumer.assignors`


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunRequest:
    """What is requested; `streams` counts for groups of Kafka Streams."""

    assignor: str | None = None  # None: the group's own
    side: Side | None = None  # None: the client for classic groups, the broker for consumer groups
    leader: Leader | None = None  # the library of the leader; None: the known or inferred one
    what_if: WhatIf = field(default_factory=WhatIf)
    streams: StreamsRequest = field(default_factory=StreamsRequest)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssumedLeader:
    library: Leader
    known_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksRun:
    """The tasks of a classic group of Kafka Streams, by member."""

    settings: TaskSettings
    processes: Mapping[str, UUID]
    before: Mapping[str, ThreadTasks]
    rounds: tuple[TaskRound, ...]  # as many as the rebalances
    probes_at_ms: int | None  # when the probing rebalance is due that the last assignment asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    group: str
    assignor: str
    side: Side
    leader: AssumedLeader | None  # None for an assignor on the broker
    procedure: Procedure
    eager_members: tuple[str, ...]  # they revoke all partitions first; empty for a broker's assignor
    unknown_lists: tuple[str, ...]  # may list an eager assignor too; assumed to list only this one
    rebalances: tuple[Rebalance, ...]
    rests: bool  # False: not settled within the most rebalances, or because of the failure
    failure: str | None  # the real assignor's exception in the rebalance after the last one
    minimum_moved: int | None  # by any even assignment; None if that is not well defined
    members: tuple[MemberDiff, ...]
    before: Balance
    after: Balance
    topics: Mapping[str, Balance]  # the balance among each topic's subscribers after the last rebalance
    undetermined: tuple[Undetermined, ...]
    oddities: tuple[Problem, ...]
    tasks: TasksRun | None = None  # None for groups of consumers

    @property
    def moved(self) -> int:
        """The number of partitions that move to another member, in all rebalances together."""
        return sum(rebalance.moved for rebalance in self.rebalances)

    @property
    def owned(self) -> int:
        return len(owners_in({member.id: member.before for member in self.members}))


def dry_run_all(
    groups: Sequence[Group], topics: Mapping[str, Topic], request: DryRunRequest
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    """A dry run of each group on its own; a problem reports each group that fails, with the reason."""
    runs: list[DryRun] = []
    problems: list[Problem] = []
    for group in groups:
        try:
            run = dry_run(group, topics, request)
            runs.append(run)
            if run.failure:
                where = f"in rebalance {len(run.rebalances) + 1} the real assignor would fail: {run.failure}"
                problems.append(Problem(subject=group.id, message=where))
        except AssignorFailedError as error:
            problems.append(Problem(subject=group.id, message=_failure(group, topics, request, error)))
        except (LookupError, BrokenAssignorError, NoCommonProtocolError) as error:
            problems.append(Problem(subject=group.id, message=str(error.args[0] if error.args else error)))
    return tuple(runs), tuple(problems)


def _failure(group: Group, topics: Mapping[str, Topic], request: DryRunRequest, error: Exception) -> str:
    changed, changed_topics = change_group(group, request.what_if), change_topics(topics, request.what_if)
    odd = "; ".join(f"{item.subject} {item.message}" for item in oddities_of(changed, changed_topics))
    return f"the real assignor would fail here: {error}" + (f" ({odd})" if odd else "")


def dry_run(group: Group, topics: Mapping[str, Topic], request: DryRunRequest) -> DryRun:
    """A dry run with one assignor. LookupError, ValueError, AssignorFailedError, BrokenAssignorError."""
    why_not = inapplicable(group, request)
    if why_not:
        raise LookupError(why_not)
    if is_classic_streams(group):
        return _dry_run_of_tasks(group, topics, request)
    leader = assumed_leader(group, request)
    assignor = choose_assignor(group, request, leader.library)
    before = {member.id: current_of(group, member) for member in group.members}
    changed, changed_topics = change_group(group, request.what_if), change_topics(topics, request.what_if)
    eager = eager_members(changed, assignor, leader.library)
    subscriptions = {member.id: member.subscription for member in group.members}
    subscribed = {m.id: m.subscription for m in changed.members if m.id in subscriptions}
    resubscribed = {member for member, held in subscribed.items() if held != subscriptions[member]}
    question = ask(changed, changed_topics, assignor, eager, resubscribed)
    course = run_rebalances(question.spec, assignor, before, eager)
    after = course.rebalances[-1].assignment
    return DryRun(
        group=group.id,
        assignor=assignor.name,
        side=assignor.side,
        leader=leader if assignor.side is Side.CLIENT else None,
        procedure=procedure_of(assignor, after, eager),
        eager_members=tuple(member for member in after if member in eager),
        unknown_lists=members_of_unknown_lists(changed, assignor),
        rebalances=course.rebalances,
        rests=course.rests,
        failure=course.failure,
        minimum_moved=None if assignor.may_share else minimum_moved(question.spec, before),
        members=member_diffs(before, after),
        before=balance(before),
        after=balance(after),
        topics=topic_balance(question.spec, after),
        undetermined=(*question.undetermined, *course.undetermined),
        oddities=oddities_of(changed, changed_topics, shared=assignor.may_share),
    )


def _dry_run_of_tasks(group: Group, topics: Mapping[str, Topic], request: DryRunRequest) -> DryRun:
    """Raises LookupError: what the assignment depends on is not known. Raises AssignorFailedError."""
    inputs = tasks_input(group, topics, request.what_if, request.streams)
    if not inputs.spec.threads:
        raise LookupError("no member is left")
    rounds, rests = run_rounds(inputs.spec)
    before = {member.id: current_of(group, member) for member in group.members}
    assignments = [
        {
            member: partitions_of(tasks.active, inputs.spec)
            for member, tasks in each.assignment.threads.items()
        }
        for each in rounds
    ]
    eager = tuple(thread.id for thread in inputs.spec.threads if thread.is_eager)
    rebalances = tuple(rebalances_between(before, assignments, eager))
    names = tuple(sorted({topic for partitions in inputs.spec.tasks.values() for topic, _ in partitions}))
    subscribed = GroupSpec(
        topics=tuple(TopicSpec(name=name, partitions=0) for name in names),
        members=tuple(MemberSpec(id=thread.id, topics=names) for thread in inputs.spec.threads),
    )
    return DryRun(
        group=group.id,
        assignor=STREAMS,
        side=Side.CLIENT,
        leader=AssumedLeader(library=Leader.JAVA, known_by="Kafka Streams"),
        procedure=Procedure.EAGER if len(eager) == len(inputs.spec.threads) else Procedure.COOPERATIVE,
        eager_members=eager,
        unknown_lists=(),
        rebalances=rebalances,
        rests=rests,
        failure=None,
        minimum_moved=None,
        members=member_diffs(before, assignments[-1]),
        before=balance(before),
        after=balance(assignments[-1]),
        topics=topic_balance(subscribed, assignments[-1]),
        undetermined=inputs.undetermined,
        oddities=oddities_of(group, topics),
        tasks=TasksRun(
            settings=inputs.spec.settings,
            processes={thread.id: thread.process for thread in inputs.spec.threads},
            before=inputs.before,
            rounds=rounds,
            probes_at_ms=inputs.probes_at_ms,
        ),
    )


def inapplicable(group: Group, request: DryRunRequest) -> str | None:
    if group.type in (GroupType.SHARE, GroupType.STREAMS):
        return f"a {group.type.value} group is not assigned by a consumer assignor"
    if not group.shares_partitions:
        return f"its protocol type is {group.protocol_type!r}: only consumers have these assignors"
    if is_classic_streams(group) and (request.assignor or request.side is Side.BROKER):
        return ITS_OWN_ASSIGNOR
    if not (request.assignor or group.protocol or uses_default_assignor(group, request)):
        return "no assignor is in use; name one with --assignor"
    return None


def uses_default_assignor(group: Group, request: DryRunRequest) -> bool:
    """For a consumer group whose source does not show the assignor; brokers use it if no member requests another."""
    return group.type is GroupType.CONSUMER and not (request.assignor or group.protocol)


def assumed_leader(group: Group, request: DryRunRequest) -> AssumedLeader:
    """The requested library, else the members' (unless inferred and contradicted by the group), else Java."""
    if request.leader is not None:
        return AssumedLeader(library=request.leader, known_by="asked for")
    library = library_of_all(group.members)
    leader = next(
        (candidate for candidate in Leader if library.name and assignors_of(library.name) == candidate.value),
        None,
    )
    why_not = _contradiction(group, request, leader) if leader and library.is_inferred else None
    if leader is not None and why_not is None:
        return AssumedLeader(library=leader, known_by=library.known_by)
    if why_not is not None:
        why = f"{library.name}, {library.known_by}, {why_not}"
    elif library.name:
        why = f"the members run {library.name}, whose assignors are not known{_racks(group, library.name)}"
    else:
        why = library.known_by
    return AssumedLeader(library=Leader.JAVA, known_by=f"assumed: {why}")


def _racks(group: Group, library: str) -> str:
    """A note for members with racks in franz-go, which uses racks since 1.21.0 (its pull request 1280, KIP-881)."""
    if library != "franz-go" or not any(member.rack for member in group.members):
        return ""
    return "; from 1.21.0 on they prefer partitions whose leaders are in a member's rack"


def _contradiction(group: Group, request: DryRunRequest, leader: Leader) -> str | None:
    """A sign that the leader runs another library, or needs one for the requested assignor; None without a sign."""
    in_use = group.protocol if group.type is GroupType.CLASSIC else None
    for name, then in ((in_use, ": the id is misleading"), (request.assignor, "")):
        if name and name not in known(Side.CLIENT, leader) and _exists(name, Side.CLIENT):
            return f"has no assignor {name!r}{then}"
    try:
        for names in {member.protocols for member in group.members if member.protocols}:
            rebalance_protocol(names, leader)
    except NoCommonProtocolError:
        return "refuses a list of eager and cooperative assignors: the id is misleading"
    return None


def choose_assignor(group: Group, request: DryRunRequest, leader: Leader) -> Assignor:
    """The requested assignor, or the one in use; UnknownAssignorError lists the known ones."""
    side = request.side
    if side is None:
        side = Side.BROKER if group.type is GroupType.CONSUMER else Side.CLIENT
    name = (
        request.assignor
        or group.protocol
        or (BROKERS_DEFAULT if uses_default_assignor(group, request) else "")
    )
    other = Side.CLIENT if side is Side.BROKER else Side.BROKER
    if request.side is None and not _exists(name, side) and _exists(name, other):
        side = other
    return find(name, side, leader)


def _exists(name: str, side: Side) -> bool:
    """Whether this side has an assignor of this name in any library."""
    return any(name in known(side, leader) for leader in Leader)


def compare(
    group: Group, topics: Mapping[str, Topic], request: DryRunRequest, assignors: Sequence[Assignor]
) -> tuple[tuple[DryRun, ...], tuple[Problem, ...]]:
    """The same dry run with several assignors; a problem reports each one that fails."""
    if is_classic_streams(group):
        return (), (Problem(subject=group.id, message=ITS_OWN_ASSIGNOR),)
    runs: list[DryRun] = []
    problems: list[Problem] = []
    for assignor in assignors:
        asked = replace(request, assignor=assignor.name, side=assignor.side)
        compared, failed = dry_run_all([group], topics, asked)
        runs += compared
        problems += [Problem(subject=f"{p.subject}, {assignor.name}", message=p.message) for p in failed]
    return tuple(runs), tuple(problems)


MOST_NAMED = 5  # the most partitions listed in one line


def oddities_of(group: Group, topics: Mapping[str, Topic], *, shared: bool = False) -> tuple[Problem, ...]:
    """All oddities, by their subject; none stops a dry run. If partitions are `shared`, several owners are not odd."""
    return tuple(_oddities(group, topics, shared))


def _oddities(group: Group, topics: Mapping[str, Topic], shared: bool) -> Iterator[Problem]:
    if not group.members:
        yield Problem(subject=group.id, message="has no members")
    for member in group.members:
        current = current_of(group, member)
        subscription = member.subscription
        # A regex may match any topic.
        topics_wanted = None if subscription is None or subscription.regex else frozenset(subscription.topics)
        for topic, partitions in current.items():
            known = topics.get(topic)
            if known is None:
                yield Problem(
                    subject=member.id,
                    message=f"owns {_partition_list(topic, partitions)} of a topic that no longer exists",
                )
            elif partitions and max(partitions) >= known.partitions:
                beyond = [partition for partition in partitions if partition >= known.partitions]
                message = (
                    f"owns {_partition_list(topic, beyond)}, but the topic has {known.partitions} partitions"
                )
                yield Problem(subject=member.id, message=message)
            if topics_wanted is not None and topic not in topics_wanted:
                message = f"owns {_partition_list(topic, partitions)} without subscribing to it"
                yield Problem(subject=member.id, message=message)
    if not shared:
        yield from _disputes(group)
    names = {name for m in group.members if m.subscription is not None for name in m.subscription.topics}
    for name in sorted(names - topics.keys()):
        yield Problem(subject=name, message="is subscribed to and does not exist")
    if (
        group.members
        and not names
        and not any(m.subscription and m.subscription.regex for m in group.members)
    ):
        yield Problem(subject=group.id, message="subscribes to no topic: there is nothing to assign")
    yield from _idle_members(group, topics)


def _disputes(group: Group) -> Iterator[Problem]:
    claims = [
        (partition, member.id)
        for member in group.members
        for partition in each_partition(current_of(group, member))
    ]
    counts = Counter(partition for partition, _ in claims)
    if len(counts) == len(claims):
        return
    for disputed in sorted(partition for partition, count in counts.items() if count > 1):
        claimants = [member for partition, member in claims if partition == disputed]
        yield Problem(subject=partition_name(disputed), message=f"is owned by {' and '.join(claimants)}")


def _idle_members(group: Group, topics: Mapping[str, Topic]) -> Iterator[Problem]:
    if any(member.subscription is None or member.subscription.regex for member in group.members):
        return
    names = {name for m in group.members if m.subscription is not None for name in m.subscription.topics}
    partitions = sum(topics[name].partitions for name in names & topics.keys())
    idle = len(group.members) - partitions
    if partitions and idle > 0:
        members, owned = counted(len(group.members), "member"), counted(partitions, "partition")
        message = f"has {members} for {owned}: at least {idle} {'gets' if idle == 1 else 'get'} none"
        yield Problem(subject=group.id, message=message)


def _partition_list(topic: str, partitions: Sequence[int]) -> str:
    named = ",".join(map(str, partitions[:MOST_NAMED]))
    more = f" and {len(partitions) - MOST_NAMED} more" if len(partitions) > MOST_NAMED else ""
    return f"{topic}:{named}{more}"
