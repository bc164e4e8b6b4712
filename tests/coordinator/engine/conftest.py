"""The engine that most tests play with."""

from __future__ import annotations

import pytest

from tests.coordinator.engine.driver import Driver


@pytest.fixture
def driver() -> Driver:
    return Driver()
