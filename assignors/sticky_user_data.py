"""The user data of sticky assignors, which claims the member's last assignment: partitions by topic, then (V1) their
generation. Java's cooperative-sticky sends the generation alone. Source: StickyAssignor, CooperativeStickyAssignor
(Kafka 4.3.1); rd_kafka_sticky_assignor_get_metadata (librdkafka 2.16)."""

import struct
from collections.abc import Sequence

from assignors.conversation import (
    ApplicationState,
    AssignorMetadata,
    GroupMetadata,
    MemberAssignment,
    MemberAssignor,
)
from assignors.model import NO_GENERATION, Claim

_INT = struct.Struct(">i")
_SHORT = struct.Struct(">h")


def write_claim(claim: Claim) -> bytes:
    """V1, or V0 without a generation."""
    fields = [_INT.pack(len(claim.partitions))]
    for topic, numbers in claim.partitions.items():
        name = topic.encode()
        size = len(name)
        fields.append(struct.pack(f">h{size}si{len(numbers)}i", size, name, len(numbers), *numbers))
    if claim.generation != NO_GENERATION:
        fields.append(_INT.pack(claim.generation))
    return b"".join(fields)


def read_claim(data: bytes) -> Claim:
    """The claim; an empty one if the bytes cannot be read, and no generation in V0, as in Java."""
    partitions: dict[str, tuple[int, ...]] = {}
    try:
        (topics,), at = _INT.unpack_from(data), _INT.size
        if topics < 0:
            return Claim()
        for _ in range(topics):
            (size,) = _SHORT.unpack_from(data, at)
            start = at + _SHORT.size
            at = start + size
            (count,) = _INT.unpack_from(data, at)
            if size < 0 or count < 0:
                return Claim()
            topic = data[start:at].decode(errors="replace")
            numbers = struct.unpack_from(f">{count}i", data, at + _INT.size)
            at += _INT.size * (count + 1)
            partitions[topic] = partitions[topic] + numbers if topic in partitions else numbers
    except struct.error:
        return Claim()
    return Claim(partitions=partitions, generation=read_generation(data[at:]))


def write_generation(generation: int) -> bytes:
    return _INT.pack(generation)


def read_generation(data: bytes | None) -> int:
    """The generation that the bytes begin with; NO_GENERATION if there are too few."""
    if data is None or len(data) < _INT.size:
        return NO_GENERATION
    return int(_INT.unpack_from(data)[0])


class StickyMember(MemberAssignor):
    """`sticky`: claims the last assignment."""

    _last: bytes | None = None

    def subscription_user_data(self, _topics: Sequence[str], /) -> bytes | None:
        return self._last

    def metadata(self, _topics: Sequence[str], /) -> AssignorMetadata:
        return AssignorMetadata()  # The coordinator knows what members own.

    def on_assignment(self, assignment: MemberAssignment, group: GroupMetadata, /) -> None:
        self._last = write_claim(Claim(partitions=assignment.partitions, generation=group.generation))


class CooperativeMember(MemberAssignor):
    """Java's `cooperative-sticky`: the generation, for leaders that read no newer subscription than version 1."""

    def __init__(self, state: ApplicationState) -> None:
        super().__init__(state)
        self._generation = NO_GENERATION

    def subscription_user_data(self, _topics: Sequence[str], /) -> bytes | None:
        return write_generation(self._generation)

    def metadata(self, _topics: Sequence[str], /) -> AssignorMetadata:
        return AssignorMetadata()  # The coordinator knows what members own.

    def on_assignment(self, _assignment: MemberAssignment, group: GroupMetadata, /) -> None:
        self._generation = group.generation
