"""The history of a cluster's groups, continuously updated from its live topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pyspark.errors import StreamingQueryException

from pipeline.decode.records import LogReader
from pipeline.history import HistoryProgress, HistoryRun, run_history
from pipeline.sources.live import stream_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class Following:
    """A stream that updates tables."""

    def __init__(self, query: StreamingQuery, failures: list[Exception]) -> None:
        self._query, self._failures = query, failures

    def wait(self, seconds: int | None = None) -> bool:
        """Wait at most `seconds`, or with None until the stream stops; returns whether it has stopped.

        :raises: the error of `run_history` that stopped it
        :raises StreamingQueryException: any other error that stopped it
        """
        try:
            return bool(self._query.awaitTermination(seconds))
        except StreamingQueryException as error:
            if self._failures:
                raise self._failures[0] from error
            raise

    def stop(self) -> None:
        """Stop the stream, even within a batch: the next stream with its checkpoint reads the batch again."""
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
    """A stream that adds new records of the topic to the tables in `out`, with a run of the history for each batch.

    Neither a crash nor a lost checkpoint loses or duplicates a record: a batch that is read again adds only records
    that the tables do not have. Every batch computes all tables but that of events again, so do not use intervals
    below a minute. `progress` and `done`, which is called after every run, are called in a thread of the stream.

    :param checkpoint: a directory of this stream only, outside of `out`
    :param every: the interval, as in `1 minute`; None: read the existing records, in batches, then stop
    :raises MissingKafkaSource: the session was started without the jars of the Kafka source
    :raises ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic

    An error of `run_history` stops the stream, and `Following.wait` raises it.
    """
    failures: list[Exception] = []

    def add(batch: LogReader, _: int) -> None:
        try:
            run = run_history(spark, batch, out, progress=progress)
        except Exception as error:
            failures.append(error)
            raise
        done(run)

    query = stream_events(spark, bootstrap, options, sink=add, checkpoint=checkpoint, every=every)
    return Following(query, failures)
