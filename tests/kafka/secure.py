"""A broker as real clusters have them: TLS, mutual TLS, SASL, and an authorizer that forbids what no entry allows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.admin._scram import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from tests.kafka.broker import Broker
from tests.kafka.coordinator import running_broker
from tests.kafka.ports import HOST, free_ports
from tests.kafka.token_endpoint import SCOPE
from tests.kafka.wait import wait_until
from tests.wire.client.certificates import make_certificates
from wire.client.security import ConnectionSettings, SecurityProtocol, TlsSettings

PASSWORDS: Mapping[str, str] = {
    "kohort": "kohort-secret",
    **{name: f'{name}-"secret\\' for name in ("admin", "reader", "stranger", "worker")},
}
"""Of those who log in with PLAIN. admin is a super user, as are kohort and client; the others may what `allow` says."""
SCRAM_PASSWORDS: Mapping[str, str] = {"kohort": "kohort-secret", "bob": "bob-sécret"}
REAUTHENTICATION_MS = 1500  # how long a login with a token is good at the listener SASL_PLAINTEXT

_LOGIN = "org.apache.kafka.common.security"
_PROTOCOLS: Mapping[str, str] = {
    "PLAINTEXT": "PLAINTEXT", "SSL": "SSL", "EXPIRED": "SSL", "MUTUAL": "SSL",
    "SASL_PLAINTEXT": "SASL_PLAINTEXT", "SASL_SSL": "SASL_SSL",
}  # fmt: skip
"""Listeners and what they speak. SASL_PLAINTEXT takes tokens and SCRAM-SHA-512."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecureBroker:
    """A broker with a listener of every security protocol; who comes over PLAINTEXT may do everything."""

    broker: Broker
    ports: Mapping[str, int]
    files: Path
    admin: AdminClient

    def at(self, listener: str, host: str = HOST) -> str:
        return f"{host}:{self.ports[listener]}"

    def settings(self, listener: str, **changes: Any) -> ConnectionSettings:
        return ConnectionSettings(
            bootstrap_servers=(self.at(listener),),
            security_protocol=SecurityProtocol(_PROTOCOLS[listener]),
            tls=TlsSettings(ca_path=str(self.files / "ca.pem")),
            **changes,
        )

    def allow(self, principal: str, kind: str, name: str, *operations: str, prefixed: bool = False) -> None:
        pattern = ResourcePatternType.PREFIXED if prefixed else ResourcePatternType.LITERAL
        bindings = [
            AclBinding(
                ResourceType[kind.upper()], name, pattern, f"User:{principal}", "*",
                AclOperation[operation.upper()], AclPermissionType.ALLOW,
            )
            for operation in operations
        ]  # fmt: skip
        for done in self.admin.create_acls(bindings).values():
            done.result()
        wait_until(lambda: self._entries(principal) >= set(bindings), "the entries are there", every_s=0.01)

    def forbid_all(self, principal: str) -> None:
        done: Any = self.admin.delete_acls([_all_of(principal)])
        for future in done.values():
            future.result()
        wait_until(lambda: not self._entries(principal), "the entries are gone", every_s=0.01)

    def _entries(self, principal: str) -> set[AclBinding]:
        return set(self.admin.describe_acls(_all_of(principal)).result())


@contextmanager
def secure_broker(jars: Path, directory: Path) -> Iterator[SecureBroker]:
    files = directory / "certificates"
    files.mkdir()
    make_certificates(files)
    numbers = free_ports(len(_PROTOCOLS) + 1)
    ports, controller = dict(zip(_PROTOCOLS, numbers, strict=False)), numbers[-1]
    settings = _settings(ports, controller, files)
    with running_broker(jars, directory / "broker", settings, port=ports["PLAINTEXT"]) as broker:
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        for user, password in SCRAM_PASSWORDS.items():
            _add_scram_user(admin, user, password)
        yield SecureBroker(broker=broker, ports=ports, files=files, admin=admin)


def _settings(ports: Mapping[str, int], controller: int, files: Path) -> dict[str, str]:
    listeners = ",".join(f"{name}://{HOST}:{port}" for name, port in ports.items())
    protocols = ",".join(f"{name}:{protocol}" for name, protocol in _PROTOCOLS.items())
    return {
        "listeners": f"{listeners},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": listeners,
        "controller.quorum.voters": f"1@{HOST}:{controller}",
        "inter.broker.listener.name": "PLAINTEXT",
        "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,{protocols}",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:admin;User:kohort;User:client",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(files / "broker.store.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(files / "ca.pem"),
        "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.expired.ssl.keystore.type": "PEM",
        "listener.name.expired.ssl.keystore.location": str(files / "expired.store.pem"),
        "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "SCRAM-SHA-512,OAUTHBEARER",
        "listener.name.sasl_plaintext.oauthbearer.connections.max.reauth.ms": str(REAUTHENTICATION_MS),
        "connection.failed.authentication.delay.ms": "10",
        # A member whose test takes long, on a busy machine, stays.
        "group.consumer.session.timeout.ms": "60000",
        **_login_modules(),
    }


def _login_modules() -> dict[str, str]:
    users = " ".join(f'user_{name}="{_escaped(password)}"' for name, password in PASSWORDS.items())
    modules = {
        "plain": f"{_LOGIN}.plain.PlainLoginModule required {users};",
        "scram-sha-256": f"{_LOGIN}.scram.ScramLoginModule required;",
        "scram-sha-512": f"{_LOGIN}.scram.ScramLoginModule required;",
        "oauthbearer": f"{_LOGIN}.oauthbearer.OAuthBearerLoginModule required "
        f'unsecuredLoginStringClaim_sub="broker" unsecuredValidatorRequiredScope="{SCOPE}";',
    }
    return {
        f"listener.name.{listener}.{mechanism}.sasl.jaas.config": text
        for listener in ("sasl_plaintext", "sasl_ssl")
        for mechanism, text in modules.items()
    }


def _escaped(password: str) -> str:
    """For a quoted text of JAAS, in a properties file."""
    return password.replace("\\", "\\\\").replace('"', '\\"').replace("\\", "\\\\")


def _add_scram_user(admin: AdminClient, user: str, password: str) -> None:
    mechanisms = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
    for mechanism in mechanisms:
        info = ScramCredentialInfo(mechanism, 4096)
        upsert = UserScramCredentialUpsertion(user, info, password.encode())
        for done in admin.alter_user_scram_credentials([upsert]).values():
            done.result()

    def known() -> bool:
        described: Any = admin.describe_user_scram_credentials([user])
        try:
            return len(described[user].result().scram_credential_infos) == len(mechanisms)
        except KafkaException:  # RESOURCE_NOT_FOUND: the broker has not heard of the user yet
            return False

    wait_until(known, "the broker knows the user")


def _all_of(principal: str) -> AclBindingFilter:
    anything: Any = None
    return AclBindingFilter(
        ResourceType.ANY, anything, ResourcePatternType.ANY, f"User:{principal}", anything,
        AclOperation.ANY, AclPermissionType.ANY,
    )  # fmt: skip
