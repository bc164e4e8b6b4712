"""The progress of a group: rates, time to catch up, and a verdict per partition, from readings at known times.

The verdicts are Burrow's (its wiki, "Consumer Lag Evaluation Rules", and `core/internal/evaluator`), which examine
how offsets move instead of comparing lag with a number. The rules differ where Burrow's were wrong for its users:

1. **None** (not known): the committed offset and lag are not known in two readings, unless one reading contains the
   time since which records have been waiting (`waiting_since_ms`).
2. **REWIND**: the committed offset is lower than it was before. Burrow checks that only if lag is never zero, and
   keeps the verdict; here lag does not matter, and an offset that has reached its earlier value again is no rewind.
3. **OK**: no record is left to read at the last reading. In Burrow, zero lag anywhere in its window is OK, so that a
   consumer that stops after catching up stays OK while lag grows. Here only the last reading counts as caught up.
4. **STALLED**, **STOPPED**: there were records to read and the committed offset did not move for three commit
   intervals; a member owns the partition (STALLED), or no member does (STOPPED). The time counts from the first reading
   with records to read, not from the last commit: on a quiet topic the last commit is old, and Burrow reports the
   first record after the silence as a stop before its consumer could commit it. Burrow distinguishes the two verdicts
   by whether commits arrive, which no broker API shows.
5. **WARN**: the offset moves, and lag grows (`Trend.GROWS`). In Burrow, a single drop in its window is OK, while small
   and steady lag is a warning. Here lag is measured against the log end at each reading; Burrow uses the log end at the
   time of the commit, so that its lag does not grow when commits stop.
6. **OK** otherwise.

Lag grows in one of two ways, of which the first needs a few seconds only:

- *In time*, if it is known when the two offsets were committed and when the records after them were written. The offset
  moves more slowly than records are produced now, and more slowly than the clock, from the time of one record to that
  of the other; and of the unread records, more than are produced in three commit intervals would be left if the
  consumer had read at this rate since the oldest was written. A burst fails the first or the last, a consumer that
  reads records an hour late on purpose the second, a group that commits once a minute the last.
- *In records*, by more than ten and by more than is produced in a commit interval (in three intervals if lag was zero
  before), in two commit intervals at least. The lowest lag in the later half of the readings is compared with the
  lowest lag in the earlier half, because lag goes up and down with each commit, and more is produced than read in both
  halves: a burst is not a trend. If only two readings are known, it is one as long as its oldest record is young.

Otherwise it shrinks, or it is steady, or the readings are too few to distinguish that (`Trend.UNKNOWN`): an offset
moves once in a commit interval, so that the same rates look like growth or not, depending on when they were read.

A committed offset is always up to a commit interval old. Therefore a lag of at most the records produced in one
interval counts as caught up (`catch_up_s` 0).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from operator import gt
from typing import Final, NamedTuple

from groups.lag import PartitionLag

COMMIT_INTERVAL_MS = 5_000  # the default interval at which consumers commit (`auto.commit.interval.ms`)
STILL_INTERVALS = 3  # commit intervals without a move before it is stalled or stopped
FEW_RECORDS = 10  # less growth is ignored: on a quiet topic, they have just been written
MARGIN = 1.1  # Rates of which one is larger by less than a tenth are not distinguished
SAME_CLOCK = 0.02  # the age of the oldest record is the same within this part of the passed time
TREND_INTERVALS = 6  # after these, lag that grew by less than is produced in one is steady
RETENTION_CHECK_S = 300  # `log.retention.check.interval.ms`: the log start moves in steps
NEVER: Final = math.inf  # the time to catch up of a partition whose lag does not shrink


class BurrowVerdict(Enum):
    """Burrow's name for the condition of a partition or a group, the least severe first."""

    OK = "OK"
    WARN = "WARN"
    REWIND = "REWIND"
    STALLED = "STALLED"
    STOPPED = "STOPPED"


_BY_SEVERITY = tuple(BurrowVerdict)


class Trend(Enum):
    GROWS = "grows"
    STEADY = "steady"
    SHRINKS = "shrinks"
    DRAINS = "drains"  # it shrinks, but was produced faster than it is read, as after a burst
    UNKNOWN = "unknown"  # the readings are too few, or too close to each other


