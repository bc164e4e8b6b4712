"""The input of `kohort validate-regex` (patterns and topics), its exit status, and its document."""

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import SourceOptions
from cli.output import notice
from cli.render.document import Block, Document, Table, Text, fields, table_of
from cli.selection import opened, source_is_named
from groups.counts import first_names
from groups.model import Problem
from groups.regex import ClientEngine
from groups.regex.automaton import Names
from groups.regex.broker import RegexVerdict
from groups.regex.compare import Comparison, joined
from wire.files import MEBIBYTE, read_bounded


def patterns_of(patterns: Sequence[str] | None, file: Path | None, topics_file: Path | None) -> list[str]:
    """The patterns of the command line and the file. UsageError for none, CommandError for an unreadable file."""
    if str(file) == "-" == str(topics_file):
        raise UsageError("--file and --topics cannot both be standard input")
    chosen = list(patterns or ())
    if file is not None:
        lines = [line.removesuffix("\r") for line in read_text(file).split("\n")]
        chosen += [line for line in lines if line]
    if not chosen and file is not None:
        raise UsageError(f"{file} contains no pattern")
    if not chosen:
        raise UsageError("give a PATTERN, or --file FILE with one pattern per line")
    return chosen


def topics_of(source: SourceOptions) -> tuple[Names | None, tuple[Problem, ...]]:
    """The topics to match, None if there is no source, and problems of reading the source."""
    bare = replace(source, topics_file=None)
    is_elsewhere = source.place is not None and not source.place.is_typed
    if source.topics_file is not None and not source.log_dirs:
        others = (source.bootstrap_server, source.command_config, source.snapshot, source.embedded)
        if not is_elsewhere and any(others):
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


def notify_unknown_matches(comparisons: Sequence[Comparison]) -> None:
    for comparison in comparisons:
        if comparison.flagged and comparison.verdict.valid:
            what = ", ".join(comparison.flagged)
            notice(f"{comparison.verdict.pattern}: unknown what the consumer matches: {what}")


def status_of(comparisons: Sequence[Comparison], client: ClientEngine | None) -> ExitStatus:
    """FALSE if a pattern fails; UNREADABLE if the result for one is unknown; else DONE."""
    together = _together(comparisons, client)
    is_refused = together is not None and not (together.valid and together.danger is None)
    if not all(comparison.is_unchanged for comparison in comparisons) or is_refused:
        return ExitStatus.FALSE
    return ExitStatus.UNREADABLE if any(comparison.flagged for comparison in comparisons) else ExitStatus.DONE


def _together(comparisons: Sequence[Comparison], client: ClientEngine | None) -> RegexVerdict | None:
    if client is not ClientEngine.LIBRDKAFKA:
        return None
    return joined([comparison.verdict.pattern for comparison in comparisons])


_DESCRIBED = re.compile(r"^\s*Topic: (\S+)\s", re.MULTILINE)
_LISTED = re.compile(r"([-.0-9A-Z_a-z]+)(?: - marked for deletion)?")
MOST_BYTES = 512 * MEBIBYTE  # maximum size of a file; a snapshot is one that names topics
MAX_LENGTH = 249  # maximum length of a topic name, in characters


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
        yield from (match[1] for match in listed if match)
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


def _tree(file: Path, text: str) -> object:
    from groups.yaml_files import TreeError, load_tree

    try:
        return load_tree(file, text)
    except TreeError:
        return None


SHOWN_TOPICS = 20  # maximum number of topics named in a table cell; data contain all of them
SHOWN_PATTERN = 200  # maximum length of a pattern in a sentence


