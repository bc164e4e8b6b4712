"""Pushes over OTLP: what a receiver gets, and that one that fails or hangs stops and delays nothing."""

import json
import math
import sqlite3
import threading
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from cli.errors import UsageError
from cli.otlp.message import PushedMetric, messages_of
from cli.otlp.options import PushOptions
from cli.otlp.pusher import Pusher
from cli.otlp.receiver import PushFailed, receiver_of
from cli.sources.journal.schema import REBALANCES, WITHOUT_OWNER_US
from cli.sources.journal.writer import JournalWriter
from cli.verbs.record.pushed import pushed_metrics
from tests.cli.command import Kohort
from tests.cli.otlp import metrics_of, points_of, receiving
from tests.cli.verbs.exporter.scrapes import Figures, exporting
from tests.kafka.http_server import Answer
from tests.kafka.wait import wait_until

LABELS = {"team": 'pay"ments\\n\\'}
METRICS = [
    PushedMetric(name="a", help="A.", is_counter=False, points=[(LABELS, 1), ({}, math.inf)]),
    PushedMetric(name="b_total", help="B.", is_counter=True, points=[({"n": str(n)}, n) for n in range(5)]),
]
FOR_THE_PROCESS = ("process_", "python_", "kohort_last_poll")


def test_the_receiver_gets_the_page(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    header = tmp_path / "header"
    header.write_text("Authorization: Bearer s3cret\n")
    source = ("--embedded", sample, "--per", "partition", "--label", f"team2={LABELS['team']}")
    page = Figures.read(kohort.quick("exporter --once", *source).succeeded().stdout).samples
    with receiving() as received:
        line = ("exporter --once --otlp", received.url, "--otlp-header", header)
        answer = kohort.quick(*line, *source).succeeded()
    (asked,) = received.asked
    assert (answer.stdout, asked.path) == ("", "/v1/metrics")
    assert asked.headers["Authorization"] == "Bearer s3cret"
    assert asked.headers["Content-Type"] == "application/x-protobuf"
    (message,) = received.messages
    points = points_of(message)
    for pushes in ("kohort_otlp_pushes_total", "kohort_otlp_failed_pushes_total"):
        assert list(points.pop(pushes).values()) == [1 if pushes == "kohort_otlp_pushes_total" else 0]
    assert points.keys() == page.keys()
    steady = [name for name in page if not name.startswith(FOR_THE_PROCESS)]
    assert {name: points[name] for name in steady} == {name: page[name] for name in steady}
    metrics = metrics_of(message)
    assert {name for name, metric in metrics.items() if metric.HasField("sum")} == {
        name for name in metrics if name.endswith("_total")
    }
    assert metrics["kohort_polls_total"].sum.is_monotonic
    resource = message.resource_metrics[0].resource.attributes
    assert resource[0].value.string_value == "kohort"


def test_an_exporter_outlives_its_receiver(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    hidden = Answer(body=b"Bearer s3cret", status=401, headers={"Location": "/elsewhere"})
    header = tmp_path / "header"
    header.write_text("Authorization: Bearer s3cret\n")
    with receiving(hidden, hidden) as received:
        line = ("--interval", "1", "--otlp", f"{received.url}/otel?key=t0ken", "--otlp-header", header)
        with exporting(kohort, tmp_path, *line, "--embedded", sample) as exporter:
            wait_until(lambda: "pushed again" in exporter.stderr, lambda: exporter.stderr)
            shown = exporter.scrape()
            assert exporter.stop() == 0
    assert shown("kohort_otlp_failed_pushes_total") == 2
    assert (shown("kohort_otlp_pushes_total") or 0) >= 3
    name = f"--otlp {received.url}/otel"
    assert f"pushing metrics to {received.url}/otel every 1" in exporter.stderr
    assert f"{name}: it answers 401" in exporter.stderr
    assert "The next push tries again" in " ".join(exporter.stderr.split())
    assert f"{name}: metrics are pushed again, after 2 failures" in exporter.stderr
    assert exporter.stderr.count("401") == 1
    assert not any(secret in exporter.stderr for secret in ("s3cret", "t0ken", "Traceback"))
    assert {asked.path for asked in received.asked} == {"/otel?key=t0ken"}


def test_a_failed_push_of_once_is_a_status(kohort: Kohort, sample: Path) -> None:
    with receiving(Answer(body=b"<html>")) as received:
        answer = kohort.quick("exporter --once --otlp", received.url, "--embedded", sample)
    assert (answer.status, answer.stdout) == (3, "")
    assert "it does not answer in OTLP" in answer.stderr


def test_messages_are_bounded_and_complete() -> None:
    messages = list(messages_of(METRICS, 1, 2, most=3))
    with receiving() as received:
        receiver = receiver_of(PushOptions(otlp=received.url))
        assert receiver is not None
        for message in messages:
            receiver.post(message)
    points = points_of(*received.messages)
    assert points == {
        "a": {frozenset(LABELS.items()): 1, frozenset(): math.inf},
        "b_total": {frozenset({("n", str(n))}): n for n in range(5)},
    }
    (point,) = metrics_of(received.messages[0])["b_total"].sum.data_points
    assert (point.start_time_unix_nano, point.time_unix_nano) == (1, 2)
    assert list(messages_of([], 1, 2)) == []


def test_a_receiver_that_hangs_delays_nothing() -> None:
    going, hangs, lines = threading.Event(), threading.Event(), list[str]()
    with receiving() as received:
        receiver = receiver_of(PushOptions(otlp=received.url))
        assert receiver is not None

        def metrics() -> list[PushedMetric]:
            hangs.set()
            going.wait()
            return METRICS

        pusher = Pusher(receiver, metrics, lines.append)
        for _ in range(3):
            pusher.push()
            hangs.wait()
        assert pusher.counts.pushes == 1
        going.set()
        wait_until(lambda: len(received.asked) == 2, "the pushes of the meantime are one")
        pusher.finish()
    assert (lines, pusher.counts.pushes, pusher.counts.failures) == ([], 2, 0)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("localhost:4318", "write http"), ("ftp://h", "write http"), ("http://", "write http"),
        ("http://h:99999", "write http"), ("https://h/a b", "write http"), ("https://[h", "write http"),
        ("https://u:s3cret@h", "a password does not belong"), ("http://collector:4318", "in clear text"),
    ],
)  # fmt: skip
def test_receivers_that_are_refused(url: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        receiver_of(PushOptions(otlp=url))
    assert "s3cret" not in str(refused.value)


def test_addresses_and_files(tmp_path: Path) -> None:
    receiver = receiver_of(PushOptions(otlp="http://collector:4318/?key=1", otlp_insecure=True))
    assert receiver is not None
    assert (receiver.url.geturl(), receiver.name) == (
        "http://collector:4318/v1/metrics?key=1",
        "http://collector:4318/v1/metrics",
    )
    file = tmp_path / "file"
    file.write_text(json.dumps("s3cret"))
    for options in (
        PushOptions(otlp="https://h", otlp_header=[file]),
        PushOptions(otlp="https://h", otlp_header=[tmp_path / "none"]),
        PushOptions(otlp_header=[file]),
    ):
        with pytest.raises(UsageError, match="--otlp") as refused:
            receiver_of(options)
        assert "s3cret" not in str(refused.value)


def test_the_recorder_pushes_the_counters_of_its_journal(tmp_path: Path) -> None:
    JournalWriter(tmp_path / "j.db", {"cluster": "c", "source": "s"}).close()
    with sqlite3.connect(tmp_path / "j.db") as database:
        database.execute("INSERT INTO groups (id, name, log_partition) VALUES (1, 'orders', 0)")
        rows = [(1, f"{REBALANCES}join", 3), (1, WITHOUT_OWNER_US, 1_500_000)]
        database.executemany("INSERT INTO totals VALUES (?, ?, ?)", rows)
    labels = {"team": "payments"}
    messages = messages_of(pushed_metrics(tmp_path / "j.db", labels), 1, 2)
    points = points_of(*map(ExportMetricsServiceRequest.FromString, messages))
    own = {("team", "payments"), ("group", "orders")}
    assert points == {
        "kohort_group_recorded_rebalances_total": {frozenset({*own, ("cause", "join")}): 3},
        "kohort_group_without_owner_seconds_total": {frozenset(own): 1.5},
    }
    with pytest.raises(PushFailed):
        list(pushed_metrics(tmp_path / "none.db", labels))
