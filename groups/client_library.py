"""The client library of a member, as far as the group's data show it.

The library that the source recorded takes precedence; otherwise a library's default client id, or the member id made
from it, suggests one. That is only inferred: an operator may have chosen the same id. A client id that no library
uses by default identifies no library, and the result is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from groups.bindings import NAMES as BINDING_NAMES
from groups.model import Member
from wire.suggestion import did_you_mean

LIBRARIES = (
    "java",
    "librdkafka",
    "franz-go",
    "sarama",
    "kafka-python",
    "aiokafka",
    "kafkajs",
    "kafka-go",
    "connect",
)

MIXING = frozenset({"java", "connect", "franz-go"})
"""Libraries that accept eager and cooperative assignors in one list, which the first of two rolling bounces needs
(KIP-429); the others refuse to start with such a list."""

_ALIASES = {
    **dict.fromkeys(BINDING_NAMES, "librdkafka"),
    "rdkafka": "librdkafka",
    "kafka-clients": "java",
    "apache-kafka-java": "java",
    "spring-kafka": "java",
    "kafka-connect": "connect",
    "segmentio/kafka-go": "kafka-go",
}

_ASSIGNORS_OF = {"connect": "java"}
"""The library whose assignors a library without its own uses: the consumers of Connect's sink tasks are Java's."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DEFAULT_CLIENT_IDS = (
    (r"consumer-.+-\d+", "java"),
    # tools.consumer.ConsoleConsumerOptions, tools.ConsumerPerformance
    (r"console-consumer|perf-consumer-client", "java"),
    # streams.processor.internals.StreamThread, ClientUtils.consumerClientId
    (r".+-StreamThread-\d+-consumer", "java"),
    # connect.runtime.Worker.SinkTaskBuilder: the connector's name and the task's number
    (r"connector-consumer-.+-\d+", "connect"),
    (r"rdkafka", "librdkafka"),
    (r"kgo", "franz-go"),
    (r"kafka-python-[0-9.]+", "kafka-python"),
    (r"aiokafka-[0-9.]+", "aiokafka"),
    (r"sarama", "sarama"),
    (r"kafkajs", "kafkajs"),
    # kafka.DefaultClientID of conn.go: program@host
    (r".*@.* \(github\.com/segmentio/kafka-go\)", "kafka-go"),
)
"""Default client ids of consumers, as the libraries' source generates them."""
_FROM_IDS = tuple(
    (re.compile(client), re.compile(f"(?:{client})-{_UUID}"), name) for client, name in _DEFAULT_CLIENT_IDS
)


NOT_KNOWN = "not known"
"""`known_by` of a member if nothing suggests its library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLibrary:
    """A library's name, None when unknown, and the source of that knowledge."""

    name: str | None
    known_by: str
    is_inferred: bool = False
    """Whether only an id suggests the library; an operator may have chosen that id."""


def assignors_of(library: str) -> str:
    """The library whose client-side assignors a member of this library runs."""
    return _ASSIGNORS_OF.get(library, library)


def canonical_library(name: str) -> str:
    """Find a library by its own name or a binding's, in any case; ValueError lists the names."""
    lower = name.strip().lower()
    lower = _ALIASES.get(lower, lower)
    if lower not in LIBRARIES:
        hint = did_you_mean(lower, sorted(LIBRARIES)) or f"; known: {', '.join(sorted(LIBRARIES))}"
        raise ValueError(f"unknown client library {name!r}{hint}")
    return lower


def library_of(member: Member) -> KnownLibrary:
    """The library of one member."""
    recorded = member.client.library
    if recorded is not None:
        try:
            return KnownLibrary(name=canonical_library(recorded), known_by="recorded in the source")
        except ValueError:
            return KnownLibrary(name=None, known_by=f"the source contains {recorded!r}, which is unknown")
    for client, made_of_it, name in _FROM_IDS:
        if made_of_it.fullmatch(member.id):
            return _inferred(name, "member id")
        if client.fullmatch(member.client.id or ""):
            return _inferred(name, "client id")
    if _is_static_java(member):
        return _inferred("java", "client id")
    return KnownLibrary(name=None, known_by=NOT_KNOWN)


def _inferred(name: str, of: str) -> KnownLibrary:
    return KnownLibrary(name=name, known_by=f"inferred from the {of}", is_inferred=True)


def _is_static_java(member: Member) -> bool:
    """Whether the client id is Java's default for static members, which ends in the instance id
    (ConsumerConfig.maybeOverrideClientId)."""
    client = member.client.id or ""
    return bool(member.instance) and client.startswith("consumer-") and client.endswith(f"-{member.instance}")


def library_of_all(members: Iterable[Member]) -> KnownLibrary:
    """The library of all members whose library is known; None if no library is known or they differ."""
    libraries = sorted(map(library_of, members), key=lambda library: not library.is_inferred)
    known = {library.name: library for library in libraries if library.name}
    if len(known) == 1:
        return next(iter(known.values()))
    if known:
        return KnownLibrary(
            name=None, known_by=f"the members run {' and '.join(sorted(filter(None, known)))}"
        )
    return KnownLibrary(name=None, known_by="the members' library is not known")
