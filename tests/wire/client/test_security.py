"""TLS and SASL of this client alone, against a real broker; what it shares with librdkafka:
tests/cli/sources/test_security_logins.py."""

from dataclasses import replace

import pytest

from tests.kafka.secure import SecureBroker
from tests.wire.client.certificates import KEY_PASSWORD
from wire.client.cluster import KafkaClient
from wire.client.errors import AuthenticationFailed, TlsFailed, UnsupportedMechanism, WireError
from wire.client.groups import list_groups
from wire.client.security import ConnectionSettings, Secret, TlsSettings

pytestmark = pytest.mark.kafka


def works(settings: ConnectionSettings) -> bool:
    with KafkaClient(settings) as client:
        return not list_groups(client).failed


def failure(settings: ConnectionSettings) -> WireError:
    with pytest.raises(WireError) as caught:
        works(settings)
    assert "secret" not in str(caught.value)
    assert "sécret" not in str(caught.value)
    return caught.value


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
