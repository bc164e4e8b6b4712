"""What a consumer can still read from a committed offset: exact, bounded or unknown.

Lag counts offsets, as Kafka's tool does. Not every offset is a record that a consumer gets: records before the log
start are deleted, transaction markers and the gaps of compaction are no records, records of aborted transactions are
not returned to consumers with `isolation.level=read_committed`, and records from the last stable offset on not yet.
No broker shows the isolation level of a consumer, so nothing counts as readable that `read_committed` does not return.

`readable` computes with offsets alone, which gives bounds; a `NextRecord`, which costs a fetch, shows whether there is
a record at all. Offsets of a log are its start, last stable offset and end (high watermark).
"""

from __future__ import annotations

from typing import NamedTuple

from groups.times import duration_text, format_moment

CLOCKS_DIFFER_MS = 5_000
"""A record may be this much in the future: its producer's clock is ahead."""
_FIRST_RELEASE_MS = 1_293_840_000_000
"""2011: no record is older. Earlier times are written by clients that set none, or seconds instead of milliseconds."""


class NextRecord(NamedTuple):
    """The first record at or after an offset that is not of an aborted transaction, as found in the log.

    A tuple, because a cluster may have a hundred thousand of them.
    """

    offset: int | None
    """None: there is none before the end of the log, or if `is_unknown`, before `searched_to`."""
    written_ms: int | None = None
    """Its timestamp in ms since 1970; None if it has none."""
    aborted: int = 0
    """The number of records of aborted transactions before it."""
    searched_to: int | None = None
    """The offset at which a search without a result ended."""
    is_unknown: bool = False
    """Whether the search ended at its limit, before the end of the log: there may be a record."""

    def age_ms(self, now_ms: int) -> int | None:
        """How long ago it was written; None if its timestamp is missing or wrong."""
        if self.written_ms is None or self.wrong_time(now_ms) is not None:
            return None
        return max(0, now_ms - self.written_ms)

    def wrong_time(self, now_ms: int) -> str | None:
        """Why its age is not known; None if it is known, or there is no record."""
        if self.offset is None:
            return None
        if self.written_ms is None:
            return "the first unread record has no timestamp"
        if self.written_ms < _FIRST_RELEASE_MS <= now_ms:
            return (
                f"the first unread record has the time {format_moment(self.written_ms)}, before Kafka existed"
            )
        ahead_ms = self.written_ms - now_ms
        if ahead_ms > CLOCKS_DIFFER_MS:
            return f"the first unread record has a time in the future, by {duration_text(ahead_ms)}"
        return None


class Readable(NamedTuple):
    """What a consumer can read of a partition from a committed offset. None means unknown."""

    lost: int | None = None
    """The number of offsets that were deleted unread: they are below the log start."""
    most: int | None = None
    """The maximum number of records that are left to read, including those of open transactions. 0 is exact; other
    numbers include markers, gaps and aborted records after the first unread record."""
    least: int = 0
    """The number of records that are certain: a record was found, or none."""
    held: int | None = None
    """How many of `most` consumers with `read_committed` get only after an open transaction has ended."""
    aborted: int = 0
    """The number of records of aborted transactions before the first unread record, or the end: only
    `read_uncommitted` returns them."""

    @property
    def is_held(self) -> bool:
        """Whether everything that is left waits for the end of an open transaction."""
        return bool(self.most) and self.held == self.most


def readable(
    committed: int | None,
    *,
    start: int | None,
    stable: int | None,
    end: int | None,
    next_record: NextRecord | None = None,
) -> Readable:
    """What can be read from a committed offset; None or a negative offset: nothing is committed."""
    if committed is None or committed < 0:
        return Readable()
    lost = None if start is None else max(0, start - committed)
    position = committed + (lost or 0)
    if end is None:
        return Readable(lost)
    aborted = 0
    if next_record is not None:
        aborted = next_record.aborted
        if next_record.offset is None and not next_record.is_unknown:
            return Readable(lost, 0, 0, 0, aborted)
        position = max(position, next_record.offset or next_record.searched_to or 0)
    most = max(0, end - position)
    held = None if stable is None else max(0, end - max(position, stable))
    is_certain = next_record is not None and next_record.offset is not None
    return Readable(lost, most, int(is_certain and most > 0), held, aborted)
