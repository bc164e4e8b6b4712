"""Where the server listens: on this machine only."""

import pytest

from coordinator.server.settings import parse_listen
from wire.client.errors import InvalidAddress


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:9092", ("127.0.0.1", 9092)),
        ("127.9.9.9:0", ("127.9.9.9", 0)),
        ("localhost:1", ("127.0.0.1", 1)),
        ("[::1]:65535", ("::1", 65535)),
        (" 127.0.0.1:9092 ", ("127.0.0.1", 9092)),
    ],
)
def test_loopback(text: str, place: tuple[str, int]) -> None:
    assert parse_listen(text) == place


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "[::]", "10.0.0.1", "example.org", "[fe80::1]", "localhost.example.org"]
)
def test_anything_else_is_refused(host: str) -> None:
    with pytest.raises(InvalidAddress, match="open to other machines"):
        parse_listen(f"{host}:9092")


@pytest.mark.parametrize(
    "text", ["", "9092", ":9092", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9092"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InvalidAddress, match="no address to listen on"):
        parse_listen(text)
