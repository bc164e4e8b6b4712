"""A small blocking Kafka client: the brokers of one cluster, the connections to them, and the coordinators of groups.

It starts quickly (modules are imported by the method that needs them), sends requests to several brokers at once
without threads, and returns partial results together with partial failures. A result of type Any is a part of the
broker's response, with Kafka's names in snake case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from wire.client.address import Address, parse_bootstrap
from wire.client.cluster import (
    OFFSETS_TOPIC,
    ClusterMetadata,
    ListedGroups,
    TopicPartition,
    brokers_with_failures,
    delete_groups,
    delete_topics,
    describe,
    explained,
    failed_directories,
    fetch_metadata,
    find_coordinators,
    leaders_of,
    list_groups,
    no_leader,
    offline_coordinators,
)
from wire.client.connection import Connection
from wire.client.errors import (
    Answers,
    AuthenticationFailed,
    K,
    RequestTimedOut,
    Unreachable,
    UnsupportedMechanism,
    WireError,
    WrongCluster,
    failure_of,
    raise_if_silent,
)
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Expired, SocketWait, Steps, run, run_all
from wire.errors import ErrorCode, Failure

if TYPE_CHECKING:
    from uuid import UUID

    from wire import acls
    from wire.client.first_records import FirstRecords
    from wire.client.members import Departures, LeavingMember
    from wire.client.offsets import NewOffset, OffsetsAtTimes, OffsetSpec, Outcomes
    from wire.client.record_windows import WindowRequest
    from wire.client.settings import ResourceType
    from wire.log.record_digests import RecordWindow
    from wire.messages.definition import Api


T = TypeVar("T")
Locate = Callable[[list[K], bool], dict[K, Address | Failure]]
"""The broker that serves each key; True requests a fresh lookup."""

Ask = Callable[[Connection, list[K], Deadline], Steps[dict[K, T | Failure]]]
"""One broker's results for some keys."""

Question = Callable[[Connection, Deadline], Steps[T]]

_STAGGER_MS = 250
"""The time after which the next bootstrap server is tried as well if one stays silent."""

_POLL_MS = 10
_WHY_MS = 1000
_ATTEMPTS_AT_A_LEADER = 4
_FIRST_PAUSE_MS = 50
_LONGEST_PAUSE_MS = 1000
_ATTEMPTS_AT_A_DEAD_BROKER = 3


