"""TLS and SASL against a real broker that has a listener of every kind."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from cli.sources.admin import librdkafka_config
from tests.kafka.secure import PASSWORDS, SCRAM_PASSWORDS, SecureBroker
from tests.wire.client.certificates import KEY_PASSWORD
from wire.client.client import KafkaClient
from wire.client.config.properties import load_properties
from wire.client.errors import (
    AuthenticationFailed,
    ProtocolError,
    TlsFailed,
    Unreachable,
    UnsupportedMechanism,
    WireError,
)
from wire.client.security import ConnectionSettings, Secret, SecurityProtocol, TlsSettings

pytestmark = pytest.mark.kafka

SCRAM_PASSWORD = SCRAM_PASSWORDS["bob"]


def works(settings: ConnectionSettings) -> bool:
    """Whether groups can be listed, through the listener's advertised address too."""
    with KafkaClient.connect(settings) as client:
        return not client.list_groups().failed


def failure(settings: ConnectionSettings) -> WireError:
    with pytest.raises(WireError) as caught:
        works(settings)
    assert "secret" not in str(caught.value)
    assert "sécret" not in str(caught.value)
    return caught.value


def test_plaintext(secure: SecureBroker) -> None:
    assert works(secure.settings("PLAINTEXT"))


def test_tls(secure: SecureBroker) -> None:
    assert works(secure.settings("SSL"))


def test_tls_with_the_authority_inline(secure: SecureBroker) -> None:
    tls = TlsSettings(ca_pem=(secure.files / "ca.pem").read_text())
    assert works(replace(secure.settings("SSL"), tls=tls))


def test_tls_checks_the_authority(secure: SecureBroker) -> None:
    settings = secure.settings("SSL")
    error = failure(replace(settings, tls=TlsSettings(ca_path=str(secure.files / "other-ca.pem"))))
    assert isinstance(error, TlsFailed)
    assert str(error).startswith(f"{secure.at('SSL')}: the TLS handshake failed (unable to get local issuer")
    assert "Check ssl.truststore.location" in str(error)
    assert works(replace(settings, tls=TlsSettings(verify_certificate=False)))


def test_tls_checks_the_host_name(secure: SecureBroker) -> None:
    settings = replace(secure.settings("SSL"), bootstrap_servers=(secure.at("SSL", "localhost"),))
    error = failure(settings)
    assert isinstance(error, TlsFailed)
    assert "Hostname mismatch" in str(error)
    assert works(replace(settings, tls=replace(settings.tls, verify_hostname=False)))


@pytest.mark.parametrize("inline", [False, True], ids=["files", "inline"])
@pytest.mark.parametrize("encrypted", [False, True], ids=["clear", "encrypted"])
def test_mutual_tls(secure: SecureBroker, inline: bool, encrypted: bool) -> None:
    key = secure.files / ("client.encrypted.key" if encrypted else "client.key")
    certificate = secure.files / "client.pem"
    tls = replace(secure.settings("MUTUAL").tls, key_password=Secret(KEY_PASSWORD) if encrypted else None)
    if inline:
        tls = replace(tls, certificate_pem=certificate.read_text(), key_pem=Secret(key.read_text()))
    else:
        tls = replace(tls, certificate_path=str(certificate), key_path=str(key))
    assert works(replace(secure.settings("MUTUAL"), tls=tls))


def test_mutual_tls_with_key_and_chain_in_one_file(secure: SecureBroker) -> None:
    tls = replace(secure.settings("MUTUAL").tls, certificate_path=str(secure.files / "client.store.pem"))
    assert works(replace(secure.settings("MUTUAL"), tls=tls))


def test_mutual_tls_without_a_certificate(secure: SecureBroker) -> None:
    error = failure(secure.settings("MUTUAL"))
    assert isinstance(error, AuthenticationFailed)
    assert str(error).startswith(f"{secure.at('MUTUAL')}: the broker asks for a client certificate")


@pytest.mark.parametrize("password", [None, Secret("wrong-secret")], ids=["missing", "wrong"])
def test_a_key_whose_password_does_not_fit(secure: SecureBroker, password: Secret | None) -> None:
    tls = replace(
        secure.settings("MUTUAL").tls,
        certificate_path=str(secure.files / "client.pem"),
        key_path=str(secure.files / "client.encrypted.key"),
        key_password=password,
    )
    error = failure(replace(secure.settings("MUTUAL"), tls=tls))
    assert isinstance(error, TlsFailed)
    assert "ssl.key.password" in str(error)


@pytest.mark.parametrize("what", ["missing.pem", "client.key"])
def test_an_authority_that_cannot_be_read(secure: SecureBroker, what: str) -> None:
    path = str(secure.files / what)
    error = failure(replace(secure.settings("SSL"), tls=TlsSettings(ca_path=path)))
    assert isinstance(error, TlsFailed)
    assert str(error).startswith(f"{path}: no PEM certificates can be read (")


def test_plaintext_to_a_tls_listener(secure: SecureBroker) -> None:
    settings = replace(secure.settings("SSL"), security_protocol=SecurityProtocol.PLAINTEXT)
    error = failure(settings)
    assert isinstance(error, ProtocolError | Unreachable)
    assert str(error).startswith(secure.at("SSL"))
    assert "security.protocol" in str(error)


