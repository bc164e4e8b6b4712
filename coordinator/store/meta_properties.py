"""`meta.properties`: whose a log directory is.

    version=1
    cluster.id=S29ob3J0VGVzdHNLYWZrYQ
    node.id=1
    directory.id=kOSZFTAtGrRs8DKZe9OvBw

Version 0, from brokers with ZooKeeper, has `broker.id` and no directory. Source: MetaProperties.
"""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from coordinator.store.fsync import write_atomically
from wire.java_properties import BadProperty, parse_properties
from wire.log.damage import DamagedLog
from wire.uuids import format_uuid, parse_uuid

META_PROPERTIES = "meta.properties"

_NODE_ID = {0: "broker.id", 1: "node.id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """What the file says; a file of version 0 may leave out everything else."""

    cluster_id: str | None
    node_id: int | None
    directory_id: UUID | None
    version: int = 1


def read_meta_properties(log_directory: Path) -> MetaProperties | None:
    """The file in a log directory; None where there is none.

    :raises DamagedLog: if it is of another version, or something that the version demands is missing or no id
    :raises OSError: if it cannot be read
    """
    path = log_directory / META_PROPERTIES
    try:
        text = path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return None
    try:
        found = {entry.key: entry.value for entry in parse_properties(text)}
        version = int(found.get("version", "0"))
        if version not in _NODE_ID:
            raise ValueError(f"version {version}; 0 and 1 are known")
        if version > 0:
            for key in ("cluster.id", "node.id"):
                if key not in found:
                    raise ValueError(f"{key} is missing")
        node, directory = found.get(_NODE_ID[version]), found.get("directory.id")
        return MetaProperties(
            cluster_id=found.get("cluster.id"),
            node_id=None if node is None else int(node),
            directory_id=None if directory is None else parse_uuid(directory),
            version=version,
        )
    except (BadProperty, ValueError) as error:
        raise DamagedLog(path, 0, str(error)) from None


def write_meta_properties(log_directory: Path, meta: MetaProperties) -> None:
    """Write the file. :raises OSError: the old one is still there"""
    fields = {
        "node.id": meta.node_id,
        "directory.id": None if meta.directory_id is None else format_uuid(meta.directory_id),
        "version": meta.version,
        "cluster.id": meta.cluster_id,
    }
    lines = [f"{key}={_escaped(str(value))}\n" for key, value in fields.items() if value is not None]
    write_atomically(log_directory / META_PROPERTIES, "".join(lines))


def _escaped(value: str) -> str:
    escaped = value.replace("\\", "\\\\")
    for blank, letter in (("\t", "t"), ("\n", "n"), ("\r", "r"), ("\f", "f")):
        escaped = escaped.replace(blank, f"\\{letter}")
    return f"\\{escaped}" if escaped.startswith(" ") else escaped
