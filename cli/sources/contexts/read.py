"""Convert the tree of a configuration file to contexts; every error names line and column."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from cli.errors import UsageError
from cli.render.output_format import OutputFormat
from cli.sources.contexts.model import (
    NAME_RULE,
    Context,
    Contexts,
    PropertyValue,
    SourceKind,
    ValueStore,
    is_name,
    is_secret,
)
from cli.sources.contexts.nodes import (
    MAX_SHOWN,
    Items,
    MalformedText,
    MappingEntry,
    MappingNode,
    Node,
    ScalarNode,
    TextSpan,
    clipped,
    parse_nodes,
)
from cli.times import read_timeout
from groups.times import read_moment
from wire.client.config.config_file import ConfigFileError
from wire.suggestion import closest

FORMAT = "1"
MAX_CONTEXTS = 1_000
MAX_SAID = 200
NAMED = 10
_TOP = ("kohort", "current", "contexts")
_KINDS = {
    "bootstrap_server": SourceKind.LIVE,
    "command_config": SourceKind.LIVE,
    "cluster_id": SourceKind.LIVE,
    "properties": SourceKind.LIVE,
    "snapshot": SourceKind.SNAPSHOT,
    "log_dirs": SourceKind.LOG,
    "as_of": SourceKind.LOG,
    "topics": SourceKind.LOG,
    "embedded": SourceKind.EMBEDDED,
}
_NAMING = "bootstrap_server, command_config, snapshot, log_dirs or embedded"
_KNOWN = (*_KINDS, "timeout_ms", "output", "protected")


def read_contexts(path: Path, text: str) -> Contexts:
    """The contexts of a text; `path` is for messages and for paths that are relative to the file.

    :raises ConfigFileError: with line and column, and never a value that may be a secret
    """
    try:
        root = parse_nodes(text)
    except MalformedText as error:
        raise ConfigFileError(path, error.line, f"{error}.", column=error.column) from None
    return _Reader(path).contexts(root)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path

    def contexts(self, root: Node | None) -> Contexts:
        if root is None:
            return Contexts(path=self.path, current=None, by_name={})
        top = self._fields(root, "the file")
        self._check_keys(top.entries.values(), _TOP, "of the file")
        version = top.entries.get("kohort")
        if version is not None and self._text(version) != FORMAT:
            raise self._error(version.value.span, f"kohort: unknown format; this version reads {FORMAT}.")
        found: dict[str, Context] = {}
        listed = top.entries.get("contexts")
        if listed is not None and not _is_null(listed.value):
            named = self._fields(listed.value, "contexts")
            if len(named.entries) > MAX_CONTEXTS:
                raise self._error(named.span, f"more than {MAX_CONTEXTS} contexts.")
            found = {name: self._context(entry) for name, entry in named.entries.items()}
        return Contexts(
            path=self.path, current=self._current(top.entries.get("current"), found), by_name=found
        )

    def _current(self, entry: MappingEntry | None, found: dict[str, Context]) -> str | None:
        if entry is None or _is_null(entry.value):
            return None
        name = self._text(entry)
        if name not in found:
            hint = suggestion(name, found) or f". The file contains {listed_names(found)}."
            raise self._error(entry.value.span, f"current: there is no context {clipped(name)!r}{hint}")
        return name

    def _context(self, entry: MappingEntry) -> Context:
        if not is_name(entry.name):
            raise self._error(
                entry.key.span, f"{clipped(entry.name)!r} is not a valid context name: {NAME_RULE}."
            )
        entries = self._fields(entry.value, f"the context {entry.name}").entries
        self._check_keys(entries.values(), _KNOWN, "of a context")
        kind = self._kind(entry, entries)
        if "command_config" in entries and "properties" in entries:
            raise self._error(
                entries["properties"].key.span,
                "command_config and properties cannot be used together; keep one.",
            )
        if "properties" in entries and "bootstrap_server" not in entries:
            raise self._error(
                entries["properties"].key.span, "properties need a bootstrap_server in the same context."
            )
        given: dict[str, Any] = {key: _READERS[key](self, each) for key, each in entries.items()}
        return Context(name=entry.name, line=entry.key.span.line, kind=kind, **given)

    def _kind(self, entry: MappingEntry, entries: dict[str, MappingEntry]) -> SourceKind:
        given = [name for name in entries if name in _KINDS]
        kinds = {_KINDS[name] for name in given}
        if len(kinds) > 1:
            other = next(name for name in given if _KINDS[name] is not _KINDS[given[0]])
            raise self._error(
                entries[other].key.span,
                f"{given[0]} and {other} name different sources; a context names one.",
            )
        if not kinds or not set(given) - {"as_of", "topics", "cluster_id", "properties"}:
            span = entries[given[0]].key.span if given else entry.key.span
            wanted = "log_dirs" if kinds == {SourceKind.LOG} else "bootstrap_server" if kinds else _NAMING
            raise self._error(span, f"the context {entry.name} names no source; add {wanted}.")
        return kinds.pop()

    def _servers(self, entry: MappingEntry) -> str:
        node = entry.value
        parts = (
            [self._word(each, entry.name) for each in node.nodes]
            if isinstance(node, Items)
            else [self._text(entry)]
        )
        from wire.client.address import parse_bootstrap
        from wire.client.errors import InvalidAddress

        servers = ",".join(server.strip() for part in parts for server in part.split(","))
        if parts and not all(servers.split(",")):
            raise UsageError(str(self._error(node.span, "bootstrap_server: a server is empty.")))
        if is_secret("", servers):
            raise self._error(node.span, "bootstrap_server: expected HOST:PORT, without user and password.")
        try:
            parse_bootstrap(servers)
        except InvalidAddress as error:
            raise self._error(node.span, f"bootstrap_server: {clipped(str(error), MAX_SAID)}.") from None
        return servers

    def _properties(self, entry: MappingEntry) -> tuple[PropertyValue, ...]:
        if _is_null(entry.value):
            return ()
        return tuple(map(self._property, self._fields(entry.value, "properties").entries.values()))

    def _property(self, entry: MappingEntry) -> PropertyValue:
        if entry.name in ("bootstrap.servers", "metadata.broker.list"):
            raise self._error(
                entry.key.span, f"{entry.name} is already set by bootstrap_server; remove it here."
            )
        store, text = ValueStore.LITERAL, ""
        if isinstance(entry.value, MappingNode):
            store, text = self._kept(entry.name, entry.value)
        elif isinstance(entry.value, ScalarNode):
            text = entry.value.text or ""
        else:
            raise self._error(
                entry.value.span, f"{entry.name}: a list is not allowed; join the values with commas."
            )
        span = entry.key.span
        return PropertyValue(key=entry.name, store=store, text=text, line=span.line, column=span.column)

    def _kept(self, key: str, where: MappingNode) -> tuple[ValueStore, str]:
        self._check_keys(where.entries.values(), ("env", "file", "command"), f"of {key}")
        if len(where.entries) != 1:
            raise self._error(
                where.span, f"{key}: give one of {{env: NAME}}, {{file: PATH}} and {{command: TEXT}}."
            )
        entry = next(iter(where.entries.values()))
        if entry.name == "file":
            return ValueStore.FILE, str(self._path(entry))
        if entry.name == "command":
            return ValueStore.COMMAND, self._command(entry, key)
        name = self._text(entry)
        if "=" in name or "\0" in name:
            raise self._error(entry.value.span, f"{key}: env expects the name of a variable, not a value.")
        return ValueStore.ENVIRONMENT, name

    def _command(self, entry: MappingEntry, key: str) -> str:
        text = self._text(entry)
        try:
            words = shlex.split(text)
        except ValueError:
            raise self._error(entry.value.span, f"{key}: the command has an unclosed quote.") from None
        if not words:
            raise self._error(entry.value.span, f"{key}: the command is empty.")
        return text

    def _paths(self, entry: MappingEntry) -> tuple[Path, ...]:
        nodes = entry.value.nodes if isinstance(entry.value, Items) else (entry.value,)
        if not nodes:
            raise self._error(entry.value.span, f"{entry.name}: name at least one directory.")
        return tuple(self._located(self._word(node, entry.name)) for node in nodes)

    def _path(self, entry: MappingEntry) -> Path:
        return self._located(self._text(entry))

    def _located(self, text: str) -> Path:
        """An absolute path: as written, from ~ or from the directory of the configuration file."""
        path = Path(text)
        if "\0" in text:
            raise UsageError(f"{self.path}: {text!r} is not a path: a NUL character is invalid")
        if text == "~" or text.startswith("~/"):
            if os.environ.get("HOME") == "":
                raise UsageError(f"{self.path}: {text!r} is in a home directory, and HOME is empty; set it")
            path = path.expanduser()
        return self.path.parent.absolute() / path

    def _milliseconds(self, entry: MappingEntry) -> int:
        text = self._text(entry)
        try:
            return read_timeout(text)
        except ValueError as error:
            raise self._error(entry.value.span, f"{entry.name}: {clipped(str(error), MAX_SAID)}.") from None

    def _moment(self, entry: MappingEntry) -> str:
        text = self._text(entry)
        try:
            read_moment(text, 0)
        except ValueError as error:
            raise self._error(entry.value.span, f"{entry.name}: {clipped(str(error), MAX_SAID)}.") from None
        return text

    def _output(self, entry: MappingEntry) -> OutputFormat:
        text = self._text(entry)
        try:
            return OutputFormat(text)
        except ValueError:
            names = [each.value for each in OutputFormat]
            hint = suggestion(text, names) or f"; it is one of {', '.join(names)}."
            raise self._error(
                entry.value.span, f"output: {clipped(text)!r} is not an output format{hint}"
            ) from None

    def _flag(self, entry: MappingEntry) -> bool:
        text = self._text(entry)
        if text not in ("true", "false"):
            raise self._error(entry.value.span, f"{entry.name}: {clipped(text)!r} is neither true nor false.")
        return text == "true"

    def _text(self, entry: MappingEntry) -> str:
        return self._word(entry.value, entry.name)

    def _word(self, node: Node, name: str) -> str:
        if not isinstance(node, ScalarNode):
            raise self._error(node.span, f"{name}: expected a single value.")
        if not (node.text or "").strip():
            raise UsageError(str(self._error(node.span, f"{name}: no value is given.")))
        return node.text or ""

    def _fields(self, node: Node, what: str) -> MappingNode:
        if isinstance(node, MappingNode):
            return node
        raise self._error(node.span, f"{what} must be a mapping: lines of NAME: VALUE.")

    def _check_keys(self, entries: Iterable[MappingEntry], known: Iterable[str], of_what: str) -> None:
        for entry in entries:
            if entry.name not in known:
                hint = suggestion(entry.name, known) or f". Known are {', '.join(known)}."
                # A misplaced value may be a secret.
                is_shown = len(entry.name) <= MAX_SHOWN and not is_secret(of_what, entry.name)
                name = entry.name if is_shown else "this"
                raise self._error(entry.key.span, f"{name} is not a key {of_what}{hint}")

    def _error(self, span: TextSpan, message: str) -> ConfigFileError:
        return ConfigFileError(self.path, span.line, message, column=span.column)


_READERS: Mapping[str, Callable[[_Reader, MappingEntry], Any]] = {
    "bootstrap_server": _Reader._servers,
    "command_config": _Reader._path,
    "cluster_id": _Reader._text,
    "properties": _Reader._properties,
    "snapshot": _Reader._path,
    "embedded": _Reader._path,
    "log_dirs": _Reader._paths,
    "as_of": _Reader._moment,
    "topics": _Reader._path,
    "timeout_ms": _Reader._milliseconds,
    "output": _Reader._output,
    "protected": _Reader._flag,
}
"""Readers by key, which is also the field's name."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """Like `did_you_mean`, but a dash in place of an underscore makes no difference."""
    options = {each.replace("-", "_"): each for each in known}
    near = closest(name.replace("-", "_"), options)
    return f"; did you mean {options[near]}?" if near else ""


def listed_names(names: Collection[str]) -> str:
    """Some of the names, for a message."""
    first = ", ".join(sorted(names)[:NAMED])
    return f"{first} and {len(names) - NAMED} more" if len(names) > NAMED else first or "none"


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.text is None
