"""librdkafka's configuration for the settings of a connection."""

from collections.abc import Callable, Iterator
from typing import Any

from wire.client.security import ConnectionSettings, OAuthSettings, TlsSettings

_LONGEST_SOCKET_TIMEOUT_MS = 300_000
_SHORTEST_SETUP_TIMEOUT_MS = 1_000


def librdkafka_config(settings: ConnectionSettings) -> dict[str, Any]:
    """The configuration, with secrets in plain text. Values are texts, but oauth_cb is a function."""
    config: dict[str, object] = {key: secret.reveal() for key, secret in settings.extra}
    if settings.bootstrap_servers:
        config["bootstrap.servers"] = ",".join(settings.bootstrap_servers)
    config["security.protocol"] = settings.security_protocol.value
    config["client.id"] = settings.client_id
    config["socket.timeout.ms"] = str(min(max(settings.request_timeout_ms, 10), _LONGEST_SOCKET_TIMEOUT_MS))
    config["socket.connection.setup.timeout.ms"] = str(
        max(settings.connection_setup_timeout_ms, _SHORTEST_SETUP_TIMEOUT_MS)
    )
    if settings.security_protocol.sasl:
        config |= _sasl(settings)
    if settings.security_protocol.tls:
        config |= dict(_tls(settings.tls))
    return config


def _sasl(settings: ConnectionSettings) -> dict[str, object]:
    config: dict[str, object] = {"sasl.mechanism": settings.sasl_mechanism or "GSSAPI"}
    if settings.sasl_username is not None:
        config["sasl.username"] = settings.sasl_username
    if settings.sasl_password is not None:
        config["sasl.password"] = settings.sasl_password.reveal()
    if settings.kerberos is not None:
        kerberos = {
            "service.name": settings.kerberos.service_name,
            "principal": settings.kerberos.principal,
            "keytab": settings.kerberos.keytab,
        }
        config |= {f"sasl.kerberos.{name}": text for name, text in kerberos.items() if text is not None}
    if settings.oauth is not None:
        config["oauth_cb"] = _token_callback(
            settings.oauth, settings.bootstrap_servers, settings.api_timeout_ms
        )
    return config


def _token_callback(
    oauth: OAuthSettings, servers: tuple[str, ...], timeout_ms: int
) -> Callable[[str], tuple[str, float, str, dict[str, str]]]:
    """confluent-kafka's oauth_cb: token, expiry in seconds since 1970, principal, extensions."""

    def fetch_token(_config: str) -> tuple[str, float, str, dict[str, str]]:
        from wire.client.steps import Deadline
        from wire.client.tokens.source import token_source

        token = token_source(oauth, servers).token(Deadline(timeout_ms))
        return token.value.reveal(), token.expires_s, token.subject, dict(oauth.extensions)

    return fetch_token


def _tls(tls: TlsSettings) -> Iterator[tuple[str, str]]:
    texts = {
        "ssl.ca.location": tls.ca_path,
        "ssl.ca.pem": tls.ca_pem,
        "ssl.certificate.location": tls.certificate_path,
        "ssl.certificate.pem": tls.certificate_pem,
        "ssl.key.location": tls.key_path or (tls.certificate_path if tls.key_pem is None else None),
    }
    yield from ((key, text) for key, text in texts.items() if text is not None)
    secrets = {"ssl.key.pem": tls.key_pem, "ssl.key.password": tls.key_password}
    yield from ((key, secret.reveal()) for key, secret in secrets.items() if secret is not None)
    yield "ssl.endpoint.identification.algorithm", "https" if tls.verify_hostname else "none"
    yield "enable.ssl.certificate.verification", "true" if tls.verify_certificate else "false"
