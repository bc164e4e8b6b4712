"""The orders in which a librdkafka leader walks members and topics.

Strings are compared as bytes of UTF-8 (Java compares UTF-16 units). Hash maps do not matter: RD_MAP iterates over its
entries from the newest to the oldest, whatever their hashes.

**Members** are compared by instance id if both are static, otherwise by member id. With static and dynamic members
this is not always an order: two static members can be ordered one way by instance id and the other way by member id,
with a dynamic member between them by member id. The result of the sort then depends on the C library's `qsort` and on
the order of the JoinGroup response. glibc's merge sort is assumed, and the result is reported as undetermined.

**Topics** of cooperative-sticky are in the order of the broker's Metadata response. The leader requests them in the
order in which the subscriptions first list them; the broker puts the names into Scala's immutable `Set`, which keeps
up to four in order and is a hash trie from five on.

Source: librdkafka 2.15 and 2.16, rd_kafka_group_member_cmp, rd_kafka_cgrp_handle_JoinGroup; Kafka 4.3
KafkaApis.handleTopicMetadataRequest and Scala 2.13 immutable.Set, HashSet, Hashing.improve.
"""

from collections.abc import Sequence
from dataclasses import replace

from assignors.java.hash_map import string_hashes
from assignors.model import DenseGroup, MemberSpec, Rows, Undetermined

MOST_TOPICS = 10_000
SCALA_SMALL_SET = 4
LEVEL_BITS, HASH_BITS = 5, 32
WORD = 0xFFFFFFFF

NO_MEMBER = -1  # the member of a partition that has none


def utf8(text: str) -> bytes:
    """The bytes that librdkafka compares. Broken UTF-16, which no broker sends, stays comparable."""
    return text.encode("utf-8", "surrogatepass")


def readable(member: MemberSpec) -> bool:
    """Whether the leader considers the member: members without topics, or with over 10,000, are skipped."""
    return 0 < len(member.topics) <= MOST_TOPICS


def without_unreadable(group: DenseGroup) -> DenseGroup:
    """The group with empty subscriptions for skipped members."""
    members = group.spec.members
    if all(readable(m) or not len(group.subscriptions[i]) for i, m in enumerate(members)):
        return group
    nothing = group.subscriptions.values[:0]
    rows = [group.subscriptions[i] if readable(m) else nothing for i, m in enumerate(members)]
    return replace(group, subscriptions=Rows.of(rows))


class MemberOrder:
    """The members sorted by glibc's `qsort` from the order of the spec."""

    def __init__(self, members: Sequence[MemberSpec]) -> None:
        self._ids = [utf8(member.id) for member in members]
        self._instances = [None if m.instance is None else utf8(m.instance) for m in members]
        self.all = self._sorted(range(len(members)))
        self.is_order = self.agrees(self.all)

    def of(self, members: Sequence[int]) -> list[int]:
        """Some members, given in the order of the spec, sorted among themselves."""
        if not self.is_order:
            return self._sorted(members)
        names = set(members)
        return [member for member in self.all if member in names]

    def agrees(self, order: Sequence[int]) -> bool:
        """Whether every pair is in the order of the comparison: then every sort has the same result."""
        last_static = last_dynamic = b""
        highest_static_id = b""
        for member in order:
            member_id, instance = self._ids[member], self._instances[member]
            if member_id < last_dynamic:
                return False
            if instance is None:
                if member_id < highest_static_id:
                    return False
                last_dynamic = member_id
            else:
                if instance < last_static:
                    return False
                last_static = instance
                highest_static_id = max(highest_static_id, member_id)
        return True

    def _sorted(self, members: Sequence[int]) -> list[int]:
        statics = sum(self._instances[member] is not None for member in members)
        if statics == 0:
            return sorted(members, key=self._ids.__getitem__)
        if statics == len(members):
            return sorted(members, key=lambda member: self._instances[member] or b"")
        return self._merge_sort(list(members))

    def _merge_sort(self, members: list[int]) -> list[int]:
        """glibc's msort: the first half is the smaller one, and wins ties."""
        if len(members) < 2:
            return members
        half = len(members) // 2
        left, right = self._merge_sort(members[:half]), self._merge_sort(members[half:])
        merged: list[int] = []
        i = j = 0
        while i < len(left) and j < len(right):
            if self._is_after(left[i], right[j]):
                merged.append(right[j])
                j += 1
            else:
                merged.append(left[i])
                i += 1
        return merged + left[i:] + right[j:]

    def _is_after(self, one: int, other: int) -> bool:
        mine, theirs = self._instances[one], self._instances[other]
        if mine is not None and theirs is not None:
            return mine > theirs
        return self._ids[one] > self._ids[other]


def no_order(members: Sequence[MemberSpec]) -> tuple[Undetermined, ...]:
    """Reports each static member of `members`, which have no order."""
    why = (
        "static members are ordered one way by instance id and the other way by member id, with a dynamic member in "
        "between: librdkafka's order depends on the leader's C library (assumed: glibc)"
    )
    return tuple(Undetermined(subject=m.id, why=why) for m in members if m.instance is not None)


def metadata_order(group: DenseGroup) -> list[int]:
    """Topics in the order of the broker's Metadata response to the leader."""
    index = group.topic_index
    asked = dict.fromkeys(name for m in group.spec.members if readable(m) for name in m.topics)
    return [index[name] for name in scala_set_order(list(asked)) if name in index]


def scala_set_order(names: Sequence[str]) -> list[str]:
    """The distinct names, added one at a time, in the iteration order of an immutable Set."""
    if len(names) <= SCALA_SMALL_SET:
        return list(names)
    hashes = [_improved(int(h) & WORD) for h in string_hashes(names).tolist()]
    return [names[i] for i in _trie_order(range(len(names)), hashes, 0)]


def _trie_order(members: Sequence[int], hashes: Sequence[int], shift: int) -> list[int]:
    """Iteration order of a node of Scala's hash trie: its own elements first, then its children."""
    if shift >= HASH_BITS:
        return list(members)
    slots: dict[int, list[int]] = {}
    for member in members:
        slots.setdefault((hashes[member] >> shift) & (2**LEVEL_BITS - 1), []).append(member)
    in_order = [slots[slot] for slot in sorted(slots)]
    order = [slot[0] for slot in in_order if len(slot) == 1]
    for slot in in_order:
        if len(slot) > 1:
            order += _trie_order(slot, hashes, shift + LEVEL_BITS)
    return order


def _improved(hash_: int) -> int:
    """scala.collection.Hashing.improve."""
    hash_ = (hash_ + (~(hash_ << 9) & WORD)) & WORD
    hash_ ^= hash_ >> 14
    hash_ = (hash_ + (hash_ << 4)) & WORD
    return hash_ ^ (hash_ >> 10)
