"""The configuration of a member after a step of a plan, as a change of the one that it had before the migration.

The lines of a plan (`migration.paths.configuration`): a heading (`# java`: what follows is for clients of that library;
the lines above all headings are for all), a setting (`key=value`), a removed setting (`# remove: key`), other text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from migration.client_config import LIBRARIES_WITH_FILES
from migration.clients import LIBRARIES
from migration.model import Step

_HEADING = re.compile(r"#\s*(?P<library>[\w-]+)\b.*")
REMOVE = re.compile(r"#\s*remove:\s*(?P<key>[\w.-]+)\s*")
_SETTING = re.compile(r"(?P<key>[\w.-]+)\s*=\s*(?P<value>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsChange:
    lines: Mapping[str, str] = field(default_factory=dict)  # Settings to set
    removed: tuple[str, ...] = ()  # Names of settings to remove
    remarks: tuple[str, ...] = ()
    """Lines that are no settings: what is written in a program's code, or is restored only if it was set."""


class UnknownLibraryError(Exception):
    """The plan has lines for several libraries, and which one a member uses is not known."""


def settings_after(steps: Iterable[Step], library: str | None) -> SettingsChange:
    """The change that these steps make together, for a member of this library; a later line replaces an earlier one.
    Raises UnknownLibraryError."""
    lines: dict[str, str] = {}
    removed: dict[str, None] = {}
    remarks: dict[str, None] = {}
    for step in steps:
        if step.config:
            remarks.clear()  # the instructions of a later step replace those before
        for line in lines_for(step.config, library):
            if match := REMOVE.fullmatch(line):
                lines.pop(match["key"], None)
                removed[match["key"]] = None
            elif (match := _SETTING.fullmatch(line)) and has_file(step.config, library):
                removed.pop(match["key"], None)
                lines[match["key"]] = match["value"]
            else:
                remarks[line] = None
    return SettingsChange(lines=lines, removed=tuple(removed), remarks=tuple(remarks))


def lines_for(lines: Sequence[str], library: str | None) -> Iterator[str]:
    """The lines for a library, without headings. Raises UnknownLibraryError."""
    named = libraries_of(lines)
    if library not in named:
        if len(named) > 1:
            raise UnknownLibraryError(f"the plan has lines for {' and '.join(named)}")
        library = named[0] if named else None
    heading: str | None = None
    for line in lines:
        if found := _library_of(line):
            heading = found
        elif line.strip() and heading in (None, library):
            yield line.strip()


def has_file(lines: Sequence[str], library: str | None) -> bool:
    """Whether the library is configured by settings, not by code."""
    named = libraries_of(lines)
    name = library if library in named or not named else named[0]
    return name is None or name in LIBRARIES_WITH_FILES


def libraries_of(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in map(_library_of, lines) if name))


def _library_of(line: str) -> str | None:
    match = _HEADING.fullmatch(line)
    return match["library"] if match and match["library"] in LIBRARIES else None
