"""Where the server may listen: on this machine only, as it knows neither passwords nor TLS."""

from __future__ import annotations

from ipaddress import ip_address

from wire.client.errors import InvalidAddress

_EXAMPLE = "write it as 127.0.0.1:9092 or [::1]:9092, with port 0 for any free one"


def parse_listen(text: str) -> tuple[str, int]:
    """Host and port to listen on; port 0 is any free one.

    :raises InvalidAddress: when it is malformed, or open to other machines
    """
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    if not (colon and host and port.isascii() and port.isdigit() and int(port) < 65536):
        raise InvalidAddress(f"{text!r} is no address to listen on: {_EXAMPLE}")
    if not _is_loopback(host):
        raise InvalidAddress(
            f"{host} is open to other machines, and kohort serve asks nobody for a password: {_EXAMPLE}"
        )
    return ("127.0.0.1" if host == "localhost" else host), int(port)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