class Reading(NamedTuple):
    """A partition at one moment; None: unknown, or nothing committed. A tuple: a cluster may have 100,000 of them."""

    at_ms: int
    committed: int | None
    end: int | None
    lag: int | None
    start: int | None = None
    owned: bool = False  # whether a member owns the partition
    waiting_since_ms: int | None = None  # the later of the last commit and the first unread record, if known
    committed_ms: int | None = None  # when the offset was committed, if known
    written_ms: int | None = None  # when the first unread record was written, if known

    @property
    def age_s(self) -> float | None:
        return None if self.written_ms is None else (self.at_ms - self.written_ms) / 1000


class PartitionProgress(NamedTuple):
    """The progress of one partition between its first and its last reading. None means unknown."""

    verdict: BurrowVerdict | None = None
    lag: int | None = None  # the lag in records at the last reading
    lag_change: int | None = None
    committed_per_s: float | None = None
    """Between commits of known times, else readings; negative after a rewind."""
    produced_per_s: float | None = None
    catch_up_s: float | None = None  # until all is read; `NEVER` if the lag does not shrink
    still_ms: int = 0  # at least, without a move of the offset while there were records
    overtaken_s: float | None = None
    """Until the log start passes the committed offset; `NEVER` if it does not."""
    rewinds: int = 0  # how often the committed offset was lower than at the reading before
    trend: Trend = Trend.STEADY
    age_s: float | None = None  # the age of the oldest unread record at the last reading, in seconds


_IDLE = PartitionProgress(BurrowVerdict.OK, 0, 0, 0.0, 0.0, 0.0, 0, NEVER)
"""No records are produced, and all have been read."""


class GroupProgress(NamedTuple):
    verdict: BurrowVerdict | None
    lag: int | None
    committed_per_s: float | None
    produced_per_s: float | None
    catch_up_s: float | None  # the longest of its partitions; `NEVER` if one never does
    partitions: Mapping[tuple[str, int], PartitionProgress]


def readings_of_rows(
    at_ms: int,
    rows: Iterable[PartitionLag],
    waiting_since_ms: Mapping[tuple[str, int], int | None] | None = None,
) -> dict[tuple[str, int], Reading]:
    """Readings of owned or committed partitions that members read; None in `waiting_since_ms`: only markers."""
    waiting = waiting_since_ms or {}
    readings: dict[tuple[str, int], Reading] = {}
    for row in rows:
        if not row.is_subscribed:
            continue
        partition = row[:2]
        committed = row.committed if row.committed is not None and row.committed >= 0 else None
        age_ms = None if row.next_record is None else row.next_record.age_ms(at_ms)
        readings[partition] = Reading(
            at_ms,
            committed,
            row.end,
            0 if partition in waiting and waiting[partition] is None else row.unread,
            row.log_start,
            row.member is not None,
            waiting.get(partition),
            row.last_commit_ms,
            None if age_ms is None else at_ms - age_ms,
        )
    return readings


def group_progress(
    readings: Sequence[Mapping[tuple[str, int], Reading]], *, commit_interval_ms: int = COMMIT_INTERVAL_MS
) -> GroupProgress:
    """The progress of the partitions in the last of the readings, which must be in ascending order of time."""
    partitions = {}
    for place in readings[-1] if readings else {}:
        of_place = [reading[place] for reading in readings if place in reading]
        partitions[place] = partition_progress(of_place, commit_interval_ms=commit_interval_ms)
    return progress_in(partitions)


def progress_in(partitions: Mapping[tuple[str, int], PartitionProgress]) -> GroupProgress:
    """The progress of a group, of that in its partitions."""
    if not partitions:
        return GroupProgress(None, None, None, None, None, partitions)
    verdicts, lags, _, committed, produced, catch_up, *_ = zip(*partitions.values(), strict=True)
    known = [max(lag, 0) for lag in lags if lag is not None]
    return GroupProgress(
        verdict=max({*verdicts} - {None}, key=_BY_SEVERITY.index, default=None),
        lag=sum(known) if known else None,
        committed_per_s=_sum(committed),
        produced_per_s=_sum(produced),
        catch_up_s=max((time_s for time_s in catch_up if time_s is not None), default=None),
        partitions=partitions,
    )


