"""A ConsumerGroupHeartbeat that is refused, at each stage of its checks. The words are those of tests/conformance."""

from __future__ import annotations

from typing import Any

import pytest

from tests.coordinator.engine.consumer import Consumer
from tests.coordinator.engine.driver import Driver
from wire.errors import ErrorCode


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"member": ""}, ErrorCode.INVALID_REQUEST),
        ({"assignor": "Range"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        ({"epoch": 5}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"epoch": -1}, ErrorCode.GROUP_ID_NOT_FOUND),
        ({"topics": None, "regex": "("}, ErrorCode.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_a_request_is_refused_before_anything_changes(
    driver: Driver, fields: dict[str, Any], code: ErrorCode
) -> None:
    deadline = driver.engine.next_deadline()
    assert Consumer(driver, "a").join(**fields).error is code
    assert not driver.engine.state.groups
    assert not driver.records
    assert driver.engine.next_deadline() == deadline
