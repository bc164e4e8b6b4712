"""How the tests start a Java program."""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

# Start-up counts more than throughput here: the cheap collector and the first compiler only.
QUICK_START = ("-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
ALL_COMPILERS = "-XX:TieredStopAtLevel=4"  # the option for programs that work for long


def java(
    jars: Path,
    main: str,
    *args: str,
    heap_mb: int = 128,
    options: Sequence[str] = (),
    classes: Path | None = None,
) -> list[str]:
    """The command that runs `main`, a class of the jars or `classes`. Classes that `coordinator.ensure_archive` has put
    aside are mapped instead of read, for which the jars have to come first."""
    archive = archive_of(jars)
    shared = (f"-XX:SharedArchiveFile={archive}", "-Xlog:disable") if archive.is_file() else ()
    path = str(jars / "*") if classes is None else f"{jars / '*'}:{classes}"
    return ["java", *QUICK_START, *shared, f"-Xmx{heap_mb}m", *options, "-cp", path, main, *args]


def archive_of(jars: Path) -> Path:
    """Where the archive of the classes of `jars` belongs, there or not: one for each Java that is on the PATH."""
    program = Path(shutil.which("java") or "java").resolve()
    stamp = f"{program} {program.stat().st_mtime_ns if program.exists() else 0}"
    return jars.with_name(f"{jars.name}-{hashlib.sha256(stamp.encode()).hexdigest()[:12]}.jsa")