class KafkaClient:
    """A connection to a cluster. Use it in a ``with`` block.

    Connections are kept open by address. A coordinator is looked up once, and again after it moved. Every call takes at
    most the settings' `api_timeout_ms`, and raises `WireError` only when no broker could be asked at all.
    """

    def __init__(self, settings: ConnectionSettings) -> None:
        """Prepare the client; the first call connects. :raises InvalidAddress:"""
        self._settings = settings
        self._connections: dict[Address, Connection] = {}
        self._bootstrap = parse_bootstrap(",".join(settings.bootstrap_servers))
        self._home: Connection | None = None
        self._coordinators: dict[str, Address] = {}
        self._metadata: ClusterMetadata | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _deadline(self) -> Deadline:
        return Deadline(self._settings.api_timeout_ms)

    def metadata(self, topics: Sequence[str] | None = None) -> ClusterMetadata:
        """Brokers, controller and `topics` (None: all, empty: none)."""
        return self.ask_any(partial(fetch_metadata, topics))

    def list_groups(self, *, states: Sequence[str] = (), types: Sequence[str] = ()) -> ListedGroups:
        """The groups of every broker, filtered by state and type by brokers that can filter.

        :raises WireError: the list of brokers cannot be read, or no broker of it answers
        """
        answers = self.ask_every_broker(partial(list_groups, states, types))
        raise_if_silent(answers)
        groups = {group.group_id: group for listed in answers.found.values() for group in listed}
        # A broker lists the groups that it coordinates; a moved group is then looked up.
        self._coordinators |= {
            group.group_id: place for place, listed in answers.found.items() for group in listed
        }
        silent = {str(place): failure for place, failure in answers.failed.items()}
        metadata = self.brokers()
        return ListedGroups(
            groups=tuple(groups[name] for name in sorted(groups)),
            failed=silent | offline_coordinators(metadata, self._failed_directories(metadata)),
        )

    def _failed_directories(self, metadata: ClusterMetadata) -> dict[int, tuple[str, ...]]:
        """The log directories that have failed on brokers that run, if partitions without a leader were in them."""
        nodes = brokers_with_failures(metadata)
        if not nodes:
            return {}
        found = self.ask_nodes(map(str, nodes), failed_directories, Deadline(_WHY_MS)).found
        return {int(node): paths for node, paths in found.items()}

    def describe(
        self, api: Api, groups: Iterable[str], *, operations: bool = False, nodes: bool = False
    ) -> Answers[str, Any]:
        """Describe groups with the request of their type. A missing group or one of another type: failure 69.

        Brokers before 4.0 describe a classic group that does not exist as Dead. With `operations`, the responses
        contain what this user may do (see `wire.client.settings.operations_in`). With `nodes`, those of streams groups
        contain the graph of their topology, if the broker stores it (KIP-1331, Kafka 4.4 and later).
        """
        return self.ask_coordinators(groups, partial(describe, api, operations, nodes))

    def delete_groups(self, groups: Iterable[str]) -> Answers[str, bool]:
        """Delete groups of any type that have no members; True for each deleted group."""
        return self.ask_coordinators(groups, delete_groups)

    def committed_offsets(
        self,
        groups: Iterable[str],
        *,
        only: Mapping[str, Sequence[TopicPartition]] | None = None,
        require_stable: bool = False,
    ) -> Answers[str, Any]:
        """The committed offsets of classic, consumer and streams groups, of all partitions or `only` of some.

        The result has the `topics` of each group, with their partitions; an unknown group has none. With
        `require_stable`, a partition with an offset in an open transaction has the error UNSTABLE_OFFSET_COMMIT.
        """
        from wire.client.offsets import offset_fetch

        return self.ask_coordinators(groups, partial(offset_fetch, only, require_stable))

    def share_group_offsets(self, groups: Iterable[str]) -> Answers[str, Any]:
        """Start offsets and lag of share groups."""
        from wire.client.share_offsets import share_group_offsets

        return self.ask_coordinators(groups, share_group_offsets)

    def alter_share_group_offsets(
        self, offsets: Mapping[str, Mapping[TopicPartition, int]]
    ) -> Answers[str, Outcomes]:
        """Set start offsets of share groups; None for each partition that was changed, or why it was refused."""
        from wire.client.share_offsets import alter_share_group_offsets

        return self.ask_coordinators(offsets, partial(alter_share_group_offsets, offsets))

    def delete_share_group_offsets(
        self, topics: Mapping[str, Sequence[str]]
    ) -> Answers[str, dict[str, Failure | None]]:
        """Delete start offsets of share groups by topic; None for each deleted topic, or why it was refused."""
        from wire.client.share_offsets import delete_share_group_offsets

        return self.ask_coordinators(topics, partial(delete_share_group_offsets, topics))

    def delete_topics(self, topics: Mapping[str, UUID | None]) -> Answers[str, bool]:
        """Delete topics, by their ids if all are known and the broker can; True for each deleted topic.

        Any broker of a KRaft cluster forwards it to the controller.
        """
        return self.ask_one_broker(topics, partial(delete_topics, topics))

    def commit_offsets(
        self,
        offsets: Mapping[str, Mapping[TopicPartition, NewOffset]],
        topic_ids: Mapping[str, UUID] | None = None,
    ) -> Answers[str, Outcomes]:
        """Commit offsets, by group; None for each partition, or the refusal (always, if the group has members).

        `topic_ids`: topics must have these ids, if the broker can compare them (Kafka 4.1).
        """
        from wire.client.offsets import offset_commit

        return self.ask_coordinators(offsets, partial(offset_commit, offsets, topic_ids or {}))

    def delete_offsets(self, partitions: Mapping[str, Sequence[TopicPartition]]) -> Answers[str, Outcomes]:
        """Delete committed offsets, by group; None for each partition, or why its offset was not deleted."""
        from wire.client.offsets import offset_delete

        return self.ask_coordinators(partitions, partial(offset_delete, partitions))

    def offsets_at(
        self,
        partitions: Iterable[TopicPartition],
        specs: Sequence[OffsetSpec | OffsetsAtTimes],
        *,
        leaders: ClusterMetadata | None = None,
    ) -> Answers[TopicPartition, tuple[int, ...]]:
        """Offsets of the log of each (topic, partition), in the order of `specs`, or -1.

        All leaders are asked in parallel, each for all of its partitions in one request. `leaders`: metadata of these
        topics that was just fetched, which saves the first lookup.
        """
        from wire.client.offsets import list_offsets

        return self.ask_leaders(partitions, partial(list_offsets, specs), known=leaders)

    def open_transactions(
        self, partitions: Iterable[TopicPartition]
    ) -> Answers[TopicPartition, tuple[Any, ...]]:
        """The producers with an open transaction on each (topic, partition), by its first offset."""
        from wire.client.transactions import open_transactions

        return self.ask_leaders(partitions, open_transactions)

    def known_transactions(self, producer_ids: Iterable[int]) -> Answers[Address, Mapping[int, Any]]:
        """The transactions of some producers, by coordinating broker and by producer id."""
        from wire.client.transactions import known_transactions

        return self.ask_every_broker(partial(known_transactions, tuple(producer_ids)))

    def first_records(
        self, wanted: Mapping[TopicPartition, Collection[int]]
    ) -> Answers[TopicPartition, FirstRecords]:
        """The timestamp of the first record at or after each of some offsets of each (topic, partition)."""
        from wire.client.first_records import first_records

        return self.ask_leaders(wanted, partial(first_records, wanted))

    def record_windows(
        self, wanted: Mapping[TopicPartition, WindowRequest]
    ) -> Answers[TopicPartition, RecordWindow]:
        """The records around an offset of each (topic, partition), as digests."""
        from wire.client.record_windows import record_windows

        return self.ask_leaders(wanted, partial(record_windows, wanted))

    def describe_configs(self, kind: ResourceType, names: Iterable[str]) -> Answers[str, dict[str, Any]]:
        """The settings of groups, topics or brokers (a broker's name is its node id)."""
        from wire.client.settings import ResourceType, describe_configs

        ask = partial(describe_configs, kind)
        return self.ask_nodes(names, ask) if kind is ResourceType.BROKER else self.ask_one_broker(names, ask)

    def describe_acls(self, kind: acls.ResourceType) -> tuple[Any, ...]:
        """All topics or groups, or patterns of them, with their access control entries.

        :raises KafkaError: no authorizer is configured (SECURITY_DISABLED), or this user may not describe ACLs
        """
        from wire.client.settings import describe_acls

        return self.ask_any(partial(describe_acls, kind))

    def remove_members(
        self, members: Mapping[str, Sequence[LeavingMember]], reason: str, *, by: Api | None = None
    ) -> Answers[str, Departures]:
        """Remove members from their groups, by LeaveGroup, or `by` the heartbeat of share or streams groups."""
        from wire.client.members import leave_by_heartbeat, leave_group

        ask = (
            partial(leave_group, members, reason) if by is None else partial(leave_by_heartbeat, by, members)
        )
        return self.ask_coordinators(members, ask)

    def close(self) -> None:
        """Close every connection."""
        for connection in self._connections.values():
            connection.close()

    def connection(self, address: Address) -> Connection:
        """The connection to `address`, which may not be open yet."""
        if address not in self._connections:
            advertised = address not in self._bootstrap
            nodes = (
                {broker.address: broker.node_id for broker in self._metadata.brokers}
                if self._metadata
                else {}
            )
            self._connections[address] = Connection(
                address, self._settings, advertised=advertised, node_id=nodes.get(address)
            )
        return self._connections[address]

    def home(self, deadline: Deadline | None = None) -> Connection:
        """An open connection to any broker: the bootstrap server that answered first.

        :raises WireError: none answers; with several, the message has every reason
        """
        if self._home is None:
            self._home = self._first_to_answer(deadline or self._deadline())
        return self._home

    def ask_any(self, question: Question[T], deadline: Deadline | None = None) -> T:
        """Ask any broker; if it fails, ask another. :raises WireError: as `home`"""
        deadline = deadline or self._deadline()
        try:
            return run(question(self.home(deadline), deadline))
        except RequestTimedOut:
            self._home = None
            raise
        except Unreachable:
            self._home = None
            return run(question(self.home(deadline), deadline))

    def ask_every_broker(self, question: Question[T]) -> Answers[Address, T]:
        """Ask all brokers in parallel. :raises WireError: the list of brokers cannot be read"""
        deadline = self._deadline()
        places = [broker.address for broker in self.brokers(deadline, fresh=True).brokers]

        def locate(pending: list[Address], _fresh: bool) -> dict[Address, Address | Failure]:
            return {place: place for place in pending}

        def ask(broker: Connection, _: list[Address], limit: Deadline) -> Steps[dict[Address, T | Failure]]:
            return {broker.address: (yield from question(broker, limit))}

        return self._ask_and_repeat(places, locate, ask, deadline)

    def ask_coordinators(self, groups: Iterable[str], ask: Ask[str, T]) -> Answers[str, T]:
        """Ask the coordinators of all groups in parallel; a coordinator that moved is looked up again.

        :raises WireError: no broker answers FindCoordinator
        """
        deadline = self._deadline()

        def locate(pending: list[str], fresh: bool) -> dict[str, Address | Failure]:
            return self._located(pending, deadline, fresh=fresh)

        answers = self._ask_and_repeat(groups, locate, ask, deadline)
        if not any(
            failure.code == ErrorCode.COORDINATOR_NOT_AVAILABLE for failure in answers.failed.values()
        ):
            return answers
        # The retries used up the deadline; what remains is to find out why.
        try:
            metadata = self.brokers(Deadline(_WHY_MS), fresh=True)
        except WireError:
            return answers
        return Answers(found=answers.found, failed=explained(answers.failed, metadata))

    def ask_leaders(
        self,
        partitions: Iterable[TopicPartition],
        ask: Ask[TopicPartition, T],
        *,
        known: ClusterMetadata | None = None,
    ) -> Answers[TopicPartition, T]:
        """Ask the leaders of all partitions in parallel, first those in `known`, if given.

        :raises WireError: as `home`
        """
        deadline = self._deadline()

        def locate(pending: list[TopicPartition], fresh: bool) -> dict[TopicPartition, Address | Failure]:
            metadata = known
            if fresh or metadata is None:
                topics = sorted({topic for topic, _ in pending})
                metadata = self.ask_any(partial(fetch_metadata, topics), deadline)
            leaders = leaders_of(metadata)
            return {place: leaders.get(place) or no_leader(metadata, *place) for place in pending}

        # A partition may have no leader for hours: it is retried only a few times.
        return self._ask_and_repeat(partitions, locate, ask, deadline, attempts=_ATTEMPTS_AT_A_LEADER)

    def ask_nodes(
        self, nodes: Iterable[str], ask: Ask[str, T], deadline: Deadline | None = None
    ) -> Answers[str, T]:
        """Ask brokers by their node ids, in digits. :raises WireError: as `home`"""
        deadline = deadline or self._deadline()

        def locate(pending: list[str], fresh: bool) -> dict[str, Address | Failure]:
            known = {
                str(broker.node_id): broker.address for broker in self.brokers(deadline, fresh=fresh).brokers
            }
            missing = Failure(message="the cluster has no such broker")
            return {node: known.get(node, missing) for node in pending}

        return self._ask_and_repeat(nodes, locate, ask, deadline)

    def ask_one_broker(self, keys: Iterable[str], ask: Ask[str, T]) -> Answers[str, T]:
        """Ask any one broker for all keys. :raises WireError: as `home`"""
        deadline = self._deadline()

        def locate(pending: list[str], _fresh: bool) -> dict[str, Address | Failure]:
            return dict.fromkeys(pending, self.home(deadline).address)

        return self._ask_and_repeat(keys, locate, ask, deadline)

    def find_coordinators(self, groups: Iterable[str]) -> Answers[str, Address]:
        """Look up the coordinator of every group now; a group that does not exist has one too.

        :raises WireError: no broker answers
        """
        deadline = self._deadline()

        def locate(pending: list[str], _fresh: bool) -> dict[str, Address | Failure]:
            return self._located(pending, deadline, fresh=True)

        def ask(broker: Connection, keys: list[str], _: Deadline) -> Steps[dict[str, Address | Failure]]:
            yield from ()
            return dict.fromkeys(keys, broker.address)

        return self._ask_and_repeat(groups, locate, ask, deadline)

    def brokers(self, deadline: Deadline | None = None, *, fresh: bool = False) -> ClusterMetadata:
        """The brokers of the cluster, and the topic of groups and offsets; cached unless `fresh`."""
        if fresh or self._metadata is None:
            self._metadata = self.ask_any(partial(fetch_metadata, [OFFSETS_TOPIC]), deadline)
        return self._metadata

    def _located(self, groups: list[str], deadline: Deadline, *, fresh: bool) -> dict[str, Address | Failure]:
        """The coordinator of every group, from the cache unless `fresh`."""
        unknown = groups if fresh else [group for group in groups if group not in self._coordinators]
        answers: dict[str, Address | Failure] = {}
        if unknown:
            answers = self.ask_any(partial(find_coordinators, unknown), deadline)
        for group in unknown:
            self._coordinators.pop(group, None)
            place = answers.get(group)
            if isinstance(place, Address):
                self._coordinators[group] = place
        missing = Failure(message="the broker left the group out of its answer to FindCoordinator")
        return {group: self._coordinators.get(group) or answers.get(group, missing) for group in groups}

    def known_coordinators(self, groups: Iterable[str]) -> dict[str, Address]:
        """The coordinators that last answered for these groups, without a request."""
        return {group: self._coordinators[group] for group in groups if group in self._coordinators}

    def _first_to_answer(self, deadline: Deadline) -> Connection:
        known = self._metadata.brokers if self._metadata else ()
        places = list(dict.fromkeys([*self._bootstrap, *(broker.address for broker in known)]))
        failed: list[Address] = []
        attempts = {place: self._attempt(place, turn, failed, deadline) for turn, place in enumerate(places)}
        outcomes = run_all(attempts, enough=lambda outcome: isinstance(outcome, Connection))
        for outcome in outcomes.values():
            if isinstance(outcome, Connection):
                return outcome
        errors = [error for error in outcomes.values() if isinstance(error, WireError)]
        # A refusal explains more than brokers that did not answer.
        refusals = [
            error
            for error in errors
            if isinstance(error, AuthenticationFailed | UnsupportedMechanism | WrongCluster)
        ]
        if refusals or len(errors) == 1:
            raise (refusals or errors)[0]
        raise WireError("no bootstrap server answers:\n" + "\n".join(f"  {error}" for error in errors))

    def _attempt(
        self, place: Address, turn: int, failed: list[Address], deadline: Deadline
    ) -> Steps[Connection]:
        """Open a connection after the earlier attempts have failed, or have stayed silent for a while."""
        own_turn = deadline.within(turn * _STAGGER_MS)
        while len(failed) < turn and own_turn.remaining_ms():
            try:
                yield SocketWait(None, 0, own_turn.within(_POLL_MS))
            except Expired:
                continue
        connection = self.connection(place)
        try:
            yield from connection.open(deadline)
            connection.check_broker()
        except WireError:
            failed.append(place)
            raise
        return connection

    def _ask_and_repeat(
        self,
        keys: Iterable[K],
        locate: Locate[K],
        ask: Ask[K, T],
        deadline: Deadline,
        attempts: int | None = None,
    ) -> Answers[K, T]:
        """Locate every key, ask all brokers in parallel, and retry what may succeed later.

        A retriable error code is retried until the deadline (or `attempts` times in all), a dead broker a few times
        (its keys may move to another), anything else never.
        :raises WireError: the first lookup fails; a key that a later lookup does not find keeps its last failure
        """
        order = list(dict.fromkeys(keys))
        outcomes: dict[K, T | Failure] = {}
        pending, pause_ms, attempt = order, _FIRST_PAUSE_MS, 1
        while pending:
            try:
                places = locate(pending, attempt > 1)
            except WireError:
                if attempt == 1:
                    raise
                break
            dead = self._round(pending, places, ask, deadline, outcomes)
            if attempt >= _ATTEMPTS_AT_A_DEAD_BROKER:
                dead = set()
            pending = [key for key in pending if key in dead or _retriable(outcomes[key])]
            if not pending or attempt == attempts or deadline.remaining_ms() <= pause_ms:
                break
            if Deadline.is_stopping():
                break
            time.sleep(pause_ms / 1000)
            pause_ms, attempt = min(2 * pause_ms, _LONGEST_PAUSE_MS), attempt + 1
        found: dict[K, T] = {}
        failed: dict[K, Failure] = {}
        for key in order:
            outcome = outcomes[key]
            if isinstance(outcome, Failure):
                failed[key] = outcome
            else:
                found[key] = outcome
        return Answers(found=found, failed=failed)

    def _round(
        self,
        pending: list[K],
        places: dict[K, Address | Failure],
        ask: Ask[K, T],
        deadline: Deadline,
        outcomes: dict[K, T | Failure],
    ) -> set[K]:
        """One round of requests, its results put into `outcomes`. Returns the keys of brokers that are dead."""
        at: dict[Address, list[K]] = {}
        for key in pending:
            place = places[key]
            if isinstance(place, Failure):
                outcomes[key] = place
            else:
                at.setdefault(place, []).append(key)
        dead: set[K] = set()
        replies = run_all({place: ask(self.connection(place), keys, deadline) for place, keys in at.items()})
        for place, reply in replies.items():
            if isinstance(reply, WireError):
                # An earlier request without an answer may have arrived, though this one was not sent.
                kept = {key for key in at[place] if reply.is_unsent and _may_be_done(outcomes.get(key))}
                outcomes |= {key: failure_of(reply) for key in at[place] if key not in kept}
                dead |= set(at[place]) if isinstance(reply, Unreachable) else set()
            else:
                left_out = Failure(message=f"{place} has no answer for it")
                outcomes |= {key: reply.get(key, left_out) for key in at[place]}
        return dead


def _may_be_done(outcome: object) -> bool:
    """Whether a request was sent and not answered."""
    return isinstance(outcome, Failure) and outcome.code is None and not outcome.is_unsent


def _retriable(outcome: object) -> bool:
    return isinstance(outcome, Failure) and outcome.retriable
