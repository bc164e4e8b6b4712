"""The bridge as a member: a thread that drives `coordinator.consumer`'s classic member over a separate connection.

It sends the member's requests, one after another, and observes nothing else, so that nothing delays a heartbeat.
Unlike a consumer it returns unsuitable ids with LeaveGroup, all at once (a broker 4.3.1 starts a rebalance for it);
as the leader it assigns partitions only to others; and it does not retry: it stops and reports why. `leave` works
even while a broker holds back the response to a JoinGroup or SyncGroup.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Thread
from typing import TypeVar
from uuid import UUID

from coordinator.consumer.classic_member import ClassicConsumer
from coordinator.consumer.leader import group_topics
from coordinator.consumer.library import MemberSettings, library_named
from coordinator.consumer.member import ClientSubscription, Identity
from coordinator.consumer.outputs import Callback, FindCoordinator, Raised, Send
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.records import ClassicMemberValue
from coordinator.engine.topics import TopicImage, TopicInfo
from migration.bridge import BRIDGE, LONGEST_WAIT_MS, subscribed_to
from wire.client.address import Address
from wire.client.cluster import KafkaClient
from wire.client.connection import Connection, Request
from wire.client.errors import WireError
from wire.client.metadata import ClusterMetadata
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Expired, SocketWait, Steps, run_all
from wire.errors import ErrorCode, Failure, error_name, refusal
from wire.messages.definition import Api
from wire.messages.embedded_protocol import EmbeddedAssignment, read_assignment, write_assignment
from wire.messages.reader import DecodeError
from wire.messages.schemas import classic_groups as schemas
from wire.messages.schemas.classic_groups import HEARTBEAT, JOIN_GROUP, LEAVE_GROUP, SYNC_GROUP

ResponseT = TypeVar("ResponseT")
SESSION_MS = 10_000
"""How long a group waits for a bridge that was killed. Brokers allow 6 s and more (group.min.session.timeout.ms)."""
HEARTBEAT_MS = 500  # Heartbeat interval: no rebalance waits for the bridge for longer
LEAVING_MS = 5_000  # How long to search for a coordinator that accepts the bridge's LeaveGroup
METADATA_MS = 10_000  # How often a leading bridge checks for new partitions of topics
MOST_IDS = 2_000
"""Most member ids to request until one is first in the order of succession; with hundreds of members, few ids are."""

_NOTHING = write_assignment(EmbeddedAssignment(version=1, partitions={}))
"""The bridge's assignment of itself when it leads."""
_NODE = 0  # The coordinator's node id for the member; this class keeps the real address
_STOPPED, _ASKED = "stopped", "asked"


