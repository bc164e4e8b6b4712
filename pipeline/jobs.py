"""Progress of Spark's jobs while the thread that started them waits."""

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
def with_progress(spark: SparkSession, report: Callable[[int, int], None]) -> Iterator[None]:
    """Report the numbers of finished and of all tasks of the block's jobs; cancel the jobs after an error."""
    context = spark.sparkContext
    group = f"kohort-{uuid.uuid4()}"
    context.setJobGroup(group, "kohort", interruptOnCancel=True)
    over = threading.Event()

    def poll() -> None:
        last = (0, 0)
        while not over.wait(EVERY_S):
            try:
                now = _tasks(spark, group)
            except Exception:
                return  # the session ends, and another thread reports it
            if now != last:
                report(*now)
                last = now

    poller = threading.Thread(target=poll, name="kohort-progress", daemon=True)
    poller.start()
    try:
        yield
    except BaseException:
        context.cancelJobGroup(group)
        raise
    finally:
        over.set()
        poller.join()
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]  # null in Java: no group


def _tasks(spark: SparkSession, group: str) -> tuple[int, int]:
    tracker = spark.sparkContext.statusTracker()
    done = total = 0
    for job in tracker.getJobIdsForGroup(group):
        job_info = tracker.getJobInfo(job)
        for stage in job_info.stageIds if job_info is not None else ():
            info = tracker.getStageInfo(stage)
            if info is not None:
                done += info.numCompletedTasks
                total += info.numTasks
    return done, total
