"""Whether Spark can be started here: the extra, and a Java that has what Spark needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from pipeline.errors import PipelineError

OLDEST = 17
"""The oldest Java that Spark 4 runs on."""
NEEDED_MODULES = (
    "java.management",
    "java.naming",
    "java.rmi",
    "java.security.jgss",
    "java.sql",
    "java.xml",
    "jdk.incubator.vector",  # named on Spark's own command line: without it the JVM does not begin
    "jdk.unsupported",
)
"""What a runtime image that somebody put together for less than Spark may lack."""
_TIMEOUT_S = 60.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


class MissingSpark(PipelineError):
    """Spark cannot be started here; the message says what is missing and what to install."""


def check_spark() -> None:
    """Look for everything that a session needs, in some 0.2 s.

    :raises MissingSpark: the extra is not installed; there is no Java, it is too old, or lacks modules
    """
    _check_extra()
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # else spark-submit has begun the JVM
        _check_java(_java())


def _check_extra() -> None:
    missing = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]
    if missing:
        raise MissingSpark(
            f"{', '.join(missing)} cannot be imported: install Kohort with its extra, `pipx install 'kohort[spark]'`"
        )


def _java() -> Path:
    """The one that Spark's scripts take."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if found is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "there is no java on the PATH"
        raise MissingSpark(
            f"Spark needs Java {OLDEST} or later, and {where}: install a JDK, or set JAVA_HOME"
        )
    return Path(found)


def _check_java(java: Path) -> None:
    said = _said(java, "-version")
    version = _VERSION.search(said)
    if version is None:
        raise MissingSpark(f"{java} does not say which Java it is, but: {_first_line(said)}")
    if int(version[1]) < OLDEST:
        raise MissingSpark(
            f"Spark needs Java {OLDEST} or later, and {java} is Java {version[1]}: install a newer JDK, or set "
            "JAVA_HOME"
        )
    present = {line.partition("@")[0] for line in _said(java, "--list-modules").split()}
    missing = [module for module in NEEDED_MODULES if module not in present]
    if missing:
        raise MissingSpark(
            f"{java} lacks {', '.join(missing)}, which Spark needs: install a full JDK, or set JAVA_HOME"
        )


def _said(java: Path, option: str) -> str:
    try:
        answer = subprocess.run(  # noqa: S603  (the Java that Spark is going to run)
            [java, option], capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingSpark(f"{java} cannot be run: {error}") from error
    return answer.stderr + answer.stdout


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "nothing")