class MembershipLost(Exception):
    """The bridge cannot stay a member; the message contains the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipState:
    member: str | None = None  # The member's id, once its first rebalance is complete
    leader: str | None = None
    withheld: int = 0
    """Number of partitions that the bridge has assigned to no member: cooperative members must revoke them first."""
    lost: str | None = None


class Membership:
    """A bridge in a group: joins with `start`, heartbeats by itself, and leaves with `leave`."""

    def __init__(
        self, settings: ConnectionSettings, group: str, assignor: str, wants: Callable[[str], bool]
    ) -> None:
        """`wants`: whether the position of a member id is suitable."""
        self._standing = MembershipState()
        self._exception: Exception | None = None
        self._settings = replace(settings, client_id=BRIDGE)
        self._group, self._wants = group, wants
        self._ids: set[str] = set()  # Member ids that the coordinator has returned, and that have not left
        self._leader = ""
        self._withheld = 0
        self._coordinator: Address | None = None
        self._topics: frozenset[str] = frozenset()  # The topics of the group; empty unless the bridge leads
        self._refresh_at_ms = 0
        self._stopping = Event()
        self._client = KafkaClient(self._settings)
        java = library_named("java")
        self._thread = Thread(target=self._run, name=BRIDGE, daemon=True)
        self._member = ClassicConsumer(
            Identity(
                group=group,
                client_id=BRIDGE,
                instance=None,
                rack=None,
                # The Java library's assignors write no user data; a leader may omit the bridge from its assignment.
                library=replace(java, behavior=replace(java.behavior, tolerates_assignments=True)),
                settings=MemberSettings(
                    session_timeout_ms=SESSION_MS,
                    heartbeat_interval_ms=HEARTBEAT_MS,
                    # A group's rebalance timeout is the longest among its members; the bridge does not increase it.
                    max_poll_interval_ms=SESSION_MS,
                    enable_auto_commit=False,
                ),
            ),
            _subscription(assignor),
            TopicImage(),
            lambda _: {},
            assignors=(assignor,),
        )

    @property
    def standing(self) -> MembershipState:
        """The current state. Raises Exception: an unexpected one that stopped the thread."""
        if self._exception is not None:
            raise self._exception
        return self._standing

    def start(self) -> None:
        self._thread.start()

    def leave(self) -> str | None:
        """Stop the thread and leave the group. None if it has left, else why that is not certain."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(LEAVING_MS / 1000)
        if not self._ids:
            return None
        settings = replace(self._settings, api_timeout_ms=LEAVING_MS)
        try:
            with KafkaClient(settings) as client:
                asked = partial(_leave, tuple(self._ids))
                failed = client.ask_coordinators([self._group], asked).failed.get(self._group)
        except WireError as error:
            failed = Failure(message=str(error))
        return None if failed is None else failed.message

    # The thread

    def _run(self) -> None:
        try:
            with self._client:
                self._member.enter_poll(_now_ms())
                while not self._stopping.is_set():
                    self._carry_out()
                    if self._topics and _now_ms() >= self._refresh_at_ms:
                        self._refresh_topics()
                    due_ms = self._member.next_deadline()
                    if not self._member.outputs:
                        left_ms = HEARTBEAT_MS if due_ms is None else max(0, due_ms - _now_ms())
                        self._stopping.wait(min(HEARTBEAT_MS, left_ms) / 1000)
                    self._member.wake(_now_ms())
        except _Stopped:
            return
        except (MembershipLost, WireError) as error:
            self._standing = replace(self._standing, lost=str(error))
        except Exception as error:
            # A bug of Kohort: the next reader of `standing` gets the exception, and it is reported like any other.
            self._exception = error

    def _carry_out(self) -> None:
        while outputs := self._member.take():
            for output in outputs:
                match output:
                    case Send():
                        answer = self._answer(output)
                        self._member.answered(output.number, answer, _now_ms())
                    case Callback():
                        self._member.called_back(_now_ms(), threw=False)
                    case Raised():
                        raise MembershipLost(": ".join(filter(None, (output.error, output.message))))
                    case _:
                        pass
        if self._member.is_settled:
            member, withheld = self._member.member_id, self._withheld
            self._standing = MembershipState(member=member, leader=self._leader, withheld=withheld)

    def _answer(self, send: Send) -> object:
        match send.request:
            case FindCoordinator():
                return self._find_coordinator()
            case JoinGroup() as request:
                return self._join(request)
            case SyncGroup() as request:
                return self._sync(request)
            case Heartbeat() as request:
                return self._beat(request)
        raise MembershipLost(f"{type(send.request).__name__} is not sent by a bridge")

    def _find_coordinator(self) -> int:
        answers = self._client.find_coordinators([self._group])
        if self._group in answers.failed:
            raise MembershipLost(answers.failed[self._group].message)
        self._coordinator = answers.found[self._group]
        return _NODE

    def _join(self, request: JoinGroup) -> JoinGroupAnswer:
        if request.member:
            return self._joined(request)
        if self._standing.member is not None:
            why = "its session has expired, or it was removed"
            raise MembershipLost(f"the coordinator no longer knows the bridge: {why}")
        unwanted: list[str] = []
        answer = self._joined(request)
        while answer.error is ErrorCode.MEMBER_ID_REQUIRED and not self._wants(answer.member):
            unwanted.append(answer.member)
            if len(unwanted) == MOST_IDS:
                order = "the broker's order of succession"
                raise MembershipLost(f"none of {MOST_IDS} ids comes first in {order}")
            if self._stopping.is_set():
                raise _Stopped
            answer = self._joined(request)
        if unwanted:  # only now: LeaveGroup starts a rebalance, which waits for the chosen id to join
            connection = self._client.connection(self._where)
            run_all({_ASKED: _leave(unwanted, connection, [self._group], Deadline(SESSION_MS))})
            self._ids.difference_update(unwanted)
        return answer

    def _joined(self, request: JoinGroup) -> JoinGroupAnswer:
        protocols = [{"name": one.name, "metadata": one.metadata} for one in request.protocols]
        fields = {
            "group_id": request.group,
            "session_timeout_ms": request.session_timeout_ms,
            "rebalance_timeout_ms": request.rebalance_timeout_ms,
            "member_id": request.member,
            "group_instance_id": None,
            "protocol_type": request.protocol_type,
            "protocols": protocols,
            "reason": "a bridge for the conversion of the group",
        }
        response = self._ask(JOIN_GROUP, fields, is_held_back=bool(request.member))
        # The bridge is left out: Java's sticky assigns partitions to a first member that has no topics.
        others = [member for member in response.members if member.member_id != request.member]
        answer = JoinGroupAnswer(
            error=_code(response.error_code),
            generation=response.generation_id,
            protocol_type=response.protocol_type or request.protocol_type,
            protocol=response.protocol_name,
            leader=response.leader,
            skip_assignment=response.skip_assignment,
            member=response.member_id,
            members=tuple(map(_member_value, others)),
        )
        if answer.member:
            self._ids.add(answer.member)
        if answer.error is ErrorCode.NONE:
            self._leader = answer.leader
            self._topics = group_topics(answer.members)
            self._refresh_topics()
        return answer

    def _sync(self, request: SyncGroup) -> SyncGroupAnswer:
        shares = dict(request.assignments)
        self._withheld = 0
        if self._leader == request.member:
            there = sum(topic.partitions for topic in self._member.image.topics.values())
            self._withheld = max(0, there - sum(map(_count, shares.values())))
            shares[request.member] = _NOTHING
        assignments = [{"member_id": member, "assignment": share} for member, share in shares.items()]
        fields = {
            "group_id": request.group,
            "generation_id": request.generation,
            "member_id": request.member,
            "group_instance_id": None,
            "protocol_type": request.protocol_type,
            "protocol_name": request.protocol,
            "assignments": assignments,
        }
        response = self._ask(SYNC_GROUP, fields, is_held_back=True)
        if count := _count(response.assignment):
            partitions = f"{count} partitions to it"
            raise MembershipLost(f"the leader has assigned {partitions}, and it does not accept any")
        return SyncGroupAnswer(error=_code(response.error_code), assignment=response.assignment)

    def _beat(self, request: Heartbeat) -> HeartbeatAnswer:
        fields = {
            "group_id": request.group,
            "generation_id": request.generation,
            "member_id": request.member,
            "group_instance_id": None,
        }
        return HeartbeatAnswer(error=_code(self._ask(HEARTBEAT, fields, is_held_back=False).error_code))

    @property
    def _where(self) -> Address:
        if self._coordinator is None:
            raise MembershipLost("no coordinator is known")
        return self._coordinator

    def _ask(self, api: Api[object, ResponseT], asked: Request, *, is_held_back: bool) -> ResponseT:
        """The coordinator's response; waiting for one that a broker holds back stops when the bridge must leave."""
        connection = self._client.connection(self._where)
        limit_ms = LONGEST_WAIT_MS if is_held_back else SESSION_MS
        conversations: dict[str, Steps[list[ResponseT] | None]] = {
            _ASKED: connection.ask_once(api, [asked], Deadline(limit_ms), limit_ms)
        }
        if is_held_back:
            conversations[_STOPPED] = self._until_stopped()
        outcomes = run_all(conversations, enough=lambda _: True)
        answers = outcomes.get(_ASKED)
        if answers is None:
            raise _Stopped
        if isinstance(answers, WireError):
            raise answers
        return answers[0]

    def _until_stopped(self) -> Steps[None]:
        while not self._stopping.is_set():
            with suppress(Expired):
                yield SocketWait(None, 0, Deadline(HEARTBEAT_MS / 10))

    def _refresh_topics(self) -> None:
        """Read the metadata of all topics of the group, which a leader needs."""
        self._refresh_at_ms = _now_ms() + METADATA_MS
        if self._topics:
            metadata = self._client.metadata(sorted(self._topics))
            self._member.refresh_topics(_image(metadata), _now_ms())


