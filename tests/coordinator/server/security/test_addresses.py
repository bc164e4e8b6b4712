"""The server's listen addresses: on this machine only, unless TLS and a login guard it."""

import pytest

from coordinator.server.security.addresses import ListenAddress, check_reach, parse_advertised, parse_listen
from coordinator.server.security.settings import ClientAuth, SecuritySettings
from wire.client.errors import InvalidAddress
from wire.client.security import SecurityProtocol

PLAINTEXT = SecurityProtocol.PLAINTEXT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:9092", (PLAINTEXT, "127.0.0.1", 9092)),
        ("127.9.9.9:0", (PLAINTEXT, "127.9.9.9", 0)),
        ("localhost:1", (PLAINTEXT, "127.0.0.1", 1)),
        ("[::1]:65535", (PLAINTEXT, "::1", 65535)),
        (" 127.0.0.1:9092 ", (PLAINTEXT, "127.0.0.1", 9092)),
        ("SASL_SSL://127.0.0.1:9092", (SecurityProtocol.SASL_SSL, "127.0.0.1", 9092)),
        ("ssl://[::1]:1", (SecurityProtocol.SSL, "::1", 1)),
    ],
)
def test_loopback(text: str, expected: tuple[SecurityProtocol, str, int]) -> None:
    address = parse_listen(text)
    assert (address.protocol, address.host, address.port) == expected
    check_reach(address, SecuritySettings(), is_advertised=False)


OPEN = ["0.0.0.0", "[::]", "10.0.0.1", "example.org", "[fe80::1]", "localhost.example.org"]
UNGUARDED = [
    SecuritySettings(),
    SecuritySettings(protocol=SecurityProtocol.SASL_PLAINTEXT),
    SecuritySettings(protocol=SecurityProtocol.SSL),
    SecuritySettings(protocol=SecurityProtocol.SSL, client_auth=ClientAuth.REQUESTED),
]
GUARDED = [
    SecuritySettings(protocol=SecurityProtocol.SASL_SSL),
    SecuritySettings(protocol=SecurityProtocol.SSL, client_auth=ClientAuth.REQUIRED),
]


@pytest.mark.parametrize("host", OPEN)
def test_anything_else_takes_tls_and_a_login(host: str) -> None:
    address = parse_listen(f"{host}:9092")
    for settings in UNGUARDED:
        with pytest.raises(InvalidAddress, match="can be reached from other machines"):
            check_reach(address, settings, is_advertised=True)
    for settings in GUARDED:
        check_reach(address, settings, is_advertised=True)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_every_address_takes_one_that_clients_reach(host: str) -> None:
    address = ListenAddress(host=host, port=9092)
    with pytest.raises(InvalidAddress, match="--advertise"):
        check_reach(address, GUARDED[0], is_advertised=False)


@pytest.mark.parametrize(
    "text",
    ["", "9092", ":9092", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9092", "SSL://"],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InvalidAddress, match="not a listen address"):
        parse_listen(text)


def test_an_unknown_protocol_is_refused() -> None:
    with pytest.raises(InvalidAddress, match="HTTP is not one of PLAINTEXT, SSL"):
        parse_listen("HTTP://127.0.0.1:9092")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kafka", ("kafka", None)),
        ("kafka.example.org:9092", ("kafka.example.org", 9092)),
        ("[::1]:9", ("::1", 9)),
    ],
)
def test_the_advertised_address(text: str, expected: tuple[str, int | None]) -> None:
    assert parse_advertised(text) == expected


@pytest.mark.parametrize("text", ["", "kafka:", "kafka:0", "kafka:99999", "SSL://kafka", "a b"])
def test_an_invalid_advertised_address(text: str) -> None:
    with pytest.raises(InvalidAddress, match="not an address to advertise"):
        parse_advertised(text)
