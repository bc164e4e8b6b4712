"""Who leads the classic groups of a live cluster: read off their newest records in `__consumer_offsets`.

No API tells who leads a group. Its record does (key type 2, field `leader`), which a coordinator writes whenever a
rebalance is finished, when a static member is replaced, and when the last member has left. Group records are in no
transaction.

Source: GroupMetadataKey, GroupMetadataValue.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from cli.sources.newest_records import Found, Settings, Untold, read_newest
from coordinator.engine.records import ClassicGroupRecord
from coordinator.store.records import decode_record, encode_record
from groups.model import Group, GroupState
from wire.messages.reader import DecodeError
from wire.messages.record_codec import UnknownKeyType


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderRecord:
    """What the newest record of a group says; all None where it is a tombstone: there is no such classic group."""

    leader: str | None
    generation: int | None
    members: frozenset[str] = frozenset()


Told: TypeAlias = Mapping[str, LeaderRecord | Untold]
"""By group."""


def read_leaders(config: Settings, groups: Iterable[str], timeout_s: float) -> Told:
    """The newest record of each group, or why it could not be read; never raises for what a cluster answers.

    `config` may hold secrets. Takes at most `timeout_s` seconds and a little.
    """
    keys = {
        encode_record(ClassicGroupRecord(group=group, value=None))[0]: group for group in sorted(set(groups))
    }
    found = read_newest(config, keys, timeout_s)
    return {keys[key]: each if isinstance(each, Untold) else _decoded(each) for key, each in found.items()}


def with_leader(group: Group, told: LeaderRecord | Untold) -> Group:
    """A described group with what its record says.

    The generation is the record's only while nobody rebalances: it grows before the next record is written.
    """
    if isinstance(told, Untold):
        return replace(group, leader_problem=told.why)
    at_rest = group.state is GroupState.STABLE and told.leader in {member.id for member in group.members}
    generation = told.generation if group.generation is None and at_rest else group.generation
    members = tuple(replace(member, is_new=member.id not in told.members) for member in group.members)
    return replace(group, leader=told.leader, generation=generation, members=members)


def _decoded(found: Found) -> LeaderRecord | Untold:
    try:
        record = decode_record(found.key, found.value)
    except (DecodeError, UnknownKeyType) as error:
        return Untold(f"its record at offset {found.offset} cannot be read: {error}")
    value = record.value if isinstance(record, ClassicGroupRecord) else None
    if value is None:
        return LeaderRecord(leader=None, generation=None)
    return LeaderRecord(
        leader=value.leader,
        generation=value.generation,
        members=frozenset(member.member for member in value.members),
    )
