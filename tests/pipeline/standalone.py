"""A standalone Spark cluster on loopback ports: a master and two workers that have never heard of Kohort."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pipeline.jvm import spark_home
from tests.kafka.process import end
from tests.kafka.wait import wait_until

HOST = "127.0.0.1"
WORKERS = 2
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
STARTED = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = "Successfully registered with master"
OURS = re.compile(r"kohort", re.IGNORECASE)
LOG4J = """\
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n%ex
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standalone:
    """A cluster that runs.

    Attributes:
        master: its URL.
        python: the interpreter of its workers, which has what Kohort depends on, and not Kohort.
        work: where the workers keep the applications: the directories their executors run in, and what they said.
    """

    master: str
    python: Path
    work: Sequence[Path]

    def conf(self) -> dict[str, str]:
        return {
            "spark.pyspark.python": str(self.python),
            "spark.driver.host": HOST,
            "spark.driver.bindAddress": HOST,
            "spark.driver.memory": "1g",
            "spark.executor.memory": "600m",
            "spark.default.parallelism": "4",
            "spark.sql.shuffle.partitions": "4",
        }

    def executors(self) -> int:
        return sum(1 for work in self.work for _ in work.glob("app-*/*/stderr"))


@contextmanager
def standalone(directory: Path) -> Iterator[Standalone]:
    """Start a cluster whose processes work and write in `directory`; it is gone at the end."""
    python = python_without_kohort(directory / "python")
    (directory / "log4j2.properties").write_text(LOG4J)
    with ExitStack() as stack:

        def start(name: str, *args: str) -> Path:
            work = directory / name
            work.mkdir(parents=True)
            log = work / "log"
            with log.open("wb") as sink:
                process = subprocess.Popen(
                    [str(spark_home() / "bin" / "spark-class"), *args],
                    cwd=work,
                    env=_environment(directory),
                    stdin=subprocess.DEVNULL,
                    stdout=sink,
                    stderr=sink,
                )
            stack.callback(end, process)
            return log

        log = start("master", MASTER, "--host", HOST, "--port", "0", "--webui-port", "0")
        match = wait_until(lambda: STARTED.search(log.read_text()), lambda: f"a master: {log.read_text()}")
        works = [directory / f"worker-{number}" / "work" for number in range(WORKERS)]
        logs = [
            start(
                work.parent.name,
                *(WORKER, "--host", HOST, "--port", "0", "--webui-port", "0"),
                *("--cores", "1", "--memory", "700m", "--work-dir", str(work), match[1]),
            )
            for work in works
        ]
        wait_until(
            lambda: all(REGISTERED in path.read_text() for path in logs),
            lambda: f"workers: {[path.read_text() for path in logs]}",
        )
        yield Standalone(master=match[1], python=python, work=works)


def python_without_kohort(directory: Path) -> Path:
    """A virtual environment with all packages of this one but Kohort; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", directory], check=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if not OURS.search(package.name):
            (packages / package.name).symlink_to(package)
    python = directory / "bin" / "python"
    asked = "import importlib.util as u; print(u.find_spec('pipeline'), u.find_spec('pyarrow') is not None)"
    result = subprocess.run(
        [python, "-P", "-c", asked], cwd=directory, check=True, capture_output=True, text=True
    )
    if result.stdout.split() != ["None", "True"]:
        raise AssertionError(f"{python} has or lacks what it should not: {result.stdout}")
    return python


def _environment(directory: Path) -> Mapping[str, str]:
    log4j2 = (directory / "log4j2.properties").as_uri()
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    return kept | {
        "SPARK_HOME": str(spark_home()),
        "SPARK_NO_DAEMONIZE": "1",
        "SPARK_LOCAL_DIRS": str(directory),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"-XX:-UsePerfData -Dlog4j2.configurationFile={log4j2}",
        "SPARK_LOCAL_IP": HOST,
    }
