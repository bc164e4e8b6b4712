"""TLS and SASL of this client alone, against a real broker that has a listener of every kind.

Every way in and every refusal that the command line shares with librdkafka: tests/cli/sources/test_security_logins.py.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from cli.sources.admin import librdkafka_config
from tests.kafka.secure import SCRAM_PASSWORDS, SecureBroker
from tests.wire.client.certificates import KEY_PASSWORD
from wire.client.cluster import KafkaClient
from wire.client.config.properties import load_properties
from wire.client.errors import (
    AuthenticationFailed,
    TlsFailed,
    UnsupportedMechanism,
    WireError,
)
from wire.client.groups import list_groups
from wire.client.security import ConnectionSettings, Secret, TlsSettings

pytestmark = pytest.mark.kafka

SCRAM_PASSWORD = SCRAM_PASSWORDS["bob"]


def works(settings: ConnectionSettings) -> bool:
    """Whether groups can be listed, through the listener's advertised address too."""
    with KafkaClient(settings) as client:
        return not list_groups(client).failed


def failure(settings: ConnectionSettings) -> WireError:
    with pytest.raises(WireError) as caught:
        works(settings)
    assert "secret" not in str(caught.value)
    assert "sécret" not in str(caught.value)
    return caught.value


def test_tls_with_the_authority_inline(secure: SecureBroker) -> None:
    tls = TlsSettings(ca_pem=(secure.files / "ca.pem").read_text())
    assert works(replace(secure.settings("SSL"), tls=tls))


def test_certificates_need_not_be_checked(secure: SecureBroker) -> None:
    settings = replace(secure.settings("SSL"), tls=TlsSettings(verify_certificate=False))
    assert works(replace(settings, bootstrap_servers=(secure.at("SSL", "localhost"),)))


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


def test_an_encrypted_key_without_a_password(secure: SecureBroker) -> None:
    tls = replace(
        secure.settings("MUTUAL").tls,
        certificate_path=str(secure.files / "client.pem"),
        key_path=str(secure.files / "client.encrypted.key"),
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


@pytest.mark.parametrize(
    ("mechanism", "kind", "said"),
    [
        (
            "LDAP",
            UnsupportedMechanism,
            "Kohort supports PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER and GSSAPI",
        ),
        # A token that only librdkafka can get.
        (
            "OAUTHBEARER",
            UnsupportedMechanism,
            "It supports a token endpoint (client credentials), a file, kohort.token.command and",
        ),
        ("PLAIN", AuthenticationFailed, "set sasl.jaas.config, or sasl.username and sasl.password"),
    ],
)
def test_logins_that_this_client_cannot_make(
    secure: SecureBroker, mechanism: str, kind: type[WireError], said: str
) -> None:
    error = failure(secure.settings("SASL_PLAINTEXT", sasl_mechanism=mechanism))
    assert isinstance(error, kind)
    assert said in str(error)


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
