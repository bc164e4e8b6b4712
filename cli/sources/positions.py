"""Where the logs of partitions begin and end, and where they were at a moment, from any source."""

from __future__ import annotations

from collections.abc import Sequence

from cli.sources.live import LiveSource
from cli.sources.permissions import READING, worded
from cli.sources.source import Source
from groups.offsets.model import Place, Positions
from wire.client.offsets import EARLIEST, LATEST


def positions_of(source: Source, places: Sequence[Place], at_ms: int | None) -> Positions:
    """Of existing partitions. Sources other than a live cluster know ends at best, and nothing of times."""
    if isinstance(source, LiveSource):
        return _live(source, places, at_ms)
    topics = source.topics({topic for topic, _ in places}, end_offsets=True)
    ends = {
        (topic.name, number): end
        for topic in topics.items
        for number, end in (topic.end_offsets or {}).items()
        if end is not None
    }
    return Positions(end={place: ends[place] for place in places if place in ends})


def _live(source: LiveSource, places: Sequence[Place], at_ms: int | None) -> Positions:
    told: list[dict[Place, int]] = []
    unread: dict[Place, str] = {}
    # Every record is of 1970 or later, or of no time at all; a broker reads small negative times as something else.
    for moment in (EARLIEST, LATEST, *(() if at_ms is None else (max(at_ms, 0),))):
        answers = (source.client or source.admin).offsets_at(places, moment)
        told.append({place: log.offset for place, log in answers.found.items()})
        unread |= {
            place: worded(failure.name, failure.message, READING) for place, failure in answers.failed.items()
        }
    earliest, end, *at = told
    return Positions(earliest=earliest, end=end, at=at[0] if at else {}, unread=unread)
