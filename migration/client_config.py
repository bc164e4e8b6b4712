"""The settings of a client's configuration file that a migration depends on.

The value of any key that no rule or rehearsal uses is dropped when the file is read, so that no secret can reach a
message. Keys that only one library knows show which library the file is for.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from groups.times import read_duration
from wire.client.config.client_keys import ALL_KEYS, JAVA_KEYS, LIBRDKAFKA_KEYS, LIBRDKAFKA_OTHER_KEYS

STRATEGY = "partition.assignment.strategy"
PROTOCOL = "group.protocol"
REMOTE_ASSIGNOR = "group.remote.assignor"
LOCAL_ASSIGNORS = "group.local.assignors"  # A setting in KIP-848's text that no release of any client has
SESSION_TIMEOUT = "session.timeout.ms"
HEARTBEAT_INTERVAL = "heartbeat.interval.ms"
OVERRIDE_POLICY = "connector.client.config.override.policy"
"""A setting of Connect workers: the consumer settings that their connectors may have."""
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
        OVERRIDE_POLICY,
        "group.protocol.type",
        "group.id",
        "group.instance.id",
        "client.rack",
    }
)
"""The settings whose values are kept, for rules and rehearsals. None of them is secret."""

_LEFTOVERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "consumer": {
        "java": (STRATEGY, HEARTBEAT_INTERVAL, SESSION_TIMEOUT),
        "connect": (STRATEGY, HEARTBEAT_INTERVAL, SESSION_TIMEOUT),
        "librdkafka": (STRATEGY, SESSION_TIMEOUT, HEARTBEAT_INTERVAL, "group.protocol.type"),
    },
    "classic": {"java": (REMOTE_ASSIGNOR,), "connect": (REMOTE_ASSIGNOR,)},
}
"""Settings with which a library refuses to start, by protocol and library: Java's
ConsumerConfig.checkUnsupportedConfigsPostProcess, librdkafka's rd_kafka_conf_finalize (2.16.0 tried). librdkafka also
refuses them if they are empty."""

LIBRARIES_WITH_FILES = ("java", "librdkafka", "connect")
"""Libraries that are configured with Kafka's own keys, so that a file can contain them unchanged."""

_JAVA_PACKAGE = "org.apache.kafka.clients.consumer."
JAVA_CLASSES = {
    f"{_JAVA_PACKAGE}RangeAssignor": "range",
    f"{_JAVA_PACKAGE}RoundRobinAssignor": "roundrobin",
    f"{_JAVA_PACKAGE}StickyAssignor": "sticky",
    f"{_JAVA_PACKAGE}CooperativeStickyAssignor": "cooperative-sticky",
}
"""Classes of Java's assignors, and their names in the protocol."""
_LIBRDKAFKA_NAMES = frozenset({"range", "roundrobin", "cooperative-sticky"})
_LIBRDKAFKA_ALL = LIBRDKAFKA_KEYS | LIBRDKAFKA_OTHER_KEYS
_RECOGNIZED = ALL_KEYS | {LOCAL_ASSIGNORS, OVERRIDE_POLICY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting of the file; of a repeated key the last one, which counts."""

    key: str  # Kafka's name
    written: str  # The key as written in the file, which may have a prefix before Kafka's name
    value: str
    line: int | None

    @property
    def is_placeholder(self) -> bool:
        """Whether the value is filled in later, by Spring or a template: `${GROUP:payments}`, `{{ group }}`."""
        return any(mark in self.value for mark in ("${", "#{", "{{"))

    @property
    def place(self) -> str:
        """The key and its line, for messages: `session.timeout.ms (line 7)`."""
        return self.written if self.line is None else f"{self.written} (line {self.line})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    name: str
    settings: tuple[Setting, ...]
    library: str | None = None
    """The library that it is for: the declared one, else the one that its keys show; None if unknown."""
    known_by: str = "no key that is specific to one library"
    member: str | None = None
    """The member (id, instance id or client id) that it is for; None: all members, or all of the library."""
    is_for_library: bool = False  # Whether it was given as the file for all members of `library`
    is_recognized: bool = True  # Whether the file contains any setting of a Kafka client
    unread: tuple[str, ...] = ()  # Sentences about parts of the file that are not used

    @property
    def description(self) -> str:
        owner = self.library if self.is_for_library else self.member
        return f"{owner}={self.name}" if owner else self.name

    def setting(self, key: str) -> Setting | None:
        """The setting with this name; None if it is missing or empty."""
        return next((setting for setting in self.settings if setting.key == key and setting.value), None)

    @property
    def protocol(self) -> str:
        """The group protocol that a client with this file speaks; `classic` by default."""
        entry = self.setting(PROTOCOL)
        return entry.value.lower() if entry else "classic"

    @property
    def assignors(self) -> tuple[str, ...] | None:
        """The listed assignors, preferred first, another class by its class name; None: the library's default."""
        listed = self.setting(STRATEGY)
        if listed is None:
            return None
        names = (name.strip() for name in listed.value.split(","))
        return tuple(JAVA_CLASSES.get(name, name) for name in names if name)

    def leftovers(self, protocol: str) -> tuple[Setting, ...]:
        """Settings to remove before the client starts with this group protocol, in the order of the file."""
        by_library = _LEFTOVERS[protocol]
        keys = {key for keys in by_library.values() for key in keys}
        if self.library in LIBRARIES_WITH_FILES:
            keys = set(by_library.get(self.library, ()))
        settings = [setting for setting in self.settings if setting.key in keys]
        return tuple(setting for setting in settings if setting.value or self.library == "librdkafka")


ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_+[A-Z0-9]+)+")


