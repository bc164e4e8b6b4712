"""`kohort record`."""

from cli.options import SourceOptions
from cli.otlp.options import PushOptions
from cli.verbs.record.options import RecordOptions


def record(*, options: RecordOptions, push: PushOptions, source: SourceOptions) -> None:
    """Record rebalances, owners and progress of all groups.

    Follows __consumer_offsets of a live cluster and keeps what happens in a journal, one SQLite file: rebalances with
    causes, owners, commits by partition and minute, findings of kohort diagnose. It continues where it stopped, also
    after a crash. kohort why reads the journal by itself.

    \b
    Examples:
      kohort record -b localhost:9092
      kohort record -b localhost:9092 --keep 90d --webhook https://host/hook
    """
    from cli.verbs.record.session import record_cluster

    record_cluster(options, push, source)
