"""Real groups, cooperative-sticky of librdkafka and sticky of sarama, are converted online with `kohort bridge`."""

import os
import random
import signal
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from cli.verbs.bridge.membership import SESSION_MS
from migration.bridge import BRIDGE
from tests.kafka.groups import MemberView, describe
from tests.kafka.wait import wait_until
from tests.migration.end_to_end.bridged import (
    OPERATOR_S,
    bridge,
    longest_gap_s,
    make_it_lead,
    moves,
    operate,
    restart_member,
    to_consumer,
    wait_until_settled,
)
from tests.migration.end_to_end.conftest import Deploy
from tests.migration.end_to_end.consumption import repeated
from tests.migration.end_to_end.deployment import Deployment, Fleet
from tests.migration.end_to_end.fleets import CLASSIC, librdkafka, sarama
from tests.migration.end_to_end.producer import EVERY_S
from tests.support.long import IS_LONG, LONG, cases

pytestmark = pytest.mark.kafka

HEARTBEAT_S = int(CLASSIC["heartbeat.interval.ms"]) / 1000
SESSION_S = int(CLASSIC["session.timeout.ms"]) / 1000
JOIN_INTERVAL_S = 1.0
LIFE_S = 14.0  # From the start of a bridge's process to its end where all goes well, in seconds
MOST_TWICE = round((SESSION_MS / 1000 + 1 + 2 * HEARTBEAT_S) / EVERY_S)
"""Records of a partition consumed twice at most: what is produced in the session of a dead leader, in which commits are
refused, in a commit interval, and until the members learn of two rebalances."""


def convert(deployment: Deployment, directory: Path) -> tuple[float, float]:
    """Convert it with the bridge to the last member; how long a partition was without an owner at most, in seconds:
    in a normal rebalance, in which a member is restarted, and from the bridge's start to its end."""

    def wait_rest() -> None:
        deployment.wait_rest()
        time.sleep(OPERATOR_S)

    wait_rest()
    first, *others = deployment.applications.values()
    began = time.monotonic_ns()
    others[-1].restart()
    wait_until_settled(deployment, len(deployment.applications))
    joins = time.monotonic_ns()
    normal_s = longest_gap_s(deployment.journals(), began, joins)
    with bridge(deployment, directory) as running:
        assert make_it_lead(running, partial(restart_member, deployment)) >= 1
        time.sleep(OPERATOR_S)
        to_consumer(first, wait_rest)
        assert running.process.wait(120) == 0, (moves(running), running.stderr)
        assert "has been converted; the bridge has left" in running.stderr
        assert any(" s  converted: " in line for line in moves(running))
    wait_until_settled(deployment, len(deployment.applications))
    bridged_s = longest_gap_s(deployment.journals(), joins, time.monotonic_ns())
    view = describe(deployment.broker, deployment.group)
    assert view is not None
    assert not any(map(is_bridge, view.members))
    for one in others:
        to_consumer(one)
        wait_until_settled(deployment, len(deployment.applications))
    deployment.finish().check()
    return normal_s, bridged_s


LIBRDKAFKA = pytest.param(librdkafka("cooperative-sticky"), id="librdkafka", marks=LONG)
SARAMA = pytest.param(sarama(), id="sarama")


@pytest.mark.parametrize("fleet", [LIBRDKAFKA, SARAMA])
@pytest.mark.parametrize("number", range(cases("KOHORT_BRIDGES", 1, many=10)))
def test_a_group_is_converted_online(deploy: Deploy, tmp_path: Path, fleet: Fleet, number: int) -> None:
    normal_s, bridged_s = convert(deploy(fleet), tmp_path)
    # A rebalance is as long as its slowest member's heartbeat interval: one more of them is chance. So is it whether a
    # member of librdkafka, which joins once a second at most, joins at once or a second later.
    chance_s = HEARTBEAT_S + (JOIN_INTERVAL_S if fleet.library == "librdkafka" else 0)
    # On a busy machine anything may take a while, but a session is waited for only where somebody did not leave.
    assert bridged_s <= (normal_s + chance_s if IS_LONG else SESSION_S / 2)


@LONG
@pytest.mark.parametrize("fleet", [LIBRDKAFKA, SARAMA])
@pytest.mark.parametrize("number", range(cases("KOHORT_KILLS", 1, many=20)))
def test_a_group_recovers_whenever_the_bridge_is_killed(
    deploy: Deploy, tmp_path: Path, fleet: Fleet, number: int
) -> None:
    """A moment of its life is drawn, from the start of the process to the end of the conversion. No record is lost,
    and no partition consumed by two at once. Records are consumed twice at most as `MOST_TWICE` says: where the
    bridge dies between JoinGroup and SyncGroup, as after the death of any leader."""
    rng = random.Random(f"bridge {number} {os.environ.get('KOHORT_RANDOM', '')}")
    newest, moment_s, status, attempt = "", 0.0, 0, 0
    while status != -signal.SIGKILL:  # it had ended before its moment
        attempt += 1
        deployment = deploy(fleet)
        deployment.wait_rest()
        first = next(iter(deployment.applications.values()))
        library, classic = first.library, dict(first.config)
        moment_s = rng.uniform(0.2, LIFE_S)
        with bridge(deployment, tmp_path, name=f"bridge{attempt}") as running:
            death = threading.Timer(moment_s, running.process.kill)
            death.start()
            operate(deployment, running, first)
            death.cancel()
            newest = (moves(running) or ["before its first step"])[-1].strip()
            status = running.process.wait()
    if first.config != classic and deployment.view().kind != "consumer":
        # Started as the bridge died: refused, or not yet.
        first.stop()
        first.library, first.config = library, classic
        first.start()
    wait_until(lambda: not any(map(is_bridge, deployment.view().members)), "the bridge's session ends")
    wait_until_settled(deployment, len(deployment.applications))
    outcome = deployment.finish()
    outcome.check(repeats=True)
    twice = Counter(partition for partition, _, _ in repeated(outcome.journals))
    assert max(twice.values(), default=0) <= MOST_TWICE, f"killed at {moment_s:.2f} s, {newest}"


def is_bridge(member: MemberView) -> bool:
    return member.client_id == BRIDGE
