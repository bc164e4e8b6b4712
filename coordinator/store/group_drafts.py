"""What share and streams groups have in common while their records are replayed.

A group comes into being with the first value of any of its records, at group epoch 1 with an empty assignment of
epoch 1, and ends with the tombstone of its metadata. Other tombstones create nothing.

Source: GroupMetadataManager.getOrMaybeCreatePersistedShareGroup, getOrMaybeCreatePersistedStreamsGroup.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from assignors.java.hash_map import FIRST_SLOTS, grown_slots, timeline_order

M = TypeVar("M")
"""A member."""
T = TypeVar("T")
"""The target assignment of a member."""

Fields: TypeAlias = Mapping[str, Any]
"""Of a key or value, by Kafka's names."""

DELETED_EPOCH = -1
"""Of an assignment whose record was deleted, and of such a member."""


@dataclass(slots=True, kw_only=True)
class GroupDraft(Generic[M, T]):
    """A group so far."""

    id: str
    epoch: int = 1
    assignment_epoch: int = 1
    members: dict[str, M] = field(default_factory=dict)
    targets: dict[str, T] = field(default_factory=dict)
    capacity: int = FIRST_SLOTS
    """Slots of the map in which a broker keeps the members; they never become fewer."""

    def put(self, member_id: str, member: M) -> None:
        """Let a member in, or replace it."""
        # The broker's map makes room for one more even when it only replaces a member.
        self.capacity = grown_slots(self.capacity, len(self.members) + 1)
        self.members[member_id] = member

    def set_target(self, member_id: str, target: T | None) -> None:
        """Give a member a target, or take it away."""
        if target is None:
            self.targets.pop(member_id, None)
        else:
            self.targets[member_id] = target

    def in_order(self) -> Iterator[tuple[str, M]]:
        """The members as a broker walks through them."""
        members = list(self.members.items())
        order = timeline_order([name for name, _ in members], self.capacity) if members else []
        return (members[index] for index in order)


D = TypeVar("D")
Step: TypeAlias = Callable[[D, Fields, Fields | None], None]
"""Makes a record of an existing group true: draft, fields of the key, fields of the value (None: a tombstone)."""


class GroupDrafts(Generic[D]):
    """The groups of one type. `steps` by key type; the tombstone of key type `metadata` ends a group."""

    def __init__(self, new: Callable[[str], D], steps: Mapping[int, Step[D]], metadata: int) -> None:
        self._new, self._steps, self._metadata = new, steps, metadata
        self._by_id: dict[str, D] = {}

    def replay(self, key_type: int, key: Fields, value: Fields | None) -> None:
        """Make a record true; one of a key type of other groups is a mistake of the caller."""
        group_id: str = key["groupId"]
        draft = self._by_id.get(group_id)
        if draft is None:
            if value is None:
                return
            draft = self._by_id[group_id] = self._new(group_id)
        if key_type == self._metadata and value is None:
            del self._by_id[group_id]
            return
        self._steps[key_type](draft, key, value)

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._by_id

    def discard(self, group_id: str) -> None:
        """A group of another type has taken the id."""
        self._by_id.pop(group_id, None)


def target_metadata(draft: GroupDraft[Any, Any], _: Fields, value: Fields | None) -> None:
    """The step of the assignment epoch."""
    draft.assignment_epoch = DELETED_EPOCH if value is None else value["assignmentEpoch"]
