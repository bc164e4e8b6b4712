"""The Spark session that a command works in: quiet, self-contained, and gone without a trace."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES = ("assignors", "coordinator", "migration", "pipeline")
"""What workers import; they need not have Kohort installed, only numpy, pyarrow, kio and the like."""
_LOG4J = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n
"""


class MissingSpark(Exception):
    """Spark cannot be started here; the message says what to install."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How to reach Spark. `conf` wins over what Kohort sets itself; `jars` are paths or URLs."""

    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    jars: tuple[str, ...] = ()
    verbose: bool = False
    """Whether Spark's own log is shown."""


@contextmanager
def session(settings: SessionSettings) -> Iterator[SparkSession]:
    """A session that is stopped at the end, whatever the end is; temporary files go with it.

    :raises MissingSpark: the extra or Java is missing
    """
    check_spark()
    from pyspark.sql import SparkSession

    scratch = Path(tempfile.mkdtemp(prefix="kohort-spark-"))
    spark: SparkSession | None = None
    try:
        builder = SparkSession.builder.appName("kohort").master(settings.master)
        for name, value in (_own(settings, scratch) | dict(settings.conf)).items():
            builder = builder.config(name, value)
        if _is_local(settings.master):
            os.environ["PYSPARK_PYTHON"] = sys.executable
        with _heard_by_spark_alone(settings.verbose):
            spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("INFO" if settings.verbose else "OFF")
        if not _is_local(settings.master):
            spark.sparkContext.addPyFile(str(_zipped(scratch)))
        yield spark
    finally:
        if spark is not None:
            with suppress(Exception):  # the JVM may be gone already
                spark.stop()
        shutil.rmtree(scratch, ignore_errors=True)


def check_spark() -> None:
    """:raises MissingSpark: the extra or Java is missing"""
    missing = [name for name in ("pyspark", "pyarrow", "pandas") if find_spec(name) is None]
    if missing:
        raise MissingSpark(
            f"{', '.join(missing)} cannot be imported: install Kohort with its extra, `pipx install 'kohort[spark]'`"
        )
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "there is no java on the PATH"
        raise MissingSpark(f"Spark needs Java 17 or later, and {where}: install a JDK, or set JAVA_HOME")


def _own(settings: SessionSettings, scratch: Path) -> dict[str, str]:
    log = scratch / "log4j2.properties"
    log.write_text(_LOG4J.format(level="info" if settings.verbose else "off"))
    own = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log.as_uri()} -Djava.io.tmpdir={scratch}",
    }
    if _is_local(settings.master):
        own["spark.local.dir"] = str(scratch)
    if settings.jars:
        own["spark.jars"] = ",".join(settings.jars)
    return own


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _zipped(scratch: Path) -> Path:
    """The packages as a file that workers import from."""
    archive = scratch / "kohort.zip"
    root = Path(__file__).resolve().parent.parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in PACKAGES:
            for file in sorted((root / package).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    packed.write(file, file.relative_to(root))
    return archive


@contextmanager
def _heard_by_spark_alone(verbose: bool) -> Iterator[None]:
    """While the JVM starts it inherits its streams and signals: no noise, and Ctrl-C is for Python to handle."""
    logging.getLogger("py4j").setLevel(logging.INFO if verbose else logging.CRITICAL)
    before = signal.getsignal(signal.SIGINT)
    quiet = None if verbose else os.open(os.devnull, os.O_WRONLY)
    kept = os.dup(2)
    try:
        if quiet is not None:
            os.dup2(quiet, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        if quiet is not None:
            os.close(quiet)
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, before)
