"""Write contexts, each in a separate file, and the secret files next to their directory, one process at a time. A
single file of contexts, as before 0.2, is replaced by a directory at the first change and kept under another name."""

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from cli.errors import CommandError, UsageError
from cli.output import notice
from cli.sources.contexts.location import MAX_SECRET_BYTES, VARIABLE, Location, config_text, context_location
from cli.sources.contexts.model import Context, Contexts, ValueStore
from cli.sources.contexts.read import CURRENT, SUFFIX, ContextFiles, contexts_at
from groups.files import replace_file
from groups.times import seconds_text
from groups.yaml_files import load_tree, yaml_lines
from wire.client.config.config_file import ConfigFileError

LOCK_WAIT_S = 10.0

Fragment = Mapping[str, object]  # A context as its file contains it


class ContextStore:
    """The directory of contexts, while no other Kohort changes it."""

    def __init__(self, contexts: Contexts) -> None:
        self.contexts = contexts
        self.directory = contexts.path

    def add(self, name: str, fragment: Fragment) -> None:
        self._write(self._file(name), "".join(yaml_lines(fragment)))

    def use(self, name: str | None) -> None:
        """Make a context the current one; None unsets it."""
        if name is None:
            (self.directory / CURRENT).unlink(missing_ok=True)
        else:
            self._write(self.directory / CURRENT, f"{name}\n")

    def remove(self, name: str) -> None:
        """Remove a context; if it is the current one, none is current afterwards."""
        if self.contexts.current == name:
            self.use(None)
        self._file(name).unlink()

    def rename(self, name: str, new: str) -> None:
        os.link(self._file(name), self._file(new))
        if self.contexts.current == name:
            self.use(new)
        self._file(name).unlink()

    def _file(self, name: str) -> Path:
        return self.directory / f"{name}{SUFFIX}"

    def _write(self, file: Path, text: str) -> None:
        replace_file(file, [text], newline="", mode=0o600)


def change_contexts(change: Callable[[ContextStore], None], *, may_create: bool = False) -> Path:
    """Change contexts, and return their directory. Raises CommandError: they cannot be changed; they are unchanged."""
    location = context_location()
    if location is None:
        raise CommandError(NO_HOME)
    if not (may_create or os.path.lexists(location.path)):
        raise CommandError(f"{location.path} does not exist; `kohort context add` creates it")
    if location.is_single and not location.path.is_file():
        raise CommandError(
            f"{location.path}: is not a regular file, so it cannot be written; {VARIABLE} names another"
        )
    directory = location.directory
    try:
        directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(directory.parent):
            if location.is_single:
                _migrate(location)
            directory.mkdir(mode=0o700, exist_ok=True)
            change(ContextStore(contexts_at(location)))
    except OSError as error:
        raise ConfigFileError(
            directory, None, f"cannot be written: {error.strerror or error}. Nothing was changed."
        ) from None
    return directory


NO_HOME = f"there is no home directory for contexts; set {VARIABLE} to a path"


def _migrate(location: Location) -> None:
    """Replace the single file by a directory; whenever this is interrupted, one of the two is whole."""
    file, directory = location.path, location.directory
    before = contexts_at(location)
    tree = load_tree(file, config_text(file)) or {}
    draft = directory.with_name(f".{directory.name}.new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    store = ContextStore(Contexts(path=draft, current=None, by_name={}))
    for name, fragment in (tree.get("contexts") or {}).items():
        store.add(name, fragment)
    store.use(before.current)
    if dict(ContextFiles(draft)) != before.by_name:
        shutil.rmtree(draft)
        raise CommandError(
            f"{file}: its contexts cannot be moved to {directory} unchanged. Nothing was changed; "
            f"write a file NAME{SUFFIX} for each context there by hand"
        )
    draft.rename(directory)
    kept = _unused(file.with_name(f"{file.name}.bak"))
    file.rename(kept)
    notice(f"each context is now a file in {directory}; the old file, with its comments, is kept as {kept}")


def _unused(path: Path) -> Path:
    """The path, or one with a number, at which there is no file."""
    number = 1
    while os.path.lexists(numbered := path if number == 1 else path.with_name(f"{path.name}-{number}")):
        number += 1
    return numbered


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Lock out other Kohort processes. The lock is on the directory, so that no lock file remains."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CommandError(f"{directory}: cannot be read: {error.strerror or error}") from None
    until = time.monotonic() + LOCK_WAIT_S
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    message = f"another kohort has been changing files here for {seconds_text(LOCK_WAIT_S)}; try again"
                    raise CommandError(f"{directory}: {message}") from None
                time.sleep(0.02)
            except OSError as error:
                reason = error.strerror or error
                raise CommandError(
                    f"{directory}: cannot be locked ({reason}); edit its files by hand"
                ) from None
        yield
    finally:
        os.close(descriptor)


DIRECTORY = "secrets"


def ask_for(keys: Iterable[str]) -> dict[str, str]:
    """A secret for each key, typed without echo or a line of standard input. UsageError for a missing one."""
    import getpass

    from cli.consent import can_ask

    secrets: dict[str, str] = {}
    for key in keys:
        try:
            if can_ask():
                secret = getpass.getpass(f"{key} (not shown): ", sys.stderr)
            else:
                line = "" if sys.stdin is None else sys.stdin.readline(MAX_SECRET_BYTES + 2)
                secret = line.removesuffix("\n").removesuffix("\r")
        except (EOFError, UnicodeDecodeError):
            secret = ""
        if not secret or "\0" in secret or len(_encoded(secret)) >= MAX_SECRET_BYTES:
            raise UsageError(
                f"--secret {key}: no secret was given; type it when asked, or give it as a line of standard input"
            )
        secrets[key] = secret
    return secrets


def _encoded(secret: str) -> bytes:
    return secret.encode("utf-8", "surrogateescape")


def keep(base: Path, context: str, secrets: Mapping[str, str]) -> dict[str, Path]:
    """Write secrets into new files of mode 0600; paths by key. After a failure, all are removed: CommandError."""
    kept: dict[str, Path] = {}
    directory = base / DIRECTORY
    try:
        for key, secret in secrets.items():
            directory.mkdir(mode=0o700, exist_ok=True)
            # An existing file stays, because another context may still refer to it.
            file = _unused(directory / f"{context}.{key}")
            with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
                kept[key] = file
                out.write(_encoded(secret) + b"\n")
    except OSError as error:
        drop(kept.values())
        raise CommandError(f"{directory}: a secret cannot be written: {error.strerror or error}") from None
    return kept


def drop(files: Iterable[Path]) -> None:
    for file in files:
        with suppress(OSError):
            file.unlink()


def own_files(contexts: Contexts, context: Context) -> tuple[Path, ...]:
    """The secret files that Kohort has written for a context and that no other context refers to."""
    directory = contexts.path.parent.absolute() / DIRECTORY
    others = {file for other in contexts.by_name.values() if other != context for file in _files(other)}
    return tuple(file for file in _files(context) if file.parent == directory and file not in others)


def _files(context: Context) -> list[Path]:
    return [Path(value.text) for value in context.properties if value.store is ValueStore.FILE]
