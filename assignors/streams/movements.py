"""Tasks that go to a more caught-up client until their own one has warmed up (TaskMovement)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from assignors.java.priority_queue import PriorityQueue
from assignors.streams.least_loaded import LeastLoaded
from assignors.streams.model import MAX_LONG, RUNNING, StreamsClient, Task, TaskSettings


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
