"""Requests to the cluster: listed and described groups, committed offsets, log end offsets. As in the tool, a
refusal, or a group that does not exist, ends the command. A part that could not be read does not: the rest is shown,
the part is named, and the status is that of the part."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from cli.dropin.errors import ToolFailure, assignment_exception, exception_text, status_of
from cli.dropin.parse import Options
from cli.dropin.printing import print_error, print_remark
from cli.errors import CommandError, ExitStatus
from cli.sources.live import LiveSource
from cli.sources.live_answers import listed_group
from cli.sources.login import open_cluster as log_in_to
from cli.sources.wire_source import WireSource
from groups.model import Group, GroupListing, GroupState, GroupType, Node, Offsets, Problem, TopicPartition
from wire.client.cluster import KafkaClient
from wire.errors import ErrorCode, Failure
from wire.messages.schemas.classic_groups import DESCRIBE_GROUPS
from wire.messages.schemas.consumer_groups import CONSUMER_GROUP_DESCRIBE

Described: TypeAlias = tuple[GroupType, Any] | Failure
"""The type whose request describes a group, and the group."""

CONSUMER_PROTOCOL_TYPES = ("", "consumer")
"""The protocol types of groups that have only committed offsets, and of groups of consumers."""
WRAPPED = "java.util.concurrent.ExecutionException: "
"""The prefix of Java's report of a failed AdminClient future."""
_JAVA = ("java.", "org.apache.kafka.")
"""Prefixes of the class names of Java's and Kafka's exceptions."""


@contextmanager
def open_cluster(options: Options) -> Iterator[LiveSource]:
    """The cluster that the options name; the first request connects, and raises a WireError if that fails."""
    source = log_in_to(
        bootstrap_server=options.bootstrap_server,
        command_config=options.command_config,
        timeout_ms=options.timeout_ms,
    )
    try:
        yield source
    finally:
        source.close()


def client_of(source: LiveSource, instead: str) -> KafkaClient:
    """The wire client. Raises CommandError: only librdkafka supports this login; `instead` can do the same."""
    if not isinstance(source, WireSource):
        raise CommandError(
            f"only librdkafka supports the login of {source.name} "
            f"(sasl.mechanism={source.settings.sasl_mechanism}), and it cannot do this; use {instead}"
        )
    return source.client


def by_name(name: str) -> bytes:
    """The key that sorts names as Java does: by UTF-16 units."""
    return name.encode("utf-16-be", "surrogatepass")


def by_place(partition: TopicPartition) -> tuple[bytes, int]:
    """The key that sorts partitions."""
    return by_name(partition[0]), partition[1]


def list_groups(source: LiveSource, *types: GroupType) -> tuple[list[GroupListing], ExitStatus]:
    """Groups of some types, by name. Where groups may be missing is printed. Raises ToolFailure: no broker lists
    any."""
    from wire.client.groups import list_groups as listed_by

    if isinstance(source, WireSource):
        listing = listed_by(source.client)
        if not listing.groups:
            raise_failure(
                why for why in listing.failed.values() if why.code != ErrorCode.LEADER_NOT_AVAILABLE
            )
        for broker, failure in listing.failed.items():
            print_remark(f"{broker}: {failure.message.removeprefix(f'{broker}: ')}")
        listed: Iterable[GroupListing] = map(listed_group, listing.groups)
        status = status_of(listing.failed.values())
    else:
        read = source.list_groups()
        _raise_problem(read.problems)
        listed, status = read.items, ExitStatus.DONE
    groups = [group for group in listed if group.type in types]
    return sorted(groups, key=lambda group: by_name(group.id)), status


def list_consumer_groups(source: LiveSource) -> tuple[list[GroupListing], ExitStatus]:
    """Groups of consumers, as by `list_groups`."""
    listed, status = list_groups(source, GroupType.CLASSIC, GroupType.CONSUMER)
    return [group for group in listed if group.protocol_type in CONSUMER_PROTOCOL_TYPES], status


