"""A client properties file, Java's or librdkafka's, as options of Spark's Kafka source, which uses Java's client.
PEM certificates and keys are part of the options, because the workers of a cluster do not have the files; JKS and
PKCS12 stores must have the same path on every worker."""

import re
from collections.abc import Mapping
from pathlib import Path

from wire.client.config.client_keys import JAVA_KEYS, KOHORT_KEYS, LIBRDKAFKA_KEYS
from wire.client.config.config_file import Properties

PREFIX = "kafka."  # the prefix that distinguishes the client's settings from the source's own

_KEPT = (
    "security.",
    "ssl.",
    "sasl.",
    "config.providers",
    "metadata.",
    "reconnect.",
    "retry.backoff.",
    "socket.",
)
_KEPT_WHOLE = (
    *("bootstrap.servers", "client.dns.lookup", "client.id", "client.rack", "connections.max.idle.ms"),
    *(
        "default.api.timeout.ms",
        "fetch.max.bytes",
        "fetch.max.wait.ms",
        "group.id",
        "max.partition.fetch.bytes",
    ),
    *("receive.buffer.bytes", "request.timeout.ms", "send.buffer.bytes"),
)
"""The keys of the connection and the login. `group.id` is only a name that the client is authorized for: the reader
joins no group and commits nothing. All other keys are useless to a reader, or harmful."""

_OF_LIBRDKAFKA = frozenset(
    (
        *("sasl.mechanisms", "enable.ssl.certificate.verification", "sasl.password", "sasl.username"),
        *("ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem"),
        *("ssl.key.location", "ssl.key.pem"),
    )
)
"""librdkafka's keys to translate; Java does not know them."""

_LOGIN = "org.apache.kafka.common.security"
_MODULES = {
    "PLAIN": f"{_LOGIN}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_LOGIN}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_LOGIN}.scram.ScramLoginModule",
}
_PEM_BEGIN = b"-----BEGIN"
_PEM_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.DOTALL)
_JAVA_KEY_BLOCKS = frozenset({"PRIVATE KEY", "ENCRYPTED PRIVATE KEY"})
_SECRET = re.compile(r"(?i)password|secret|passphrase|jaas|keystore\.key|(^|\.)key\.pem|token")
_SHORTEST_SECRET = 4


def client_options(properties: Properties) -> dict[str, str]:
    """The equivalent options of Spark's Kafka source, with the prefix `kafka.`. Keys that are for producers or members
    of groups, and unknown keys, are left out. Raises ConfigFileError: a key has no equivalent in Java; a store is
    missing."""
    settings = _Translation(properties).settings()
    return {PREFIX + key: value for key, value in sorted(settings.items())}


def without_secrets(text: str, options: Mapping[str, str]) -> str:
    """`text` with every password, key and login module in `options` replaced by ***."""
    secrets = {value for key, value in options.items() if _SECRET.search(key)}
    secrets |= {quoted for value in tuple(secrets) for quoted in re.findall(r'"((?:\\.|[^"\\])*)"', value)}
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text


