"""The principal of a certificate, as Java's `X500Principal.getName` writes it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coordinator.errors import InvalidSetting
from coordinator.server.security.principals import ANONYMOUS, UnknownPrincipal, parse_rules, principal_of
from tests.kafka.programs import SILENT, Answerer


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


RULES = (
    "DEFAULT",
    "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L,DEFAULT",
    "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L , DEFAULT",
    "RULE:^CN=(.*)$/$1$2$12/U",
    "RULE:^CN=([^,]+).*$/$0\\/\\$1/",
    "RULE:^CN=x$/y/",
    "RULE:.*/n/,",
    "RULE:^(CN=\\w+),.*$/$1/L,RULE:^CN=(.*)$/<$1>/",
)
DISTINGUISHED = (
    "CN=client",
    "CN=Ada,OU=ServiceUsers,O=x",
    "CN=Ada,OU=a,O=b,L=c,ST=d,C=DE",
    "O=none",
    "CN=a\\,b,O=x",
)


@pytest.fixture(scope="module")
def mapper(kafka_jars: Path) -> Iterator[Answerer]:
    with closing(Answerer(kafka_jars, "PrincipalOracle", heap_mb=64, options=(SILENT,))) as running:
        yield running


@pytest.mark.kafka
@pytest.mark.parametrize("rules", RULES)
def test_names_are_mapped_as_by_kafka(mapper: Answerer, rules: str) -> None:
    for name in DISTINGUISHED:
        mapped = next((user for rule in parse_rules(rules) if (user := rule.applied(name)) is not None), None)
        assert mapped == mapper.answer({"rules": rules, "name": name})["name"], name


def test_a_name_that_no_rule_is_about_is_nobodys() -> None:
    with pytest.raises(UnknownPrincipal, match="CN=client"):
        principal_of(of(("commonName", "client")), parse_rules("RULE:^CN=x$/y/"))


@pytest.mark.parametrize("rules", ["RULE:", "RULE:a", "RULE:a/b", "RULE:(/b/", "CN", "RULE:a/b/X"])
def test_invalid_rules(rules: str) -> None:
    with pytest.raises(InvalidSetting, match=r"ssl\.principal\.mapping\.rules"):
        parse_rules(rules)
