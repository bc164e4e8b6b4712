"""Broker addresses: ``host:port``, ``[ipv6]:port`` and lists of them."""

from dataclasses import dataclass
from typing import Self

from wire.client.errors import InvalidAddress

_NEXT_STEP = "write it as host:port, for example broker-1:9092 or [::1]:9092"


@dataclass(frozen=True, slots=True)
class Address:
    """The address at which a broker listens. `host` has no brackets, `port` is 1 to 65535."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse one address; a listener name in front is dropped. Raises InvalidAddress: malformed."""
        rest = text.strip()
        rest = rest.partition("://")[2] or rest
        host, colon, port = rest.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        if not colon or not host or (":" in host and not bracketed) or host == "[]":
            raise InvalidAddress(f"{text.strip()!r} is not a broker address: {_NEXT_STEP}")
        if not (port.isascii() and port.isdigit() and len(port) < 6 and 0 < int(port) < 65536):
            raise InvalidAddress(f"{text.strip()!r} has no port between 1 and 65535: {_NEXT_STEP}")
        return cls(host[1:-1] if bracketed else host, int(port))


def parse_bootstrap(servers: str) -> tuple[Address, ...]:
    """Parse a comma-separated list; duplicates are dropped. Raises InvalidAddress: malformed, or empty."""
    addresses = tuple(dict.fromkeys(Address.parse(part) for part in servers.split(",") if part.strip()))
    if not addresses:
        raise InvalidAddress(f"no bootstrap server is given: {_NEXT_STEP}")
    return addresses
