"""Properties of a file, read with a type; every complaint names file and line."""

from dataclasses import dataclass
from pathlib import Path

from wire.client.config.config_file import ConfigFileError
from wire.client.security import Secret
from wire.java_properties import Property


@dataclass(frozen=True, slots=True, kw_only=True)
class Properties:
    """The entries of one file by key, the last of each."""

    path: Path
    entries: dict[str, Property]

    def text(self, key: str) -> str | None:
        """The value without blanks around it; None without the key."""
        entry = self.entries.get(key)
        return None if entry is None else entry.value.strip()

    def secret(self, key: str) -> Secret | None:
        """The value as it stands, hidden from repr; None without the key."""
        entry = self.entries.get(key)
        return None if entry is None else Secret(entry.value)

    def positive(self, key: str, default: int) -> int:
        """A positive integer. :raises ConfigFileError: when it is something else"""
        text = self.text(key)
        if text is None:
            return default
        # Python takes no number of thousands of digits.
        if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0):
            raise self.error(key, f"{text[:40]!r} is not a positive number of milliseconds.")
        return int(text)

    def flag(self, key: str, default: bool) -> bool:
        """A boolean. :raises ConfigFileError: when it is something else"""
        text = self.text(key)
        if text is None:
            return default
        if text.lower() not in ("true", "false", "1", "0"):
            raise self.error(key, f"{text!r} is neither true nor false.")
        return text.lower() in ("true", "1")

    def error(self, key: str, message: str) -> ConfigFileError:
        """A complaint about `key`, at its line."""
        entry = self.entries.get(key)
        return ConfigFileError(self.path, entry.line if entry else None, f"{key}: {message}")
