"""Client libraries: the abilities of each, and the library that a member runs.

A library is declared, or recorded in the source, or inferred from behavior that only one library has, or unknown. The
list of a member's assignors, which decides the number of bounces, is in its configuration file: a describe shows only
the assignor that the group chose.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from groups.client_library import (
    MIXING,
    NOT_KNOWN,
    Binding,
    KnownLibrary,
    binding_named,
    bundled,
    canonical_library,
    library_of,
)
from groups.model import Group, GroupType, Member
from migration.client_config import ClientConfig

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarySupport:
    """The abilities of a library, each with the first version that has it; None: no version."""

    name: str
    cooperative: Version | None = None
    replaced_in_first_bounce: bool = False
    """Whether a release without a cooperative assignor may be replaced in the same restart that brings the list of
    both (KIP-429, Upgrade Path; kafka-clients 2.3.1 to 4.3.1 on a 4.3.1 broker, tried)."""
    consumer: Version | None = None
    consumer_wanted: Version | None = None
    """Before this version, the consumer protocol has faults that a plan warns of."""
    consumer_fault: str = ""
    cooperative_wanted: Version | None = None
    """Before this version, a cooperative assignor has faults that a plan warns of."""
    cooperative_fault: str = ""
    upgraded: str = "the client"  # What must be upgraded to get the version
    assignors: tuple[str, ...]
    """Kafka's assignors that it has, and its own, by their names in the protocol; the first is the plain choice.
    Empty: it does not speak the classic protocol."""
    source: str

    @property
    def two_bounces(self) -> bool:
        """Whether a member may list an eager and a cooperative assignor at once."""
        return self.name in MIXING


_FETCHES_OFFSETS = (4, 4, 0)
_SPINS = (
    "may use a whole CPU in its network thread until a call times out, if a rebalance interrupts two simultaneous "
    "fetches of the same committed offsets"
)
_SPINS_SOURCE = "KAFKA-20765 (apache/kafka pull 22747): in kafka-clients 4.4.0, not in 4.3.1, 4.2.1 and 4.1.2"
"""Checked in the classes of those jars; 4.3.2 was not available."""

_KAFKAS = ("range", "roundrobin", "sticky", "cooperative-sticky")
LIBRARIES: Mapping[str, LibrarySupport] = {
    library.name: library
    for library in (
        LibrarySupport(
            name="java",
            cooperative=(2, 4),
            replaced_in_first_bounce=True,
            consumer=(4, 0),
            consumer_wanted=_FETCHES_OFFSETS,
            consumer_fault=_SPINS,
            assignors=_KAFKAS,
            source=f"KIP-429 and KIP-848 as released in Apache Kafka 2.4 and 4.0; {_SPINS_SOURCE}",
        ),
        LibrarySupport(
            name="connect",
            cooperative=(3, 2),
            consumer=(4, 0),
            consumer_wanted=_FETCHES_OFFSETS,
            consumer_fault=_SPINS,
            upgraded="the Connect workers",
            assignors=_KAFKAS,
            source="apache/kafka pull 10563 (sink tasks take incremental callbacks since 3.2); KIP-848 in 4.0; "
            f"{_SPINS_SOURCE}",
        ),
        LibrarySupport(
            name="librdkafka",
            cooperative=(1, 6, 0),
            consumer=(2, 12, 0),
            consumer_wanted=(2, 15, 0),
            consumer_fault="repeats its request forever when the broker refuses the upgrade (GROUP_ID_NOT_FOUND)",
            cooperative_wanted=(2, 10, 1),
            cooperative_fault="has a bug: a commit during a cooperative rebalance may lose the assignment (before "
            "2.10.0), or the client may keep using bootstrap brokers only (2.10.0)",
            assignors=("range", "roundrobin", "cooperative-sticky"),
            source="librdkafka CHANGELOG of 1.6.0, 2.10.0 (issue 4059), 2.10.1 (issue 5088: better than 2.10.0), "
            "2.12.0 and 2.15.0; issue 5541",
        ),
        LibrarySupport(
            name="franz-go",
            cooperative=(1, 17, 0),
            consumer=(1, 19, 0),
            assignors=_KAFKAS,
            source="franz-go issue 686 (before 1.17.0 partitions are stranded in the first bounce)",
        ),
        LibrarySupport(
            name="kafka-python",
            cooperative=(3, 0, 0),
            assignors=_KAFKAS,
            source="kafka-python 3.0.12: KafkaConfigurationError for a list that mixes eager and cooperative",
        ),
        LibrarySupport(name="aiokafka", assignors=_KAFKAS[:3], source="aiokafka assignors"),
        LibrarySupport(name="kafkajs", assignors=("RoundRobinAssigner",), source="KafkaJS assigners"),
        LibrarySupport(name="sarama", assignors=_KAFKAS[:3], source="sarama balance strategies"),
        LibrarySupport(
            name="kafka-go",
            assignors=("range", "roundrobin", "rack-affinity"),
            source="segmentio/kafka-go groupbalancer.go",
        ),
        LibrarySupport(
            name="dekaf",
            consumer=(1, 0),
            assignors=(),
            source="thomhurst/Dekaf pull 814 (no classic groups, in all releases), and its decision in pull 2855; "
            "static members by WithGroupInstanceId",
        ),
        LibrarySupport(
            name="platformatic-kafka",
            consumer=(1, 18, 0),
            assignors=("roundrobin",),
            source="platformatic/kafka pull 133 (groupProtocol in 1.18.0); src/clients/consumer/options.ts of 2.9.0; "
            "static members (groupInstanceId) since 1.26.0",
        ),
        LibrarySupport(
            name="brod",
            assignors=("roundrobin_v2",),
            source="brod_group_coordinator.erl of kafka4beam/brod 4.6.2; static members since 4.6.0",
        ),
        LibrarySupport(
            name="rskafka", assignors=(), source="README of influxdata/rskafka: it has no consumer groups"
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberClient:
    """The library that a member runs, and how it is known."""

    library: LibrarySupport | None
    version: Version | None = None  # The version of the library itself, not of a binding
    binding: Binding | None = None
    binding_version: str | None = None
    known_by: str = NOT_KNOWN
    shown: KnownLibrary | None = None
    """The library that the member itself shows, if another library was declared."""
    is_inferred: bool = False

    @property
    def is_replaced_in_first_bounce(self) -> bool:
        """Whether the first bounce also brings a newer release, because this one has no cooperative assignor."""
        library = self.library
        if library is None or library.cooperative is None or self.version is None:
            return False
        return library.replaced_in_first_bounce and is_surely_older(self.version, library.cooperative)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredClients:
    """The values of `--client`, for all members and for single ones: a library or binding, and its version."""

    everybody: tuple[str, str | None] | None = None
    single: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    otherwise: tuple[str, str | None] | None = None
    """The library of a configuration file, for members whose library is otherwise unknown."""


def with_configs(declared: DeclaredClients, configs: Iterable[ClientConfig]) -> DeclaredClients:
    """The declared clients, completed with the libraries that the keys of configuration files show."""
    single, shared = dict(declared.single), set()
    for config in configs:
        if config.library is not None and not config.is_for_library:
            if config.member is None:
                shared.add(config.library)
            else:
                single.setdefault(config.member, (config.library, None))
    otherwise = (shared.pop(), None) if len(shared) == 1 else declared.otherwise
    return replace(declared, single=single, otherwise=otherwise)


def parse_clients(values: Iterable[str]) -> DeclaredClients:
    """`LIBRARY[:VERSION]` or `MEMBER=LIBRARY[:VERSION]`; ValueError for an unknown library or a bad version."""
    everybody: tuple[str, str | None] | None = None
    single: dict[str, tuple[str, str | None]] = {}
    for value in values:
        member, equals, client = value.rpartition("=")
        name, _, version = client.partition(":")
        library_named(name)
        if version:
            parse_version(version)
        declared = (name.strip().lower(), version or None)
        if equals:
            single[member] = declared
        elif everybody not in (None, declared):
            advice = "use MEMBER=LIBRARY for members that differ"
            raise ValueError(f"{value!r} contradicts an earlier --client; {advice}")
        else:
            everybody = declared
    return DeclaredClients(everybody=everybody, single=single)


def library_named(name: str) -> LibrarySupport:
    return LIBRARIES[canonical_library(name)]


_VERSION = re.compile(r"(?:[\w.+-]*rdkafka-)?v?(\d+(?:\.\d+)*)(?:[.]?[a-z_~+-][\w.+~-]*)?", re.ASCII | re.I)
"""A binding of librdkafka names both versions to the broker: `1.4.0-librdkafka-2.11.0`."""


def parse_version(text: str) -> Version:
    """The leading numbers of a version; ValueError if there are none, or if the text is more than a version."""
    match = _VERSION.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is not a version")
    return tuple(map(int, match.group(1).split(".")))


def client_of(member: Member, declared: DeclaredClients) -> MemberClient:
    """The client of a member: the declared one, else the one that the source recorded, else inferred from its id."""
    known = library_of(member)
    named = (member.id, member.instance, member.client.id)
    of_one = (declared.single[key] for key in named if key is not None and key in declared.single)
    declared_client = next(of_one, declared.everybody)
    if declared_client is not None:
        client = _client_of(*declared_client)
        misled = known.name is not None and client.library is not LIBRARIES[known.name]
        return replace(client, shown=known if misled else None)
    if known.name is None and declared.otherwise is not None:
        return _client_of(*declared.otherwise)
    if known.name is None:
        return MemberClient(library=None, known_by=known.known_by)
    client = _client_of(member.client.library or known.name, member.client.version)
    return replace(client, known_by=known.known_by, is_inferred=known.is_inferred)


def clients_of(group: Group, declared: DeclaredClients) -> dict[str | None, MemberClient]:
    """The clients by member id; for a group without members, the declared client under None."""
    if not group.members:
        declaration = declared.everybody or declared.otherwise
        return {None: MemberClient(library=None) if declaration is None else _client_of(*declaration)}
    return {member.id: client_of(member, declared) for member in group.members}


def unknown_members(group: Group, declared: DeclaredClients) -> list[str]:
    """Members that `--client MEMBER=…` names and the group does not have."""
    have = {key for m in group.members for key in (m.id, m.instance, m.client.id)}
    return [name for name in declared.single if name not in have]


def _client_of(name: str, version: str | None) -> MemberClient:
    library, binding, parsed = library_named(name), binding_named(name), None
    text = bundled(binding, version) if binding is not None and version is not None else version
    with suppress(ValueError):
        parsed = parse_version(text) if text is not None else None
    client = MemberClient(library=library, version=parsed, binding=binding, known_by="declared")
    return client if binding is None else replace(client, binding_version=version)


def version_text(version: Version) -> str:
    return ".".join(map(str, version))


def is_surely_older(version: Version, needed: Version) -> bool:
    """Whether the version is older, whatever its missing numbers are: 2.11 is older than 2.12.0, 2 may not be."""
    return version < needed[: len(version)]


def is_surely_since(version: Version, needed: Version) -> bool:
    """Whether the version is not older, whatever its missing numbers are: 4 is at least 4.0, 2 may not be 2.4."""
    return (*version, *(0,) * (len(needed) - len(version))) >= needed


JAVAS_DEFAULT = ("range", "cooperative-sticky")  # The default of ConsumerConfig in kafka-clients since 3.0
_SINCE = (3, 0)


def with_configured_assignors(
    group: Group, clients: Mapping[str | None, MemberClient], configs: Sequence[ClientConfig]
) -> Group:
    """The group with the lists of its members from files, if the source does not show them."""
    if group.type is not GroupType.CLASSIC or not configs:
        return group
    members = []
    for member in group.members:
        client, protocols = clients.get(member.id), member.protocols
        if protocols is None and client is not None and client.library is not None:
            listed = _listed(member, client.library.name, client.version, configs)
            # A member cannot be running with a list that lacks the assignor in use.
            if listed and group.protocol in listed:
                protocols = listed
        members.append(replace(member, protocols=protocols))
    return replace(group, members=tuple(members))


def _listed(
    member: Member, library: str, version: Version | None, configs: Sequence[ClientConfig]
) -> tuple[str, ...] | None:
    """The assignors from the member's own file, else from the file for its library, else from the file for all."""
    names = (member.id, member.instance, member.client.id)
    mine = [config for config in configs if config.member is not None and config.member in names]
    mine = mine or [config for config in configs if config.is_for_library and config.library == library]
    for_all = [config for config in configs if config.member is None and not config.is_for_library]
    mine = mine or [config for config in for_all if config.library in (None, library)]
    default = JAVAS_DEFAULT if library == "java" and version is not None and version >= _SINCE else None
    lists = {config.assignors or default for config in mine}
    return lists.pop() if len(lists) == 1 else None
