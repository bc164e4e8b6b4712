"""The start and end offsets of partitions, and their offsets at a time, from any source."""

from collections.abc import Mapping, Sequence

from cli.sources.live import LiveSource
from cli.sources.live_answers import in_lines
from cli.sources.permissions import READING, with_missing_operations
from cli.sources.source import Source
from groups.listing import Problem
from groups.model import TopicPartition, partition_name
from groups.offsets.model import Positions
from groups.trees import Partition
from wire.client.offsets import EARLIEST, LATEST, OffsetSpec


def positions_of(source: Source, places: Sequence[TopicPartition], at_ms: int | None) -> Positions:
    """Positions of existing partitions. Sources other than a live cluster know at most starts and ends."""
    if isinstance(source, LiveSource):
        return _live(source, places, at_ms)
    topics = source.topics({topic for topic, _ in places}, start_offsets=True, end_offsets=True).items
    return Positions(
        earliest=_known(places, {topic.name: topic.start_offsets or {} for topic in topics}),
        end=_known(places, {topic.name: topic.end_offsets or {} for topic in topics}),
    )


def unread_logs(positions: Positions) -> tuple[Problem, ...]:
    """The partitions whose positions could not be read, for a change that is possible without them."""
    return in_lines(
        [
            Problem(subject=partition_name(log), message=f"the start and end of its log are not known: {why}")
            for log, why in positions.unread.items()
        ]
    )


def _known(
    places: Sequence[TopicPartition], offsets: Mapping[str, Mapping[Partition, int | None]]
) -> dict[TopicPartition, int]:
    values = {partition: offsets.get(partition[0], {}).get(partition[1]) for partition in places}
    return {partition: offset for partition, offset in values.items() if offset is not None}


def _live(source: LiveSource, places: Sequence[TopicPartition], at_ms: int | None) -> Positions:
    # Every record is from 1970 or later, or has no time; brokers treat small negative times specially.
    moments = [] if at_ms is None else [OffsetSpec(max(at_ms, 0))]
    specs = [EARLIEST, LATEST, *moments]
    answers = source.offsets_at(places, specs)
    return Positions(
        earliest={partition: offsets[0] for partition, offsets in answers.found.items()},
        end={partition: offsets[1] for partition, offsets in answers.found.items()},
        at={partition: offsets[2] for partition, offsets in answers.found.items()} if moments else {},
        unread={
            partition: with_missing_operations(failure.name, failure.message, READING)
            for partition, failure in answers.failed.items()
        },
    )
