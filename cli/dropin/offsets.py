"""`--describe --offsets`, which is what `--describe` shows unless told otherwise."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cli.dropin.reading import Place, by_name
from cli.dropin.tables import or_missing, row, width_of
from cli.render.cells import MISSING
from groups.lag import lag_of
from groups.model import CommittedOffset, Group, Offsets, Partitions

_NUMBER = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """Some partitions of a group, and the member that has them; without a member all three are `-`."""

    places: Collection[Place]
    consumer: str = MISSING
    host: str = MISSING
    client: str = MISSING


def places_of(partitions: Partitions | Offsets) -> list[Place]:
    """Topics and partitions of an assignment, or of committed offsets."""
    return [(topic, number) for topic, numbers in partitions.items() for number in numbers]


def assigned(group: Group, committed: Offsets) -> list[Assigned]:
    """The members with partitions, those with most of them first, then what nobody has but was committed."""
    members = [
        Assigned(
            places=places_of(member.owned),
            consumer=member.id,
            host=member.client.host or "",
            client=member.client.id or "",
        )
        for member in group.members
        if member.owned
    ]
    members.sort(key=lambda member: -len(member.places))
    taken = {place for member in members for place in member.places}
    left = [place for place in places_of(committed) if place not in taken]
    return [member for member in (*members, Assigned(places=left)) if member.places]


def offset_table(
    group: str, rows: Sequence[Assigned], committed: Offsets, ends: Mapping[Place, int], *, verbose: bool
) -> list[str]:
    """The heading and a line for each partition."""
    names = [name for assigned in rows for name, _ in assigned.places]
    widths = [
        width_of([group]),
        width_of(set(names)),
        10,
        *[_NUMBER] * (4 if verbose else 3),
        width_of(assigned.consumer for assigned in rows),
        width_of(assigned.host for assigned in rows),
    ]
    headings = [
        "GROUP", "TOPIC", "PARTITION", *["LEADER-EPOCH"] * verbose, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG",
        "CONSUMER-ID", "HOST", "CLIENT-ID",
    ]  # fmt: skip
    lines = [row(headings, widths)]
    for each in rows:
        for topic, partition in sorted(each.places, key=lambda place: (by_name(place[0]), place[1])):
            offset = committed.get(topic, {}).get(partition)
            numbers = _numbers(offset, ends.get((topic, partition)), verbose)
            cells = [group, topic, str(partition), *numbers, each.consumer, each.host, each.client]
            lines.append(row(cells, widths))
    return lines


def _numbers(committed: CommittedOffset | None, end: int | None, verbose: bool) -> list[str]:
    """Leader epoch where `verbose`, committed offset, end and lag."""
    offset = None if committed is None else committed.offset
    numbers = [or_missing(number) for number in (offset, end, lag_of(committed, end))]
    epoch = None if committed is None else committed.leader_epoch
    return [or_missing(epoch), *numbers] if verbose else numbers
