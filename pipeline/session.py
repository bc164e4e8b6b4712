"""The Spark session of a command: quiet, self-contained, and without traces afterwards. Workers need only the
dependencies: Kohort's packages are sent to them as one file. Also exports Spark's types, for annotations."""

from __future__ import annotations

import compileall
import logging
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from py_compile import PycInvalidationMode
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from pipeline.jvm import MissingSpark, check_spark, jvm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession

Handler: TypeAlias = Callable[[int, FrameType | None], object] | signal.Handlers
__all__ = ["MissingSpark", "SessionSettings", "check_spark", "session"]

DEFAULT_MASTER = "local[*]"
_LOG4J = """\
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
"""
"""The gateway's own level also limits the console; without it the level is WARN, whatever the root logger's is."""
_SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Spark broadcasts tables with small files; ours have small files although the tables are large.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
"""Settings that the tables rely on, whatever the origin and settings of the session."""
_QUICK_BYTES = 4 << 30
_QUICK_JVM = "-XX:TieredStopAtLevel=1"
"""Compiles code earlier, once, and less optimized, which leaves the processors to the tasks. A run of 3.5 GB takes a
sixth less time, a run of 7 GB a twentieth more."""
_BRIEF_BYTES = 64 << 20
_BRIEF = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",  # a separate job for every exchange
    "spark.sql.shuffle.partitions": "2",
}
"""In a short run, to generate code, compile it twice and plan twice costs more than it saves: half of the time with
9,000 records, as measured."""
_LOCAL_TASKS_PER_CORE = 4  # after an exchange: to start and end Spark's default of 200 takes longer
_STOP_TIMEOUT_S = 15.0
_INTERRUPTS_KEPT: Mapping[int, None] = {signal.SIGINT: None}
"""Signals whose handlers are restored: a SparkContext handles SIGINT itself and requests the JVM to cancel, on a
connection that is in use."""
_STOP_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How to reach Spark. `master` None is that of `spark-submit`, or else all cores of this machine. `conf` takes
    precedence over Kohort's own settings, except for the time zone (UTC); `jars`, paths or URLs, add to those in
    it. `verbose` shows Spark's own log on standard error. `input_bytes`: the size of the input, if known; a small
    one shortens the JVM's warm-up."""

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    jars: tuple[str, ...] = ()
    verbose: bool = False
    input_bytes: int | None = None


@contextmanager
def session(settings: SessionSettings) -> Iterator[SparkSession]:
    """A session that is always stopped at the end, with its JVM, workers and temporary files. Meanwhile SIGTERM and
    SIGHUP raise SystemExit, to end it properly, as Ctrl-C does. An existing session of this process, or of
    `spark-submit`, is used: `master` must then be None or the same. Raises MissingSpark: the extra or Java is missing,
    or the JVM did not start."""
    check_spark()
    _refuse_connect(settings)
    silenced = nullcontext() if settings.verbose else _py4j_silenced()
    with _stop_signals_raised(), silenced, _started(settings) as spark:
        yield spark


