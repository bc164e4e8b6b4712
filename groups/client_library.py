"""The client library of a member, and the librdkafka that bindings bundle, read from each release (tags, npm, PyPI)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from groups.model import Member
from wire.suggestion import did_you_mean

Numbers = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """A package that bundles librdkafka or is linked with it."""

    name: str
    also: tuple[str, ...] = ()  # its other names
    has_its_number: bool = False  # a release has its librdkafka's number, except those in `releases`
    releases: Mapping[str, str] = field(default_factory=dict)
    """The librdkafka that a release and later ones bundle; with `has_its_number`, that release alone."""
    last: str | None = None  # the newest release for which `releases` was checked
    source: str


BINDINGS = (
    Binding(name="confluent-kafka-python", also=("confluent-kafka",), has_its_number=True,
        releases={"2.6.2": "2.6.1", "2.7.0": "2.6.1", "2.8.2": "2.8.0", "2.9.0": "2.8.0", "2.12.2": "2.12.1",
            "2.16.1": "2.16.0"},
        last="2.16.1",
        source="CHANGELOG of confluent-kafka-python 2.15.0; libversion() of the wheels of 2.12.2, 2.13.2 and 2.16.1"),
    Binding(name="confluent-kafka-dotnet", also=("confluent.kafka",), has_its_number=True,
        releases={
            "1.4.3": "1.4.2", "1.6.2": "1.6.1", "1.6.3": "1.6.1", "1.8.1": "1.8.0", "1.9.3": "1.9.2",
            "2.5.1": "2.5.0", "2.5.2": "2.5.0", "2.9.0": "2.8.0", "2.13.1": "2.13.0",
        },
        last="2.15.0", source="librdkafka.redist in Confluent.Kafka.csproj of each tag, 1.4.3 to 2.15.0"),
    Binding(name="confluent-kafka-go", has_its_number=True,
        releases={"2.5.4": "2.5.3", "2.13.3": "2.13.2"},
        last="2.15.0",
        source="CHANGELOG of confluent-kafka-go 2.15.0, RD_KAFKA_VERSION in kafka/librdkafka_vendor/rdkafka.h"),
    Binding(name="confluent-kafka-javascript", also=("@confluentinc/kafka-javascript",),
        releases={
            "0.2.0": "2.5.3", "0.3.0": "2.6.0", "0.5.0": "2.6.1", "1.2.0": "2.8.0", "1.3.0": "2.10.0",
            "1.3.2": "2.10.1", "1.4.0": "2.11.0", "1.4.1": "2.11.1", "1.6.0": "2.12.0", "1.7.0": "2.12.1",
            "1.8.0": "2.13.0", "1.8.2": "2.13.2", "1.9.0": "2.14.0", "1.9.1": "2.14.2", "1.10.0": "2.15.0",
            "1.10.1": "2.15.1",
        },
        last="1.10.1", source="`librdkafka` in package.json of each tag, and of 1.10.1 on npm"),
    Binding(name="node-rdkafka",
        releases={
            "2.10.0": "1.5.2", "2.10.1": "1.5.3", "2.11.0": "1.6.1", "2.12.0": "1.7.0", "2.13.0": "1.8.2",
            "2.14.0": "1.9.2", "2.15.0": "2.0.2", "2.16.0": "2.1.1", "2.17.0": "2.2.0", "2.18.0": "2.3.0",
            "3.1.0": "2.5.0", "3.1.1": "2.5.3", "3.2.0": "2.6.0", "3.2.1": "2.6.1", "3.3.0": "2.8.0",
            "3.4.0": "2.10.0", "3.4.1": "2.10.1", "3.5.0": "2.11.1", "3.6.0": "2.12.0",
        },
        last="3.6.1", source="`librdkafka` in package.json of each tag, and of 3.6.1 on npm"),
    Binding(name="rdkafka-ruby",
        releases={
            "0.12.0": "1.9.0", "0.13.0": "2.0.2", "0.14.0": "2.2.0", "0.15.0": "2.3.0", "0.17.0": "2.4.0",
            "0.18.0": "2.5.0", "0.19.0": "2.5.3", "0.20.0": "2.6.1", "0.21.0": "2.8.0", "0.23.0": "2.11.0",
            "0.24.0": "2.11.1", "0.25.0": "2.12.1", "0.26.0": "2.13.2", "0.27.0": "2.14.0", "0.28.0": "2.14.1",
            "0.29.0": "2.14.2",
        },
        last="0.29.0", source="LIBRDKAFKA_VERSION in lib/rdkafka/version.rb of each tag"),
    Binding(name="karafka-rdkafka",
        releases={
            "0.12.0": "1.9.0", "0.12.1": "2.0.2", "0.13.2": "2.1.1", "0.13.3": "2.2.0", "0.14.0": "2.3.0",
            "0.16.0": "2.4.0", "0.17.0": "2.5.0", "0.17.4": "2.5.3", "0.18.0": "2.6.1", "0.19.0": "2.8.0",
        },
        last="0.19.5", source="CHANGELOG of karafka-rdkafka 0.19.5"),
    Binding(name="azure-functions-kafka", also=("microsoft.azure.webjobs.extensions.kafka",),
        releases={"3.2.0": "1.5.2", "3.3.1": "1.6.1", "3.6.0": "1.9.0", "4.0.0": "2.4.0"},
        last="4.3.2", source="Confluent.Kafka in the extension's csproj of each tag, and what that bundles"),
    Binding(name="rdkafka-sys", also=("rust-rdkafka",),
        source="the crate's version ends in +LIBRDKAFKA; rust-rdkafka takes any rdkafka-sys of the same major version"),
    Binding(name="php-rdkafka", source="the extension is linked with the system's librdkafka"),
)  # fmt: skip

_BINDINGS_BY_NAME = {name: binding for binding in BINDINGS for name in (binding.name, *binding.also)}


def binding_named(name: str) -> Binding | None:
    return _BINDINGS_BY_NAME.get(name.strip().lower())


_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)", re.IGNORECASE | re.ASCII)
_NAMED = re.compile(r"librdkafka-v?(\d+(?:\.\d+)*)", re.IGNORECASE | re.ASCII)
_AFTER_PLUS = re.compile(r"\+v?(\d+(?:\.\d+)+)", re.ASCII)


def bundled(binding: Binding, version: str) -> str | None:
    """A release's librdkafka version, or None; a shorter one (`3.6`) is known if all its releases bundle the same."""
    named = _NAMED.search(version) or _AFTER_PLUS.search(version)
    if named:
        return named.group(1)
    match = _NUMBERS.match(version.strip())
    if match is None:
        return None
    asked = _numbers(match.group(1))
    if binding.last is None:
        return None
    is_newer = asked > _numbers(binding.last)[: len(asked)]
    if binding.has_its_number:
        release = binding.last if is_newer else match.group(1)
        return binding.releases.get(release, release)
    if is_newer:
        return None
    versions = {librdkafka for since, librdkafka in _around(binding, asked)}
    return versions.pop() if len(versions) == 1 else None


