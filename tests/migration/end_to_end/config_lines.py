"""The configuration lines that a plan prints, applied to a client's configuration as a person would.

A line is a heading (`# java`: what follows is for clients of that library; what stands above all headings is for
all), a setting (`key=value`), a removed one (`# remove: key`) or a restored one (`# restore, if it was set: key`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from migration.clients import LIBRARIES

REMOVE = re.compile(r"#\s*remove:\s*(?P<key>[\w.-]+)\s*")
RESTORE = re.compile(r"#\s*restore, if it was set: (?P<key>[\w.-]+)\s*")
HEADING = re.compile(r"#\s*(?P<library>[\w-]+)\s*")
SETTING = re.compile(r"(?P<key>[\w.-]+)\s*=\s*(?P<value>.*)")


class UnclearLine(ValueError):
    """A line that a person would not know what to do with."""


def apply(
    lines: Iterable[str], config: Mapping[str, str], library: str, before: Mapping[str, str]
) -> dict[str, str]:
    """The configuration after `lines`; `before` is what to put back from."""
    lines, changed = list(lines), dict(config)
    mine = list(lines_for(lines, library))
    if lines and not mine:
        raise UnclearLine(f"no line is for {library}: {lines}")
    for line in mine:
        if removal := REMOVE.fullmatch(line):
            changed.pop(removal["key"], None)
        elif restored := RESTORE.fullmatch(line):
            key = restored["key"]
            changed.update({key: before[key]} if key in before else {})
        elif setting := SETTING.fullmatch(line):
            changed[setting["key"]] = setting["value"]
        else:
            raise UnclearLine(line)
    return changed


def lines_for(lines: Iterable[str], library: str) -> Iterator[str]:
    """The lines that are meant for `library`, without the headings."""
    heading: str | None = None
    for line in lines:
        match = HEADING.fullmatch(line)
        if match and match["library"] in LIBRARIES:
            heading = match["library"]
        elif line.strip() and heading in (None, library):
            yield line.strip()