def dotted(written: str) -> str:
    """A key with dots: `spring.kafka.consumer.group.id` for `SPRING_KAFKA_CONSUMER_GROUP_ID` and `….group-id`."""
    spelling = written.strip().replace("[", ".").replace("]", "")
    spelling = spelling.lower() if ENVIRONMENT_NAME.fullmatch(spelling) else spelling
    return re.sub("-|_+", ".", spelling)


def kafka_key(written: str) -> str | None:
    """Kafka's name in a key of a file: bare, or after a prefix (`consumer.`, `spring.kafka.consumer.properties.`),
    with Spring's dashes (`group-id`), capitals (`groupId`) or brackets (`properties[session.timeout.ms]`), Python's
    underscores (`session_timeout_ms`), or as an environment variable (`KAFKA_GROUP_ID`); None if the key does not
    contain one."""
    plain = written.strip().replace("[", ".").replace("]", "")
    is_variable = ENVIRONMENT_NAME.fullmatch(plain) is not None
    for spelling in (plain, dotted(written)):
        parts = spelling.split(".")
        if _OTHERS & set(parts[:-1]):
            return None
        is_kafkas = not _OF_CLIENTS.isdisjoint(parts)
        for start in range(len(parts)):
            name = ".".join(parts[start:])
            name = _SPRING.get(name, name)
            # Others have variables such as USER_GROUP_ID too.
            if name in _RECOGNIZED and (is_kafkas or not start or not is_variable):
                return name
        if is_kafkas and parts[-1].lower() in _SQUEEZED:
            return _SQUEEZED[parts[-1].lower()]
    return None


_OTHERS = frozenset({"zookeeper", "producer", "admin", "outgoing", "output"})
"""Prefixes of other clients whose settings may have a consumer's names (`zookeeper.session.timeout.ms`)."""
_OF_CLIENTS = frozenset({"kafka", "consumer", "connect", "messaging"})
"""Parts of a key that show that it is a Kafka client's."""
_SPRING = {
    "heartbeat.interval": HEARTBEAT_INTERVAL,
    "max.poll.interval": MAX_POLL_INTERVAL,
    "auto.commit.interval": AUTO_COMMIT_INTERVAL,
}
"""Spring Boot's own names of settings (`spring.kafka.consumer.heartbeat-interval`), whose values are durations."""
_SQUEEZED = {name.replace(".", ""): key for name, key in ({key: key for key in KEPT} | _SPRING).items()}
"""Names without dots and dashes, as Spring also reads them: `autoOffsetReset`, `AUTOOFFSETRESET`."""


