"""What `kohort what-if` predicts for recorded groups is what real clients cost: the same timelines are played again,
under the alternative, on a real broker."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cli.sources.history.logs import read_log_history
from coordinator.simulation.alternatives import AS_IT_WAS, WhatIfAlternative, applied
from coordinator.simulation.calibration import Calibration, calibration_of
from coordinator.simulation.from_history import Past, Statements, past_of
from coordinator.simulation.scenario import Variant
from coordinator.simulation.what_if import PlayedPast, play
from groups.history.departures import Knowledge
from tests.incidents.record import SETTINGS, Played, play_run, recording
from tests.incidents.stories import Incident, read_runs
from tests.kafka.coordinator import running_broker
from tests.support.long import LONG

RUN = "deployments"
EAGER, COOPERATIVE, CONSUMER = (
    WhatIfAlternative(protocol=variant) for variant in (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER)
)
ALTERNATIVES: Mapping[str, tuple[WhatIfAlternative, ...]] = {
    "rolling-deployment-eager.java-eager": (COOPERATIVE, CONSUMER, WhatIfAlternative(static=True)),
    "rolling-deployment-consumer.java-consumer": (COOPERATIVE,),
    "crashes-eager.librdkafka-eager": (COOPERATIVE, CONSUMER),
    "crashes-consumer.librdkafka-consumer": (EAGER,),
    "growth-cooperative.java-cooperative": (CONSUMER,),
    "growth-eager.librdkafka-eager": (COOPERATIVE,),
}
CONSUMER_SETTINGS = {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "5000"}
STATED = Statements(of_brokers={"group.initial.rebalance.delay.ms": "0"})  # As the broker of the recording
SEEDS = range(20)


def past_in(logs: Path, story: Played) -> Past:
    """The past of a story, until it ended."""
    until = story.began_us + int(story.incident.scenario.until_s * 1_000_000)
    session_ms = story.incident.settings.get("consumer.session.timeout.ms")
    stated = Knowledge(session_timeout_ms=None if session_ms is None else int(session_ms))
    read = read_log_history([logs], [story.group], since_ms=story.began_us // 1000 - 1000, stated=stated)
    return past_of(read.courses[story.group], until=until, stated=STATED)


def played(past: Past, alternative: WhatIfAlternative) -> PlayedPast:
    return next(play(past, [alternative], SEEDS, 1))


def test_the_simulation_agrees_with_every_recorded_group() -> None:
    disagreeing: dict[str, Calibration] = {}
    with recording(RUN) as (logs, stories):
        for story in stories:
            past = past_in(logs, story)
            calibration = calibration_of(past, next(play(past, [AS_IT_WAS], SEEDS[:3], 1)))
            if not calibration.agrees:
                disagreeing[story.group] = calibration
    assert len(stories) >= 6
    assert disagreeing == {}


def other(incident: Incident, alternative: WhatIfAlternative) -> Incident:
    """The same timeline, with clients as in the alternative."""
    return replace(
        incident,
        group=f"{incident.group}--{alternative.name}",
        scenario=replace(applied(incident.scenario, alternative), settings={}),
        settings=incident.settings or (CONSUMER_SETTINGS if alternative == CONSUMER else {}),
    )


@LONG
@pytest.mark.kafka
def test_real_clients_cost_what_was_predicted(kafka_jars: Path, tmp_path: Path) -> None:
    run = read_runs()[RUN]
    predicted: dict[str, PlayedPast] = {}
    incidents: list[Incident] = []
    with recording(RUN) as (logs, stories):
        for story in stories:
            past = past_in(logs, story)
            for alternative in ALTERNATIVES[story.incident.group]:
                incidents.append(other(story.incident, alternative))
                predicted[incidents[-1].group] = played(past, alternative)
    with running_broker(kafka_jars, tmp_path / "broker", SETTINGS) as broker:
        again = play_run(replace(run, incidents=incidents, at_once=len(incidents)), broker, kafka_jars)
        broker.crash()
        measured = {one.incident.group: past_in(broker.data, one) for one in again}
    disagreeing = set()
    for group, past in measured.items():
        calibration = calibration_of(past, predicted[group])
        disagreeing |= set() if calibration.agrees else {group.split("--")[0]}
        for figure in calibration.figures:
            text = f"{figure.simulated:.5g} ({figure.lowest:.5g} to {figure.highest:.5g}) predicted"
            print(f"{group}: {figure.name}: {text}, {figure.observed:.5g} measured, agrees: {figure.agrees}")
    assert len(ALTERNATIVES.keys() - disagreeing) >= 4, disagreeing
