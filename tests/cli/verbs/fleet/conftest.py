"""The browser that the tests of pages share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.chromium import Chromium, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """Give a headless Chromium; without one the test skips, or fails where it is required."""
    with chromium() as running:
        yield running
