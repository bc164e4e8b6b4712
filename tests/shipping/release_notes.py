"""`make release-notes VERSION=…`: what CHANGELOG.md has under a version, or under Unreleased."""

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
_HEADING = re.compile(r"^## \[?(?P<version>[^\]\s]+)\]?(?: - (?P<date>\d{4}-\d\d-\d\d))?\n", re.M)


def sections(text: str) -> dict[str, str]:
    """What is under each heading of a version, in order, in the form of Keep a Changelog."""
    heads = list(_HEADING.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {head["version"]: text[head.end() : end].strip() for head, end in zip(heads, ends, strict=True)}


def notes(text: str, version: str) -> str:
    """The section of a version, as `1.2.0` or `v1.2.0`. :raises LookupError: there is none, or it is empty; the
    message names those that are there"""
    known = sections(text)
    name = version.removeprefix("v")
    if not known.get(name):
        state = "is empty" if name in known else f"is not there, but {', '.join(known) or 'no version'}"
        raise LookupError(f"CHANGELOG.md: the section {name} {state}")
    return known[name] + "\n"


if __name__ == "__main__":
    try:
        print(notes(CHANGELOG.read_text(encoding="utf-8"), sys.argv[1]), end="")
    except LookupError as error:
        sys.exit(f"make release-notes: {error}")
