"""The settings of single groups: one JSON file, replaced as a whole.

    {"kohort": 1, "groups": {"payments": {"consumer.session.timeout.ms": "50000"}}}

A broker keeps them in its metadata log (ConfigRecord, resource type GROUP), where they have no file of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from coordinator.store.fsync import write_atomically
from wire.log.damage import DamagedLog

GROUP_CONFIGS = "group-configs.json"
FORMAT = 1

GroupConfigs: TypeAlias = Mapping[str, Mapping[str, str]]
"""Names and values of settings, by group."""


def read_group_configs(log_directory: Path) -> dict[str, dict[str, str]]:
    """What was set; nothing where there is no file. :raises DamagedLog: :raises OSError:"""
    path = log_directory / GROUP_CONFIGS
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return {}
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedLog(path, getattr(error, "pos", 0), f"no JSON: {error}") from None
    if (
        not isinstance(document, dict)
        or document.get("kohort") != FORMAT
        or not _is_configs(document.get("groups"))
    ):
        raise DamagedLog(path, 0, f'settings of groups are expected: {{"kohort": {FORMAT}, "groups": …}}')
    groups: dict[str, dict[str, str]] = document["groups"]
    return groups


def write_group_configs(log_directory: Path, groups: GroupConfigs) -> None:
    """Replace the file. :raises OSError: the old one is still there"""
    document = {"kohort": FORMAT, "groups": {group: dict(values) for group, values in groups.items()}}
    write_atomically(log_directory / GROUP_CONFIGS, json.dumps(document, indent=1, ensure_ascii=True) + "\n")


def _is_configs(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(each, dict) and all(isinstance(text, str) for text in each.values())
        for each in value.values()
    )
