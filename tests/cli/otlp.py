"""A receiver of OTLP on loopback, which keeps what is pushed to it."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.kafka.http_server import Answer, Asked, http_server

Points = dict[str, dict[frozenset[tuple[str, str]], float]]


@dataclass
class Received:
    """`answers` are given in turn; then everything is taken."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0) if self.answers else Answer(body=b"")

    @property
    def messages(self) -> list[Any]:
        bodies = [gzip.decompress(asked.body) for asked in self.asked]
        return [ExportMetricsServiceRequest.FromString(body) for body in bodies]


@contextmanager
def receiving(*answers: Answer) -> Iterator[Received]:
    received = Received(answers=[*answers])
    with http_server(received.answer) as url:
        received.url = url
        yield received


def metrics_of(message: Any) -> dict[str, Any]:
    """The metrics of a message, by name."""
    metrics = message.resource_metrics[0].scope_metrics[0].metrics
    names = [metric.name for metric in metrics]
    assert len(names) == len(set(names)), names
    return dict(zip(names, metrics, strict=True))


def points_of(*messages: Any) -> Points:
    """All values by name and labels; none is there twice."""
    points: Points = {}
    for message in messages:
        for name, metric in metrics_of(message).items():
            of_name = points.setdefault(name, {})
            for point in getattr(metric, metric.WhichOneof("data")).data_points:
                labels = frozenset((one.key, one.value.string_value) for one in point.attributes)
                assert labels not in of_name, (name, labels)
                of_name[labels] = getattr(point, point.WhichOneof("value"))
    return points
