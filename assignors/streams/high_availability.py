"""The high-availability task assignor (KIP-441, HighAvailabilityTaskAssignor, the default since Kafka 2.6).

Theory of operation. Stateful tasks are first balanced over the threads of all clients without regard to state, then
standby tasks. Where the client of a task is not caught up on it (its lag is above `acceptable.recovery.lag`) and
another client is further, the task moves to that one for now (`movements`), and the balanced client warms up its state,
up to `max.warmup.replicas` at a time. As long as there are such movements, a probing rebalance comes after
`probing.rebalance.interval.ms`. Stateless tasks fill up at the end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from typing import Literal

from assignors.streams.least_loaded import LeastLoaded
from assignors.streams.model import StreamsClient, Task, TaskSettings
from assignors.streams.movements import TaskMovements

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
