"""What the members of a consumer group subscribe to, by name and by regex, and what that comes to.

A regex that has not been resolved yet matches nothing.

Source: KIP-848 "Regular Expression based Subscription"; modern.consumer.ConsumerGroup.subscriptionType,
coordinator.group.Utils.computeGroupHash.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from xxhash import xxh3_64_intdigest

from assignors.java.java_order import utf16
from coordinator.engine.consumer_member import ConsumerMember
from coordinator.engine.records import ConsumerMemberValue, RegexValue
from coordinator.engine.topics import TopicImage


def names_of(metadata: ConsumerMemberValue, regexes: Mapping[str, RegexValue]) -> frozenset[str]:
    """The topic names that a member subscribes to, existing or not."""
    resolved = regexes.get(metadata.regex) if metadata.regex else None
    return frozenset(metadata.topics) if resolved is None else frozenset((*metadata.topics, *resolved.topics))


def subscribed_names(members: Iterable[ConsumerMember], regexes: Mapping[str, RegexValue]) -> frozenset[str]:
    """The topic names that some member subscribes to."""
    names: set[str] = set()
    used: set[str] = set()
    for member in members:
        names.update(member.metadata.topics)
        used.add(member.metadata.regex)
    for regex in used & regexes.keys():
        names.update(regexes[regex].topics)
    return frozenset(names)


def is_homogeneous(members: Iterable[ConsumerMember]) -> bool:
    """Whether the broker takes all subscriptions for equal: the same names and no regex, or one regex and no name.

    Not the same question as whether they are equal: a name beside a regex is enough to make it say no.
    """
    everybody = list(members)
    used = {member.metadata.regex for member in everybody}
    named = {member.metadata.topics for member in everybody}
    if used <= {""}:
        return len(named) <= 1
    return len(used) == 1 and named == {()}


def metadata_hash(names: Iterable[str], image: TopicImage) -> int:
    """What the subscribed topics that exist come to, in 64 bits, signed; 0 when there are none.

    Two coordinators that know the same topics have the same number, whichever of them wrote it down.

    Source: coordinator.group.Utils.computeGroupHash: XXH3 of the topics' own hashes in the order of their names.
    """
    topics = [image.topics[name] for name in sorted(names, key=utf16) if name in image.topics]
    if not topics:
        return 0
    unsigned = xxh3_64_intdigest(struct.pack(f"<{len(topics)}Q", *(topic.metadata_hash for topic in topics)))
    return unsigned - (1 << 64) if unsigned >> 63 else unsigned
