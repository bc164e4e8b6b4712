"""The ways to log in to a cluster that need an extra."""

from wire.client.errors import UnsupportedMechanism
from wire.extras import install_command, is_installed

LOGINS_WITH_EXTRA = {
    "mutual TLS, PKCS12": "keystores",
    "Kerberos": "kerberos",
    "Amazon MSK IAM": "aws",
    "Azure identity": "azure",
    "Google identity": "gcp",
}


def require(extra: str, purpose: str) -> None:
    """Raises UnsupportedMechanism: `purpose` needs packages that are not installed, with the command."""
    if not is_installed(extra):
        message = f"{purpose} needs packages that are not installed. Run: `{install_command(extra)}`"
        raise UnsupportedMechanism(message)
