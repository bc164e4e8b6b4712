"""The history of a cluster's groups, kept up to date from its live topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException

from pipeline.decode.records import Reading
from pipeline.history import HistoryProgress, HistoryRun, run_history
from pipeline.sources.live import stream_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class Following:
    """A stream that keeps tables up to date."""

    def __init__(self, query: StreamingQuery, failures: list[Exception]) -> None:
        self._query, self._failures = query, failures

    def wait(self, seconds: int | None = None) -> bool:
        """Whether it has ended, or ended meanwhile; None: wait until it does.

        :raises: what `run_history` raised, which ended it
        :raises StreamingQueryException: what else did
        """
        try:
            return bool(self._query.awaitTermination(seconds))
        except StreamingQueryException as error:
            if self._failures:
                raise self._failures[0] from error
            raise

    def stop(self) -> None:
        """End it, in the middle of a batch if need be: the next stream with its checkpoint reads that again."""
        with suppress(StreamingQueryException):
            self._query.stop()


def follow_history(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    options: Mapping[str, str] | None = None,
    *,
    checkpoint: str,
    every: str | None = None,
    progress: Callable[[HistoryProgress], None] = lambda _: None,
    done: Callable[[HistoryRun], None] = lambda _: None,
) -> Following:
    """A stream that adds to the tables in `out` what comes in the topic, a run of the history for each batch.

    Neither a crash in between nor a lost checkpoint loses or doubles a record: a batch that is read again adds what
    the tables do not have. All tables but that of events are computed anew for every batch, so a minute is soon
    enough. `progress` and `done`, which is told of every run, are called in a thread of the stream's.

    :param checkpoint: a directory of this stream alone, outside of `out`
    :param every: how often to look, as in `1 minute`; None: read what is there now, in batches, then end
    :raises MissingKafkaSource: the session was started without the jars of the Kafka source
    :raises ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic

    What `run_history` raises ends the stream, and is what `Following.wait` raises.
    """
    failures: list[Exception] = []

    def add(batch: Reading, _: int) -> None:
        try:
            run = run_history(spark, batch, out, progress=progress)
        except Exception as error:
            failures.append(error)
            raise
        done(run)

    query = stream_events(spark, bootstrap, options, sink=add, checkpoint=checkpoint, every=every)
    return Following(query, failures)
