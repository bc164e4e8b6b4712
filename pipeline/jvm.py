"""The JVM of Spark's driver, as a child process that ends with its parent, and the checks that it can be started. A
JVM that pyspark starts itself may outlive an interrupt and the session, passes Ctrl-C to its Python workers, shows
secrets of the settings to everyone who lists processes, and writes to this process's output. pyspark connects to an
existing JVM if PYSPARK_GATEWAY_PORT and PYSPARK_GATEWAY_SECRET are set, as `spark-submit` sets them."""

import os
import re
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from groups.times import seconds_text
from pipeline.errors import PipelineError
from wire.extras import MODULES, install_command

_START_TIMEOUT_S = 300.0
_END_TIMEOUT_S = 10.0
_POLL_S = 0.02
_PROPERTIES = "spark.properties"
_CONNECTION = "connection"
_LOG = "log"
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "=": "\\=", ":": "\\:"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The address at which py4j reaches the JVM."""

    port: int
    secret: str


@contextmanager
def jvm(
    conf: Mapping[str, str], scratch: Path, environment: Mapping[str, str], *, verbose: bool
) -> Iterator[Gateway]:
    """The JVM of a driver, which is stopped at the end together with all Python workers that it started. `conf`,
    Spark's settings, is passed in a file that only the user can read, in `scratch`, a directory of the caller's.
    `environment`: variables in addition to those of this process. `verbose`: the JVM's output goes to standard error.
    Raises MissingSpark: the JVM exited before it could be reached; the message says why."""
    connection, log = scratch / _CONNECTION, scratch / _LOG
    (scratch / _PROPERTIES).write_text(properties(conf), encoding="utf-8")
    home = spark_home()
    command = [
        str(home / "bin" / "spark-submit"),
        *("--properties-file", str(scratch / _PROPERTIES), "--load-spark-defaults"),
        "pyspark-shell",
    ]
    settings = {
        "SPARK_HOME": str(home),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection),
    }
    with log.open("wb") as sink:
        process = subprocess.Popen(  # noqa: S603  (pyspark's own script)
            command,
            stdin=subprocess.PIPE,  # the JVM exits when this end is closed, even if this process is killed
            stdout=2 if verbose else sink,
            stderr=2 if verbose else sink,
            env=os.environ | environment | settings,
            start_new_session=True,  # only this process gets Ctrl-C, and the process group can be killed
        )
    try:
        yield _reached(process, connection, log)
    finally:
        _end(process)


def spark_home() -> Path:
    """The directory of Spark's scripts: SPARK_HOME, or pyspark's. Raises MissingSpark: it is of another version."""
    import pyspark

    named = os.environ.get("SPARK_HOME")
    if not named:
        return Path(pyspark.__file__).parent
    ours = pyspark.__version__
    jars = sorted((Path(named) / "jars").glob("spark-core_*.jar"))
    theirs = jars[0].stem.partition("-")[2].partition("-")[2] if jars else None  # spark-core_2.13-4.2.0
    if theirs is None or theirs.split(".")[:2] != ours.split(".")[:2]:
        has = "has no jars of Spark" if theirs is None else f"is Spark {theirs}"
        remedy = "unset SPARK_HOME, or install pyspark of that version"
        raise MissingSpark(f"SPARK_HOME={named} {has}, and pyspark is {ours}: {remedy}")
    return Path(named)


def properties(conf: Mapping[str, str]) -> str:
    """Settings in the form of java.util.Properties."""
    return "".join(
        f"{name.translate(_ESCAPES)}={value.translate(_ESCAPES)}\n" for name, value in conf.items()
    )


def _reached(process: subprocess.Popen[bytes], connection: Path, log: Path) -> Gateway:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not connection.exists():
        if process.poll() is not None:
            lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            lines = [line for line in lines if not line.startswith(("WARNING:", "\tat "))]
            why = "; ".join(lines[-3:]) or "without a message"
            raise MissingSpark(f"Spark's JVM exited at its start: {why}")
        if time.monotonic() > deadline:
            raise MissingSpark(f"Spark's JVM did not start within {seconds_text(_START_TIMEOUT_S)}")
        time.sleep(_POLL_S)
    # The file is complete as soon as it exists under this name (PythonGatewayServer renames it).
    packed = connection.read_bytes()
    port, length = struct.unpack_from(">ii", packed)
    return Gateway(port=port, secret=packed[8 : 8 + length].decode())


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the JVM: close its standard input, at which it exits, or kill it if it does not."""
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


OLDEST = 17  # the oldest Java that Spark 4 runs on
NEEDED_MODULES = (
    *("java.management", "java.naming", "java.rmi", "java.security.jgss", "java.sql", "java.xml"),
    "jdk.incubator.vector",  # Spark's own command line names it: without it the JVM does not start
    "jdk.unsupported",
)
"""Modules that a custom runtime image may lack."""
_TIMEOUT_S = 60.0
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')


class MissingSpark(PipelineError):
    """Spark cannot be started here; the message says what is missing and what to install."""


def check_spark() -> None:
    """Check all that a session needs, in some 0.2 s. Raises MissingSpark: the extra or a suitable Java is missing."""
    check_extra()
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # otherwise spark-submit has started the JVM
        _check_java(_java())


def check_extra() -> None:
    """Raises MissingSpark: the packages of the extra are not installed."""
    missing = [name for name in MODULES["spark"] if find_spec(name) is None]
    if missing:
        raise MissingSpark(
            f"{', '.join(missing)} cannot be imported: kohort fleet needs the extra spark. "
            f"Run: `{install_command('spark')}`"
        )


def _java() -> Path:
    """The Java that Spark's scripts use."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = f"JAVA_HOME={home} has no bin/java" if home else "there is no java on the PATH"
        raise MissingSpark(
            f"Spark needs Java {OLDEST} or later, and {where}: install a JDK, or set JAVA_HOME"
        )
    return Path(java)


def _check_java(java: Path) -> None:
    output = _java_output(java, "-version")
    version = _VERSION.search(output)
    if version is None:
        first_line = next(iter(output.strip().splitlines()), "nothing")
        raise MissingSpark(f"{java} does not report its version, but: {first_line}")
    if int(version[1]) < OLDEST:
        what = f"{java} is Java {version[1]}: install a newer JDK, or set JAVA_HOME"
        raise MissingSpark(f"Spark needs Java {OLDEST} or later, and {what}")
    present = {line.partition("@")[0] for line in _java_output(java, "--list-modules").split()}
    missing = [module for module in NEEDED_MODULES if module not in present]
    if missing:
        what = f"{', '.join(missing)}, which Spark needs"
        raise MissingSpark(f"{java} lacks {what}: install a full JDK, or set JAVA_HOME")


def _java_output(java: Path, option: str) -> str:
    try:
        answer = subprocess.run(  # noqa: S603  (the Java that Spark is going to run)
            [java, option], capture_output=True, text=True, errors="replace", timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingSpark(f"{java} cannot be run: {error}") from error
    return answer.stderr + answer.stdout
