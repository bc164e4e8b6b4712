"""Where the journal is: `--journal DIR`, else `KOHORT_JOURNAL`, else `$XDG_STATE_HOME/kohort`. It has a file for each
host and day, so that a team can share a directory without locks."""

import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from cli.errors import CommandError, UsageError

VARIABLE = "KOHORT_JOURNAL"
OFF = "off"  # The value of the variable for no journal
SUFFIX = ".jsonl"


def journal_directory(named: Path | None = None, environ: Mapping[str, str] | None = None) -> Path | None:
    """The directory, which need not exist; None if the variable turns the journal off. Raises UsageError: the variable
    is empty, or there is no home directory."""
    environ = os.environ if environ is None else environ
    if named is not None:
        return named
    value = environ.get(VARIABLE)
    if value is not None:
        if not value.strip():
            raise UsageError(f"{VARIABLE} is set, but empty: give it a directory or `{OFF}`, or unset it")
        return None if value.strip() == OFF else Path(value)
    return state_directory(environ)


def directory_to_read(named: Path | None) -> Path:
    """The directory to read. Raises UsageError: the journal is off. Raises CommandError: the named one is missing."""
    directory = journal_directory(named)
    if directory is None:
        raise UsageError(f"{VARIABLE}={OFF} turns the journal off: name its directory with --journal DIR")
    if named is not None and not named.is_dir():
        raise CommandError(f"{named}: there is no such directory, so there is no journal")
    return directory


def state_directory(environ: Mapping[str, str] | None = None) -> Path:
    """`$XDG_STATE_HOME/kohort`, by default ~/.local/state/kohort. UsageError if HOME is empty."""
    environ = os.environ if environ is None else environ
    home = environ.get("XDG_STATE_HOME")
    if not home and environ.get("HOME") == "":
        raise UsageError(
            "HOME is empty, so there is no directory for the journal: name one with --journal DIR"
        )
    return Path(home or Path.home() / ".local" / "state") / "kohort"


def file_name(host: str, day: datetime) -> str:
    """`broker-7.example-2026-11-29.jsonl`."""
    return f"{re.sub(r'[^A-Za-z0-9._-]', '_', host) or 'host'}-{day:%Y-%m-%d}{SUFFIX}"
