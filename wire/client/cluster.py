"""A cluster to ask: its brokers, the connections to them, and where its groups and partitions are served.
`KafkaClient` asks the brokers of some keys (coordinators, leaders) all at once without threads, asks again what may
succeed later (NOT_COORDINATOR, a broker that died), and returns partial results together with partial failures."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from wire.client.address import Address, parse_bootstrap
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
)
from wire.client.metadata import (
    OFFSETS_TOPIC,
    ClusterMetadata,
    TopicPartition,
    explained,
    fetch_metadata,
    find_coordinators,
    leaders_of,
    no_leader,
)
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Expired, Replies, SocketWait, Steps, run, run_all
from wire.errors import ErrorCode, Failure

T = TypeVar("T")
Locate = Callable[[list[K], bool], dict[K, Address | Failure]]
"""The broker that serves each key; True requests a fresh lookup."""

Ask = Callable[[Connection, list[K], Deadline], Replies[K, T]]
Question = Callable[[Connection, Deadline], Steps[T]]

_STAGGER_MS = 250  # the time after which the next bootstrap server is tried as well if one stays silent

_POLL_MS = 10
_WHY_MS = 1000
_ATTEMPTS_AT_A_LEADER = 4
_FIRST_PAUSE_MS = 50
_LONGEST_PAUSE_MS = 1000
_ATTEMPTS_AT_A_DEAD_BROKER = 3


class KafkaClient:
    """A connection to a cluster, for a ``with`` block. Every call takes at most the settings' `api_timeout_ms`, and
    raises `WireError` only when no broker could be asked at all."""

    def __init__(self, settings: ConnectionSettings) -> None:
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
        return self.ask_any(partial(fetch_metadata, topics))

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    def connection(self, address: Address) -> Connection:
        if address not in self._connections:
            advertised = address not in self._bootstrap
            brokers = self._metadata.brokers if self._metadata else ()
            node_id = next((broker.node_id for broker in brokers if broker.address == address), None)
            self._connections[address] = Connection(
                address, self._settings, advertised=advertised, node_id=node_id
            )
        return self._connections[address]

    def home(self, deadline: Deadline | None = None) -> Connection:
        """An open connection to the bootstrap server that answered first. Raises WireError: with every reason."""
        if self._home is None:
            self._home = self._first_to_answer(deadline or self._deadline())
        return self._home

    def ask_any(self, question: Question[T], deadline: Deadline | None = None) -> T:
        """Ask any broker; if it fails, ask another. Raises WireError: as `home`."""
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
        """Ask all brokers in parallel. Raises WireError: the list of brokers cannot be read."""
        deadline = self._deadline()
        addresses = [broker.address for broker in self.brokers(deadline, fresh=True).brokers]

        def ask(broker: Connection, _: list[Address], limit: Deadline) -> Replies[Address, T]:
            return {broker.address: (yield from question(broker, limit))}

        return self._ask_and_repeat(addresses, lambda pending, _: {at: at for at in pending}, ask, deadline)

    def ask_coordinators(self, groups: Iterable[str], ask: Ask[str, T]) -> Answers[str, T]:
        """Ask all coordinators in parallel; one that moved is looked up again. Raises WireError: as `home`."""
        deadline = self._deadline()
        answers = self._ask_and_repeat(groups, partial(self._located, deadline), ask, deadline)
        if all(failure.code != ErrorCode.COORDINATOR_NOT_AVAILABLE for failure in answers.failed.values()):
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
        """Ask all leaders in parallel, first those in `known`, if given. Raises WireError: as `home`."""
        deadline = self._deadline()

        def locate(pending: list[TopicPartition], fresh: bool) -> dict[TopicPartition, Address | Failure]:
            metadata = known
            if fresh or metadata is None:
                topics = sorted({topic for topic, _ in pending})
                metadata = self.ask_any(partial(fetch_metadata, topics), deadline)
            leaders = leaders_of(metadata)
            return {key: leaders.get(key) or no_leader(metadata, *key) for key in pending}

        # A partition may have no leader for hours: it is retried only a few times.
        return self._ask_and_repeat(partitions, locate, ask, deadline, attempts=_ATTEMPTS_AT_A_LEADER)

    def ask_nodes(
        self, nodes: Iterable[str], ask: Ask[str, T], deadline: Deadline | None = None
    ) -> Answers[str, T]:
        """Ask brokers by their node ids, in digits. Raises WireError: as `home`."""
        deadline = deadline or self._deadline()

        def locate(pending: list[str], fresh: bool) -> dict[str, Address | Failure]:
            brokers = self.brokers(deadline, fresh=fresh).brokers
            known = {str(broker.node_id): broker.address for broker in brokers}
            missing = Failure(message="the cluster has no such broker")
            return {node: known.get(node, missing) for node in pending}

        return self._ask_and_repeat(nodes, locate, ask, deadline)

    def ask_one_broker(self, keys: Iterable[str], ask: Ask[str, T]) -> Answers[str, T]:
        deadline = self._deadline()

        def locate(pending: list[str], _fresh: bool) -> dict[str, Address | Failure]:
            return dict.fromkeys(pending, self.home(deadline).address)

        return self._ask_and_repeat(keys, locate, ask, deadline)

    def find_coordinators(self, groups: Iterable[str]) -> Answers[str, Address]:
        """The coordinator of every group, existing or not, looked up now. Raises WireError: as `home`."""
        deadline = self._deadline()

        def locate(pending: list[str], _fresh: bool) -> dict[str, Address | Failure]:
            return self._located(deadline, pending, True)

        def ask(broker: Connection, keys: list[str], _: Deadline) -> Replies[str, Address]:
            yield from ()
            return dict.fromkeys(keys, broker.address)

        return self._ask_and_repeat(groups, locate, ask, deadline)

    def brokers(self, deadline: Deadline | None = None, *, fresh: bool = False) -> ClusterMetadata:
        """The brokers of the cluster, and the topic of groups and offsets; cached unless `fresh`."""
        if fresh or self._metadata is None:
            self._metadata = self.ask_any(partial(fetch_metadata, [OFFSETS_TOPIC]), deadline)
        return self._metadata

    def _located(self, deadline: Deadline, groups: list[str], fresh: bool) -> dict[str, Address | Failure]:
        unknown = groups if fresh else [group for group in groups if group not in self._coordinators]
        answers: dict[str, Address | Failure] = {}
        if unknown:
            answers = self.ask_any(partial(find_coordinators, unknown), deadline)
        for group in unknown:
            self._coordinators.pop(group, None)
            address = answers.get(group)
            if isinstance(address, Address):
                self._coordinators[group] = address
        missing = Failure(message="the broker left the group out of its answer to FindCoordinator")
        return {group: self._coordinators.get(group) or answers.get(group, missing) for group in groups}

    def remember_coordinators(self, coordinators: Mapping[str, Address]) -> None:
        """Ask these brokers first about their groups."""
        self._coordinators |= coordinators

    def known_coordinators(self, groups: Iterable[str]) -> dict[str, Address]:
        return {group: self._coordinators[group] for group in groups if group in self._coordinators}

    def _first_to_answer(self, deadline: Deadline) -> Connection:
        known = self._metadata.brokers if self._metadata else ()
        addresses = dict.fromkeys([*self._bootstrap, *(broker.address for broker in known)])
        failed: list[Address] = []
        attempts = {a: self._attempt(a, turn, failed, deadline) for turn, a in enumerate(addresses)}
        outcomes = run_all(attempts, enough=lambda outcome: isinstance(outcome, Connection))
        for outcome in outcomes.values():
            if isinstance(outcome, Connection):
                return outcome
        errors = [error for error in outcomes.values() if isinstance(error, WireError)]
        # A refusal explains more than brokers that did not answer.
        kinds = (AuthenticationFailed, UnsupportedMechanism, WrongCluster)
        refusals = [error for error in errors if isinstance(error, kinds)]
        if refusals or len(errors) == 1:
            raise (refusals or errors)[0]
        raise WireError("no bootstrap server answers:\n" + "\n".join(f"  {error}" for error in errors))

    def _attempt(
        self, address: Address, turn: int, failed: list[Address], deadline: Deadline
    ) -> Steps[Connection]:
        """Open a connection after the earlier attempts have failed, or have stayed silent for a while."""
        turn_limit = deadline.within(turn * _STAGGER_MS)
        while len(failed) < turn and turn_limit.remaining_ms():
            try:
                yield SocketWait(None, 0, turn_limit.within(_POLL_MS))
            except Expired:
                continue
        connection = self.connection(address)
        try:
            yield from connection.open(deadline)
            connection.check_broker()
        except WireError:
            failed.append(address)
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
        """Locate every key, ask all brokers in parallel, and retry: a retriable error code until the deadline (or
        `attempts` times in all), a dead broker a few times (its keys may move to another), anything else never. A key
        that a later lookup does not find keeps its last failure. Raises WireError: the first lookup fails."""
        order = list(dict.fromkeys(keys))
        outcomes: dict[K, T | Failure] = {}
        pending, pause_ms, attempt = order, _FIRST_PAUSE_MS, 1
        while pending:
            try:
                addresses = locate(pending, attempt > 1)
            except WireError:
                if attempt == 1:
                    raise
                break
            dead = self._round(pending, addresses, ask, deadline, outcomes)
            if attempt >= _ATTEMPTS_AT_A_DEAD_BROKER:
                dead = set()
            failures = ((key, outcomes[key]) for key in pending)
            pending = [key for key, f in failures if key in dead or (isinstance(f, Failure) and f.retriable)]
            is_over = attempt == attempts or deadline.remaining_ms() <= pause_ms
            if not pending or is_over or Deadline.is_stopping():
                break
            time.sleep(pause_ms / 1000)
            pause_ms, attempt = min(2 * pause_ms, _LONGEST_PAUSE_MS), attempt + 1
        return Answers.of({key: outcomes[key] for key in order})

    def _round(
        self,
        pending: list[K],
        addresses: dict[K, Address | Failure],
        ask: Ask[K, T],
        deadline: Deadline,
        outcomes: dict[K, T | Failure],
    ) -> set[K]:
        """One round of requests, its results put into `outcomes`. Returns the keys of brokers that are dead."""
        at: dict[Address, list[K]] = {}
        for key in pending:
            address = addresses[key]
            if isinstance(address, Failure):
                outcomes[key] = address
            else:
                at.setdefault(address, []).append(key)
        dead: set[K] = set()
        replies = run_all({host: ask(self.connection(host), keys, deadline) for host, keys in at.items()})
        for address, reply in replies.items():
            if isinstance(reply, WireError):
                # An earlier request without an answer may have arrived, though this one was not sent.
                kept = {key for key in at[address] if reply.is_unsent and _may_be_done(outcomes.get(key))}
                outcomes |= {key: failure_of(reply) for key in at[address] if key not in kept}
                dead |= set(at[address]) if isinstance(reply, Unreachable) else set()
            else:
                left_out = Failure(message=f"{address} has no answer for it")
                outcomes |= {key: reply.get(key, left_out) for key in at[address]}
        return dead


def _may_be_done(outcome: object) -> bool:
    return isinstance(outcome, Failure) and outcome.code is None and not outcome.is_unsent
