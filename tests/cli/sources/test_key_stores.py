"""Stores of type PKCS12, made by keytool and openssl: what logs in with them, and what is said of those that do not."""

import subprocess
from pathlib import Path

import pytest

from cli.sources.librdkafka import librdkafka_config
from tests.cli.command import Kohort
from tests.cli.sources.secure_rig import SecureRig
from tests.kafka.secure import SecureBroker
from wire.client.config.config_file import ConfigFileError
from wire.client.config.key_stores import UnreadableStore, read_key_store
from wire.client.config.properties import load_properties
from wire.client.security import Secret

pytestmark = pytest.mark.kafka

ODD = "a \"b'c\\d $e;=#!-secret"


def run(directory: Path, *command: str) -> None:
    subprocess.run(command, cwd=directory, check=True, capture_output=True)


@pytest.fixture(scope="module")
def stores(secure: SecureBroker, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """keys.jks (which is PKCS12, as keytool writes it), expired.p12, trust.p12, and old.jks, a real JKS store."""
    directory, files = tmp_path_factory.mktemp("stores"), secure.files
    for name, password in (("client", ODD), ("expired", "changeit")):
        run(
            directory,
            *("openssl", "pkcs12", "-export", "-inkey", f"{files}/{name}.key", "-in", f"{files}/{name}.pem"),
            *("-out", f"{name}.p12", "-passout", f"pass:{password}"),
        )
    run(
        directory,
        *("keytool", "-importkeystore", "-srckeystore", "client.p12", "-srcstorepass", ODD),
        *("-destkeystore", "keys.jks", "-deststorepass", ODD, "-noprompt"),
    )
    for store, kind in (("trust.p12", "PKCS12"), ("old.jks", "JKS")):
        run(
            directory,
            *("keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", f"{files}/ca.pem"),
            *("-keystore", store, "-storetype", kind, "-storepass", "changeit"),
        )
    return directory


def properties(stores: Path, keys: str = "keys.jks", *, password: str = ODD, trust: str = "trust.p12") -> str:
    """Java's names; JKS is Java's default type, and Java too reads PKCS12 under it."""
    escaped = password.replace("\\", "\\\\")
    return (
        f"security.protocol=SSL\nssl.keystore.location={stores}/{keys}\nssl.keystore.password={escaped}\n"
        f"ssl.key.password={escaped}\nssl.truststore.type=PKCS12\nssl.truststore.location={stores}/{trust}\n"
        "ssl.truststore.password=changeit\n"
    )


def test_both_clients_log_in(secure: SecureBroker, kohort: Kohort, stores: Path, tmp_path: Path) -> None:
    rig = SecureRig(secure=secure, kohort=kohort, scratch=tmp_path)
    for command in ("list", "config unset any consumer.session.timeout.ms"):
        rig.run(secure.at("MUTUAL"), properties(stores), command).succeeded()
    settings = load_properties(rig.file(properties(stores)))
    assert "PRIVATE KEY" not in repr(settings)
    assert "ssl.keystore.location" not in librdkafka_config(settings), "librdkafka would want its type too"


MISTAKES = {
    "a wrong password": (("keys.jks", "wrong-secret"), "the password is wrong, or it is not a PKCS12 store."),
    "no store": (("missing.p12", ODD), "missing.p12: No such file or directory."),
    "a trust store": (
        ("trust.p12", "changeit"),
        "it contains no private key with a certificate; it may be a trust",
    ),
    "an expired certificate": (("expired.p12", "changeit"), "its certificate, CN=expired, expired on 20"),
    "JKS": (("old.jks", "changeit"), "keytool -importkeystore -srckeystore"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_key_store_that_cannot_be_used(stores: Path, tmp_path: Path, case: str) -> None:
    (keys, password), said = MISTAKES[case]
    file = tmp_path / "client.properties"
    file.write_text(properties(stores, keys, password=password))
    with pytest.raises(ConfigFileError) as caught:
        load_properties(file)
    text = str(caught.value)
    assert (said in text, "line 2: ssl.keystore.location" in text, "secret" in text) == (True, True, False)


def test_a_trust_store_without_a_certificate(stores: Path, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text(properties(stores, trust="expired.p12"))
    with pytest.raises(ConfigFileError, match="it contains no trusted certificate"):
        load_properties(file)


def test_a_password_beyond_ascii(secure: SecureBroker, tmp_path: Path) -> None:
    store = tmp_path / "store.p12"
    run(
        secure.files,
        *("openssl", "pkcs12", "-export", "-inkey", "client.key", "-in", "client.pem"),
        *("-out", str(store), "-passout", "pass:sécrèt-€😀"),
    )
    assert "BEGIN CERTIFICATE" in read_key_store(store, Secret("sécrèt-€😀"))[1]
    with pytest.raises(UnreadableStore, match="the password is wrong"):
        read_key_store(store, None)
