"""Groups and clusters for the tests of rules and plans."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from zlib import crc32

from groups.findings import Finding, Level
from groups.model import Client, Cluster, Group, GroupState, GroupType, Member, MemberProtocol, Topic
from migration.access import Access
from migration.client_config import ClientConfig, kept, library_by_keys, of_consumers
from migration.clients import parse_clients
from migration.commands import ClusterOptions
from migration.model import Destination, Plan
from migration.plan import case_of, make_plan
from migration.rules.case import PlanRequest

NEW = Cluster(id="c", kafka="4.3", features={"group.version": 1})
COOPERATIVE, CONSUMER = Destination.COOPERATIVE, Destination.CONSUMER
EAGER, CLASSIC = Destination.EAGER, Destination.CLASSIC


def member(name: str = "m1", library: str | None = None, version: str | None = None) -> Member:
    """A classic member whose client library is recorded, or not; `m1` has the first two partitions, and so on."""
    client = Client(id=name, host="/10.0.0.1", library=library, version=version)
    return Member(id=name, client=client, protocol=MemberProtocol.CLASSIC, owned={"orders": _two(name)})


def _two(name: str) -> tuple[int, int]:
    """Two partitions, which no other of the members `m1`, `m2`, … has."""
    number = name.removeprefix("m")
    first = 2 * int(number) - 2 if number.isdigit() else 1000 + 2 * (crc32(name.encode()) % 1000)
    return first, first + 1


def upgraded(name: str = "m1", protocol: MemberProtocol = MemberProtocol.CONSUMER) -> Member:
    return replace(member(name, "java", "4.1.0"), protocol=protocol, target={"orders": _two(name)}, epoch=3)


GROUP = Group(
    id="payments",
    type=GroupType.CLASSIC,
    state=GroupState.STABLE,
    protocol_type="consumer",
    protocol="range",
    members=(member("m1", "java", "4.1.0"), member("m2", "java", "4.1.0")),
)
EMPTY = replace(GROUP, state=GroupState.EMPTY, protocol="", members=())
NEWER = replace(
    GROUP,
    type=GroupType.CONSUMER,
    protocol="uniform",
    members=(upgraded("m1"), upgraded("m2")),
    group_epoch=3,
)
MIXED = replace(NEWER, members=(upgraded("m1"), upgraded("m2", MemberProtocol.CLASSIC)))


def group_of(client: str, protocol: str, size: int = 3) -> Group:
    """A classic group of `size` members of one client, `LIBRARY:VERSION`, with two partitions each."""
    library, _, version = client.partition(":")
    members = tuple(
        replace(member(f"m{n}", library, version), owned={"orders": (2 * n - 2, 2 * n - 1)})
        for n in range(1, size + 1)
    )
    return replace(GROUP, protocol=protocol, members=members)


def listing(group: Group, *assignors: str) -> Group:
    """The group, each member's list of assignors being known."""
    return replace(group, members=tuple(replace(one, protocols=assignors) for one in group.members))


def policy(cluster: Cluster, value: str) -> Cluster:
    return replace(cluster, settings={**(cluster.settings or {}), "group.consumer.migration.policy": value})


def plan(
    group: Group,
    to: Destination,
    *clients: str,
    cluster: Cluster = NEW,
    topics: Sequence[str] = (),
    regexes: Sequence[str] = (),
    configs: Sequence[ClientConfig] = (),
    access: Access | None = None,
    assignor: str | None = None,
    frameworks: Sequence[str] = (),
    offline: bool = False,
    concurrency: int = 1,
    reverse: bool = False,
    connection: ClusterOptions | None = None,
) -> Plan:
    """The plan for a group, with what `--client` and the other options said."""
    request = PlanRequest(
        destination=to,
        declared=parse_clients(clients),
        regexes=tuple(regexes),
        configs=tuple(configs),
        assignor=assignor,
        frameworks=tuple(frameworks),
        offline=offline,
        concurrency=concurrency,
        reverse=reverse,
        connection=connection or ClusterOptions(),
    )
    known = [Topic(name=name, partitions=2) for name in topics]
    return make_plan(case_of(request, group, cluster, topics=known, access=access))


def config_of(text: Mapping[str, str], library: str | None = None, member: str | None = None) -> ClientConfig:
    """A configuration file with these settings, a line each, for a library or a member if one is given."""
    entries = [(key, value, line) for line, (key, value) in enumerate(text.items(), 1)]
    inferred, known_by = library_by_keys(entries)
    return ClientConfig(
        name="app.properties",
        settings=tuple(kept(of_consumers(entries, library or inferred))),
        library=library or inferred,
        known_by=known_by,
        member=member,
        is_for_library=library is not None,
    )


def the_finding(plan: Plan, rule: str) -> Finding:
    return next(finding for finding in plan.findings if finding.rule == rule)


def blockers(plan: Plan, level: Level = Level.BLOCKER) -> list[str]:
    return list(dict.fromkeys(finding.rule for finding in plan.findings if finding.level is level))


def warnings(plan: Plan) -> list[str]:
    return blockers(plan, Level.WARNING)
