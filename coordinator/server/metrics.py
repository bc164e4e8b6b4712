"""The metrics endpoint of the coordinator, in OpenMetrics or Prometheus text; values are read in the event loop."""

import asyncio
import gzip
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from operator import attrgetter
from threading import Thread
from typing import Self, TypeAlias
from urllib.parse import parse_qs

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder, gzip_accepted
from prometheus_client.registry import Collector

from coordinator.server.cluster import Cluster
from coordinator.server.listener import CannotListen
from coordinator.server.web import PageRequest, WebPage, WebServer
from groups.listing import GroupType
from wire.client.address import Address

_log = logging.getLogger(__name__)

SCRAPE_TIMEOUT_S = 10.0
PREFIX = "kafka_group_coordinator_"
OF_COORDINATOR = "kafka.server:type=group-coordinator-metrics,name="
OF_MANAGER = "kafka.coordinator.group:type=GroupMetadataManager,name="
Values: TypeAlias = float | Mapping[str, float]  # one value, or one for each value of the label


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric: its name without the prefix and, for a counter, the suffix; Kafka's name, and its help text."""

    name: str
    kafka: str
    help: str
    values: Callable[[Cluster], Values]
    label: str | None = None
    counts: bool = False

    def family(self, cluster: Cluster) -> Metric:
        make = CounterMetricFamily if self.counts else GaugeMetricFamily
        family = make(PREFIX + self.name, f"{self.help} ({self.kafka})", labels=self.label and [self.label])
        values = self.values(cluster)
        if isinstance(values, Mapping):
            for label, value in values.items():
                family.add_metric([label], value)
        else:
            family.add_metric([], values)
        return family


def _by_protocol(cluster: Cluster) -> Values:
    counts = Counter(group.type for group in cluster.groups.state.groups.values())
    return {kind.value: counts[kind] for kind in (GroupType.CLASSIC, GroupType.CONSUMER)}


def _by_state(kind: GroupType, states: str) -> Callable[[Cluster], Values]:
    def values(cluster: Cluster) -> Values:
        groups = cluster.groups.state.groups.values()
        counts = Counter(group.state.value for group in groups if group.type is kind)
        return {state: counts[state] for state in states.split()}

    return values


def _meter(name: str, kafka: str, text: str, of: str | None = None) -> tuple[MetricDefinition, ...]:
    """A counter, and the rate that Kafka has next to it; `of` is the field of the meter, if it has another name."""
    meter = attrgetter(f"groups.meters.{of or name}")
    about, _, _ = text.partition(":")
    return (
        MetricDefinition(
            name, f"{OF_COORDINATOR}{kafka}-count", text, lambda cluster: meter(cluster).total, counts=True
        ),
        MetricDefinition(
            kafka.replace("-", "_") + "_rate",
            f"{OF_COORDINATOR}{kafka}-rate",
            f"{about} a second, over metrics.num.samples windows of metrics.sample.window.ms",
            lambda cluster: meter(cluster).rate(cluster.now_ms()),
        ),
    )


def _by_partition_state(cluster: Cluster) -> Values:
    partitions, loading = cluster.coordinators.partitions, len(cluster.coordinators.loading)
    if cluster.failure is not None:
        return {"loading": 0, "active": 0, "failed": partitions}
    return {"loading": loading, "active": partitions - loading, "failed": 0}


