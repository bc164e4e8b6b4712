"""Secrets that Kohort was told: a file each, beside the configuration file, for nobody else to read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from cli.errors import CommandError, UsageError
from cli.sources.contexts.file import MAX_SECRET_BYTES
from cli.sources.contexts.model import Context, Contexts, Keeper

DIRECTORY = "secrets"


def ask_for(keys: Iterable[str]) -> dict[str, str]:
    """A secret for each key: typed on the terminal and not shown, or a line each of standard input.

    :raises UsageError: a secret is empty or missing
    """
    from cli.consent import can_ask

    secrets: dict[str, str] = {}
    for key in keys:
        secret = _typed(key) if can_ask() else _line()
        if not secret or "\0" in secret or len(_encoded(secret)) >= MAX_SECRET_BYTES:
            raise UsageError(
                f"--secret {key}: nothing usable was given; type it when asked, or give it as a line of standard input"
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
    """Write secrets into new files of mode 0600; by key, where. CommandError, and then none is left behind."""
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
    """A file that was not there before: another context may still refer to one of this name."""
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
    """Delete secrets that nobody refers to any more."""
    for file in files:
        with suppress(OSError):
            file.unlink()


def own_files(contexts: Contexts, context: Context) -> tuple[Path, ...]:
    """The secrets that Kohort has written for a context, and that no other context refers to."""
    directory = contexts.path.parent.absolute() / DIRECTORY
    others = {file for other in contexts.by_name.values() if other is not context for file in _files(other)}
    return tuple(file for file in _files(context) if file.parent == directory and file not in others)


def _files(context: Context) -> list[Path]:
    return [Path(value.text) for value in context.properties if value.keeper is Keeper.FILE]
