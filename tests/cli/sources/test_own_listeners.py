"""Logins that need a separate broker: Kerberos, tokens checked by their signature, and tokens of clouds. No cloud can
be had here: a broker that takes any token shows that Kafka's own parsing lets the cloud's form through."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.cli.command import Answer, Kohort
from tests.kafka.coordinator import running_broker
from tests.kafka.identity_provider import AUDIENCE, ISSUER, IdentityProvider, identity_provider
from tests.kafka.kdc import REALM, Realm, kerberos_realm, missing_programs
from tests.kafka.ports import HOST, free_ports
from tests.kafka.programs import compiled
from tests.support.long import LONG
from wire.extras import is_installed

pytestmark = [pytest.mark.kafka, LONG]

OAUTH = "org.apache.kafka.common.security.oauthbearer"
KRB5 = "com.sun.security.auth.module.Krb5LoginModule"


class Rig:
    """A broker with the listeners JWKS, ANY and, where there is a KDC, KERBEROS; and our command."""

    def __init__(self, ports: dict[str, int], provider: IdentityProvider, realm: Realm | None) -> None:
        self.ports, self.provider, self.realm = ports, provider, realm

    def run(
        self, kohort: Kohort, scratch: Path, listener: str, properties: str, command: str = "list"
    ) -> Answer:
        file = scratch / "client.properties"
        file.write_text(f"security.protocol=SASL_PLAINTEXT\n{properties}\n")
        host = "localhost" if listener == "KERBEROS" else HOST
        return kohort(*command.split(), "-b", f"{host}:{self.ports[listener]}", "--command-config", file)


@pytest.fixture(scope="module")
def rig(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    directory = tmp_path_factory.mktemp("listeners")
    with ExitStack() as stack:
        provider = stack.enter_context(identity_provider())
        realm = None if missing_programs() else stack.enter_context(kerberos_realm(directory / "kdc"))
        names = ["PLAINTEXT", "JWKS", "ANY", *(["KERBEROS"] if realm else [])]
        numbers = free_ports(len(names) + 1)
        ports, controller = dict(zip(names, numbers, strict=False)), numbers[-1]
        listeners = ",".join(
            f"{name}://{'localhost' if name == 'KERBEROS' else HOST}:{port}" for name, port in ports.items()
        )
        protocols = "".join(f",{name}:SASL_PLAINTEXT" for name in names[1:])
        module = f'{OAUTH}.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";'
        settings = {
            "listeners": f"{listeners},CONTROLLER://{HOST}:{controller}",
            "advertised.listeners": listeners,
            "controller.quorum.voters": f"1@{HOST}:{controller}",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT{protocols}",
            "listener.name.jwks.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.jwks.oauthbearer.sasl.jaas.config": f"{OAUTH}.OAuthBearerLoginModule required;",
            "listener.name.jwks.oauthbearer.sasl.server.callback.handler.class": (
                f"{OAUTH}.OAuthBearerValidatorCallbackHandler"
            ),
            "listener.name.jwks.sasl.oauthbearer.jwks.endpoint.url": f"{provider.url}/jwks",
            "listener.name.jwks.sasl.oauthbearer.expected.audience": AUDIENCE,
            "listener.name.jwks.sasl.oauthbearer.expected.issuer": ISSUER,
            "listener.name.any.sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.any.oauthbearer.sasl.jaas.config": module,
            "listener.name.any.oauthbearer.sasl.server.callback.handler.class": "AnyToken",
        }
        options = [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={provider.url}/jwks"]
        if realm:
            keytab = realm.keytab("kafka/localhost")
            options.append(f"-Djava.security.krb5.conf={realm.env['KRB5_CONFIG']}")
            settings |= {
                "listener.name.kerberos.sasl.enabled.mechanisms": "GSSAPI",
                "listener.name.kerberos.sasl.kerberos.service.name": "kafka",
                "listener.name.kerberos.gssapi.sasl.jaas.config": (
                    f'{KRB5} required useKeyTab=true storeKey=true keyTab="{keytab}" '
                    f'principal="kafka/localhost@{REALM}";'
                ),
            }
        running = running_broker(
            kafka_jars,
            directory / "broker",
            settings,
            port=ports["PLAINTEXT"],
            options=options,
            classes=compiled(kafka_jars),
        )
        stack.enter_context(running)
        yield Rig(ports, provider, realm)


@pytest.fixture
def realm(rig: Rig, kohort: Kohort, monkeypatch: pytest.MonkeyPatch) -> Realm:
    """The realm, which our command knows; the test is skipped where it cannot be had."""
    missing = missing_programs()
    if rig.realm is None or not is_installed("kerberos"):
        reason = f"no Kerberos: {', '.join(missing) or 'gssapi'} missing; `make kerberos` installs it"
        if os.environ.get("KOHORT_REQUIRE_KERBEROS") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    monkeypatch.setattr(kohort, "env", {**kohort.env, "KRB5_CONFIG": rig.realm.env["KRB5_CONFIG"]})
    return rig.realm


GSSAPI = "sasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\n"


def test_kerberos_with_a_keytab(rig: Rig, realm: Realm, kohort: Kohort, tmp_path: Path) -> None:
    keytab = realm.keytab("alice")
    java = f'{GSSAPI}sasl.jaas.config={KRB5} required useKeyTab=true keyTab="{keytab}" principal="alice@{REALM}";'
    librdkafka = f"{GSSAPI}sasl.kerberos.keytab={keytab}\nsasl.kerberos.principal=alice"
    for properties in (java, librdkafka):
        rig.run(kohort, tmp_path, "KERBEROS", properties).succeeded()


def test_kerberos_with_a_ticket(rig: Rig, realm: Realm, kohort: Kohort, tmp_path: Path) -> None:
    keytab, cache = realm.keytab("carol"), tmp_path / "cache"
    realm.run("kinit", "-k", "-t", keytab, "-c", cache, "carol")
    properties = f'{GSSAPI}sasl.jaas.config={KRB5} required useTicketCache=true ticketCache="{cache}";'
    rig.run(kohort, tmp_path, "KERBEROS", properties).succeeded()


def test_what_kerberos_refuses(rig: Rig, realm: Realm, kohort: Kohort, tmp_path: Path) -> None:
    keytab = realm.keytab("dave")
    key = f"sasl.kerberos.keytab={keytab}\nsasl.kerberos.principal="
    cases = {
        GSSAPI: "Run kinit, or set keyTab",
        f"{GSSAPI}{key}missing": "gives no ticket for missing",
        f"{GSSAPI}sasl.kerberos.keytab={tmp_path}/none\nsasl.kerberos.principal=dave": "/none cannot be read",
        f"sasl.mechanism=GSSAPI\nsasl.kerberos.service.name=other\n{key}dave": "sasl.kerberos.service.name",
    }
    for properties, said in cases.items():
        rig.run(kohort, tmp_path, "KERBEROS", properties).assert_refused(said, "Kerberos: ", status=4)
    properties = f"{GSSAPI}sasl.kerberos.keytab={realm.keytab('erin')}\nsasl.kerberos.principal=erin"
    answer = rig.run(kohort, tmp_path, "KERBEROS", properties, "config unset any consumer.session.timeout.ms")
    answer.assert_refused("sasl.mechanism=GSSAPI", "librdkafka", status=3)


def oauth(*lines: str) -> str:
    return "\n".join(("sasl.mechanism=OAUTHBEARER", *lines))


def test_a_signed_token_is_checked_by_the_broker(rig: Rig, kohort: Kohort, tmp_path: Path) -> None:
    provider = rig.provider
    endpoint = oauth(
        f"sasl.oauthbearer.token.endpoint.url={provider.url}/token",
        "sasl.oauthbearer.client.id=kohort",
        "sasl.oauthbearer.client.secret=kohort-secret",
    )
    for command in ("list", "config unset any consumer.session.timeout.ms"):
        rig.run(kohort, tmp_path, "JWKS", endpoint, command).succeeded()
    forged = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for token in (provider.token(key=forged), provider.token(audience="another")):
        file = tmp_path / "token"
        file.write_text(token)
        by_file = oauth(f"sasl.oauthbearer.token.endpoint.url={file.as_uri()}")
        rig.run(kohort, tmp_path, "JWKS", by_file).assert_refused(
            "the broker refuses the token: invalid_token. Check that the token is for this cluster", status=4
        )
        answer = rig.run(kohort, tmp_path, "JWKS", by_file, "--debug list")
        assert "Traceback" in answer.stderr
        assert token.rpartition(".")[2][:20] not in answer.stdout + answer.stderr


def test_the_form_of_a_cloud_passes_kafkas_own_parsing(
    rig: Rig, kohort: Kohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {"ACCESS_KEY_ID": "AKIAEXAMPLE", "SECRET_ACCESS_KEY": "an/example+key", "REGION": "eu-west-1"}
    monkeypatch.setattr(kohort, "env", {**kohort.env, **{f"AWS_{name}": key for name, key in keys.items()}})
    properties = (
        "sasl.mechanism=AWS_MSK_IAM\nsasl.jaas.config=software.amazon.msk.auth.iam.IAMLoginModule required;\n"
        "sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler"
    )
    for command in ("list", "config unset any consumer.session.timeout.ms"):
        rig.run(kohort, tmp_path, "ANY", properties, command).succeeded()
    google = json.dumps({"access_token": "aGVhZA.Y2xhaW1z.eWEyOS5hLXRva2Vu", "expires_in": 600})
    rig.run(kohort, tmp_path, "ANY", oauth(f"kohort.token.command=echo '{google}'")).succeeded()


def test_what_only_the_admin_client_can_log_in_to(rig: Rig, kohort: Kohort, tmp_path: Path) -> None:
    properties = oauth("enable.sasl.oauthbearer.unsecure.jwt=true", "sasl.oauthbearer.config=principal=alice")
    listed = rig.run(kohort, tmp_path, "ANY", properties)
    listed.assert_said(0, "OAUTHBEARER", "share, streams and connect groups are not shown")
    assert rig.run(kohort, tmp_path, "ANY", properties, "describe missing").status == 3
