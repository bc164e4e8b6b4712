"""`--command-config` files, Java's and librdkafka's."""

from pathlib import Path

import pytest

from cli.sources.librdkafka import librdkafka_config
from tests.cli.command import Kohort, imported
from wire.client import security
from wire.client.config.config_file import ConfigFileError
from wire.client.config.properties import load_properties
from wire.java_text import parse_properties

# Each line with what java.util.Properties 17 makes of it.
SYNTAX = {
    "plain=value": ("plain", "value"),
    "   indented = spaced value  ": ("indented", "spaced value  "),
    "colon:value": ("colon", "value"),
    "blank value": ("blank", "value"),
    "tabbed\tvalue": ("tabbed", "value"),
    "equals = = two": ("equals", "= two"),
    "colonblank : : two": ("colonblank", ": two"),
    "empty": ("empty", ""),
    "empty3 =   ": ("empty3", ""),
    r"\#hash=x": ("#hash", "x"),
    r"k\=e\:y\ s=v": ("k=e:y s", "v"),
    "cont = one, \\\n       two,\\\n   \tthree": ("cont", "one, two,three"),
    "odd=a\\\\\\\nb": ("odd", "a\\b"),
    r"even=a" + "\\\\": ("even", "a\\"),
    r"esc=\t\n\r\f\q\"\'" + "\\\\": ("esc", "\t\n\r\fq\"'\\"),
    r"uni=\u00e9\u20AC\ud83d\ude00": ("uni", "é€😀"),
    "umlaut=ä": ("umlaut", "ä"),
    "contcomment=a\\\n# not a comment": ("contcomment", "a# not a comment"),
    "contblank=a\\\n\n": ("contblank", "a"),
    "=novalue": ("", "novalue"),
    "trailing=back\\": ("trailing", "back"),
    "windows=line\r\n": ("windows", "line"),
}


@pytest.mark.parametrize("text", SYNTAX)
def test_syntax_as_java_reads_it(text: str) -> None:
    (entry,) = parse_properties(text)
    assert (entry.key, entry.value) == SYNTAX[text]


def load(tmp_path: Path, text: str) -> security.ConnectionSettings:
    file = tmp_path / "client.properties"
    file.write_text(text, encoding="utf-8")
    return load_properties(file)


def refused(tmp_path: Path, text: str) -> str:
    """What is wrong with a file, without the file's name in front."""
    with pytest.raises(ConfigFileError) as caught:
        load(tmp_path, text)
    return str(caught.value).removeprefix(str(tmp_path / "client.properties"))


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    assert load(tmp_path, "\ufeff") == security.ConnectionSettings()


def test_every_java_key_we_use(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "bootstrap.servers=a:9092, b:9092,\n"
        "security.protocol=sasl_ssl\n"
        "sasl.mechanism=SCRAM-SHA-512\n"
        'sasl.jaas.config=x.ScramLoginModule required username="bob" password="s3\\\\"cret";\n'
        "ssl.truststore.type=PEM\n"
        "ssl.truststore.location=/etc/ca.pem\n"
        "ssl.keystore.type=pem\n"
        "ssl.keystore.location=/etc/client.pem\n"
        "ssl.key.password=k3y\n"
        "ssl.endpoint.identification.algorithm=\n"
        "client.id=ops\n"
        "request.timeout.ms=5000\n"
        "default.api.timeout.ms=20000\n"
        "socket.connection.setup.timeout.ms=3000\n"
        "group.id=ignored\nkey.deserializer=ignored\nacks=all\nmetadata.max.age.ms=1\n",
    )
    assert settings == security.ConnectionSettings(
        bootstrap_servers=("a:9092", "b:9092"),
        security_protocol=security.SecurityProtocol.SASL_SSL,
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="bob",
        sasl_password=security.Secret('s3"cret'),
        tls=security.TlsSettings(
            ca_path="/etc/ca.pem",
            certificate_path="/etc/client.pem",
            key_path="/etc/client.pem",
            key_password=security.Secret("k3y"),
            verify_hostname=False,
        ),
        client_id="ops",
        connection_setup_timeout_ms=3000,
        request_timeout_ms=5000,
        api_timeout_ms=20_000,
    )
    assert librdkafka_config(settings) == {
        "bootstrap.servers": "a:9092,b:9092",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "bob",
        "sasl.password": 's3"cret',
        "ssl.ca.location": "/etc/ca.pem",
        "ssl.certificate.location": "/etc/client.pem",
        "ssl.key.location": "/etc/client.pem",
        "ssl.key.password": "k3y",
        "ssl.endpoint.identification.algorithm": "none",
        "enable.ssl.certificate.verification": "true",
        "client.id": "ops",
        "socket.timeout.ms": "5000",
        "socket.connection.setup.timeout.ms": "3000",
    }


