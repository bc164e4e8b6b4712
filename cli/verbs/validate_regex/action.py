"""The input of `validate-regex` (patterns and topics), and its exit status."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import SourceOptions
from cli.selection import opened, source_is_named
from groups.regex import ClientEngine
from groups.regex.automaton import Names
from groups.regex.compare import Comparison, compare, joined
from wire.files import MEBIBYTE, read_bounded

if TYPE_CHECKING:
    from groups.model import Problem


def patterns_of(patterns: Sequence[str] | None, file: Path | None, topics_file: Path | None) -> list[str]:
    """The patterns of the command line and the file. UsageError for none, CommandError for an unreadable file."""
    if str(file) == "-" == str(topics_file):
        raise UsageError("--file and --topics cannot both be standard input")
    chosen = list(patterns or ())
    if file is not None:
        lines = [line.removesuffix("\r") for line in read_text(file).split("\n")]
        chosen += [line for line in lines if line]
    if not chosen:
        raise UsageError(
            "give a PATTERN, or --file FILE with one pattern per line"
            if file is None
            else f"{file} contains no pattern"
        )
    return chosen


def topics_of(source: SourceOptions) -> tuple[Names | None, tuple[Problem, ...]]:
    """The topics to match, None if there is no source, and problems of reading the source."""
    bare = replace(source, topics_file=None)
    is_elsewhere = source.place is not None and not source.place.is_typed
    if source.topics_file is not None and not source.log_dirs:
        if not is_elsewhere and any(
            (source.bootstrap_server, source.command_config, source.snapshot, source.embedded)
        ):
            raise UsageError("--topics and a source both list topics; use only one")
        return _names(read_topic_names(source.topics_file)), ()
    if not source_is_named(bare):
        return None, ()
    with opened(source) as groups:
        read = groups.topics(None, end_offsets=False)
    return _names(topic.name for topic in read.items), read.problems


def _names(names: Iterator[str] | Sequence[str]) -> Names:
    try:
        return Names(names)
    except ValueError as error:
        raise CommandError(str(error)) from None


def check(patterns: Sequence[str], client: ClientEngine | None, topics: Names | None) -> list[Comparison]:
    """The comparison of each pattern."""
    return [compare(pattern, client, topics) for pattern in patterns]


def unknown_matches(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """A message for each accepted pattern whose matches by the client are not known."""
    for comparison in comparisons:
        if comparison.flagged and comparison.verdict.valid:
            what = ", ".join(comparison.flagged)
            yield f"{comparison.verdict.pattern}: unknown what the consumer matches: {what}"


def status_of(comparisons: Sequence[Comparison], client: ClientEngine | None) -> ExitStatus:
    """FALSE if a pattern fails; UNREADABLE if the result for one is unknown; else DONE."""
    together = _together(comparisons, client)
    if not all(comparison.is_unchanged for comparison in comparisons) or together is False:
        return ExitStatus.FALSE
    return ExitStatus.UNREADABLE if any(comparison.flagged for comparison in comparisons) else ExitStatus.DONE


def _together(comparisons: Sequence[Comparison], client: ClientEngine | None) -> bool | None:
    if client is not ClientEngine.LIBRDKAFKA:
        return None
    verdict = joined([comparison.verdict.pattern for comparison in comparisons])
    return None if verdict is None else verdict.valid and verdict.danger is None


_DESCRIBED = re.compile(r"^\s*Topic: (\S+)\s", re.MULTILINE)
_LISTED = re.compile(r"([-.0-9A-Z_a-z]+)(?: - marked for deletion)?")
MOST_BYTES = 512 * MEBIBYTE
"""Maximum size of a file; a snapshot is one that names topics."""
MAX_LENGTH = 249
"""Maximum length of a topic name, in characters."""


def read_topic_names(file: Path) -> list[str]:
    """The names in a file, `-` for standard input. CommandError if it cannot be read or names no topic."""
    text = read_text(file)
    names = list(_listed(file, text))
    if not names:
        raise CommandError(f"{file}: lists no topic")
    for name in names:
        if not _LISTED.fullmatch(name) or len(name) > MAX_LENGTH:
            raise CommandError(f"{file}: {name!r} is not a valid topic name")
    return names


def read_text(file: Path) -> str:
    """The text of a file, `-` for standard input. CommandError if it cannot be read."""
    try:
        return read_bounded(sys.stdin.buffer if str(file) == "-" else file, MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else "not a text file in UTF-8"
        raise CommandError(f"{file}: cannot be read: {reason}") from None


def _listed(file: Path, text: str) -> Iterator[str]:
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
        raise CommandError(f"{file}:{number}: {line!r} is not a valid topic name")
    yield from (str(name) for name in tree)


def _tree(file: Path, text: str) -> Any:
    from groups.yaml_files import TreeError, load_tree

    try:
        return load_tree(file, text)
    except TreeError:
        return None
