"""What a subscription regex matches: by the client's engine, and by the broker's."""

from enum import StrEnum


class ClientEngine(StrEnum):
    """The client-side engine that matches topics before the migration."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
