"""The sticky task assignor (LegacyStickyTaskAssignor), and the one that keeps what is there, which a leader uses if it
cannot fetch the end offsets of the changelogs (FallbackPriorTaskAssignor).

Theory of operation. Active tasks stay with the client that had them, up to an even share; then they go to one that had
a standby, then to the least loaded one. Where loads are equal, the client is preferred on which the task meets a task
that it has not met yet. Java iterates over HashMaps throughout, so the order of clients and tasks is part of the
result."""

from collections.abc import Collection, Sequence

from assignors.java.hash_map import copied_capacity, uuid_order
from assignors.streams.model import StreamsClient, Task, hash_order


def assign(
    clients: Sequence[StreamsClient],
    tasks: Sequence[Task],
    stateful: Sequence[Task],
    num_standby_replicas: int,
    *,
    keeps_active: bool = False,
) -> None:
    """Assign all tasks; `clients`, `tasks` and `stateful` are in the order of Java's maps. `keeps_active`: no active
    task moves away from its client, as for a fallback."""
    run = _Run(clients, tasks)
    run.assign_active(keeps_active)
    for task in stateful:
        for _ in range(num_standby_replicas):
            candidates = run.in_set([client for client in clients if not client.has(task)])
            if not candidates:
                break
            client = run.find(task, candidates)
            run.meet(task, client)
            client.standby.add(task)


class _Run:
    def __init__(self, clients: Sequence[StreamsClient], tasks: Sequence[Task]) -> None:
        self.clients, self.tasks = clients, tasks
        self.previous: dict[Task, StreamsClient] = {}
        self.standbys: dict[Task, list[StreamsClient]] = {}
        self.pairs: set[tuple[Task, Task]] = set()
        self.most_pairs = len(tasks) * (len(tasks) - 1) // 2
        for client in clients:
            for task in sorted(client.previous_active):
                self.previous[task] = client
            for task in client.previous_standby:
                self.standbys.setdefault(task, []).append(client)
        self.standbys = {task: self.in_set(holders) for task, holders in self.standbys.items()}

    def assign_active(self, keeps_active: bool) -> None:
        quota = len(self.tasks) // sum(client.capacity for client in self.clients)
        known = frozenset(self.tasks)
        left = hash_order(self.tasks, copied_capacity(len(self.tasks)))
        for task in hash_order(list(self.previous)):
            client = self.previous[task]
            if task in known and (keeps_active or len(client.active) < client.capacity * quota):
                self._take(task, client, left)
        for task in tuple(left):
            for client in self.standbys.get(task, ()):
                if len(client.active) < client.capacity * quota:
                    self._take(task, client, left)
                    break
        for task in sorted(left):
            self._take(task, self.find(task, self.clients), left)

    def _take(self, task: Task, client: StreamsClient, left: list[Task]) -> None:
        self.meet(task, client)
        client.active.add(task)
        left.remove(task)

    def meet(self, task: Task, client: StreamsClient) -> None:
        self.pairs.update(_pair(task, other) for other in (*client.active, *client.standby))

    def in_set(self, clients: Sequence[StreamsClient]) -> list[StreamsClient]:
        """The clients in the order of a HashSet to which they are added one by one."""
        return [clients[index] for index in uuid_order([client.process for client in clients]).tolist()]

    def find(self, task: Task, candidates: Sequence[StreamsClient]) -> StreamsClient:
        if len(candidates) == 1:
            return candidates[0]
        standbys = [client for client in self.standbys.get(task, ()) if client in candidates]
        previous = self.previous.get(task)
        if previous is None or previous not in candidates:
            previous = self._least_loaded(task, standbys)
        if previous is None:
            return self._one_of(task, candidates)
        if not self._is_overloaded(previous):
            return previous
        standby = self._least_loaded(task, standbys)
        if standby is None or self._is_overloaded(standby):
            return self._one_of(task, candidates)
        return standby

    def _is_overloaded(self, client: StreamsClient) -> bool:
        return client.task_count >= client.capacity and any(
            _has_more_room(other, client) for other in self.clients
        )

    def _one_of(self, task: Task, candidates: Sequence[StreamsClient]) -> StreamsClient:
        client = self._least_loaded(task, candidates)
        if client is None:
            raise ValueError("there is no client")
        return client

    def _least_loaded(self, task: Task, candidates: Sequence[StreamsClient]) -> StreamsClient | None:
        """The least loaded client on which the task meets a new one, else the least loaded."""
        for only_new in (True, False):
            least: StreamsClient | None = None
            for client in candidates:
                if not client.task_count:
                    return client
                if (least is None or _has_more_room(client, least)) and not (
                    only_new and not self._meets_new(task, {*client.active, *client.standby})
                ):
                    least = client
            if least is not None:
                return least
        return None

    def _meets_new(self, task: Task, others: Collection[Task]) -> bool:
        return len(self.pairs) < self.most_pairs and any(
            _pair(task, other) not in self.pairs for other in others
        )


def _pair(task: Task, other: Task) -> tuple[Task, Task]:
    return (task, other) if task < other else (other, task)


def _has_more_room(client: StreamsClient, other: StreamsClient) -> bool:
    """Whether the client is less loaded, or as loaded and larger."""
    return (client.load, -client.capacity) < (other.load, -other.capacity)
