"""Tasks, the threads that run them, and the settings that decide where. A *client* is a process: one instance of
KafkaStreams, with the process id that its threads send. A *thread* is a member of the group."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self
from uuid import UUID

import numpy as np

from assignors.java.hash_map import DEFAULT_CAPACITY, map_order, uuid_sort_key

TopicPartition = tuple[str, int]

RUNNING = -2
"""The offset sum and lag of an active task that is running (Task.LATEST_OFFSET)."""
UNKNOWN_OFFSET_SUM = -3
"""The offset sum of a store whose offset is not known, and the lag if the end offsets are not
(SubscriptionInfo.UNKNOWN_OFFSET_SUM)."""
MAX_LONG = 2**63 - 1


class Task(NamedTuple):
    """A task, `1_3` in Kafka's text: a subtopology and a partition. Tasks sort as in Java (TaskId.compareTo)."""

    subtopology: int
    partition: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError: the text is not `SUBTOPOLOGY_PARTITION`."""
        match = re.fullmatch(r"(\d{1,10})_(\d{1,10})", text, re.ASCII)
        if match is None:
            raise ValueError(f"{text!r} is not a task id such as 0_3")
        return cls(int(match[1]), int(match[2]))

    def __str__(self) -> str:
        return f"{self.subtopology}_{self.partition}"


def hash_order(tasks: Sequence[Task], capacity: int = DEFAULT_CAPACITY) -> list[Task]:
    """The tasks in the order of a HashSet to which they are added one by one."""
    if len(tasks) < 2:
        return list(tasks)
    # Objects.hash(subtopology, partition, null)
    hashes = np.array(
        [29791 + 961 * task.subtopology + 31 * task.partition for task in tasks], dtype=np.int64
    )
    return [tasks[index] for index in map_order(hashes, capacity=capacity, keys=tasks).indices.tolist()]


def subtopology_order(numbers: Collection[int]) -> list[int]:
    """Subtopologies in the order of a HashMap to which they are added ascending."""
    ascending = sorted(numbers)
    # Objects.hash(nodeGroupId, namedTopology)
    hashes = np.array([961 + 31 * number for number in ascending], dtype=np.int64)
    return [ascending[index] for index in map_order(hashes, keys=ascending).indices.tolist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettings:
    """The leader's configuration, with Kafka's defaults (StreamsConfig, AssignmentConfigs)."""

    acceptable_recovery_lag: int = 10_000  # offsets; MAX_LONG: no limit
    max_warmup_replicas: int = 2
    num_standby_replicas: int = 0
    probing_rebalance_interval_ms: int = 600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamThread:
    """A member of the group, with what its subscription says."""

    id: str
    process: UUID
    owned: frozenset[TopicPartition] = frozenset()
    offset_sums: Mapping[Task, int] = field(default_factory=dict)
    """By stateful task with state on disk: the sum of its stores' offsets, RUNNING or UNKNOWN_OFFSET_SUM."""
    is_eager: bool = (
        False  # It revokes its partitions before it rejoins (releases before 2.4, or their upgrade.from)
    )


class StreamsClient:
    """A process, its previous tasks, and those that it is assigned (ClientState)."""

    def __init__(self, process: UUID, capacity: int) -> None:
        self.process, self.capacity = process, capacity
        self.order = uuid_sort_key(process)  # as ProcessId.compareTo
        self.lags: dict[Task, int] = {}  # of all stateful tasks
        self.previous_active: set[Task] = set()
        self.previous_standby: set[Task] = set()
        self.active: set[Task] = set()
        self.standby: set[Task] = set()

    @property
    def task_count(self) -> int:
        return len(self.active) + len(self.standby)

    @property
    def load(self) -> float:
        """Active and standby tasks per thread."""
        return self.task_count / self.capacity

    def has(self, task: Task) -> bool:
        return task in self.active or task in self.standby