def test_a_librdkafka_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "metadata.broker.list=a:9092\nsecurity.protocol=sasl_ssl\nsasl.mechanisms=PLAIN\n"
        "sasl.username=alice\nsasl.password= s3cret\nssl.ca.location=/etc/ca.pem\n"
        "ssl.certificate.location=/etc/c.pem\nssl.key.location=/etc/c.key\nssl.key.password=k3y\n"
        "enable.ssl.certificate.verification=false\nssl.crl.location=/etc/crl.pem\n"
        "socket.timeout.ms=4000\nbroker.address.family=v4\nqueued.min.messages=1\n",
    )
    assert settings == security.ConnectionSettings(
        bootstrap_servers=("a:9092",),
        security_protocol=security.SecurityProtocol.SASL_SSL,
        sasl_mechanism="PLAIN",
        sasl_username="alice",
        sasl_password=security.Secret("s3cret"),
        tls=security.TlsSettings(
            ca_path="/etc/ca.pem",
            certificate_path="/etc/c.pem",
            key_path="/etc/c.key",
            key_password=security.Secret("k3y"),
            verify_certificate=False,
        ),
        request_timeout_ms=4000,
        extra=(
            ("ssl.crl.location", security.Secret("/etc/crl.pem")),
            ("broker.address.family", security.Secret("v4")),
        ),
    )
    config = librdkafka_config(settings)
    assert (config["ssl.crl.location"], config["broker.address.family"]) == ("/etc/crl.pem", "v4")
    assert config["enable.ssl.certificate.verification"] == "false"


