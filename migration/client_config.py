"""The settings of a client's configuration file that a migration depends on.

Only settings that a rule or a rehearsal uses are kept, so that no secret can reach a message: a value of any other
key is dropped when the file is read. Which library the file is for shows in keys that only one library knows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wire.client.config.client_keys import ALL_KEYS, JAVA_KEYS, LIBRDKAFKA_KEYS, LIBRDKAFKA_OTHER_KEYS

STRATEGY = "partition.assignment.strategy"
PROTOCOL = "group.protocol"
REMOTE_ASSIGNOR = "group.remote.assignor"
LOCAL_ASSIGNORS = "group.local.assignors"
"""KIP-848's text has it; no release of any client does."""
SESSION_TIMEOUT = "session.timeout.ms"
HEARTBEAT_INTERVAL = "heartbeat.interval.ms"
OVERRIDE_POLICY = "connector.client.config.override.policy"
"""Which consumer settings the connectors of a Connect cluster may have: a worker's setting."""
MAX_IDLE = "connections.max.idle.ms"
MAX_POLL_INTERVAL = "max.poll.interval.ms"
METADATA_MAX_AGE = "metadata.max.age.ms"
OFFSET_RESET = "auto.offset.reset"
AUTO_COMMIT = "enable.auto.commit"
AUTO_COMMIT_INTERVAL = "auto.commit.interval.ms"

KEPT = frozenset(
    {
        STRATEGY,
        PROTOCOL,
        REMOTE_ASSIGNOR,
        LOCAL_ASSIGNORS,
        SESSION_TIMEOUT,
        HEARTBEAT_INTERVAL,
        MAX_IDLE,
        MAX_POLL_INTERVAL,
        METADATA_MAX_AGE,
        OFFSET_RESET,
        AUTO_COMMIT,
        AUTO_COMMIT_INTERVAL,
        "group.protocol.type",
        "group.id",
        "group.instance.id",
        "client.rack",
        OVERRIDE_POLICY,
    }
)
"""The settings whose values are kept, for rules and rehearsals. None of them is ever secret."""

_LEFTOVERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "consumer": {
        "java": (STRATEGY, HEARTBEAT_INTERVAL, SESSION_TIMEOUT),
        "connect": (STRATEGY, HEARTBEAT_INTERVAL, SESSION_TIMEOUT),
        "librdkafka": (STRATEGY, SESSION_TIMEOUT, HEARTBEAT_INTERVAL, "group.protocol.type"),
    },
    "classic": {"java": (REMOTE_ASSIGNOR,), "connect": (REMOTE_ASSIGNOR,)},
}
"""What each library refuses to start with under a protocol: Java's ConsumerConfig.checkUnsupportedConfigsPostProcess,
librdkafka's rd_kafka_conf_finalize (2.16.0 tried). librdkafka minds them even where they are empty."""

LIBRARIES_WITH_FILES = ("java", "librdkafka", "connect")
"""Libraries that are configured by Kafka's keys, which a file can contain unchanged."""

