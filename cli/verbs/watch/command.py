"""`kohort watch`."""

from cli.options import SourceOptions
from cli.verbs.watch.options import WatchOptions


def watch(*, options: WatchOptions, source: SourceOptions) -> None:
    """Watch groups while they rebalance.

    On a terminal, opens kohort top on the groups. In a pipe, or with an option that is about lines (--until, --for,
    --record, --commits, --speed, --output json), prints a line per event until Ctrl-C. If the cluster stops
    answering, Kohort asks it again. Each request may take 5 seconds, unless --timeout sets another time.

    \b
    Examples:
      kohort watch billing -b localhost:9092
      kohort watch billing --until stable -b localhost:9092
    """
    from cli.verbs.watch.session import watch_groups

    watch_groups(options, source)
