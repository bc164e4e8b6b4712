"""sasl.mechanism GSSAPI (RFC 4752): Kerberos, through the system's library. Needs the extra ``kerberos``."""

import os
import re
from collections.abc import Callable, Generator
from typing import TypeVar

from wire.client.commands import in_time
from wire.client.errors import AuthenticationFailed, Unreachable, UnsupportedMechanism
from wire.client.security import KerberosSettings
from wire.client.steps import Deadline
from wire.extras import install_command

try:
    import gssapi
except (ImportError, OSError) as error:  # not installed, or the system has no Kerberos library
    message = f"sasl.mechanism GSSAPI cannot be used here ({error}). Run: `{install_command('kerberos')}`"
    raise UnsupportedMechanism(message) from None

T = TypeVar("T")

_NO_LAYER = 1
"""Neither integrity nor encryption after the login: in Kafka TLS does that, and Kafka offers nothing else."""

_NEXT_STEPS = (
    ("credential", "Run kinit, or set keyTab and principal in sasl.jaas.config (librdkafka: sasl.kerberos.keytab)."),
    ("keytab", "Check keyTab in sasl.jaas.config (librdkafka: sasl.kerberos.keytab): `klist -k FILE` shows its keys."),
    ("expired", "Run kinit again, or set keyTab and principal in sasl.jaas.config."),
    ("server ", "Check sasl.kerberos.service.name, and connect to the broker by its full host name."),
    ("client ", "Check the principal."),
    ("clock skew", "Check the clocks of this machine and of the KDC."),
    ("contact any kdc", "Check the network, and the realm in /etc/krb5.conf."),
    ("realm", "Check the realm in /etc/krb5.conf."),
)  # fmt: skip


def gssapi_exchange(
    settings: KerberosSettings, host: str, deadline: Deadline
) -> Generator[bytes, bytes, None]:
    """Log in to the service at `host`. Raises AuthenticationFailed. Raises Unreachable: no KDC answers in time."""
    where = f"{settings.service_name}@{host}"

    def called(call: Callable[[], T]) -> T:
        try:
            return in_time(call, deadline)  # the library asks a KDC, without a timeout
        except TimeoutError:
            message = "timed out. No KDC answers: check the network and /etc/krb5.conf."
            raise Unreachable(where, message) from None
        except gssapi.exceptions.GSSError as error:
            raise AuthenticationFailed(_explained(settings, error)) from None

    name = gssapi.Name(where, gssapi.NameType.hostbased_service)
    credentials = called(lambda: _credentials(settings))
    context = gssapi.SecurityContext(
        name=name, creds=credentials, usage="initiate", flags=gssapi.RequirementFlag.mutual_authentication
    )
    answer: bytes | None = None
    while not context.complete:
        token = called(lambda: context.step(answer))  # noqa: B023
        answer = yield token or b""
    offer = called(lambda: context.unwrap(answer).message)
    if len(offer) != 4 or not offer[0] & _NO_LAYER:
        message = "Kerberos: the broker requires a security layer of GSSAPI, which Kafka does not have"
        raise AuthenticationFailed(message)
    yield called(lambda: context.wrap(bytes([_NO_LAYER, 0, 0, 0]), False).message)


def _credentials(settings: KerberosSettings) -> gssapi.Credentials | None:
    """The credentials of the keytab, of a credential cache, or (None) the default ones."""
    name = settings.principal and gssapi.Name(settings.principal, gssapi.NameType.kerberos_principal)
    if settings.keytab:
        if not os.access(settings.keytab, os.R_OK):
            raise AuthenticationFailed(
                f"Kerberos: the keytab {settings.keytab} cannot be read. Check its path and its permissions."
            )
        store = {"client_keytab": f"FILE:{settings.keytab}", "ccache": f"MEMORY:{settings.principal}"}
    elif settings.ccache:
        store = {"ccache": settings.ccache}
    else:
        return gssapi.Credentials(name=name, usage="initiate") if name else None
    return gssapi.Credentials(name=name, usage="initiate", store=store)


def _explained(settings: KerberosSettings, error: Exception) -> str:
    """The mechanism's own message, which follows a general phrase, and the next step."""
    text = re.split(r"Minor \(-?\d+\): ", str(error))[-1].strip().rstrip(".")
    if settings.keytab and "credentials cache" in text:  # the keytab did not fill the cache
        return (
            f"Kerberos: the keytab {settings.keytab} gives no ticket for {settings.principal}. `klist -k` shows whose "
            f"keys it has, and `kinit -k -t {settings.keytab} {settings.principal}` what the KDC says."
        )
    step = next((step for word, step in _NEXT_STEPS if word in text.lower()), "Try kinit and kvno.")
    return f"Kerberos: {text}. {step}"
