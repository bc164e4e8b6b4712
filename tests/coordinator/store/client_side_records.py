"""Records of consumer groups with client-side assignors, for which Kafka's record types have no fields."""

from __future__ import annotations

from dataclasses import replace

from coordinator.engine.records import (
    ClientAssignor,
    ClientMetadata,
    ConsumerMemberRecord,
    CurrentAssignmentRecord,
    Payload,
    Record,
    TargetMemberRecord,
)

ASSIGNORS = (
    ClientAssignor(
        name="mine", maximum_version=2, reason=1, metadata=ClientMetadata(version=1, data=b"hello")
    ),
    ClientAssignor(name="other", minimum_version=-1),
)
PAYLOAD = Payload(error=3, metadata=ClientMetadata(version=-1, data=b"you"))


def with_client_side(record: Record) -> Record:
    """The record of a member of a group with client-side assignors."""
    if isinstance(record, ConsumerMemberRecord) and record.value is not None:
        return replace(record, value=replace(record.value, client_assignors=ASSIGNORS))
    if isinstance(record, CurrentAssignmentRecord) and record.value is not None:
        return replace(record, value=replace(record.value, payload=PAYLOAD))
    return replace(record, payload=PAYLOAD) if isinstance(record, TargetMemberRecord) else record
