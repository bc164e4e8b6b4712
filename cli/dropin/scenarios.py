"""The new offsets of a group's partitions, in the tool's order and with its remarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cli.dropin.errors import BadValue, ToolUsageError
from cli.dropin.java_maps import in_order, in_order_copied
from cli.dropin.logs import Logs
from cli.dropin.options import Options
from cli.dropin.parse import SCENARIOS
from cli.dropin.words import print_warning
from groups.offsets.model import Place
from groups.offsets.scenarios import TooLong, ago_ms, name_of, parse_datetime, parse_duration_ns

Offsets = Mapping[Place, int]

_LATEST_MOMENT_MS = 2**63 - 1
_EARLIEST_INSTANT_S, _LATEST_INSTANT_S = -31557014167219200, 31556889864403199
"""The range of Java's `Instant`, in seconds from 1970."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One group, and where it is to be set."""

    places: Sequence[Place]
    """What the scope means, in the tool's order; all of them exist."""
    logs: Logs
    committed: Callable[[], Offsets]
    """What the group has committed."""
    planned: Callable[[], Offsets]
    """What `--from-file` has for it."""


def new_offsets(options: Options, target: Target) -> dict[Place, int]:
    """By partition, in the order in which the tool prints them.

    :raises ToolUsageError: there is no scenario, or one that a partition does not allow
    :raises ToolFailure: it cannot be told
    """
    places, logs = target.places, target.logs
    if options.to_offset is not None:
        return _within_logs(dict.fromkeys(places, options.to_offset), logs)
    if options.to_earliest:
        return _sorted(logs.earliest(places))
    if options.to_latest:
        return _sorted(logs.ends(places))
    if options.shift_by is not None:
        return _within_logs(_shifted(places, target.committed(), options.shift_by), logs)
    if options.to_datetime is not None:
        return _at(places, _moment(options.to_datetime), logs)
    if options.by_duration is not None:
        return _at(places, _ago(options.by_duration), logs)
    if options.from_file is not None:
        return _within_logs(target.planned(), logs)
    if options.to_current:
        return _current(places, target.committed(), logs)
    names = ", ".join(f"[{name}]" for name in SCENARIOS)
    raise ToolUsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")


def _sorted(offsets: Offsets) -> dict[Place, int]:
    return {place: offsets[place] for place in in_order(offsets)}


def _within_logs(wanted: Offsets, logs: Logs) -> dict[Place, int]:
    """What lies beyond the end becomes the end, what lies before the beginning the beginning, with a warning."""
    earliest, ends = logs.earliest(wanted), logs.ends(wanted)
    within: dict[Place, int] = {}
    for place, offset in _sorted(wanted).items():
        limit, which = offset, ""
        if offset > ends[place]:
            limit, which = ends[place], "higher than latest"
        elif offset < earliest[place]:
            limit, which = earliest[place], "lower than earliest"
        if which:
            print_warning(
                f"New offset ({offset}) is {which} offset for topic partition {name_of(place)}. "
                f"Value will be set to {limit}"
            )
        within[place] = limit
    return within


def _shifted(places: Sequence[Place], committed: Offsets, count: int) -> Offsets:
    for place in places:
        if place not in committed:
            raise ToolUsageError(
                f"Cannot shift offset for partition {name_of(place)} since there is no current committed offset"
            )
    return {place: committed[place] + count for place in places}


def _current(places: Sequence[Place], committed: Offsets, logs: Logs) -> dict[Place, int]:
    """What is committed stays; the rest goes to the end."""
    kept = in_order(place for place in places if place in committed)
    ends = logs.ends(in_order(place for place in places if place not in committed))
    order = in_order([*kept, *ends]) if kept else in_order_copied(ends)
    return {place: ends[place] if place in ends else committed[place] for place in order}


def _at(places: Sequence[Place], at_ms: int, logs: Logs) -> dict[Place, int]:
    """The first records at or after a moment, and the end where there is none."""
    found = logs.at(places, at_ms)
    late = in_order(place for place in places if found[place] < 0)
    for topic, partition in late:
        print(
            f"\nWarn: Partition {partition} from topic {topic} is empty. Falling back to latest known offset."
        )
    return _sorted({place: found[place] for place in places} | logs.ends(late))


def _moment(text: str) -> int:
    """`--to-datetime` in ms since 1970, with Java's words for what is no time."""
    parts = text.rstrip("T").split("T")
    if len(parts) < 2:
        raise BadValue(
            "java.text.ParseException: "
            "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"
        )
    try:
        return _no_earlier_than_1970(parse_datetime(text))
    except ValueError:
        zoned = text if any(sign in parts[1] for sign in "+-Z") else f"{text}Z"
        raise BadValue(f'java.text.ParseException: Unparseable date: "{zoned}"') from None


def _ago(text: str) -> int:
    """The moment that lies `--by-duration` before now."""
    try:
        at_ms = ago_ms(parse_duration_ns(text), time.time_ns() // 1_000_000)
    except ValueError as error:
        why = f": {error.what}" if isinstance(error, TooLong) else ""
        raise BadValue(f"Text cannot be parsed to a Duration{why}") from None
    if not _EARLIEST_INSTANT_S <= at_ms // 1000 <= _LATEST_INSTANT_S:
        raise BadValue("Instant exceeds minimum or maximum instant")
    if not -_LATEST_MOMENT_MS <= at_ms <= _LATEST_MOMENT_MS:
        raise BadValue("long overflow")
    return _no_earlier_than_1970(at_ms)


def _no_earlier_than_1970(at_ms: int) -> int:
    """No record is older; and what brokers read small negative times as is nothing of the kind."""
    return max(at_ms, 0)
