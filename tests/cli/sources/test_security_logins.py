"""Every way into a cluster, with both clients behind the command line, and every way to be kept out of it."""

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.command import Kohort
from tests.cli.mistakes.table import Places, Table
from tests.cli.sources.secure_rig import SECRET, SecureRig
from tests.kafka.ports import HOST, free_ports
from tests.kafka.secure import REAUTHENTICATION_MS, SecureBroker
from tests.kafka.token_endpoint import SCOPE, TokenEndpoint, token_endpoint
from tests.kafka.wait import wait_until
from wire.client.address import Address
from wire.client.cluster import KafkaClient
from wire.client.config.config_file import ConfigFileError
from wire.client.config.properties import load_properties
from wire.client.connection import Connection
from wire.client.groups import list_groups
from wire.client.steps import Deadline, run
from wire.extras import is_installed
from wire.messages.schemas.groups import LIST_GROUPS

pytestmark = pytest.mark.kafka

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
JAVA = "org.apache.kafka.common.security"
EXAMPLES = re.findall(r"<!-- listener: (\w+) -->\n```properties\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def rig(secure: SecureBroker, kohort: Kohort, tmp_path: Path) -> SecureRig:
    return SecureRig(secure=secure, kohort=kohort, scratch=tmp_path)


@pytest.fixture
def endpoint() -> Iterator[TokenEndpoint]:
    with token_endpoint() as running:
        yield running


def logs_in(rig: SecureRig, at: str, properties: str) -> None:
    """Both clients: `list` asks over the wire client, `config unset` over librdkafka."""
    for command in ("list", "config unset any consumer.session.timeout.ms"):
        rig.run(at, properties, command).succeeded()


@pytest.mark.parametrize(("listener", "text"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_of_the_page(
    rig: SecureRig, endpoint: TokenEndpoint, tmp_path: Path, listener: str, text: str
) -> None:
    (tmp_path / "token").write_text(endpoint.token(SCOPE))
    here = text.replace("/etc/kafka/tls", str(rig.secure.files)).replace("/run/kafka", str(tmp_path))
    here = here.replace("https://login.example.com/oauth2/token", endpoint.url)
    logs_in(rig, rig.secure.at(listener), here)
    assert len(endpoint.asked) == ("token.endpoint" in text), "one token serves both clients"


def test_an_example_of_a_cloud_or_a_realm_can_be_read(tmp_path: Path) -> None:
    texts = re.findall(r"(?<!-->\n)```properties\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for text in texts:
        file = tmp_path / "client.properties"
        file.write_text(text)
        if "truststore.jks" in text:
            with pytest.raises(ConfigFileError, match="No such file or directory"):
                load_properties(file)
        else:
            settings = load_properties(file)
            assert settings.oauth or settings.kerberos
            assert settings.remarks == ()
    assert (len(EXAMPLES), len(texts)) == (10, 5)


def escaped(file: Path) -> str:
    return file.read_text().strip().replace("\n", "\\n\\\n")


def test_everything_inline(rig: SecureRig) -> None:
    files = rig.secure.files
    properties = (
        f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.certificates={escaped(files / 'ca.pem')}\n"
        f"ssl.keystore.type=PEM\nssl.keystore.certificate.chain={escaped(files / 'client.pem')}\n"
        f"ssl.keystore.key={escaped(files / 'client.encrypted.key')}\nssl.key.password=key-secret\n"
    )
    logs_in(rig, rig.secure.at("MUTUAL"), properties)


def test_a_host_name_that_is_not_checked(rig: SecureRig) -> None:
    properties = f"security.protocol=SSL\nssl.endpoint.identification.algorithm=\n{rig.trust}"
    logs_in(rig, rig.secure.at("SSL", "localhost"), properties)


def oauth(url: str, *more: str, secret: str = "kohort-secret") -> str:
    login = (f"token.endpoint.url={url}", "client.id=kohort", f"client.secret={secret}", f"scope={SCOPE}")
    lines = [f"sasl.oauthbearer.{line}\n" for line in login] + [f"{line}\n" for line in more]
    return f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n{''.join(lines)}"


def test_a_token_endpoint_of_a_private_authority(rig: SecureRig) -> None:
    with token_endpoint(rig.secure.files / "broker.store.pem") as endpoint:
        at = rig.secure.at("SASL_PLAINTEXT")
        logs_in(rig, at, oauth(endpoint.url, f"https.ca.location={rig.secure.files}/ca.pem"))
        answer = rig.run(at, oauth(endpoint.url), "list")
    answer.assert_said(3, "CERTIFICATE_VERIFY_FAILED", "https.ca.location")


def test_a_token_in_a_file(rig: SecureRig, endpoint: TokenEndpoint, tmp_path: Path) -> None:
    file, at = tmp_path / "token", rig.secure.at("SASL_PLAINTEXT")
    file.write_text(endpoint.token(SCOPE) + "\n")
    logs_in(rig, at, oauth(file.as_uri()))
    file.write_text("a token")
    other = tmp_path / "other"
    for url, message in ((file.as_uri() + "?again", "not a token"), (other.as_uri(), "cannot be read")):
        answer = rig.run(at, oauth(url), "list")
        assert message in answer.stderr
        assert answer.status in (3, 4)


TOKEN_COMMAND = "sasl.mechanism=OAUTHBEARER\nkohort.token.command={}\n"


def test_a_token_of_a_command(rig: SecureRig, endpoint: TokenEndpoint, tmp_path: Path) -> None:
    asked, token = tmp_path / "asked", endpoint.token(SCOPE)
    script = tmp_path / "print token"
    script.write_text(f"#!/bin/sh\necho run >> '{asked}'\necho {token}\necho careful, {token} >&2\n")
    script.chmod(0o700)
    at, properties = rig.secure.at("SASL_PLAINTEXT"), SASL + TOKEN_COMMAND.format(f'"{script}"')
    rig.kohort.quick("config unset any consumer.session.timeout.ms", *rig.source(at, properties)).succeeded()
    assert asked.read_text() == "run\n"
    for command in ("list", "config unset any consumer.session.timeout.ms"):
        answer = rig.run(at, SASL + TOKEN_COMMAND.format("false"), command)
        answer.assert_refused("the token command false failed (exit status 1). Run it by hand", status=4)
    answer = rig.kohort("--debug", "list", *rig.source(rig.secure.at("PLAINTEXT"), properties))
    assert "this listener accepts no SASL login" in answer.stderr
    assert token not in answer.stdout + answer.stderr


Kept = Callable[[SecureRig], tuple[str, str]]
"""Where to and with which properties."""


def plain(user: str, password: str) -> str:
    return f"sasl.mechanism=PLAIN\nsasl.username={user}\nsasl.password={password}\n"


def scram(user: str, password: str, bits: int = 512) -> str:
    return f"sasl.mechanism=SCRAM-SHA-{bits}\nsasl.username={user}\nsasl.password={password}\n"


def at(listener: str, properties: str, host: str = "127.0.0.1") -> Kept:
    return lambda rig: (
        rig.secure.at(listener, host),
        properties.replace("CA\n", rig.trust).replace("FILES", str(rig.secure.files)),
    )


SASL, SASL_SSL = "security.protocol=SASL_PLAINTEXT\n", "security.protocol=SASL_SSL\nCA\n"
SSL = "security.protocol=SSL\nCA\n"
OWN = "ssl.certificate.location=FILES/{0}.pem\nssl.key.location=FILES/{0}.key\n"
KEPT_OUT: dict[str, Kept] = {
    "wrong password, PLAIN": at("SASL_SSL", SASL_SSL + plain("admin", "wrong-secret")),
    "wrong password, SCRAM": at("SASL_PLAINTEXT", SASL + scram("bob", "wrong-secret")),
    "wrong password, SCRAM-SHA-256": at("SASL_SSL", SASL_SSL + scram("bob", "wrong-secret", 256)),
    "unknown user": at("SASL_PLAINTEXT", SASL + scram("eve", "a-secret")),
    "mechanism not enabled": at("SASL_PLAINTEXT", SASL + plain("admin", "a-secret")),
    "SASL where there is none": at("PLAINTEXT", SASL + plain("admin", "a-secret")),
    "no SASL where it is wanted": at("SASL_PLAINTEXT", "security.protocol=PLAINTEXT\n"),
    "Amazon MSK without a region": at("SASL_SSL", SASL_SSL + "sasl.mechanism=AWS_MSK_IAM\n"),
    "another authority": at("SSL", "security.protocol=SSL\nssl.ca.location=FILES/other-ca.pem\n"),
    "expired": at("EXPIRED", SSL),
    "another host name": at("SSL", SSL, "localhost"),
    "no client certificate": at("MUTUAL", SSL),
    "an expired client certificate": at("MUTUAL", SSL + OWN.format("expired")),
    "a wrong pass phrase": at(
        "MUTUAL", f"{SSL}ssl.certificate.location=FILES/client.pem\nssl.key.location=FILES/client.encrypted.key\n"
        "ssl.key.password=wrong-secret\n",
    ),
    "plaintext to TLS": at("SSL", "security.protocol=PLAINTEXT\n"),
    "TLS to plaintext": at("PLAINTEXT", SSL),
    "login without a password": at("SASL_SSL", SASL_SSL + "sasl.mechanism=PLAIN\nsasl.username=admin\n"),
    "certificates that do not exist": at("SSL", "security.protocol=SSL\nssl.ca.location=/no/such/ca.pem\n"),
    "file without certificates": at("SSL", "security.protocol=SSL\nssl.ca.location=FILES/client.key\n"),
}  # fmt: skip
"""What `tests/cli/mistakes/logins.txt` has the answers to."""
LOGINS = Table("logins")
NO_TICKET = (
    (4, "Run kinit, or set keyTab and principal in sasl.jaas.config")
    if is_installed("kerberos")
    else (3, "sasl.mechanism GSSAPI (Kerberos, Kafka's default) needs packages that are not installed.")
)


def places(rig: SecureRig) -> Places:
    listeners = {name: rig.secure.at(name) for name in rig.secure.ports}
    named = {f"{name} by another name": rig.secure.at(name, "localhost") for name in rig.secure.ports}
    return {**listeners, **named, "files": str(rig.secure.files)}


@pytest.mark.parametrize("case", KEPT_OUT)
def test_a_refused_client_learns_why(rig: SecureRig, case: str) -> None:
    assert list(LOGINS.mistakes) == list(KEPT_OUT)
    LOGINS.check(case, rig.run(*KEPT_OUT[case](rig), "list"), places(rig))


def reason(case: str) -> str:
    return LOGINS.mistakes[case].stderr.removeprefix("kohort: ").partition("}: ")[2].strip()


def test_several_bootstrap_servers_tell_as_much_as_one(rig: SecureRig) -> None:
    at, properties = KEPT_OUT["wrong password, SCRAM"](rig)
    for text, (status, message) in {
        properties: (4, reason("wrong password, SCRAM")),
        "security.protocol=SASL_PLAINTEXT\n": NO_TICKET,
    }.items():
        answer = rig.run(
            f"{HOST}:{free_ports(1)[0]},{at},{rig.secure.at('SASL_PLAINTEXT', 'localhost')}", text, "list"
        )
        assert (answer.status, answer.stderr.count("\n")) == (status, 1)
        assert message in answer.stderr


@pytest.mark.parametrize("case", ["wrong password, PLAIN", "wrong password, SCRAM", "a wrong pass phrase"])
def test_debug_shows_no_secret(rig: SecureRig, case: str) -> None:
    answer = rig.kohort("--debug", "list", *rig.source(*KEPT_OUT[case](rig)))
    assert "Traceback" in answer.stderr
    assert reason(case) in answer.stderr
    assert not any(mark in answer.stdout + answer.stderr for mark in SECRET)


REFUSALS: dict[str, tuple[tuple[int, object], int, str]] = {
    "an error of OAuth": (
        (400, {"error": "invalid_scope", "error_description": "no such scope"}),
        4, "refuses client 'kohort' (invalid_scope: no such scope). Check sasl.oauthbearer.scope.",
    ),
    "no JSON": ((200, b"<html>Sign in"), 4, "answered something that is not JSON: <html>Sign in. Check sasl.oauthb"),
    "nothing": ((200, b""), 4, "answered something that is not JSON: nothing. Check sasl.oauthbearer.token"),
    "no token": ((200, {"token": "a"}), 4, "answers without an access_token (it has token). Check sasl.oauthb"),
    "an expired token": ((200, {"access_token": "a", "expires_in": -1}), 4, "the token has expired already."),
    "a strange token": ((200, {"access_token": "a\x01auth=b"}), 4, "not a token"),
    "deep JSON": ((200, b"[" * 100_000), 4, "answered something that is not JSON"),
    "not there": ((404, b"nothing"), 4, "(HTTP status 404: nothing). Check sasl.oauthbearer.token.endpoint.url."),
    "out of order": ((503, b""), 3, "HTTP status 503. Without a token there is no login"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_a_token_endpoint_that_gives_no_token(rig: SecureRig, endpoint: TokenEndpoint, case: str) -> None:
    endpoint.answer, status, message = REFUSALS[case]
    answer = rig.run(rig.secure.at("SASL_PLAINTEXT"), oauth(endpoint.url), "list")
    answer.assert_refused(message, status=status)


def test_a_wrong_client_secret_is_not_repeated(rig: SecureRig, endpoint: TokenEndpoint) -> None:
    answer = rig.run(rig.secure.at("SASL_PLAINTEXT"), oauth(endpoint.url, secret="a-wrong-secret"), "list")
    answer.assert_said(4, "refuses client 'kohort' (invalid_client: who is kohort:***?)")


def test_a_redirect_gets_no_secret(rig: SecureRig, endpoint: TokenEndpoint) -> None:
    with token_endpoint() as other:
        endpoint.answer, endpoint.headers = (302, b""), {"Location": other.url}
        answer = rig.run(rig.secure.at("SASL_PLAINTEXT"), oauth(endpoint.url), "list")
        assert f"redirects to {other.url}" in answer.stderr
        assert other.asked == []


def test_a_token_endpoint_that_is_not_there(rig: SecureRig) -> None:
    at, url = rig.secure.at("SASL_PLAINTEXT"), "http://127.0.0.1:9/token"
    answer = rig.run(at, oauth(url), "list", timeout_ms=3000)
    answer.assert_said(3, f"the token endpoint {url}: Connection refused")


def test_a_token_that_the_broker_refuses(rig: SecureRig, endpoint: TokenEndpoint) -> None:
    properties = oauth(endpoint.url).replace(f"scope={SCOPE}", "scope=another")
    answer = rig.run(rig.secure.at("SASL_PLAINTEXT"), properties, "list")
    check = "Check that the token is for this cluster: its issuer, audience, scope and expiry."
    answer.assert_said(4, "insufficient_scope", check)


def test_a_client_that_stays_logs_in_again(rig: SecureRig, endpoint: TokenEndpoint) -> None:
    endpoint.life_s = 20
    settings = load_properties(rig.file(oauth(endpoint.url)))
    settings = replace(settings, bootstrap_servers=(rig.secure.at("SASL_PLAINTEXT"),))
    with KafkaClient(settings) as client:

        def again() -> bool:
            assert not list_groups(client).failed
            return len(endpoint.asked) > 1

        wait_until(again, "the client has logged in again")


def test_a_login_is_renewed_before_it_ends(rig: SecureRig, endpoint: TokenEndpoint) -> None:
    settings = load_properties(rig.file(oauth(endpoint.url)))
    connection = Connection(Address.parse(rig.secure.at("SASL_PLAINTEXT")), settings)
    for _ in range(2):
        (listed,) = run(
            connection.ask_once(LIST_GROUPS, [{"states_filter": [], "types_filter": []}], Deadline(20_000))
        )
        assert listed.error_code == 0
        time.sleep(REAUTHENTICATION_MS / 1000 + 0.1)
    connection.close()


def test_a_proxy_is_used(rig: SecureRig, endpoint: TokenEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "http_proxy", endpoint.url.removesuffix("/token"))
    monkeypatch.delenv("no_proxy", raising=False)
    rig.run(rig.secure.at("SASL_PLAINTEXT"), oauth("http://login.example.com/token"), "list").succeeded()
    assert len(endpoint.asked) == 1
