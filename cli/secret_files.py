"""Secrets in files, which are read again for every use, so that they can be replaced."""

from pathlib import Path

from wire.files import MEBIBYTE, read_bounded


def read_token(file: Path) -> str:
    """The token in a file. Raises OSError. Raises ValueError: it is empty, or not text."""
    token = read_bounded(file, MEBIBYTE).decode().strip()
    if not token:
        raise ValueError("it is empty")
    return token


def header_of(file: Path) -> tuple[str, str]:
    """Raises OSError. Raises ValueError: the file is not one line `Name: value`."""
    name, colon, value = read_token(file).partition(":")
    if not colon or not name.strip() or "\n" in value.strip():
        raise ValueError("write one line, such as Authorization: Bearer SECRET")
    return name.strip(), value.strip()


def reason(error: OSError | ValueError) -> str:
    """Why `read_token` failed, as a message without the file's name."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return "it is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
