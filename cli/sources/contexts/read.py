"""Read contexts; every error names file, line and column, and never a value that may be a secret."""

import os
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import yaml

from cli.errors import UsageError
from cli.render.output_format import OutputFormat
from cli.sources.contexts.location import (
    VARIABLE,
    Location,
    config_text,
    context_location,
    home_directory,
    others_can_read,
)
from cli.sources.contexts.model import (
    NAME_RULE,
    Context,
    ContextOrigin,
    Contexts,
    PropertyValue,
    SourceKind,
    ValueStore,
    is_name,
    is_secret,
)
from cli.times import TIMEOUT_BOUNDS_S
from groups.times import read_moment
from groups.trees import Between, Malformed, Trees, dotted
from groups.yaml_files import MAX_DEPTH, TreeError, load_tree, position_of
from wire.client.config.config_file import ConfigFileError
from wire.suggestion import closest

FORMAT = "1"
CURRENT = "current"
SUFFIX = ".yaml"
MAX_CONTEXTS = 1_000
MAX_MESSAGE = 300
NAMED = 10
_KINDS = {
    "bootstrap_server": SourceKind.LIVE, "command_config": SourceKind.LIVE, "cluster_id": SourceKind.LIVE,
    "properties": SourceKind.LIVE, "snapshot": SourceKind.SNAPSHOT, "log_dirs": SourceKind.LOG,
    "as_of": SourceKind.LOG, "topics": SourceKind.LOG, "embedded": SourceKind.EMBEDDED,
}  # fmt: skip
_NO_SOURCES = frozenset({"as_of", "topics", "cluster_id", "properties"})  # Keys that only complete a source
_NAMING = "bootstrap_server, command_config, snapshot, log_dirs or embedded"
_LISTS = ("bootstrap_server", "log_dirs")  # Keys with a value or a list of values

_Timeout = Annotated[int, Between(int(TIMEOUT_BOUNDS_S[0] * 1000), int(TIMEOUT_BOUNDS_S[1] * 1000), "ms")]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A context as its file contains it, without its properties."""

    bootstrap_server: tuple[str, ...] = ()
    command_config: str | None = None
    cluster_id: str | None = None
    snapshot: str | None = None
    embedded: str | None = None
    log_dirs: tuple[str, ...] = ()
    as_of: str | None = None
    topics: str | None = None
    timeout_ms: _Timeout | None = None
    output: OutputFormat | None = None
    protected: bool = False


_TREES = Trees()


class _Blank(Malformed):
    """A value is empty, as written by a script that lacks it: a mistake of the command's user."""


def load_contexts(*, may_be_missing: bool = False) -> Contexts | None:
    """The contexts of the directory or the single file; None if there is neither. ConfigFileError if they cannot be
    read or trusted, or, unless it `may_be_missing`, if KOHORT_CONFIG names something that does not exist."""
    location = context_location()
    if location is None:
        return None
    if not os.path.lexists(location.path):
        if os.environ.get(VARIABLE) and not may_be_missing:
            missing = f"{VARIABLE} names this file, but it does not exist. Check the path."
            raise ConfigFileError(location.file or location.directory, None, missing)
        return None
    return contexts_at(location)


def contexts_at(location: Location) -> Contexts:
    """The contexts of a location that exists. Raises ConfigFileError: as `load_contexts`."""
    if location.is_single:
        return read_single(location.path, config_text(location.path))
    files = ContextFiles(location.directory)
    return Contexts(path=location.directory, current=_current(files), by_name=files)


