"""The session: what it runs on, what it leaves behind."""

import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from pipeline.jvm import check_spark, properties, spark_home
from pipeline.session import MissingSpark, SessionSettings, session
from tests.kafka.wait import wait_until
from tests.pipeline.processes import Program

CONF = '{"spark.driver.memory": "512m", "spark.default.parallelism": "2"}'
START = f"""
from pipeline.session import SessionSettings, session
settings = SessionSettings(master="local[2]", conf={CONF}, input_bytes=0)
"""
BUSY = """
def forever(batches):
    import time
    for batch in batches:
        time.sleep(3600)
        yield batch

def say(spark):
    import threading, time
    def watch():
        tracker = spark.sparkContext.statusTracker()
        while not any(tracker.getStageInfo(stage).numActiveTasks for stage in tracker.getActiveStageIds()):
            time.sleep(0.1)
        print("working", flush=True)
    threading.Thread(target=watch, daemon=True).start()

try:
    with session(settings) as spark:
        say(spark)
        spark.range(2).mapInArrow(forever, "id long").collect()
except KeyboardInterrupt:
    raise SystemExit(130)
"""

StartProgram = Callable[..., Program]


@pytest.fixture
def start(tmp_path: Path, spark: SparkSession) -> Iterator[StartProgram]:
    started: list[Program] = []

    def begin(source: str, **options: object) -> Program:
        started.append(Program(tmp_path / str(len(started)), source, **options))  # type: ignore[arg-type]
        return started[-1]

    yield begin
    for program in started:
        program.kill()


def test_workers_run_this_very_python_on_arrow_batches(spark: SparkSession) -> None:
    def named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sys

        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), pa.array([sys.executable] * len(batch))], ["id", "python"]
            )

    rows = spark.range(3).mapInArrow(named, "id long, python string").collect()
    assert sorted((row.id, row.python) for row in rows) == [(number, sys.executable) for number in range(3)]


