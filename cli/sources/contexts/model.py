"""The model of contexts, and which one is current."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from cli.render.output_format import OutputFormat

MAX_NAME = 64
_NAME = re.compile(r"\w[\w.@:+-]*")

_SECRET_WORDS = ("password", "passphrase", "secret", "jaas.config")
_SECRET_KEYS = frozenset(
    {
        "sasl.kerberos.kinit.cmd",
        "sasl.oauthbearer.assertion.private.key.pem",
        "sasl.oauthbearer.config",
        "ssl.key.pem",
        "ssl.keystore.key",
    }
)
_USER_INFO = re.compile(r"://[^/\s]*@")


def is_name(text: str) -> bool:
    """Whether this is a valid context name: letters, digits and `. _ - @ : +`, a letter or digit first."""
    return len(text) <= MAX_NAME and _NAME.fullmatch(text) is not None


NAME_RULE = (
    "a name consists of letters, digits and . _ - @ : +, starts with a letter or digit, "
    f"and has at most {MAX_NAME} characters"
)


def is_secret(key: str, value: str) -> bool:
    """Whether a value must not be shown: its key is secret, or it contains a private key or a URL's password."""
    has_key = key in _SECRET_KEYS or any(word in key for word in _SECRET_WORDS)
    return has_key or "PRIVATE KEY" in value or _USER_INFO.search(value) is not None


class SourceKind(Enum):
    LIVE = "live"
    SNAPSHOT = "snapshot"
    LOG = "log"
    EMBEDDED = "embedded"


class ValueStore(Enum):
    LITERAL = "literal"  # The value is in the configuration file itself
    ENVIRONMENT = "environment"
    FILE = "file"
    COMMAND = "command"  # A command prints it, each time the context is used


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyValue:
    """A client property of a context. `text` is the value, a variable's or file's name, or a command; repr hides it."""

    key: str
    store: ValueStore
    text: str

    def __repr__(self) -> str:
        return f"PropertyValue(key={self.key!r}, keeper={self.store})"

    @property
    def is_secret(self) -> bool:
        return self.store is not ValueStore.LITERAL or is_secret(self.key, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextOrigin:
    """Where a context was read: the file, its text, which may contain secrets, and the path to the context in it."""

    file: Path
    text: str = field(repr=False)
    steps: tuple[str, ...]

    def position(self, *steps: str) -> tuple[int, int] | tuple[None, None]:
        """Line and column of a value of the context, from 1."""
        from groups.yaml_files import position_of

        return position_of(self.text, (*self.steps, *steps)) or (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A named source, and its defaults. Paths are absolute; None means not set."""

    name: str
    origin: ContextOrigin = field(compare=False)
    kind: SourceKind
    bootstrap_server: str | None = None
    command_config: Path | None = None
    cluster_id: str | None = None
    properties: tuple[PropertyValue, ...] = ()
    snapshot: Path | None = None
    embedded: Path | None = None
    log_dirs: tuple[Path, ...] = ()
    as_of: str | None = None
    topics: Path | None = None
    timeout_ms: int | None = None
    output: OutputFormat | None = None
    protected: bool = False

    @property
    def place(self) -> str:
        """The source as text for people: bootstrap servers or paths."""
        if self.kind is SourceKind.LIVE:
            return self.bootstrap_server or f"the bootstrap.servers of {self.command_config}"
        if self.kind is SourceKind.LOG:
            return ", ".join(map(str, self.log_dirs))
        return str(self.snapshot or self.embedded)

    @property
    def literal_secrets(self) -> tuple[str, ...]:
        """The keys whose secrets are in the configuration file itself."""
        literals = (value for value in self.properties if value.store is ValueStore.LITERAL)
        return tuple(value.key for value in literals if value.is_secret)

    @property
    def warning(self) -> str | None:
        keys = self.literal_secrets
        if not keys:
            return None
        return (
            f"{self.origin.file} contains secrets of the context {self.name} ({', '.join(keys)}); "
            f"keep them in files or variables instead: {keys[0]}: {{file: PATH}} or {{env: NAME}}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """All contexts, by name. `path` is their directory, or their single file; `current` is one of them, or None."""

    path: Path
    current: str | None
    by_name: Mapping[str, Context]
