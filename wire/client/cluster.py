"""The brokers of one cluster, the connections to them, and which of them coordinates a group."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from wire.client.address import Address, parse_bootstrap
from wire.client.answers import Answers, Failure, K, failure_of
from wire.client.connection import Connection
from wire.client.errors import (
    AuthenticationFailed,
    RequestTimedOut,
    Unreachable,
    UnsupportedMechanism,
    WireError,
)
from wire.client.groups import find_coordinators
from wire.client.metadata import OFFSETS_TOPIC, ClusterMetadata, explained, fetch_metadata, named_brokers
from wire.client.security import ConnectionSettings
from wire.client.steps import Deadline, Expired, Steps, Wait, run, run_all
from wire.errors import ErrorCode

T = TypeVar("T")
TopicPartition = tuple[str, int]
Locate = Callable[[list[K], bool], dict[K, Address | Failure]]
"""Where every key is served; True asks for a fresh look-up."""

Ask = Callable[[Connection, list[K], Deadline], Steps[dict[K, T | Failure]]]
"""What one broker says of some keys."""

Question = Callable[[Connection, Deadline], Steps[T]]

_STAGGER_MS = 250
"""How long one bootstrap server may keep quiet before the next is tried beside it."""

_POLL_MS = 10
_WHY_MS = 1000
_ATTEMPTS_AT_A_LEADER = 4
_FIRST_PAUSE_MS = 50
_LONGEST_PAUSE_MS = 1000
_ATTEMPTS_AT_A_DEAD_BROKER = 3


class Cluster:
    """Connections by address, kept open; coordinators, looked up once and again when they moved."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self._connections: dict[Address, Connection] = {}
        self._bootstrap = parse_bootstrap(",".join(settings.bootstrap_servers))
        self._home: Connection | None = None
        self._coordinators: dict[str, Address] = {}
        self._metadata: ClusterMetadata | None = None

    def close(self) -> None:
        """Close every connection."""
        for connection in self._connections.values():
            connection.close()

    def connection(self, address: Address) -> Connection:
        """The connection to `address`, which may not be open yet."""
        if address not in self._connections:
            advertised = address not in self._bootstrap
            self._connections[address] = Connection(address, self._settings, advertised=advertised)
        return self._connections[address]

    def home(self, deadline: Deadline) -> Connection:
        """An open connection to some broker: the bootstrap server that answered first.

        :raises WireError: when none answers; of several, every reason is in the message
        """
        if self._home is None:
            self._home = self._first_to_answer(deadline)
        return self._home

    def ask_any(self, question: Question[T], deadline: Deadline) -> T:
        """Ask some broker; when it turns out dead, another one. :raises WireError: as `home`"""
        try:
            return run(question(self.home(deadline), deadline))
        except RequestTimedOut:
            self._home = None
            raise
        except Unreachable:
            self._home = None
            return run(question(self.home(deadline), deadline))

    def ask_every_broker(self, question: Question[T], deadline: Deadline) -> Answers[Address, T]:
        """Ask all brokers side by side. :raises WireError: when not even their list can be read"""
        places = [broker.address for broker in self.brokers(deadline, fresh=True).brokers]

        def locate(pending: list[Address], _fresh: bool) -> dict[Address, Address | Failure]:
            return {place: place for place in pending}

        def ask(broker: Connection, _: list[Address], limit: Deadline) -> Steps[dict[Address, T | Failure]]:
            return {broker.address: (yield from question(broker, limit))}

        return ask_and_repeat(places, locate, ask, self.connection, deadline)

    def ask_coordinators(
        self, groups: Iterable[str], ask: Ask[str, T], deadline: Deadline
    ) -> Answers[str, T]:
        """Ask the coordinator of every group, all of them side by side; what moved is looked up again.

        :raises WireError: when no broker can be asked for the coordinators
        """

        def locate(pending: list[str], fresh: bool) -> dict[str, Address | Failure]:
            return self.coordinators(pending, deadline, fresh=fresh)

        answers = ask_and_repeat(groups, locate, ask, self.connection, deadline)
        if not any(
            failure.code == ErrorCode.COORDINATOR_NOT_AVAILABLE for failure in answers.failed.values()
        ):
            return answers
        # The deadline has been spent on asking again; what remains to be asked is why.
        try:
            metadata = self.brokers(Deadline(_WHY_MS), fresh=True)
        except WireError:
            return answers
        return Answers(found=answers.found, failed=explained(answers.failed, metadata))

    def ask_leaders(
        self,
        partitions: Iterable[TopicPartition],
        ask: Ask[TopicPartition, T],
        deadline: Deadline,
        *,
        known: ClusterMetadata | None = None,
    ) -> Answers[TopicPartition, T]:
        """Ask the leader of every partition, all of them side by side; at first those that are `known`, if told.

        :raises WireError: as `home`
        """

        def locate(pending: list[TopicPartition], fresh: bool) -> dict[TopicPartition, Address | Failure]:
            metadata = known
            if fresh or metadata is None:
                topics = sorted({topic for topic, _ in pending})
                metadata = self.ask_any(lambda home, limit: fetch_metadata(home, topics, limit), deadline)
            leaders = _leaders(metadata)
            return {place: leaders.get(place) or _no_leader(metadata, *place) for place in pending}

        # A partition without a leader may stay so for hours: it is asked for only a few times.
        return ask_and_repeat(
            partitions, locate, ask, self.connection, deadline, attempts=_ATTEMPTS_AT_A_LEADER
        )

    def ask_nodes(self, nodes: Iterable[str], ask: Ask[str, T], deadline: Deadline) -> Answers[str, T]:
        """Ask brokers by their node ids, in digits. :raises WireError: as `home`"""

        def locate(pending: list[str], fresh: bool) -> dict[str, Address | Failure]:
            known = {
                str(broker.node_id): broker.address for broker in self.brokers(deadline, fresh=fresh).brokers
            }
            missing = Failure(message="the cluster has no such broker")
            return {node: known.get(node, missing) for node in pending}

        return ask_and_repeat(nodes, locate, ask, self.connection, deadline)

    def ask_home(self, keys: Iterable[str], ask: Ask[str, T], deadline: Deadline) -> Answers[str, T]:
        """Ask any one broker for all keys. :raises WireError: as `home`"""

        def locate(pending: list[str], _fresh: bool) -> dict[str, Address | Failure]:
            return dict.fromkeys(pending, self.home(deadline).address)

        return ask_and_repeat(keys, locate, ask, self.connection, deadline)

    def find_coordinators(self, groups: Iterable[str], deadline: Deadline) -> Answers[str, Address]:
        """Where every group's coordinator is, looked up now. :raises WireError: when no broker can be asked"""

        def locate(pending: list[str], _fresh: bool) -> dict[str, Address | Failure]:
            return self.coordinators(pending, deadline, fresh=True)

        def ask(broker: Connection, keys: list[str], _: Deadline) -> Steps[dict[str, Address | Failure]]:
            yield from ()
            return dict.fromkeys(keys, broker.address)

        return ask_and_repeat(groups, locate, ask, self.connection, deadline)

    def brokers(self, deadline: Deadline, *, fresh: bool = False) -> ClusterMetadata:
        """The brokers of the cluster, and the topic of groups and offsets, asked once unless `fresh`."""
        if fresh or self._metadata is None:
            self._metadata = self.ask_any(
                lambda home, limit: fetch_metadata(home, [OFFSETS_TOPIC], limit), deadline
            )
        return self._metadata

    def coordinators(
        self, groups: Iterable[str], deadline: Deadline, *, fresh: bool = False
    ) -> dict[str, Address | Failure]:
        """Where the coordinator of every group is, from what is known already unless `fresh`."""
        wanted = list(groups)
        unknown = wanted if fresh else [group for group in wanted if group not in self._coordinators]
        answers: dict[str, Address | Failure] = {}
        if unknown:
            answers = self.ask_any(lambda home, limit: find_coordinators(home, unknown, limit), deadline)
        for group in unknown:
            self._coordinators.pop(group, None)
            place = answers.get(group)
            if isinstance(place, Address):
                self._coordinators[group] = place
        missing = Failure(message="the broker left the group out of its answer to FindCoordinator")
        return {group: self._coordinators.get(group) or answers.get(group, missing) for group in wanted}

    def remember_coordinators(self, places: Mapping[str, Address]) -> None:
        """Take it that these are the coordinators; one that is not says so, and then is looked up."""
        self._coordinators |= places

    def known_coordinators(self, groups: Iterable[str]) -> dict[str, Address]:
        """Those of which it is known where they are; nobody is asked."""
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
        # A broker that answered with a refusal says more than others that did not answer at all.
        told = [error for error in errors if isinstance(error, AuthenticationFailed | UnsupportedMechanism)]
        if told or len(errors) == 1:
            raise (told or errors)[0]
        raise WireError("no bootstrap server answers:\n" + "\n".join(f"  {error}" for error in errors))

    def _attempt(
        self, place: Address, turn: int, failed: list[Address], deadline: Deadline
    ) -> Steps[Connection]:
        """Open a connection, after those before it failed or kept quiet for a while."""
        own_turn = deadline.sooner(turn * _STAGGER_MS)
        while len(failed) < turn and own_turn.remaining_ms():
            try:
                yield Wait(None, 0, own_turn.sooner(_POLL_MS))
            except Expired:
                continue
        connection = self.connection(place)
        try:
            yield from connection.open(deadline)
        except WireError:
            failed.append(place)
            raise
        return connection


