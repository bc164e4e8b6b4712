"""The engine that most tests play with."""

import pytest

from tests.coordinator.engine.driver import Driver


@pytest.fixture
def driver() -> Driver:
    return Driver()
