"""The newest metrics: written by each poll, read by every scrape."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from prometheus_client.exposition import choose_encoder

from cli.verbs.exporter.history import ExporterHistory
from cli.verbs.exporter.page import Limits, Page, page_of
from cli.verbs.exporter.reading import PollResult
from cli.verbs.exporter.self_metrics import OwnMetrics, PollState


def now_ms() -> int:
    """The current time in ms since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """A response to a scrape, in pieces; `length` is their total size in bytes."""

    content_type: str
    length: int
    pieces: Iterable[bytes]
    """The pieces, which can be iterated only once."""
    is_compressed: bool = False


class FigureCache:
    """The newest metrics. Thread-safe: its contents are replaced as a whole."""

    def __init__(self, limits: Limits, interval_ms: int) -> None:
        """`interval_ms` is the time between polls."""
        self._limits = limits
        self._history = ExporterHistory(interval_ms=interval_ms)
        self._shown: tuple[Page, PollState] = Page(), PollState()
        own = OwnMetrics(lambda: self.state, now_ms)
        self._with_process, self._alone = own.registry(process=True), own.registry(process=False)

    @property
    def state(self) -> PollState:
        """The state of the polls so far."""
        return self._shown[1]

    def put(self, reading: PollResult, started_s: float) -> None:
        """Store the metrics of a poll that started at `started_s` (`time.monotonic`). Only for the polling thread."""
        self._history = self._history.after(reading)
        page, before = page_of(reading, self._history, self._limits), self.state
        state = PollState(
            is_up=True,
            last_ms=reading.at_ms,
            duration_s=time.monotonic() - started_s,
            polls=before.polls + 1,
            failures=before.failures,
            groups=len(reading.groups),
            unread_groups=sum(each.error is not None for each in reading.groups.values()),
            problems=len(reading.problems),
            series=page.series,
            left_out=tuple(page.left_out.items()),
            lag_times_left_out=reading.lag_times_left_out,
        )
        self._shown = page, state

    def fail(self) -> None:
        """Record that a poll could read nothing."""
        self._shown = self._shown[0], self.state.failed()

    def exposition(self, accept: str = "", *, compressed: bool = False, process: bool = True) -> Exposition:
        """The text for an `Accept` header: OpenMetrics or Prometheus. `process`: with the metrics of this process."""
        page = self._shown[0]
        encode, content_type = choose_encoder(accept)
        openmetrics = content_type.startswith("application/openmetrics-text")
        tail = encode(self._with_process if process else self._alone)
        if compressed:
            pieces = page.compressed(tail, openmetrics=openmetrics)
            return Exposition(
                content_type=content_type, length=sum(map(len, pieces)), pieces=pieces, is_compressed=True
            )
        return Exposition(
            content_type=content_type,
            length=page.size(openmetrics=openmetrics) + len(tail),
            pieces=chain(page.parts(openmetrics=openmetrics), (tail,)),
        )
