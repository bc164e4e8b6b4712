"""Kafka Streams' own leader, in one long-lived Java process (`java/TaskOracle.java`): the oracle of our tasks,
asked by lines of JSON. A case is an application (pipelines of the DSL), a cluster (topics, offsets) and a group."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from assignors.streams.model import StreamThread, Task, TaskSettings
from tests.kafka.java import ALL_COMPILERS
from tests.kafka.programs import SILENT, TASK_ORACLE, Answerer

APPLICATION = "app"
ASSIGNORS = "org.apache.kafka.streams.processor.internals.assignment."


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """`stream(sources) → repartition → join(table) → count(store) → sink`, each but the first if named; or a table."""

    sources: tuple[str, ...]
    table: bool = False
    repartition: str | None = None
    join: str | None = None  # a source topic of a table
    store: str | None = None
    logged: bool = True
    sink: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCase:
    pipelines: tuple[Pipeline, ...]
    topics: Mapping[str, int]  # partition counts, with repartition and changelog topics
    threads: tuple[StreamThread, ...]
    leader: UUID
    created: frozenset[str] = frozenset()  # changelogs that the leader has just created
    end_offsets: Mapping[str, Sequence[int]] | None = field(default_factory=dict)
    committed: Mapping[str, Sequence[int]] = field(
        default_factory=dict
    )  # ends of tables that are their changelogs
    optimized: bool = False  # a table's source topic is its changelog
    settings: TaskSettings = field(default_factory=TaskSettings)
    sticky: bool = False


class TaskOracle(Answerer):
    def describe(self, pipelines: Sequence[Pipeline]) -> str:
        """The text of Topology#describe."""
        return str(self.answer({"pipelines": [_plain(pipeline) for pipeline in pipelines]})["description"])

    def assign(self, case: TaskCase) -> dict[str, Any]:
        """`description`, and `threads` by member or the leader's `error`."""
        settings = case.settings
        return self.answer(
            {
                "pipelines": [_plain(pipeline) for pipeline in case.pipelines],
                "settings": {
                    "acceptable.recovery.lag": settings.acceptable_recovery_lag,
                    "max.warmup.replicas": settings.max_warmup_replicas,
                    "num.standby.replicas": settings.num_standby_replicas,
                    "probing.rebalance.interval.ms": settings.probing_rebalance_interval_ms,
                    **({"topology.optimization": "all"} if case.optimized else {}),
                    **(
                        {"internal.task.assignor.class": f"{ASSIGNORS}LegacyStickyTaskAssignor"}
                        if case.sticky
                        else {}
                    ),
                },
                "topics": case.topics,
                "created": sorted(case.created),
                "end_offsets": case.end_offsets,
                "committed": case.committed,
                "leader": str(case.leader),
                "threads": [_thread(thread) for thread in case.threads],
            }
        )


def _plain(pipeline: Pipeline) -> dict[str, Any]:
    return {name: getattr(pipeline, name) for name in Pipeline.__slots__}


def _thread(thread: StreamThread) -> dict[str, Any]:
    return {
        "id": thread.id,
        "process": str(thread.process),
        "owned": sorted(thread.owned),
        "offset_sums": {str(task): offset for task, offset in thread.offset_sums.items()},
    }


def task_ids(texts: Sequence[str]) -> tuple[Task, ...]:
    return tuple(map(Task.parse, texts))


@contextmanager
def leading(jars: Path) -> Iterator[TaskOracle]:
    with closing(TaskOracle(jars, TASK_ORACLE, heap_mb=512, options=[ALL_COMPILERS, SILENT])) as oracle:
        yield oracle
