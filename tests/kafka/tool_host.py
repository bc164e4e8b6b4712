"""Kafka's own command line tools, many calls in one JVM."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.kafka.broker import Broker
from tests.kafka.programs import program

Completed = subprocess.CompletedProcess[str]

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
STREAMS_GROUPS = "org.apache.kafka.tools.streams.StreamsGroupCommand"
DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"

LOGGING = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
    "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.tools.OffsetsUtils=warn",
)
"""Only what a tool has to tell its user: that an offset is out of range."""


class ToolHost:
    """One JVM, started with the first call; a call takes some 0.1 s where a JVM of its own takes 0.7 s."""

    def __init__(self, jars: Path) -> None:
        """Start nothing yet."""
        self._jars = jars
        self._process: subprocess.Popen[str] | None = None

    def run(self, main: str, *args: str) -> Completed:
        """Run the tool whose class is `main`; the caller looks at the exit status.

        Raises:
            ChildProcessError: the JVM has ended.
        """
        process = self._started()
        if process.stdin is None or process.stdout is None:
            raise ValueError("pipes were asked for")
        process.stdin.write(json.dumps({"main": main, "args": args}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the JVM of the tools has ended, status {process.wait()}")
        said: dict[str, Any] = json.loads(line)
        return subprocess.CompletedProcess((main, *args), said["status"], said["stdout"], said["stderr"])

    def ask(self, broker: Broker, main: str, *args: str) -> Completed:
        """Run a tool against `broker`."""
        return self.run(main, "--bootstrap-server", broker.bootstrap, *args)

    def close(self) -> None:
        """End the JVM."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            command = program(self._jars, "Tools", heap_mb=512, options=LOGGING)
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        return self._process
