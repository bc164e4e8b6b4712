"""A member's rebalance in the classic protocol, eager or cooperative (KIP-429): after the preparation join, sync, and
complete (revoke what was lost, then assign). Each step starts in `poll`; if the library rebalances in the background,
only callbacks and exceptions wait for it. Source: kafka-clients 4.3.1, ConsumerCoordinator and AbstractCoordinator;
librdkafka 2.16, rdkafka_cgrp.c."""

from collections.abc import Sequence
from functools import partial

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.conversation import NO_STATE, ApplicationState, MemberAssignment
from assignors.errors import AssignorFailedError
from assignors.registry import rebalance_protocol
from coordinator.consumer import member as base
from coordinator.consumer.classic_membership import FATAL, NO_GENERATION, ClassicState
from coordinator.consumer.classic_preparation import PreparingMember, RebalancePhase
from coordinator.consumer.leader import assign, by_topic, group_topics
from coordinator.consumer.leader import assigned as assigned_in
from coordinator.consumer.member_assignors import MemberAssignors
from coordinator.consumer.outputs import CallbackKind, DueCallback, DueFailure, Partitions
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.rebalance import JoinGroupAnswer, SyncGroupAnswer
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.engine.topics import TopicImage
from wire.errors import ErrorCode
from wire.messages.embedded_protocol import NEWEST_VERSION, EmbeddedAssignment, read_assignment
from wire.messages.reader import DecodeError

_JOIN_GRACE_MS = 5_000
"""How much longer than max.poll.interval.ms the client waits for JoinGroup's answer (JOIN_GROUP_TIMEOUT_LAPSE)."""
_METADATA_MS = 10
"""How long a librdkafka leader's request for the topics takes: as long as its commits."""
_JOIN_INTERVAL_MS = 1_000
"""The interval of librdkafka's attempts to join after a failure (rkcg_join_intvl)."""

_ASSIGNOR_ERROR = "IllegalStateException"
"""The exception that leaves `poll` if an assignor throws while the member joins; its class is the assignor's choice."""