def test_a_mechanism_that_only_librdkafka_speaks_is_kept(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
        "sasl.oauthbearer.method=oidc\nsasl.oauthbearer.token.endpoint.url=https://login\n"
        "sasl.oauthbearer.grant.type=urn:ietf:params:oauth:grant-type:jwt-bearer\n"
        "sasl.jaas.config=x.OAuthBearerLoginModule required ;\n",
    )
    assert settings.oauth is None
    config = librdkafka_config(settings)
    expected = {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": "https://login"}
    assert (config.items() >= expected.items(), "sasl.jaas.config" in config) == (True, False)


def test_secrets_do_not_show(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=alice\nsasl.password=s3cret\n"
        "ssl.key.password=s3cret\nssl.key.pem=s3cret\nsasl.oauthbearer.client.secret=s3cret\n",
    )
    assert "s3cret" not in f"{settings!r} {settings} {settings.sasl_password} {settings.tls}"
    assert "s3cret" not in repr(parse_properties("sasl.password=s3cret"))


SCRAM = 'sasl.jaas.config=x.ScramLoginModule required username="a" password="s3cret";'
MISTAKES = {
    "\nsasl.mecanism=PLAIN": "line 2: 'sasl.mecanism' is not a Kafka client property; did you mean sasl.mechanism?",
    "acks=1\nbootstrap.server=b:9092": "line 2: 'bootstrap.server' is not a Kafka client property; did you mean boot",
    "zzz=1": "line 1: 'zzz' is not a Kafka client property. Remove the line, or check the key's spelling.",
    r"a=\u1": "line 1: \\u must be followed by four hexadecimal digits.",
    "config.providers=file": "line 1: config.providers are not supported. Write the values themselves",
    "security.protocol=TLS": "line 1: security.protocol: 'TLS' is not one of PLAINTEXT, SSL, SASL_PLAINTEXT,",
    "request.timeout.ms=soon": "line 1: request.timeout.ms: 'soon' is not a positive number of milliseconds.",
    "request.timeout.ms=0": "line 1: request.timeout.ms: '0' is not a positive",
    "enable.ssl.certificate.verification=no": "line 1: enable.ssl.certificate.verification: 'no' is neither true nor f",
    "sasl.jaas.config=x": "line 1: sasl.jaas.config: the value cannot be read: write it as <login module",
    'sasl.jaas.config=P required username="a"': "the closing ; is missing",
    'sasl.jaas.config=P sometimes username="a";': "write it as",
    'sasl.jaas.config=P required username="a;': "a quote is not closed",
    'sasl.jaas.config=P required username="a"; Q required;': "only one login module is allowed",
    'sasl.jaas.config=P required ="a";': 'every option is written as key="value"',
    'sasl.jaas.config=P required username="s3cret" "b";': 'every option is written as key="value"',
    'sasl.jaas.config=x.PlainLoginModule required username="a";': "PlainLoginModule needs username and password.",
    f"security.protocol=SASL_SSL\n{SCRAM}": (
        "sasl.mechanism is missing (Kafka's default is GSSAPI). Add sasl.mechanism=SCRAM-SHA-512."
    ),
    f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n{SCRAM}": (
        "line 2: sasl.mechanism: PLAIN does not match the login module of sasl.jaas.config."
    ),
    "ssl.truststore.certificates=PEM": "certificates in the file itself need ssl.truststore.type=PEM.",
    "ssl.keystore.type=PEM\nssl.keystore.key=s3cret": "ssl.keystore.certificate.chain is missing.",
    "ssl.truststore.location=t.jks\nssl.truststore.password=s3cret": "t.jks: No such file or directory.",
}
LOGIN = "https://login"
OAUTH_MISTAKES = {
    (): "OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url, kohort.token.command or",
    ("token.endpoint.url=login",): "it is not a URL that starts with https://, http:// or",
    ("token.endpoint.url=https://a:s3cret@login",): "a URL with a login in it is not",
    (f"token.endpoint.url={LOGIN}",): "the client's id is missing.",
    (f"token.endpoint.url={LOGIN}", "client.id=a"): "the client's secret is missing.",
    ("token.endpoint.url=file:///t", "extensions=s3cret"): "every extension is written as NAME=VALUE.",
    ("token.endpoint.url=file:///t", "extensions=auth=s3cret"): "'auth' is not a valid extension",
}
"""By what is given of `sasl.oauthbearer.…`."""
OAUTH = "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
MISTAKES |= {
    OAUTH + "\n".join(f"sasl.oauthbearer.{line}" for line in lines): said
    for lines, said in OAUTH_MISTAKES.items()
} | {
    f'{OAUTH}sasl.jaas.config=x.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="a";': (
        "unsecured tokens need enable.sasl.oauthbearer.unsecure.jwt=true"
    ),
    f'{OAUTH}sasl.jaas.config=x.PlainLoginModule required username="a" password="s3cret";': (
        "OAUTHBEARER does not match the login module of sasl.jaas.config."
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.items())
def test_a_mistake_is_named_with_its_line_and_the_next_step(tmp_path: Path, text: str, message: str) -> None:
    refusal = refused(tmp_path, text)
    assert message in refusal
    assert "s3cret" not in refusal


OF_OTHERS = {
    "bootstrap.resolve.timeout.ms=1000": None,
    "schema.registry.url=https://registry\nbasic.auth.user.info=a:s3cret": (
        "schema.registry.url (line 1), basic.auth.user.info (line 2)"
    ),
    "value.subject.nameStrategy=a.B": "value.subject.nameStrategy (line 1)",
    "metadata.of.the.future.ms=1": "metadata.of.the.future.ms (line 1)",
    "sasl.oauthbearer.assertion.claim.iat=1": "sasl.oauthbearer.assertion.claim.iat (line 1; did you mean sasl.",
    "ssl.keystore.certificates.chain=a": "(line 1; did you mean ssl.keystore.certificate.chain?)",
    "max.poll.record=5": "max.poll.record (line 1; did you mean max.poll.records?)",
    "consumer.security.protocol=SSL": "consumer.security.protocol (line 1)",
    "my.own=1\nmy.own=s3cret": "my.own (line 2)",
    "bootstrap.server=a:1\nbootstrap.servers=b:1": "bootstrap.server (line 1; did you mean bootstrap.servers?)",
}
"""Files that a Java client takes too, and what is said of their keys."""


@pytest.mark.parametrize(("text", "said"), OF_OTHERS.items())
def test_keys_of_other_programs_are_ignored(tmp_path: Path, text: str, said: str | None) -> None:
    settings = load(tmp_path, text)
    if said is None:
        assert settings.remarks == ()
        return
    (remark,) = settings.remarks
    assert remark.startswith(
        f"{tmp_path}/client.properties: ignored, as they are not Kafka client properties known to Kohort"
    )
    assert said in remark
    assert "s3cret" not in remark


def test_the_command_names_the_keys_that_it_ignores(kohort: Kohort, tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("schema.registry.url=http://registry\nrequest.timeout.ms=500\n")
    answer = kohort.quick("list -b localhost:1 --timeout 1000 --command-config", file)
    assert answer.stderr.count("schema.registry.url (line 1)") == 1
    added = kohort.quick("context add eu -b localhost:1 --property my.own=1")
    assert (added.status, "my.own" in added.stderr) == (0, True)


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (
            b"\xfe\xed\xfe\xed\0\0\0\2",
            "a store of type JKS, which cannot be read here. Convert it:\n  keytool -list",
        ),
        (b"0\x82\n1", "the password is wrong, or it is not a PKCS12 store."),
        (b"-----BEGIN CERTIFICATE-----", "is PEM: set ssl.truststore.type=PEM."),
        (b"", "the password is wrong, or it is not a PKCS12 store."),
    ],
)
def test_a_store_is_what_it_begins_with(tmp_path: Path, start: bytes, says: str) -> None:
    store = tmp_path / "store"
    store.write_bytes(start)
    assert says in refused(tmp_path, f"ssl.truststore.type=PKCS12\nssl.truststore.location={store}\n")


