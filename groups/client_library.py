"""Which client library a member runs, as far as a group shows it.

What the source recorded wins; else the client id may tell, where it is a library's default one, or the member id
that was made from it. A client id that somebody chose tells nothing, and no answer is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from groups.model import Member

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

_NUMBERED_APART = frozenset({"node-rdkafka", "confluent-kafka-javascript"})
"""Bindings whose own versions say nothing of librdkafka's (node-rdkafka 3.6.1 holds librdkafka 2.12.0)."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DEFAULT_CLIENT_IDS = (
    (r"consumer-.+-\d+", "java"),
    (r"rdkafka", "librdkafka"),
    (r"kgo", "franz-go"),
    (r"kafka-python-[0-9.]+", "kafka-python"),
    (r"aiokafka-[0-9.]+", "aiokafka"),
    (r"sarama", "sarama"),
)
"""Client ids of consumers for which nobody chose one."""
_FROM_IDS = tuple(
    (re.compile(client), re.compile(f"{client}-{_UUID}"), name) for client, name in _DEFAULT_CLIENT_IDS
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


def tells_version(name: str, version: str) -> bool:
    """Whether a version that was given with a library or binding is that of the library."""
    return name.strip().lower() not in _NUMBERED_APART or "librdkafka-" in version


def library_of(member: Member) -> KnownLibrary:
    """The library of one member."""
    recorded = member.client.library
    if recorded is not None:
        try:
            return KnownLibrary(name=canonical_library(recorded), known_by="recorded in the source")
        except ValueError:
            return KnownLibrary(name=None, known_by=f"the source says {recorded!r}, which is not known")
    for client, made_of_it, name in _FROM_IDS:
        if made_of_it.fullmatch(member.id):
            return KnownLibrary(name=name, known_by="inferred from the member id")
        if client.fullmatch(member.client.id or ""):
            return KnownLibrary(name=name, known_by="inferred from the client id")
    if _is_static_java(member):
        return KnownLibrary(name="java", known_by="inferred from the client id")
    return KnownLibrary(name=None, known_by="not known")


def _is_static_java(member: Member) -> bool:
    """Java's default client id of a static member ends in its instance id (ConsumerConfig.maybeOverrideClientId)."""
    client = member.client.id or ""
    return bool(member.instance) and client.startswith("consumer-") and client.endswith(f"-{member.instance}")


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
