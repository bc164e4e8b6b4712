"""The high-availability task assignor (KIP-441, HighAvailabilityTaskAssignor, the default since Kafka 2.6).

Theory of operation. Stateful tasks are first balanced over the threads of all clients without regard to state, then
standby tasks. Where the client of a task is not caught up on it (its lag is above `acceptable.recovery.lag`) and
another client is further, the task moves to that one for now (`TaskMovements`), and the balanced client warms up its
state, up to `max.warmup.replicas` at a time. As long as there are such movements, a probing rebalance comes after
`probing.rebalance.interval.ms`. Stateless tasks fill up at the end.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import Literal, NamedTuple

from assignors.java.priority_queue import PriorityQueue
from assignors.streams.model import MAX_LONG, RUNNING, StreamsClient, Task, TaskSettings

_Key = tuple[float, tuple[int, int]]


def _by_load(client: StreamsClient) -> _Key:
    """Computed most often of all, so without further calls."""
    return (len(client.active) + len(client.standby)) / client.capacity, client.order


class LeastLoaded:
    """A queue of clients, the least loaded first, then by process id. A load that changes takes effect when the client
    is offered again, as in Java; until then the queue may be out of order."""

    def __init__(
        self, clients: Iterable[StreamsClient], *, key: Callable[[StreamsClient], _Key] | None = None
    ) -> None:
        """`key`: by default the load of all tasks, and the process id."""
        self._queue: PriorityQueue[StreamsClient] = PriorityQueue(_by_load if key is None else key)
        self._queued: set[StreamsClient] = set()
        for client in clients:
            self.offer(client)

    def offer(self, *clients: StreamsClient) -> None:
        for client in clients:
            if client in self._queued:
                self._queue.remove(client)
            self._queued.add(client)
            self._queue.offer(client)

    def poll(self, is_eligible: Callable[[StreamsClient], bool] | None = None) -> StreamsClient | None:
        """Take out the first client that is eligible; None if there is none."""
        rejected: list[StreamsClient] = []
        first: StreamsClient | None = None
        while (client := self._queue.poll()) is not None:
            self._queued.remove(client)
            if is_eligible is None or is_eligible(client):
                first = client
                break
            rejected.append(client)
        self.offer(*rejected)
        return first


class _Movement(NamedTuple):
    """A task, and the client where it belongs once that is caught up."""

    task: Task
    destination: StreamsClient


class TaskMovements:
    """The movements of one assignment. `clients` are sorted by process id; the warm-ups of active and of standby tasks
    come from the same budget."""

    def __init__(
        self, clients: Sequence[StreamsClient], stateful: Sequence[Task], settings: TaskSettings
    ) -> None:
        self.clients = clients
        self.warmups: set[tuple[StreamsClient, Task]] = set()
        self._warmups_left = settings.max_warmup_replicas
        self._caught_up = {
            task: {client for client in clients if _is_caught_up(client.lags[task], settings)}
            for task in stateful
        }
        self._by_lag = {
            task: sorted(clients, key=lambda client: (client.lags[task], client.order)) for task in stateful
        }

    def move_active(self) -> int:
        """Move active tasks, and return how many need it."""
        movements = self._queue([_Movement(task, c) for c in self.clients for task in sorted(c.active)])
        needed = len(movements)
        least_loaded = LeastLoaded(self.clients)
        while (movement := movements.poll()) is not None:
            task, destination = movement
            source = (
                least_loaded.poll(partial(self._has_caught_up_standby, task))
                or least_loaded.poll(self._caught_up[task].__contains__)
                or self._by_lag[task][0]
            )
            if task in source.standby:
                source.standby.remove(task)
                destination.standby.add(task)
            elif self._take_warmup():
                destination.standby.add(task)
                self.warmups.add((destination, task))
            destination.active.remove(task)
            source.active.add(task)
            least_loaded.offer(source, destination)
        return needed

    def move_standby(self) -> int:
        """Move standby tasks to caught-up clients without a copy, and return how many were moved."""
        movements = self._queue(
            [
                _Movement(task, client)
                for client in self.clients
                for task in sorted(client.standby)
                if (client, task) not in self.warmups
            ]
        )
        moved = 0
        least_loaded = LeastLoaded(self.clients)
        while (movement := movements.poll()) is not None:
            task, destination = movement
            source = least_loaded.poll(partial(self._could_take_standby, task)) or self._more_caught_up(
                movement
            )
            if source is None:
                continue
            source.standby.add(task)
            if self._take_warmup():
                self.warmups.add((destination, task))
            else:
                destination.standby.remove(task)
            least_loaded.offer(source, destination)
            moved += 1
        return moved

    def _queue(self, candidates: Sequence[_Movement]) -> PriorityQueue[_Movement]:
        """Those that are needed, the tasks with the fewest caught-up clients first."""
        queue: PriorityQueue[_Movement] = PriorityQueue(lambda m: (len(self._caught_up[m.task]), m.task))
        for movement in candidates:
            task, client = movement
            first = self._by_lag[task][0]
            if client not in self._caught_up[task] and first.lags[task] < client.lags[task]:
                queue.offer(movement)
        return queue

    def _more_caught_up(self, movement: _Movement) -> StreamsClient | None:
        """The most caught-up client without a copy, among those that are ahead of the destination."""
        for client in self._by_lag[movement.task]:
            if client is movement.destination:
                return None
            if not client.has(movement.task):
                return client
        return None

    def _has_caught_up_standby(self, task: Task, client: StreamsClient) -> bool:
        return client in self._caught_up[task] and task in client.standby

    def _could_take_standby(self, task: Task, client: StreamsClient) -> bool:
        return client in self._caught_up[task] and not client.has(task)

    def _take_warmup(self) -> bool:
        self._warmups_left -= 1
        return self._warmups_left >= 0


def _is_caught_up(lag: int, settings: TaskSettings) -> bool:
    most = settings.acceptable_recovery_lag
    return lag == RUNNING or most == MAX_LONG or 0 <= lag <= most


Kind = Literal["active", "standby"]


def assign(
    clients: Sequence[StreamsClient],
    tasks: Collection[Task],
    stateful: Collection[Task],
    settings: TaskSettings,
) -> tuple[bool, frozenset[tuple[StreamsClient, Task]]]:
    """Assign all tasks. Returns whether a probing rebalance is needed, and the warm-ups among the standby tasks."""
    clients = sorted(clients, key=attrgetter("order"))
    stateful_tasks = sorted(stateful)
    for index, task in enumerate(stateful_tasks):
        clients[index % len(clients)].active.add(task)
    _balance(clients, "active")
    if settings.num_standby_replicas:
        _assign_standby(clients, stateful_tasks, settings.num_standby_replicas)
        _balance(clients, "standby")
    movements = TaskMovements(clients, stateful_tasks, settings)
    needed = movements.move_active() + movements.move_standby()
    by_active_load = LeastLoaded(
        clients, key=lambda client: (len(client.active) / client.capacity, client.order)
    )
    _assign_least_loaded(by_active_load, sorted(set(tasks) - set(stateful)))
    return needed > 0, frozenset(movements.warmups)


def _assign_least_loaded(queue: LeastLoaded, tasks: Sequence[Task]) -> None:
    for task in tasks:
        client = queue.poll()
        if client is None:
            raise ValueError("there is no client")
        client.active.add(task)
        queue.offer(client)


def _assign_standby(clients: Sequence[StreamsClient], stateful: Sequence[Task], replicas: int) -> None:
    """As many copies of each task as there are clients without it (DefaultStandbyTaskAssignor)."""
    queue = LeastLoaded(clients)
    for task in stateful:
        is_eligible = _without(task)
        for _ in range(replicas):
            client = queue.poll(is_eligible)
            if client is None:
                break
            client.standby.add(task)
            queue.offer(client)


def _without(task: Task) -> Callable[[StreamsClient], bool]:
    return lambda client: not client.has(task)


def _balance(clients: Sequence[StreamsClient], kind: Kind) -> None:
    """Move tasks of a kind from each client to each other one while that makes their loads more even, until nothing
    moves."""
    has_moved = True
    while has_moved:
        has_moved = False
        for source in clients:
            for destination in clients:
                if source is destination or not _evens(source, destination):
                    continue
                tasks: set[Task] = getattr(source, kind)
                for task in sorted(tasks):
                    if not _evens(source, destination):
                        break
                    if destination.has(task):
                        continue
                    tasks.remove(task)
                    getattr(destination, kind).add(task)
                    has_moved = True


def _evens(source: StreamsClient, destination: StreamsClient) -> bool:
    """Whether one task less here and one more there makes the loads more even, and not uneven the other way."""
    skew = source.load - destination.load
    if skew <= 0:
        return False
    after = (source.task_count - 1) / source.capacity - (destination.task_count + 1) / destination.capacity
    return 0 <= after < skew
