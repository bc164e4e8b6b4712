"""The Java programs of the tests, `java/*.java`: compiled once, all of them, into the cache."""

import hashlib
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.sources.jars import filled
from tests.kafka.jars import KafkaUnavailableError
from tests.kafka.java import java
from tests.kafka.process import run_tool

SOURCES = sorted(Path(__file__).with_name("java").glob("*.java"))
TASK_ORACLE = "org.apache.kafka.streams.processor.internals.TaskOracle"  # in the package of what it runs
SILENT = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"  # the option for programs whose log is not read


class Answerer:
    """A program that answers each line of JSON with one, started with the first; not for several threads at once."""

    def __init__(self, jars: Path, name: str, *, heap_mb: int = 512, options: Sequence[str] = ()) -> None:
        self._jars, self._name, self._heap_mb, self._options = jars, name, heap_mb, options
        self._process: subprocess.Popen[str] | None = None

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        if self._process is None:
            command = program(self._jars, self._name, heap_mb=self._heap_mb, options=self._options)
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise ValueError("pipes were asked for")
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the JVM of {self._name} has ended, status {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process.wait()


def program(jars: Path, name: str, *args: str, heap_mb: int = 128, options: Sequence[str] = ()) -> list[str]:
    return java(jars, name, *args, heap_mb=heap_mb, options=options, classes=compiled(jars))


def compiled(jars: Path) -> Path:
    sources = b"".join(source.read_bytes() for source in SOURCES)
    stamp = hashlib.sha256(sources + jars.name.encode()).hexdigest()[:12]
    return filled(jars.parent / f"programs-{stamp}", lambda directory: _compile(jars, directory))


def _compile(jars: Path, directory: Path) -> None:
    command = ["javac", "-proc:none", "-d", str(directory), "-cp", str(jars / "*"), *map(str, SOURCES)]
    try:
        run_tool(command, "compiling the programs of the tests", KafkaUnavailableError)
    except FileNotFoundError as error:
        raise KafkaUnavailableError("no javac on PATH; install a JDK, not only a JRE") from error
