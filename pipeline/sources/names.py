"""Names of topics by id, as log directories tell them beside their segments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from coordinator.storage.partition_files import parse_partition_name
from coordinator.storage.topic_names import known_topics
from coordinator.uuids import format_uuid


def names_beside(paths: Sequence[str]) -> dict[str, str]:
    """What the log directories at or around local `paths` know."""
    directories = {_log_directory(Path(path)) for path in paths if "://" not in path}
    known = known_topics(sorted(each for each in directories if each.is_dir()), {})
    return {format_uuid(topic_id): name for topic_id, name in known.names.items()}


def _log_directory(path: Path) -> Path:
    path = path.absolute()
    if path.is_file():
        path = path.parent
    return path.parent if parse_partition_name(path.name) is not None else path
