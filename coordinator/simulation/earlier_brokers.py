"""Requests that brokers of earlier releases refuse and records that they cannot load, by the missing KIP or fix. In
all other respects these brokers behave as the current engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from coordinator.engine.calls import AnyRequest, Request
from coordinator.engine.classic.group import ClassicGroup
from coordinator.engine.consumer.group import ConsumerGroup
from coordinator.engine.consumer.member import stale_epoch
from coordinator.engine.engine import Engine
from coordinator.engine.offsets.commit import OffsetCommit
from coordinator.engine.records import ClassicGroupRecord, OffsetRecord, Record


class CannotBeLoaded(Exception):
    """An earlier broker cannot load a record of the log, and marks the partition as failed."""


Check: TypeAlias = Callable[[Engine, AnyRequest | Record], None]
"""Raises RequestRefused for a request that the earlier broker refuses, and CannotBeLoaded for a record, the next of
the log to be replayed, that it cannot load."""


def _check_commit_epoch(engine: Engine, request: AnyRequest | Record) -> None:
    """A commit must name the member's current epoch: ConsumerGroup.validateOffsetCommit of 4.0 to 4.2."""
    if not isinstance(request, OffsetCommit):
        return
    group = engine.state.groups.get(request.group)
    if not isinstance(group, ConsumerGroup) or not group.has_member(request.member):
        return
    member, epoch = group.members[request.member], request.generation_or_epoch
    if epoch != member.epoch:
        raise stale_epoch(member, f"epoch {epoch} does not match the expected member epoch {member.epoch}.")


def _check_no_simple_group(engine: Engine, record: AnyRequest | Record) -> None:
    """A group that exists only by its offsets cannot become a consumer group: Kafka before 3.9.

    The same holds for streams groups, until KAFKA-20254 (4.2).
    """
    group = _of_another_type(engine, record)
    if group is not None and _is_simple(group):
        raise CannotBeLoaded(f"Group {group.id} is not a consumer group")


def _check_no_classic_group(engine: Engine, record: AnyRequest | Record) -> None:
    """A classic group whose tombstone is missing cannot become a consumer group: Kafka up to 4.4."""
    group = _of_another_type(engine, record)
    if group is not None and not _is_simple(group):
        raise CannotBeLoaded(f"Group {group.id} is not a consumer group")


def _of_another_type(engine: Engine, record: AnyRequest | Record) -> ClassicGroup | None:
    """The classic group with the id of a consumer group's record, if there is one."""
    if isinstance(record, Request | OffsetRecord | ClassicGroupRecord):
        return None
    group = engine.state.groups.get(record.group)
    return group if isinstance(group, ClassicGroup) else None


def _is_simple(group: ClassicGroup) -> bool:
    """ClassicGroup.isSimpleGroup of a loaded group: no member has ever joined it."""
    return group.is_empty() and not group.protocol_type


LACKS: Mapping[str, Check] = {
    "KIP-1251": _check_commit_epoch,
    "KAFKA-17306": _check_no_simple_group,
    "KAFKA-21117": _check_no_classic_group,
}
"""By the names of the KIPs and fixes in a scenario (`without`)."""
