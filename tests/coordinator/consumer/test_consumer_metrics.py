"""Metrics of a member of the consumer protocol, as ConsumerRebalanceMetricsManager counts (consumer.md M1–M14)."""

from coordinator.consumer.metrics import Metrics
from coordinator.consumer.outputs import CallbackKind
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from tests.coordinator.consumer.consumer_members import start
from tests.coordinator.consumer.driver import Application, Play
from wire.errors import ErrorCode


def metric(play: Play, application: Application, name: str) -> float | None:
    return application.member.metrics.named(play.now_ms)[name]


def test_each_reconciliation_counts_with_its_callbacks() -> None:
    play = Play()
    a = start(play, "a")
    a.listener["revoked"].takes_ms = 2_000
    a.listener["assigned"].takes_ms = 1_000
    start(play, "b")
    play.rest()
    assert a.member.metrics.named(play.now_ms).items() >= {
        ("rebalance-total", 2),
        ("rebalance-latency-max", 3_000),
        ("rebalance-latency-total", 3_000),
        ("partition-revoked-latency-max", 2_000),
        ("partition-assigned-latency-avg", 500),
        ("partition-lost-latency-max", None),
        ("last-rebalance-seconds-ago", 12),
    }


def test_values_count_until_their_sample_is_older_than_all_windows() -> None:
    """SampledStat: a sample lasts a window from its first value on, and expires two windows after its last."""
    metrics = Metrics(samples=2, window_ms=30_000)
    for at_ms, took_ms in ((0, 100), (29_999, 300), (30_000, 500)):
        metrics.called_back(CallbackKind.REVOKED, took_ms, at_ms)
    shown = [
        (values["partition-revoked-latency-avg"], values["partition-revoked-latency-max"])
        for values in map(metrics.named, (59_000, 89_998, 89_999, 90_000))
    ]
    assert shown == [(300, 500), (300, 500), (500, 500), (None, None)]


def test_the_windows_of_a_rate_are_hours() -> None:
    metrics = Metrics(samples=2, window_ms=1_000)
    assert metrics.named(5_000)["rebalance-rate-per-hour"] == 0
    for at_ms in (0, 3_600_000 - 1, 3_600_000):
        metrics.rebalance_failed(at_ms)
    rates = [
        metrics.named(at_ms)["failed-rebalance-rate-per-hour"] for at_ms in (3_600_000, 9_000_000, 14_400_000)
    ]
    assert rates == [3, 1.2, 0]
    assert metrics.named(14_400_000)["failed-rebalance-total"] == 3


def test_joining_alone_is_no_rebalance() -> None:
    play = Play()
    play.node = None
    a = start(play, "a")
    assert metric(play, a, "rebalance-total") == 0
    assert metric(play, a, "last-rebalance-seconds-ago") is None


def test_a_refused_heartbeat_while_reconciling_fails_the_rebalance() -> None:
    play = Play()
    a = start(play, "a")
    a.listener["revoked"].takes_ms = 6_000
    start(play, "b")
    play.advance(5_000)
    play.refuse(ConsumerGroupHeartbeat, ErrorCode.FENCED_MEMBER_EPOCH, 1, "a")
    play.advance(5_000)
    assert metric(play, a, "failed-rebalance-total") == 1
    play.accept()
    play.rest()
    assert metric(play, a, "partition-lost-latency-max") == 0


def test_a_restarted_rebalance_is_timed_from_its_restart() -> None:
    play = Play()
    a = start(play, "a", max_poll_interval_ms=20_000)
    a.listener["revoked"].takes_ms = 25_000
    start(play, "b")
    play.advance(31_000)
    assert metric(play, a, "rebalance-total") == 2
    assert metric(play, a, "rebalance-latency-max") == 0


def test_a_refusal_without_a_reconciliation_is_no_failed_rebalance() -> None:
    play = Play()
    a = start(play, "a")
    play.refuses = lambda _request: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    play.advance(10_000)
    assert metric(play, a, "failed-rebalance-total") == 0
