"""Which client library a member runs, as far as a group shows it.

What the source recorded wins; else the member id may tell, where it was made from a library's default client id.
A client id that somebody chose tells nothing, and no answer is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from coordinator.model import Member

LIBRARIES = ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka", "kafkajs")

_ALIASES = {
    "confluent-kafka": "librdkafka",
    "confluent-kafka-python": "librdkafka",
    "confluent-kafka-go": "librdkafka",
    "confluent-kafka-dotnet": "librdkafka",
    "confluent-kafka-javascript": "librdkafka",
    "node-rdkafka": "librdkafka",
    "rdkafka": "librdkafka",
    "kafka-clients": "java",
    "apache-kafka-java": "java",
    "spring-kafka": "java",
}

_FROM_IDS = (
    (re.compile(r"consumer-.+-\d+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "java"),
    (re.compile(r"rdkafka-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "librdkafka"),
    (re.compile(r"kgo-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "franz-go"),
    (re.compile(r"kafka-python-[0-9.]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "kafka-python"),
    (re.compile(r"aiokafka-[0-9.]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "aiokafka"),
    (re.compile(r"sarama-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "sarama"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLibrary:
    """A library's name, None when it cannot be told, and how it is known."""

    name: str | None
    known_by: str


def canonical_library(name: str) -> str:
    """A library by its own name or a binding's, in any case; ValueError lists the names."""
    lower = name.strip().lower()
    lower = _ALIASES.get(lower, lower)
    if lower not in LIBRARIES:
        raise ValueError(f"unknown client library {name!r}; known: {', '.join(sorted(LIBRARIES))}")
    return lower


def library_of(member: Member) -> KnownLibrary:
    """The library of one member."""
    recorded = member.client.library
    if recorded is not None:
        try:
            return KnownLibrary(name=canonical_library(recorded), known_by="recorded in the source")
        except ValueError:
            return KnownLibrary(name=None, known_by=f"the source says {recorded!r}, which is not known")
    for pattern, name in _FROM_IDS:
        if pattern.fullmatch(member.id):
            return KnownLibrary(name=name, known_by="inferred from the member id")
    return KnownLibrary(name=None, known_by="not known")


def library_of_all(members: Iterable[Member]) -> KnownLibrary:
    """The library that all members run whose library is known; None when there is none or they differ."""
    known = {library.name: library for library in map(library_of, members) if library.name}
    if len(known) == 1:
        return next(iter(known.values()))
    if known:
        return KnownLibrary(
            name=None, known_by=f"the members run {' and '.join(sorted(filter(None, known)))}"
        )
    return KnownLibrary(name=None, known_by="the members' library is not known")