def chosen_groups(options: Options, source: LiveSource) -> tuple[list[str], ExitStatus]:
    """The groups in the order of the command line, each once; if it names none, all groups by name, and the status."""
    if options.groups:
        return list(dict.fromkeys(options.groups)), ExitStatus.DONE
    listed, status = list_consumer_groups(source)
    return [group.id for group in listed], status


@dataclass(frozen=True, slots=True)
class ReadGroups:
    """The described groups, and what could not be read; `unassigned`: Java's exceptions by group and member."""

    groups: Mapping[str, Group]
    failed: Mapping[str, Failure] = field(default_factory=dict)
    unassigned: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def report(self, *, assignments: bool) -> ExitStatus:
        """Print the tool's error for each part that could not be read, and return the status."""
        reasons = {exception_text(failure): None for failure in self.failed.values()}
        if assignments and self.unassigned:
            reasons |= dict.fromkeys(self.unassigned.values())
            for group, member in self.unassigned:
                print_remark(f"{group}, member {member}: its assignment cannot be read")
        for reason in reasons:
            print_error(f"Executing consumer group command failed due to {reason}")
        unread = ExitStatus.UNREADABLE if assignments and self.unassigned else ExitStatus.DONE
        return max(unread, status_of(self.failed.values()))


def describe_consumer_groups(source: LiveSource, names: Iterable[str], *, listed: bool = False) -> ReadGroups:
    """Classic and consumer groups, sorted by name, without duplicates. Raises ToolFailure: none can be read, or one
    that is not `listed` by the cluster is unknown, of another type, or may not be described."""
    requested = sorted(set(names), key=by_name)
    if not requested:
        return ReadGroups({})
    if not isinstance(source, WireSource):
        read = source.describe(requested, offsets=False)
        _raise_problem(read.problems)
        return ReadGroups({group.id: group for group in read.items})
    from groups.described import as_group

    described = describe_each(source.client, requested)
    if listed:  # a group may have been deleted since
        described = {name: one for name, one in described.items() if not is_absent(one)}
    failed = unread_parts(described, listed=listed)
    raise_failure(one for name, one in described.items() if isinstance(one, Failure) and name not in failed)
    coordinators = coordinators_of(source.client, requested)
    groups: dict[str, Group] = {}
    unassigned: dict[tuple[str, str], str] = {}
    for name, one in described.items():
        if not isinstance(one, Failure):
            kind, group = one
            groups[name], _ = as_group(kind, group, coordinators.get(name))
            if kind is GroupType.CLASSIC:
                unassigned |= {
                    (name, member.member_id): reason
                    for member in group.members
                    if (reason := assignment_exception(member.member_assignment)) is not None
                }
    return ReadGroups(groups, failed, unassigned)


def coordinators_of(client: KafkaClient, groups: Iterable[str]) -> dict[str, Node]:
    """The coordinators of groups, as far as they have answered and are known brokers."""
    nodes = {
        broker.address: Node(id=broker.node_id, host=broker.address.host, port=broker.address.port)
        for broker in client.brokers().brokers
    }
    known = client.known_coordinators(groups)
    return {group: nodes[address] for group, address in known.items() if address in nodes}


def unread_parts(described: Mapping[str, object], *, listed: bool) -> dict[str, Failure]:
    """The failures without which the other groups can be shown: any, of groups that the cluster has just
    `listed`."""
    failed = {name: one for name, one in described.items() if isinstance(one, Failure)}
    if len(failed) == len(described):
        return {}
    return {name: why for name, why in failed.items() if listed or _is_unread(why)}


def is_absent(described: object) -> bool:
    """Whether there is no such group."""
    return isinstance(described, Failure) and described.code == ErrorCode.GROUP_ID_NOT_FOUND


def _is_unread(failure: Failure) -> bool:
    """Whether a broker did not answer, or answers later."""
    return failure.retriable or (failure.code is None and not failure.message.startswith(_JAVA))