class RebalancingMember(PreparingMember):
    """See the module."""

    def __init__(
        self,
        identity: base.Identity,
        subscription: base.ClientSubscription,
        image: TopicImage,
        positions: base.Positions,
        *,
        assignors: Sequence[str] = (),
        subscription_version: int = NEWEST_VERSION,
        custom: Sequence[Assignor] = (),
        state: ApplicationState = NO_STATE,
        history: Partitions = frozenset(),
        batch_topic_changes_ms: int = 0,
    ) -> None:
        """`history`: the last assignment of another process of the member, claimed until there is a newer one.
        `assignors` are preferred first; none: the library's. `custom`: the application's, which count as eager.
        `state`: what the application shows its assignors.
        `batch_topic_changes_ms`: how long it collects changes of topics before it rejoins because of them
        (client-side assignment proposal, "Consumer Embedded Protocol"); no client has this."""
        super().__init__(identity, subscription, image, positions, batch_topic_changes_ms)
        library = identity.library
        self._assignors = MemberAssignors(self, assignors, custom, state)
        rebalances = rebalance_protocol(self._assignors.names, library.leader)
        self.is_cooperative = rebalances is RebalanceProtocol.COOPERATIVE
        self._protocol = ""
        self._version = subscription_version
        self._history = history if self.is_cooperative else frozenset()
        """The partitions that its JoinGroups claim to own until it has an assignment."""
        if history:
            self._assignors.remember(history)
        self._unread: Partitions = frozenset()
        """Partitions that were assigned although it considered them its own: it does not start to read them."""
        self._unsubscribes_next = False  # Whether `unsubscribe` waits for the end of a rebalance
        self._is_outdated = False  # Whether it was a leader before this rebalance, with other topics
        self._rejoin_at_ms = self._asked_to_join_ms = 0
        self._join_answer: object = None
        self._assignment = b""

    @property
    def _unpositioned(self) -> Partitions:
        return super()._unpositioned - self._unread

    def _join(self, now_ms: int) -> None:
        settings, identity = self.settings, self.identity
        self.metrics.rebalance_began(now_ms)
        self.state = ClassicState.PREPARING_REBALANCE
        self._rebalance = RebalancePhase.ANSWER_DUE
        self._asked_to_join_ms = now_ms
        self._is_silent = False
        self._joined, self._joined_counts = self._topics(), self._counts(self._topics())
        self._joined_for, self._collects_until_ms = self.subscription, base.NEVER
        topics = self._joined if self._behavior.joins_for_missing_topics else tuple(self._joined_counts)
        try:
            protocols = self._assignors.subscriptions(topics, self.owned | self._history, self._version)
        except AssignorFailedError as error:
            self._rebalance = RebalancePhase.NONE
            self._fail_to_join(_ASSIGNOR_ERROR, now_ms, str(error))
            return
        request = JoinGroup(
            group=identity.group,
            session_timeout_ms=settings.session_timeout_ms,
            rebalance_timeout_ms=settings.max_poll_interval_ms,
            member=self.member_id,
            instance=identity.instance,
            protocol_type="consumer",
            protocols=protocols,
        )
        timeout_ms = max(settings.request_timeout_ms, settings.max_poll_interval_ms + _JOIN_GRACE_MS)
        self._send(request, self._join_answered, timeout_ms)

    def _join_answered(self, answer: object, _now_ms: int) -> None:
        """Keep the answer until `poll`: the background thread sleeps while a JoinGroup is in flight."""
        self._rebalance, self._join_answer = RebalancePhase.JOINED, answer

    def _handle_join_answer(self, now_ms: int) -> None:
        answer, self._join_answer = self._join_answer, None
        if not isinstance(answer, JoinGroupAnswer):
            self._disconnected(now_ms)
        elif answer.error is ErrorCode.MEMBER_ID_REQUIRED:
            # Java counts it, though every dynamic member joins like this.
            self.metrics.rebalance_failed(now_ms)
            self.member_id = answer.member
            self._rebalance = RebalancePhase.NONE
        elif answer.error is not ErrorCode.NONE:
            self._refused(answer.error, now_ms)
            if answer.error is ErrorCode.REBALANCE_IN_PROGRESS and self._behavior.rebalances_in_background:
                # In an upgrade. librdkafka expects it only from SyncGroup.
                self._fail(answer.error.name)
                self._rejoin_at_ms = self._asked_to_join_ms + _JOIN_INTERVAL_MS
        elif self.state is not ClassicState.PREPARING_REBALANCE:
            self.metrics.rebalance_failed(now_ms)  # membership was lost meanwhile
            self._rebalance = RebalancePhase.NONE
        else:
            self._enter(answer.generation, answer.member, now_ms)
            if self._behavior.rebalances_in_background and answer.leader == answer.member:
                self._rebalance, self._join_answer = RebalancePhase.LOOKING_UP, answer
                self._rejoin_at_ms = now_ms + _METADATA_MS
            else:
                self._sync(answer, now_ms)

    def _looked_up(self, now_ms: int) -> None:
        answer, self._join_answer = self._join_answer, None
        if isinstance(answer, JoinGroupAnswer) and self.state is ClassicState.COMPLETING_REBALANCE:
            self._sync(answer, now_ms)
        else:
            self._rebalance = RebalancePhase.NONE  # membership was lost meanwhile

    def _sync(self, joined: JoinGroupAnswer, now_ms: int) -> None:
        self._rebalance = RebalancePhase.ANSWER_DUE
        self._protocol = joined.protocol or ""
        if self._behavior.cooperates_as_chosen:
            chosen = rebalance_protocol((self._protocol,), self.identity.library.leader)
            self.is_cooperative = chosen is RebalanceProtocol.COOPERATIVE
        leads = joined.leader == joined.member
        former, self._assigned_for = self._assigned_for, None
        # A leader's knowledge is dropped only when the next rebalance completes (assignmentSnapshot).
        self._is_outdated = not leads and former is not None and former != self._counts(self._topics())
        assignments: tuple[tuple[str, bytes], ...] = ()
        if leads:
            self.is_leader = True
            self._watched = group_topics(joined.members)
            self._assigned_for = self._counts(self._watched)
            if not joined.skip_assignment:
                assignor = self._assignors.named(self._protocol)
                try:
                    assignments = assign(assignor, joined.members, self.image, self._version)
                    self._assignors.assigned(self._protocol, joined.members, assignments)
                except (AssignorFailedError, DecodeError) as error:
                    if isinstance(error, AssignorFailedError):
                        self._assignors.assigned(self._protocol, joined.members, (), str(error))
                    # No SyncGroup: the group waits until its timeout removes this member, or the next poll joins.
                    self._rebalance = RebalancePhase.NONE
                    self.metrics.rebalance_failed(now_ms)
                    self._fail_to_join(_ASSIGNOR_ERROR, now_ms, str(error))
                    return
        request = SyncGroup(
            group=self.identity.group,
            generation=self.epoch,
            member=joined.member,
            instance=self.identity.instance,
            protocol_type=joined.protocol_type,
            protocol=joined.protocol,
            assignments=assignments,
        )
        self._send(request, self._sync_answered)

    def _sync_answered(self, answer: object, now_ms: int) -> None:
        if not isinstance(answer, SyncGroupAnswer):
            self._disconnected(now_ms)
        elif answer.error is not ErrorCode.NONE:
            self._refused(answer.error, now_ms)
        elif self.state is not ClassicState.COMPLETING_REBALANCE:
            self.metrics.rebalance_failed(now_ms)  # membership was lost meanwhile
            self._rebalance = RebalancePhase.NONE
        else:
            self.state = ClassicState.STABLE
            self._must_rejoin = self._is_outdated and not self._behavior.rebalances_in_background
            self._assignment = answer.assignment
            self._rebalance = RebalancePhase.ASSIGNED
            self.metrics.rebalance_ended(now_ms)

    def _disconnected(self, now_ms: int) -> None:
        self._lose_coordinator(now_ms)
        self.metrics.rebalance_failed(now_ms)
        self._rebalance = RebalancePhase.NONE
        self._must_rejoin = True
        self._rejoin_at_ms = now_ms + self.settings.retry_backoff_ms

    def _refused(self, code: ErrorCode, now_ms: int) -> None:
        """A JoinGroup or SyncGroup was refused."""
        self.metrics.rebalance_failed(now_ms)
        self._rebalance = RebalancePhase.NONE
        self._must_rejoin = True
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
            self._lose_membership(code)
        elif code in FATAL:
            self._fail_to_join(self._fatal(code), now_ms)
        elif code is not ErrorCode.REBALANCE_IN_PROGRESS:
            if code in base.COORDINATOR_MOVED:
                self._lose_coordinator(now_ms)
            self._rejoin_at_ms = now_ms + self.settings.retry_backoff_ms

    def _fail_to_join(self, error: str, now_ms: int, message: str = "") -> None:
        """Throw an exception in `poll`; if that does not determine when to retry, retry after an interval."""
        self._fail(error, message)
        if self._behavior.rebalances_in_background:
            self._rejoin_at_ms = now_ms + _JOIN_INTERVAL_MS

    def _lose_membership(self, code: ErrorCode) -> None:
        if self._waits_for_listener and self._unnoticed is None:
            self._unnoticed = self.epoch
        super()._lose_membership(code)

    def _commit_fenced(self, code: ErrorCode) -> None:
        """A library that commits while it joins knows that it may have joined another generation meanwhile."""
        is_late = code is ErrorCode.ILLEGAL_GENERATION and self._behavior.rebalances_in_background
        if not is_late or not self._rejoins:
            super()._commit_fenced(code)
        elif self._behavior.forgets_generation:
            self.epoch = NO_GENERATION

    def _forget_rebalance(self) -> None:
        """The member has unsubscribed. A request in flight is awaited before the next one (joinFuture)."""
        if self._rebalance is not RebalancePhase.ANSWER_DUE:
            self._rebalance = RebalancePhase.NONE
        self.is_leader, self._assignment, self._join_answer = False, b"", None
        self._joined = None
        self._missed = frozenset()

    def _complete(self, now_ms: int) -> None:
        """ConsumerCoordinator.onJoinComplete; repeated at the next `poll` if a callback has thrown."""
        assigned: Partitions | None = None
        if self.state is ClassicState.STABLE:
            try:
                is_empty = not self._assignment and self._behavior.tolerates_assignments
                nothing = EmbeddedAssignment(version=self._version, partitions={})
                received = nothing if is_empty else read_assignment(self._assignment)
                assigned = assigned_in(self._assignment)
            except DecodeError as error:
                if not self._behavior.tolerates_assignments:
                    self._fail("IllegalStateException", str(error))
                    return
        is_refused = assigned is not None and self._behavior.checks_subscription
        if assigned is None or (is_refused and not by_topic(assigned).keys() <= set(self._topics())):
            self._end_rebalance()
            self._must_rejoin = True
            return
        revoked = self.owned - assigned if self.is_cooperative else frozenset()
        if revoked:
            self._revoke(revoked, partial(self._revoked, received, assigned), now_ms)
        else:
            self._accept_assigned(received, assigned, now_ms)

    def _revoked(self, received: EmbeddedAssignment, assigned: Partitions, now_ms: int) -> None:
        self._must_rejoin = True
        if self._error and not self._behavior.throws_last:
            error, self._error = self._error, ""
            self._due.insert(0, DueFailure(error, base.LISTENER_FAILED))
        self._accept_assigned(received, assigned, now_ms)

    def _accept_assigned(self, received: EmbeddedAssignment, assigned: Partitions, now_ms: int) -> None:
        self._history = frozenset()
        known = self.owned | self._given_up_eagerly if self.is_cooperative else self.owned
        self._unread = (assigned & known) - (self.owned - self._unread)
        self._given_up_eagerly = frozenset()
        added = assigned - known
        try:
            assignment = MemberAssignment(partitions=received.partitions, user_data=received.user_data)
            self._assignors.on_assignment(self._protocol, assignment)
        except AssignorFailedError:
            self._error = self._error or self.identity.library.listener_error
        if self.settings.enable_auto_commit:
            self._auto_commit_at_ms = now_ms + self.settings.auto_commit_interval_ms
        self._notify(DueCallback(CallbackKind.ASSIGNED, added, self._completed, assigned), now_ms)

    def _completed(self, now_ms: int) -> None:
        self._is_watched = True
        if not self._error or not self._behavior.listener_can_refuse:
            self._end_rebalance()
        self._throw(now_ms)

    def _end_rebalance(self) -> None:
        self._rebalance = RebalancePhase.NONE
        self._must_prepare = self._looks_again = True
        self._assignment = b""