class ContextFiles(Mapping[str, Context]):
    """The contexts of a directory, by name and in this order; each file is read when its context is asked for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            files = sorted(directory.glob(f"*{SUFFIX}"))
        except OSError as error:
            raise ConfigFileError(directory, None, f"cannot be read: {error.strerror or error}.") from None
        self._read: dict[str, Context] = {}
        self._files = {file.name.removesuffix(SUFFIX): file for file in files if is_name(file.stem)}
        if len(self._files) > MAX_CONTEXTS:
            raise ConfigFileError(directory, None, f"more than {MAX_CONTEXTS} contexts.")

    def __getitem__(self, name: str) -> Context:
        if name not in self._read:
            file = self._files[name]
            text = config_text(file)
            origin = ContextOrigin(file=file, text=text, steps=())
            self._read[name] = read_context(name, _loaded(file, text), origin, self.directory.parent)
            check_privacy([self._read[name]])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


def _current(contexts: ContextFiles) -> str | None:
    """The name in the file `current`. It may be that of a context that was removed by hand: `in_use` refuses it."""
    try:
        return config_text(contexts.directory / CURRENT).strip() or None
    except FileNotFoundError:
        return None


def read_single(path: Path, text: str) -> Contexts:
    """The contexts of a single file; relative paths in it start at its directory. Raises ConfigFileError."""
    tree = _loaded(path, text)

    def refused(message: str, *steps: str) -> ConfigFileError:
        return _error(path, text, Malformed(message, *steps))

    if tree is None:
        return Contexts(path=path, current=None, by_name={})
    if not isinstance(tree, dict):
        raise refused("the file must be a mapping: lines of NAME: VALUE")
    for key in tree:
        if key not in ("kohort", CURRENT, "contexts"):
            raise refused(f"not a key of the file{suggestion(key, ('current', 'contexts'))}", key)
    if str(tree.get("kohort", FORMAT)) != FORMAT:
        raise refused(f"unknown format; this version reads {FORMAT}", "kohort")
    entries, current = tree.get("contexts") or {}, tree.get(CURRENT)
    if not isinstance(entries, dict) or len(entries) > MAX_CONTEXTS:
        raise refused(f"expected a mapping of at most {MAX_CONTEXTS} contexts by name", "contexts")
    contexts: dict[str, Context] = {}
    for name, entry in entries.items():
        if not is_name(name):
            raise refused(f"this is not a valid context name: {NAME_RULE}", "contexts", name)
        origin = ContextOrigin(file=path, text=text, steps=("contexts", name))
        contexts[name] = read_context(name, entry, origin, path.parent.absolute())
    if current is not None and (not isinstance(current, str) or current not in contexts):
        near = suggestion(str(current), contexts) or f"; the file contains {listed_names(contexts)}"
        raise refused(f"there is no such context{near}", CURRENT)
    check_privacy(contexts.values())
    return Contexts(path=path, current=current, by_name=contexts)


def check_privacy(contexts: Iterable[Context]) -> None:
    """ConfigFileError if a file itself contains secrets, and others can read it."""
    for context in contexts:
        file = context.origin.file
        if context.literal_secrets and file.exists() and others_can_read(file.stat()):
            raise ConfigFileError(
                file, context.origin.position()[0], f"the context {context.name} keeps a secret in this file "
                f"({context.literal_secrets[0]}), and other users can read it. Run: chmod 600 {file}"
            )  # fmt: skip


def _loaded(path: Path, text: str) -> Any:
    _refuse_references(path, text)
    try:
        return load_tree(path, text) if text.strip() else None
    except TreeError as error:
        raise ConfigFileError(path, error.line, error.message[:MAX_MESSAGE], column=error.column) from None


def _refuse_references(path: Path, text: str) -> None:
    """Refuse anchors, aliases and tags: each may be a password without quotes, shown or read as empty."""
    events: Iterator[Any] = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    depth = 0
    with suppress(yaml.YAMLError):  # `load_tree` reports it, and a text that is nested too deep
        for event in events:
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                return
            is_tagged = getattr(event, "tag", None) not in (None, "!")
            if is_tagged or getattr(event, "anchor", None) is not None:
                line, column = event.start_mark.line + 1, event.start_mark.column + 1
                message = "anchors, aliases and tags (&, * and !) are not supported here; quote the value."
                raise ConfigFileError(path, line, message, column=column)


def read_context(name: str, tree: object, origin: ContextOrigin, base: Path) -> Context:
    """A context from its tree; relative paths start at `base`. ConfigFileError if it is invalid."""
    try:
        if not isinstance(tree, dict):
            raise Malformed(f"the context {name} must be a mapping: lines of NAME: VALUE")
        for key, value in tree.items():
            _check_given(key, value)
        entry = {
            key: [value] if key in _LISTS and not isinstance(value, list) else value
            for key, value in tree.items()
            if key != "properties"
        }
        read: _Entry = _TREES.read(_Entry, entry)
        kind = _kind(name, tree)
        servers = _servers(read.bootstrap_server) if "bootstrap_server" in tree else None
        texts = ((key, getattr(read, key)) for key in ("command_config", "snapshot", "embedded", "topics"))
        paths: dict[str, Any] = {key: _located(base, text, key) for key, text in texts if text is not None}
        properties = tree.get("properties") or {}
        if not isinstance(properties, dict):
            raise Malformed("expected a mapping of client properties: lines of NAME: VALUE", "properties")
        values = tuple(_property(key, value, base) for key, value in properties.items())
        log_dirs = tuple(_located(base, path, "log_dirs") for path in read.log_dirs)
        if read.as_of is not None:
            try:
                read_moment(read.as_of, 0)
            except ValueError as error:
                raise Malformed(str(error), "as_of") from None
        return Context(
            name=name, origin=origin, kind=kind, bootstrap_server=servers, properties=values, log_dirs=log_dirs,
            cluster_id=read.cluster_id, as_of=read.as_of, timeout_ms=read.timeout_ms, output=read.output,
            protected=read.protected, **paths,
        )  # fmt: skip
    except Malformed as error:
        error.path = (*origin.steps, *error.path)
        refused = _error(origin.file, origin.text, error)
        raise UsageError(str(refused)) if isinstance(error, _Blank) else refused from None


def _error(path: Path, text: str, error: Malformed) -> ConfigFileError:
    line, column = position_of(text, error.path) or (None, None)
    # A misplaced value may be a secret.
    is_shown = error.path and not any(is_secret("", str(step)) for step in error.path)
    field = f"{dotted(error.path)}: " if is_shown else ""
    ending = "" if error.message.endswith((".", "?")) else "."
    message = f"{field}{error.message[:MAX_MESSAGE]}{ending}"
    return ConfigFileError(path, line, message, column=column)


def _check_given(key: str, value: object) -> None:
    if value == []:
        raise Malformed("no value is given", key)
    for item in value if isinstance(value, list) else [value]:
        if key != "properties" and (item is None or (isinstance(item, str) and not item.strip())):
            raise _Blank("no value is given", key)


def _kind(name: str, tree: Mapping[str, object]) -> SourceKind:
    """The kind of source that a context names, and Malformed if it names none, or more than one."""
    naming = [key for key in tree if key in _KINDS]
    kinds = {_KINDS[key] for key in naming}
    if len(kinds) > 1:
        other = next(key for key in naming if _KINDS[key] is not _KINDS[naming[0]])
        raise Malformed(f"{naming[0]} and {other} name different sources; a context names one", other)
    if not set(naming) - _NO_SOURCES:
        missing = "log_dirs" if kinds == {SourceKind.LOG} else "bootstrap_server" if kinds else _NAMING
        raise Malformed(f"the context {name} names no source; add {missing}", *naming[:1])
    if "properties" in tree and "command_config" in tree:
        raise Malformed("command_config and properties cannot be used together; keep one", "properties")
    if "properties" in tree and "bootstrap_server" not in tree:
        raise Malformed("properties need a bootstrap_server in the same context", "properties")
    return kinds.pop()


def _servers(parts: Collection[str]) -> str:
    from wire.client.address import parse_bootstrap
    from wire.client.errors import InvalidAddress

    servers = ",".join(server.strip() for part in parts for server in part.split(","))
    if parts and not all(servers.split(",")):
        raise _Blank("a server is empty", "bootstrap_server")
    if is_secret("", servers):
        raise Malformed("expected HOST:PORT, without user and password", "bootstrap_server")
    try:
        parse_bootstrap(servers)
    except InvalidAddress as error:
        raise Malformed(str(error), "bootstrap_server") from None
    return servers


def _located(base: Path, text: str, *steps: str) -> Path:
    """An absolute path: as written, from ~ or from the directory of the configuration file."""
    if "\0" in text:
        raise _Blank("not a path: a NUL character is invalid", *steps)
    if text == "~" or text.startswith("~/"):
        home = home_directory(os.environ)
        if not home:
            raise _Blank(f"{text!r} is in a home directory, and HOME is empty; set it", *steps)
        return Path(home + text[1:])
    return base / text


def _property(key: str, value: object, base: Path) -> PropertyValue:
    """A property. No message quotes its value, or a key inside the value, which may be a misplaced secret."""
    steps = ("properties", key)
    if key in ("bootstrap.servers", "metadata.broker.list"):
        raise Malformed("already set by bootstrap_server; remove it here", *steps)
    if isinstance(value, list):
        raise Malformed("a list is not allowed; join the values with commas", *steps)
    if not isinstance(value, dict):
        text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
        return PropertyValue(key=key, store=ValueStore.LITERAL, text=text)
    stores = {"env": ValueStore.ENVIRONMENT, "file": ValueStore.FILE, "command": ValueStore.COMMAND}
    if len(value) != 1 or not value.keys() <= stores.keys():
        raise Malformed("give one of {env: NAME}, {file: PATH} and {command: TEXT}", *steps)
    ((name, text),) = value.items()
    if not isinstance(text, str) or not text.strip():
        raise _Blank(f"{name}: no value is given", *steps)
    if name == "file":
        text = str(_located(base, text, *steps))
    elif name == "env" and ("=" in text or "\0" in text):
        raise Malformed("env expects the name of a variable, not a value", *steps)
    elif name == "command":
        try:
            words = shlex.split(text)
        except ValueError:
            raise Malformed("the command has an unclosed quote", *steps) from None
        if not words:
            raise Malformed("the command is empty", *steps)
    return PropertyValue(key=key, store=stores[name], text=text)


def suggestion(name: str, known: Iterable[str]) -> str:
    """Like `did_you_mean`, but a dash in place of an underscore makes no difference."""
    options = {candidate.replace("-", "_"): candidate for candidate in known}
    near = closest(name.replace("-", "_"), options)
    return f"; did you mean {options[near]}?" if near else ""


def listed_names(names: Collection[str]) -> str:
    """Some of the names, for a message."""
    first = ", ".join(sorted(names)[:NAMED])
    return f"{first} and {len(names) - NAMED} more" if len(names) > NAMED else first or "none"
