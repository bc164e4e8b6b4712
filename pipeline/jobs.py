"""Watching Spark's jobs from beside, while the thread that started them waits."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY_S = 0.25


@contextmanager
def watched(spark: SparkSession, tell: Callable[[int, int], None]) -> Iterator[None]:
    """Tell how many tasks of the jobs begun inside are done, of how many; cancel the jobs if it is left by an error."""
    context = spark.sparkContext
    group = f"kohort-{uuid.uuid4()}"
    context.setJobGroup(group, "kohort", interruptOnCancel=True)
    over = threading.Event()

    def look() -> None:
        told = (0, 0)
        while not over.wait(EVERY_S):
            now = _tasks(spark, group)
            if now != told:
                tell(*now)
                told = now

    looker = threading.Thread(target=look, name="kohort-progress", daemon=True)
    looker.start()
    try:
        yield
    except BaseException:
        context.cancelJobGroup(group)
        raise
    finally:
        over.set()
        looker.join()
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # Java takes null for none


def _tasks(spark: SparkSession, group: str) -> tuple[int, int]:
    tracker = spark.sparkContext.statusTracker()
    done = total = 0
    for job in tracker.getJobIdsForGroup(group):
        found = tracker.getJobInfo(job)
        for stage in found.stageIds if found is not None else ():
            info = tracker.getStageInfo(stage)
            if info is not None:
                done += info.numCompletedTasks
                total += info.numTasks
    return done, total