def partition_progress(
    readings: Sequence[Reading], *, commit_interval_ms: int = COMMIT_INTERVAL_MS
) -> PartitionProgress:
    """Of one partition, from its readings by time; those without a committed offset or lag do not count."""
    if len(readings) == 2 and readings[0][1:4] == readings[1][1:4] and readings[1].lag == 0:
        return _IDLE  # most partitions of a fleet
    known = [reading for reading in readings if reading.committed is not None and reading.lag is not None]
    offsets, lags = [one.committed or 0 for one in known], [one.lag or 0 for one in known]
    if not known:
        return PartitionProgress()
    first, last, lag = known[0], known[-1], lags[-1]
    still_ms = _still_ms(known)
    took_s, moved = _commits_s(first, last), (last.committed or 0) - (first.committed or 0)
    committed_per_s = moved / took_s if took_s else _per_s(first, last, first.committed, last.committed)
    produced_per_s = _produced_per_s(first, last)
    in_interval = (produced_per_s or 0) * commit_interval_ms / 1000
    trend = _trend(known, lags, produced_per_s, committed_per_s or 0, commit_interval_ms)
    verdict: BurrowVerdict | None
    if offsets[-1] < max(offsets):
        verdict = BurrowVerdict.REWIND
    elif len(known) < 2 and last.waiting_since_ms is None:
        verdict = None
    elif lag <= 0:
        verdict = BurrowVerdict.OK
    elif still_ms >= STILL_INTERVALS * commit_interval_ms:
        verdict = BurrowVerdict.STALLED if last.owned else BurrowVerdict.STOPPED
    else:
        verdict = BurrowVerdict.WARN if trend is Trend.GROWS else BurrowVerdict.OK
    start_per_s, overtaken_s = _start_per_s(first, last, produced_per_s), None
    if last.start is not None and start_per_s is not None and committed_per_s is not None:
        overtaken_s = _time_to_meet_s(offsets[-1] - last.start, start_per_s, max(committed_per_s, 0))
    return PartitionProgress(
        verdict,
        lag,
        lag - lags[0] if len(known) > 1 else None,
        committed_per_s,
        produced_per_s,
        0.0 if lag <= in_interval else _time_to_meet_s(lag, committed_per_s, produced_per_s),
        still_ms,
        overtaken_s,
        sum(map(gt, offsets, offsets[1:])),
        trend,
        last.age_s,
    )


def _commits_s(first: Reading, last: Reading) -> float | None:
    """The seconds between the commits of two different offsets; None if they are not known, or the same commit."""
    if first.committed_ms is None or last.committed_ms is None or first.committed == last.committed:
        return None
    # A consumer may commit the same offset again after it was read.
    took_ms = min(last.committed_ms, last.at_ms) - min(first.committed_ms, first.at_ms)
    return took_ms / 1000 if took_ms > 0 else None


def _produced_per_s(first: Reading, last: Reading) -> float | None:
    rate = _per_s(first, last, first.end, last.end)
    return None if rate is None or rate < 0 else rate  # the log was truncated, or the topic is another one


def _trend(
    known: Sequence[Reading], lags: Sequence[int], produced: float | None, committed: float, interval_ms: int
) -> Trend:
    first, last = known[0], known[-1]
    if produced is None:
        return Trend.UNKNOWN if lags[-1] > FEW_RECORDS else Trend.STEADY
    in_interval = produced * interval_ms / 1000
    is_young = last.age_s is None or last.age_s * 1000 < STILL_INTERVALS * interval_ms
    if lags[-1] <= FEW_RECORDS or (lags[-1] <= in_interval and is_young):
        return Trend.SHRINKS if lags[0] - lags[-1] > in_interval else Trend.STEADY
    moves, observed_ms = first.committed != last.committed, last.at_ms - first.at_ms
    average = None if not last.age_s or last.age_s < 0 else lags[-1] / last.age_s
    if moves and (
        _grows_in_time(first, last, produced, average, interval_ms)
        or _grows_in_records(known, lags, produced, committed, interval_ms)
    ):
        return Trend.GROWS
    is_exact = _commits_s(first, last) is not None
    if lags[0] - lags[-1] > in_interval or (is_exact and committed > produced * MARGIN):
        return Trend.SHRINKS if average is None or committed * MARGIN >= average else Trend.DRAINS
    return Trend.STEADY if moves and observed_ms >= TREND_INTERVALS * interval_ms else Trend.UNKNOWN


