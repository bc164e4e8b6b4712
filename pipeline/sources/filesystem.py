"""Files on any file system of Spark, opened by its Python workers. A path is local, or a URI: `file:///…`,
`s3a://bucket/key` (`s3`, `s3n`), `hdfs://host/…`, and others that pyarrow supports. The properties of Hadoop's S3A
are supported too (`_S3_PROPERTIES`); without them, the environment is used, as in AWS's own tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyarrow import fs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?P<rest>.*)", re.DOTALL)
_S3 = frozenset({"s3", "s3a", "s3n"})
_LOCAL = fs.LocalFileSystem()


def absolute(path: str) -> str:
    """A path that means the same everywhere: a relative local path is relative to this process's directory."""
    return path if _URI.match(path) else str(Path(path).absolute())


def is_local(path: str) -> bool:
    """Whether a path is in this machine's file system, not a URI."""
    return _URI.match(path) is None


def child(path: str, name: str) -> str:
    return f"{path.rstrip('/')}/{name}"


def opened(path: str, options: Mapping[str, str]) -> tuple[fs.FileSystem, str]:
    """The file system of an absolute path, and the path in it; `options` are Hadoop's. Raises OSError: none."""
    uri = _URI.match(path)
    if uri is None:
        return _LOCAL, path
    scheme = uri["scheme"].lower()
    if scheme in _S3:
        return _s3(tuple(sorted(options.items()))), uri["rest"].rstrip("/")
    try:
        system, inside = fs.FileSystem.from_uri(path)
        return system, inside
    except (ValueError, ImportError) as error:
        raise OSError(f"{path}: {error}") from None


_S3_PROPERTIES = {
    "access.key": "access_key",
    "secret.key": "secret_key",
    "session.token": "session_token",
    "endpoint.region": "region",
}
"""pyarrow's names of Hadoop's properties; also `endpoint` and `connection.ssl.enabled`, with the prefix `fs.s3a.`."""


@lru_cache(maxsize=4)
def _s3(options: tuple[tuple[str, str], ...]) -> fs.FileSystem:
    properties = {
        name.removeprefix("fs.s3a."): value for name, value in options if name.startswith("fs.s3a.")
    }
    settings: dict[str, object] = {
        name: properties[key] for key, name in _S3_PROPERTIES.items() if key in properties
    }
    if "endpoint" in properties:
        scheme, _, host = properties["endpoint"].rpartition("://")
        settings["endpoint_override"] = host
        plain = properties.get("connection.ssl.enabled", "true").lower() == "false"
        settings["scheme"] = scheme or ("http" if plain else "https")
    return fs.S3FileSystem(**settings)


def hadoop_options(spark: SparkSession | None) -> dict[str, str]:
    """A session's settings of Hadoop's file systems (`spark.hadoop.…`), by Hadoop's names; none without a session."""
    if spark is None:
        return {}
    prefix = "spark.hadoop."
    settings = spark.sparkContext.getConf().getAll()
    return {name.removeprefix(prefix): value for name, value in settings if name.startswith(prefix)}
