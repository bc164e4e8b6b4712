"""Listen addresses, and whether other machines may reach them."""

from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING, TypeAlias

from wire.client.errors import InvalidAddress
from wire.client.security import SecurityProtocol

if TYPE_CHECKING:
    from coordinator.server.security.settings import SecuritySettings

_EXAMPLE = "write it as 127.0.0.1:9092 or [::1]:9092, with port 0 for any free one"
MAX_PORT = 65535

Advertised: TypeAlias = tuple[str, int | None]  # the host, and the port if it is another one


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """`port` 0 is any free one. `protocol` is the listener's security protocol."""

    protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return False

    @property
    def is_every_address(self) -> bool:
        """Whether it is the wildcard address, to which no client can connect."""
        with suppress(ValueError):
            return ip_address(self.host).is_unspecified
        return False


def parse_listen(text: str) -> ListenAddress:
    """`[PROTOCOL://]HOST:PORT`, as in a broker's `listeners`. Raises InvalidAddress: it is malformed."""
    protocol, separator, address = text.strip().rpartition("://")
    host, port = _split_host_port(address)
    if not host or port is None:
        raise InvalidAddress(f"{text!r} is not a listen address: {_EXAMPLE}")
    try:
        spoken = SecurityProtocol(protocol.upper()) if separator else SecurityProtocol.PLAINTEXT
    except ValueError:
        names = ", ".join(known.value for known in SecurityProtocol)
        raise InvalidAddress(f"{text!r}: {protocol} is not one of {names}") from None
    return ListenAddress(protocol=spoken, host="127.0.0.1" if host == "localhost" else host, port=port)


def parse_advertised(text: str) -> Advertised:
    """`HOST[:PORT]`; None: the listen port. Raises InvalidAddress."""
    address = text.strip()
    host, port = _split_host_port(address)
    if port == 0 or (port is None and (not address or any(character in address for character in ":/ "))):
        raise InvalidAddress(f"{text!r} is not an address to advertise: write it as HOST or HOST:PORT")
    return (address, None) if port is None else (host, port)


def check_reach(address: ListenAddress, settings: "SecuritySettings", *, is_advertised: bool) -> None:
    """Refuse an address that other machines can reach, unless TLS and a login protect it. Raises InvalidAddress."""
    if not address.is_loopback and not settings.is_guarded:
        raise InvalidAddress(
            f"{address.host} can be reached from other machines, which requires TLS and a login: listen on SASL_SSL://"
            f"{address.host}:{address.port}, with a certificate (ssl.keystore.location) and users (--access), or on "
            "SSL:// with ssl.client.auth=required. Otherwise listen on 127.0.0.1."
        )
    if address.is_every_address and not is_advertised:
        raise InvalidAddress(
            f"clients cannot connect to {address.host}: set the host name they use with --advertise HOST"
        )


def _split_host_port(address: str) -> tuple[str, int | None]:
    host, colon, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    valid = bool(colon) and port.isascii() and port.isdigit() and int(port) <= MAX_PORT
    return host, int(port) if valid else None