def test_times_are_utc_under_any_settings(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"


def test_nothing_is_said_and_nothing_stays(start: StartProgram) -> None:
    program = start(
        """
from pathlib import Path
Path("uuid.py").write_text("raise SystemExit('not mine')")
"""
        + START
        + """
for number in range(2):  # one after the other, each with its own JVM
    with session(settings) as spark:
        rows = spark.range(3).rdd.map(lambda row: row.id * 2).collect()
    print(rows)
"""
    )
    ended = program.end()
    assert (ended.status, ended.stdout, ended.stderr) == (0, "[0, 2, 4]\n" * 2, "")
    assert program.left_behind() == [str(program.work / "uuid.py")]
    assert program.living() == {}


@pytest.mark.parametrize(("pressed", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_in_the_middle_of_a_job_leaves_nothing(
    start: StartProgram, pressed: signal.Signals, status: int
) -> None:
    program = start(START + BUSY)
    program.wait_for("working")
    wait_until(lambda: len(program.living()) > 3, "a JVM, and Python workers with their parent")
    program.press(pressed)
    ended = program.end(timeout_s=100)
    assert (ended.status, ended.stdout, ended.stderr) == (status, "working\n", "")
    program.wait_gone()
    assert program.left_behind() == []


def test_an_interrupt_while_the_jvm_starts_leaves_nothing(start: StartProgram) -> None:
    program = start(START + "print('starting', flush=True)\n" + BUSY)
    program.wait_for("starting")
    while not any("SparkSubmit" in line for line in program.living().values()):
        assert program.process.poll() is None
    program.press(signal.SIGTERM)
    assert program.end(timeout_s=100).status == 143
    program.wait_gone()
    assert program.left_behind() == []


def test_settings_are_in_no_list_of_processes_and_no_file_remains(start: StartProgram) -> None:
    source = START.replace("512m", '512m", "spark.hadoop.fs.s3a.secret.key": "a=b: c\\\\\\\\d ü')
    busy = BUSY.replace(
        "    say(spark)",
        "    print(spark.conf.get('spark.hadoop.fs.s3a.secret.key'), flush=True)\n        say(spark)",
    )
    program = start(source + busy)
    program.wait_for("working")
    lines = program.living().values()
    assert any("SparkSubmit" in line for line in lines)
    assert not [line for line in lines if "a=b" in line]
    program.process.kill()
    ended = program.end()
    assert (ended.status, ended.stdout) == (-signal.SIGKILL, "a=b: c\\\\d ü\nworking\n")
    program.wait_gone()


def test_spark_submit_s_session_is_used(start: StartProgram) -> None:
    submit = str(spark_home() / "bin" / "spark-submit")
    program = start(
        """
from pipeline.session import SessionSettings, session
with session(SessionSettings(conf={"spark.kohort.asked": "yes"})) as spark:
    names = ("spark.master", "spark.app.name", "spark.kohort.given", "spark.kohort.asked", "spark.sql.session.timeZone")
    print([spark.conf.get(name) for name in names])
    print(spark.range(3).rdd.map(lambda row: row.id).sum())
""",
        command=[
            submit, "--master", "local[1]", "--name", "mine", "--driver-memory", "512m",
            "--conf", "spark.kohort.given=yes", "--conf", "spark.sql.session.timeZone=Asia/Tokyo",
        ],
        variables={"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    ended = program.end()
    assert ended.status == 0, ended.stderr
    assert ended.stdout == "['local[1]', 'mine', 'yes', 'yes', 'UTC']\n3\n"
    program.wait_gone()


def test_a_session_that_is_there_is_used_and_stays(spark: SparkSession) -> None:
    zone, shuffled = "spark.sql.session.timeZone", "spark.sql.shuffle.partitions"
    before = spark.conf.get(shuffled)
    with session(SessionSettings(conf={zone: "Asia/Tokyo", shuffled: "3", "spark.kohort.x": "1"})) as inner:
        assert inner.sparkContext is spark.sparkContext
        assert (inner.conf.get(zone), inner.conf.get(shuffled)) == ("UTC", "3")
    assert spark.conf.get(shuffled) == before
    assert spark.range(3).count() == 3


def test_a_second_master_is_refused(spark: SparkSession) -> None:
    with (
        pytest.raises(MissingSpark, match=r"already has a Spark session on local\[2\], .* one on local\[3\]"),
        session(SessionSettings(master="local[3]")),
    ):
        pass


def test_spark_connect_is_refused(spark: SparkSession) -> None:
    with (
        pytest.raises(MissingSpark, match=r"not Spark Connect \(sc://far\)"),
        session(SessionSettings(master="sc://far")),
    ):
        pass


def test_a_jvm_that_cannot_start_is_reported(start: StartProgram) -> None:
    program = start(
        """
from pipeline.session import MissingSpark, SessionSettings, session
try:
    with session(SessionSettings(master="local[1]", conf={"spark.driver.memory": "1000000g"})):
        pass
except MissingSpark as error:
    print(error)
"""
    )
    ended = program.end()
    assert ended.stderr == ""
    assert ended.stdout.startswith("Spark's JVM exited at its start: ")
    assert "Could not" in ended.stdout or "Invalid maximum heap size" in ended.stdout
    assert program.left_behind() == []


def test_properties_are_read_as_they_were_written() -> None:
    assert properties({"a": "b\\c=d:e\nf"}) == "a=b\\\\c\\=d\\:e\\nf\n"


def test_a_spark_home_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(MissingSpark, match=r"has no jars of Spark, and pyspark is 4\."):
        spark_home()
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-core_2.12-3.5.1.jar").touch()
    with pytest.raises(MissingSpark, match=r"is Spark 3\.5\.1, and pyspark is 4\."):
        spark_home()


class TestJava:
    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))
        return tmp_path

    @staticmethod
    def put(home: Path, script: str) -> None:
        java = home / "bin" / "java"
        java.parent.mkdir()
        java.write_text(f"#!/bin/sh\n{script}\n")
        java.chmod(0o755)

    def test_no_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pipeline.jvm.find_spec", lambda name: None if name == "pyspark" else object())
        with pytest.raises(MissingSpark, match=r"^pyspark cannot be imported: .* Run: `.*\[.*spark\]'?`$"):
            check_spark()

    def test_no_java_on_the_path(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("JAVA_HOME", raising=False)
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(
            MissingSpark, match="there is no java on the PATH: install a JDK, or set JAVA_HOME"
        ):
            check_spark()

    def test_no_java_in_java_home(self, home: Path) -> None:
        with pytest.raises(MissingSpark, match=r"JAVA_HOME=.* has no bin/java"):
            check_spark()

    @pytest.mark.parametrize(("said", "version"), [("1.8.0_392", 8), ("11.0.2", 11), ("16-ea", 16)])
    def test_an_old_java(self, home: Path, said: str, version: int) -> None:
        self.put(home, f"echo 'openjdk version \"{said}\" 2020-01-01' >&2")
        with pytest.raises(MissingSpark, match=f"Java 17 or later, and .*/bin/java is Java {version}: "):
            check_spark()

    def test_a_java_without_the_modules(self, home: Path) -> None:
        self.put(
            home,
            "case $1 in -version) echo 'openjdk version \"21.0.1\"' >&2;; "
            "*) echo java.base@21.0.1; echo java.sql@21.0.1;; esac",
        )
        with pytest.raises(
            MissingSpark, match=r"lacks java\.management, .*jdk\.incubator\.vector.* full JDK"
        ):
            check_spark()

    def test_a_java_that_is_another_program(self, home: Path) -> None:
        self.put(home, "echo what >&2; exit 1")
        with pytest.raises(MissingSpark, match="does not report its version, but: what"):
            check_spark()
