"""Open transactions and ACLs of a live cluster; the AdminClient ignores the error of a response about ACLs."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from cli.sources.permissions import Needs, cause_of, with_missing_operations
from cli.sources.source import OpenTransactions
from groups.listing import Problem
from groups.model import OpenTransaction, PendingOffsets
from migration.access import Access, AccessEntry, ResourceKind
from wire.acls import WILDCARD, Operation, PatternType, Permission, ResourceType
from wire.client.cluster import KafkaClient
from wire.client.errors import KafkaError, WireError
from wire.client.metadata import OFFSETS_TOPIC, partition_of
from wire.client.settings import describe_acls
from wire.client.transactions import known_transactions, open_transactions
from wire.errors import ErrorCode, Failure

DESCRIBING_PRODUCERS = Needs(topic="READ")
_UNKNOWN = -1


def read_open_transactions(client: KafkaClient, places: Collection[tuple[str, int]]) -> OpenTransactions:
    """Open transactions by partition. Without responses of coordinators, their ids, states and times are unknown."""
    answers = open_transactions(client, places)
    producers = {transaction.producer_id for opened in answers.found.values() for transaction in opened}
    known: dict[int, Any] = {}
    problems = [_problem(f"{topic}-{number}", why) for (topic, number), why in answers.failed.items()]
    if producers:
        coordinators = known_transactions(client, producers)
        for states in coordinators.found.values():
            known |= states
        problems += [_problem(str(address), why) for address, why in coordinators.failed.items()]
    return OpenTransactions(
        by_partition={
            partition: tuple(_transaction(transaction, known) for transaction in opened)
            for partition, opened in answers.found.items()
        },
        problems=tuple(problems),
    )


def pending_offsets(
    client: KafkaClient, pending: Mapping[str, Collection[tuple[str, int]]]
) -> dict[str, PendingOffsets]:
    """Groups with offsets in open transactions, and these transactions; those that have ended are left out."""
    by_group: dict[str, PendingOffsets] = {}
    topic = client.metadata([OFFSETS_TOPIC]).topics.get(OFFSETS_TOPIC)
    logs = {} if topic is None else {group: partition_of(group, len(topic.partitions)) for group in pending}
    opened = read_open_transactions(client, {(OFFSETS_TOPIC, number) for number in logs.values()})
    reasons = {problem.subject: problem.message for problem in opened.problems}
    for group, places in pending.items():
        log = OFFSETS_TOPIC, logs.get(group, _UNKNOWN)
        transactions = opened.by_partition.get(log)
        if transactions == ():
            continue  # ended since
        by_group[group] = replace(
            PendingOffsets.of(places),
            transactions={} if transactions is None else {log: transactions},
            problem=reasons.get(f"{OFFSETS_TOPIC}-{log[1]}"),
        )
    return by_group


def _transaction(producer: Any, known: Mapping[int, Any]) -> OpenTransaction:
    described = known.get(producer.producer_id)
    facts: dict[str, Any] = {}
    if described is not None:
        begun_ms = described.transaction_start_time_ms
        facts = {
            "transactional_id": described.transactional_id,
            "state": described.transaction_state,
            "begun_ms": None if begun_ms == _UNKNOWN else begun_ms,
            "timeout_ms": described.transaction_timeout_ms,
        }
    return OpenTransaction(
        start_offset=producer.current_txn_start_offset,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        coordinator_epoch=producer.coordinator_epoch,
        last_write_ms=None if producer.last_timestamp == _UNKNOWN else producer.last_timestamp,
        **facts,
    )


def _problem(subject: str, failure: Failure) -> Problem:
    message = with_missing_operations(failure.name, failure.message, DESCRIBING_PRODUCERS)
    return Problem(
        subject=subject, message=f"open transactions are not known: {message}", cause=cause_of(failure.name)
    )


_KINDS = {ResourceType.TOPIC: ResourceKind.TOPIC, ResourceType.GROUP: ResourceKind.GROUP}
_NAMES = {operation.value: operation.name for operation in Operation}


def read_access(client: KafkaClient) -> Access:
    """All entries for topics and groups, or why they cannot be read."""
    entries: list[AccessEntry] = []
    for asked, kind in _KINDS.items():
        try:
            resources = describe_acls(client, asked)
        except KafkaError as error:
            if error.code == ErrorCode.SECURITY_DISABLED:
                return Access(is_open=True)
            return Access(problem=str(error))
        except WireError as error:
            return Access(problem=str(error))
        for resource in resources:
            entries += _entries(kind, resource)
    return Access(entries=tuple(entries))


def _entries(kind: ResourceKind, resource: Any) -> Iterator[AccessEntry]:
    """The entries that count: hosts of members are unknown, so an ALLOW for certain hosts does not, a DENY does."""
    is_prefix = resource.pattern_type == PatternType.PREFIXED
    is_known = is_prefix or resource.pattern_type == PatternType.LITERAL
    for acl in resource.acls:
        allows = acl.permission_type == Permission.ALLOW
        if not allows or (acl.host == WILDCARD and is_known):
            yield AccessEntry(
                kind=kind,
                name=resource.resource_name,
                is_prefix=is_prefix,
                principal=acl.principal,
                operation=_NAMES.get(acl.operation, "UNKNOWN"),
                allows=allows,
            )
