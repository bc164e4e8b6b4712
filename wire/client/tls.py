"""TLS on top of a connected socket. Imported only when the settings ask for it."""

import os
import re
import socket
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from wire.client.address import Address
from wire.client.errors import AuthenticationFailed, TlsFailed, WireError
from wire.client.security import Secret, TlsSettings
from wire.client.steps import READ, WRITE, Deadline, Steps, ready

_PLACE = re.compile(r"\[SSL[^]]*\] | \(_ssl\.c:\d+\)")
_PLAINTEXT_REASONS = ("EOF occurred", "WRONG_VERSION_NUMBER", "UNEXPECTED_EOF", "RECORD_LAYER_FAILURE")
_ALERTS = """
    CERTIFICATE_REQUIRED BAD_CERTIFICATE CERTIFICATE_UNKNOWN CERTIFICATE_EXPIRED CERTIFICATE_REVOKED
    UNSUPPORTED_CERTIFICATE UNKNOWN_CA
"""
_CLIENT_ALERTS = tuple(_ALERTS.split())
"""A broker's alerts about a client's certificate; Java's brokers send the second if there is no certificate."""

_CHECK_TRUST_STORE = (
    "Check ssl.truststore.location (or ssl.ca.location): it must hold the certificate of the authority that signed the "
    "broker's."
)
_CHECK_NAME = (
    "Connect to a name that the broker's certificate contains; an empty ssl.endpoint.identification.algorithm "
    "disables the check."
)
_VERIFICATION_STEPS = {
    9: "Check the clocks of both machines.",
    10: "The broker's certificate, or its authority's, must be renewed; or this machine's clock is wrong.",
    62: _CHECK_NAME,
    64: _CHECK_NAME,
}
"""Next steps by OpenSSL's verification code: not yet valid, expired, another host name, another address."""


class TlsStream:
    def __init__(self, address: Address, sock: ssl.SSLSocket) -> None:
        self._address, self._socket = address, sock
        self.fileno, self.close = sock.fileno, sock.close

    def send(self, data: memoryview) -> int:
        try:
            return self._socket.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None
        except OSError as error:
            error = self._pending_alert(error)
            raise _certificate_refused(self._address, error) or error from None

    def recv(self, size: int) -> bytes:
        try:
            return self._socket.recv(size)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None
        except ssl.SSLEOFError:
            return b""
        except OSError as error:
            # With TLS 1.3, a client certificate is only refused after the handshake.
            raise _certificate_refused(self._address, error) or error from None

    def _pending_alert(self, error: OSError) -> OSError:
        """Why the peer closed the connection: its alert may have arrived, unread, before the close."""
        try:
            self._socket.recv(1)
        except OSError as alert_error:
            return alert_error if isinstance(alert_error, ssl.SSLError) and alert_error.reason else error
        return error


def secure(
    address: Address, sock: socket.socket, context: ssl.SSLContext, deadline: Deadline
) -> Steps[TlsStream]:
    wrapped = context.wrap_socket(sock, server_hostname=address.host, do_handshake_on_connect=False)
    try:
        yield from _handshake(address, wrapped, deadline)
    except BaseException:
        wrapped.close()
        raise
    return TlsStream(address, wrapped)


def _handshake(address: Address, sock: ssl.SSLSocket, deadline: Deadline) -> Steps[None]:
    while True:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            events = READ
        except ssl.SSLWantWriteError:
            events = WRITE
        except OSError as error:
            raise _explain(address, error) from None
        else:
            return
        yield from ready(sock, events, deadline, address, "in the TLS handshake")


def _explain(address: Address, error: OSError) -> WireError:
    if refused := _certificate_refused(address, error):
        return refused
    reason, text = getattr(error, "reason", None) or "", _text(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        text, step = error.verify_message, _VERIFICATION_STEPS.get(error.verify_code, _CHECK_TRUST_STORE)
    elif isinstance(error, ConnectionError | ssl.SSLEOFError) or any(
        sign in reason for sign in _PLAINTEXT_REASONS
    ):
        step = "If it is a PLAINTEXT listener, set security.protocol to PLAINTEXT or SASL_PLAINTEXT."
    else:
        step = "Check the ssl.* settings of the --command-config file."
    return TlsFailed(f"{address}: the TLS handshake failed ({text}). {step}", address=address)


def _certificate_refused(address: Address, error: OSError) -> AuthenticationFailed | None:
    """The broker's alert about the client's certificate; None if the error has another cause."""
    alert = next((name for name in _CLIENT_ALERTS if name in (getattr(error, "reason", None) or "")), None)
    if alert is None:
        return None
    return AuthenticationFailed(
        f"{address}: the broker requires a client certificate, and accepted none "
        f"({alert.replace('_', ' ').lower()}). Set ssl.keystore.location with ssl.keystore.type=PEM (or "
        "ssl.certificate.location and ssl.key.location) to one that has not expired and is signed by an authority "
        "that the broker trusts.",
        address=address,
    )


def context(settings: TlsSettings) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = settings.verify_certificate and settings.verify_hostname
    made.verify_mode = ssl.CERT_REQUIRED if settings.verify_certificate else ssl.CERT_NONE
    trust(made, settings)
    identify(made, settings)
    return made


def trust(made: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.ca_path is None and settings.ca_pem is None:
        made.load_default_certs()
        return
    try:
        made.load_verify_locations(cafile=settings.ca_path, cadata=settings.ca_pem)
    except (OSError, ValueError) as error:
        where = settings.ca_path or "the inline certificates"
        raise TlsFailed(
            f"{where}: no PEM certificates can be read ({_text(error)}). "
            "Check ssl.truststore.location (or ssl.ca.location)."
        ) from None


def identify(made: ssl.SSLContext, settings: TlsSettings) -> None:
    if settings.certificate_path is None and settings.certificate_pem is None:
        return
    password = settings.key_password.reveal() if settings.key_password else ""
    with (
        _as_file(settings.certificate_path, settings.certificate_pem) as chain,
        _as_file(settings.key_path, settings.key_pem) as key,
    ):
        try:
            # Without a password OpenSSL would prompt on the terminal; with an empty one it fails.
            made.load_cert_chain(chain or "", key, password)
        except (OSError, ValueError) as error:
            where = settings.key_path or settings.certificate_path or "the inline key"
            raise TlsFailed(
                f"{where}: the certificate and the key cannot be loaded ({_text(error)}). "
                "Check that both are PEM, belong together, and ssl.key.password fits."
            ) from None


@contextmanager
def _as_file(path: str | None, content: str | Secret | None) -> Iterator[str | None]:
    """The `ssl` module loads keys only from files: inline PEM gets a file that only this user can read."""
    if path is not None or content is None:
        yield path
        return
    handle, name = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(content.reveal() if isinstance(content, Secret) else content)
        yield name
    finally:
        os.unlink(name)


def _text(error: Exception) -> str:
    """OpenSSL's reason in words, without the place in its source."""
    text = str(getattr(error, "reason", None) or getattr(error, "strerror", None) or error)
    return text.replace("_", " ").lower() if text.isupper() else _PLACE.sub("", text)
