"""Records of consumer groups with client-side assignors, for which Kafka's record types have no fields."""

from dataclasses import replace

from coordinator.engine import records as engine

ASSIGNORS = (
    engine.ClientAssignor(
        name="mine", maximum_version=2, reason=1, metadata=engine.ClientMetadata(version=1, data=b"hello")
    ),
    engine.ClientAssignor(name="other", minimum_version=-1),
)
PAYLOAD = engine.Payload(error=3, metadata=engine.ClientMetadata(version=-1, data=b"you"))


def with_client_side(record: engine.Record) -> engine.Record:
    if isinstance(record, engine.ConsumerMemberRecord) and record.value is not None:
        return replace(record, value=replace(record.value, client_assignors=ASSIGNORS))
    if isinstance(record, engine.CurrentAssignmentRecord) and record.value is not None:
        return replace(record, value=replace(record.value, payload=PAYLOAD))
    return replace(record, payload=PAYLOAD) if isinstance(record, engine.TargetMemberRecord) else record
