"""Build the consumer of sarama that the tests run, once, into the user's cache."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from pipeline.sources.jars import filled

SOURCES = Path(__file__).with_name("go")
BUILD_TIMEOUT_S = 240


class GoUnavailableError(Exception):
    """Go or a module is missing; the message says which."""


def sarama_member() -> Path:
    """Return the program, building it first if need be; `go/go.mod` names the version of sarama.

    Raises:
        GoUnavailableError: it is not in the cache, and Go is missing or cannot build it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    stamp = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(SOURCES.iterdir()))).hexdigest()[:12]
    return filled(Path(home) / "kohort" / "go" / stamp, _build) / "sarama-member"


def _build(directory: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise GoUnavailableError("no go on PATH")
    directory.mkdir()
    command = [go, "build", "-mod=readonly", "-o", str(directory / "sarama-member"), "."]
    try:
        subprocess.run(
            command,
            cwd=SOURCES,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            timeout=BUILD_TIMEOUT_S,
        )
    except subprocess.CalledProcessError as error:
        raise GoUnavailableError(
            f"Go could not build the consumer of sarama:\n{error.stdout[-2000:]}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise GoUnavailableError(
            f"Go did not build the consumer of sarama within {BUILD_TIMEOUT_S} s"
        ) from error
