"""The newest metrics: written by each poll, read by every scrape, with the exporter's own metrics appended."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain, groupby
from operator import attrgetter

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from cli.otlp.message import PushedMetric
from cli.otlp.pusher import PushCounts
from cli.polls.history import ExporterHistory
from cli.polls.reading import PollResult
from cli.verbs.exporter.options import SampleLevel
from cli.verbs.exporter.owners import Owners
from cli.verbs.exporter.page import CLUSTER, NO_LABELS, MetricsPage, PageLimits, page_of


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PollState:
    """The state of the polls. Times in ms since 1970; None means not yet."""

    is_up: bool = False  # Whether the last poll could read the cluster
    last_ms: int | None = None  # The time at which the current metrics were read
    duration_s: float | None = None
    polls: int = 0
    failures: int = 0
    groups: int = 0
    unread_groups: int = 0
    problems: int = 0
    series: int = 0
    left_out: tuple[tuple[SampleLevel, int], ...] = ()
    lag_times_left_out: int = 0


@dataclass(frozen=True, slots=True)
class OwnFamily:
    """A metric of the exporter. Its value is None before the first poll."""

    name: str
    help: str
    values: Callable[[PollState, int], float | Iterable[tuple[str, float]] | None]
    """The values from the state and the time in ms; by the value of the label if it has one."""
    label: str | None = None
    counts: bool = False

    def metric(self, states: Mapping[str | None, PollState], now_ms: int) -> Metric:
        """The values of each cluster, with its name as a label unless that is None."""
        make = CounterMetricFamily if self.counts else GaugeMetricFamily
        names = [
            *([] if None in states else [CLUSTER]),
            *([] if self.label is None else [self.label]),
        ]
        metric = make(self.name, self.help, labels=names)
        for cluster, state in states.items():
            shared = [] if cluster is None else [cluster]
            values = self.values(state, now_ms)
            if isinstance(values, Iterable):
                for label, value in values:
                    metric.add_metric([*shared, label], value)
            elif values is not None:
                metric.add_metric(shared, values)
        return metric


OF_POLLS = (
    OwnFamily(
        "kohort_up",
        "Whether the last poll could read the cluster; if 0, the metrics are those of an earlier poll.",
        lambda state, _: state.is_up,
    ),
    OwnFamily(
        "kohort_last_poll_timestamp_seconds",
        "Time of the last successful poll.",
        lambda state, _: None if state.last_ms is None else state.last_ms / 1000,
    ),
    OwnFamily(
        "kohort_last_poll_age_seconds",
        "Time since the last successful poll.",
        lambda state, now_ms: None if state.last_ms is None else max(0, now_ms - state.last_ms) / 1000,
    ),
    OwnFamily(
        "kohort_last_poll_duration_seconds",
        "Duration of the last successful poll.",
        lambda state, _: state.duration_s,
    ),
    OwnFamily("kohort_polls", "Polls since the exporter started.", lambda state, _: state.polls, counts=True),
    OwnFamily("kohort_failed_polls", "Polls that failed.", lambda state, _: state.failures, counts=True),
    OwnFamily(
        "kohort_groups",
        "Groups that the last poll found, including those that it could not read.",
        lambda state, _: state.groups,
    ),
    OwnFamily(
        "kohort_unread_groups",
        "Groups of which the last poll could not read the description or the offsets.",
        lambda state, _: state.unread_groups,
    ),
    OwnFamily(
        "kohort_last_poll_problems",
        "What the last poll could not read: brokers, groups, topics, partitions; standard error names them.",
        lambda state, _: state.problems,
    ),
    OwnFamily("kohort_series", "Samples of groups, topics and partitions.", lambda state, _: state.series),
    OwnFamily(
        "kohort_series_left_out",
        "Samples that --max-series leaves out, by level (group, topic, partition).",
        lambda state, _: [(level.value, count) for level, count in state.left_out],
        label="level",
    ),
    OwnFamily(
        "kohort_lag_seconds_left_out",
        "Offsets whose lag in seconds was left to a later poll, because there were too many for one.",
        lambda state, _: state.lag_times_left_out,
    ),
)
OF_PUSHES = (
    ("kohort_otlp_pushes", "Pushes to the receiver of --otlp.", attrgetter("pushes")),
    ("kohort_otlp_failed_pushes", "Pushes that it did not take, or not completely.", attrgetter("failures")),
)
BUILD = "kohort_build"
BUILD_HELP = "Version of the exporter."


class OwnMetrics(Collector):
    def __init__(
        self,
        states: Callable[[], Mapping[str | None, PollState]],
        now_ms: Callable[[], int],
        counts: PushCounts | None,
    ) -> None:
        self._states, self._now_ms, self._counts = states, now_ms, counts

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        states, now_ms = self._states(), self._now_ms()
        yield from (family.metric(states, now_ms) for family in OF_POLLS)
        if self._counts is not None:
            yield from (CounterMetricFamily(name, text, of(self._counts)) for name, text, of in OF_PUSHES)
        yield InfoMetricFamily(BUILD, BUILD_HELP, value={"version": version("kohort")})

    def registry(self, labels: Mapping[str, str], *, process: bool) -> CollectorRegistry:
        """A registry whose samples have these labels too."""
        own, registry = CollectorRegistry(), CollectorRegistry()
        own.register(self)
        if process:
            ProcessCollector(registry=own)
            PlatformCollector(registry=own)
            GCCollector(registry=own)
        registry.register(_Labeled(own, labels))
        return registry


class _Labeled(Collector):
    def __init__(self, collector: Collector, labels: Mapping[str, str]) -> None:
        self._collector, self._labels = collector, labels

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        for metric in self._collector.collect():
            metric.samples = [
                sample._replace(labels={**self._labels, **sample.labels}) for sample in metric.samples
            ]
            yield metric


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposition:
    """A response to a scrape, in pieces; `length` is their total size in bytes."""

    content_type: str
    length: int
    pieces: Iterable[bytes]  # The pieces, which can be iterated only once
    is_compressed: bool = False


class ClusterMetrics:
    """The newest metrics of a cluster. Thread-safe: they are replaced as a whole, by the thread that polls it."""

    def __init__(self, labels: Mapping[str, str], limits: PageLimits, interval_ms: int | None) -> None:
        """`labels` are those of all its samples; `interval_ms` is the time between polls, None if there is one."""
        self._labels, self._limits = labels, limits
        self._owners = Owners(kind=limits.owner, limit=limits.owner_limit) if limits.owner else None
        self._history = ExporterHistory(interval_ms=interval_ms)
        self.shown: tuple[MetricsPage, PollState] = MetricsPage(), PollState()

    @property
    def state(self) -> PollState:
        return self.shown[1]

    def put(self, reading: PollResult, started_s: float) -> None:
        """Store the metrics of a poll that started at `started_s` (`time.monotonic`). Only for the polling thread."""
        self._history = self._history.after(reading)
        page, before = page_of(reading, self._history, self._limits, self._labels, self._owners), self.state
        state = replace(
            before,
            is_up=True,
            last_ms=reading.at_ms,
            duration_s=time.monotonic() - started_s,
            polls=before.polls + 1,
            groups=len(reading.groups),
            unread_groups=sum(group.error is not None for group in reading.groups.values()),
            problems=len(reading.problems),
            series=page.series,
            left_out=tuple(page.left_out.items()),
            lag_times_left_out=reading.lag_times_left_out,
        )
        self.shown = page, state

    def fail(self) -> None:
        page, before = self.shown
        self.shown = page, replace(before, is_up=False, polls=before.polls + 1, failures=before.failures + 1)


class NewestPage:
    """The newest metrics of all clusters. Thread-safe."""

    def __init__(
        self,
        limits: PageLimits,
        interval_ms: int | None,
        clusters: Sequence[str | None] = (None,),
        labels: Mapping[str, str] = NO_LABELS,
        counts: PushCounts | None = None,
    ) -> None:
        """`clusters` are the values of that label; None, the only one, if there is no such label. `labels` are those
        that the user adds. `counts` are those of pushes, if there are any."""
        self.clusters = {
            name: ClusterMetrics(labels if name is None else {**labels, CLUSTER: name}, limits, interval_ms)
            for name in clusters
        }
        metrics = OwnMetrics(lambda: {name: one.state for name, one in self.clusters.items()}, now_ms, counts)
        self._with_process, self._alone = (
            metrics.registry(labels, process=True),
            metrics.registry(labels, process=False),
        )
        self._joined: tuple[Sequence[MetricsPage], MetricsPage] = (), MetricsPage()

    @property
    def is_ready(self) -> bool:
        """Whether a poll could read a cluster."""
        return any(metrics.state.last_ms is not None for metrics in self.clusters.values())

    def _page(self) -> MetricsPage:
        """The page of all clusters, joined once for each poll: its checksums are kept."""
        pages = [metrics.shown[0] for metrics in self.clusters.values()]
        known, joined = self._joined
        if list(map(id, pages)) != list(map(id, known)):
            joined = MetricsPage.joined(pages)
            self._joined = pages, joined
        return joined

    def pushed(self) -> Iterator[PushedMetric]:
        """The metrics of the page, for a push."""
        yield from self._page().pushed()
        for metric in self._with_process.collect():
            for name, samples in groupby(metric.samples, key=attrgetter("name")):
                yield PushedMetric(
                    name=name,
                    help=metric.documentation,
                    is_counter=metric.type == "counter" and name.endswith("_total"),
                    points=[(sample.labels, sample.value) for sample in samples],
                )

    def exposition(self, accept: str = "", *, compressed: bool = False, process: bool = True) -> Exposition:
        """The text for an `Accept` header: OpenMetrics or Prometheus. `process`: with the metrics of this process."""
        page = self._page()
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
