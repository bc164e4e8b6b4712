"""Write the configuration file and the secret files next to it.

Only one process at a time writes. It replaces the file atomically and keeps its permissions.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from cli.errors import CommandError, UsageError
from cli.sources.contexts.file import FILE_VARIABLE, MAX_SECRET_BYTES, check_privacy, config_path, config_text
from cli.sources.contexts.model import Context, Contexts, ValueStore
from cli.sources.contexts.read import read_contexts
from cli.verbs.context.edit import CannotEdit, Editor
from groups.files import replace_file
from groups.times import seconds_text
from wire.client.config.config_file import ConfigFileError

LOCK_WAIT_S = 10.0
BYTE_ORDER_MARK = "\ufeff"

Change = Callable[[Editor, Contexts], str]
"""A function from the contents of the file to its new text."""


def change_file(change: Change, *, may_create: bool = False) -> Path:
    """Change the configuration file, and return its path.

    No other Kohort changes the file meanwhile.
    :raises CommandError: it does not exist, or cannot be used, changed or written; it is then unchanged
    """
    path = config_path()
    if path is None:
        raise CommandError("there is no home directory for a configuration file; set KOHORT_CONFIG to a path")
    if may_create:
        _make_directory(path.parent)
    # If the file is a link (to a repository of dotfiles), change the target and keep the link.
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise _missing(path)
    if target.exists() and not target.is_file():
        raise CommandError(
            f"{path}: is not a regular file, so it cannot be written; {FILE_VARIABLE} names another"
        )
    with _locked(target.parent):
        try:
            text = config_text(path)
        except FileNotFoundError:
            if not may_create:
                raise _missing(path) from None
            text = ""
        contexts = read_contexts(path, text)
        if contexts.by_name:
            check_privacy(contexts)
        try:
            changed = change(Editor(text), contexts)
        except CannotEdit as error:
            raise CommandError(
                f"{path}: cannot be changed by this command: {error}. Nothing was changed; edit it by hand"
            ) from None
        read_contexts(path, changed)
        _replace(target, changed)
    return path


def _missing(path: Path) -> CommandError:
    return CommandError(f"{path} does not exist; `kohort context add` creates it")


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"{directory}: cannot be created: {error.strerror or error}") from None


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Lock out other Kohort processes. The lock is on the directory, so that no lock file remains."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CommandError(f"{directory}: cannot be read: {error.strerror or error}") from None
    try:
        _lock(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, directory: Path) -> None:
    until = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise CommandError(
                    f"{directory}: another kohort has been changing files here for {seconds_text(LOCK_WAIT_S)}; "
                    "try again"
                ) from None
            time.sleep(0.02)
        except OSError as error:
            raise CommandError(
                f"{directory}: cannot be locked ({error.strerror or error}); edit the file by hand"
            ) from None
        else:
            return


def _replace(target: Path, text: str) -> None:
    """Replace the file with a new one that has the same permissions and byte order mark."""
    try:
        mark = ""
        if target.exists():
            with target.open("rb") as old:
                mark = BYTE_ORDER_MARK * (old.read(3) == BYTE_ORDER_MARK.encode())
        replace_file(target, [mark, text], newline="", mode=0o600)
    except OSError as error:
        raise ConfigFileError(
            target, None, f"cannot be written: {error.strerror or error}. Nothing was changed."
        ) from None


DIRECTORY = "secrets"


def ask_for(keys: Iterable[str]) -> dict[str, str]:
    """A secret for each key: typed on the terminal without echo, or one line each of standard input.

    :raises UsageError: a secret is empty or missing
    """
    from cli.consent import can_ask

    secrets: dict[str, str] = {}
    for key in keys:
        secret = _typed(key) if can_ask() else _line()
        if not secret or "\0" in secret or len(_encoded(secret)) >= MAX_SECRET_BYTES:
            raise UsageError(
                f"--secret {key}: no secret was given; type it when asked, or give it as a line of standard input"
            )
        secrets[key] = secret
    return secrets


def _encoded(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogateescape")


def _typed(key: str) -> str:
    import getpass

    try:
        return getpass.getpass(f"{key} (not shown): ", sys.stderr)
    except EOFError:
        return ""


def _line() -> str:
    if sys.stdin is None:
        return ""
    try:
        return sys.stdin.readline(MAX_SECRET_BYTES + 2).removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        return ""


def keep(config: Path, context: str, secrets: Mapping[str, str]) -> dict[str, Path]:
    """Write secrets into new files of mode 0600; paths by key. After a failure, all are removed: CommandError."""
    kept: dict[str, Path] = {}
    try:
        for key, secret in secrets.items():
            directory = config.parent / DIRECTORY
            directory.mkdir(mode=0o700, exist_ok=True)
            kept[key] = _written(directory, f"{context}.{key}", secret)
    except OSError as error:
        drop(kept.values())
        raise CommandError(
            f"{config.parent / DIRECTORY}: a secret cannot be written: {error.strerror or error}"
        ) from None
    return kept


def _written(directory: Path, name: str, secret: str) -> Path:
    """Write a new file; an existing one stays, because another context may still refer to it."""
    number = 1
    while True:
        file = directory / (name if number == 1 else f"{name}-{number}")
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            number += 1
            continue
        with open(descriptor, "wb") as out:
            out.write(_encoded(secret) + b"\n")
        return file


def drop(files: Iterable[Path]) -> None:
    """Delete secret files that are no longer referred to."""
    for file in files:
        with suppress(OSError):
            file.unlink()


def own_files(contexts: Contexts, context: Context) -> tuple[Path, ...]:
    """The secret files that Kohort has written for a context and that no other context refers to."""
    directory = contexts.path.parent.absolute() / DIRECTORY
    others = {file for other in contexts.by_name.values() if other is not context for file in _files(other)}
    return tuple(file for file in _files(context) if file.parent == directory and file not in others)


def _files(context: Context) -> list[Path]:
    return [Path(value.text) for value in context.properties if value.store is ValueStore.FILE]