def kept(entries: Iterable[tuple[str, str, int | None]]) -> Iterator[Setting]:
    """The entries that rules use, as settings; of a repeated key the last one, as every client reads it."""
    latest: dict[str, Setting] = {}
    for written, value, line in entries:
        key = kafka_key(written)
        if key in KEPT:
            number = _milliseconds(key, value.strip())
            latest[key] = Setting(key=key, written=written, value=number, line=line)
    yield from sorted(latest.values(), key=lambda entry: entry.line or 0)


def _milliseconds(key: str, value: str) -> str:
    """The value, in milliseconds if it is a duration with a unit, which Spring allows."""
    if not key.endswith(".ms") or not value[-1:].isalpha():
        return value
    try:
        return str(round(read_duration(value, "ms") * 1000))
    except ValueError:
        return value


Entry = tuple[str, str, int | None]

_CONNECTS = re.compile(
    r"(?:.*\.)?(?:consumer\.override\..+|connector\.(?:class|client\.config\.override\.policy)|tasks\.max"
    r"|(?:config|offset|status)\.storage\.topic|offset\.storage\.file\.filename)"
)
"""Keys that only workers and connectors of Kafka Connect have."""
_OF_SINKS = re.compile(r"(?:.*\.)?consumer\.(?:override\.)?")
"""The prefixes of settings for sink tasks' consumers: `consumer.` of a worker, `consumer.override.` of a connector,
each after a possible prefix in a request to the REST API (`config.`)."""


def of_consumers(entries: Iterable[Entry], library: str | None) -> Iterator[Entry]:
    """The entries that apply to consumers: Connect's workers also have a group, timeouts and a protocol."""
    for entry in entries:
        is_sinks = _OF_SINKS.match(dotted(entry[0])) or kafka_key(entry[0]) == OVERRIDE_POLICY
        if library != "connect" or is_sinks:
            yield entry


def library_by_keys(entries: Sequence[Entry]) -> tuple[str | None, str]:
    """The library that a file is for, and the key that shows it; or None, and why it is unknown."""
    only: dict[str, str] = {}
    connects = next((written for written, _, _ in entries if _CONNECTS.fullmatch(dotted(written))), None)
    if connects is not None:
        return "connect", f"{connects} is Connect's"
    for written, value, _ in entries:
        key = kafka_key(written)
        library = None if key is None else _library_of(key, value)
        if key is not None and library is not None:
            only.setdefault(library, key)
    known_by = " and ".join(f"{key} is {_NAMES[library]}" for library, key in sorted(only.items()))
    library = next(iter(only)) if len(only) == 1 else None
    return library, known_by or "no key that is specific to one library"


_NAMES = {"java": "Java's", "librdkafka": "librdkafka's"}


def _library_of(key: str, value: str) -> str | None:
    if key == STRATEGY:
        names = [name.strip() for name in value.split(",") if name.strip()]
        if any(name.startswith(_JAVA_PACKAGE) for name in names):
            return "java"
        return "librdkafka" if names and set(names) <= _LIBRDKAFKA_NAMES else None
    if "." not in key:  # any library may have a key such as `debug`
        return None
    in_java, in_librdkafka = key in JAVA_KEYS, key in _LIBRDKAFKA_ALL
    if in_java == in_librdkafka:
        return None
    return "java" if in_java else "librdkafka"


def configs_of_group(configs: Iterable[ClientConfig], group: str) -> tuple[ClientConfig, ...]:
    """The files that may be for members of a group: all that do not name another group."""
    named = [(config, config.setting("group.id")) for config in configs]
    return tuple(one for one, entry in named if not entry or entry.is_placeholder or entry.value == group)


def configs_of_member(
    configs: Collection[ClientConfig], names: Collection[str | None], library: str | None
) -> tuple[ClientConfig, ...]:
    """The files that a member with these names (id, instance id, client id) runs with, the most specific one last."""
    for_all = [one for one in configs if one.member is None and not one.is_for_library]
    of_library = [one for one in configs if one.member is None and one.is_for_library]
    of_member = [one for one in configs if one.member is not None and one.member in names]
    return (*for_all, *(one for one in of_library if one.library == library), *of_member)
