"""Broker addresses."""

import pytest

from wire.client.address import Address, parse_bootstrap
from wire.client.errors import InvalidAddress


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("broker-1:9092", "broker-1", 9092),
        (" 10.0.0.7:65535 ", "10.0.0.7", 65535),
        ("[::1]:9092", "::1", 9092),
        ("SASL_SSL://b.example.org:9093", "b.example.org", 9093),
        ("SSL://[fe80::1%eth0]:1", "fe80::1%eth0", 1),
    ],
)
def test_parse(text: str, host: str, port: int) -> None:
    assert Address.parse(text) == Address(host, port)


@pytest.mark.parametrize(
    "text",
    ["", "broker", "broker:", ":9092", "broker:0", "broker:65536", "broker:x", "::1:9092", "[]:1", "b:٩"],
)
def test_an_invalid_address_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(
        InvalidAddress, match=r"write it as host:port, for example broker-1:9092 or \[::1\]:9092"
    ):
        Address.parse(text)


def test_an_address_reads_back() -> None:
    for text in ("broker:9092", "[::1]:9092"):
        assert str(Address.parse(text)) == text


def test_bootstrap_servers_keep_their_order_without_duplicates() -> None:
    assert [str(address) for address in parse_bootstrap("b:2, a:1,,b:2,")] == ["b:2", "a:1"]
    with pytest.raises(InvalidAddress, match="no bootstrap server is given"):
        parse_bootstrap(" , ")