def _around(binding: Binding, asked: Numbers) -> Iterator[tuple[Numbers, str]]:
    """The entry that applies to a version, and all later entries that start with its numbers."""
    entries = sorted((_numbers(since), librdkafka) for since, librdkafka in binding.releases.items())
    first = (*asked, *(0,) * (3 - len(asked)))
    yield from [entry for entry in entries if entry[0] <= first][-1:]
    yield from (entry for entry in entries if entry[0] > first and entry[0][: len(asked)] == asked)


def first_with(binding: Binding, librdkafka: Numbers) -> str | None:
    """The first release that bundles this librdkafka or a later one; None if no such release is known."""
    if binding.has_its_number:
        return ".".join(map(str, librdkafka))
    enough = [since for since, bundles in binding.releases.items() if _numbers(bundles) >= librdkafka]
    return min(enough, key=_numbers, default=None)


def _numbers(text: str) -> Numbers:
    return tuple(map(int, text.split(".")))


LIBRARIES = (
    "java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka", "kafkajs", "kafka-go", "connect",
    "dekaf", "platformatic-kafka", "brod", "rskafka",
)  # fmt: skip

MIXING = frozenset({"java", "connect", "franz-go"})
"""Libraries that accept eager and cooperative assignors in one list, as two rolling bounces need (KIP-429)."""

_ALIASES = {
    **dict.fromkeys(_BINDINGS_BY_NAME, "librdkafka"),
    "rdkafka": "librdkafka",
    "kafka-clients": "java",
    "apache-kafka-java": "java",
    "spring-kafka": "java",
    "kafka-connect": "connect",
    "segmentio/kafka-go": "kafka-go",
    "@platformatic/kafka": "platformatic-kafka",
}

_ASSIGNORS_OF = {"connect": "java"}  # of Connect's sink tasks, which have Java's consumers
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
    (r"dekaf-consumer", "dekaf"),
    # coordinator_id() of brod_group_coordinator.erl: node()/self()
    (r"'?[^/']+@[^/']+'?/<\d+\.\d+\.\d+>", "brod"),
    # kafka.DefaultClientID of conn.go: program@host
    (r".*@.* \(github\.com/segmentio/kafka-go\)", "kafka-go"),
)  # of consumers, as the libraries' source generates them
_FROM_IDS = tuple(
    (re.compile(client), re.compile(f"(?:{client})-{_UUID}"), name) for client, name in _DEFAULT_CLIENT_IDS
)


NOT_KNOWN = "not known"  # `known_by` of a member if nothing suggests its library


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLibrary:
    """A library's name, None when unknown, and the source of that knowledge."""

    name: str | None
    known_by: str
    is_inferred: bool = False  # whether only an id suggests the library; an operator may have chosen that id


def assignors_of(library: str) -> str:
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
    """Whether it ends in the instance id, as Java's default id (ConsumerConfig.maybeOverrideClientId)."""
    client = member.client.id or ""
    return bool(member.instance) and client.startswith("consumer-") and client.endswith(f"-{member.instance}")


def library_of_all(members: Iterable[Member]) -> KnownLibrary:
    """The library of all members whose library is known; None if no library is known or they differ."""
    libraries = sorted(map(library_of, members), key=lambda library: not library.is_inferred)
    known = {library.name: library for library in libraries if library.name}
    if len(known) == 1:
        return next(iter(known.values()))
    if known:
        runs = " and ".join(sorted(filter(None, known)))
        return KnownLibrary(name=None, known_by=f"the members run {runs}")
    return KnownLibrary(name=None, known_by="the members' library is not known")
