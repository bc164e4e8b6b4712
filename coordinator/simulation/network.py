"""The delivery of requests and answers between consumers' processes and the coordinator's nodes.

A process has a connection to each node, with TCP's guarantees: messages arrive in order, or the connection is lost with
everything in flight, and its requests fail: at once (a reset), or when the first of them times out (silence). In a
network partition nothing is lost: messages arrive when it has ended, if the client has not timed out by then. A node
reads the next request of a connection when it has answered the last one, even if that waits for other members.

Faults (`scenario.Faults`): `loss` loses the connection together with the message; with `duplicate` a request is handled
again later, without a receiver of the answer; with `reorder` a request of a lost connection may still be handled, after
requests of the next one. Such late requests end with the node's process."""

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Protocol, TypeAlias

from coordinator.consumer.outputs import FindCoordinator, Send
from coordinator.engine.calls import AnyRequest
from coordinator.engine.classic.join_group import JoinGroup
from coordinator.engine.classic.sync_group import SyncGroup
from coordinator.simulation.scenario import Direction, NetworkFaults, NetworkPartition
from coordinator.simulation.schedule import Schedule

Sent: TypeAlias = AnyRequest | FindCoordinator
_WAITING = frozenset({JoinGroup, SyncGroup})
LATE_MS = 3_000  # The longest delay of a duplicate, or of a message of a lost connection


class Endpoint(Protocol):
    """A consumer's process, as the network uses it."""

    name: str
    client_id: str
    host: str

    def deliver(self, number: int, answer: object) -> None: ...
    def fail(self, number: int) -> None: ...


class SimulatedConnection:
    """A connection between a process and a node. `node` 0 is any broker, which answers FindCoordinator."""

    __slots__ = (
        "answer_ms",
        "check_ms",
        "held",
        "is_busy",
        "is_closed",
        "is_lost",
        "life",
        "node",
        "process",
        "request_ms",
        "waiting",
    )

    def __init__(self, process: Endpoint, node: int, life: int) -> None:
        self.process = process
        self.node = node
        self.life = life  # How often the node had stopped before
        self.request_ms = self.answer_ms = 0
        """When the last message of each direction arrives: no later message overtakes it."""
        self.waiting: dict[int, int] = {}  # When the client's requests time out, by number
        self.check_ms: int | None = None
        self.is_busy = False  # Whether the node has not answered a request that waits for other members
        self.held: list[tuple[int, Sent]] = []  # Requests that have arrived since, with their numbers
        self.is_lost = False  # Whether nothing is delivered any more
        self.is_closed = False  # Whether the client knows that the connection is lost


