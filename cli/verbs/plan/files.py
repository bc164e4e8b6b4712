"""The files of plans: the members' configuration and libraries, and plans written by `kohort plan --output yaml`."""

import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cli.errors import CommandError, UsageError
from groups.client_library import canonical_library
from groups.trees import Malformed
from groups.yaml_files import TreeError, line_of, load_tree
from groups.yaml_files import read_text as read_plan_text
from migration.client_config import ClientConfig, kafka_key, kept, library_by_keys, of_consumers
from migration.clients import parse_clients
from migration.config_forms import ConfigContent, TooManyValues, read_config
from migration.model import Plan
from migration.plan_file import plan_from_data
from wire.client.config.config_file import ConfigFileError, read_text
from wire.java_text import BadProperty

MAX_BYTES = 4 * 1024 * 1024
"""Maximum file size: no configuration is a hundredth of this; a list of 50,000 members fits."""


def read_client_config(value: str) -> ClientConfig:
    """The file of one `--client-config`: `FILE`, `LIBRARY=FILE` or `MEMBER=FILE`."""
    owner, file = _owner_and_file(value)
    library = None
    with suppress(ValueError):
        library = owner and canonical_library(owner)
    content = _content(file, _text(file))
    entries = content.entries
    inferred, known_by = library_by_keys(entries)
    return ClientConfig(
        name=str(file),
        settings=tuple(kept(of_consumers(entries, library or inferred))),
        library=library or inferred,
        known_by="declared" if library else known_by,
        member=owner if library is None else None,
        is_for_library=library is not None,
        is_recognized=any(kafka_key(written) for written, _, _ in entries),
        unread=content.unread,
    )


def _owner_and_file(value: str) -> tuple[str | None, Path]:
    """The owner and the file of a value. A file name may contain `=`: an existing file has no owner."""
    owner, equals, rest = value.partition("=")
    if not equals or Path(value).exists():
        return None, Path(value)
    if not owner or not rest:
        raise UsageError(f"--client-config {value!r}: expected FILE, LIBRARY=FILE or MEMBER=FILE")
    # A member id may contain `=` too: the last one separates, unless the text after the first one is a file.
    if not Path(rest).exists():
        owner, _, rest = value.rpartition("=")
    return owner, Path(rest)


def read_clients(file: Path) -> tuple[str, ...]:
    """The entries of a file of members, as values of `--client`: `MEMBER=LIBRARY[:VERSION]`. YAML or JSON `MEMBER:
    LIBRARY[:VERSION]`, or CSV lines `MEMBER,LIBRARY[:VERSION]` or `MEMBER,LIBRARY,VERSION` with or without a heading.
    Raises ConfigFileError: it cannot be read, or a line is malformed."""
    text = _text(file)
    pairs = _listed(file, text) if file.suffix.lower() == ".csv" else _mapped(file, text)
    values: dict[str, str] = {}
    for member, client, line in pairs:
        if not member or not client:
            raise ConfigFileError(file, line, "expected both MEMBER and LIBRARY[:VERSION].")
        if values.get(member, client) != client:
            raise ConfigFileError(file, line, f"{member!r} is listed twice, with different libraries.")
        try:
            parse_clients([f"member={client}"])
        except ValueError as error:
            raise ConfigFileError(file, line, f"{error}.") from None
        values[member] = client
    if not values:
        raise ConfigFileError(file, None, "names no member. Write MEMBER: LIBRARY[:VERSION] lines.")
    return tuple(f"{member}={client}" for member, client in values.items())


def _listed(file: Path, text: str) -> Iterator[tuple[str, str, int]]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells) or (reader.line_num == 1 and cells[0].lower() == "member"):
                continue
            if len(cells) not in (2, 3):
                found = f"expected MEMBER,LIBRARY[,VERSION], found {len(cells)} values."
                raise ConfigFileError(file, reader.line_num, found)
            yield cells[0], ":".join(cell for cell in cells[1:] if cell), reader.line_num
    except csv.Error as error:
        raise ConfigFileError(file, reader.line_num, f"not CSV: {error}.") from None


def _mapped(file: Path, text: str) -> Iterator[tuple[str, str, int | None]]:
    try:
        tree = load_tree(file, text)
    except TreeError as error:
        raise ConfigFileError(file, error.line, f"{error.message}.") from None
    if not isinstance(tree, dict):
        raise ConfigFileError(file, 1, "expected a mapping MEMBER: LIBRARY[:VERSION].")
    for member, client in tree.items():
        if not isinstance(client, str):
            line = line_of(text, [member])
            raise ConfigFileError(file, line, f"{member}: expected LIBRARY[:VERSION].")
        yield str(member), client.strip(), None


def _text(file: Path) -> str:
    text = read_text(file)
    if len(text) > MAX_BYTES:
        size = f"has more than {MAX_BYTES} characters"
        raise ConfigFileError(file, None, f"{size}; it is not a configuration file.")
    return text


def _content(file: Path, text: str) -> ConfigContent:
    try:
        return read_config(file.name, text)
    except BadProperty as error:
        raise ConfigFileError(file, error.line, f"{error}.") from None
    except TreeError as error:
        raise ConfigFileError(file, error.line, f"{error.message}.") from None
    except TooManyValues as error:
        raise ConfigFileError(file, None, f"{error}.") from None


MAX_LINED = 1024 * 1024
"""Larger files are not reread to find the line of an error: that takes some hundred times their size in memory."""


def read_plan(file: Path) -> Plan:
    """The plan of a file. CommandError if it cannot be read, UsageError if it does not contain a valid plan."""
    if file == Path("-") and not file.exists():
        raise UsageError("a plan is read from a file, not from standard input: gates keep notes next to it")
    try:
        text = read_plan_text(file)
        return plan_from_data(load_tree(file, text))
    except TreeError as error:
        raise CommandError(str(error)) from None
    except Malformed as error:
        line = line_of(text, error.path) if error.path and len(text) <= MAX_LINED else None
        raise UsageError(f"{file}{f':{line}' if line else ''}: {error}") from None