def _leaders(metadata: ClusterMetadata) -> dict[TopicPartition, Address]:
    addresses = {broker.node_id: broker.address for broker in metadata.brokers}
    return {
        (topic.name, partition.index): addresses[partition.leader]
        for topic in metadata.topics.values()
        for partition in topic.partitions
        if partition.leader in addresses
    }


def _no_leader(metadata: ClusterMetadata, topic: str, index: int) -> Failure:
    if topic in metadata.failed:
        return metadata.failed[topic]
    if topic in metadata.topics and index < len(metadata.topics[topic].partitions):
        alive = {broker.node_id for broker in metadata.brokers}
        gone = named_brokers(metadata.topics[topic].partitions[index], alive)
        message = f"the partition has no leader. Bring {gone} back."
        return Failure(
            message=message, code=ErrorCode.LEADER_NOT_AVAILABLE, name=ErrorCode.LEADER_NOT_AVAILABLE.name
        )
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return Failure(message=f"{topic} has no partition {index}", code=unknown, name=unknown.name)


def ask_and_repeat(
    keys: Iterable[K],
    locate: Locate[K],
    ask: Ask[K, T],
    connection: Callable[[Address], Connection],
    deadline: Deadline,
    attempts: int | None = None,
) -> Answers[K, T]:
    """Locate every key, ask all brokers side by side, and repeat for what may work later.

    A retriable error code is repeated until the deadline (or `attempts` times in all), a dead broker a few times
    (its keys may move to another), anything else not at all.
    :raises WireError: when the first look-up fails; what a later one fails to find keeps the failure it had
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
        dead = _round(pending, places, ask, connection, deadline, outcomes)
        if attempt >= _ATTEMPTS_AT_A_DEAD_BROKER:
            dead = set()
        pending = [key for key in pending if key in dead or _retriable(outcomes[key])]
        if not pending or attempt == attempts or deadline.remaining_ms() <= pause_ms:
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


def _retriable(outcome: object) -> bool:
    return isinstance(outcome, Failure) and outcome.retriable


def _round(
    pending: list[K],
    places: dict[K, Address | Failure],
    ask: Ask[K, T],
    connection: Callable[[Address], Connection],
    deadline: Deadline,
    outcomes: dict[K, T | Failure],
) -> set[K]:
    """One round of questions, its answers put into `outcomes`. Returns the keys of brokers that are dead."""
    at: dict[Address, list[K]] = {}
    for key in pending:
        place = places[key]
        if isinstance(place, Failure):
            outcomes[key] = place
        else:
            at.setdefault(place, []).append(key)
    dead: set[K] = set()
    replies = run_all({place: ask(connection(place), keys, deadline) for place, keys in at.items()})
    for place, reply in replies.items():
        if isinstance(reply, WireError):
            outcomes |= dict.fromkeys(at[place], failure_of(reply))
            dead |= set(at[place]) if isinstance(reply, Unreachable) else set()
        else:
            left_out = Failure(message=f"{place} left it out of its answer")
            outcomes |= {key: reply.get(key, left_out) for key in at[place]}
    return dead