class _Stopped(Exception):
    """`leave` was called during a request."""


def _leave(
    members: Iterable[str], connection: Connection, groups: list[str], deadline: Deadline
) -> Steps[dict[str, bool | Failure]]:
    """Send LeaveGroup for each member, as brokers before 2.4 require; True if all have left, now or before."""
    (group,) = groups
    requests = []
    for member in members:
        reason = "the bridge is done or stopped"
        listed = {"member_id": member, "group_instance_id": None, "reason": reason}
        requests.append({"group_id": group, "member_id": member, "members": [listed]})
    for response in (yield from connection.ask(LEAVE_GROUP, requests, deadline)):
        codes = [response.error_code, *(answer.error_code for answer in response.members or ())]
        wrong = [code for code in codes if code not in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID)]
        if wrong:
            return {group: refusal(wrong[0])}
    return {group: True}


def _member_value(listed: schemas.JoinGroupResponseMember) -> ClassicMemberValue:
    """A member as in the leader's JoinGroup response, which lacks the other fields."""
    return ClassicMemberValue(
        member=listed.member_id,
        instance=listed.group_instance_id,
        client_id="",
        host="",
        rebalance_timeout_ms=-1,
        session_timeout_ms=-1,
        subscription=listed.metadata,
        assignment=b"",
    )


