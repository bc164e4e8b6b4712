"""Compile `java/Member.java` once into the cache."""

import hashlib
import subprocess
import tempfile
from pathlib import Path

from tests.kafka.jars import KafkaUnavailableError

SOURCE = Path(__file__).with_name("java") / "Member.java"


def compiled(jars: Path) -> Path:
    """Return the directory with the compiled harness, compiling it first if the source is new.

    Raises:
        KafkaUnavailableError: javac is missing or refuses the source.
    """
    stamp = hashlib.sha256(SOURCE.read_bytes() + jars.name.encode()).hexdigest()[:12]
    target = jars.parent / f"member-{stamp}"
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(
        prefix=".javac-", dir=jars.parent, ignore_cleanup_errors=True
    ) as scratch:
        made = Path(scratch) / "classes"
        _compile(jars, made)
        try:
            made.rename(target)
        except OSError:
            # Another process was quicker; anything else is an error.
            if not target.is_dir():
                raise
    return target


def _compile(jars: Path, directory: Path) -> None:
    command = ["javac", "-proc:none", "-d", str(directory), "-cp", str(jars / "*"), str(SOURCE)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise KafkaUnavailableError("no javac on PATH; install a JDK, not only a JRE") from error
    except subprocess.CalledProcessError as error:
        raise KafkaUnavailableError(f"javac refuses {SOURCE.name}:\n{error.stderr[-2000:]}") from error
