"""The target of a reset: the scenario that the flags name, with the tool's remarks on the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cli.dropin.cluster import WRAPPED, raise_failure
from cli.dropin.errors import BadValue, ToolUsageError
from cli.dropin.parse import SCENARIOS, Options
from cli.dropin.printing import print_warning
from groups.model import CommittedOffset, TopicPartition, partition_name
from groups.offsets.model import OffsetChange, Positions
from groups.offsets.scenarios import (
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToListed,
    ToOffset,
    ToTime,
    reset,
)
from groups.times import DurationTooLong, ago_ms, read_java_duration_ns, read_java_moment
from wire.client.cluster import KafkaClient
from wire.client.offsets import EARLIEST, LATEST, OffsetSpec, offsets_at

Offsets = Mapping[TopicPartition, int]

_LATEST_MOMENT_MS = 2**63 - 1
_EARLIEST_INSTANT_S, _LATEST_INSTANT_S = -31557014167219200, 31556889864403199
"""The range of Java's `Instant`, in seconds from 1970."""


def scenario_of(options: Options, planned: Callable[[], Mapping[str, Offsets]]) -> Scenario:
    """The scenario of a command line; `planned` reads the offsets of `--from-file` by group.

    :raises ToolUsageError: no scenario is given :raises BadValue: a time or duration cannot be read
    """
    if options.to_offset is not None:
        return ToOffset(options.to_offset)
    if options.to_earliest:
        return ToEarliest()
    if options.to_latest:
        return ToLatest()
    if options.shift_by is not None:
        return ShiftBy(options.shift_by)
    if options.to_datetime is not None:
        return ToTime(_moment(options.to_datetime))
    if options.by_duration is not None:
        return ToTime(_ago(options.by_duration))
    if options.from_file is not None:
        return ToListed(planned())
    if options.to_current:
        return ToCurrent()
    names = ", ".join(f"[{name}]" for name in SCENARIOS)
    raise ToolUsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")


@dataclass(frozen=True, slots=True)
class PartitionLogs:
    """The logs of one cluster."""

    client: KafkaClient

    def positions(self, scenario: Scenario, places: Sequence[TopicPartition]) -> Positions:
        """The log start and end offsets, and the offsets at the scenario's time. ToolFailure if any is unknown."""
        return Positions(
            earliest=self._offsets(places, EARLIEST),
            end=self._offsets(places, LATEST),
            at=self._offsets(places, OffsetSpec(scenario.at_ms)) if isinstance(scenario, ToTime) else {},
        )

    def _offsets(self, places: Sequence[TopicPartition], spec: OffsetSpec) -> dict[TopicPartition, int]:
        if not places:
            return {}
        answers = offsets_at(self.client, places, [spec])
        raise_failure(answers.failed.values(), prefix=WRAPPED)
        return {place: offset for place, (offset,) in answers.found.items()}


def new_offsets(
    scenario: Scenario, group: str, places: Sequence[TopicPartition], committed: Offsets, positions: Positions
) -> dict[TopicPartition, int]:
    """The new offset of each partition; warns if it is not the requested one.

    :raises ToolUsageError: there is nothing to shift
    """
    offsets: dict[TopicPartition, int] = {}
    for place in places:
        before = CommittedOffset(offset=committed[place]) if place in committed else None
        change = reset(scenario, group, place, before, positions)
        if not isinstance(change, OffsetChange):
            raise ToolUsageError(
                f"Cannot shift offset for partition {partition_name(place)} since there is no current committed offset"
            )
        offsets[place] = change.after
        _warn(scenario, group, change, positions)
    return offsets


def _warn(scenario: Scenario, group: str, change: OffsetChange, positions: Positions) -> None:
    place, wanted = change.place, change.after
    match scenario:
        case ToTime() if positions.at[place] < 0:
            print(
                f"\nWarn: Partition {place[1]} from topic {place[0]} is empty. "
                "Falling back to latest known offset."
            )
        case ToOffset(offset):
            wanted = offset
        case ShiftBy(count):
            wanted = (change.before or 0) + count
        case ToListed(offsets):
            wanted = offsets[group][place]
    if wanted != change.after:
        which = "higher than latest" if wanted > change.after else "lower than earliest"
        print_warning(
            f"New offset ({wanted}) is {which} offset for topic partition {partition_name(place)}. "
            f"Value will be set to {change.after}"
        )


def _moment(text: str) -> int:
    """`--to-datetime` in ms since 1970, with Java's words for an invalid time."""
    parts = text.rstrip("T").split("T")
    if len(parts) < 2:
        raise BadValue(
            "java.text.ParseException: "
            "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        )
    try:
        return _no_earlier_than_1970(read_java_moment(text))
    except ValueError:
        zoned = text if any(sign in parts[1] for sign in "+-Z") else f"{text}Z"
        raise BadValue(f'java.text.ParseException: Unparseable date: "{zoned}"') from None


def _ago(text: str) -> int:
    """The time `--by-duration` before now, in ms since 1970."""
    try:
        at_ms = ago_ms(read_java_duration_ns(text), time.time_ns() // 1_000_000)
    except ValueError as error:
        why = f": {error.what}" if isinstance(error, DurationTooLong) else ""
        raise BadValue(f"Text cannot be parsed to a Duration{why}") from None
    if not _EARLIEST_INSTANT_S <= at_ms // 1000 <= _LATEST_INSTANT_S:
        raise BadValue("Instant exceeds minimum or maximum instant")
    if not -_LATEST_MOMENT_MS <= at_ms <= _LATEST_MOMENT_MS:
        raise BadValue("long overflow")
    return _no_earlier_than_1970(at_ms)


def _no_earlier_than_1970(at_ms: int) -> int:
    """The time, at least 0: no record is older, and brokers treat small negative times specially."""
    return max(at_ms, 0)
