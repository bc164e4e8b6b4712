"""Whether a subscription regex means the same to the client and to the broker, for every name a topic may have."""

from __future__ import annotations

from enum import StrEnum


class ClientEngine(StrEnum):
    """The client-side engine that matches topics before the migration."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
