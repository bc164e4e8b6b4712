"""The small files of a log directory: its identity, the progress of compaction, and stored configs.

    meta.properties                 version=1
                                    cluster.id=S29ob3J0VGVzdHNLYWZrYQ
                                    node.id=1
                                    directory.id=kOSZFTAtGrRs8DKZe9OvBw
    cleaner-offset-checkpoint       0                               version
                                    2                               number of lines that follow
                                    __consumer_offsets 7 1234       topic, partition, offset
    group-configs.json              {"kohort": 1, "groups": {"payments": {"consumer.session.timeout.ms": "50000"}}}
    topic-configs.json              {"kohort": 1, "topics": {"orders": {"retention.ms": "5000"}}}
    broker-configs.json             {"kohort": 1, "brokers": {"": {"log.retention.ms": "5000"}}}
    feature-configs.json            {"kohort": 1, "features": {"group.version": {"level": "0"}}}
    assignment-configs.json         {"kohort": 1, "assignments": {"orders": {"0": "1,2", "1": "2,3"}}}
    acl-configs.json                {"kohort": 1, "acls": {"1": {"change": "created", "resource_type": "TOPIC", …}}}

`meta.properties` of version 0, from brokers with ZooKeeper, has `broker.id` and no directory. Configs are in files of
Kohort: a broker stores them in its metadata log (ConfigRecord, FeatureLevelRecord, AccessControlEntryRecord).

Source: MetaProperties, OffsetCheckpointFile.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TypeAlias
from uuid import UUID

from coordinator.store.disk import write_atomically
from coordinator.store.partition_files import read_checkpoint_lines, write_checkpoint_lines
from wire.files import read_regular
from wire.java_text import BadProperty, parse_properties
from wire.log.errors import DamagedLog
from wire.uuids import format_uuid, parse_uuid

META_PROPERTIES = "meta.properties"
_NODE_ID = {0: "broker.id", 1: "node.id"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaProperties:
    """The content of the file; a file of version 0 may lack all ids."""

    cluster_id: str | None
    node_id: int | None
    directory_id: UUID | None
    version: int = 1


def read_meta_properties(log_directory: Path) -> MetaProperties | None:
    """The file of a log directory, None without one. Raises DamagedLog: an unknown version or invalid id."""
    path = log_directory / META_PROPERTIES
    try:
        text = read_regular(path).decode(errors="replace")
    except FileNotFoundError:
        return None
    try:
        properties = {entry.key: entry.value for entry in parse_properties(text)}
        version = int(properties.get("version", "0"))
        if version not in _NODE_ID:
            raise ValueError(f"version {version}; 0 and 1 are known")
        if version > 0:
            for key in ("cluster.id", "node.id"):
                if key not in properties:
                    raise ValueError(f"{key} is missing")
        node, directory = properties.get(_NODE_ID[version]), properties.get("directory.id")
        return MetaProperties(
            cluster_id=properties.get("cluster.id"),
            node_id=None if node is None else int(node),
            directory_id=None if directory is None else parse_uuid(directory),
            version=version,
        )
    except (BadProperty, ValueError) as error:
        raise DamagedLog(path, 0, str(error)) from None


def write_meta_properties(log_directory: Path, meta: MetaProperties) -> None:
    """Write the file. Raises OSError: the old one is unchanged."""
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


CLEANER = "cleaner-offset-checkpoint"
Checkpoint: TypeAlias = Mapping[tuple[str, int], int]  # an offset, by topic and partition


def read_checkpoint(path: Path) -> dict[tuple[str, int], int]:
    """The content of the file; empty without a file. Raises DamagedLog. Raises OSError."""
    lines = read_checkpoint_lines(path, ("topic", "partition", "offset"))
    return {(topic, partition): offset for topic, partition, offset in lines}


def write_checkpoint(path: Path, offsets: Checkpoint) -> None:
    """Replace the file. Raises OSError: the old one is unchanged."""
    lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
    write_checkpoint_lines(path, lines)


class ConfigKind(Enum):
    """The kinds of stored configs, each in its own file. FEATURE: by name, with the `level`. ASSIGNMENT: the node
    ids by partition of topics that are not on the default brokers. ACL: what clients created or deleted, by
    number."""

    GROUP = "group"
    TOPIC = "topic"
    BROKER = "broker"
    FEATURE = "feature"
    ASSIGNMENT = "assignment"
    ACL = "acl"

    @property
    def file(self) -> str:
        return f"{self.value}-configs.json"


CONFIGS_FORMAT = 1
Configs: TypeAlias = Mapping[str, Mapping[str, str]]  # names and values of configs, by resource


def read_configs(log_directory: Path, kind: ConfigKind) -> dict[str, dict[str, str]]:
    """The stored configs; empty if there is no file. Raises DamagedLog. Raises OSError."""
    path = log_directory / kind.file
    try:
        text = read_regular(path)
    except FileNotFoundError:
        return {}
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedLog(path, getattr(error, "pos", 0), f"no JSON: {error}") from None
    of = f"{kind.value}s"
    is_ours = isinstance(document, dict) and document.get("kohort") == CONFIGS_FORMAT
    if not is_ours or not _is_configs(document.get(of)):
        raise DamagedLog(path, 0, f'settings of {of} are expected: {{"kohort": {CONFIGS_FORMAT}, "{of}": …}}')
    configs: dict[str, dict[str, str]] = document[of]
    return configs


def write_configs(log_directory: Path, kind: ConfigKind, configs: Configs) -> None:
    """Replace the file. Raises OSError: the old one is unchanged."""
    resources = {name: dict(values) for name, values in configs.items()}
    document = {"kohort": CONFIGS_FORMAT, f"{kind.value}s": resources}
    write_atomically(log_directory / kind.file, json.dumps(document, indent=1, ensure_ascii=True) + "\n")


def _is_configs(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(configs, dict) and all(isinstance(text, str) for text in configs.values())
        for configs in value.values()
    )
