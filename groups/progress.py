"""How a group gets on: rates, time to catch up, and a verdict per partition, from readings at known times.

The verdicts are Burrow's (its wiki, "Consumer Lag Evaluation Rules", and `core/internal/evaluator`), which judge how
offsets move instead of comparing lag with a number. Where they were wrong for its users, the rule differs:

1. **None** (not known): there are not two readings in which committed offset and lag are known, unless one reading
   says since when records have been waiting (`waiting_since_ms`).
2. **REWIND**: the committed offset is lower than it was before. Burrow looks at that only where lag is never zero, and
   stays with it; here lag does not matter, and an offset that has reached its old place again is no rewind.
3. **OK**: nothing is left to read at the last reading. Burrow says OK when lag was zero anywhere in its window, so that
   a consumer which stops after catching up stays OK while lag grows. Here only the last reading counts as caught up.
4. **STALLED**, **STOPPED**: there were records to read and the committed offset did not move for three commit
   intervals; a member owns the partition (STALLED), or no member does (STOPPED). The time counts from the first reading
   with something to read, not from the last commit: on a quiet topic the last commit is old, and Burrow reports the
   first record after the silence as a stop before its consumer could commit it. Burrow tells the two apart by whether
   commits arrive, which no broker API shows.
5. **WARN**: the offset moves, and lag grows by more than ten records and than what is produced in a commit interval, or
   in three where it was zero before: a burst is no trend. The lowest lag of the later half of the readings is compared
   with that of the earlier half: lag goes up and down with each commit, and to Burrow a single drop in its window is
   OK, while lag that is small and steady is a warning. Lag is measured against the log's end at each reading; Burrow's
   is that at the time of the commit, and does not grow when commits cease.
6. **OK** otherwise.

A committed offset is always up to a commit interval old. Therefore lag of no more than what is produced in one counts
as caught up (`catch_up_s` 0).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Final, NamedTuple

from groups.lag import PartitionLag, partition_lags
from groups.model import Group, Topic

COMMIT_INTERVAL_MS = 5_000
"""How often consumers commit unless they are set otherwise (`auto.commit.interval.ms`)."""
STILL_INTERVALS = 3
"""For how many commit intervals an offset must not move before that is a verdict."""
FEW_RECORDS = 10
"""Lag that grows by so few is that of a quiet topic, whose last records have just been written."""
NEVER: Final = math.inf
"""The time to catch up of a partition that does not get nearer to the end."""


class Verdict(Enum):
    """Burrow's word for a partition, or a group, the lesser evil first."""

    OK = "OK"
    WARN = "WARN"
    REWIND = "REWIND"
    STALLED = "STALLED"
    STOPPED = "STOPPED"


_BY_SEVERITY = tuple(Verdict)


class Reading(NamedTuple):
    """A partition of a group at a moment. None is unknown, or nothing committed.

    A tuple, because a fleet has a hundred thousand of them.
    """

    at_ms: int
    committed: int | None
    end: int | None
    lag: int | None
    start: int | None = None
    owned: bool = False
    """Whether a member owns the partition."""
    waiting_since_ms: int | None = None
    """Since when records wait that are not read, where that is known: the later one of the last commit and of the
    moment when the first unread record was written."""


class Progress(NamedTuple):
    """How one partition gets on between the first and the last of its readings. None is unknown."""

    verdict: Verdict | None = None
    lag: int | None = None
    """In records, at the last reading."""
    lag_change: int | None = None
    committed_per_s: float | None = None
    """Records per second by which the committed offset moved; negative after a rewind."""
    produced_per_s: float | None = None
    catch_up_s: float | None = None
    """Until everything is read at these rates; `NEVER` when the lag does not shrink."""
    still_ms: int = 0
    """For how long at least the committed offset has not moved while there were records to read."""
    overtaken_s: float | None = None
    """Until the log start passes the committed offset at these rates, and unread records are lost; `NEVER`."""


_IDLE = Progress(Verdict.OK, 0, 0, 0.0, 0.0, 0.0, 0, NEVER)
"""Nothing is produced, and all has been read."""


class GroupProgress(NamedTuple):
    """How a group gets on: sums of what is known of its partitions, the worst verdict and the longest time."""

    verdict: Verdict | None
    lag: int | None
    committed_per_s: float | None
    produced_per_s: float | None
    catch_up_s: float | None
    """Of the partition that takes longest; `NEVER` when one of them never does."""
    partitions: Mapping[tuple[str, int], Progress]


def readings_of(
    at_ms: int,
    group: Group,
    topics: Mapping[str, Topic],
    waiting_since_ms: Mapping[tuple[str, int], int | None] | None = None,
) -> dict[tuple[str, int], Reading]:
    """The partitions that a group owns or has committed to, as they were at a moment.

    Where records are known to wait since None, there are none: what follows are markers of transactions only, and there
    is no lag.
    """
    return readings_of_rows(at_ms, partition_lags(group, topics), topics, waiting_since_ms)