class Network:
    """See the module. `receive` passes a request to its node, `find` returns the coordinator."""

    def __init__(
        self,
        schedule: Schedule,
        faults: NetworkFaults,
        random: Random,
        receive: Callable[[SimulatedConnection, int, AnyRequest, bool], None],
        find: Callable[[], int | None],
    ) -> None:
        self._schedule, self._random = schedule, random
        self._receive, self._find = receive, find
        self._connections: dict[tuple[Endpoint, int], SimulatedConnection] = {}
        self._down: set[int] = set()
        self._lives: Counter[int] = Counter()  # How often each node has stopped
        self._partitions: dict[str, tuple[NetworkPartition, ...]] = {}
        self.set_faults(faults)

    def set_faults(self, faults: NetworkFaults) -> None:
        """Apply these faults from now on; existing network partitions remain."""
        low, high = faults.delay_ms
        self._low, self._span = low, high - low + 1
        self._loss, self._duplicate, self._reorder = faults.loss, faults.duplicate, faults.reorder
        for partition in faults.partitions:
            for member in partition.members:
                self._partitions[member] = (*self._partitions.get(member, ()), partition)

    def clear_faults(self) -> None:
        """Apply no faults from now on, except delays."""
        self._loss = self._duplicate = 0.0
        self._reorder = False
        self._partitions = {}

    @property
    def has_no_faults(self) -> bool:
        """Whether there are no faults."""
        return not (self._loss or self._duplicate or self._partitions)

    @property
    def slowest_ms(self) -> int:
        """The longest delay of a message without faults."""
        return self._low + self._span - 1

    def replan(self) -> None:
        """Start without requests in flight and without planned checks."""
        for connection in self._connections.values():
            connection.check_ms = None

    def send(self, process: Endpoint, sent: Send) -> None:
        """A process sends a request."""
        node = sent.node or 0
        connection = self._connections.get((process, node))
        if connection is None:
            connection = self._connections[process, node] = SimulatedConnection(
                process, node, self._lives[node]
            )
        deadline_ms = self._schedule.now_ms + sent.timeout_ms
        connection.waiting[sent.number] = deadline_ms
        if connection.check_ms is None or deadline_ms < connection.check_ms:
            connection.check_ms = deadline_ms
            self._schedule.at(deadline_ms, self.check, connection)
        if connection.is_lost:
            return
        if node in self._down:
            self._lose(connection, is_silent=False)
            return
        if self._loss and self._random.random() < self._loss:
            self._lose(connection)
            if not self._reorder:
                return
        at_ms = connection.request_ms = max(
            connection.request_ms, self._arrival(process.name, Direction.REQUESTS)
        )
        self._schedule.at(at_ms, self._arrive, connection, sent.number, sent.request, False)
        if self._duplicate and node and self._random.random() < self._duplicate:
            late_ms = at_ms + int(self._random.random() * LATE_MS)
            lost_connection = self.lost_connection(process, node)
            self._schedule.at(late_ms, self._arrive, lost_connection, sent.number, sent.request, True)

    def answer(self, connection: SimulatedConnection, number: int, answer: object) -> None:
        """A node answers a request; an answer without a receiver is dropped."""
        connection.is_busy = False
        if connection.is_lost:
            return
        if connection.held:
            self._schedule.at(self._schedule.now_ms, self._handle_next, connection)
        if self._loss and self._random.random() < self._loss:
            self._lose(connection)
            return
        at_ms = connection.answer_ms = max(
            connection.answer_ms, self._arrival(connection.process.name, Direction.ANSWERS)
        )
        self._schedule.at(at_ms, self._return, connection, number, answer)

    def stop_process(self, process: Endpoint) -> None:
        """The process stops, and its connections are closed; messages it has sent may still arrive."""
        for key in [key for key in self._connections if key[0] is process]:
            connection = self._connections.pop(key)
            connection.is_lost = connection.is_closed = True

    def stop_node(self, node: int) -> None:
        """The node stops, until `start_node`: its connections are reset."""
        self._down.add(node)
        self._lives[node] += 1
        for (_, number), connection in [*self._connections.items()]:
            if number == node and not connection.is_lost:
                self._lose(connection, is_silent=False)

    def start_node(self, node: int) -> None:
        self._down.discard(node)

    def lost_connection(self, process: Endpoint, node: int) -> SimulatedConnection:
        """A connection whose answers are lost."""
        connection = SimulatedConnection(process, node, self._lives[node])
        connection.is_lost = connection.is_closed = True
        return connection

    def _arrival(self, member: str, direction: Direction) -> int:
        at_ms = self._schedule.now_ms + self._low + int(self._random.random() * self._span)
        partitions = self._partitions.get(member)
        if partitions is not None:
            for partition in partitions:
                if partition.direction not in (Direction.BOTH, direction):
                    continue
                if partition.start_s * 1000 <= at_ms < partition.end_s * 1000:
                    at_ms = int(partition.end_s * 1000) + self._low + int(self._random.random() * self._span)
        return at_ms

    def _arrive(self, connection: SimulatedConnection, number: int, request: Sent, is_late: bool) -> None:
        if connection.is_lost and not is_late:
            if self._reorder and self._random.random() < 0.5:
                late_ms = self._schedule.now_ms + int(self._random.random() * LATE_MS)
                self._schedule.at(late_ms, self._arrive, connection, number, request, True)
            return
        if connection.life != self._lives[connection.node]:
            return
        if connection.is_busy and not is_late:
            connection.held.append((number, request))
            return
        connection.is_busy = type(request) in _WAITING
        if isinstance(request, FindCoordinator):
            self.answer(connection, number, self._find())
        else:
            self._receive(connection, number, request, is_late)

    def _handle_next(self, connection: SimulatedConnection) -> None:
        if connection.held and not connection.is_busy:
            self._arrive(connection, *connection.held.pop(0), False)

    def _return(self, connection: SimulatedConnection, number: int, answer: object) -> None:
        if not connection.is_lost and connection.waiting.pop(number, None) is not None:
            connection.process.deliver(number, answer)

    def _lose(self, connection: SimulatedConnection, is_silent: bool | None = None) -> None:
        connection.is_lost = True
        if is_silent is None:
            is_silent = self._random.random() < 0.5
        if not is_silent:
            at_ms = self._schedule.now_ms + self._low + int(self._random.random() * self._span)
            self._schedule.at(at_ms, self._close, connection)

    def check(self, connection: SimulatedConnection) -> None:
        """Called when planned: a request has timed out, or was answered meanwhile."""
        connection.check_ms = None
        if connection.is_closed or not connection.waiting:
            return
        earliest_ms = min(connection.waiting.values())
        if earliest_ms <= self._schedule.now_ms:
            self._close(connection)
        else:
            connection.check_ms = earliest_ms
            self._schedule.at(earliest_ms, self.check, connection)

    def _close(self, connection: SimulatedConnection) -> None:
        """The client notices the loss: all requests waiting on the connection fail, and the next opens another one."""
        if connection.is_closed:
            return
        connection.is_lost = connection.is_closed = True
        key = (connection.process, connection.node)
        if self._connections.get(key) is connection:
            del self._connections[key]
        for number in list(connection.waiting):
            connection.process.fail(number)
