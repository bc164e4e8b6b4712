"""The tasks of a client among its threads (StreamsPartitionAssignor.assignTasksToThreads)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from assignors.java.priority_queue import PriorityQueue
from assignors.streams.model import StreamsClient, StreamThread, Task, hash_order

TasksByThread = dict[str, list[Task]]


def share_out(
    client: StreamsClient, threads: Sequence[StreamThread]
) -> tuple[TasksByThread, TasksByThread, TasksByThread]:
    """The stateful active, the standby, and the stateless active tasks of each thread. All three are counted together:
    no thread has two tasks more than another, unless standby tasks are too few."""
    ids = sorted(thread.id for thread in threads)
    load = dict.fromkeys(ids, 0)
    previous = {thread.id: previous_by_lag(client, thread) for thread in threads}
    stateful = [task for task in sorted(client.active) if task in client.lags]
    stateless = [task for task in sorted(client.active) if task not in client.lags]
    return (
        _among(hash_order(stateful), ids, previous, load),
        _among(sorted(client.standby), ids, previous, load),
        _among(hash_order(stateless), ids, {}, load),
    )


def previous_by_lag(client: StreamsClient, thread: StreamThread) -> list[Task]:
    """The stateful tasks that the thread had, the most caught up first."""
    known = (task for task in thread.offset_sums if task in client.lags)
    return sorted(known, key=lambda task: (client.lags[task], task))


def _among(
    tasks: Sequence[Task],
    threads: Sequence[str],
    previous: Mapping[str, Sequence[Task]],
    load: dict[str, int],
) -> TasksByThread:
    """Assign `tasks`, in the order of Java's set. Each thread keeps its previous ones up to an even share; the rest
    goes in turns to those that have less, by ascending task, which spreads subtopologies. `load`, the tasks of each
    thread so far, grows."""
    shares: TasksByThread = {thread: [] for thread in threads}
    least = (sum(load.values()) + len(tasks)) // len(threads)
    # The last tasks go out in the order of the queue's array, which depends on that of Java's set.
    left = PriorityQueue(lambda task: task, tasks)
    skipped: dict[Task, str] = {}  # the last previous owner that had its share without the task
    unfilled: deque[str] = deque()
    for thread in threads if len(left) else ():
        room = least - load[thread]
        for task in previous.get(thread, ()):
            if task not in left:
                continue
            if len(shares[thread]) < room:
                shares[thread].append(task)
                left.remove(task)
            else:
                skipped[task] = thread
        if len(shares[thread]) < room:
            unfilled.append(thread)
    while unfilled:
        thread, following = unfilled.popleft(), left.poll()
        if following is None:
            raise ValueError("the tasks do not suffice for an even share of each thread")
        shares[thread].append(following)
        if len(shares[thread]) + load[thread] < least:
            unfilled.append(thread)
    if len(left):
        at_least = [thread for thread in threads if len(shares[thread]) + load[thread] == least]
        for task, thread in sorted(skipped.items()):
            if thread in at_least and task in left:
                shares[thread].append(task)
                left.remove(task)
                at_least.remove(thread)
        for task, thread in zip(left, at_least, strict=False):
            shares[thread].append(task)
    for thread, own in shares.items():
        load[thread] += len(own)
    return shares
