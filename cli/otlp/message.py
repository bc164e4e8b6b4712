"""Metrics as messages of OTLP (opentelemetry-proto, collector/metrics/v1): names, labels and values as on a page of
Prometheus. Counters are cumulative sums, all other metrics gauges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

MOST_POINTS = 10_000  # In one message, about 1 MB: receivers take 4 MB or more


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedMetric:
    name: str
    help: str
    is_counter: bool
    points: Iterable[tuple[Mapping[str, str], float]]  # Labels and value


def messages_of(
    metrics: Iterable[PushedMetric], started_ns: int, now_ns: int, most: int = MOST_POINTS
) -> Iterator[bytes]:
    """Messages of at most `most` points. Times in ns since 1970; counters have counted since `started_ns`."""
    message, count = _message(), 0
    for metric in metrics:
        target: Metric | None = None
        for labels, value in metric.points:
            if count == most:
                yield message.SerializeToString()
                message, count, target = _message(), 0, None
            if target is None:
                target = _add_metric(message, metric)
            point = (target.sum if metric.is_counter else target.gauge).data_points.add()
            point.time_unix_nano = now_ns
            point.start_time_unix_nano = started_ns if metric.is_counter else 0
            if isinstance(value, int):
                point.as_int = int(value)  # protobuf takes no bool
            else:
                point.as_double = value
            for name, text in labels.items():
                attribute = point.attributes.add()
                attribute.key, attribute.value.string_value = name, text
            count += 1
    if count:
        yield message.SerializeToString()


def _message() -> ExportMetricsServiceRequest:
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    message = ExportMetricsServiceRequest()
    of_resource = message.resource_metrics.add()
    for name, value in (("service.name", "kohort"), ("service.version", version("kohort"))):
        attribute = of_resource.resource.attributes.add()
        attribute.key, attribute.value.string_value = name, value
    of_resource.scope_metrics.add().scope.name = "kohort"
    return message


def _add_metric(message: ExportMetricsServiceRequest, metric: PushedMetric) -> Metric:
    from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

    added: Metric = message.resource_metrics[0].scope_metrics[0].metrics.add()
    added.name, added.description = metric.name, metric.help
    if metric.is_counter:
        added.sum.is_monotonic = True
        added.sum.aggregation_temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
    return added
