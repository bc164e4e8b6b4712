"""The principal of a certificate, as Java's `X500Principal.getName` writes it."""

from typing import Any

import pytest

from coordinator.server.security.tls import ANONYMOUS, principal_of


def of(*names: tuple[str, str]) -> dict[str, Any]:
    return {"subject": tuple((name,) for name in names)}


@pytest.mark.parametrize(
    ("certificate", "principal"),
    [
        (None, ANONYMOUS),
        ({}, ANONYMOUS),
        (of(("commonName", "client")), "User:CN=client"),
        (
            of(("countryName", "DE"), ("organizationName", "Orders, Inc."), ("commonName", "a+b")),
            r"User:CN=a\+b,O=Orders\, Inc.,C=DE",
        ),
        (of(("commonName", " #x ")), r"User:CN=\ #x\ "),
        (of(("commonName", "#x")), r"User:CN=\#x"),
        ({"subject": ((("commonName", "a"), ("userId", "7")),)}, "User:CN=a+UID=7"),
        (of(("commonName", "a"), ("emailAddress", "a@b")), "User:1.2.840.113549.1.9.1=#1603614062,CN=a"),
    ],
)
def test_the_name_of_a_certificate(certificate: dict[str, Any] | None, principal: str) -> None:
    assert principal_of(certificate) == principal