def regex_document(
    comparisons: Sequence[Comparison], client: ClientEngine | None, problems: tuple[Problem, ...]
) -> Document:
    """The document. `client` is the engine that the broker's matches are compared with; None without `--from`."""
    together = _together(comparisons, client)
    blocks: list[Block] = [Text(text) for each in comparisons for text in _sentences(each, client)]
    if together is not None and not (together.valid and together.danger is None):
        why = together.reason or together.danger
        blocks.append(Text(f"They cannot be used together in one subscription: {why}."))
    blocks.append(_table(comparisons, client))
    data = {
        "from": None if client is None else client.value,
        "patterns": [_data(comparison) for comparison in comparisons],
        "joined": None
        if together is None
        else {
            **fields(together, "pattern", "valid", "reason"),
            "dangerous": together.danger is not None if together.valid else None,
        },
    }
    return Document(command="validate-regex", data=data, blocks=blocks, errors=problems)


def _table(comparisons: Sequence[Comparison], client: ClientEngine | None) -> Table:
    shown = [
        ("PATTERN", lambda comparison: comparison.verdict.pattern),
        ("VALID", lambda comparison: comparison.verdict.valid),
    ]
    if client is None:
        shown += [("##TOPICS", lambda comparison: _count(comparison.matched.broker))]
        shown += [("TOPICS", lambda comparison: _shown(comparison.matched.broker))]
    else:
        shown += [("##TODAY", lambda comparison: _count(comparison.matched.client))]
        shown += [("##BROKER", lambda comparison: _count(comparison.matched.broker))]
        shown += [("GAINED", lambda comparison: _shown(comparison.matched.gained))]
        shown += [("LOST", lambda comparison: _shown(comparison.matched.lost))]
    return table_of(comparisons, *shown)


def _data(comparison: Comparison) -> dict[str, object]:
    verdict, ever = comparison.verdict, comparison.ever
    topics = fields(comparison.matched, "broker", "client", "gained", "lost")
    return {
        **fields(verdict, "pattern", "valid", "reason", "position"),
        "dangerous": verdict.danger is not None if verdict.valid else None,
        "danger": verdict.danger,
        "literal": comparison.is_literal,
        "client_reason": comparison.client_reason,
        "flagged": list(comparison.flagged),
        "topics": {name: None if names is None else list(names) for name, names in topics.items()},
        "always_same": ever and ever.same,
        "examples": {"gained": ever and ever.only_second, "lost": ever and ever.only_first},
        "rewrite": comparison.rewritten,
    }


def _sentences(comparison: Comparison, client: ClientEngine | None) -> Iterator[str]:
    verdict = comparison.verdict
    pattern = f"`{verdict.pattern[:SHOWN_PATTERN]}{'…' if len(verdict.pattern) > SHOWN_PATTERN else ''}`"
    if comparison.is_literal:
        yield f"{pattern} does not start with ^: librdkafka treats it as the name of one topic, under both protocols."
        return
    if not verdict.valid:
        at = "" if verdict.position is None else f", at position {verdict.position}"
        yield f"The regular expression {pattern} is invalid: {verdict.reason}{at}."
    if verdict.danger is not None:
        yield f"The broker accepts {pattern}, but it may be harmful: {verdict.danger}."
    if client is None:
        return
    if comparison.client_reason is not None:
        yield f"The {client.value} consumer does not accept {pattern} today: {comparison.client_reason}."
    if comparison.flagged:
        flagged = ", ".join(comparison.flagged)
        yield f"It is not certain what the {client.value} consumer matches with {pattern}: {flagged}."
    ever = comparison.ever
    if ever is not None and not ever.same:
        lost = f"no longer matches names such as `{ever.only_first}`"
        gained = f"also matches names such as `{ever.only_second}`"
        parts = [lost] * (ever.only_first is not None) + [gained] * (ever.only_second is not None)
        yield f"Under the consumer protocol {pattern} {' and '.join(parts)}."
    if comparison.rewritten is not None:
        yield (
            f"Subscribe to `{comparison.rewritten}` instead: the broker then matches what the {client.value} consumer "
            f"matches with {pattern} today, for all valid topic names."
        )


def _count(names: tuple[str, ...] | None) -> int | None:
    return None if names is None else len(names)


def _shown(names: tuple[str, ...] | None) -> str | None:
    return first_names(names, SHOWN_TOPICS) if names else None
