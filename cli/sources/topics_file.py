"""Topic names from a file (`--topics`), for a log whose records have topic ids only.

Three kinds of files are read: the output of `kafka-topics --describe`, a Kohort snapshot, and a mapping
`name: id` or `name: {id: …, partitions: N}` in YAML or JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cli.errors import CommandError
from coordinator.store.topic_names import KnownTopic
from groups.snapshot import MOST_BYTES, parse_snapshot
from groups.yaml_files import TreeError, load_tree
from wire.files import read_bounded
from wire.uuids import parse_uuid

_DESCRIBED = re.compile(
    r"Topic: (?P<name>\S+)\s+TopicId: (?P<id>\S+)\s+PartitionCount: (?P<partitions>[0-9]+)\b"
)
"""A topic's own line; the lines of its partitions are indented and have no id."""

MAX_PARTITIONS = 2**31 - 1


def read_topics_file(file: Path) -> tuple[KnownTopic, ...]:
    """The topics that the file names with an id; `partitions` is None if the number is not given.

    CommandError if it cannot be read or is of another kind."""
    try:
        text = read_bounded(file, MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else "not a text file in UTF-8"
        raise CommandError(f"{file}: cannot be read: {reason}") from None
    topics = tuple(_described(file, text) if _DESCRIBED.search(text) else _mapped(file, text))
    if not topics:
        raise CommandError(f"{file}: contains no topic with an id")
    return topics


def _described(file: Path, text: str) -> Iterator[KnownTopic]:
    for number, line in enumerate(text.splitlines(), 1):
        found = _DESCRIBED.match(line)
        if found is not None:
            where = f"{file}:{number}"
            yield _topic(where, found["name"], found["id"], found["partitions"])


def _mapped(file: Path, text: str) -> Iterator[KnownTopic]:
    try:
        tree = load_tree(file, text)
        if isinstance(tree, dict) and "kohort" in tree:
            snapshot = parse_snapshot(file, text)
            for fault in snapshot.faults:
                if fault.topic is not None and fault.topic not in snapshot.topics:
                    raise fault.error
            for topic in snapshot.topics.values():
                if topic.id is not None:
                    yield KnownTopic(name=topic.name, id=topic.id, partitions=topic.partitions, is_whole=True)
            return
    except TreeError as error:
        raise CommandError(str(error)) from None
    if not isinstance(tree, dict):
        raise CommandError(
            f"{file}: expected what kafka-topics --describe prints, a snapshot, or a mapping of names to ids"
        )
    for name, value in tree.items():
        fields: Mapping[str, object] = value if isinstance(value, dict) else {"id": value}
        yield _topic(f"{file}: {name}", name, fields.get("id"), fields.get("partitions"))


def _topic(where: str, name: str, topic_id: object, partitions: Any) -> KnownTopic:
    try:
        number = None if partitions is None else int(partitions)
        if number is not None and not 0 < number <= MAX_PARTITIONS:
            raise ValueError(f"{number} is not a number of partitions")
        return KnownTopic(
            name=name, id=parse_uuid(str(topic_id)), partitions=number, is_whole=number is not None
        )
    except (ValueError, TypeError) as error:
        raise CommandError(f"{where}: {error}") from None
