"""Clients by their load (ConstrainedPrioritySet)."""

from collections.abc import Callable, Iterable

from assignors.java.priority_queue import PriorityQueue
from assignors.streams.model import StreamsClient

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