_JAVA_PACKAGE = "org.apache.kafka.clients.consumer."
JAVA_CLASSES = {
    f"{_JAVA_PACKAGE}RangeAssignor": "range",
    f"{_JAVA_PACKAGE}RoundRobinAssignor": "roundrobin",
    f"{_JAVA_PACKAGE}StickyAssignor": "sticky",
    f"{_JAVA_PACKAGE}CooperativeStickyAssignor": "cooperative-sticky",
}
"""Of Java's assignors, and the names that they have in the protocol."""
_LIBRDKAFKA_NAMES = frozenset({"range", "roundrobin", "cooperative-sticky"})
_LIBRDKAFKA_ALL = LIBRDKAFKA_KEYS | LIBRDKAFKA_OTHER_KEYS
_RECOGNIZED = ALL_KEYS | {LOCAL_ASSIGNORS, OVERRIDE_POLICY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting of the file as it counts: of a repeated key the last one."""

    key: str
    """Kafka's name."""
    written: str
    """The key as written in the file, which may have a prefix before Kafka's name."""
    value: str
    line: int | None

    @property
    def is_placeholder(self) -> bool:
        """Whether the value is filled in later, by Spring or a template: `${GROUP:payments}`, `{{ group }}`."""
        return any(mark in self.value for mark in ("${", "#{", "{{"))

    @property
    def place(self) -> str:
        """For messages: `session.timeout.ms (line 7)`."""
        return self.written if self.line is None else f"{self.written} (line {self.line})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """A configuration file, and whose it is."""

    name: str
    """The file, for messages."""
    settings: tuple[Setting, ...]
    library: str | None = None
    """The library that it is for: as declared, else as its keys show; None when unknown."""
    known_by: str = "no key that is specific to one library"
    member: str | None = None
    """The member (id, instance id or client id) whose file it is; None for all, or all of the library."""
    is_for_library: bool = False
    """Whether it was given as the file of all members of `library`."""

    @property
    def description(self) -> str:
        """The file and whose it is, as `--client-config` takes it."""
        owner = self.library if self.is_for_library else self.member
        return f"{owner}={self.name}" if owner else self.name

    def setting(self, key: str) -> Setting | None:
        """The setting of this name, None without a value."""
        return next((each for each in self.settings if each.key == key and each.value), None)

    @property
    def protocol(self) -> str:
        """The group protocol that a client with this file speaks; `classic` by default."""
        entry = self.setting(PROTOCOL)
        return entry.value.lower() if entry else "classic"

    @property
    def assignors(self) -> tuple[str, ...] | None:
        """The names of the listed assignors, preferred first; a class that is not Kafka's own by its class name.

        None where the file does not list any, and the library's default counts.
        """
        listed = self.setting(STRATEGY)
        if listed is None:
            return None
        names = (name.strip() for name in listed.value.split(","))
        return tuple(JAVA_CLASSES.get(name, name) for name in names if name)

    def leftovers(self, protocol: str) -> tuple[Setting, ...]:
        """What has to go before the client starts with this group protocol, in the order of the file."""
        by_library = _LEFTOVERS[protocol]
        keys = {key for keys in by_library.values() for key in keys}
        if self.library in LIBRARIES_WITH_FILES:
            keys = set(by_library.get(self.library, ()))
        empty_counts = self.library == "librdkafka"
        return tuple(each for each in self.settings if each.key in keys and (each.value or empty_counts))


def kafka_key(written: str) -> str | None:
    """Kafka's name in a key of a file: bare, or after a prefix (`consumer.`, `spring.kafka.consumer.properties.`),
    with Spring's dashes (`group-id`) or brackets (`properties[session.timeout.ms]`), or Python's underscores
    (`session_timeout_ms`); None when it holds none.
    """
    dotted = written.strip().replace("[", ".").replace("]", "")
    for spelling in (dotted, dotted.replace("-", ".").replace("_", ".")):
        parts = spelling.split(".")
        if _OTHERS & set(parts[:-1]):
            return None
        for start in range(len(parts)):
            name = ".".join(parts[start:])
            name = _SPRING.get(name, name) if "-" in written else name
            if name in _RECOGNIZED:
                return name
    return None


_OTHERS = frozenset({"zookeeper", "producer", "admin"})
"""Whose settings have the names of a consumer's too (`zookeeper.session.timeout.ms`)."""
_SPRING = {"heartbeat.interval": HEARTBEAT_INTERVAL}
"""Spring Boot's own names of settings (`spring.kafka.consumer.heartbeat-interval`)."""


def kept(entries: Iterable[tuple[str, str, int | None]]) -> Iterator[Setting]:
    """Of (key, value, line), the settings that rules use; of a repeated one the last, as every client reads it."""
    latest: dict[str, Setting] = {}
    for written, value, line in entries:
        key = kafka_key(written)
        if key in KEPT:
            latest[key] = Setting(key=key, written=written, value=value.strip(), line=line)
    yield from sorted(latest.values(), key=lambda each: each.line or 0)


Entry = tuple[str, str, int | None]
"""Key, value and line of a setting."""

_CONNECTS = re.compile(
    r"(?:.*\.)?(?:consumer\.override\..+|connector\.(?:class|client\.config\.override\.policy)|tasks\.max"
    r"|(?:config|offset|status)\.storage\.topic|offset\.storage\.file\.filename)"
)
"""Keys that only workers and connectors of Kafka Connect have."""
_OF_SINKS = re.compile(r"(?:.*\.)?consumer\.(?:override\.)?")
"""The prefixes of the settings of sink tasks' consumers: `consumer.` of a worker, `consumer.override.` of a connector,
and what is around them in a request for the REST API (`config.`)."""


def of_consumers(entries: Iterable[Entry], library: str | None) -> Iterator[Entry]:
    """The settings of a file that are its consumers': Connect's workers have a group, timeouts and a protocol too."""
    for entry in entries:
        if library != "connect" or _OF_SINKS.match(entry[0]) or kafka_key(entry[0]) == OVERRIDE_POLICY:
            yield entry


def library_by_keys(entries: Sequence[Entry]) -> tuple[str | None, str]:
    """The library that a file is for and what shows it; None and why it is unknown."""
    only: dict[str, str] = {}
    connects = next((written for written, _, _ in entries if _CONNECTS.fullmatch(written)), None)
    if connects is not None:
        return "connect", f"{connects} is Connect's"
    for written, value, _ in entries:
        key = kafka_key(written)
        if key is None:
            continue
        library = _library_of(key, value)
        if library is not None:
            only.setdefault(library, key)
    if len(only) == 1:
        ((library, key),) = only.items()
        return library, f"{key} is {_NAMES[library]}"
    if only:
        both = " and ".join(f"{key} is {_NAMES[library]}" for library, key in sorted(only.items()))
        return None, both
    return None, "no key that is specific to one library"


_NAMES = {"java": "Java's", "librdkafka": "librdkafka's"}


def _library_of(key: str, value: str) -> str | None:
    if key == STRATEGY:
        names = [name.strip() for name in value.split(",") if name.strip()]
        if any(name.startswith(_JAVA_PACKAGE) for name in names):
            return "java"
        return "librdkafka" if names and set(names) <= _LIBRDKAFKA_NAMES else None
    if "." not in key:  # `debug` may be anybody's
        return None
    in_java, in_librdkafka = key in JAVA_KEYS, key in _LIBRDKAFKA_ALL
    if in_java == in_librdkafka:
        return None
    return "java" if in_java else "librdkafka"


def configs_of_group(configs: Iterable[ClientConfig], group: str) -> tuple[ClientConfig, ...]:
    """The files that may be of a group's members: those that name no other group."""
    return tuple(
        config
        for config in configs
        if (named := config.setting("group.id")) is None or named.is_placeholder or named.value == group
    )


def configs_of_member(
    configs: Iterable[ClientConfig], names: Collection[str | None], library: str | None
) -> tuple[ClientConfig, ...]:
    """The files that a member with these names (id, instance id, client id) runs with, the most specific one last."""
    mine = [config for config in configs if _is_of(config, names, library)]
    return tuple(sorted(mine, key=lambda config: (config.member is not None, config.is_for_library)))


def _is_of(config: ClientConfig, names: Collection[str | None], library: str | None) -> bool:
    if config.member is not None:
        return config.member in names
    return not config.is_for_library or config.library == library
