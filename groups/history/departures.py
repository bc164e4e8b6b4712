"""Why a member departed: it left, or its session expired. A coordinator writes the same records for both. The last
signs of life prove one of them, or neither:

- A session cannot have expired before a whole session timeout has passed since the coordinator heard from the member.
  In a classic group a commit counts as a heartbeat; in a consumer group it shows that the client was alive, and had
  sent a heartbeat no longer ago than its interval.
- A client that commits in a steady rhythm commits when it closes, or did a rhythm before. If the rhythm ended long
  before the departure, although there was something to commit, the client did not close. If it did not leave because of
  `max.poll.interval.ms` either, which takes longer, its session expired.

Sources: GroupMetadataManager (rescheduleClassicGroupMemberHeartbeat, completeClassicGroupJoin, consumerGroupLeave),
OffsetMetadataManager.commitOffset; ConsumerCoordinator, AbstractCoordinator and librdkafka's rdkafka_cgrp.c for what
clients do when they close."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import median
from typing import Final

from groups.history.causes import Causes, RebalanceCause, in_order
from groups.history.commits import RECENT, CommitView, PlaceCommit
from groups.history.events import Departure, PastRebalance, Place, Protocol, Verdict
from groups.times import duration_text

_SECOND: Final = 1_000_000  # times are in µs
LOOK_AHEAD_US: Final = 15 * _SECOND
"""The time for a successor's progress: automatic commits are 5 s apart."""
_LOOK_BACK_US: Final = (300 * _SECOND, 3600 * _SECOND)
"""Commits from before twice the session timeout, but at least and at most this long before, are not considered."""
_JITTER: Final = _SECOND // 4  # of timers, of the answers to them, and between the clocks of brokers
_DELAY: Final = 2 * _SECOND  # of commits and of rejoining, on a busy machine
_OUTAGE: Final = 7 * _SECOND  # of a coordinator: after it all sessions start again
_HEARTBEAT: Final = {Protocol.CLASSIC: 3 * _SECOND, Protocol.CONSUMER: 5 * _SECOND}
"""The default intervals: heartbeat.interval.ms, group.consumer.heartbeat.interval.ms."""
_LONG: Final = 30 * _SECOND
"""Under the consumer protocol's default limits an expired member was silent for longer: 45 s, less a heartbeat."""
_CLOSING: Final = _SECOND // 2  # from the last commit of a member that closes until it has left
_SESSION: Final = 45 * _SECOND  # the default of the consumer protocol
_BEATS: Final = 3  # the number of equal times between commits that are a rhythm
_RUN: Final = 5  # equal times that are a rhythm, whatever was before: in a rebalance there are other commits
_EARLY, _LATE, _MOSTLY = 0.95, 1.1, 0.75
"""Times of the usual time that still are equal to it, and the share that must be."""
_ALIKE: Final = 1.01  # the ratio of two times that are a rhythm although there are only two
_READ_ON: Final = 0.5  # the share of the records expected during a silence that shows that there were some


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What is known of a group beyond its log."""

    session_timeout_ms: int | None = None  # of members of the consumer protocol: a setting, or a statement
    heartbeat_interval_ms: int | None = None  # likewise
    commits_by_hand: bool | None = None  # whether its members commit only when their program calls for it
    present_at: Mapping[str, int] = field(
        default_factory=dict
    )  # when members were last observed in the group
    absent_at: Mapping[str, int] = field(default_factory=dict)  # when members were first observed to be gone


NOTHING: Final = Knowledge()


def judge(departure: Departure, commits: CommitView, knowledge: Knowledge = NOTHING) -> Verdict:
    """Why a member departed, as far as it is proven. `commits`: of its group, until `LOOK_AHEAD_US` after it."""
    case = _Case.of(departure, commits, knowledge)
    cause, why, probably = case.verdict()
    has_gap = commits.whole_since(departure.at) > departure.at - case.unheard
    if cause is RebalanceCause.EXPIRY and departure.away is None and has_gap:
        cause, probably = RebalanceCause.UNKNOWN, RebalanceCause.EXPIRY
        why = f"{why}; but the log lacks records of this time"
    return Verdict(member=departure.member, cause=cause, why=why, probably=probably)


def judged(rebalance: PastRebalance, commits: CommitView, knowledge: Knowledge = NOTHING) -> PastRebalance:
    """A rebalance with the verdicts of its departures, and the causes that follow from them."""
    return with_verdicts(
        rebalance, [judge(departure, commits, knowledge) for departure in rebalance.departures]
    )


def with_verdicts(rebalance: PastRebalance, verdicts: Collection[Verdict]) -> PastRebalance:
    causes = causes_after(rebalance.causes, verdicts)
    return replace(rebalance, causes=causes, verdicts=tuple(verdicts))


def causes_after(causes: Causes, verdicts: Collection[Verdict]) -> Causes:
    """The causes of a rebalance, of which UNKNOWN stands for the departures that there are verdicts of."""
    if not verdicts:
        return causes
    return in_order({*causes} - {RebalanceCause.UNKNOWN} | {verdict.cause for verdict in verdicts})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Habit:
    """How a member committed, of its last `RECENT` commits of each partition."""

    last: int | None = None  # the time of its last commit
    longest: int = 0  # the longest time between two commits
    steady: bool = False  # whether most came after the usual time, as automatic ones do
    repeats: bool = False  # whether it commits although nothing changed, as Java does automatically
    left_records: bool = False  # whether its successors read what it would have read while it was silent
    waited: int = 0  # the longest time in which one of the others did not commit either while it was silent


def look_back_us(session_timeout_ms: int | None) -> int:
    least, most = _LOOK_BACK_US
    return min(max(2000 * (session_timeout_ms or 0), least), most)


def _habit(departure: Departure, commits: CommitView, begin: int) -> _Habit:
    own = {
        place: [commit for commit in commits.recent(place, departure.at) if commit.time >= max(since, begin)]
        for place, since in departure.places.items()
    }
    # Of a partition with frequent commits, `recent` begins later: before, the picture is incomplete.
    complete = max((recent[0].time for recent in own.values() if len(recent) >= RECENT), default=0)
    times = sorted({commit.time for recent in own.values() for commit in recent if commit.time >= complete})
    if not times:
        return _Habit()
    gaps = [later - earlier for earlier, later in pairwise(times)]
    usual = median(gaps) if gaps else 0
    equal = [_EARLY * usual <= gap <= _LATE * usual for gap in gaps]
    # Automatic commits begin an interval after the assignment at the latest.
    assigned = max(begin, commits.whole_since(departure.at), *departure.places.values())
    has_begun = complete > 0 or times[0] - assigned <= _LATE * usual + _JITTER
    is_long = len(gaps) >= _BEATS or (len(gaps) == 2 and max(gaps) <= _ALIKE * min(gaps))
    changed = {
        later.time for recent in own.values() for one, later in pairwise(recent) if later.offset != one.offset
    }
    again = {later.time for recent in own.values() for _, later in pairwise(recent)} - changed
    return _Habit(
        last=times[-1],
        longest=max(gaps, default=0),
        steady=has_begun and is_long and (sum(equal) >= _MOSTLY * len(gaps) or all(equal[-_RUN:])),
        repeats=len(again) > 1,
        left_records=_left_records(departure, own, commits),
        waited=_longest_wait(departure, times[-1], commits),
    )


def _left_records(
    departure: Departure, own: Mapping[Place, Sequence[PlaceCommit]], commits: CommitView
) -> bool:
    expected, read = 0.0, 0.0
    for place, recent in own.items():
        if len(recent) < 2 or recent[-1].time == recent[0].time:
            continue
        first, last = recent[0], recent[-1]
        rate = (last.offset - first.offset) / (last.time - first.time)
        expected += rate * (departure.at - last.time)
        then = commits.first_after(place, departure.at)
        if then is not None and then.time <= departure.at + LOOK_AHEAD_US:
            # Those of the time since may have come in that time.
            read += then.offset - last.offset - rate * (then.time - departure.at)
    return read > 0 and read >= _READ_ON * expected


def _longest_wait(departure: Departure, since: int, commits: CommitView) -> int:
    longest = 0
    for place in departure.others:
        recent = () if place is None else commits.recent(place, departure.at)
        begin = recent[0].time if len(recent) >= RECENT else 0
        times = [max(since, begin), *(commit.time for commit in recent if commit.time > since), departure.at]
        longest = max(longest, *(later - earlier for earlier, later in pairwise(times)))
    return longest


@dataclass(frozen=True, slots=True)
class _Case:
    """A departure with what is known. Times in µs."""

    departure: Departure
    habit: _Habit
    at: int
    session: int | None  # its session timeout
    patience: int  # how long the coordinator, or the client itself, waits for its next poll or rejoin
    heartbeat: int  # the interval, at most
    by_hand: bool | None
    present: int  # when it was last observed in the group; 0: never

    @classmethod
    def of(cls, departure: Departure, commits: CommitView, knowledge: Knowledge) -> _Case:
        record, observed = departure.record, knowledge.absent_at.get(departure.member, departure.at)
        session_ms = record.session_timeout_ms or knowledge.session_timeout_ms
        session = None if session_ms is None else session_ms * 1000
        heartbeat_ms = knowledge.heartbeat_interval_ms if record.session_timeout_ms is None else None
        heartbeat = _HEARTBEAT[departure.protocol] if heartbeat_ms is None else heartbeat_ms * 1000
        return cls(
            departure,
            _habit(departure, commits, departure.at - look_back_us(session_ms)),
            at=max(min(departure.at, observed), departure.earliest),
            session=session,
            patience=(record.rebalance_timeout_ms or record.session_timeout_ms or 0) * 1000,
            heartbeat=heartbeat if session is None else min(heartbeat, session * 17 // 20),
            by_hand=knowledge.commits_by_hand,
            present=knowledge.present_at.get(departure.member, 0),
        )

    @property
    def silence(self) -> int | None:
        """Since its last commit."""
        return None if self.habit.last is None else self.at - self.habit.last

    @property
    def unheard(self) -> int:
        """Since the coordinator or its log last had a sign of life."""
        return self.at - max(self.departure.seen, self.habit.last or 0)

    @property
    def is_static(self) -> bool:
        return self.departure.record.instance is not None

    def verdict(self) -> tuple[RebalanceCause, str, RebalanceCause | None]:
        leave, expiry, unknown = RebalanceCause.LEAVE, RebalanceCause.EXPIRY, RebalanceCause.UNKNOWN
        if self.departure.away is not None:
            return self._away(self.departure.away)
        if self._was_fenced():
            return expiry, f"it did not revoke its partitions within {_text(self.patience)}", None
        if (sign := self._alive_lately()) is not None:
            return leave, sign, None
        silence = self.silence
        if silence is None:
            why = f"it never committed, and nothing was heard of it for {_text(self.unheard)}"
        else:
            why = f"it committed for the last time {_text(silence)} before"
        if self.session is not None:
            why += f"; its session timeout is {_text(self.session)}"
        if self._fell_silent():
            return expiry, why, None
        if silence is not None and self._stopped_polling(silence):
            likely = None if self.session is None or self._may_have_expired() else leave
            return unknown, f"{why}; without a poll it leaves after {_text(self.patience)}", likely
        if self.is_static:
            return unknown, f"{why}; a static member does not leave by itself, but can be removed", expiry
        return unknown, why, expiry if self._may_have_expired() else None

    def _away(self, since: int) -> tuple[RebalanceCause, str, RebalanceCause | None]:
        """A static member of the consumer protocol closed. Its session lasts from its last heartbeat."""
        gone = self.at - since
        why = f"it closed, and did not return within {_text(gone)}"
        session, heartbeat = self.session or _LONG, 0 if self.session is None else self.heartbeat
        if gone >= session - min(heartbeat, session // 4) - _JITTER:
            return RebalanceCause.EXPIRY, why, None
        if self.session is None or gone >= session - heartbeat - _JITTER:
            return RebalanceCause.UNKNOWN, f"{why}, or it was removed", RebalanceCause.EXPIRY
        return RebalanceCause.LEAVE, f"{why}: it was removed before its session expired", None

    def _was_fenced(self) -> bool:
        """Whether the coordinator removed it at its rebalance timeout."""
        since = self.departure.revoking
        return since is not None and 0 <= self.at - since - self.patience <= _SECOND

    def _alive_lately(self) -> str | None:
        """The sign of life that excludes an expired session, if it was not dropped from a rebalance either."""
        silence, seen = self.silence, self.at - self.departure.seen
        is_dropped = (
            self.at - self.departure.earliest >= self.patience - _JITTER
            if self.departure.protocol is Protocol.CLASSIC
            else self.departure.revoking is not None
            or (self.departure.record.session_timeout_ms is not None and seen >= self.patience)
        )
        if is_dropped and (silence is None or silence >= self.patience // 2):
            return None
        if self.session is None:
            return None if silence is None or silence > _CLOSING else f"it committed {_text(silence)} before"
        if seen < self.session - _JITTER:
            return f"its session of {_text(self.session)} began or was renewed {_text(seen)} before"
        if silence is not None and silence < self._surely_alive(self.session):
            return f"it committed {_text(silence)} before, within its session of {_text(self.session)}"
        return None

    def _surely_alive(self, session: int) -> int:
        """The time after a commit within which a session cannot expire."""
        if self.departure.protocol is Protocol.CLASSIC:
            # Commits are heartbeats, but not those of transactions.
            return session - min(self.heartbeat, session // 4) - _JITTER
        # Its last heartbeat is an interval older, and two if the coordinator moved.
        once, twice = (session - times * self.heartbeat - _JITTER for times in (1, 2))
        return max(twice, min(once, _CLOSING))

    def _may_have_expired(self) -> bool:
        """Whether it departed when its session would expire if its last commit was just before its end."""
        session = _SESSION if self.session is None else self.session
        # A commit to a classic group counts as a heartbeat.
        since = 0 if self.departure.protocol is Protocol.CLASSIC else self.heartbeat
        latest = session + max(self.habit.longest, self.heartbeat) + _OUTAGE
        return session - since - _JITTER <= self.unheard <= latest

    def _stopped_polling(self, silence: int) -> bool:
        latest = self.patience + max(self.habit.longest, self.heartbeat) + _DELAY
        return not self.is_static and self.patience - _JITTER <= silence <= latest

    def _fell_silent(self) -> bool:
        """Whether it ended without closing, and neither was removed nor left for lack of polls."""
        habit, silence = self.habit, self.silence
        if silence is None or not (habit.repeats or habit.left_records):
            return False  # it may have had nothing to commit
        if silence <= habit.longest * 6 // 5 + (0 if self.session else habit.longest + _DELAY):
            return False  # it may have closed, or have been removed, between two commits by hand
        was_there = self.present > self.at - silence + _SECOND
        waited = habit.longest + self.heartbeat + habit.waited + _JITTER
        if self.departure.waited_for and not was_there and silence <= waited:
            return False  # it may have closed, and others took long to rejoin: a member that polls needs a heartbeat
        if self.is_static:
            return self._may_have_expired() and habit.longest > 0
        if not self._may_have_expired() and (self.session is not None or not habit.repeats):
            return False
        return habit.steady and not self.by_hand and silence < self.patience - _DELAY


def _text(us: int) -> str:
    return duration_text(us / 1000)
