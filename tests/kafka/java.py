"""How the tests start a Java program."""

from collections.abc import Sequence
from pathlib import Path

# Start-up counts more than throughput here: the cheap collector and the first compiler only.
QUICK_START = ("-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def java(jars: Path, main: str, *args: str, heap_mb: int = 128, options: Sequence[str] = ()) -> list[str]:
    """Return the command line that runs `main`, a class of the jars, with a heap of `heap_mb` MiB."""
    return ["java", *QUICK_START, f"-Xmx{heap_mb}m", *options, "-cp", str(jars / "*"), main, *args]