def readings_of_rows(
    at_ms: int,
    rows: Iterable[PartitionLag],
    topics: Mapping[str, Topic],
    waiting_since_ms: Mapping[tuple[str, int], int | None] | None = None,
) -> dict[tuple[str, int], Reading]:
    """The same of partitions of which the lag has been worked out."""
    waiting = waiting_since_ms or {}
    found: dict[tuple[str, int], Reading] = {}
    for row in rows:
        topic = topics.get(row.topic)
        starts = (topic.start_offsets if topic is not None else None) or {}
        place = row.topic, row.partition
        committed = row.committed if row.committed is not None and row.committed >= 0 else None
        found[place] = Reading(
            at_ms,
            committed,
            row.end,
            0 if place in waiting and waiting[place] is None else row.lag,
            starts.get(row.partition),
            row.member is not None,
            waiting.get(place),
        )
    return found


def group_progress(
    readings: Sequence[Mapping[tuple[str, int], Reading]], *, commit_interval_ms: int = COMMIT_INTERVAL_MS
) -> GroupProgress:
    """Of a group's partitions that are in the last of the readings, which are in ascending order of time."""
    places = readings[-1] if readings else {}
    partitions = {
        place: partition_progress(
            [each[place] for each in readings if place in each], commit_interval_ms=commit_interval_ms
        )
        for place in places
    }
    each = partitions.values()
    verdicts = [one.verdict for one in each if one.verdict is not None]
    lags = [max(one.lag, 0) for one in each if one.lag is not None]
    return GroupProgress(
        verdict=max(verdicts, key=_BY_SEVERITY.index, default=None),
        lag=sum(lags) if lags else None,
        committed_per_s=_sum(one.committed_per_s for one in each),
        produced_per_s=_sum(one.produced_per_s for one in each),
        catch_up_s=max((one.catch_up_s for one in each if one.catch_up_s is not None), default=None),
        partitions=partitions,
    )


def partition_progress(
    readings: Sequence[Reading], *, commit_interval_ms: int = COMMIT_INTERVAL_MS
) -> Progress:
    """Of one partition, in ascending order of time. Readings without a known committed offset or lag do not count."""
    if len(readings) == 2 and readings[0][1:4] == readings[1][1:4] and readings[1].lag == 0:
        return _IDLE  # most partitions of a fleet
    known = [each for each in readings if each.committed is not None and each.lag is not None]
    offsets = [each.committed for each in known if each.committed is not None]
    lags = [each.lag for each in known if each.lag is not None]
    if not known:
        return Progress()
    first, last, lag = known[0], known[-1], lags[-1]
    still_ms = _still_ms(known)
    committed_per_s = _per_s(first, last, offsets[0], offsets[-1])
    produced_per_s = _per_s(first, last, first.end, last.end)
    if produced_per_s is not None and produced_per_s < 0:
        produced_per_s = None  # the log was truncated, or the topic is another one
    in_interval = (produced_per_s or 0) * commit_interval_ms / 1000
    verdict: Verdict | None
    if offsets[-1] < max(offsets):
        verdict = Verdict.REWIND
    elif len(known) < 2 and last.waiting_since_ms is None:
        verdict = None
    elif lag <= 0:
        verdict = Verdict.OK
    elif still_ms >= STILL_INTERVALS * commit_interval_ms:
        verdict = Verdict.STALLED if last.owned else Verdict.STOPPED
    else:
        moves = offsets[-1] != offsets[0]
        verdict = Verdict.WARN if moves and _grows(lags, in_interval) else Verdict.OK
    start_per_s = _per_s(first, last, first.start, last.start)
    return Progress(
        verdict,
        lag,
        lag - lags[0] if len(known) > 1 else None,
        committed_per_s,
        produced_per_s,
        0.0 if lag <= in_interval else _time_to_meet_s(lag, committed_per_s, produced_per_s),
        still_ms,
        _overtaken_s(last, offsets[-1], start_per_s, committed_per_s),
    )


def _overtaken_s(
    last: Reading, committed: int, start_per_s: float | None, committed_per_s: float | None
) -> float | None:
    if last.start is None or start_per_s is None or committed_per_s is None:
        return None
    return _time_to_meet_s(committed - last.start, start_per_s, max(committed_per_s, 0))


def _still_ms(known: Sequence[Reading]) -> int:
    """From the first of the last readings that all have the last committed offset and something to read."""
    last = known[-1]
    since_ms = last.at_ms
    for each in reversed(known):
        if each.committed != last.committed or (each.lag or 0) <= 0:
            break
        known_ms = each.at_ms if each.waiting_since_ms is None else each.waiting_since_ms
        since_ms = min(since_ms, each.at_ms, known_ms)
    return last.at_ms - since_ms


def _grows(lags: Sequence[int], in_interval: float) -> bool:
    """Whether the lowest lag of the later half is well above that of the earlier half."""
    half = len(lags) // 2
    if not half:
        return False
    before = max(min(lags[:half]), 0)
    usual = in_interval if before else STILL_INTERVALS * in_interval
    return min(lags[half:]) - before > max(usual, FEW_RECORDS)


def _per_s(first: Reading, last: Reading, before: int | None, after: int | None) -> float | None:
    if before is None or after is None or last.at_ms <= first.at_ms:
        return None
    return (after - before) * 1000 / (last.at_ms - first.at_ms)


def _time_to_meet_s(distance: int, faster_per_s: float | None, slower_per_s: float | None) -> float | None:
    """Until what is `distance` records ahead is caught up with."""
    if faster_per_s is None or slower_per_s is None:
        return None
    gain_per_s = faster_per_s - slower_per_s
    return max(distance, 0) / gain_per_s if gain_per_s > 0 else NEVER


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None
