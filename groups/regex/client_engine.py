"""The engines that clients match topics with."""

from __future__ import annotations

from enum import StrEnum


class ClientEngine(StrEnum):
    """Whose engine matches the topics before the migration."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
