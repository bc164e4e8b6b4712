"""The history of a cluster's groups, kept up to date from its live topic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pipeline.history import Progress, run_history
from pipeline.sources.live import stream_events
from pipeline.sources.reading import Reading

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


def follow_history(
    spark: SparkSession,
    bootstrap: str,
    out: str,
    options: Mapping[str, str] | None = None,
    *,
    checkpoint: str,
    every: str | None = None,
    names: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> StreamingQuery:
    """A stream that adds to the tables in `out` what comes in the topic, a run of the history for each batch.

    Neither a crash in between nor a lost checkpoint loses or doubles a record: a batch that is read again adds what
    the tables do not have. All tables but that of events are computed anew for every batch, so a minute is soon
    enough. `progress` is called in a thread of the stream's.

    :param checkpoint: a directory of this stream alone, outside of `out`
    :param every: how often to look, as in `1 minute`; None: read what is there now, in batches, then end
    :raises MissingKafkaSource: the session was started without the jars of the Kafka source
    :raises ClusterUnreadable: the cluster cannot be reached, refuses the client or has no such topic

    What `run_history` raises ends the stream, and is the cause of what `StreamingQuery.awaitTermination` raises.
    """

    def add(batch: Reading, _: int) -> None:
        run_history(spark, batch, out, progress=progress)

    return stream_events(spark, bootstrap, options, sink=add, checkpoint=checkpoint, every=every, names=names)
