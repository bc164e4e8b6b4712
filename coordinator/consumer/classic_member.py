"""A consumer of the classic protocol: JoinGroup, SyncGroup, Heartbeat; eager and cooperative (KIP-429).

Theory of operation. All rebalancing happens in `poll` (KIP-568): `_advance` takes the next step that is possible, and
is tried again after each input. A rebalance is a chain of four:

    prepare     commit; then the listener gives up everything (eager) or what is no longer subscribed to (cooperative)
    join        JoinGroup, again with the id that the coordinator gives
    sync        SyncGroup; the leader assigns
    complete    the listener gives up what the member lost (cooperative), then gets what is new

`_Rebalance` says how far it has got. The background thread heartbeats from JoinGroup's answer on, whatever the
application does; what it hears marks the member to rejoin (REBALANCE_IN_PROGRESS) or resets its generation, whose
partitions are lost at the next `poll`.

Source: kafka-clients 4.3.1, ConsumerCoordinator and AbstractCoordinator, tried on a running broker.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import partial

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.errors import AssignorError
from assignors.registry import rebalance_protocol
from coordinator.consumer.leader import assign, group_topics, places, subscriptions
from coordinator.consumer.member import (
    COMMIT_PATIENCE_MS,
    COORDINATOR_MOVED,
    NEVER,
    Identity,
    Member,
    Position,
    Subscription,
)
from coordinator.consumer.outputs import CallbackKind, Partitions
from coordinator.engine.classic.heartbeat import Heartbeat, HeartbeatAnswer
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.leave_group import LeaveGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import NEWEST_VERSION, read_assignment
from wire.messages.reader import DecodeError

NO_GENERATION = -1
_JOIN_GRACE_MS = 5_000
"""How much longer than max.poll.interval.ms a JoinGroup is waited for (JOIN_GROUP_TIMEOUT_LAPSE)."""


class State(Enum):
    """AbstractCoordinator.MemberState."""

    UNJOINED = "unjoined"
    PREPARING_REBALANCE = "preparing-rebalance"
    """JoinGroup is sent; no heartbeats."""
    COMPLETING_REBALANCE = "completing-rebalance"
    """JoinGroup is answered."""
    STABLE = "stable"
    """SyncGroup is answered; callbacks may still be due."""


class _Rebalance(Enum):
    """How far a rebalance has got."""

    NONE = "none"
    COMMITTING = "committing"
    COMMITTED = "committed"
    ANSWER_DUE = "answer-due"
    JOINED = "joined"
    """JoinGroup is answered, and the application has not been in `poll` since."""
    ASSIGNED = "assigned"
    """The assignment is there, and its callbacks have not all returned without an exception."""


_FATAL = {
    ErrorCode.FENCED_INSTANCE_ID: "FencedInstanceIdException",
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: "InconsistentGroupProtocolException",
    ErrorCode.INVALID_SESSION_TIMEOUT: "InvalidSessionTimeoutException",
    ErrorCode.INVALID_GROUP_ID: "InvalidGroupIdException",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "GroupAuthorizationException",
    ErrorCode.GROUP_MAX_SIZE_REACHED: "GroupMaxSizeReachedException",
    ErrorCode.UNSUPPORTED_VERSION: "UnsupportedVersionException",
}
"""Answers to JoinGroup and SyncGroup that `poll` throws, each time that it tries."""

_OUT = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_INSTANCE_ID})
"""The member is no longer in the group, or not in this generation."""


class ClassicMember(Member):
    """See the module."""

    def __init__(
        self,
        identity: Identity,
        subscription: Subscription,
        image: TopicImage,
        position: Position,
        *,
        assignors: Sequence[str] = (),
        subscription_version: int = NEWEST_VERSION,
        custom: Sequence[Assignor] = (),
    ) -> None:
        """`assignors` are preferred first; none: those of the library. `custom`: what the application brings along
        for a name that is not known (it is taken to be eager).

        :raises NoCommonProtocolError: they support no rebalance protocol in common
        """
        super().__init__(identity, image, position)
        library = identity.library
        self.assignors = tuple(assignors) or library.assignors
        self.is_cooperative = (
            rebalance_protocol(self.assignors, library.leader) is RebalanceProtocol.COOPERATIVE
        )
        self.state = State.UNJOINED
        self.generation = NO_GENERATION
        self.is_leader = False
        self._member_id = ""
        self._protocol = ""
        self._subscription = subscription
        self._version = subscription_version
        self._custom = custom
        self._joined: tuple[str, ...] | None = None
        """The topics of the last JoinGroup."""
        self._last_assigned: Partitions = frozenset()
        self._last_generation = NO_GENERATION
        self._watched: frozenset[str] = frozenset()
        """Topics of the whole group, which its leader keeps an eye on."""
        self._assigned_for: dict[str, int] | None = None
        """What the leader saw of them when it assigned: partitions by topic. None: it is a follower."""
        self._looks_again = False
        """Whether topics or subscription have changed, or may have, since they were last compared."""
        self._must_rejoin = True
        self._must_prepare = True
        self._rebalance = _Rebalance.NONE
        self._rejoin_at_ms = 0
        self._join_answer: object = None
        self._assignment = b""
        self._beat_at_ms = NEVER
        self._is_beating = False
        """Whether a heartbeat is under way."""
        self._heard_at_ms = 0
        self._failure = ""
        """What the background thread has to throw out of the next `poll`."""
        self._commits_fenced = False
        self._missed: frozenset[str] = frozenset()
        """Topics that `poll` has thrown an exception for."""
        self._is_dead = False
        """After an error that the library takes for the end."""

    # What the driver asks.

    @property
    def fetching(self) -> Partitions:
        return self.owned & self.positioned

    @property
    def member_id(self) -> str:
        return self._member_id

    @property
    def epoch(self) -> int:
        return self.generation

    @property
    def is_settled(self) -> bool:
        return (
            self.state is State.STABLE
            and self._rebalance is _Rebalance.NONE
            and not self._must_rejoin
            and self._then is None
            and not (self._looks_again and self._sees_change())
            and len(self.positioned) == len(self.owned)
        ) or self._is_dead

    def next_deadline(self) -> int | None:
        at_ms = self._next_background()
        if self.in_poll:
            at_ms = min(at_ms, self._next_in_poll())
        elif self.is_closing or self._waits_for_commit:
            at_ms = min(at_ms, self._next_retry())
        return None if at_ms >= NEVER else at_ms

    def _next_background(self) -> int:
        if self.is_closing or self.state not in (State.COMPLETING_REBALANCE, State.STABLE):
            return NEVER
        at_ms = self._heard_at_ms + self.settings.session_timeout_ms if self._is_beating else self._beat_at_ms
        if self._coordinator is None:
            at_ms = max(at_ms, NEVER if self._looking_up else self._lookup_at_ms)
        if self._counts_poll_interval:
            at_ms = min(at_ms, self._out_of_poll_since_ms + self.settings.max_poll_interval_ms)
        return at_ms

    @property
    def _counts_poll_interval(self) -> bool:
        return not self.in_poll and (self._then is None or self._ways.counts_callbacks)

    def _next_in_poll(self) -> int:
        if self._is_dead:
            return NEVER
        if self._coordinator is None:
            return NEVER if self._looking_up else self._lookup_at_ms
        at_ms = self._next_retry()
        if self._rejoins():
            return min(at_ms, self._rejoin_at_ms) if self._rebalance is _Rebalance.NONE else at_ms
        if self.owned:
            at_ms = min(at_ms, self._auto_commit_at_ms)
            if len(self.positioned) < len(self.owned) and not self._fetches_offsets:
                at_ms = min(at_ms, self._fetch_offsets_at_ms)
        return at_ms

    # What the driver tells.

    def wake(self, now_ms: int) -> None:
        self._heartbeat(now_ms)
        self._retry_commits(now_ms)
        self._advance(now_ms)

    def subscribe(self, topics: tuple[str, ...], now_ms: int) -> None:
        self._subscription = Subscription(topics=topics)
        self._looks_again = True
        self._advance(now_ms)

    def see_topics(self, image: TopicImage, now_ms: int) -> None:
        self.image = image
        self._looks_again = True
        self._advance(now_ms)

    def enforce_rebalance(self, now_ms: int) -> None:
        self._must_rejoin = True
        self._advance(now_ms)

    def close(self, now_ms: int) -> None:
        self.leave_poll(now_ms)
        self.is_closing = True
        if self.settings.enable_auto_commit:
            patience_ms = now_ms + COMMIT_PATIENCE_MS // 2
            self._commit(self._consumed(), now_ms, patience_ms, self._committed_before_leaving)
        else:
            self._give_up_all(now_ms)

    # poll

    def _advance(self, now_ms: int) -> None:
        """Go on with a rebalance, or with what a consumer does without one."""
        while self.in_poll and self._then is None:
            if self._failure or self._commits_fenced:
                error, self._failure = self._failure or self._fatal(ErrorCode.FENCED_INSTANCE_ID), ""
                self._raise(error, now_ms)
                return
            if self._is_dead:
                return
            if self._ways.topic_error is not None and self._misses_topic():
                self._raise(self._ways.topic_error, now_ms, "Subscribed topic not available")
                return
            if not self._find_coordinator(now_ms):
                return
            if not self._rejoins():
                self._consume(now_ms)
                return
            match self._rebalance:
                case _Rebalance.COMMITTED:
                    self._rebalance = _Rebalance.NONE
                    self._give_up(now_ms)
                case _Rebalance.JOINED:
                    self._hear_join(now_ms)
                case _Rebalance.ASSIGNED:
                    self._complete(now_ms)
                case _Rebalance.NONE if now_ms >= self._rejoin_at_ms:
                    if self._must_prepare:
                        self._prepare(now_ms)
                    else:
                        self._join(now_ms)
                case _:
                    return

    def _misses_topic(self) -> bool:
        """Whether another topic is found missing (rd_kafka_propagate_consumer_topic_errors); one at a time."""
        missing = [topic for topic in self._topics() if topic not in self.image.topics]
        self._missed &= frozenset(missing)
        for topic in missing:
            if topic not in self._missed:
                self._missed |= {topic}
                return True
        return False

    def _fatal(self, code: ErrorCode) -> str:
        """The exception of an error that poll-again does not mend."""
        if code is ErrorCode.FENCED_INSTANCE_ID and self._ways.fatal_error is not None:
            return self._ways.fatal_error
        return code.name if self._ways.names_codes else _FATAL[code]

    def _rejoins(self) -> bool:
        """Whether a rebalance is due or under way (ConsumerCoordinator.rejoinNeededOrPending)."""
        if self._rebalance is not _Rebalance.NONE:
            return True
        if not self._must_rejoin and self._looks_again:
            self._must_rejoin = self._sees_change()
            self._looks_again = False
        return self._must_rejoin

    def _sees_change(self) -> bool:
        """Whether it would be assigned something else: by what it subscribes to or, as the leader, by the topics."""
        if self._joined is not None and self._topics() != self._joined:
            return True
        return self._assigned_for is not None and self._assigned_for != self._counts()

    def _topics(self) -> tuple[str, ...]:
        return self._subscription.in_image(self.image)

    def _counts(self) -> dict[str, int]:
        topics = self.image.topics
        return {name: topics[name].partitions for name in self._watched if name in topics}

    def _consume(self, now_ms: int) -> None:
        self._fetch_offsets(now_ms)
        self._auto_commit(now_ms)

    # Prepare

    def _prepare(self, now_ms: int) -> None:
        """Commit before the rebalance; an old generation's commit is taken until the others have joined."""
        if not self.settings.enable_auto_commit:
            self._give_up(now_ms)
            return
        self._rebalance = _Rebalance.COMMITTING
        until_ms = now_ms + self.settings.max_poll_interval_ms
        self._commit(self._consumed(), now_ms, until_ms, self._committed_before_joining)

    def _committed_before_joining(self, _error: str, _now_ms: int) -> None:
        """Whatever came of it, the rebalance goes on in `poll`."""
        if self._rebalance is _Rebalance.COMMITTING:
            self._rebalance = _Rebalance.COMMITTED

    def _give_up(self, now_ms: int) -> None:
        """ConsumerCoordinator.onJoinPrepare."""
        # Not again at the next poll, also where a callback throws.
        self._must_prepare = False
        if self._has_fallen_out:
            if self.owned:
                self._call(CallbackKind.LOST, self.owned, self._given_up_all, now_ms)
            else:
                self._given_up_all(now_ms)
        elif not self.is_cooperative:
            self._call(CallbackKind.REVOKED, self.owned, self._given_up_all, now_ms)
        else:
            unwanted = frozenset(place for place in self.owned if place.topic not in self._topics())
            gone = frozenset(place for place in self.owned if place.topic not in self.image.topics)
            if gone and self._ways.topic_error is not None:
                self._call(CallbackKind.LOST, gone, partial(self._given_up, gone), now_ms)
            elif unwanted:
                self._call(CallbackKind.REVOKED, unwanted, partial(self._given_up, unwanted), now_ms)
            else:
                self._given_up(unwanted, now_ms)

    @property
    def _has_fallen_out(self) -> bool:
        return self.generation == NO_GENERATION or not self._member_id

    def _given_up_all(self, now_ms: int) -> None:
        self._given_up(self.owned, now_ms)

    def _given_up(self, partitions: Partitions, now_ms: int) -> None:
        self._own(self.owned - partitions)
        self.is_leader = False
        self._throw(now_ms)

    def _throw(self, now_ms: int) -> None:
        """What a callback has thrown leaves `poll` now."""
        if self._error:
            error, self._error = self._error, ""
            self._raise(error, now_ms, "User rebalance callback throws an error")

    # Join

    def _join(self, now_ms: int) -> None:
        settings, identity = self.settings, self.identity
        self.metrics.rebalance_began(now_ms)
        self.state = State.PREPARING_REBALANCE
        self._rebalance = _Rebalance.ANSWER_DUE
        self._joined = self._topics()
        protocols = subscriptions(
            self.assignors,
            identity.library.leader,
            self._joined,
            self.owned,
            self._last_assigned,
            self._last_generation,
            identity.rack,
            self._version,
        )
        request = JoinGroup(
            group=identity.group,
            session_timeout_ms=settings.session_timeout_ms,
            rebalance_timeout_ms=settings.max_poll_interval_ms,
            member=self._member_id,
            instance=identity.instance,
            protocol_type="consumer",
            protocols=protocols,
        )
        timeout_ms = max(settings.request_timeout_ms, settings.max_poll_interval_ms + _JOIN_GRACE_MS)
        self._send(request, self._join_answered, timeout_ms)

    def _join_answered(self, answer: object, _now_ms: int) -> None:
        """Kept until the application is in `poll`: the background thread sleeps while a JoinGroup is under way."""
        self._rebalance, self._join_answer = _Rebalance.JOINED, answer

    def _hear_join(self, now_ms: int) -> None:
        answer, self._join_answer = self._join_answer, None
        if not isinstance(answer, JoinGroupAnswer):
            self._disconnected(now_ms)
        elif answer.error is ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = answer.member
            self._rebalance = _Rebalance.NONE
        elif answer.error is not ErrorCode.NONE:
            self._refused(answer.error, now_ms)
        elif self.state is not State.PREPARING_REBALANCE:
            self._rebalance = _Rebalance.NONE  # fallen out meanwhile
        else:
            self._rebalance = _Rebalance.ANSWER_DUE
            self._sync(answer, now_ms)

    def _sync(self, joined: JoinGroupAnswer, now_ms: int) -> None:
        self.state = State.COMPLETING_REBALANCE
        self.generation, self._member_id = joined.generation, joined.member
        self._protocol = joined.protocol or ""
        self._heard_at_ms = now_ms
        self._beat_at_ms = now_ms + self.settings.heartbeat_interval_ms
        self._is_beating = False
        leads = joined.leader == joined.member
        self._assigned_for = None
        assignments: tuple[tuple[str, bytes], ...] = ()
        if leads:
            self.is_leader = True
            self._watched = group_topics(joined.members)
            self._assigned_for = self._counts()
            if not joined.skip_assignment:
                library = self.identity.library.leader
                try:
                    assignments = assign(
                        self._protocol, library, joined.members, self.image, self._version, self._custom
                    )
                except (AssignorError, DecodeError) as error:
                    # No SyncGroup: the group waits until its timeout removes this member, or the next poll joins.
                    self._rebalance = _Rebalance.NONE
                    self.metrics.rebalance_failed()
                    self._raise("IllegalStateException", now_ms, str(error))
                    return
        request = SyncGroup(
            group=self.identity.group,
            generation=joined.generation,
            member=joined.member,
            instance=self.identity.instance,
            protocol_type=joined.protocol_type,
            protocol=joined.protocol,
            assignments=assignments,
        )
        self._send(request, partial(self._sync_answered, joined.generation))

    def _sync_answered(self, generation: int, answer: object, now_ms: int) -> None:
        if not isinstance(answer, SyncGroupAnswer):
            self._disconnected(now_ms)
        elif answer.error is not ErrorCode.NONE:
            self._refused(answer.error, now_ms)
        elif self.state is not State.COMPLETING_REBALANCE or generation != self.generation:
            self.metrics.rebalance_failed()  # fallen out meanwhile
            self._rebalance = _Rebalance.NONE
        else:
            self.state = State.STABLE
            self._must_rejoin = False
            self._assignment = answer.assignment
            self._rebalance = _Rebalance.ASSIGNED
            self.metrics.rebalance_ended(now_ms)

    def _disconnected(self, now_ms: int) -> None:
        self._lose_coordinator(now_ms)
        self._try_again(now_ms)

    def _try_again(self, now_ms: int) -> None:
        self.metrics.rebalance_failed()
        self._rebalance = _Rebalance.NONE
        self._must_rejoin = True
        self._rejoin_at_ms = now_ms + self.settings.retry_backoff_ms

    def _refused(self, code: ErrorCode, now_ms: int) -> None:
        """A JoinGroup or SyncGroup is refused."""
        self.metrics.rebalance_failed()
        self._rebalance = _Rebalance.NONE
        self._must_rejoin = True
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self._fall_out(code)
        elif code in _FATAL:
            self._raise(self._fatal(code), now_ms)
        elif code is not ErrorCode.REBALANCE_IN_PROGRESS:
            if code in COORDINATOR_MOVED:
                self._lose_coordinator(now_ms)
            self._rejoin_at_ms = now_ms + self.settings.retry_backoff_ms

    def _fall_out(self, code: ErrorCode) -> None:
        """No generation any more and, unless only that was wrong, no member id; what is owned is lost at the next
        `poll`."""
        self.state = State.UNJOINED
        self.generation = NO_GENERATION
        if code is not ErrorCode.ILLEGAL_GENERATION:
            self._member_id = ""
        self._must_rejoin = self._must_prepare = True

    # Complete

    def _complete(self, now_ms: int) -> None:
        """ConsumerCoordinator.onJoinComplete; done again at the next `poll` where a callback has thrown."""
        if self.state is not State.STABLE:
            self._end_rebalance()
            self._must_rejoin = True
            return
        try:
            assigned = places(read_assignment(self._assignment).partitions)
        except DecodeError as error:
            self._raise("IllegalStateException", now_ms, str(error))
            return
        if not all(place.topic in self._topics() for place in assigned):
            self._end_rebalance()
            self._must_rejoin = True
            return
        revoked = self.owned - assigned if self.is_cooperative else frozenset()
        if revoked:
            self._call(CallbackKind.REVOKED, revoked, partial(self._revoked, assigned), now_ms)
        else:
            self._take_over(assigned, now_ms)

    def _revoked(self, assigned: Partitions, now_ms: int) -> None:
        self._must_rejoin = True
        if self._error and not self._ways.throws_last:
            self._own(self.owned & assigned)
            self._throw(now_ms)
        else:
            self._take_over(assigned, now_ms)

    def _take_over(self, assigned: Partitions, now_ms: int) -> None:
        added = assigned - self.owned
        self._last_assigned, self._last_generation = assigned, self.generation
        self._own(assigned)
        if self.settings.enable_auto_commit:
            self._auto_commit_at_ms = now_ms + self.settings.auto_commit_interval_ms
        self._call(CallbackKind.ASSIGNED, added, self._completed, now_ms)

    def _completed(self, now_ms: int) -> None:
        if not self._error or not self._ways.listener_can_refuse:
            self._end_rebalance()
        self._throw(now_ms)

    def _end_rebalance(self) -> None:
        self._rebalance = _Rebalance.NONE
        self._must_prepare = self._looks_again = True
        self._assignment = b""

    # The background thread

    def _heartbeat(self, now_ms: int) -> None:
        if self.is_closing or self.state not in (State.COMPLETING_REBALANCE, State.STABLE):
            return
        settings = self.settings
        if not self._find_coordinator(now_ms):
            pass
        elif now_ms >= self._heard_at_ms + settings.session_timeout_ms:
            self._heard_at_ms = now_ms  # not at each turn: the next coordinator has its time
            self._is_beating = False
            self._beat_at_ms = now_ms
            self._lose_coordinator(now_ms)
        if (
            self._counts_poll_interval
            and now_ms >= self._out_of_poll_since_ms + settings.max_poll_interval_ms
        ):
            self._leave_silently()
            self._failure = self._ways.silence_error or self._failure
        elif self._coordinator is not None and not self._is_beating and now_ms >= self._beat_at_ms:
            self._beat_at_ms = now_ms + settings.heartbeat_interval_ms
            request = Heartbeat(
                group=self.identity.group,
                generation=self.generation,
                member=self._member_id,
                instance=self.identity.instance,
            )
            self._is_beating = True
            self._send(request, partial(self._beat_answered, self.generation, self._member_id))

    def _leave_silently(self) -> None:
        """max.poll.interval.ms is over: a dynamic member leaves, a static one only forgets that it was in."""
        if self._coordinator is not None and self.identity.instance is None:
            self._send(self._leave_request(), _no_answer_needed)
        self._fall_out(ErrorCode.UNKNOWN_MEMBER_ID)

    def _leave_request(self) -> LeaveGroup:
        return LeaveGroup(group=self.identity.group, members=((self._member_id, self.identity.instance),))

    def _beat_answered(self, generation: int, member: str, answer: object, now_ms: int) -> None:
        self._is_beating = False
        if not isinstance(answer, HeartbeatAnswer):
            self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms + self.settings.retry_backoff_ms
            return
        code = answer.error
        if code is ErrorCode.NONE:
            self._heard_at_ms = now_ms
        elif code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._heard_at_ms = now_ms
            if self.state is State.STABLE:
                self._must_rejoin = True
        elif code in _OUT:
            if (generation, member) == (self.generation, self._member_id):
                self._fall_out(code)
                if code is ErrorCode.FENCED_INSTANCE_ID:
                    self._failure = self._fatal(code)
                    self._die()
        elif code in _FATAL:
            self._failure = self._fatal(code)
        else:
            if code in COORDINATOR_MOVED:
                self._lose_coordinator(now_ms)
            self._beat_at_ms = now_ms + self.settings.retry_backoff_ms

    def _die(self) -> None:
        """Where the library takes an error for the end: nothing is owned any more, and no callback says so."""
        if self._ways.fatal_error is not None:
            self._is_dead = True
            self._own(frozenset())

    # close

    def _committed_before_leaving(self, _error: str, now_ms: int) -> None:
        self._give_up_all(now_ms)

    def _give_up_all(self, now_ms: int) -> None:
        """ConsumerCoordinator.onLeavePrepare."""
        if not self.owned:
            self._leave(now_ms)
            return
        kind = CallbackKind.LOST if self._has_fallen_out else CallbackKind.REVOKED
        self._call(kind, self.owned, self._leave, now_ms)

    def _leave(self, now_ms: int) -> None:
        refused = bool(self._error) and self._ways.listener_can_refuse
        if self._error:
            error, self._error = self._error, ""
            self._raise(error, now_ms, "Failed to close kafka consumer")
        self._own(frozenset())
        is_member = not refused and self.state is not State.UNJOINED and self._member_id
        if is_member and self._coordinator is not None and self.identity.instance is None:
            self._send(self._leave_request(), self._left)
        else:
            self._end()

    def _left(self, _answer: object, _now_ms: int) -> None:
        self._end()

    # Offsets

    def _commit_identity(self) -> tuple[str, int] | str:
        if self.state is State.STABLE:
            return self._member_id, self.generation
        if self.state is State.UNJOINED:
            return self._ways.lost_error or "CommitFailedException"
        return "RebalanceInProgressException"

    def _commit_error(self, code: ErrorCode, _now_ms: int) -> str:
        if code is ErrorCode.REBALANCE_IN_PROGRESS:
            self._must_rejoin = True
            return "RebalanceInProgressException"
        if code is ErrorCode.FENCED_INSTANCE_ID:
            return self._fatal(code)
        if code in _OUT:
            self._fall_out(code)
            return "CommitFailedException"
        return "KafkaException"

    def _auto_committed(self, error: str, now_ms: int) -> None:
        if error == self._fatal(ErrorCode.FENCED_INSTANCE_ID):
            self._commits_fenced = True
        super()._auto_committed(error, now_ms)

    @property
    def _fetch_identity(self) -> tuple[str | None, int]:
        return None, -1


def _no_answer_needed(_answer: object, _now_ms: int) -> None:
    """The member has forgotten the group already."""
