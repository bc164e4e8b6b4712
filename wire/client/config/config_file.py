"""Reading a configuration file's text, and the one error about it."""

from pathlib import Path

from wire.client.errors import WireError


class ConfigFileError(WireError):
    """A configuration file cannot be used. `line` and `column` are 1-based, None when no line is to blame.

    The text names file, line, problem and next step, and never a secret's value.
    """

    def __init__(self, path: Path, line: int | None, message: str, *, column: int | None = None) -> None:
        place = "" if line is None else f", line {line}" + ("" if column is None else f", column {column}")
        super().__init__(f"{path}{place}: {message}")
        self.path = path
        self.line = line
        self.column = column
        self.message = message


def read_text(path: Path) -> str:
    """The file's text, which must be UTF-8 (a byte order mark is dropped).

    :raises ConfigFileError: missing, a directory, not readable, not UTF-8
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigFileError(path, None, "the file does not exist. Check the path.") from None
    except IsADirectoryError:
        raise ConfigFileError(path, None, "this is a directory. Name a properties file in it.") from None
    except PermissionError:
        raise ConfigFileError(
            path, None, "the file may not be read by this user. Check its permissions."
        ) from None
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ConfigFileError(
            path,
            line,
            f"byte {error.start} is not UTF-8. Save the file as UTF-8, or write the character as \\uXXXX.",
        ) from None
    except OSError as error:
        raise ConfigFileError(path, None, f"the file cannot be read: {error.strerror or error}.") from None
