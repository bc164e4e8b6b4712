"""A real librdkafka cooperative-sticky group is converted online with `kohort bridge`."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.kafka.groups import describe
from tests.migration.end_to_end.bridged import (
    at_rest,
    bridge,
    longest_gap_s,
    make_it_lead,
    moves,
    to_consumer,
)
from tests.migration.end_to_end.conftest import Deploy
from tests.migration.end_to_end.deployment import Deployment
from tests.migration.end_to_end.fleets import librdkafka

pytestmark = pytest.mark.kafka


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
    assert not any(member.client_id == "kohort-bridge" for member in view.members)
    for one in others:
        to_consumer(one)
        at_rest(deployment, len(deployment.applications))
    deployment.finish().check()
    return {"normal_s": normal_s, "bridged_s": bridged_s, "restarts": float(restarts)}


def test_a_librdkafka_cooperative_group_is_converted_online(deploy: Deploy, tmp_path: Path) -> None:
    figures = convert(deploy(librdkafka("cooperative-sticky")), tmp_path)
    print(figures)
    assert figures["restarts"] >= 1