def test_tls_to_a_plaintext_listener(secure: SecureBroker) -> None:
    settings = replace(secure.settings("PLAINTEXT"), security_protocol=SecurityProtocol.SSL)
    error = failure(settings)
    assert isinstance(error, TlsFailed)
    assert "Is it a PLAINTEXT listener?" in str(error)


def test_no_credentials_at_a_sasl_listener(secure: SecureBroker) -> None:
    settings = replace(secure.settings("SASL_PLAINTEXT"), security_protocol=SecurityProtocol.PLAINTEXT)
    error = failure(settings)
    assert isinstance(error, Unreachable)
    assert str(error) == (
        f"{secure.at('SASL_PLAINTEXT')}: the connection was closed waiting for the answer to Metadata. "
        "Does the listener want a login? Then set security.protocol to SASL_PLAINTEXT."
    )


def login(user: str, password: str, mechanism: str) -> dict[str, Any]:
    return {"sasl_mechanism": mechanism, "sasl_username": user, "sasl_password": Secret(password)}


LOGINS = [
    login("admin", PASSWORDS["admin"], "PLAIN"),
    login("bob", SCRAM_PASSWORD, "SCRAM-SHA-256"),
    login("bob", SCRAM_PASSWORD, "SCRAM-SHA-512"),
]


@pytest.mark.parametrize("credentials", LOGINS, ids=lambda one: one["sasl_mechanism"])
def test_sasl(secure: SecureBroker, credentials: dict[str, Any]) -> None:
    assert works(secure.settings("SASL_SSL", **credentials))


def test_sasl_without_tls(secure: SecureBroker) -> None:
    assert works(secure.settings("SASL_PLAINTEXT", **login("bob", SCRAM_PASSWORD, "SCRAM-SHA-512")))


@pytest.mark.parametrize("credentials", LOGINS, ids=lambda one: one["sasl_mechanism"])
def test_a_wrong_password(secure: SecureBroker, credentials: dict[str, Any]) -> None:
    wrong = credentials | {"sasl_password": Secret("wrong-secret")}
    error = failure(secure.settings("SASL_SSL", **wrong))
    assert isinstance(error, AuthenticationFailed)
    assert str(error).startswith(f"{secure.at('SASL_SSL')}: Authentication failed")
    assert str(error).endswith("Check user name and password.")


def test_an_unknown_user(secure: SecureBroker) -> None:
    error = failure(secure.settings("SASL_PLAINTEXT", **login("eve", "a-secret", "SCRAM-SHA-256")))
    assert isinstance(error, AuthenticationFailed)


def test_a_mechanism_the_client_does_not_speak(secure: SecureBroker) -> None:
    error = failure(secure.settings("SASL_PLAINTEXT", sasl_mechanism="GSSAPI"))
    assert isinstance(error, UnsupportedMechanism)
    assert "Kohort speaks PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER" in str(error)


def test_a_token_that_only_librdkafka_can_get(secure: SecureBroker) -> None:
    error = failure(secure.settings("SASL_PLAINTEXT", sasl_mechanism="OAUTHBEARER"))
    assert isinstance(error, UnsupportedMechanism)
    assert "with a token endpoint (client credentials) or a token's file only" in str(error)


def test_no_password(secure: SecureBroker) -> None:
    error = failure(secure.settings("SASL_PLAINTEXT", sasl_mechanism="PLAIN"))
    assert isinstance(error, AuthenticationFailed)
    assert "set sasl.jaas.config, or sasl.username and sasl.password" in str(error)


JAVA_FILE = """
bootstrap.servers={at}
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
    username="bob" password="{password}";
ssl.truststore.type=PEM
ssl.truststore.location={ca}
"""
LIBRDKAFKA_FILE = """
bootstrap.servers={at}
security.protocol=sasl_ssl
sasl.mechanisms=SCRAM-SHA-512
sasl.username=bob
sasl.password={password}
ssl.ca.location={ca}
"""


@pytest.mark.parametrize("text", [JAVA_FILE, LIBRDKAFKA_FILE], ids=["Java", "librdkafka"])
def test_a_command_config_serves_both_clients(secure: SecureBroker, tmp_path: Path, text: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text(
        text.format(at=secure.at("SASL_SSL"), password=SCRAM_PASSWORD, ca=secure.files / "ca.pem"),
        encoding="utf-8",
    )
    settings = load_properties(file)
    assert works(settings)
    admin = AdminClient(librdkafka_config(settings))
    assert admin.list_topics(timeout=60).cluster_id


def test_librdkafka_takes_every_tls_setting(secure: SecureBroker) -> None:
    tls = replace(
        secure.settings("MUTUAL").tls,
        certificate_pem=(secure.files / "client.pem").read_text(),
        key_pem=Secret((secure.files / "client.encrypted.key").read_text()),
        key_password=Secret(KEY_PASSWORD),
        verify_hostname=False,
    )
    settings = replace(
        secure.settings("MUTUAL"), tls=tls, bootstrap_servers=(secure.at("MUTUAL", "localhost"),)
    )
    admin = AdminClient(librdkafka_config(settings))
    assert admin.list_topics(timeout=60).cluster_id
    assert works(settings)
