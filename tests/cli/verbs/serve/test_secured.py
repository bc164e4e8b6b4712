"""`kohort serve` behind TLS, logins and ACLs: real clients get in, and get no further than they may."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, Producer

from tests.cli.command import Kohort
from tests.cli.served_data import Served, serving
from tests.kafka.tool_host import ToolHost
from tests.wire.client.certificates import make_certificates, need_openssl
from wire.acls import ResourceType
from wire.client.cluster import KafkaClient
from wire.client.errors import WireError
from wire.client.security import ConnectionSettings, SecurityProtocol, TlsSettings
from wire.client.settings import describe_acls

ACCESS = """
kohort: 1
users:
  admin: {password: of-the-admin}
  orders: {password: of-the-orders}
  stranger: {password_env: OF_THE_STRANGER}
acls:
  - {principal: "User:orders", operations: [READ, WRITE], topic: orders}
  - {principal: "User:orders", operations: [READ], group: orders-, pattern: PREFIXED}
  - {principal: "User:CN=client", operations: [DESCRIBE], group: "*"}
  - {principal: "User:CN=client", operations: [DESCRIBE], cluster: true}
"""
PASSWORDS = {"admin": "of-the-admin", "orders": "of-the-orders", "stranger": "of-the-stranger"}
RECORDS = 20
PATIENCE_S = 30.0
ACL_COMMAND = "org.apache.kafka.tools.AclCommand"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_openssl()
    directory = tmp_path_factory.mktemp("certificates")
    make_certificates(directory)
    access = directory / "access.yaml"
    access.write_text(ACCESS)
    access.chmod(0o600)
    return directory


def options(files: Path, protocol: str) -> list[str]:
    return [
        "--listen", f"{protocol}://127.0.0.1:0", "--access", str(files / "access.yaml"), "--topic", "orders:3",
        "--config", "ssl.keystore.type=PEM", "--config", f"ssl.keystore.location={files / 'broker.store.pem'}",
        "--config", "ssl.truststore.type=PEM", "--config", f"ssl.truststore.location={files / 'ca.pem'}",
        "--config", "super.users=User:admin",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def served(files: Path) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OF_THE_STRANGER", PASSWORDS["stranger"])
        with serving(None, *options(files, "SASL_SSL"), "--brokers", "2") as running:
            yield running


def login(served: Served, files: Path, user: str, mechanism: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": served.bootstrap, "security.protocol": "SASL_SSL", "sasl.mechanism": mechanism,
        "sasl.username": user, "sasl.password": PASSWORDS[user], "ssl.ca.location": str(files / "ca.pem"),
        "log_level": 0,
    }  # fmt: skip


def java_login(files: Path, user: str, mechanism: str) -> dict[str, str]:
    module = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
    login = f'{module}LoginModule required username="{user}" password="{PASSWORDS[user]}";'
    return {
        "security.protocol": "SASL_SSL", "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"org.apache.kafka.common.security.{login}",
        "ssl.truststore.type": "PEM", "ssl.truststore.location": str(files / "ca.pem"),
    }  # fmt: skip


def polled(consumer: Consumer) -> Message:
    message = consumer.poll(PATIENCE_S)
    assert message is not None
    return message


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_who_may_writes_and_reads_and_others_do_not(served: Served, files: Path, mechanism: str) -> None:
    orders = login(served, files, "orders", mechanism)
    producer = Producer(orders)
    for number in range(RECORDS):
        producer.produce("orders", f"{mechanism} {number}".encode())
    assert producer.flush(PATIENCE_S) == 0
    values = {f"{mechanism} {number}".encode() for number in range(RECORDS)}
    group = {"group.id": f"orders-{mechanism}", "auto.offset.reset": "earliest"}
    with closing(Consumer({**orders, **group})) as consumer:
        consumer.subscribe(["orders"])
        while values:
            values.discard(polled(consumer).value() or b"")
    with closing(Consumer({**orders, "group.id": "payments"})) as consumer:
        consumer.subscribe(["orders"])
        error = polled(consumer).error()
        assert error is not None
        assert error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED
    refused: list[Any] = []

    def note(error: KafkaError | None, _: Message) -> None:
        refused.append(error and error.code())

    stranger = Producer(login(served, files, "stranger", mechanism))
    stranger.produce("orders", b"x", on_delivery=note)
    stranger.flush(PATIENCE_S)
    assert refused == [KafkaError.TOPIC_AUTHORIZATION_FAILED]


@pytest.mark.kafka
def test_kafka_acls_shows_and_changes_them(
    served: Served, files: Path, tools: ToolHost, tmp_path: Path
) -> None:
    config = tmp_path / "admin.properties"
    config.write_text(
        "".join(f"{name}={value}\n" for name, value in java_login(files, "admin", "PLAIN").items())
    )
    at = ("--bootstrap-server", served.bootstrap, "--command-config", str(config))
    entry = ("--allow-principal", "User:stranger", "--operation", "Read", "--group", "of-the-tool")
    added = tools.run(ACL_COMMAND, *at, "--add", *entry)
    assert added.returncode == 0, added.stderr
    listed = tools.run(ACL_COMMAND, *at, "--list").stdout
    assert "resourceType=GROUP, name=of-the-tool, patternType=LITERAL" in listed
    assert "resourceType=GROUP, name=orders-, patternType=PREFIXED" in listed
    removed = tools.run(ACL_COMMAND, *at, "--remove", "--force", *entry)
    assert removed.returncode == 0, removed.stderr
    assert "of-the-tool" not in tools.run(ACL_COMMAND, *at, "--list", "--group", "of-the-tool").stdout


def test_a_certificate_says_who_a_client_is(
    files: Path, kohort: Kohort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_STRANGER", PASSWORDS["stranger"])

    def settings(served: Served, name: str | None = None) -> ConnectionSettings:
        paths = (str(files / f"{name}.pem"), str(files / f"{name}.key")) if name else (None, None)
        tls = TlsSettings(ca_path=str(files / "ca.pem"), certificate_path=paths[0], key_path=paths[1])
        return ConnectionSettings(
            bootstrap_servers=(served.bootstrap,), security_protocol=SecurityProtocol.SSL, tls=tls
        )

    required = ("--config", "ssl.client.auth=required")
    with serving(None, *options(files, "SSL"), *required) as served:
        with KafkaClient(settings(served, "client")) as client:
            acls = describe_acls(client, ResourceType.GROUP)
        assert {(one.resource_name, acl.principal) for one in acls for acl in one.acls} == {
            ("*", "User:CN=client"),
            ("orders-", "User:orders"),
        }
        for stranger in (settings(served), settings(served, "expired")):
            with KafkaClient(stranger) as client, pytest.raises(WireError):
                client.metadata([])
        assert kohort("list", "-b", served.bootstrap, "--timeout", "3000").status == 3
