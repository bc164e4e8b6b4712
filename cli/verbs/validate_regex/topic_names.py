"""Names of topics from a file (`validate-regex --topics`): a list, what kafka-topics prints, a snapshot, a mapping."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.errors import CommandError

_DESCRIBED = re.compile(r"^\s*Topic: (\S+)\s", re.MULTILINE)
_LISTED = re.compile(r"([-.0-9A-Z_a-z]+)(?: - marked for deletion)?")
MAX_LENGTH = 249
"""Characters of a topic's name."""


def read_topic_names(file: Path) -> list[str]:
    """The names in a file, `-` for standard input. CommandError when it cannot be read or names no topic."""
    text = read_text(file)
    names = list(_names(file, text))
    if not names:
        raise CommandError(f"{file}: names no topic")
    for name in names:
        if not _LISTED.fullmatch(name) or len(name) > MAX_LENGTH:
            raise CommandError(f"{file}: {name!r} is no name of a topic")
    return names


def read_text(file: Path) -> str:
    """The text of a file, `-` for standard input. CommandError when there is none to be had."""
    try:
        return sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else "not a text file in UTF-8"
        raise CommandError(f"{file}: cannot be read: {reason}") from None


def _names(file: Path, text: str) -> Iterator[str]:
    described = _DESCRIBED.findall(text)
    if described:
        yield from dict.fromkeys(described)
        return
    lines = [line.strip() for line in text.splitlines()]
    listed = [_LISTED.fullmatch(line) for line in lines if line]
    if all(listed):
        yield from (found[1] for found in listed if found)
        return
    tree = _tree(file, text)
    if isinstance(tree, dict) and ("kohort" in tree or isinstance(tree.get("topics"), dict | list)):
        tree = tree.get("topics")
    if not isinstance(tree, dict | list):
        number, line = next(
            (n, line) for n, line in enumerate(lines, 1) if line and not _LISTED.fullmatch(line)
        )
        raise CommandError(f"{file}:{number}: {line!r} is no name of a topic")
    yield from (str(name) for name in tree)


def _tree(file: Path, text: str) -> Any:
    from groups.yaml_files import TreeError, load_tree

    try:
        return load_tree(file, text)
    except TreeError:
        return None
