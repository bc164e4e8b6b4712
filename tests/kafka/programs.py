"""The Java programs of the tests, `java/*.java`: compiled once, all of them, into the cache."""

import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pipeline.sources.jars import filled
from tests.kafka.jars import KafkaUnavailableError
from tests.kafka.java import java

SOURCES = sorted(Path(__file__).with_name("java").glob("*.java"))


def program(jars: Path, name: str, *args: str, heap_mb: int = 128, options: Sequence[str] = ()) -> list[str]:
    """Return the command line that runs `java/<name>.java`, as `java` does a class of the jars.

    Raises:
        KafkaUnavailableError: javac is missing or refuses a source.
    """
    return java(jars, name, *args, heap_mb=heap_mb, options=options, classes=compiled(jars))


def compiled(jars: Path) -> Path:
    """Return the directory of the compiled programs, compiling them first if a source is new.

    Raises:
        KafkaUnavailableError: javac is missing or refuses a source.
    """
    sources = b"".join(source.read_bytes() for source in SOURCES)
    stamp = hashlib.sha256(sources + jars.name.encode()).hexdigest()[:12]
    return filled(jars.parent / f"programs-{stamp}", lambda directory: _compile(jars, directory))


def _compile(jars: Path, directory: Path) -> None:
    command = ["javac", "-proc:none", "-d", str(directory), "-cp", str(jars / "*"), *map(str, SOURCES)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise KafkaUnavailableError("no javac on PATH; install a JDK, not only a JRE") from error
    except subprocess.CalledProcessError as error:
        raise KafkaUnavailableError(
            f"javac refuses a program of the tests:\n{error.stderr[-2000:]}"
        ) from error
