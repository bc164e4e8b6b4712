"""Consumers at work before any plan is followed: what the other tests here stand on."""

from __future__ import annotations

import pytest

from tests.migration.end_to_end.conftest import Deploy
from tests.migration.end_to_end.deployment import Fleet

RANGE = {"java": "org.apache.kafka.clients.consumer.RangeAssignor", "librdkafka": "range"}


@pytest.mark.kafka
@pytest.mark.parametrize("library", ["java", "librdkafka"])
def test_plain_restart_loses_and_repeats_nothing(deploy: Deploy, library: str) -> None:
    deployment = deploy(Fleet(library=library, config={"partition.assignment.strategy": RANGE[library]}))
    first, *_ = deployment.applications.values()
    first.restart()
    deployment.wait_stable()
    assert first.lives == 2
    outcome = deployment.finish()
    outcome.check()
    assert {journal.member for journal in outcome.journals if journal.entries} == {
        f"{one.name}.{life}" for one in deployment.applications.values() for life in range(1, one.lives + 1)
    }
