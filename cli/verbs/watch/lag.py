"""The lag of a group by topic, and its rate of change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cli.verbs.watch.state import LEAST_RATE_MS, Observation
from groups.lag import each_once, lag_of, partition_lags, total_lag
from groups.model import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLag:
    """A topic of a group. None means unknown."""

    topic: str
    lag: int | None
    """Total lag of the partitions whose lag is known; None if none is known. An offset committed beyond
    the end counts as 0."""
    unknown: int
    """Number of partitions that are not in `lag`: nothing is committed, or their log end offset is not known."""
    consumed_per_s: float | None
    """Records per second by which the committed offsets advanced."""
    produced_per_s: float | None
    """Records per second by which the end offsets advanced."""
    unread: int | None = None
    """`lag` without deleted records: those that can be read; 0 if no member reads the topic."""

    @property
    def seconds_to_zero(self) -> float | None:
        """Seconds until the group has caught up at these rates; None if it will not, or if that is not known."""
        if self.unread is not None and self.unread <= 0:
            return 0.0
        if self.unread is None or self.consumed_per_s is None or self.produced_per_s is None:
            return None
        gain = self.consumed_per_s - self.produced_per_s
        return self.unread / gain if gain > 0 else None


def topic_lags(name: str, window: Sequence[Observation], partitions: Mapping[str, int]) -> list[TopicLag]:
    """Every topic, sorted, with offsets or in `partitions` (with its number of partitions)."""
    observations = [(each, group) for each in window if (group := each.groups.get(name)) is not None]
    if not observations:
        return []
    (oldest, earlier), (newest, group) = observations[0], observations[-1]
    elapsed_ms = newest.at_ms - oldest.at_ms
    topics = sorted((group.offsets or {}).keys() | partitions.keys())
    unread: dict[str, list[int | None]] = {}
    for row in each_once(partition_lags(group, newest.topics)):
        unread.setdefault(row.topic, []).append(row.unread if row.is_subscribed else 0)
    return [
        TopicLag(
            topic=topic,
            lag=total_lag(lags.values()),
            unknown=max(partitions.get(topic, 0), len(lags)) - sum(lag is not None for lag in lags.values()),
            consumed_per_s=_rate(_committed(earlier, topic), _committed(group, topic), elapsed_ms),
            produced_per_s=_rate(_ends(oldest, topic), _ends(newest, topic), elapsed_ms),
            unread=total_lag(unread.get(topic, ())),
        )
        for topic in topics
        for lags in [lags_of(newest, group, topic)]
    ]


def lags_of(observation: Observation, group: Group, topic: str) -> dict[int, int | None]:
    """The lag of every committed partition of a topic; None if it is not known."""
    ends = _ends(observation, topic)
    return {
        number: lag_of(committed, ends.get(number))
        for number, committed in (group.offsets or {}).get(topic, {}).items()
    }


def _committed(group: Group, topic: str) -> dict[int, int]:
    partitions = (group.offsets or {}).get(topic, {})
    return {
        number: position for number, each in partitions.items() if (position := each.position) is not None
    }


def _ends(observation: Observation, topic: str) -> dict[int, int]:
    known = observation.topics.get(topic)
    ends = (known.end_offsets if known else None) or {}
    return {number: end for number, end in ends.items() if end is not None}


def _rate(before: Mapping[int, int], after: Mapping[int, int], elapsed_ms: int) -> float | None:
    """Records per second of the partitions known at both observations; None if one went back after a reset."""
    steps = [offset - before[number] for number, offset in after.items() if number in before]
    if elapsed_ms < LEAST_RATE_MS or not steps or min(steps) < 0:
        return None
    return sum(steps) * 1000 / elapsed_ms
