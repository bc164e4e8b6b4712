"""Answers of the last seconds: a cluster that answers too late for one Tab has answered by the next one."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

LIFETIME_S = 5.0
"""Names may be this old: a group that was made since is missing, one that was deleted is still offered."""
FORGOTTEN_S = 60.0
"""Files that nobody wrote for so long are removed."""


class Cache:
    """One answer in `$XDG_CACHE_HOME/kohort/completion`, for this user's eyes only."""

    def __init__(self, identity: str, environment: Mapping[str, str]) -> None:
        from hashlib import sha256

        home = environment.get("XDG_CACHE_HOME") or os.path.join(
            environment.get("HOME", "/nowhere"), ".cache"
        )
        self._directory = os.path.join(home, "kohort", "completion")
        name = sha256(identity.encode(errors="surrogateescape")).hexdigest()
        self._file = os.path.join(self._directory, name)

    def fresh(self) -> bytes | None:
        """The answer; None where there is none, or an old one."""
        try:
            with open(self._file, "rb") as file:
                written = os.fstat(file.fileno()).st_mtime
                return file.read() if 0 <= time.time() - written < LIFETIME_S else None
        except OSError:
            return None

    def store(self, answer: bytes) -> None:
        """Keep an answer, and remove old ones. A cache that cannot be written is none."""
        with suppress(OSError):
            draft = f"{self._file}.{os.getpid()}"
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(answer)
            os.replace(draft, self._file)
            for other in os.scandir(self._directory):
                with suppress(OSError):
                    if time.time() - other.stat().st_mtime > FORGOTTEN_S:
                        os.unlink(other.path)

    @contextmanager
    def asking(self) -> Iterator[bool]:
        """Whether nobody else asks the same now: a cluster that does not answer is asked by one process only."""
        try:
            os.makedirs(self._directory, mode=0o700, exist_ok=True)
            descriptor = os.open(f"{self._file}.lock", os.O_WRONLY | os.O_CREAT, 0o600)
        except OSError:
            yield True
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            os.utime(descriptor)
            yield True
        finally:
            os.close(descriptor)
