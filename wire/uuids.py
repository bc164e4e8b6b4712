"""Topic ids in Kafka's notation: 22 characters of unpadded URL-safe base64."""

import base64
import binascii
from uuid import UUID


def format_uuid(value: UUID) -> str:
    """As Kafka's tools print it."""
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def parse_uuid(text: str) -> UUID:
    """Parse Kafka's notation or the usual hexadecimal one; ValueError otherwise."""
    try:
        if len(text) == 22:
            return UUID(bytes=base64.b64decode(text + "==", altchars=b"-_", validate=True))
        return UUID(text)
    except (ValueError, binascii.Error):
        raise ValueError(f"{text!r} is not a topic id (22 characters of base64)") from None