def _grows_in_time(first: Reading, last: Reading, rate: float, mean: float | None, interval_ms: int) -> bool:
    """Whether the age of the oldest unread record grows, if the offset did not move in the interval before."""
    if mean is None or first.written_ms is None or last.written_ms is None or last.age_s is None:
        return False
    took_s = _commits_s(first, last) or (last.at_ms - first.at_ms - interval_ms) / 1000
    if took_s <= 0:
        return False
    fastest = ((last.committed or 0) - (first.committed or 0)) / took_s
    is_slower_than_clock = (last.written_ms - first.written_ms) / 1000 * MARGIN < took_s
    unread = (last.lag or 0) - fastest * last.age_s
    return (
        is_slower_than_clock
        and fastest * MARGIN < rate
        and unread > max(STILL_INTERVALS * mean * interval_ms / 1000, FEW_RECORDS)
    )


def _grows_in_records(
    known: Sequence[Reading], lags: Sequence[int], produced: float, committed: float, interval_ms: int
) -> bool:
    """Whether the lowest lag in the later half of the readings is well above the lowest lag in the earlier half."""
    first, last, half = known[0], known[-1], len(known) // 2
    took_s, commits_s = (last.at_ms - first.at_ms) / 1000, _commits_s(first, last)
    if took_s * 1000 < 2 * interval_ms or committed * MARGIN >= produced:
        return False
    if last.age_s is not None and last.age_s * 1000 < STILL_INTERVALS * interval_ms:
        return False
    if len(known) > 2:
        rates = _produced_per_s(first, known[half]), _produced_per_s(known[half], last)
        if any(rate is not None and rate <= committed for rate in rates):
            return False
    before = max(min(lags[:half]), 0)
    growth, in_interval = min(lags[half:]) - before, produced * interval_ms / 1000
    if commits_s is None:
        return growth > max(in_interval if before else STILL_INTERVALS * in_interval, FEW_RECORDS)
    if first.written_ms is not None and last.written_ms is not None:
        passed_s = (last.written_ms - first.written_ms) / 1000
        if passed_s > commits_s * (1 - SAME_CLOCK):
            return False
    # The rates are exact: only the lags of single readings go up and down.
    return (produced - committed) * took_s > in_interval / 2 and growth > max(in_interval / 4, FEW_RECORDS)


def _start_per_s(first: Reading, last: Reading, produced_per_s: float | None) -> float | None:
    """The speed of the log start, at most the present rate: retention deletes as fast as records were produced."""
    rate = _per_s(first, last, first.start, last.start)
    if rate is None or last.start is None or first.start is None:
        return None
    return min(rate, max(produced_per_s or 0, (last.start - first.start) / RETENTION_CHECK_S))


def _still_ms(known: Sequence[Reading]) -> int:
    """How long the last committed offset has been the same, with records to read, at every reading until the last."""
    last = known[-1]
    since_ms = last.at_ms
    for reading in reversed(known):
        if reading.committed != last.committed or (reading.lag or 0) <= 0:
            break
        known_ms = reading.at_ms if reading.waiting_since_ms is None else reading.waiting_since_ms
        since_ms = min(since_ms, reading.at_ms, known_ms)
    return last.at_ms - since_ms


def _per_s(first: Reading, last: Reading, before: int | None, after: int | None) -> float | None:
    if before is None or after is None or last.at_ms <= first.at_ms:
        return None
    return (after - before) * 1000 / (last.at_ms - first.at_ms)


def _time_to_meet_s(distance: int, faster_per_s: float | None, slower_per_s: float | None) -> float | None:
    """The time in which the faster offset catches up with the slower one, `distance` records ahead; None: unknown."""
    if faster_per_s is None or slower_per_s is None:
        return None
    gain_per_s = faster_per_s - slower_per_s
    return max(distance, 0) / gain_per_s if gain_per_s > 0 else NEVER


def _sum(rates: Iterable[float | None]) -> float | None:
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None