def test_what_a_property_says_wins_over_the_login_module(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
        "sasl.oauthbearer.token.endpoint.url=https://login\nsasl.oauthbearer.method=oidc\n"
        "sasl.oauthbearer.client.id=own\nsasl.oauthbearer.extensions=logicalCluster=lkc-1\n"
        'sasl.jaas.config=x.OAuthBearerLoginModule required clientId=a clientSecret="s3cret" scope=kafka '
        "extension_logicalCluster=other extension_identityPoolId=pool;\n",
    )
    endpoint = security.TokenEndpoint(
        url="https://login", client_id="own", client_secret=security.Secret("s3cret"), scope="kafka"
    )
    extensions = ("identityPoolId", "pool"), ("logicalCluster", "lkc-1")
    assert settings.oauth == security.OAuthSettings(source=endpoint, extensions=extensions)
    assert "s3cret" not in repr(settings)
    config = librdkafka_config(settings)
    assert callable(config["oauth_cb"])
    assert not any(key.startswith("sasl.oauthbearer.") for key in config)


def test_librdkafka_is_handed_a_keytab_of_javas_login_module(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.jaas.config=x.Krb5LoginModule required "
        'useKeyTab=true keyTab="/k" principal="me@REALM" serviceName=brokers;\n',
    )
    kerberos = {"service.name": "brokers", "principal": "me@REALM", "keytab": "/k"}
    expected = {f"sasl.kerberos.{name}": text for name, text in kerberos.items()}
    assert librdkafka_config(settings).items() >= expected.items()


def test_reading_properties_imports_nothing_heavy() -> None:
    heavy = ("ssl", "kio", "confluent_kafka", "scramp", "hashlib", "asyncio", "typer")
    assert imported(heavy, "import wire.client.config.properties")[0] == []