@contextmanager
def _started(settings: SessionSettings) -> Iterator[SparkSession]:
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        yield _sharing_session(settings)
        return
    scratch = Path(tempfile.mkdtemp(prefix="kohort-spark-"))
    try:
        if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
            with _stopped(_in_given_jvm(settings)) as spark:
                yield _with_packages(spark, scratch)
        else:
            with _in_started_jvm(settings, scratch) as spark:
                yield _with_packages(spark, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _sharing_session(settings: SessionSettings) -> SparkSession:
    """A session that shares the context of the existing session, but not its settings."""
    from pyspark import SparkFiles
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate().newSession()
    _refuse_other_master(spark, settings)
    for name, value in (dict(settings.conf) | _SQL).items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
    # The file must stay as long as the context, which this session does not stop.
    return _with_packages(spark, Path(SparkFiles.getRootDirectory()))


def _in_given_jvm(settings: SessionSettings) -> SparkSession:
    """A session of the JVM that `spark-submit` started; its settings take precedence over Kohort's."""
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized()
    conf = SparkConf()  # has the settings of the JVM
    for name, value in {"spark.master": DEFAULT_MASTER, "spark.app.name": "kohort"}.items():
        conf.setIfMissing(name, value)
    for name, value in (_requested_settings(settings) | _SQL).items():
        conf.set(name, value)
    with _handled(_INTERRUPTS_KEPT):
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
    _refuse_other_master(spark, settings)
    spark.sparkContext.setLogLevel("INFO" if settings.verbose else "OFF")
    return spark


@contextmanager
def _in_started_jvm(settings: SessionSettings, scratch: Path) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    master = settings.master or DEFAULT_MASTER
    conf = _local_settings(master, scratch, settings) | _requested_settings(settings) | _SQL
    environment = {}
    if _is_local(master):  # the workers are children of the JVM
        environment = {
            "PYTHONPATH": os.pathsep.join([str(root()), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "SPARK_LOCAL_IP": "127.0.0.1",  # not reachable from outside, and this machine's name may not resolve
            "TMPDIR": str(scratch),
        }
    # The JVM is stopped before the gateway is closed: a thread reads the connection on which the JVM calls back (a
    # stream does for each batch) as long as the JVM runs, and it cannot be closed meanwhile.
    # The workers' Python is this process's if they run on this machine, otherwise one on their path.
    here = master.startswith("local")
    python = sys.executable if here else os.environ.get("PYSPARK_PYTHON", "python3")
    with _forgotten_gateway(), jvm(conf, scratch, environment, verbose=settings.verbose) as gateway:
        reached = {
            "PYSPARK_GATEWAY_PORT": str(gateway.port),
            "PYSPARK_GATEWAY_SECRET": gateway.secret,
            "PYSPARK_PYTHON": settings.conf.get("spark.pyspark.python", python),
        }
        with _variables(reached), _handled(_INTERRUPTS_KEPT):
            spark = SparkSession.builder.getOrCreate()
        with _stopped(spark):
            spark.sparkContext.setLogLevel("INFO" if settings.verbose else "OFF")
            yield spark


def _with_packages(spark: SparkSession, directory: Path) -> SparkSession:
    """The session, with Kohort's packages sent to workers that are not children of this machine's driver."""
    if not _is_local(str(spark.sparkContext.master)):
        spark.sparkContext.addPyFile(str(ship(directory)))
    return spark


def _requested_settings(settings: SessionSettings) -> dict[str, str]:
    asked = dict(settings.conf)
    if settings.master is not None:
        asked["spark.master"] = settings.master
    if settings.jars:
        named = [asked["spark.jars"]] if asked.get("spark.jars") else []
        asked["spark.jars"] = ",".join((*named, *settings.jars))
    return asked


def _local_settings(master: str, scratch: Path, settings: SessionSettings) -> dict[str, str]:
    """Kohort's settings for a Spark that it starts itself."""
    log = scratch / "log4j2.properties"
    log.write_text(_LOG4J.format(level="info" if settings.verbose else "off"), encoding="utf-8")
    options = [
        f"-Dlog4j2.configurationFile={log.as_uri()}",
        f"-Djava.io.tmpdir={scratch}",
        "-XX:-UsePerfData",  # it writes a file in /tmp that a killed JVM leaves there
        "-XX:+UseParallelGC",  # throughput matters, latency does not
        # Spark's own classes are verified once more at every start: 2 s of processor time, of 16.
        *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
    ]
    if settings.input_bytes is not None and settings.input_bytes < _QUICK_BYTES:
        options.append(_QUICK_JVM)
    defaults = {
        "spark.app.name": "kohort",
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.python.sql.dataFrameDebugging.enabled": "false",  # it takes a third of the planning time
        "spark.python.authenticate.socketTimeout": "120s",  # the time that rows wait to be fetched
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.extraJavaOptions": " ".join(options),
        "spark.executorEnv.PYTHONSAFEPATH": "1",  # import no module from a worker's current directory
    }
    if _is_local(master):
        # Files are small for their content: with the default of 128 MB per task, one core would read everything.
        defaults |= {"spark.sql.files.maxPartitionBytes": "8m", "spark.sql.files.openCostInBytes": "512k"}
        defaults["spark.local.dir"] = str(scratch)
        defaults["spark.sql.shuffle.partitions"] = str(_LOCAL_TASKS_PER_CORE * _cores(master))
    is_brief = settings.input_bytes is not None and settings.input_bytes < _BRIEF_BYTES
    return defaults | _BRIEF if is_brief else defaults


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _cores(master: str) -> int:
    """The cores of a local master: `local`, `local[2]`, `local[*]`, `local[*,3]`."""
    received = master.partition("[")[2].partition("]")[0].partition(",")[0].strip()
    return max(int(received), 1) if received.isdigit() else (os.cpu_count() or 1) if received == "*" else 1


def _refuse_connect(settings: SessionSettings) -> None:
    """Refuse Spark Connect, which supports neither files for workers nor a log level."""
    asked = [name for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED") if name in os.environ]
    if settings.master is not None and settings.master.startswith("sc://"):
        asked = [settings.master]
    if asked:
        why = f"Kohort needs a Spark master, not Spark Connect ({asked[0]})"
        raise MissingSpark(f"{why}: use a master such as spark://host:7077")


def _refuse_other_master(spark: SparkSession, settings: SessionSettings) -> None:
    has, asked = spark.sparkContext.master, settings.master
    if asked not in (None, has):
        raise MissingSpark(
            f"this process already has a Spark session on {has}, and cannot have one on {asked}"
        )


@contextmanager
def _stopped(spark: SparkSession) -> Iterator[SparkSession]:
    """Stop the session at the end, in another thread: after an interrupt this thread's connection still waits."""
    try:
        yield spark
    finally:
        # A second signal must not interrupt the cleanup, which takes a few seconds at most.
        with _handled(dict.fromkeys((signal.SIGINT, *_STOP_SIGNALS), signal.SIG_IGN)):

            def stop() -> None:
                with suppress(Exception):  # the JVM may be gone already
                    spark.stop()

            stopping = threading.Thread(target=stop, name="stop-spark", daemon=True)
            stopping.start()
            stopping.join(_STOP_TIMEOUT_S)


@contextmanager
def _forgotten_gateway() -> Iterator[None]:
    """Forget the JVM, which was stopped with the session: the next session in this process must start another."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    try:
        yield
    finally:
        gateway = SparkContext._gateway
        if gateway is not None:
            with suppress(Exception):
                gateway.close()
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = SparkSession._activeSession = None


@contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _handled(handlers: Mapping[int, Handler | None]) -> Iterator[None]:
    """Handle signals with `handlers` in the block, and as before after it; None: only restore the handler
    afterwards. Only the main thread can set signal handlers: in other threads nothing is changed."""
    mine = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in handlers} if mine else {}
    try:
        for number, handler in handlers.items() if mine else ():
            if handler is not None:
                signal.signal(number, handler)
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


class _StopSignal(KeyboardInterrupt):
    """A signal to stop. A KeyboardInterrupt, for which alone py4j properly cancels an unanswered call."""


@contextmanager
def _stop_signals_raised() -> Iterator[None]:
    """Raise SystemExit for signals that would kill this process; a signal with another handler keeps it. A signal
    is not lost if its exception is caught, or replaced by that of a broken connection."""
    received: list[int] = []

    def raise_stop(number: int, _frame: FrameType | None) -> NoReturn:
        received.append(number)
        raise _StopSignal

    usual = (signal.SIG_DFL, signal.default_int_handler)
    taken = [number for number in (signal.SIGINT, *_STOP_SIGNALS) if signal.getsignal(number) in usual]
    try:
        with _handled(dict.fromkeys(taken, raise_stop)):
            yield
    except BaseException:
        if not received:
            raise
    if received:
        raise KeyboardInterrupt if received[0] == signal.SIGINT else SystemExit(128 + received[0])


@contextmanager
def _py4j_silenced() -> Iterator[None]:
    """Silence py4j, which logs lost connections and the tracebacks of interrupts, partly to the root logger."""

    def is_not_py4j(record: logging.LogRecord) -> bool:
        return "py4j" not in Path(record.pathname).parts

    root_logger, py4j = logging.getLogger(), logging.getLogger("py4j")
    level = py4j.level
    py4j.setLevel(logging.CRITICAL + 1)
    root_logger.addFilter(is_not_py4j)
    try:
        yield
    finally:
        root_logger.removeFilter(is_not_py4j)
        py4j.setLevel(level)


PACKAGES = ("assignors", "wire", "groups", "coordinator", "migration", "pipeline")
"""The packages that workers import; workers need numpy, pyarrow, kio and the like installed, but not Kohort."""


def root() -> Path:
    """The directory of the packages: site-packages, or a checkout."""
    return Path(__file__).resolve().parent.parent


def ship(scratch: Path) -> Path:
    """Write the packages to a zip file that workers import from; compiled, as a worker cannot cache that."""
    site = scratch / "site"
    sources = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(root() / package, site / package, ignore=sources, dirs_exist_ok=True)
    unchecked = PycInvalidationMode.UNCHECKED_HASH  # a file's time in a zip is not that of its source
    compileall.compile_dir(site, stripdir=str(site), quiet=2, legacy=True, invalidation_mode=unchecked)
    return Path(shutil.make_archive(str(scratch / "kohort"), "zip", site))
