"""The names of the formats of `kohort log dump`; the options need no more of the writers than this."""

from enum import Enum


class DumpFormat(Enum):
    """`--output`. Every one is written while the log is read."""

    TABLE = "table"
    NDJSON = "ndjson"
    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
