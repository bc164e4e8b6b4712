"""A classic member before a rebalance: whether one is due, as its subscription or, for the leader, the topics have
changed; then what it commits and revokes before it joins. Source: kafka-clients 4.3.1, ConsumerCoordinator; librdkafka
2.16, rdkafka_cgrp.c."""

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import partial

from coordinator.consumer import member as base
from coordinator.consumer.classic_membership import ClassicMembership
from coordinator.consumer.leader import by_topic
from coordinator.consumer.outputs import CallbackKind, CollectingChanges, DueCallback, Partitions
from coordinator.engine.topics import TopicImage


class RebalancePhase(Enum):
    NONE = "none"
    COMMITTING = "committing"
    COMMITTED = "committed"
    ANSWER_DUE = "answer-due"
    JOINED = "joined"  # JoinGroup is answered, and the application has not been in `poll` since
    LOOKING_UP = "looking-up"  # The leader requests the topics, between JoinGroup and SyncGroup (librdkafka)
    ASSIGNED = "assigned"
    """The assignment has arrived, and not all of its callbacks have returned without an exception."""


NO_REBALANCE, ANSWER_DUE = RebalancePhase.NONE, RebalancePhase.ANSWER_DUE  # As UNJOINED: they are read often


class PreparingMember(ClassicMembership):
    """See the module. The rebalance itself is in the subclass."""

    is_cooperative: bool  # As its assignors determine

    def __init__(
        self,
        identity: base.Identity,
        subscription: base.ClientSubscription,
        image: TopicImage,
        positions: base.Positions,
        batch_topic_changes_ms: int,
    ) -> None:
        super().__init__(identity, image, positions)
        self.is_leader = False
        self.subscription = subscription
        self._joined: tuple[str, ...] | None = None  # The topics of the last JoinGroup
        self._joined_counts: dict[str, int] = {}  # The partition counts of these topics at that time
        self._joined_for = subscription  # The subscription of the last JoinGroup
        self._batch_topic_changes_ms = batch_topic_changes_ms
        self._collects_until_ms = base.NEVER
        """Until when it collects changes of topics; NEVER: it collects none."""
        self._given_up_eagerly: Partitions = frozenset()
        """The partitions that it revoked eagerly, if it still considers them its own (`remembers_eager`)."""
        self._watched: frozenset[str] = frozenset()  # Topics of the whole group, which its leader watches
        self._assigned_for: dict[str, int] | None = None
        """The partition counts by topic that the leader knew when it assigned. None: the member is a follower."""
        self._revokes_first = False
        """Whether an eager member has subscribed again: librdkafka revokes before it looks for the topics."""
        self._looks_again = False
        """Whether topics or subscription have changed, or may have changed, since they were last compared."""
        self._rebalance = RebalancePhase.NONE
        self._missed: frozenset[str] = frozenset()  # Missing topics that `poll` has thrown an exception for

    @property
    def watched(self) -> Mapping[str, int] | None:
        if self._assigned_for is not None:
            return self._assigned_for
        return self._joined_counts if self._behavior.followers_watch else None

    @property
    def _rejoins(self) -> bool:
        """Whether a rebalance is due or in progress."""
        return self._must_rejoin or self._rebalance is not NO_REBALANCE

    def _must_rebalance(self, now_ms: int) -> bool:
        """Like `_rejoins`, after a look at what has changed (ConsumerCoordinator.rejoinNeededOrPending)."""
        if self._rejoins:
            return True
        is_collected = now_ms >= self._collects_until_ms
        if self._looks_again or is_collected:
            self._looks_again = False
            if not self._sees_change():
                self._collects_until_ms = base.NEVER
            elif is_collected or not self._batch_topic_changes_ms or self.subscription != self._joined_for:
                self._must_rejoin = True
            elif self._collects_until_ms == base.NEVER:
                self._collects_until_ms = now_ms + self._batch_topic_changes_ms
                self.outputs.append(CollectingChanges(self._batch_topic_changes_ms))
        return self._must_rejoin

    def _sees_change(self) -> bool:
        """Whether its assignment would change: because of its subscription or, as the leader, of the topics."""
        if self._joined is not None and self._topics() != self._joined:
            return True
        if self._behavior.followers_watch and self._joined_counts != self._counts(self._topics()):
            return self._joined is not None
        return self._assigned_for is not None and self._assigned_for != self._counts(self._watched)

    def _topics(self) -> tuple[str, ...]:
        return self.subscription.in_image(self.image)

    def _counts(self, names: Iterable[str]) -> dict[str, int]:
        topics = self.image.topics
        return {name: topics[name].partitions for name in names if name in topics}

    def _misses_topic(self) -> bool:
        """Whether another missing topic is found, or a regex that matches none, one at a time
        (rd_kafka_propagate_consumer_topic_errors)."""
        topics, regex = self._topics(), self.subscription.regex
        missing = [topic for topic in topics if topic not in self.image.topics]
        if not topics and regex is not None:
            missing = [regex]
        self._missed &= frozenset(missing)
        for topic in missing:
            if topic not in self._missed:
                self._missed |= {topic}
                return True
        return False

    def _prepare(self, now_ms: int) -> None:
        """Commit before the rebalance; the old generation's commit is accepted until the others have joined."""
        if not self.settings.enable_auto_commit or not self._behavior.commits_before_revoked:
            self._revoke_before_joining(now_ms)
            return
        self._rebalance = RebalancePhase.COMMITTING
        until_ms = now_ms + self.settings.max_poll_interval_ms
        self._commit(self._consumed(), now_ms, until_ms, self._committed_before_joining)

    def _committed_before_joining(self, _error: str, _now_ms: int) -> None:
        """Whatever the result, the rebalance continues in `poll`."""
        if self._rebalance is RebalancePhase.COMMITTING:
            self._rebalance = RebalancePhase.COMMITTED

    def _revoke_before_joining(self, now_ms: int) -> None:
        """ConsumerCoordinator.onJoinPrepare."""
        # Not again at the next poll, even if a callback throws.
        self._must_prepare = False
        if self._has_lost_membership:
            self._unnoticed = None
            then = partial(self._partitions_revoked, None)
            if self.owned:
                self._notify(DueCallback(CallbackKind.LOST, self.owned, then), now_ms)
            else:
                then(now_ms)
        elif not self.is_cooperative:
            self._given_up_eagerly = self.owned if self._behavior.remembers_eager else frozenset()
            self._revoke(self.owned, partial(self._partitions_revoked, None), now_ms)
        else:
            unwanted = self._owned_except(self._topics())
            gone = self._owned_except(self.image.topics)
            if gone and self._behavior.topic_error is not None:
                then = partial(self._partitions_revoked, gone)
                self._notify(DueCallback(CallbackKind.LOST, gone, then), now_ms)
            elif unwanted:
                self._revoke(unwanted, partial(self._partitions_revoked, unwanted), now_ms)
            else:
                self._partitions_revoked(unwanted, now_ms)

    def _owned_except(self, topics: Iterable[str]) -> Partitions:
        """The partitions that it owns of other topics."""
        others = by_topic(self.owned).keys() - topics
        return (
            frozenset(partition for partition in self.owned if partition.topic in others)
            if others
            else frozenset()
        )

    def _revoke(self, partitions: Partitions, then: base.Step, now_ms: int) -> None:
        """Call `revoked`, and commit the partitions afterwards if they were not committed before."""
        if self.settings.enable_auto_commit and not self._behavior.commits_before_revoked:
            then = partial(self._commit_revoked, partitions, then)
        self._notify(DueCallback(CallbackKind.REVOKED, partitions, then), now_ms)

    def _commit_revoked(self, partitions: Partitions, then: base.Step, now_ms: int) -> None:
        consumed, until_ms = self._consumed(partitions), now_ms + self.settings.max_poll_interval_ms
        committed = partial(self._committed_revoked, self._rebalance, then)
        self._rebalance = RebalancePhase.COMMITTING
        self._own(self.owned - partitions)
        self._commit(consumed, now_ms, until_ms, committed)

    def _committed_revoked(self, phase: RebalancePhase, then: base.Step, error: str, now_ms: int) -> None:
        """Whatever the result, the rebalance continues, unless the error was final."""
        self._auto_committed(error, now_ms)
        if not self.is_closing and not self._is_dead:
            self._rebalance = phase
            then(now_ms)

    def _partitions_revoked(self, partitions: Partitions | None, now_ms: int) -> None:
        """All that it owns then, if they are None."""
        self._own(frozenset() if partitions is None else self.owned - partitions)
        self.is_leader = self._revokes_first = False
        self._throw(now_ms, wraps=True)

    def _throw(self, now_ms: int, *, wraps: bool = False) -> None:
        """An exception of a callback leaves `poll` now; `wraps`: Java wraps even one of Kafka's."""
        if self._error:
            error, self._error = self._wrapped(self._error) if wraps else self._error, ""
            self._raise(error, now_ms, base.LISTENER_FAILED)

    def _wrapped(self, error: str) -> str:
        return error if self._behavior.names_codes else self.identity.library.listener_error
