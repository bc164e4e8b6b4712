"""A broker whose requests are recorded, and commands that start in a moment."""

from collections.abc import Iterator

import pytest

from tests.cli.served_data import serving
from tests.cli.verbs.mcp.agents import quick_commands
from tests.kafka.ports import HOST
from tests.kafka.turnstile import Turnstile


@pytest.fixture(scope="module", autouse=True)
def _quickly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with quick_commands(tmp_path_factory.mktemp("bin")):
        yield


@pytest.fixture(scope="module")
def turnstile() -> Iterator[Turnstile]:
    """Give the port by which all clients reach a broker; it records the keys of their requests."""
    turnstile = Turnstile()
    with serving(None, "--advertise", f"{HOST}:{turnstile.port}", "--topic", "orders:1") as served:
        turnstile.open(served.port)
        yield turnstile
    turnstile.cut()
