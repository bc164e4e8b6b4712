"""Read the entries of a journal. A line that cannot be read is a problem, named with its file and number."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from cli.errors import CommandError, UsageError
from cli.journal.directory import SUFFIX
from cli.journal.entry import EntryEnd, ItemOutcome, JournalEntry, paired, read_line
from groups.counts import first_names
from groups.model import Problem
from groups.trees import Malformed
from wire.files import open_regular

Journaled: TypeAlias = tuple[JournalEntry, EntryEnd | None]
"""An entry, and its end; None: the change is running, or its process was killed."""
_PREFIX = re.compile("[0-9A-F]{4,8}")


def read_journal(directory: Path) -> tuple[Sequence[Journaled], Sequence[Problem]]:
    """All entries, oldest first; none if there is no such directory. Raises CommandError: it cannot be read."""
    begun: dict[str, JournalEntry] = {}
    ends: dict[str, EntryEnd] = {}
    places: dict[str, str] = {}
    problems: list[Problem] = []
    for place, part in _parts(directory):
        if isinstance(part, Problem):
            problems.append(part)
        elif part.id in (begun if isinstance(part, JournalEntry) else ends):
            message = f"a second line of this kind for the entry {part.id}; only the first one counts"
            problems.append(Problem(subject=place, message=message))
        elif isinstance(part, JournalEntry):
            begun[part.id] = part
        else:
            ends[part.id], places[part.id] = part, place
    for name in ends.keys() - begun.keys():
        message = f"the beginning of the entry {name} is missing: what it changed is not known"
        problems.append(Problem(subject=places[name], message=message))
    entries = sorted(begun.values(), key=lambda entry: entry.at_ms)
    return [(entry, ends.get(entry.id)) for entry in entries], problems


def _parts(directory: Path) -> Iterator[tuple[str, JournalEntry | EntryEnd | Problem]]:
    """The lines of all files, with their places."""
    for file in _files(directory):
        try:
            with open_regular(file) as stream:
                for number, line in enumerate(stream, 1):
                    if line.strip():
                        place = f"{file}, line {number}"
                        yield place, _part(place, line)
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            yield str(file), Problem(subject=str(file), message=message)


def _files(directory: Path) -> list[Path]:
    try:
        return sorted(file for file in directory.iterdir() if file.suffix == SUFFIX)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CommandError(f"{directory}: the journal cannot be read: {error.strerror or error}") from None


def _part(place: str, line: bytes) -> JournalEntry | EntryEnd | Problem:
    try:
        return read_line(line)
    except Malformed as error:
        return Problem(subject=place, message=str(error))


def find_entry(entries: Sequence[Journaled], prefix: str) -> Journaled:
    """The entry whose id begins so. Raises UsageError: there is none or more than one, or it is too short."""
    if not _PREFIX.fullmatch(prefix.upper()):
        raise UsageError(f"{prefix!r} is not an entry: give at least 4 of its 8 digits, as in 4F2A")
    matching = [one for one in entries if one[0].id.startswith(prefix.upper())]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise UsageError(f"the journal has no entry {prefix.upper()}; `kohort journal` lists all")
    names = first_names([entry.id for entry, _ in matching], 5)
    raise UsageError(f"the journal has several entries {prefix.upper()}…: {names}; give more digits")


def undone_by(entries: Iterable[Journaled]) -> Mapping[str, str]:
    """By entry, the undo that restored some of it and is not undone itself; entries are the oldest first."""
    undone: dict[str, str] = {}
    for entry, end in reversed(list(entries)):
        has_restored = any(result.result is ItemOutcome.DONE for _, result in paired(entry, end))
        if entry.undoes is not None and entry.id not in undone and has_restored:
            undone.setdefault(entry.undoes, entry.id)
    return undone
