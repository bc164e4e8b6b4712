"""A real librdkafka cooperative-sticky group is converted online with `kohort bridge`."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from migration.bridge import BRIDGE
from tests.kafka.groups import MemberView, describe
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.bridged import (
    at_rest,
    bridge,
    longest_gap_s,
    make_it_lead,
    moves,
    operate,
    to_consumer,
)
from tests.migration.end_to_end.conftest import Deploy
from tests.migration.end_to_end.consumption import repeated
from tests.migration.end_to_end.deployment import Deployment
from tests.migration.end_to_end.fleets import CLASSIC, librdkafka, sarama
from tests.support.long import cases

pytestmark = pytest.mark.kafka

HEARTBEAT_S = int(CLASSIC["heartbeat.interval.ms"]) / 1000
LIFE_S = 6.0
"""From the start of a bridge's process to its end where all goes well, in seconds."""


def convert(deployment: Deployment, directory: Path, name: str = "bridge") -> dict[str, float]:
    """Convert it with the bridge to the last member; how long a partition was without an owner at most, in seconds:
    in a normal rebalance, in which a member is restarted, and from the bridge's start to its end."""
    deployment.wait_rest()
    first, *others = deployment.applications.values()
    began = time.monotonic_ns()
    others[-1].restart()
    at_rest(deployment, len(deployment.applications))
    joins = time.monotonic_ns()
    normal_s = longest_gap_s(deployment.journals(), began, joins)
    with bridge(deployment, directory, name=name) as running:
        restarts = make_it_lead(deployment, running)
        to_consumer(first)
        assert running.process.wait(120) == 0, (moves(running), running.stderr)
        assert "has been converted; the bridge has left" in running.stderr
        assert any(" s  converted: " in line for line in moves(running))
    at_rest(deployment, len(deployment.applications))
    bridged_s = longest_gap_s(deployment.journals(), joins, time.monotonic_ns())
    view = describe(deployment.broker, deployment.group)
    assert view is not None
    assert not any(map(is_bridge, view.members))
    for one in others:
        to_consumer(one)
        at_rest(deployment, len(deployment.applications))
    deployment.finish().check()
    return {"normal_s": normal_s, "bridged_s": bridged_s, "restarts": float(restarts)}


@pytest.mark.parametrize("number", range(cases("KOHORT_BRIDGES", 1, many=10)))
def test_a_librdkafka_cooperative_group_is_converted_online(
    deploy: Deploy, tmp_path: Path, number: int
) -> None:
    figures = convert(deploy(librdkafka("cooperative-sticky")), tmp_path)
    print(f"conversion {number}: {figures}")
    assert figures["restarts"] >= 1
    # A rebalance is as long as its slowest member's heartbeat interval: one more of them is chance.
    assert figures["bridged_s"] <= figures["normal_s"] + HEARTBEAT_S


@pytest.mark.usefixtures("sarama")
@pytest.mark.parametrize("number", range(cases("KOHORT_BRIDGES", 1, many=10)))
def test_a_sarama_sticky_group_is_converted_online(deploy: Deploy, tmp_path: Path, number: int) -> None:
    figures = convert(deploy(sarama()), tmp_path)
    print(f"conversion {number}: {figures}")
    assert figures["restarts"] >= 1


@pytest.mark.parametrize("number", range(cases("KOHORT_BRIDGES", 1, many=20)))
def test_a_group_recovers_whenever_the_bridge_is_killed(deploy: Deploy, tmp_path: Path, number: int) -> None:
    """A moment of its life is drawn, from the start of the process to the end of the conversion.

    No record is lost, and no partition consumed by two at once. Some records may be read twice, as after the death of
    any leader; how many is printed.
    """
    rng = random.Random(f"bridge {number} {os.environ.get('KOHORT_RANDOM', '')}")
    newest, moment_s, status, attempt = "", 0.0, 0, 0
    while status != -signal.SIGKILL:  # it had ended before its moment
        attempt += 1
        deployment = deploy(librdkafka("cooperative-sticky"))
        deployment.wait_rest()
        first = next(iter(deployment.applications.values()))
        classic = dict(first.config)
        moment_s = rng.uniform(0.2, LIFE_S)
        with bridge(deployment, tmp_path, name=f"bridge{attempt}") as running:
            death = threading.Timer(moment_s, running.process.kill)
            death.start()
            operate(deployment, running, first)
            death.cancel()
            newest = (moves(running) or ["before its first step"])[-1].strip()
            status = running.process.wait()
    began = time.monotonic()
    if first.config != classic and deployment.view().kind != "consumer":
        # Started as the bridge died: refused, or not yet.
        first.stop()
        first.config = dict(classic)
        first.start()
    wait_until(lambda: not any(map(is_bridge, deployment.view().members)), "the bridge's session ends")
    at_rest(deployment, len(deployment.applications))
    took_s = time.monotonic() - began
    outcome = deployment.finish()
    outcome.check(repeats=True)
    twice = len(repeated(outcome.journals))
    print(
        f"kill {number}: at {moment_s:.2f} s, {newest}; at rest after {took_s:.1f} s, {twice} records twice"
    )


def is_bridge(member: MemberView) -> bool:
    return member.client_id == BRIDGE
