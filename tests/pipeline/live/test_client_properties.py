"""Client properties files as options of Spark's Kafka source."""

from pathlib import Path

import pytest

from pipeline.sources.client_properties import client_options, without_secrets
from tests.wire.client.certificates import make_certificates, need_openssl
from wire.client.config.config_file import ConfigFileError
from wire.client.config.properties import read_properties

LOGIN = "org.apache.kafka.common.security"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_openssl()
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    return directory


def _options(tmp_path: Path, text: str) -> dict[str, str]:
    file = tmp_path / "client.properties"
    file.write_text(text, encoding="utf-8")
    return client_options(read_properties(file))


def test_only_settings_of_the_connection_are_kept(tmp_path: Path) -> None:
    options = _options(
        tmp_path,
        """
        bootstrap.servers=a:1,b:2
        security.protocol=sasl_ssl
        sasl.mechanism=PLAIN
        sasl.jaas.config=x required password="p";
        client.dns.lookup=use_all_dns_ips
        request.timeout.ms=1000
        request.timeout.ms=2000
        group.id=allowed
        group.protocol=consumer
        group.instance.id=seat
        auto.offset.reset=latest
        enable.auto.commit=true
        key.deserializer=a.B
        isolation.level=read_uncommitted
        interceptor.classes=a.B
        acks=all
        """,
    )
    assert options == {
        "kafka.bootstrap.servers": "a:1,b:2",
        "kafka.client.dns.lookup": "use_all_dns_ips",
        "kafka.group.id": "allowed",
        "kafka.request.timeout.ms": "2000",
        "kafka.sasl.jaas.config": 'x required password="p";',
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.security.protocol": "SASL_SSL",
    }


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        ("PLAIN", "plain.PlainLoginModule"),
        ("scram-sha-256", "scram.ScramLoginModule"),
        ("SCRAM-SHA-512", "scram.ScramLoginModule"),
    ],
)
def test_a_name_and_a_password_become_a_login_module(tmp_path: Path, mechanism: str, module: str) -> None:
    options = _options(
        tmp_path,
        f'metadata.broker.list=a:1\nsasl.mechanisms={mechanism}\nsasl.username=me\nsasl.password=a"b\\\\c\n',
    )
    assert options == {
        "kafka.bootstrap.servers": "a:1",
        "kafka.sasl.jaas.config": f'{LOGIN}.{module} required username="me" password="a\\"b\\\\c";',
        "kafka.sasl.mechanism": mechanism.upper(),
    }


@pytest.mark.parametrize(
    "text",
    [
        "ssl.ca.location={files}/ca.pem",
        "ssl.truststore.type=PEM\nssl.truststore.location={files}/ca.pem",
        "ssl.truststore.location={files}/ca.pem\nssl.truststore.password=no-use",
    ],
)
def test_pem_authorities_travel_in_the_options(tmp_path: Path, certificates: Path, text: str) -> None:
    options = _options(tmp_path, text.format(files=certificates))
    assert options == {
        "kafka.ssl.truststore.certificates": (certificates / "ca.pem").read_text().strip(),
        "kafka.ssl.truststore.type": "PEM",
    }


@pytest.mark.parametrize(
    "text",
    [
        "ssl.certificate.location={files}/client.pem\nssl.key.location={files}/client.pk8",
        "ssl.keystore.type=PEM\nssl.keystore.location={files}/client.store.pem",
        "ssl.keystore.location={files}/client.store.pem\nssl.keystore.password=no-use",
    ],
)
def test_pem_keys_travel_in_the_options(tmp_path: Path, certificates: Path, text: str) -> None:
    options = _options(tmp_path, text.format(files=certificates))
    assert options == {
        "kafka.ssl.keystore.certificate.chain": (certificates / "client.pem").read_text().strip(),
        "kafka.ssl.keystore.key": (certificates / "client.pk8").read_text().strip(),
        "kafka.ssl.keystore.type": "PEM",
    }


def test_an_encrypted_key_goes_with_its_password(tmp_path: Path, certificates: Path) -> None:
    options = _options(
        tmp_path,
        f"ssl.certificate.location={certificates}/client.pem\nssl.key.password=key-secret\n"
        f"ssl.key.location={certificates}/client.encrypted.key",
    )
    assert options["kafka.ssl.key.password"] == "key-secret"
    assert options["kafka.ssl.keystore.key"].startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")


def test_another_store_keeps_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trust.jks").write_bytes(b"\xfe\xed\xfe\xed")
    monkeypatch.chdir(tmp_path)
    options = _options(tmp_path, "ssl.truststore.location=trust.jks\nssl.truststore.password=changeit")
    assert options == {
        "kafka.ssl.truststore.location": str(tmp_path / "trust.jks"),
        "kafka.ssl.truststore.password": "changeit",
    }


def test_librdkafkas_way_of_trusting_any_name_is_javas_empty_algorithm(tmp_path: Path) -> None:
    options = _options(tmp_path, "ssl.endpoint.identification.algorithm=none")
    assert options == {"kafka.ssl.endpoint.identification.algorithm": ""}


def test_keys_of_other_programs_are_left_out(tmp_path: Path) -> None:
    options = _options(
        tmp_path, "client.id=a\nschema.registry.url=http://registry\nbootstrap.resolve.timeout.ms=1"
    )
    assert options == {"kafka.client.id": "a"}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            "ssl.trustore.location=ca.pem",
            1,
            "is not a Kafka client property; did you mean ssl.truststore.location",
        ),
        ("zzz=1", 1, "'zzz' is not a Kafka client property"),
        ("\nclient.id=\\u12", 2, "four hexadecimal digits"),
        ("enable.ssl.certificate.verification=false", 1, "always verifies certificates"),
        ("sasl.oauthbearer.method=oidc", 1, "only librdkafka supports sasl.oauthbearer.method"),
        ("kohort.token.command=cat hidden", 1, "requests its tokens itself"),
        ("ssl.ca.location=/not/there.pem", 1, "/not/there.pem cannot be read: No such file"),
        ("sasl.username=me\nsasl.password=hidden", 1, "requires a sasl.mechanism of PLAIN"),
        ("sasl.mechanism=GSSAPI\nsasl.username=me\nsasl.password=hidden", 2, "not GSSAPI"),
    ],
)
def test_an_unusable_property_is_reported_with_its_line(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    with pytest.raises(ConfigFileError, match=says) as refused:
        _options(tmp_path, text)
    assert refused.value.line == line
    assert "hidden" not in str(refused.value)


def test_a_key_that_java_does_not_read_is_reported(tmp_path: Path) -> None:
    key = tmp_path / "old.key"
    key.write_text("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n")
    (tmp_path / "chain.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    with pytest.raises(ConfigFileError, match=r"a RSA PRIVATE KEY, and Java reads only PKCS #8: .*-topk8"):
        _options(tmp_path, f"ssl.certificate.location={tmp_path}/chain.pem\nssl.key.location={key}")


def test_secrets_are_taken_out_of_a_message(tmp_path: Path) -> None:
    options = _options(
        tmp_path,
        "bootstrap.servers=a:1\nsasl.mechanism=PLAIN\nsasl.username=somebody\nsasl.password=pass-word\n"
        "ssl.key.password=key-word",
    )
    said = f"a:1 refuses {options['kafka.sasl.jaas.config']} and pass-word and key-word"
    assert without_secrets(said, options) == "a:1 refuses *** and *** and ***"
