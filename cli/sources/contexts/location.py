"""Where contexts are stored: `NAME.yaml` in the directory `config.d`, whose file `current` names the current one. A
single file `config.yaml` is read if there is no directory; the first change replaces it (`cli.verbs.context.store`)."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cli.errors import UsageError
from wire.client.config.config_file import ConfigFileError, check_writers

VARIABLE = "KOHORT_CONFIG"
MAX_BYTES = 1024 * 1024  # Maximum size of a configuration file: a thousand contexts take a fifth of this
MAX_SECRET_BYTES = 64 * 1024  # Certificate chains with their keys take a fifth of this
_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The directory of contexts, and the single file that is read if there is no directory."""

    directory: Path
    file: Path | None

    @property
    def path(self) -> Path:
        """What is read; what `kohort context add` creates if there is neither."""
        return self.file if self.file is not None and self.is_single else self.directory

    @property
    def is_single(self) -> bool:
        return self.file is not None and os.path.lexists(self.file) and not self.directory.is_dir()


def context_location(environ: Mapping[str, str] | None = None) -> Location | None:
    """What `$KOHORT_CONFIG` names, else `$XDG_CONFIG_HOME/kohort/config.d`, by default below ~/.config. None if there
    is no home directory. Raises UsageError: KOHORT_CONFIG is empty."""
    environ = os.environ if environ is None else environ
    named = environ.get(VARIABLE)
    if named is not None:
        check_variable(VARIABLE, named)
        path = Path(named).absolute()
        is_file = path.suffix in _SUFFIXES or path.exists()
        if path.is_dir() or not is_file:
            return Location(directory=path, file=None)
        return Location(directory=path.with_suffix(".d"), file=path)
    home = environ.get("XDG_CONFIG_HOME") or ""
    # The XDG specification: relative paths in its variables must be ignored.
    if not os.path.isabs(home):
        home = os.path.join(home_directory(environ), ".config")
    if not os.path.isabs(home):
        return None
    base = Path(home) / "kohort"
    return Location(directory=base / "config.d", file=base / "config.yaml")


def home_directory(environ: Mapping[str, str]) -> str:
    """The home directory; empty if HOME is, which would otherwise be the root directory."""
    return "" if environ.get("HOME") == "" else os.path.expanduser("~")


def check_variable(name: str, value: str) -> None:
    """UsageError if a variable of the environment is set, but blank, as by a script that lacks its value."""
    if not value.strip():
        raise UsageError(f"{name} is set, but empty: give it a value, or unset it")


def config_text(path: Path) -> str:
    """The text of a configuration file that only this user and root can write. FileNotFoundError, ConfigFileError"""
    text, status = _read(path, MAX_BYTES)
    if status is not None:
        remedy = f"Make it yours: cp {path} FILE, and name that in {VARIABLE}."
        check_writers(path, status, "point Kohort at any cluster", remedy)
    return text


def others_can_read(status: os.stat_result) -> bool:
    return bool(status.st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def read_secret_file(path: Path) -> str:
    """A secret from its own file. ConfigFileError: unreadable, empty, another user's, or others can read it."""
    try:
        text, status = _read(path, MAX_SECRET_BYTES)
    except FileNotFoundError:
        raise ConfigFileError(path, None, "the file of a secret does not exist. Check the path.") from None
    if status is not None and status.st_uid not in (os.geteuid(), 0):
        raise ConfigFileError(
            path, None, "this secret belongs to another user. Keep it in a file of your own."
        )
    if status is not None and others_can_read(status):
        raise ConfigFileError(path, None, f"other users can read this secret. Run: chmod 600 {path}")
    text = text.removesuffix("\n").removesuffix("\r")
    if not text or "\0" in text:
        raise ConfigFileError(
            path, None, "this file contains no secret: it is empty or not text. Write it again."
        )
    return text


def _read(path: Path, limit: int) -> tuple[str, os.stat_result | None]:
    """The text of a regular file and its status, which belongs to the open file; /dev/null is empty and has none."""
    try:
        # A pipe without a writer must not block the command.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigFileError(path, None, f"the file cannot be read: {reason}.") from None
    try:
        status = os.fstat(descriptor)
        if os.path.samestat(status, os.stat(os.devnull)):
            return "", None
        if not stat.S_ISREG(status.st_mode):
            raise ConfigFileError(path, None, "this is not a regular file. Name one that is.")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise ConfigFileError(path, None, f"the file has more than {limit} bytes; no such file is so long.")
    try:
        return content.decode("utf-8-sig"), status
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise ConfigFileError(
            path, line, f"byte {error.start} is not UTF-8. Save the file as UTF-8.", column=column
        ) from None
