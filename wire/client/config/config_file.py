"""A configuration file: its text, its typed properties, and the error that reports a problem in it."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from wire.client.errors import WireError
from wire.client.security import Secret
from wire.files import MEBIBYTE, read_bounded
from wire.java_text import Property

MOST_BYTES = MEBIBYTE


class ConfigFileError(WireError):
    """A configuration file is unusable; `line` and `column` are 1-based. The text never has a secret's value."""

    def __init__(self, path: Path, line: int | None, message: str, *, column: int | None = None) -> None:
        position = "" if line is None else f", line {line}" + ("" if column is None else f", column {column}")
        super().__init__(f"{path}{position}: {message}")
        self.path = path
        self.line = line
        self.column = column
        self.message = message


def read_text(path: Path) -> str:
    """The file's text in UTF-8, without a byte order mark. Raises ConfigFileError: it cannot be read."""
    try:
        data = read_bounded(path, MOST_BYTES)
    except FileNotFoundError:
        raise ConfigFileError(path, None, "the file does not exist. Check the path.") from None
    except IsADirectoryError:
        raise ConfigFileError(path, None, "this is a directory. Name a properties file in it.") from None
    except PermissionError:
        raise ConfigFileError(path, None, "this user may not read the file. Check its permissions.") from None
    except OSError as error:
        raise ConfigFileError(path, None, f"the file cannot be read: {error.strerror or error}.") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigFileError(
            path,
            line,
            f"byte {error.start} is not UTF-8. Save the file as UTF-8, or write the character as \\uXXXX.",
        ) from None


def check_writers(path: Path, status: os.stat_result, harm: str, remedy: str) -> None:
    """Refuse a file that another user could have written, with the `harm` and the `remedy`. Raises ConfigFileError."""
    if status.st_uid not in (os.geteuid(), 0):
        raise ConfigFileError(path, None, f"the file belongs to another user, who could {harm}. {remedy}")
    if status.st_mode & stat.S_IWOTH:
        raise ConfigFileError(path, None, f"any user can write to this file. Run: chmod o-w {path}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    path: Path
    entries: dict[str, Property]
    remarks: tuple[str, ...] = ()  # remarks for the user: the names of ignored keys

    def text(self, key: str) -> str | None:
        """The value, stripped; None without the key."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value.strip()

    def secret(self, key: str) -> Secret | None:
        """The value unchanged, hidden from repr; None without the key."""
        entry = self.entries.get(key)
        return None if entry is None else Secret(entry.value)

    def positive(self, key: str, default: int) -> int:
        text = self.text(key)
        if text is None:
            return default
        # Python converts no number of thousands of digits.
        if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
            raise self.error(key, f"{text[:40]!r} is not a positive number of milliseconds.")
        return int(text)

    def flag(self, key: str, default: bool) -> bool:
        text = self.text(key)
        if text is None:
            return default
        if text.lower() not in ("true", "false", "1", "0"):
            raise self.error(key, f"{text!r} is neither true nor false.")
        return text.lower() in ("true", "1")

    def error(self, key: str, message: str) -> ConfigFileError:
        entry = self.entries.get(key)
        return ConfigFileError(self.path, entry.line if entry else None, f"{key}: {message}")
