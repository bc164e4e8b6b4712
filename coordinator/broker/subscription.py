"""What the members of a consumer group subscribe to, by name and by regex, and what that comes to.

A regex that has not been resolved yet matches nothing.

Source: KIP-848 "Regular Expression based Subscription"; modern.consumer.ConsumerGroup.subscriptionType,
coordinator.group.Utils.computeGroupHash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from coordinator.broker.consumer_member import ConsumerMember
from coordinator.broker.records import ConsumerMemberValue, RegexValue
from coordinator.broker.topics import TopicImage, TopicInfo


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
    """A 64-bit fingerprint of the subscribed topics that exist: ids, names, partition counts and racks.

    0 when there are none. Kafka takes XXH3; it is compared with itself alone, so ours may be another function.
    """
    existing = [image.topics[name] for name in sorted(names) if name in image.topics]
    if not existing:
        return 0
    digest = hashlib.blake2b(digest_size=8)
    for topic in existing:
        _feed(digest, topic)
    return int.from_bytes(digest.digest(), "big", signed=True)


def _feed(digest: hashlib.blake2b, topic: TopicInfo) -> None:
    racks = [sorted(partition) for partition in topic.racks]
    digest.update(repr((topic.name, topic.id.int, topic.partitions, racks)).encode())
