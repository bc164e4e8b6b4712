"""What a broker reads of the metadata that members of protocol type `consumer` send to each other."""

from __future__ import annotations

from collections.abc import Iterable

from wire.messages.byte_cursor import ByteCursor, MalformedMetadata


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """The topics that members subscribe to; None as soon as the metadata of one cannot be read.

    Only the fields of version 0 are looked at, as ClassicGroup.computeSubscribedTopics does. Metadata that lie about
    a length make Kafka 4.3 fail (and leave the group stuck); here they are metadata that cannot be read.
    """
    topics: set[str] = set()
    for data in metadata:
        cursor = ByteCursor(data)
        try:
            cursor.int16("the version")
            topics.update(cursor.strings("the topics"))
            cursor.nullable_bytes("the user data")
        except MalformedMetadata:
            return None
    return frozenset(topics)
