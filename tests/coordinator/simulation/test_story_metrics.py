"""A19, A20: consumers' metrics at the end of a simulated story equal those of real Java consumers."""

from dataclasses import replace
from pathlib import Path

import pytest

from coordinator.simulation.run import run
from tests.coordinator.simulation.story_metrics import RECORDED_METRICS, MetricsRecording

RECORDINGS = sorted(RECORDED_METRICS.glob("*.json"))
LATE_MS = 150
"""How much longer a callback takes on a busy machine, and a rebalance of the consumer protocol: its callbacks wait for
the next of the application's polls, 100 ms apart."""
HEARTBEAT_MS = 500
"""How long a rebalance of the classic protocol waits until the other members learn of it: its phase is chance."""


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_metrics_equal_those_of_java(path: Path) -> None:
    """Counts and nulls exactly; rates within 1 %; seconds within 1; latencies within the times above, and totals within
    their sum over all rebalances."""
    recording = MetricsRecording.read(path)
    simulated = run(recording.scenario, 1, member_ids=recording.ids).metrics
    assert recording.members.keys() == {name for name, values in simulated.items() if values is not None}
    for name, recorded in recording.members.items():
        values = simulated[name] or {}
        count = recorded["rebalance-total"] or 0
        assert values == {
            metric: value
            if value is None
            else pytest.approx(value, rel=0, abs=_tolerance(metric, value, count))
            for metric, value in recorded.items()
        }, name


def _tolerance(metric: str, value: float, rebalances: float) -> float:
    if metric.startswith("partition-"):
        return LATE_MS
    if "latency" in metric:
        return (LATE_MS + HEARTBEAT_MS) * (rebalances if metric.endswith("total") else 1)
    if metric.endswith("-ago"):
        return 1
    return value * 0.01 if "rate" in metric else 0


def test_three_stories_of_each_protocol_are_recorded_and_windows_end() -> None:
    read = [MetricsRecording.read(path) for path in RECORDINGS]
    for variant in ("eager", "cooperative", "consumer"):
        assert len({recording.story for recording in read if recording.variant.value == variant}) >= 3
    values = [metrics for recording in read for metrics in recording.members.values()]
    assert len(values[0]) == 14
    for metric in ("partition-revoked-latency-max", "rebalance-latency-avg"):
        assert {value is None for value in (metrics[metric] for metrics in values)} == {True, False}
    assert any(metrics["partition-lost-latency-max"] is not None for metrics in values)


def test_librdkafka_has_none_of_these_metrics() -> None:
    recording = MetricsRecording.read(RECORDED_METRICS / "topic-growth.eager.json")
    members = recording.scenario.members
    other = replace(recording.scenario, members={**members, "b": replace(members["b"], library="librdkafka")})
    metrics = run(other, 1).metrics
    assert metrics["a"]
    assert metrics["b"] is None
