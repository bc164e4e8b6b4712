"""The configuration file: its path, whether it can be trusted, and its contexts."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UsageError
from wire.client.config.config_file import ConfigFileError, check_writers

if TYPE_CHECKING:
    from cli.sources.contexts.model import Contexts

FILE_VARIABLE = "KOHORT_CONFIG"
MAX_BYTES = 1024 * 1024
"""Maximum size of the configuration file: a thousand contexts take a fifth of this."""


def config_path(environ: Mapping[str, str] | None = None) -> Path | None:
    """`$KOHORT_CONFIG`, else `$XDG_CONFIG_HOME/kohort/config.yaml`, by default below ~/.config.

    None if there is no home directory.
    :raises UsageError: KOHORT_CONFIG is empty
    """
    environ = os.environ if environ is None else environ
    named = environ.get(FILE_VARIABLE)
    if named is not None:
        check_variable(FILE_VARIABLE, named)
        return Path(named).absolute()
    home = environ.get("XDG_CONFIG_HOME") or ""
    # The XDG specification: relative paths in its variables must be ignored.
    if not os.path.isabs(home):
        # An empty HOME would be the root directory.
        home = "" if environ.get("HOME") == "" else os.path.join(os.path.expanduser("~"), ".config")
    return Path(home) / "kohort" / "config.yaml" if os.path.isabs(home) else None


def check_variable(name: str, value: str) -> None:
    """UsageError if a variable of the environment is set, but blank, as by a script that lacks its value."""
    if not value.strip():
        raise UsageError(f"{name} is set, but empty: give it a value, or unset it")


def load_contexts(*, may_be_missing: bool = False) -> Contexts | None:
    """The contexts of the configuration file; None if there is no file.

    `may_be_missing`: also None if KOHORT_CONFIG names a missing file.
    :raises ConfigFileError: it cannot be read, is malformed, contains secrets that others can read, or cannot be
        trusted; KOHORT_CONFIG names a file that does not exist
    """
    loaded = load_with_text(may_be_missing=may_be_missing)
    return None if loaded is None else loaded[0]


def load_with_text(*, may_be_missing: bool = False) -> tuple[Contexts, str] | None:
    """Like `load_contexts`, and the text of the file."""
    path = config_path()
    if path is None:
        return None
    try:
        text = config_text(path)
    except FileNotFoundError:
        if os.environ.get(FILE_VARIABLE) and not may_be_missing:
            raise ConfigFileError(
                path, None, f"{FILE_VARIABLE} names this file, but it does not exist. Check the path."
            ) from None
        return None
    if not text.strip():
        from cli.sources.contexts.model import Contexts

        return Contexts(path=path, current=None, by_name={}), text
    from cli.sources.contexts.read import read_contexts

    contexts = read_contexts(path, text)
    check_privacy(contexts)
    return contexts, text


def config_text(path: Path) -> str:
    """The text of a configuration file that only this user and root can write.

    :raises FileNotFoundError: not found
    :raises ConfigFileError: it cannot be read or trusted
    """
    content, status = read_regular(path, MAX_BYTES)
    if status is None:
        return ""
    remedy = f"Make it yours: cp {path} FILE, and name that in {FILE_VARIABLE}."
    check_writers(path, status, "point Kohort at any cluster", remedy)
    return decoded(path, content)


def check_privacy(contexts: Contexts) -> None:
    """ConfigFileError if the file itself contains secrets, and others can read it."""
    holding = [context for context in contexts.by_name.values() if context.literal_secrets]
    if not holding:
        return
    status = contexts.path.stat()
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        first = holding[0]
        raise ConfigFileError(
            contexts.path, first.line, f"the context {first.name} keeps a secret in this file "
            f"({first.literal_secrets[0]}), and other users can read it. Run: chmod 600 {contexts.path}"
        )  # fmt: skip


def read_secret_file(path: Path) -> str:
    """A secret from its own file, without the final line end.

    :raises ConfigFileError: it cannot be read, is empty, belongs to another user, or others can read it
    """
    try:
        content, status = read_regular(path, MAX_SECRET_BYTES)
    except FileNotFoundError:
        raise ConfigFileError(path, None, "the file of a secret does not exist. Check the path.") from None
    if status is not None and status.st_uid not in (os.geteuid(), 0):
        raise ConfigFileError(
            path, None, "this secret belongs to another user. Keep it in a file of your own."
        )
    if status is not None and status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigFileError(path, None, f"other users can read this secret. Run: chmod 600 {path}")
    text = decoded(path, content)
    text = text.removesuffix("\n").removesuffix("\r")
    if not text or "\0" in text:
        raise ConfigFileError(
            path, None, "this file contains no secret: it is empty or not text. Write it again."
        )
    return text


MAX_SECRET_BYTES = 64 * 1024
"""Maximum size of a secret's file: certificate chains with their keys take a fifth of this."""


def read_regular(path: Path, limit: int) -> tuple[bytes, os.stat_result | None]:
    """The content of a regular file, and its status; /dev/null is empty.

    The status belongs to the open file, even if the name is replaced meanwhile.
    :raises FileNotFoundError: not found
    :raises ConfigFileError: it cannot be read, is not a regular file, or is too large
    """
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
            return b"", None
        if not stat.S_ISREG(status.st_mode):
            raise ConfigFileError(path, None, "this is not a regular file. Name one that is.")
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(content) > limit:
        raise ConfigFileError(path, None, f"the file has more than {limit} bytes; no such file is so long.")
    return content, status


def decoded(path: Path, content: bytes) -> str:
    """The content as UTF-8 text, without a byte order mark. ConfigFileError if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise ConfigFileError(
            path, line, f"byte {error.start} is not UTF-8. Save the file as UTF-8.", column=column
        ) from None
