"""`weighted` and `weighted-cooperative`, the custom assignors of the stories: a member's share is its weight. The same
as java/WeightedAssignor.java, with the same bytes: user data are a version (int16) and, from version 2 on, a weight
(int32) and a note in UTF-8. The leader uses the lowest version of all members, which it sends to each, with the sum of
their weights and, as the note, the number of partitions of its share; from then on members send that version."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from unittest import mock

from assignors import registry
from assignors.assignor import Assignor, RebalanceProtocol, Side
from assignors.conversation import ApplicationState, GroupMetadata, MemberAssignment, MemberAssignor
from assignors.errors import AssignorFailedError
from assignors.model import DenseGroup, Result
from assignors.rules import from_named

NEWEST = 2
_VERSION = struct.Struct(">h")
_V2 = struct.Struct(">hi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a member sends; these defaults are of one whose bytes cannot be read."""

    version: int = NEWEST
    weight: int = 1
    note: str = ""

    @classmethod
    def read(cls, data: bytes | None) -> Load:
        try:
            (version,) = _VERSION.unpack_from(data or b"")
            if version < NEWEST:
                return cls(version=version)
            _, weight = _V2.unpack_from(data or b"")
            return cls(
                version=version, weight=weight, note=(data or b"")[_V2.size :].decode(errors="replace")
            )
        except struct.error:
            return cls()


class WeightedMember(MemberAssignor):
    """State: version, weight, note, throws (the name of a method), unreadable (whether it sends one byte)."""

    def __init__(self, state: ApplicationState) -> None:
        super().__init__(state)
        self.used = NEWEST

    def subscription_user_data(self, _topics: Sequence[str], /) -> bytes | None:
        self._maybe_throw("subscription_user_data")
        if self.state.get("unreadable") == "true":
            return b"\x07"
        version = min(int(self.state.get("version", NEWEST)), self.used)
        if version < NEWEST:
            return _VERSION.pack(version)
        note = self.state.get("note", "").encode()
        return _V2.pack(version, int(self.state.get("weight", 1))) + note

    def on_assignment(self, assignment: MemberAssignment, _group: GroupMetadata, /) -> None:
        self._maybe_throw("on_assignment")
        self.used = Load.read(assignment.user_data).version

    def _maybe_throw(self, method: str) -> None:
        if self.state.get("throws") == method:
            raise AssignorFailedError(f"{method} is to throw")


def assign(group: DenseGroup) -> Result:
    loads = {member.id: Load.read(member.user_data) for member in group.spec.members}
    if any(load.note == "refuse" for load in loads.values()):
        raise AssignorFailedError("assign is to throw")
    version = min(load.version for load in loads.values())
    weights = {member: load.weight if version >= NEWEST else 1 for member, load in loads.items()}
    named = _shares(group, weights)
    data = _VERSION.pack(version) if version < NEWEST else _V2.pack(version, sum(weights.values()))
    shares = {member: str(sum(map(len, topics.values()))).encode() for member, topics in named.items()}
    return Result(
        assignment=from_named("weighted", group, named),
        user_data={member: data if version < NEWEST else data + share for member, share in shares.items()},
    )


def assign_cooperatively(group: DenseGroup) -> Result:
    """Like `assign`, without partitions that another member still owns."""
    result = assign(group)
    owners = {
        (topic, number): member.id
        for member in group.spec.members
        for topic, numbers in member.owned.partitions.items()
        for number in numbers
    }
    named = {
        member: {
            topic: [number for number in numbers if owners.get((topic, number), member) == member]
            for topic, numbers in topics.items()
        }
        for member, topics in result.assignment.named().items()
    }
    return Result(assignment=from_named("weighted", group, named), user_data=result.user_data)


def _shares(group: DenseGroup, weights: Mapping[str, int]) -> dict[str, dict[str, list[int]]]:
    """Each partition, in order, to the subscriber that has the least for its weight; the first by id among equals."""
    counts = dict.fromkeys(sorted(weights), 0)
    named: dict[str, dict[str, list[int]]] = {member: {} for member in counts}
    subscribed = {member.id: member.topics for member in group.spec.members}
    for topic in sorted(group.spec.topics, key=lambda topic: topic.name):
        receivers = [member for member in counts if topic.name in subscribed[member]]
        for number in range(topic.partitions if receivers else 0):
            # Compared as (count + 1) / weight, in whole numbers.
            best = receivers[0]
            for member in receivers[1:]:
                if (counts[member] + 1) * weights[best] < (counts[best] + 1) * weights[member]:
                    best = member
            counts[best] += 1
            named[best].setdefault(topic.name, []).append(number)
    return named


WEIGHTED = Assignor(
    name="weighted",
    side=Side.CLIENT,
    leader=None,
    protocols=frozenset({RebalanceProtocol.EAGER}),
    assign=assign,
    at_member=WeightedMember,
    version=NEWEST,
)
WEIGHTED_COOPERATIVE = Assignor(
    name="weighted-cooperative",
    side=Side.CLIENT,
    leader=None,
    protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
    assign=assign_cooperatively,
    at_member=WeightedMember,
    version=NEWEST,
)


@contextmanager
def offered(*assignors: Assignor) -> Iterator[None]:
    """As if an installed package offered these assignors, without any: the two of this module."""
    loaded = {one.name: one for one in assignors or (WEIGHTED, WEIGHTED_COOPERATIVE)}
    points = [EntryPoint(name=name, value=name, group=registry.ENTRY_POINT_GROUP) for name in loaded]

    def entry_points(name: str | None = None, **_group: str) -> EntryPoints:
        return EntryPoints([point for point in points if name in (None, point.name)])

    with (
        mock.patch.object(registry, "entry_points", entry_points),
        mock.patch.object(EntryPoint, "load", lambda point: loaded[point.name]),
    ):
        yield
