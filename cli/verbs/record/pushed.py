"""The metrics that `kohort record` pushes: the counters of its journal, as `kohort exporter` names them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from cli.otlp.message import PushedMetric
from cli.otlp.receiver import PushFailed
from cli.polls.history import PolledHistory
from cli.sources.journal.reader import JournalReader
from cli.sources.journal.schema import JournalError
from cli.verbs.exporter.families import OF_JOURNALS, AnyFamily


def pushed_metrics(file: Path, labels: Mapping[str, str]) -> Iterator[PushedMetric]:
    """Raises PushFailed: the journal cannot be read."""
    try:
        with JournalReader(file) as journal:
            totals = journal.totals()
    except JournalError as error:
        raise PushFailed(str(error)) from None
    for family in OF_JOURNALS:
        points = [
            ({**labels, "group": group, **more}, value)
            for group, counters in totals.items()
            for more, value in _values(family, counters)
        ]
        yield PushedMetric(name=family.sample, help=family.help, is_counter=True, points=points)


def _values(family: AnyFamily, counters: Mapping[str, int]) -> Iterator[tuple[Mapping[str, str], float]]:
    values = family.values(PolledHistory(totals=counters))
    if isinstance(values, dict):
        for named, value in values.items():
            yield dict(zip(family.labels, named, strict=True)), value
    elif values is not None:
        yield {}, values
