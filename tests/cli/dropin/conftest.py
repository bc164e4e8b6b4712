"""Fixtures of the tests that compare both tools."""

from __future__ import annotations

import pytest

from tests.cli.dropin.harness import Stage
from tests.kafka.broker import Broker
from tests.kafka.tool_host import ToolHost


@pytest.fixture(scope="session")
def stage(session_broker: Broker, tools: ToolHost) -> Stage:
    """Give both tools and the broker that all tests share."""
    return Stage(session_broker, tools)