METRICS = (
    MetricDefinition(
        "groups",
        f"{OF_COORDINATOR}group-count, and {OF_MANAGER}NumGroups for protocol=classic",
        "Groups by the rebalance protocol that they use",
        _by_protocol,
        label="protocol",
    ),
    MetricDefinition(
        "partitions",
        f"{OF_COORDINATOR}num-partitions",
        "Partitions of __consumer_offsets by state",
        _by_partition_state,
        label="state",
    ),
    MetricDefinition(
        "event_queue_size",
        f"{OF_COORDINATOR}event-queue-size",
        "Answers that wait for the disk",
        lambda cluster: cluster.calls_held,
    ),
    MetricDefinition(
        "consumer_groups",
        f"{OF_COORDINATOR}consumer-group-count",
        "Groups of the consumer protocol by state",
        _by_state(GroupType.CONSUMER, "Empty Assigning Reconciling Stable Dead"),
        label="state",
    ),
    *_meter(
        "consumer_group_rebalances",
        "consumer-group-rebalance",
        "Rebalances of groups of the consumer protocol: new group epochs because of a subscription or a topic",
        "consumer_rebalances",
    ),
    MetricDefinition(
        "partition_load_time_max_seconds",
        f"{OF_COORDINATOR}partition-load-time-max",
        "Longest load time of a partition of __consumer_offsets since the start; NaN: none was loaded",
        lambda cluster: cluster.coordinators.load_times.longest_s,
    ),
    MetricDefinition(
        "partition_load_time_avg_seconds",
        f"{OF_COORDINATOR}partition-load-time-avg",
        "Average load time of a partition of __consumer_offsets since the start",
        lambda cluster: cluster.coordinators.load_times.average_s,
    ),
    MetricDefinition(
        "classic_groups",
        f"{OF_MANAGER}NumGroupsPreparingRebalance, NumGroupsCompletingRebalance, and so on",
        "Groups of the classic protocol by state",
        _by_state(GroupType.CLASSIC, "PreparingRebalance CompletingRebalance Stable Dead Empty"),
        label="state",
    ),
    *_meter(
        "classic_group_completed_rebalances",
        "group-completed-rebalance",
        "Rebalances of groups of the classic protocol completed by their leaders",
        "classic_rebalances",
    ),
    MetricDefinition(
        "offsets",
        f"{OF_MANAGER}NumOffsets",
        "Committed offsets that are stored",
        lambda cluster: sum(map(len, cluster.groups.state.offsets.values())),
    ),
    *_meter("offset_commits", "offset-commit", "Offset commits, including those of open transactions"),
    *_meter("offset_expirations", "offset-expiration", "Offsets deleted because of their age"),
    *_meter("offset_deletions", "offset-deletion", "Offsets deleted by OffsetDelete requests"),
)


@asynccontextmanager
async def serving_metrics(
    cluster: Cluster, host: str, port: int, serving: Callable[[Address], None]
) -> AsyncIterator[None]:
    """Serve the metrics at `host`:`port` (0: any free port); `serving` gets the address. Raises CannotListen."""
    try:
        endpoint = MetricsEndpoint.open(cluster, host, port)
    except OSError as error:
        raise CannotListen(Address(host, port), error) from None
    try:
        serving(endpoint.address)
        yield
    finally:
        await endpoint.close()


class _IdleRatio:
    def __init__(self) -> None:
        self._clock_s, self._busy_s = time.monotonic(), time.thread_time()

    def take(self) -> float:
        clock_s, busy_s = time.monotonic(), time.thread_time()
        passed, worked = clock_s - self._clock_s, busy_s - self._busy_s
        self._clock_s, self._busy_s = clock_s, busy_s
        return min(1.0, max(0.0, 1 - worked / passed)) if passed > 0 else 1.0


class MetricsEndpoint(Collector):
    address: Address
    _server: WebServer

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._loop = asyncio.get_running_loop()
        self._idle = _IdleRatio()
        self._registry = CollectorRegistry()
        self._registry.register(self)

    @classmethod
    def open(cls, cluster: Cluster, host: str, port: int) -> Self:
        """Listen on `host`:`port`, 0 for any free port; `address` is the address in use. Raises OSError."""
        endpoint = cls(cluster)
        endpoint._server = WebServer(host, port, endpoint.page, _log.error)
        endpoint.address = Address(host, endpoint._server.server_port)
        Thread(target=endpoint._server.serve_forever, daemon=True).start()
        return endpoint

    async def close(self) -> None:
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()

    def page(self, request: PageRequest) -> WebPage:
        """The metrics, at any path; with `name[]` only those. Called in any thread."""
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        names = parse_qs(request.query).get("name[]")
        text = encode(self._registry.restricted_registry(names) if names else self._registry)
        headers = {"Content-Type": content_type}
        if gzip_accepted(request.headers.get("Accept-Encoding", "")):
            return WebPage(pieces=[gzip.compress(text)], headers={**headers, "Content-Encoding": "gzip"})
        return WebPage(pieces=[text], headers=headers)

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        return asyncio.run_coroutine_threadsafe(self._read_values(), self._loop).result(SCRAPE_TIMEOUT_S)

    async def _read_values(self) -> list[Metric]:
        idle = self._idle.take()
        text = "The share of the time since the last scrape in which the coordinator's single thread was idle"
        ratios = [
            MetricDefinition(
                f"thread_idle_ratio_{which}",
                f"{OF_COORDINATOR}thread-idle-ratio-{which}",
                text,
                lambda _: idle,
            )
            for which in ("min", "avg")
        ]
        return [metric.family(self._cluster) for metric in (*METRICS, *ratios)]