def describe_each(client: KafkaClient, names: Collection[str]) -> dict[str, Described]:
    """Each group, or why it is not described: code 69 if no group of consumers has that id."""
    from wire.client.groups import describe_groups

    answers = describe_groups(client, CONSUMER_GROUP_DESCRIBE, names)
    consumers = {name: (GroupType.CONSUMER, group) for name, group in answers.found.items()}
    results: dict[str, Described] = {**consumers, **answers.failed}
    rest = [
        name
        for name, why in answers.failed.items()
        if why.code in (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)
    ]
    if rest:
        classic = describe_groups(client, DESCRIBE_GROUPS, rest)
        # For a group of neither type the first answer is more exact: "is not a consumer group", not "a classic group".
        results |= {
            name: why
            for name, why in classic.failed.items()
            if not why.code == answers.failed[name].code == ErrorCode.GROUP_ID_NOT_FOUND
        }
        for name, group in classic.found.items():
            results[name] = GroupType.CLASSIC, group
            if group.protocol_type not in CONSUMER_PROTOCOL_TYPES:
                why = f"GroupId {group.group_id} is not a consumer group ({group.protocol_type})."
                results[name] = Failure(message=f"java.lang.IllegalArgumentException: {why}")
    return {
        name: naming_group(name, one) if isinstance(one := results[name], Failure) else one for name in names
    }


def naming_group(name: str, failure: Failure) -> Failure:
    """The failure, with the group in its message if the broker's message does not name it."""
    if failure.code != ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return failure
    return replace(failure, message=f"Not authorized to access group: {name}")


def committed_offsets(
    source: LiveSource, groups: Sequence[str]
) -> tuple[dict[str, Offsets], dict[str, Failure]]:
    """The committed offsets of each group, and why those of a group or of a partition (`a, orders-0`) are not known.
    Raises ToolFailure: those of no group are known, or a group may not be described."""
    from wire.client.offsets import fetch_offsets

    if not isinstance(source, WireSource):
        kind, state = GroupType.UNKNOWN, GroupState.UNKNOWN
        read, _, problems = source.committed([Group(id=group, type=kind, state=state) for group in groups])
        if not read:
            _raise_problem(problems)
        failed = {problem.subject: Failure(message=problem.message) for problem in problems}
        return read, failed
    from groups.described import committed_offsets as offsets_of

    answers = fetch_offsets(source.client, groups)
    failed = {group: naming_group(group, why) for group, why in answers.failed.items()}
    partial = len(failed) < len(groups)
    raise_failure((why for why in failed.values() if not (partial and _is_unread(why))), prefix=WRAPPED)
    offsets: dict[str, Offsets] = {}
    for name, group in answers.found.items():
        offsets[name], unread = offsets_of(group)
        failed |= {f"{name}, {topic}-{number}": why for (topic, number), why in unread.items()}
    return offsets, failed


def end_offsets(
    source: LiveSource, places: Collection[TopicPartition]
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, Failure]]:
    """Log end offsets, and the reasons for unknown ones."""
    if not places:
        return {}, {}
    from wire.client.offsets import LATEST

    answers = source.offsets_at(places, [LATEST])
    return {partition: end for partition, (end,) in answers.found.items()}, dict(answers.failed)


def raise_failure(failures: Iterable[Failure], *, prefix: str = "") -> None:
    """Raise ToolFailure for the first failure, if any. `prefix` precedes only messages that name a Java class."""
    for failure in failures:
        message = exception_text(failure)
        raise ToolFailure(prefix + message if message.startswith(_JAVA) else message, status_of([failure]))


def _raise_problem(problems: Sequence[Problem]) -> None:
    """Raise ToolFailure for the first problem, if any; only the AdminClient's answers have problems."""
    for problem in problems:
        raise ToolFailure(f"{problem.subject}: {problem.message}")