def _count(assignment: bytes) -> int:
    """The number of partitions of an assignment; it may be 0 bytes: a leader may omit a member without topics."""
    try:
        partitions = read_assignment(assignment).partitions if assignment else {}
    except DecodeError as error:
        raise MembershipLost(f"the leader's assignment cannot be read: {error}") from None
    return sum(map(len, partitions.values()))


def _image(metadata: ClusterMetadata) -> TopicImage:
    """The topics. Raises MembershipLost: an existing topic cannot be read, and its owners would lose it."""
    for name, failure in metadata.failed.items():
        if failure.code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise MembershipLost(f"the topic {name} of the group cannot be read: {failure.message}")
    racks = {broker.node_id: broker.rack for broker in metadata.brokers}
    topics = []
    for topic in metadata.topics.values():
        replicas = [partition.replica_nodes for partition in topic.partitions]
        of_partitions = tuple(
            tuple(rack for node in nodes if (rack := racks.get(node))) for nodes in replicas
        )
        topics.append(
            TopicInfo(
                name=topic.name,
                id=topic.topic_id or UUID(int=0),
                partitions=len(topic.partitions),
                racks=of_partitions if any(racks.values()) else (),
            )
        )
    return TopicImage.of(topics)


def _code(number: int) -> ErrorCode:
    try:
        return ErrorCode(number)
    except ValueError:
        text = f"the coordinator answered {error_name(number)}, which Kohort does not know"
        raise MembershipLost(text) from None


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


def _subscription(assignor: str) -> ClientSubscription:
    """Where the bridge subscribes to nothing, by an expression: a consumer without any subscription does not join."""
    topics = subscribed_to(assignor)
    return ClientSubscription(topics=topics, matches=None if topics else lambda _: False)