class _Translation:
    """Translates the entries of one file, the last of each key, to Java's settings."""

    def __init__(self, properties: Properties) -> None:
        self._properties, self._entries = properties, properties.entries

    def settings(self) -> dict[str, str]:
        kept = {
            key: entry.value
            for key, entry in self._entries.items()
            if key in JAVA_KEYS and (key in _KEPT_WHOLE or key.startswith(_KEPT))
        }
        self._refuse_unsupported()
        if kept.get("ssl.endpoint.identification.algorithm", "").lower() == "none":
            kept["ssl.endpoint.identification.algorithm"] = ""
        if (protocol := kept.get("security.protocol")) is not None:
            kept["security.protocol"] = protocol.strip().upper()  # librdkafka accepts both cases
        return self._store(self._trust(self._login(kept)))

    def _refuse_unsupported(self) -> None:
        verification = "enable.ssl.certificate.verification"
        if not self._properties.flag(verification, True):
            why = "Spark's Kafka client always verifies certificates; set the authority in ssl.ca.location"
            raise self._properties.error(verification, why)
        for key, entry in self._entries.items():
            name = entry.key
            if name in KOHORT_KEYS:
                remedy = "set sasl.login.callback.handler.class, or a token endpoint"
                why = f"Spark's Kafka client is Java's, and requests its tokens itself: {remedy}"
                raise self._properties.error(key, why)
            if name in LIBRDKAFKA_KEYS - JAVA_KEYS - _OF_LIBRDKAFKA and name.startswith(("sasl.", "ssl.")):
                why = f"only librdkafka supports {name}, and Spark's Kafka client is Java's: use Java's name for it"
                raise self._properties.error(key, why)

    def _login(self, kept: dict[str, str]) -> dict[str, str]:
        """`sasl.username` and `sasl.password` as a login module."""
        username, password = self._text("sasl.username"), self._text("sasl.password")
        if "sasl.jaas.config" in kept or username is None or password is None:
            return kept
        mechanism = kept.get("sasl.mechanism", "").strip().upper()
        module = _MODULES.get(mechanism)
        if module is None:
            why = f"requires a sasl.mechanism of {', '.join(_MODULES)}, not {mechanism or 'none'}"
            raise self._properties.error("sasl.username", why)
        login = f"{module} required username={_quoted(username)} password={_quoted(password)};"
        return kept | {"sasl.mechanism": mechanism, "sasl.jaas.config": login}

    def _trust(self, kept: dict[str, str]) -> dict[str, str]:
        """The trusted authorities, without a file if they are PEM."""
        pem = self._text("ssl.ca.pem")
        if "ssl.ca.location" in self._entries:
            pem = self._read("ssl.ca.location").decode("utf-8", "replace")
        elif "ssl.truststore.location" in kept:
            content = self._read("ssl.truststore.location")
            if content.lstrip().startswith(_PEM_BEGIN):
                pem = content.decode("utf-8", "replace")
            else:
                return kept | {"ssl.truststore.location": self._absolute("ssl.truststore.location")}
        if pem is None:
            return kept
        for key in ("ssl.truststore.location", "ssl.truststore.password"):
            kept.pop(key, None)
        return kept | {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _certificates(pem)}

    def _store(self, kept: dict[str, str]) -> dict[str, str]:
        """The client's certificate and key (mutual TLS), without a file if they are PEM."""
        chain, key = self._text("ssl.certificate.pem"), self._text("ssl.key.pem")
        key_from = "ssl.key.pem"
        if "ssl.keystore.location" in kept:
            content = self._read("ssl.keystore.location")
            if not content.lstrip().startswith(_PEM_BEGIN):
                return kept | {"ssl.keystore.location": self._absolute("ssl.keystore.location")}
            chain = key = content.decode("utf-8", "replace")
            key_from = "ssl.keystore.location"
        if "ssl.certificate.location" in self._entries:
            chain = self._read("ssl.certificate.location").decode("utf-8", "replace")
        if "ssl.key.location" in self._entries:
            key = self._read("ssl.key.location").decode("utf-8", "replace")
            key_from = "ssl.key.location"
        if chain is None or key is None:
            return kept
        for name in ("ssl.keystore.location", "ssl.keystore.password"):
            kept.pop(name, None)
        return kept | {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": _certificates(chain),
            "ssl.keystore.key": self._java_key(key_from, key),
        }

    def _java_key(self, name: str, pem: str) -> str:
        keys = [(kind, block) for kind, block in _blocks(pem) if kind.endswith("PRIVATE KEY")]
        for kind, block in keys:
            if kind in _JAVA_KEY_BLOCKS:
                return block
        what = f"there is a {keys[0][0]}" if keys else "there is no private key"
        remedy = "convert it with `openssl pkcs8 -topk8 -in KEY -out NEW`"
        raise self._properties.error(name, f"{what}, and Java reads only PKCS #8: {remedy}")

    def _text(self, key: str) -> str | None:
        entry = self._entries.get(key)
        return None if entry is None else entry.value

    def _absolute(self, key: str) -> str:
        return str(Path(self._entries[key].value.strip()).absolute())

    def _read(self, key: str) -> bytes:
        path = Path(self._entries[key].value.strip())
        try:
            return path.read_bytes()
        except OSError as error:
            raise self._properties.error(key, f"{path} cannot be read: {error.strerror}") from None


def _blocks(pem: str) -> list[tuple[str, str]]:
    """The blocks of a PEM text: kind and text of each."""
    return [(block[1], block[0]) for block in _PEM_BLOCK.finditer(pem)]


def _certificates(pem: str) -> str:
    return "\n".join(block for kind, block in _blocks(pem) if kind == "CERTIFICATE")


def _quoted(text: str) -> str:
    """Quoted for a login module: JAAS supports the escapes of a Java string."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
